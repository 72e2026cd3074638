//! Arithmetic on pairs of 16-bit floats.

use super::{comparison, end, native, part_source, results};
use crate::isa::{FloatMode, Type};
use crate::kernel::{FloatFn, Native, NativeFn, Source};
use crate::sass::lower::{Lowering, Missing, Width};
use crate::sass::text::Operand;

/// Lowers an instruction on pairs; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(l: &mut Lowering<'_, '_>) -> Result<Option<Native>, Missing> {
    let native = match l.text.name {
        "HADD2" if l.text.has("F32") => {
            let [_, sat] = ["F32", "SAT"].map(|m| l.text.take(m));
            whole(l, FloatFn::AddHalves { sat }, Type::F16x2, 2)?
        }
        "HADD2" => {
            let (ty, mode) = (ty(l), mode(l));
            whole(l, FloatFn::Add(ty, mode), ty, 2)?
        }
        "HMUL2" => {
            let (ty, mode) = (ty(l), mode(l));
            whole(l, FloatFn::Mul(ty, mode, 0), ty, 2)?
        }
        "HFMA2" => {
            // `.MMA` names the unit, which computes the same.
            l.text.take("MMA");
            let (ty, oob) = (ty(l), l.text.take("OOB"));
            let mode = FloatMode { oob, ..mode(l) };
            let native = whole(l, FloatFn::Fma(ty, mode), ty, 3)?;
            constant(l, native)
        }
        "HMNMX2" => {
            let ty = ty(l);
            let [ftz, nan, xorsign] = ["FTZ", "NAN", "XORSIGN"].map(|m| l.text.take(m));
            let f = FloatFn::MinMax { ty, ftz, nan, xorsign };
            let (mut native, at) = operands(l, f, ty, 2)?;
            native.q[0] = l.predicate(at)?;
            end(l, at + 1)?;
            native
        }
        "VHMNMX" => {
            let ty = ty(l);
            let [ftz, nan] = ["FTZ", "NAN"].map(|m| l.text.take(m));
            let (mut native, at) = operands(l, FloatFn::MinMaxOfThree { ty, ftz, nan }, ty, 3)?;
            native.q[0] = l.predicate(at)?;
            end(l, at + 1)?;
            native
        }
        "HSET2" => {
            let (ty, ones) = (ty(l), l.text.take("BF"));
            let truth = match ty {
                _ if !ones => u32::MAX,
                Type::BF16x2 => 0x3f80_3f80,
                _ => 0x3c00_3c00,
            };
            let (compare, combine, ftz) = comparison(l)?;
            let f = FloatFn::Set { ty, compare, combine, ftz, truth };
            let (mut native, at) = operands(l, f, ty, 2)?;
            native.q[0] = l.predicate(at)?;
            end(l, at + 1)?;
            native
        }
        "HSETP2" => {
            let ty = ty(l);
            let (compare, combine, ftz) = comparison(l)?;
            let mut native = native(FloatFn::SetPredicate { ty, compare, combine, ftz });
            native.p = results(l)?;
            let at;
            (native.s, at) = sources(l, 2, ty, 2)?;
            native.q[0] = l.predicate(at)?;
            end(l, at + 1)?;
            native
        }
        _ => return Ok(None),
    };
    Ok(Some(native))
}

/// Takes the type of the halves.
fn ty(l: &mut Lowering<'_, '_>) -> Type {
    if l.text.take("BF16_V2") { Type::BF16x2 } else { Type::F16x2 }
}

/// Takes the modifiers of arithmetic.
fn mode(l: &mut Lowering<'_, '_>) -> FloatMode {
    let [ftz, sat, relu] = ["FTZ", "SAT", "RELU"].map(|m| l.text.take(m));
    FloatMode { ftz, sat, relu, ..FloatMode::default() }
}

/// Lowers `OP d, a, b ..` without further operands.
fn whole(l: &mut Lowering<'_, '_>, f: FloatFn, ty: Type, count: usize) -> Result<Native, Missing> {
    let (native, at) = operands(l, f, ty, count)?;
    end(l, at)?;
    Ok(native)
}

/// Lowers the first operands, `d, a, b ..`. Returns the index of the next one, too.
fn operands(
    l: &mut Lowering<'_, '_>,
    f: FloatFn,
    ty: Type,
    count: usize,
) -> Result<(Native, usize), Missing> {
    let d = l.result(0, Width::Word)?;
    let (s, at) = sources(l, 1, ty, count)?;
    Ok((Native { d, s, ..native(f) }, at))
}

/// Returns `count` sources from operand `at` on, and the index of the operand after them.
///
/// An immediate pair is two operands of the listing, the high half first.
fn sources(
    l: &mut Lowering<'_, '_>,
    mut at: usize,
    ty: Type,
    count: usize,
) -> Result<([Source; 3], usize), Missing> {
    let number = |operand: Option<&Operand<'_>>| {
        matches!(operand, Some(Operand::Integer(_) | Operand::Float(_)))
    };
    let mut s = [Source::default(); 3];
    for source in s.iter_mut().take(count) {
        *source = part_source(l, at, ty)?;
        if number(l.text.operands.get(at)) {
            at += 1;
            if !number(l.text.operands.get(at)) {
                return Err(Missing::Operands);
            }
        }
        at += 1;
    }
    Ok((s, at))
}

/// Turns `-RZ * RZ + immediate` into a move: compilers make constants of it.
fn constant(l: &Lowering<'_, '_>, mut native: Native) -> Native {
    use Operand::{Float, Integer, Register};
    let zero = |i: usize| {
        matches!(&l.text.operands[..], operands if
        matches!(operands.get(i), Some(Register(name, _)) if name.is_zero()))
    };
    let number = |i: usize| matches!(l.text.operands.get(i), Some(Integer(_) | Float(_)));
    let bits = l.immediate();
    let is_nan = |half: u32| half & 0x7fff > 0x7c00;
    let plain = native.f == NativeFn::Float(FloatFn::Fma(Type::F16x2, FloatMode::default()));
    // -0 + x is x, except for a NaN, which becomes canonical.
    let moves =
        plain && zero(1) && zero(2) && number(3) && native.s[0].negate && !native.s[1].negate;
    if moves && !is_nan(bits & 0xffff) && !is_nan(bits >> 16) {
        native.s = [native.s[2], Source::default(), Source::default()];
        native.f = NativeFn::Mov;
    }
    native
}
