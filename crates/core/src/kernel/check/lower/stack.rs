//! Lowering of `alloca`, `stacksave` and `stackrestore`.

use super::super::body::{Body, Origin};
use super::super::operands::{Arg, Args};
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, Sem};
use crate::kernel::{Op, Row, Stack, StackFn};
use crate::ptx::tree::Instruction;

/// Alignment in bytes if the instruction has none.
const ALIGN: u32 = 8;

impl Body<'_> {
    /// Lowers an instruction on the stack; the bytes on top of the frame are a register.
    pub(super) fn stack(
        &mut self,
        inst: &Instruction,
        m: &FormMatch<'_>,
        args: &Args,
        origin: Origin,
    ) {
        let top = *self.stack_top.get_or_insert_with(|| self.rows.scratch(true).0);
        let align = match args.args.get(2) {
            Some(Arg::Immediate(align)) => match u32::try_from(*align) {
                Ok(align) if align.is_power_of_two() => align,
                _ => {
                    let span = inst.operands.get(2).map_or(inst.span, |operand| operand.span());
                    let message = format!("expected a power of two, found {align}");
                    return self.report(Diagnostic::error("literal-range", span, message));
                }
            },
            _ => ALIGN,
        };
        let (f, d, a) = match m.form.sem {
            Sem::StackSave => (StackFn::Save, args.row(0), Row(0)),
            Sem::StackRestore => (StackFn::Restore, Row(0), args.row(0)),
            _ => (StackFn::Allocate { align }, args.row(0), args.row(1)),
        };
        let wide = m.ty().is_wide();
        let frame_pointer = self.frame_pointer;
        self.calls.push(self.insts.len());
        let op = Stack { f, d, a, wide, top, frame_pointer, frame: 0 };
        self.emit(origin, Op::Stack(op), &args.reads, &args.writes);
    }
}
