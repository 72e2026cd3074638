//! Matrix products (HMMA, IMMA, BMMA, DMMA), and moves of 8x8 matrices (LDSM, STSM, MOVM).

use super::super::text::{Operand, RegisterName};
use super::memory::address;
use super::{Lowered, Lowering, Missing, Module, Width};
use crate::isa::{Class, Space};
use crate::kernel::{Combine, FactorType, MatrixAccess, MatrixMove, Mma, Op, Row, SumType};

/// Lowers an instruction on matrices; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(
    l: &mut Lowering<'_, '_>,
    module: &Module<'_>,
) -> Result<Option<Lowered>, Missing> {
    let op = match l.text.name {
        "HMMA" => floats(l)?,
        "IMMA" | "BMMA" => integers(l)?,
        "DMMA" => doubles(l)?,
        "LDSM" | "STSM" => access(l, module)?,
        "MOVM" => {
            // Other kinds move other sizes.
            if !(l.text.take("16") && l.text.take("MT88")) {
                return Err(Missing::Modifier(l.text.modifiers.join(".")));
            }
            let d = l.result(0, Width::Word)?;
            Op::MatrixTranspose { d, a: l.plain(1, Width::Word)? }
        }
        _ => return Ok(None),
    };
    Ok(Some(Lowered::of(op)))
}

/// Returns the class that has the interval of a product; `None` for other operations.
pub(in crate::sass) fn class(op: &Op) -> Option<Class> {
    let Op::Mma(op) = op else { return None };
    let bits = u32::from(op.k) * op.factors[0].bits();
    Some(match (op.sum, op.m, op.k) {
        (SumType::F64, 8, _) => Class::MatrixDouble,
        (SumType::F64, _, 4) => Class::MatrixDouble4,
        (SumType::F64, _, 8) => Class::MatrixDouble8,
        (SumType::F64, ..) => Class::MatrixDouble16,
        _ if bits <= 128 => Class::MatrixShort,
        _ => Class::MatrixLong,
    })
}

/// Takes the shape of a product: rows and depth, from one of `shapes`.
fn shape(l: &mut Lowering<'_, '_>, shapes: &[(&str, u8, u16)]) -> Result<(u8, u16), Missing> {
    let found = shapes.iter().find(|(name, ..)| l.text.take(name));
    found.map(|&(_, m, k)| (m, k)).ok_or_else(|| Missing::Modifier(l.text.modifiers.join(".")))
}

/// HMMA.16816.F32.BF16 R4, R8, R12, R4
fn floats(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let shapes = [("16816", 16, 16), ("1688", 16, 8), ("1684", 16, 4)];
    let (m, k) = shape(l, &shapes)?;
    let factor = match () {
        () if l.text.take("BF16") => FactorType::BF16,
        () if l.text.take("TF32") => FactorType::TF32,
        () => FactorType::F16,
    };
    // The type of the sums; F16 is that of f16 factors.
    let sum = if l.text.take("F32") { SumType::F32 } else { SumType::F16 };
    l.text.take("F16");
    let fits = match factor {
        FactorType::TF32 => k < 16,
        _ => k > 4,
    };
    if !fits || factor != FactorType::F16 && sum == SumType::F16 {
        return Err(Missing::Operands);
    }
    product(l, (m, k), [factor; 2], sum, (Combine::Multiply, false))
}

/// IMMA.16832.S8.U8.SAT R4, R8.ROW, R12.COL, R4
fn integers(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    if l.text.name == "BMMA" {
        let shapes = [("168256", 16, 256), ("168128", 16, 128), ("88128", 8, 128)];
        let shape = shape(l, &shapes)?;
        let combine = match () {
            () if l.text.take("AND") => Combine::AndPopc,
            () if l.text.take("XOR") => Combine::XorPopc,
            () => return Err(Missing::Operands),
        };
        l.text.take("POPC");
        return product(l, shape, [FactorType::B1; 2], SumType::S32, (combine, false));
    }
    let shapes =
        [("16864", 16, 64), ("16832", 16, 32), ("16816", 16, 16), ("8832", 8, 32), ("8816", 8, 16)];
    let (m, k) = shape(l, &shapes)?;
    let saturates = l.text.take("SAT");
    let factors = factor_types(l)?;
    let bits = factors[0].bits();
    // The factors have one width, and a row of A at most 256 bits.
    if bits != factors[1].bits() || u32::from(k) * bits > 256 || u32::from(k) * bits < 128 {
        return Err(Missing::Operands);
    }
    product(l, (m, k), factors, SumType::S32, (Combine::Multiply, saturates))
}

