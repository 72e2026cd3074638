//! Conversions between types.

use super::{end, native, part_source, round, width};
use crate::isa::{Round, Type};
use crate::kernel::{Convert, FloatFn, Native, Part, Source};
use crate::sass::lower::{Lowering, Missing};

/// Lowers a conversion; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(l: &mut Lowering<'_, '_>) -> Result<Option<Native>, Missing> {
    let native = match l.text.name {
        "F2F" => {
            // F2F.F32.F64: result type first.
            let to = take_type(l, &FLOATS).ok_or_else(|| missing(l))?;
            let from = take_type(l, &FLOATS).ok_or_else(|| missing(l))?;
            let round = round(l);
            let [ftz, sat, relu] = ["FTZ", "SAT", "RELU"].map(|m| l.text.take(m));
            one(l, Convert { round, ftz, sat, relu, ..Convert::from(from) }, to, false)?
        }
        "FRND" => {
            let ty = take_type(l, &FLOATS).unwrap_or(Type::F32);
            let convert = Convert { ftz: l.text.take("FTZ"), ..integral(l, ty) };
            one(l, convert, ty, false)?
        }
        "F2I" => {
            let to = take_type(l, &INTEGERS).unwrap_or(Type::S32);
            let from = take_type(l, &FLOATS).unwrap_or(Type::F32);
            let convert = Convert { ftz: l.text.take("FTZ"), ..integral(l, from) };
            let nan_to_zero = l.text.take("NTZ");
            one(l, convert, to, nan_to_zero)?
        }
        "I2F" | "I2FP" => {
            let to = take_type(l, &FLOATS).unwrap_or(Type::F32);
            let from = take_type(l, &INTEGERS).unwrap_or(Type::S32);
            let convert = Convert { round: round(l), ..Convert::from(from) };
            one(l, convert, to, false)?
        }
        "F2FP" => float_pack(l)?,
        "F2IP" => {
            let to = take_type(l, &INTEGERS).filter(|to| to.bits() == 8);
            let to = to.ok_or_else(|| missing(l))?;
            let from = take_type(l, &FLOATS).unwrap_or(Type::F32);
            let convert = integral(l, from);
            // A NaN becomes 0, as `.NTZ` says.
            if !l.text.take("NTZ") {
                return Err(missing(l));
            }
            three(l, FloatFn::Pack { convert, to }, from)?
        }
        _ => return Ok(None),
    };
    Ok(Some(native))
}

const FLOATS: [(&str, Type); 4] =
    [("F16", Type::F16), ("BF16", Type::BF16), ("F32", Type::F32), ("F64", Type::F64)];
const INTEGERS: [(&str, Type); 8] = [
    ("U8", Type::U8),
    ("S8", Type::S8),
    ("U16", Type::U16),
    ("S16", Type::S16),
    ("U32", Type::U32),
    ("S32", Type::S32),
    ("U64", Type::U64),
    ("S64", Type::S64),
];

/// Takes the first modifier that names one of the types.
fn take_type(l: &mut Lowering<'_, '_>, types: &[(&str, Type)]) -> Option<Type> {
    let named = |modifier: &&str| types.iter().find(|(name, _)| name == modifier);
    let at = l.text.modifiers.iter().position(|m| named(m).is_some())?;
    named(&l.text.modifiers.remove(at)).map(|(_, ty)| *ty)
}

fn missing(l: &Lowering<'_, '_>) -> Missing {
    Missing::Modifier(l.text.modifiers.join("."))
}

/// Takes the rounding to an integral value.
fn integral(l: &mut Lowering<'_, '_>, from: Type) -> Convert {
    let round = match () {
        () if l.text.take("TRUNC") => Round::Zero,
        () if l.text.take("FLOOR") => Round::Down,
        () if l.text.take("CEIL") => Round::Up,
        () => Round::Nearest,
    };
    Convert { round, integral: true, ..Convert::from(from) }
}

/// Lowers `OP d, a`.
fn one(
    l: &mut Lowering<'_, '_>,
    convert: Convert,
    to: Type,
    nan_to_zero: bool,
) -> Result<Native, Missing> {
    let d = l.result(0, width(to))?;
    let a = operand(l, 1, convert.from)?;
    end(l, 2)?;
    let f = FloatFn::Convert { convert, to, nan_to_zero };
    Ok(Native { d, s: [a, Source::default(), Source::default()], ..native(f) })
}

/// Returns the source of operand `i`: a part no wider than the register, and signs of floats only.
fn operand(l: &mut Lowering<'_, '_>, i: usize, from: Type) -> Result<Source, Missing> {
    let source = part_source(l, i, from)?;
    let fits = match source.part {
        Part::Whole => true,
        Part::H0 | Part::H1 => from.bits() == 16,
        Part::B0 | Part::B1 | Part::B2 | Part::B3 => from.bits() == 8,
        Part::H0Nh1 | Part::Single => false,
    };
    let signed = source.negate || source.absolute;
    if fits && (from.is_float() || !signed) { Ok(source) } else { Err(Missing::Operands) }
}

/// Lowers F2FP.
fn float_pack(l: &mut Lowering<'_, '_>) -> Result<Native, Missing> {
    // Up to sm_89, F2FP.PACK_AB and F2FP.BF16.PACK_AB name no source type, and F16 is not printed.
    let to = take_type(l, &FLOATS).unwrap_or(Type::F16);
    let from = take_type(l, &FLOATS).unwrap_or(Type::F32);
    if to.bits() != 16 || from != Type::F32 {
        return Err(missing(l));
    }
    let [relu, satfinite] = ["RELU", "SATFINITE"].map(|m| l.text.take(m));
    let convert = Convert { round: round(l), relu, satfinite, ..Convert::from(from) };
    if l.text.take("PACK_AB") {
        return three(l, FloatFn::Pack { convert, to }, from);
    }
    if !l.text.take("MERGE_C") {
        return Err(missing(l));
    }
    // F2FP.BF16.F32.MERGE_C d, b, c
    let mut merge = native(FloatFn::Merge { convert, to });
    merge.d = l.result(0, width(to))?;
    merge.s[1] = operand(l, 1, from)?;
    merge.s[2] = operand(l, 2, Type::U16)?;
    end(l, 3)?;
    Ok(merge)
}

/// Lowers `OP d, a, b` or, for bytes, `OP d, a, b, c`.
fn three(l: &mut Lowering<'_, '_>, f: FloatFn, from: Type) -> Result<Native, Missing> {
    let mut native = native(f);
    native.d = l.result(0, width(Type::U32))?;
    native.s[0] = operand(l, 1, from)?;
    native.s[1] = operand(l, 2, from)?;
    if l.text.operands.len() > 3 {
        native.s[2] = operand(l, 3, Type::U16)?;
        end(l, 4)?;
    }
    Ok(native)
}
