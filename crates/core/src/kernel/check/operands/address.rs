//! Address operands: in brackets, and as values.

use super::super::body::Body;
use super::super::names::Found;
use super::{Arg, Args, Value, space, vector_length};
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, Sem, Space, Type};
use crate::kernel::{Address, AddressBase, Register};
use crate::ptx::tree::{Name, Operand};

impl Body<'_> {
    /// Resolves the address of a variable as a value.
    pub(super) fn symbol_address(
        &mut self,
        name: &Name,
        offset: i64,
        ty: Type,
        m: &FormMatch<'_>,
    ) -> Option<Arg> {
        let symbol = match self.find(name)? {
            Found::Symbol(symbol) => symbol,
            Found::Function(address)
                if ty.is_wide() && !ty.is_float() && m.form.sem == Sem::Mov && offset == 0 =>
            {
                return Some(Arg::Value(Value {
                    row: self.rows.constant(address, true),
                    register: None,
                    ty,
                    bits: Some(address),
                }));
            }
            _ => return self.wrong(&Operand::Name(name.clone()), "variable"),
        };
        if symbol.slot {
            let message = format!("call parameter `{}` has no address", name.text);
            let help = "copy it to a `.local` array, and take the address of the array";
            self.report(Diagnostic::error("address-space", name.span, message).help(help));
            return None;
        }
        if m.form.sem == Sem::Cvta && symbol.space != space(m) {
            let is = symbol.space.name();
            let message = format!(
                "expected {} variable, found `.{is}` variable `{}`",
                space(m).name(),
                name.text
            );
            let help = format!("write `cvta.{is}.u64`");
            self.report(Diagnostic::error("address-space", name.span, message).help(help));
            return None;
        }
        let bits = symbol.address.wrapping_add_signed(offset);
        let wide = ty.is_wide();
        if symbol.space == Space::Local
            && wide
            && !ty.is_float()
            && self.frame_base() != AddressBase::Zero
        {
            return Some(Arg::FrameAddress(bits as i64));
        }
        if ty.is_float() || ty.bits() < 32 || (!wide && u32::try_from(bits).is_err()) {
            let message = format!("address of `{}` does not fit `.{}`", name.text, ty.name());
            let error = Diagnostic::error("type-mismatch", name.span, message);
            self.report(error.help("use `mov.u64` with a 64-bit register"));
            return None;
        }
        let row = self.rows.constant(bits, wide);
        Some(Arg::Value(Value { row, register: None, ty, bits: Some(bits) }))
    }

    /// Returns the offset of an element of a variable, in bytes.
    pub(super) fn offset_of(&mut self, name: &Name, index: i64) -> Option<i64> {
        match self.find(name)? {
            Found::Symbol(symbol) => Some(index.wrapping_mul(symbol.element as i64)),
            _ => self.wrong(&Operand::Name(name.clone()), "variable before `[`"),
        }
    }

    /// Resolves `[base+offset]` in a state space.
    pub(super) fn address(
        &mut self,
        operand: &Operand,
        space: Space,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Address> {
        if let Operand::Element { name, index, span } = operand {
            let (base, offset) = (Some(name.clone()), self.offset_of(name, *index)?);
            return self.address(&Operand::Address { base, offset, span: *span }, space, m, out);
        }
        let Operand::Address { base, offset, span } = operand else {
            let message = format!("expected address, found {}", super::kind(operand));
            let error = Diagnostic::error("operand-kind", operand.span(), message);
            self.report(match operand {
                Operand::Name(name) => {
                    error.help(format!("write it in brackets: `[{}]`", name.text))
                }
                _ => error.help("write it in brackets"),
            });
            return None;
        };
        let Some(name) = base else {
            return Some(Address { base: AddressBase::Zero, offset: *offset });
        };
        match self.find(name)? {
            Found::Register(used) => {
                let (register, declared) = self.note(used, false, name.span, out);
                let base = match register {
                    Register::Wide(row) if !declared.is_float() => AddressBase::Wide(row),
                    Register::Narrow(row) if !declared.is_float() && declared.bits() == 32 => {
                        AddressBase::Narrow(row)
                    }
                    _ => {
                        let message = format!(
                            "expected integer register as address, found `.{}` register `{}`",
                            declared.name(),
                            name.text
                        );
                        let help = "use a 64-bit integer register, or a 32-bit one in shared, \
                                    local, const and param space";
                        self.report(
                            Diagnostic::error("type-mismatch", name.span, message).help(help),
                        );
                        return None;
                    }
                };
                if matches!((base, space), (AddressBase::Narrow(_), Space::Global | Space::Generic))
                {
                    let message = format!(
                        "expected 64-bit {} address, found 32-bit register `{}`",
                        space.name(),
                        name.text
                    );
                    let warning = Diagnostic::warning("narrow-address", name.span, message);
                    self.report(
                        warning.help("use a 64-bit register; the upper half is taken as 0"),
                    );
                }
                if space == Space::Param && self.frame_base() != AddressBase::Zero {
                    let message = "expected parameter name as address in a device function";
                    self.report(Diagnostic::error("address-space", name.span, message));
                    return None;
                }
                Some(Address { base, offset: *offset })
            }
            Found::Symbol(symbol) => {
                // Global and constant addresses are generic addresses; the others are offsets.
                let absolute = matches!(symbol.space, Space::Global | Space::Const);
                if symbol.space != space && !(space == Space::Generic && absolute) {
                    let is = symbol.space.name();
                    let message = format!(
                        "expected {} address, found `.{is}` variable `{}`",
                        space.name(),
                        name.text
                    );
                    let error = Diagnostic::error("address-space", name.span, message);
                    self.report(
                        error.help(format!("use `.{is}` as the state space of the instruction")),
                    );
                    return None;
                }
                let bytes = i64::from(m.ty().bytes()) * i64::from(vector_length(m));
                let end = offset.checked_add(bytes);
                let inside = *offset >= 0 && end.is_some_and(|end| end as u64 <= symbol.bytes);
                if space == Space::Param && !inside {
                    let end = offset.saturating_add(bytes);
                    let message =
                        format!("out of bounds: bytes {offset} to {end} of `{}`", name.text);
                    let has = format!("{} bytes", symbol.bytes);
                    self.report(
                        Diagnostic::error("parameter-range", *span, message).also(symbol.span, has),
                    );
                    return None;
                }
                if symbol.space == Space::Param && !symbol.slot && m.form.sem == Sem::Store {
                    let message = format!("kernel parameter `{}` is read-only", name.text);
                    self.report(Diagnostic::error("address-space", name.span, message));
                    return None;
                }
                let offset = (symbol.address as i64).wrapping_add(*offset);
                let in_frame = symbol.slot || symbol.space == Space::Local;
                let base = if in_frame { self.frame_base() } else { AddressBase::Zero };
                out.slot |= symbol.slot;
                Some(Address { base, offset })
            }
            _ => self.wrong(&Operand::Name(name.clone()), "register or variable as address"),
        }
    }
}