/// Takes the element types of A and B.
pub(super) fn factor_types(l: &mut Lowering<'_, '_>) -> Result<[FactorType; 2], Missing> {
    let mut factors = [FactorType::S8; 2];
    for factor in &mut factors {
        let name = l.text.modifiers.first().copied().unwrap_or_default();
        let ty = FactorType::from_name(&name.to_lowercase());
        *factor = ty.ok_or_else(|| Missing::Modifier(name.to_owned()))?;
        l.text.take(name);
    }
    Ok(factors)
}

/// DMMA.16x8x4 R4, R8, R12, R4
fn doubles(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let shapes =
        [("8x8x4", 8, 4), ("884", 8, 4), ("16x8x4", 16, 4), ("16x8x8", 16, 8), ("16x8x16", 16, 16)];
    let shape = shape(l, &shapes)?;
    product(l, shape, [FactorType::F64; 2], SumType::F64, (Combine::Multiply, false))
}

fn product(
    l: &mut Lowering<'_, '_>,
    (m, k): (u8, u16),
    factors: [FactorType; 2],
    sum: SumType,
    (combine, saturates): (Combine, bool),
) -> Result<Op, Missing> {
    let pairs = sum == SumType::F64;
    let words = if pairs { 2 } else { 1 };
    let counts = Mma::counts(m, k, factors[0], sum);
    let [a, b, c] = counts.map(|count| count as u8 * words);
    if l.text.operands.len() != 4 {
        return Err(Missing::Operands);
    }
    let every = |first: Row| (0..c).step_by(words.into()).map(move |i| Row(first.0 + u16::from(i)));
    let d = l.results(0, c)?.map(|first| every(first).collect());
    let a = fragment(l, 1, a, pairs)?;
    let b = fragment(l, 2, b, pairs)?;
    let c = fragment(l, 3, c, pairs)?;
    Ok(Op::Mma(Box::new(Mma { m, k, factors, sum, combine, saturates, a, b, c, d, pairs })))
}

/// Returns the registers of operand `i`, `words` in all; of pairs the low ones. RZ stands for all.
pub(super) fn fragment(
    l: &mut Lowering<'_, '_>,
    i: usize,
    words: u8,
    pairs: bool,
) -> Result<Vec<Row>, Missing> {
    let Some(&Operand::Register(first, marks)) = l.text.operands.get(i) else {
        return Err(Missing::Operands);
    };
    let signed = marks.negate || marks.absolute || marks.invert;
    if signed || first.uniform || !matches!(marks.suffix, None | Some("ROW" | "COL")) {
        return Err(Missing::Operands);
    }
    let (width, step) = if pairs { (Width::Pair, 2) } else { (Width::Word, 1) };
    let row = |at: u8| {
        if first.is_zero() {
            return l.read(first, width);
        }
        let number = first.number.checked_add(at).filter(|&number| number < 255);
        l.read(RegisterName { number: number.ok_or(Missing::Operands)?, ..first }, width)
    };
    (0..words).step_by(step).map(row).collect()
}

/// LDSM.16.MT88.4 R4, [R8+UR4], STSM.16.M88.2 [R8], R4
fn access(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Op, Missing> {
    let loads = l.text.name == "LDSM";
    let transposed = l.text.take("MT88");
    if !(l.text.take("16") && (l.text.take("M88") || transposed)) {
        return Err(Missing::Modifier(l.text.modifiers.join(".")));
    }
    let count = match () {
        () if l.text.take("4") => 4,
        () if l.text.take("2") => 2,
        () => 1,
    };
    let (at, list) = if loads { (1, 0) } else { (0, 1) };
    let address = address(l, at, Space::Shared, module)?;
    let rows: Vec<Option<Row>> = if loads {
        let first = l.results(list, count)?;
        (0..u16::from(count)).map(|i| first.map(|row| Row(row.0 + i))).collect()
    } else {
        let sources = l.sources(list, count)?;
        sources[..usize::from(count)].iter().map(|row| Some(*row)).collect()
    };
    let direction = if loads { MatrixMove::Load } else { MatrixMove::Store };
    let access = MatrixAccess { direction, space: Space::Shared, address, transposed, rows };
    Ok(Op::MatrixAccess(Box::new(access)))
}
