//! Float arithmetic: f32 and f64.

mod convert;
mod half;

use super::{FALSE, Lowering, Missing, Width};
use crate::isa::{BoolOp, Compare, FloatMode, Round, Type};
use crate::kernel::{
    Approximation, FloatFn, Native, NativeFn, Part, Predicate, PredicateUse, Source,
};
use crate::sass::text::Operand;

/// Lowers a float instruction; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(l: &mut Lowering<'_, '_>) -> Result<Option<Native>, Missing> {
    let native = match l.text.name {
        "FADD" => {
            let mode = mode(l);
            arithmetic(l, FloatFn::Add(Type::F32, mode), 2)?
        }
        "FMUL" => {
            let (mode, scale) = (mode(l), scale(l));
            arithmetic(l, FloatFn::Mul(Type::F32, mode, scale), 2)?
        }
        "FFMA" => {
            let mode = mode(l);
            arithmetic(l, FloatFn::Fma(Type::F32, mode), 3)?
        }
        "DADD" => {
            let mode = FloatMode { round: round(l), ..FloatMode::default() };
            arithmetic(l, FloatFn::Add(Type::F64, mode), 2)?
        }
        "DMUL" => {
            let mode = FloatMode { round: round(l), ..FloatMode::default() };
            arithmetic(l, FloatFn::Mul(Type::F64, mode, 0), 2)?
        }
        "DFMA" => {
            let mode = FloatMode { round: round(l), ..FloatMode::default() };
            arithmetic(l, FloatFn::Fma(Type::F64, mode), 3)?
        }
        "FSEL" => {
            let ftz = l.text.take("FTZ");
            chosen(l, FloatFn::Select { ftz })?
        }
        "FMNMX" => {
            let [ftz, nan, xorsign] = ["FTZ", "NAN", "XORSIGN"].map(|m| l.text.take(m));
            chosen(l, FloatFn::MinMax { ty: Type::F32, ftz, nan, xorsign })?
        }
        "FSETP" | "DSETP" => set_predicate(l)?,
        "FSET" => {
            let truth = if l.text.take("BF") { 1.0_f32.to_bits() } else { u32::MAX };
            let (compare, combine, ftz) = comparison(l)?;
            chosen(l, FloatFn::Set { ty: Type::F32, compare, combine, ftz, truth })?
        }
        "FCHK" => {
            // FCHK.DIVIDE is the only kind.
            l.text.take("DIVIDE");
            end(l, 3)?;
            Native {
                p: [l.result_predicate(0)?, None],
                s: [source(l, 1, Type::F32)?, source(l, 2, Type::F32)?, Source::default()],
                ..native(FloatFn::DivideCheck)
            }
        }
        "MUFU" => approximation(l)?,
        _ => return Ok(half::lower(l)?.or(convert::lower(l)?)),
    };
    Ok(Some(native))
}

/// Returns an instruction without operands.
fn native(f: FloatFn) -> Native {
    const NEVER: PredicateUse = PredicateUse { predicate: FALSE, negated: false };
    Native {
        f: NativeFn::Float(f),
        d: None,
        p: [None; 2],
        s: [Source::default(); 3],
        q: [NEVER; 2],
        uniform: false,
    }
}

/// Fails if the instruction does not have `count` operands.
fn end(l: &Lowering<'_, '_>, count: usize) -> Result<(), Missing> {
    if l.text.operands.len() == count { Ok(()) } else { Err(Missing::Operands) }
}

/// Returns the row width of a type.
fn width(ty: Type) -> Width {
    match ty {
        Type::F64 => Width::Double,
        _ if ty.is_wide() => Width::Pair,
        _ => Width::Word,
    }
}

/// Returns the source of operand `i`, without a selected part.
fn source(l: &mut Lowering<'_, '_>, i: usize, ty: Type) -> Result<Source, Missing> {
    let source = part_source(l, i, ty)?;
    if source.part == Part::Whole { Ok(source) } else { Err(Missing::Operands) }
}

/// Returns the source of operand `i`.
///
/// An immediate is taken from the encoding, because the listing shows a whole float as an integer.
fn part_source(l: &mut Lowering<'_, '_>, i: usize, ty: Type) -> Result<Source, Missing> {
    let immediate = matches!(l.text.operands.get(i), Some(Operand::Integer(_) | Operand::Float(_)));
    if immediate {
        let bits = l.immediate();
        return Ok(Source::of(match width(ty) {
            Width::Word => l.rows.immediate(bits),
            // The encoding holds the upper word.
            Width::Pair | Width::Double => l.rows.immediate_pair(u64::from(bits) << 32),
        }));
    }
    let source = l.source(i, width(ty))?;
    if source.invert { Err(Missing::Operands) } else { Ok(source) }
}

/// Lowers `OP d, a, b` or `OP d, a, b, c`.
fn arithmetic(l: &mut Lowering<'_, '_>, f: FloatFn, sources: usize) -> Result<Native, Missing> {
    let ty = match f {
        FloatFn::Add(ty, _) | FloatFn::Mul(ty, ..) | FloatFn::Fma(ty, _) => ty,
        _ => Type::F32,
    };
    let d = l.result(0, width(ty))?;
    let mut s = [Source::default(); 3];
    for (i, s) in s.iter_mut().enumerate().take(sources) {
        *s = source(l, i + 1, ty)?;
    }
    end(l, sources + 1)?;
    Ok(Native { d, s, ..native(f) })
}

