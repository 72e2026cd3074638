//! Matrix products of warpgroups: HGMMA, IGMMA, QGMMA, BGMMA, WARPGROUP; and USETMAXREG.
//!
//! Seen in code of ptxas 13 for sm_90a: of four uniform registers the first two have the descriptor
//! of A, unless four registers hold A, and the last two that of B. `tnspA`, `tnspB`, `negA` and
//! `negB` are suffixes of the descriptors. A uniform predicate tells whether C is added, and `gsb0`
//! ends a group of products.

use super::super::text::{Marks, Operand, RegisterName, Text};
use super::integer::native;
use super::{Lowered, Lowering, Missing, Module, Width, matrix, predicate_always, predicate_never};
use crate::kernel::{
    Accumulate, Combine, Descriptor, FactorType, GroupFactor, GroupMma, GroupSync, Native,
    NativeFn, Op, Row, Special, SumType,
};

/// Lowers an instruction of warpgroups; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(
    l: &mut Lowering<'_, '_>,
    module: &Module<'_>,
) -> Result<Option<Lowered>, Missing> {
    let op = match l.text.name {
        "WARPGROUP" => Op::GroupSync(synchronization(l)?),
        "USETMAXREG" => registers(l)?,
        "HGMMA" if ends_group(&l.text) => {
            l.text.modifiers.clear();
            l.text.operands.clear();
            Op::GroupSync(GroupSync::Commit)
        }
        "HGMMA" | "IGMMA" | "QGMMA" | "BGMMA" => Op::GroupMma(Box::new(product(l, module)?)),
        _ => return Ok(None),
    };
    Ok(Some(Lowered::of(op)))
}

/// Returns true for `HGMMA.64x8x16.F16 RZ, gdesc[URZ], RZ, !UPT, gsb0`, a product without a result
/// that ends a group: a `wgmma.commit_group` that follows no product.
fn ends_group(text: &Text<'_>) -> bool {
    let zero = |name: &RegisterName| name.is_zero();
    matches!(text.operands.as_slice(), [Operand::Register(d, _), Operand::Matrices(first, ""), ..,
        Operand::Word("gsb0")] if zero(d) && zero(first))
}

/// WARPGROUP.ARRIVE; WARPGROUP.DEPBAR.LE gsb0, 0x1
fn synchronization(l: &mut Lowering<'_, '_>) -> Result<GroupSync, Missing> {
    if l.text.take("ARRIVE") {
        return Ok(GroupSync::Fence);
    }
    let waits = l.text.take("DEPBAR") && l.text.take("LE");
    match l.text.operands.as_slice() {
        &[Operand::Word("gsb0"), Operand::Integer(left)] if waits => {
            u32::try_from(left).map(GroupSync::Wait).map_err(|_| Missing::Operands)
        }
        _ => Err(Missing::Operands),
    }
}

/// USETMAXREG.DEALLOC.CTAPOOL 0x28; USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8
fn registers(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let (takes, gives) = (l.text.take("TRY_ALLOC"), l.text.take("DEALLOC"));
    if takes == gives || !l.text.take("CTAPOOL") {
        return Err(Missing::Modifier(l.text.modifiers.join(".")));
    }
    if gives {
        return Ok(Op::Hint { address: None });
    }
    // All warps have the registers that they name, so that there are always some to take.
    let p = [l.result_predicate(0)?, None];
    let f = NativeFn::PredicateLogic3 { tables: [0xff, 0], third: predicate_never(), signs: 0 };
    Ok(Op::Native(Box::new(Native { f, p, ..native(true) })))
}

/// Element types and further modifiers of a product.
struct Kind {
    factors: [FactorType; 2],
    sum: SumType,
    combine: Combine,
    saturates: bool,
}

/// Takes the modifiers after the shape.
fn kind(l: &mut Lowering<'_, '_>) -> Result<Kind, Missing> {
    let plain = |factors, sum| Kind { factors, sum, combine: Combine::Multiply, saturates: false };
    let float = |l: &mut Lowering<'_, '_>| match () {
        () if l.text.take("F32") => Ok(SumType::F32),
        () if l.text.take("F16") => Ok(SumType::F16),
        () => Err(Missing::Modifier(l.text.modifiers.join("."))),
    };
    match l.text.name {
        "HGMMA" => {
            let sum = float(l)?;
            let factor = match () {
                () if l.text.take("BF16") => FactorType::BF16,
                () if l.text.take("TF32") => FactorType::TF32,
                () => FactorType::F16,
            };
            let fits = sum == SumType::F32 || factor == FactorType::F16;
            if fits { Ok(plain([factor; 2], sum)) } else { Err(Missing::Operands) }
        }
        "QGMMA" => {
            let sum = float(l)?;
            Ok(plain(matrix::factor_types(l)?, sum))
        }
        "IGMMA" => {
            let saturates = l.text.take("SAT");
            Ok(Kind { saturates, ..plain(matrix::factor_types(l)?, SumType::S32) })
        }
        _ => {
            let known = l.text.take("AND") && l.text.take("POPC");
            let kind = plain([FactorType::B1; 2], SumType::S32);
            let kind = Kind { combine: Combine::AndPopc, ..kind };
            if known { Ok(kind) } else { Err(Missing::Modifier(l.text.modifiers.join("."))) }
        }
    }
}

