//! Addresses: in brackets, and as values.

use super::super::body::Body;
use super::super::names::Found;
use super::{Arg, Args, Value, space, vector_length};
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, Sem, Space, Type};
use crate::kernel::{Address, AddressBase, Register};
use crate::ptx::tree::{Name, Operand};

impl Body<'_> {
    /// A variable's address as a value.
    pub(super) fn symbol_address(&mut self, name: &Name, offset: i64, ty: Type, m: &FormMatch<'_>) -> Option<Arg> {
        let symbol = match self.find(name)? {
            Found::Symbol(symbol) => symbol,
            Found::Function(address) if ty.is_wide() && !ty.is_float() && m.form.sem == Sem::Mov && offset == 0 => {
                return Some(Arg::Value(Value { row: self.rows.constant(address, true), register: None, ty }));
            }
            _ => return self.wrong(&Operand::Name(name.clone()), "a variable"),
        };
        if symbol.slot {
            let message = format!("`{}` is a value of a call, which has no address", name.text);
            let help = "copy it to a .local array, and take the address of that";
            self.report(Diagnostic::error("address-space", name.span, message).help(help));
            return None;
        }
        if m.form.sem == Sem::Cvta && symbol.space != space(m) {
            let message = format!("`{}` is in .{}", name.text, symbol.space.name());
            let help = format!("write cvta.{}.u64", symbol.space.name());
            self.report(Diagnostic::error("address-space", name.span, message).help(help));
            return None;
        }
        let bits = symbol.address.wrapping_add_signed(offset);
        let wide = ty.is_wide();
        if symbol.space == Space::Local && wide && !ty.is_float() && self.frame_base() != AddressBase::Zero {
            return Some(Arg::FrameAddress(bits as i64));
        }
        if ty.is_float() || ty.bits() < 32 || (!wide && u32::try_from(bits).is_err()) {
            let message = format!("the address of `{}` does not fit .{}", name.text, ty.name());
            self.report(
                Diagnostic::error("type-mismatch", name.span, message).help("write mov.u64 with a 64-bit register"),
            );
            return None;
        }
        Some(Arg::Value(Value { row: self.rows.constant(bits, wide), register: None, ty }))
    }

    /// `[base+offset]`
    pub(super) fn address(&mut self, operand: &Operand, m: &FormMatch<'_>, out: &mut Args) -> Option<Address> {
        let Operand::Address { base, offset, span } = operand else {
            let error = Diagnostic::error("operand-kind", operand.span(), "expected an address");
            self.report(match operand {
                Operand::Name(name) => error.help(format!("write it in brackets: [{}]", name.text)),
                _ => error.help("write it in brackets"),
            });
            return None;
        };
        let space = space(m);
        let Some(name) = base else {
            return Some(Address { base: AddressBase::Zero, offset: *offset });
        };
        match self.find(name)? {
            Found::Register(used) => {
                let (register, declared) = self.note(used, false, name.span, out);
                let base = match register {
                    Register::Wide(row) if !declared.is_float() => AddressBase::Wide(row),
                    Register::Narrow(row) if !declared.is_float() && declared.bits() == 32 => AddressBase::Narrow(row),
                    _ => {
                        let message = format!("`{}` is .{} and cannot hold an address", name.text, declared.name());
                        let help =
                            "addresses are 64-bit integers, or 32-bit ones in shared, local, const and param space";
                        self.report(Diagnostic::error("type-mismatch", name.span, message).help(help));
                        return None;
                    }
                };
                if matches!((base, space), (AddressBase::Narrow(_), Space::Global | Space::Generic)) {
                    let message = format!("`{}` has 32 bits, and a {} address has 64", name.text, space.name());
                    self.report(
                        Diagnostic::warning("narrow-address", name.span, message).help("the upper half counts as 0"),
                    );
                }
                if space == Space::Param && self.frame_base() != AddressBase::Zero {
                    let message = "a device function's parameters are read by name";
                    self.report(Diagnostic::error("address-space", name.span, message));
                    return None;
                }
                Some(Address { base, offset: *offset })
            }
            Found::Symbol(symbol) => {
                // Global and constant addresses are the same in generic space; the others are offsets in their own.
                let absolute = matches!(symbol.space, Space::Global | Space::Const);
                if symbol.space != space && !(space == Space::Generic && absolute) {
                    let is = symbol.space.name();
                    let message =
                        format!("`{}` is in .{is}, and the instruction is for {} addresses", name.text, space.name());
                    self.report(
                        Diagnostic::error("address-space", name.span, message).help(format!("name the space: .{is}")),
                    );
                    return None;
                }
                let bytes = i64::from(m.ty().bytes()) * i64::from(vector_length(m));
                let end = offset.checked_add(bytes);
                let inside = *offset >= 0 && end.is_some_and(|end| end as u64 <= symbol.bytes);
                if space == Space::Param && !inside {
                    let message =
                        format!("bytes {offset} to {} are not all in `{}`", offset.saturating_add(bytes), name.text);
                    let has = format!("it has {} bytes", symbol.bytes);
                    self.report(Diagnostic::error("parameter-range", *span, message).also(symbol.span, has));
                    return None;
                }
                if symbol.space == Space::Param && !symbol.slot && m.form.sem == Sem::Store {
                    let message = format!("`{}` is a kernel parameter, and these are read-only", name.text);
                    self.report(Diagnostic::error("address-space", name.span, message));
                    return None;
                }
                let offset = (symbol.address as i64).wrapping_add(*offset);
                let in_frame = symbol.slot || symbol.space == Space::Local;
                let base = if in_frame { self.frame_base() } else { AddressBase::Zero };
                out.slot |= symbol.slot;
                Some(Address { base, offset })
            }
            _ => self.wrong(&Operand::Name(name.clone()), "a register or a variable as the address"),
        }
    }
}
