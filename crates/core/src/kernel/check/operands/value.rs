//! Value operands: registers, immediates and special registers, and the type rules.

use super::super::body::Body;
use super::super::literals::literal;
use super::super::names::Found;
use super::{Args, Value};
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, OperandForm, Sem, Type};
use crate::kernel::Register;
use crate::ptx::tree::{Name, Operand};

/// Returns true if a register of type `register` fits an operand of type `ty`.
pub(super) fn fits(register: Type, ty: Type, wider: bool) -> bool {
    if register == Type::Pred || ty == Type::Pred {
        return register == ty;
    }
    let bits = |t: Type| matches!(t, Type::B8 | Type::B16 | Type::B32 | Type::B64);
    if register.bits() == ty.bits() {
        return bits(register) || bits(ty) || register.is_float() == ty.is_float();
    }
    wider && register.bits() > ty.bits() && !register.is_float() && !ty.is_float()
}

impl Body<'_> {
    /// Resolves a register or, as a source, an immediate or a special register.
    pub(in super::super) fn value(
        &mut self,
        operand: &Operand,
        ty: Type,
        wider: bool,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Value> {
        if !form.result
            && let Some(bits) = literal(operand, ty)
        {
            let bits = self.ok(bits)?;
            let row = self.rows.constant(bits, ty.is_wide());
            return Some(Value { row, register: None, ty, bits: Some(bits) });
        }
        let Operand::Name(name) = operand else {
            return self
                .wrong(operand, if form.result { "register" } else { "register or number" });
        };
        match self.find(name)? {
            Found::Register(used) => {
                let (register, declared) = self.note(used, form.result, name.span, out);
                let row = match register {
                    Register::Narrow(row) | Register::Wide(row) if fits(declared, ty, wider) => row,
                    _ => {
                        self.report(mismatch(name, declared, ty, m));
                        return None;
                    }
                };
                Some(Value { row, register: Some(register), ty: declared, bits: None })
            }
            _ if form.result => self.wrong(operand, "writable register"),
            Found::Special(_) if !matches!(m.form.sem, Sem::Mov | Sem::Cvt) => {
                let message =
                    format!("expected register or number, found special register `{}`", name.text);
                let help = format!("copy it first: `mov.u32 %r, {};`", name.text);
                self.report(Diagnostic::error("operand-kind", name.span, message).help(help));
                None
            }
            Found::Special(special) if fits(Type::U32, ty, wider) => {
                let row = self.rows.special(special);
                Some(Value { row, register: None, ty: Type::U32, bits: None })
            }
            Found::Special(_) => {
                self.report(mismatch(name, Type::U32, ty, m));
                None
            }
            Found::Constant(value) => {
                let row = self.rows.constant(u64::from(value), ty.is_wide());
                Some(Value { row, register: None, ty, bits: Some(value.into()) })
            }
            Found::Clock(_) => {
                let message = format!("expected register or number, found clock `{}`", name.text);
                let error = Diagnostic::error("operand-kind", name.span, message);
                self.report(error.help("copy it with `mov` first"));
                None
            }
            Found::Function(_) => {
                let message =
                    format!("expected register or number, found function `{}`", name.text);
                let help = format!("take its address first: `mov.u64 %rd, {};`", name.text);
                self.report(Diagnostic::error("operand-kind", name.span, message).help(help));
                None
            }
            Found::Symbol(_) => {
                let message =
                    format!("expected register or number, found variable `{}`", name.text);
                let help = format!("take its address first: `mov.u64 %rd, {};`", name.text);
                self.report(Diagnostic::error("operand-kind", name.span, message).help(help));
                None
            }
        }
    }
}

/// Returns the error for a register of the wrong type, with a conversion as help.
pub(super) fn mismatch(name: &Name, declared: Type, wanted: Type, m: &FormMatch<'_>) -> Diagnostic {
    let message = format!(
        "expected `.{}` for `{}`, found `.{}` register `{}`",
        wanted.name(),
        m.mnemonic(),
        declared.name(),
        name.text
    );
    let error = Diagnostic::error("type-mismatch", name.span, message);
    let (from, to) = (convertible(declared).name(), convertible(wanted).name());
    match (declared, wanted) {
        (Type::Pred, _) => {
            error.help(format!("convert it to a number: `selp.{to} %r, 1, 0, {};`", name.text))
        }
        (_, Type::Pred) => error,
        (a, b) if a.bits() == b.bits() => {
            let moved = format!("mov.b{} %r, {};", a.bits(), name.text);
            error.help(format!("convert the value with `cvt`, or move the bits: `{moved}`"))
        }
        (a, b) if a.is_float() || b.is_float() => error.help("convert it with `cvt`"),
        _ => error.help(format!("convert it: `cvt.{to}.{from} %r, {};`", name.text)),
    }
}

/// Returns the type that `cvt` uses for a bit type.
fn convertible(ty: Type) -> Type {
    match ty {
        Type::B8 => Type::U8,
        Type::B16 => Type::U16,
        Type::B32 => Type::U32,
        Type::B64 => Type::U64,
        other => other,
    }
}