/// HGMMA.64x64x16.F32 R24, gdesc[UR8].tnspB, R24, UP0, gsb0;
/// QGMMA.64x8x32.F32.E5M2.E4M3 R24, R28, gdesc[UR4], RZ, !UPT
fn product(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<GroupMma, Missing> {
    let (columns, k) = shape(l)?;
    let Kind { factors, sum, combine, saturates } = kind(l)?;
    let [ta, tb] = factors;
    let integers = [FactorType::S8, FactorType::U8];
    let fits = match l.text.name {
        "QGMMA" => !integers.contains(&ta) && !integers.contains(&tb),
        "IGMMA" => integers.contains(&ta) && integers.contains(&tb),
        _ => true,
    };
    if !fits || ta.bits() != tb.bits() || u32::from(k) * ta.bits() != 256 {
        return Err(Missing::Operands);
    }
    let count = GroupMma::registers(columns, sum) as u8;
    let commits = matches!(l.text.operands.last(), Some(Operand::Word("gsb0")));
    if commits {
        l.text.operands.pop();
    }
    let adds = match l.text.operands.last() {
        Some(Operand::Predicate(_)) => {
            let adds = l.predicate(l.text.operands.len() - 1)?;
            l.text.operands.pop();
            match adds {
                adds if adds == predicate_always() => Accumulate::Always,
                adds if adds == predicate_never() => Accumulate::Never,
                adds => Accumulate::If(adds),
            }
        }
        _ => Accumulate::Always,
    };
    let descriptor = |row: Row| Descriptor { row, pair: true };
    // A, and the register and suffixes of the descriptor.
    let (a, first, suffixes, at, mut negated) = match *l.text.operands {
        [_, Operand::Matrices(first, suffixes), _] => (None, first, suffixes, 1, [false; 2]),
        [_, Operand::Register(a, marks), Operand::Matrices(first, suffixes), _] => {
            let known = Marks { negate: false, ..marks } == Marks::default();
            let a = Some(a).filter(|a| known && !a.uniform).ok_or(Missing::Operands)?;
            (Some(a), first, suffixes, 2, [marks.negate, false])
        }
        _ => return Err(Missing::Operands),
    };
    let mut transposed = [false; 2];
    for suffix in suffixes.split('.').filter(|suffix| !suffix.is_empty()) {
        match suffix {
            "tnspA" => transposed[0] = true,
            "tnspB" => transposed[1] = true,
            "negA" => negated[0] = true,
            "negB" => negated[1] = true,
            other => return Err(Missing::Modifier(other.to_owned())),
        }
    }
    if transposed != [false; 2] && ta.bits() != 16 {
        return Err(Missing::Operands);
    }
    let after = |name: RegisterName, words: u8| {
        let next = RegisterName { number: name.number.saturating_add(words), ..name };
        if name.is_zero() || next.is_zero() { Err(Missing::Operands) } else { Ok(next) }
    };
    let a = match a {
        Some(a) => {
            let mut rows = [Row(0); 4];
            for (row, word) in rows.iter_mut().zip(0..) {
                let name = if a.is_zero() { a } else { after(a, word)? };
                *row = l.read(name, Width::Word)?;
            }
            GroupFactor::Registers(rows)
        }
        None => GroupFactor::Shared(descriptor(l.read(first, Width::Pair)?)),
    };
    let b = l.read(after(first, 2)?, Width::Pair)?;
    let read = l.reads.clone();
    let c = matrix::fragment(l, at + 1, count, false)?;
    if adds != Accumulate::Always {
        l.reads = read; // with a predicate, C need not be set
    }
    let first = l.results(0, count)?.ok_or(Missing::Operands)?;
    Ok(GroupMma {
        columns,
        factors,
        sum,
        combine,
        saturates,
        a,
        b: descriptor(b),
        negated,
        transposed,
        adds,
        c,
        d: (0..u16::from(count)).map(|i| Row(first.0 + i)).collect(),
        shared_base: module.reserved_shared,
        place: l.rows.special(Special::Warpgroup),
        commits,
    })
}

/// Takes the shape, `64x` columns `x` depth.
fn shape(l: &mut Lowering<'_, '_>) -> Result<(u16, u16), Missing> {
    let named = l.text.modifiers.first().copied().unwrap_or_default();
    let parsed = named.strip_prefix("64x").and_then(|rest| rest.split_once('x'));
    let numbers = parsed.and_then(|(n, k)| Some((n.parse().ok()?, k.parse().ok()?)));
    match numbers {
        Some((columns, k)) if columns % 8 == 0 && (8..=256).contains(&columns) => {
            l.text.take(named);
            Ok((columns, k))
        }
        _ => Err(Missing::Modifier(named.to_owned())),
    }
}
