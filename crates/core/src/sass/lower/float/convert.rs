//! Conversions between types.

use super::{end, native, part_source, round, width};
use crate::isa::{Round, Type};
use crate::kernel::{Convert, FloatFn, Fp8, Native, Part, Source, TensorConvert, Tf32Round};
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

/// Lowers F2FP to or from a small format; `Ok(None)` for other formats.
fn tensor(l: &mut Lowering<'_, '_>) -> Result<Option<Native>, Missing> {
    let format = match () {
        () if l.text.take("E4M3") => Some(Fp8::E4M3),
        () if l.text.take("E5M2") => Some(Fp8::E5M2),
        () => None,
    };
    let relu = |l: &mut Lowering<'_, '_>| l.text.take("RELU");
    let Some(format) = format else {
        if !l.text.take("TF32") {
            return Ok(None);
        }
        // F2FP.TF32.F32.PACK_B.RZ d, b
        let known = l.text.take("F32") && l.text.take("PACK_B");
        let round = if l.text.take("RZ") { Tf32Round::Zero } else { Tf32Round::Nearest };
        let f = TensorConvert::ToTf32 { round, relu: relu(l), satfinite: false };
        return if known { of_b(l, f, Type::F32).map(Some) } else { Err(missing(l)) };
    };
    if l.text.take("UNPACK_B") {
        // F2FP.F16.E4M3.UNPACK_B d, b
        l.text.take("F16");
        let f = TensorConvert::FromFp8 { format, relu: relu(l) };
        return of_b(l, f, Type::U16).map(Some);
    }
    if !l.text.take("SATFINITE") {
        return Err(missing(l));
    }
    let relu = relu(l);
    if l.text.take("UNPACK_B_MERGE_C") {
        // F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C d, b, c
        l.text.take("F16");
        let mut native =
            native(FloatFn::Tensor(TensorConvert::ToFp8 { format, halves: true, relu }));
        native.d = l.result(0, width(Type::U32))?;
        native.s[1] = operand(l, 1, Type::U32)?;
        native.s[2] = operand(l, 2, Type::U16)?;
        end(l, 3)?;
        return Ok(Some(native));
    }
    // F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C d, a, b, c
    if !(l.text.take("F32") && l.text.take("PACK_AB_MERGE_C")) {
        return Err(missing(l));
    }
    let f = FloatFn::Tensor(TensorConvert::ToFp8 { format, halves: false, relu });
    three(l, f, Type::F32).map(Some)
}

/// Lowers `OP d, b`.
fn of_b(l: &mut Lowering<'_, '_>, f: TensorConvert, from: Type) -> Result<Native, Missing> {
    let mut native = native(FloatFn::Tensor(f));
    native.d = l.result(0, width(Type::U32))?;
    native.s[1] = operand(l, 1, from)?;
    end(l, 2)?;
    Ok(native)
}

/// Lowers F2FP.
fn float_pack(l: &mut Lowering<'_, '_>) -> Result<Native, Missing> {
    if let Some(native) = tensor(l)? {
        return Ok(native);
    }
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
