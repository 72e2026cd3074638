//! Operands in braces (vectors, parts of `mov`), and other operands of `mov`.

use super::super::body::Body;
use super::super::literals::literal;
use super::super::names::Found;
use super::value::mismatch;
use super::{Arg, Args, vector_length};
use crate::diag::{Diagnostic, Span};
use crate::isa::{FormMatch, OperandForm, Sem, Type};
use crate::kernel::Special;
use crate::ptx::tree::Operand;

impl Body<'_> {
    /// Resolves the data of a load or store: one value, or a vector in braces.
    pub(super) fn vector(
        &mut self,
        operand: &Operand,
        ty: Type,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        let count = usize::from(vector_length(m));
        let elements = match operand {
            Operand::Vector(elements, _) if elements.len() == count => elements.as_slice(),
            Operand::Vector(elements, span) => {
                let plural = if count == 1 { "" } else { "s" };
                let message =
                    format!("expected {count} value{plural}, found {} in braces", elements.len());
                let help = match elements.len() {
                    n @ (2 | 4 | 8) => format!("write `.v{n}` before the type"),
                    _ => "use 2 or 4 elements".into(),
                };
                self.report(Diagnostic::error("vector-length", *span, message).help(help));
                return None;
            }
            other if count == 1 => std::slice::from_ref(other),
            other => return self.wrong(other, &format!("{count} registers in braces")),
        };
        // Elements in memory may be narrower than registers, those of an atomic may not.
        let wider = !matches!(m.form.sem, Sem::AtomicVector | Sem::Texture);
        let mut parts = Vec::new();
        for element in elements {
            let sink = form.sink && matches!(element, Operand::Name(name) if name.text == "_");
            parts.push(if sink {
                None
            } else {
                Some(self.value(element, ty, wider, form, m, out)?)
            });
        }
        let registers: Vec<bool> = parts
            .iter()
            .flatten()
            .filter(|v| v.register.is_some())
            .map(|v| v.ty.is_wide())
            .collect();
        let wide = registers.first().copied().unwrap_or(ty.is_wide());
        if registers.iter().any(|&w| w != wide) {
            let message = "32-bit and 64-bit registers in one vector";
            self.report(Diagnostic::error("vector-width", operand.span(), message));
            return None;
        }
        if wide != ty.is_wide() {
            // Immediates next to wide registers move to wide rows; the store takes the low bits.
            for (part, element) in parts.iter_mut().zip(elements) {
                if let Some(part) = part.as_mut().filter(|part| part.register.is_none()) {
                    let Some(Ok(bits)) = literal(element, ty) else {
                        return self.wrong(element, "register as wide as the others");
                    };
                    part.row = self.rows.constant(bits, wide);
                }
            }
        }
        Some(Arg::Parts(parts, wide))
    }

    /// Resolves an operand of `mov` or `cvta`: value, address, packed parts, clock.
    pub(super) fn moved(
        &mut self,
        operand: &Operand,
        ty: Type,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        match operand {
            Operand::Vector(elements, span) => self.parts(elements, *span, ty, form, m, out),
            Operand::Name(name) if !form.result => match self.find(name)? {
                Found::Symbol(_) | Found::Function(_) => self.symbol_address(name, 0, ty, m),
                Found::Clock(clock)
                    if m.form.sem == Sem::Mov
                        && (clock.is_wide() || ty.bits() == 32)
                        && clock.is_wide() == ty.is_wide()
                        && !ty.is_float() =>
                {
                    Some(Arg::Clock(clock))
                }
                Found::Special(Special::Gridid) if ty.is_wide() && !ty.is_float() => {
                    Some(Arg::WideSpecial(self.rows.special(Special::Gridid)))
                }
                Found::Clock(clock) if m.form.sem == Sem::Mov => {
                    self.report(mismatch(
                        name,
                        if clock.is_wide() { Type::U64 } else { Type::U32 },
                        ty,
                        m,
                    ));
                    None
                }
                _ => self.value(operand, ty, false, form, m, out).map(Arg::Value),
            },
            Operand::Symbol { name, offset, .. } if !form.result => {
                self.symbol_address(name, *offset, ty, m)
            }
            Operand::Element { name, index, .. } if !form.result => {
                let offset = self.offset_of(name, *index)?;
                self.symbol_address(name, offset, ty, m)
            }
            _ => self.value(operand, ty, false, form, m, out).map(Arg::Value),
        }
    }

    fn parts(
        &mut self,
        elements: &[Operand],
        span: Span,
        ty: Type,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        let part = match (ty, elements.len()) {
            (Type::B64, 2) => Type::B32,
            (Type::B64, 4) | (Type::B32, 2) => Type::B16,
            (Type::B32, 4) | (Type::B16, 2) => Type::B8,
            (_, n) => {
                let message = format!("`{}` cannot pack or unpack {n} parts", m.mnemonic());
                let help = "use `mov.b64` for 2 parts of 32 bits or 4 of 16, `mov.b32` for 2 of 16 \
                            or 4 of 8, `mov.b16` for 2 of 8";
                self.report(Diagnostic::error("vector-length", span, message).help(help));
                return None;
            }
        };
        let mut parts = Vec::new();
        for element in elements {
            let sink = form.result && matches!(element, Operand::Name(name) if name.text == "_");
            parts.push(if sink {
                None
            } else {
                Some(self.value(element, part, false, form, m, out)?)
            });
        }
        Some(Arg::Parts(parts, false))
    }
}
