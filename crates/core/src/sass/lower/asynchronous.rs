//! Asynchronous copies and barrier objects.
//!
//! Seen in code of nvcc 13 for sm_80 and sm_90: LDGSTS copies, LDGDEPBAR raises a dependence
//! counter until the copies so far are done, DEPBAR waits for the counter. An object of sm_90 is
//! accessed by SYNCS, whose modifiers name arrivals and bytes: A0 and A1 are no and one arrival, AR
//! as many as the register says, T0 and T1 no and one byte to expect, TR as many as the register
//! says, TX as many that arrive; without them one thread arrives and expects the register's bytes.

use super::super::text::Operand;
use super::memory::{address, order, width};
use super::{Lowered, Lowering, Missing, Module, Width};
use crate::isa::{Space, Type};
use crate::kernel::{
    AsyncCopy, ByCopies, CopyGroups, MBarrier, MBarrierFn, MemoryOrder, ObjectLayout, Op, Scope,
    StateForm, ValidBytes,
};

/// Lowers an asynchronous instruction; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(
    l: &mut Lowering<'_, '_>,
    module: &Module<'_>,
) -> Result<Option<Lowered>, Missing> {
    let name = l.text.name;
    let op = match name {
        "LDGSTS" => copy(l, module)?,
        "LDGDEPBAR" => Op::CopyGroups(CopyGroups::Commit),
        "UTMACMDFLUSH" => Op::CopyGroups(CopyGroups::CommitBulk),
        "UBLKCP" | "UBLKRED" => super::bulk::copy(l, module)?,
        "UBLKPF" => super::bulk::prefetch(l, module)?,
        "UTMALDG" | "UTMASTG" | "UTMAREDG" => super::bulk::tile(l, module)?,
        "UTMAPF" | "UTMACCTL" => super::bulk::cached(l, module)?,
        "ARRIVES" => by_copies(l, module)?,
        "SYNCS" => object(l, module)?,
        "ATOMS" if l.text.take("ARRIVE") => {
            if !l.text.take("64") {
                return Err(Missing::Operands);
            }
            let arrive = MBarrierFn::Arrive { drops: false, expects: false };
            let d = l.result(0, Width::Pair)?;
            Op::MBarrier(Box::new(MBarrier {
                d,
                layout: ObjectLayout::Words,
                ..of(l, arrive, 1, module)?
            }))
        }
        "FENCE" => {
            l.text.modifiers.clear();
            Op::Fence(Scope::Block)
        }
        // The end of earlier launches and the start of later ones.
        "ACQBULK" | "PREEXIT" => Op::Hint { address: None },
        _ => return Ok(None),
    };
    Ok(Some(Lowered::of(op)))
}