/// Lowers `OP d, a, b, q` with f32 operands.
fn chosen(l: &mut Lowering<'_, '_>, f: FloatFn) -> Result<Native, Missing> {
    let mut native = native(f);
    native.d = l.result(0, Width::Word)?;
    native.s[0] = source(l, 1, Type::F32)?;
    native.s[1] = source(l, 2, Type::F32)?;
    native.q[0] = l.predicate(3)?;
    end(l, 4)?;
    Ok(native)
}

/// Lowers FSETP and DSETP.
fn set_predicate(l: &mut Lowering<'_, '_>) -> Result<Native, Missing> {
    let ty = if l.text.name == "FSETP" { Type::F32 } else { Type::F64 };
    let larger = l.text.take("MAX");
    let f = if ty == Type::F64 && (larger || l.text.take("MIN")) {
        // The predicate is combined by AND only.
        if !l.text.take("AND") {
            return Err(Missing::Operands);
        }
        FloatFn::Choose { larger }
    } else {
        let (compare, combine, ftz) = comparison(l)?;
        FloatFn::SetPredicate { ty, compare, combine, ftz }
    };
    let p = results(l)?;
    let s = [source(l, 2, ty)?, source(l, 3, ty)?, Source::default()];
    let mut native = Native { p, s, ..native(f) };
    native.q[0] = l.predicate(4)?;
    end(l, 5)?;
    Ok(native)
}

/// Returns the two predicate results.
fn results(l: &mut Lowering<'_, '_>) -> Result<[Option<Predicate>; 2], Missing> {
    Ok([l.result_predicate(0)?, l.result_predicate(1)?])
}

/// Takes the comparison, its combination with the predicate, and `.FTZ`.
fn comparison(l: &mut Lowering<'_, '_>) -> Result<(Compare, BoolOp, bool), Missing> {
    const COMPARISONS: [(&str, Compare); 14] = [
        ("EQ", Compare::Eq),
        ("NE", Compare::Ne),
        ("LT", Compare::Lt),
        ("LE", Compare::Le),
        ("GT", Compare::Gt),
        ("GE", Compare::Ge),
        ("EQU", Compare::Equ),
        ("NEU", Compare::Neu),
        ("LTU", Compare::Ltu),
        ("LEU", Compare::Leu),
        ("GTU", Compare::Gtu),
        ("GEU", Compare::Geu),
        ("NUM", Compare::Num),
        ("NAN", Compare::Nan),
    ];
    const COMBINATIONS: [(&str, BoolOp); 3] =
        [("AND", BoolOp::And), ("OR", BoolOp::Or), ("XOR", BoolOp::Xor)];
    let ftz = l.text.take("FTZ");
    let compare = COMPARISONS.into_iter().find(|(name, _)| l.text.take(name));
    let combine = COMBINATIONS.into_iter().find(|(name, _)| l.text.take(name));
    match (compare, combine) {
        (Some((_, compare)), Some((_, combine))) => Ok((compare, combine, ftz)),
        _ => Err(Missing::Modifier(l.text.modifiers.join("."))),
    }
}

/// Lowers MUFU.
fn approximation(l: &mut Lowering<'_, '_>) -> Result<Native, Missing> {
    const FUNCTIONS: [(&str, Approximation); 10] = [
        ("RCP", Approximation::Reciprocal),
        ("RSQ", Approximation::ReciprocalRoot),
        ("SQRT", Approximation::Root),
        ("EX2", Approximation::Exponential),
        ("LG2", Approximation::Logarithm),
        ("SIN", Approximation::Sine),
        ("COS", Approximation::Cosine),
        ("TANH", Approximation::Tangent),
        ("RCP64H", Approximation::HighReciprocal),
        ("RSQ64H", Approximation::HighReciprocalRoot),
    ];
    let Some((_, f)) = FUNCTIONS.into_iter().find(|(name, _)| l.text.take(name)) else {
        return Err(Missing::Modifier(l.text.modifiers.join(".")));
    };
    let ty = match () {
        () if l.text.take("F16") => Type::F16,
        () if l.text.take("BF16") => Type::BF16,
        () => Type::F32,
    };
    let d = l.result(0, Width::Word)?;
    let a = match ty {
        Type::F32 => source(l, 1, ty)?,
        _ => part_source(l, 1, ty)?,
    };
    end(l, 2)?;
    Ok(Native {
        d,
        s: [a, Source::default(), Source::default()],
        ..native(FloatFn::Approximate(f, ty))
    })
}

/// Takes the modifiers of f32 arithmetic.
fn mode(l: &mut Lowering<'_, '_>) -> FloatMode {
    let [ftz, sat] = ["FTZ", "SAT"].map(|m| l.text.take(m));
    FloatMode { round: round(l), ftz, sat, ..FloatMode::default() }
}

/// Takes the rounding mode.
fn round(l: &mut Lowering<'_, '_>) -> Round {
    match () {
        () if l.text.take("RZ") => Round::Zero,
        () if l.text.take("RM") => Round::Down,
        () if l.text.take("RP") => Round::Up,
        () => Round::Nearest,
    }
}

/// Takes the scale of FMUL: the exponent of a power of two.
fn scale(l: &mut Lowering<'_, '_>) -> i8 {
    const SCALES: [(&str, i8); 6] =
        [("D2", -1), ("D4", -2), ("D8", -3), ("M2", 1), ("M4", 2), ("M8", 3)];
    SCALES.into_iter().find(|(name, _)| l.text.take(name)).map_or(0, |(_, scale)| scale)
}

#[cfg(test)]
mod tests;
