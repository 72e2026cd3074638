//! Arguments and results of calls: where they are in the frames, and their values.

use crate::diag::Diagnostic;
use crate::isa::{FormMatch, OperandForm, OperandKind, TypeRef};
use crate::kernel::check::body::{Body, Origin};
use crate::kernel::check::functions::Slot;
use crate::kernel::check::operands::{Args, Value};
use crate::ptx::tree::Operand;

impl<'a> Body<'a> {
    /// Returns the frame offset of an argument.
    ///
    /// Stores registers and numbers to the frame first.
    pub(super) fn argument(
        &mut self,
        operand: &Operand,
        slot: &Slot,
        m: &FormMatch<'_>,
        origin: Origin,
    ) -> Option<u32> {
        match self.slot_symbol(operand, slot) {
            Err(()) => None,
            Ok(Some(offset)) => Some(offset),
            Ok(None) => {
                let mut args = Args::default();
                let value = self.slot_value(operand, slot, false, m, &mut args)?;
                let offset = self.place_in_frame(slot.shape);
                self.emit(
                    origin,
                    self.slot_store(value.row, slot.shape.ty, offset),
                    &args.reads,
                    &[],
                );
                Some(offset as u32)
            }
        }
    }

    /// Returns the frame offset of a `.param` variable of a call.
    ///
    /// `Ok(None)` for other operands.
    pub(super) fn slot_symbol(
        &mut self,
        operand: &Operand,
        slot: &Slot,
    ) -> Result<Option<u32>, ()> {
        let Operand::Name(name) = operand else { return Ok(None) };
        let Some(symbol) = self.scopes.symbol(&name.text).filter(|symbol| symbol.slot) else {
            return Ok(None);
        };
        if symbol.bytes == slot.shape.bytes {
            return Ok(Some(symbol.address as u32));
        }
        let message = format!(
            "expected a {}-byte variable for the parameter, found `{}` of {} bytes",
            slot.shape.bytes, name.text, symbol.bytes
        );
        self.report(
            Diagnostic::error("type-mismatch", name.span, message)
                .also(slot.name.span, "parameter"),
        );
        Err(())
    }

    /// Resolves a register, or a number as an argument, for a scalar parameter.
    pub(super) fn slot_value(
        &mut self,
        operand: &Operand,
        slot: &Slot,
        result: bool,
        m: &FormMatch<'_>,
        args: &mut Args,
    ) -> Option<Value> {
        let ty = slot.shape.ty;
        if slot.shape.bytes != u64::from(ty.bytes()) {
            return self.wrong(operand, "`.param` variable for an array");
        }
        let form = OperandForm {
            name: slot.name.text.clone(),
            result,
            sink: false,
            optional: false,
            kind: OperandKind::Value(TypeRef::Fixed(ty)),
        };
        self.value(operand, ty, false, &form, m, args)
    }
}