/// LDGSTS.E.BYPASS.LTC128B.128.ZFILL [R13+0x800], desc[UR6][R8.64], P1
///
/// Without the predicate the copy is of zeros. ZFILL copies up to the alignment of the address.
fn copy(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Op, Missing> {
    let bypass_l1 = l.text.take("BYPASS");
    let fills = l.text.take("ZFILL");
    let (Type::B32, count) = width(l) else { return Err(Missing::Operands) };
    order(l);
    let to = address(l, 0, Space::Shared, module)?;
    let from = address(l, 1, Space::Global, module)?;
    let mut ignore = None;
    if l.text.operands.len() > 2 {
        let copied = l.predicate(2)?;
        ignore = Some(crate::kernel::PredicateUse { negated: !copied.negated, ..copied });
    }
    let valid = if fills { ValidBytes::ToAlignment } else { ValidBytes::All };
    Ok(Op::AsyncCopy(Box::new(AsyncCopy { to, from, bytes: 4 * count, valid, ignore, bypass_l1 })))
}

/// ARRIVES.LDGSTSBAR.64.ARVCNT [UR7]
fn by_copies(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Op, Missing> {
    if !l.text.take("LDGSTSBAR") || !l.text.take("64") {
        return Err(Missing::Operands);
    }
    let (arrives, completes) = (l.text.take("ARVCNT"), l.text.take("TRANSCNT"));
    let (f, layout) = match (arrives, completes) {
        (true, _) => (ByCopies::Arrive, ObjectLayout::Bytes),
        (_, true) => (ByCopies::Complete, ObjectLayout::Bytes),
        _ => (ByCopies::Arrive, ObjectLayout::Words),
    };
    let op = of(l, MBarrierFn::ByCopies(f), 0, module)?;
    Ok(Op::MBarrier(Box::new(MBarrier { layout, ..op })))
}

/// SYNCS.EXCH.64 URZ, [UR4], UR6; SYNCS.CCTL.IV [UR7]; SYNCS.ARRIVE.TRANS64.A1T0 R2, [UR13], RZ;
/// SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR13], R3.
fn object(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Op, Missing> {
    if l.text.take("CCTL") {
        let known = l.text.take("IV");
        let op = of(l, MBarrierFn::Inval, 0, module)?;
        return if known { Ok(Op::MBarrier(Box::new(op))) } else { Err(Missing::Operands) };
    }
    if l.text.take("EXCH") {
        let known = l.text.take("64") && is_zero(l, 0);
        let op = of(l, MBarrierFn::InitBits, 1, module)?;
        let a = Some(l.plain(2, Width::Pair)?);
        let op = MBarrier { a, ..op };
        return if known { Ok(Op::MBarrier(Box::new(op))) } else { Err(Missing::Operands) };
    }
    if !l.text.take("TRANS64") {
        return Err(Missing::Operands);
    }
    if l.text.take("PHASECHK") {
        let suspends = l.text.take("TRYWAIT");
        let p = l.result_predicate(0)?;
        let op = of(l, MBarrierFn::TestSign, 1, module)?;
        let a = Some(l.plain(2, Width::Word)?);
        return Ok(Op::MBarrier(Box::new(MBarrier { suspends, p, a, ..op })));
    }
    if !l.text.take("ARRIVE") {
        return Err(Missing::Operands);
    }
    let reduces = l.text.take("RED");
    let drops = l.text.take("OPTOUT");
    let state = if l.text.take("TMASK") { StateForm::Masked } else { StateForm::Pair };
    let arrive = |expects| MBarrierFn::Arrive { drops, expects };
    let named = l.plain(2, Width::Word)?;
    let forms = [
        ("A1T0", arrive(false), None),
        ("ART0", arrive(false), Some(named)),
        ("A1TR", arrive(true), Some(named)),
        ("A0TR", MBarrierFn::ExpectTx, Some(named)),
        ("A0TX", MBarrierFn::CompleteTx, Some(named)),
        ("A0T1", MBarrierFn::ExpectTx, Some(l.rows.immediate(1))),
    ];
    let found = forms.into_iter().find(|(name, ..)| l.text.take(name));
    let (_, f, a) = found.unwrap_or(("", arrive(true), Some(named)));
    let d = if reduces && !is_zero(l, 0) { None } else { l.result(0, Width::Pair)? };
    let op = of(l, f, 1, module)?;
    Ok(Op::MBarrier(Box::new(MBarrier { a, d, state, ..op })))
}

/// Returns an operation on the object whose address is operand `i`, without other operands.
fn of(
    l: &mut Lowering<'_, '_>,
    f: MBarrierFn,
    i: usize,
    module: &Module<'_>,
) -> Result<MBarrier, Missing> {
    let order = match f {
        MBarrierFn::Arrive { .. } | MBarrierFn::ByCopies(_) => MemoryOrder::Release,
        f if f.tests() => MemoryOrder::Acquire,
        _ => MemoryOrder::Relaxed,
    };
    Ok(MBarrier {
        f,
        space: Space::Shared,
        order,
        address: address(l, i, Space::Shared, module)?,
        layout: ObjectLayout::Bytes,
        d: None,
        state: StateForm::Pair,
        suspends: false,
        p: None,
        a: None,
    })
}

/// Returns true if operand `i` is RZ or URZ.
fn is_zero(l: &Lowering<'_, '_>, i: usize) -> bool {
    matches!(l.text.operands.get(i), Some(Operand::Register(name, _)) if name.is_zero())
}
