//! Warp-wide instructions, block barriers, special registers.

use super::super::text::Operand;
use super::{Lowered, Lowering, Missing, Module, Width, predicate_never};
use crate::kernel::layout::{LOCAL_WINDOW, SHARED_WINDOW};
use crate::kernel::{
    Barrier, BarrierKind, BarrierReduce, Clock, Native, NativeFn, Op, Predicate, PredicateFn,
    ReduxFn, Row, ShuffleMode, Source, Special, VoteFn,
};

/// Predicate that holds the result of the last BAR.RED.AND or .OR, which B2R reads.
const REDUCED: Predicate = Predicate(15);

/// Lowers a warp-wide instruction; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(
    l: &mut Lowering<'_, '_>,
    module: &Module<'_>,
) -> Result<Option<Lowered>, Missing> {
    let name = l.text.name;
    let op = match name {
        "SHFL" => shuffle(l)?,
        "VOTE" | "VOTEU" => vote(l)?,
        "MATCH" => matching(l)?,
        "REDUX" => redux(l)?,
        "ELECT" => elect(l)?,
        "S2R" | "S2UR" | "CS2R" => special(l, module.reserved_shared)?,
        "BAR" => barrier(l)?,
        "B2R" => barrier_result(l)?,
        // A pause that ends with the phase of a barrier object, which the next test finds.
        "NANOSLEEP" if l.text.take("SYNCS") => {
            l.plain(0, Width::Word)?;
            Op::Hint { address: None }
        }
        "NANOSLEEP" => Op::Sleep { t: l.plain(0, Width::Word)? },
        "RPCMOV" => return_address(l)?,
        _ => return Ok(None),
    };
    Ok(Some(Lowered::of(op)))
}

fn native(f: NativeFn) -> Native {
    Native {
        f,
        d: None,
        p: [None; 2],
        s: [Source::default(); 3],
        q: [predicate_never(); 2],
        uniform: false,
    }
}

fn boxed(native: Native) -> Op {
    Op::Native(Box::new(native))
}

fn shuffle(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let modes = [
        ("IDX", ShuffleMode::Index),
        ("UP", ShuffleMode::Up),
        ("DOWN", ShuffleMode::Down),
        ("BFLY", ShuffleMode::Butterfly),
    ];
    let mode = modes.into_iter().find(|(name, _)| l.text.take(name));
    let (_, mode) = mode.ok_or(Missing::Operands)?;
    let p = l.result_predicate(0)?;
    let d = l.result(1, Width::Word)?;
    let s = [l.source(2, Width::Word)?, l.source(3, Width::Word)?, l.source(4, Width::Word)?];
    Ok(boxed(Native { d, p: [p, None], s, ..native(NativeFn::Shuffle(mode)) }))
}

/// VOTE.ANY R0, PT, P0 or VOTE.ANY P1, P0: the ballot, the predicate, or both.
fn vote(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let f = [("ALL", VoteFn::All), ("ANY", VoteFn::Any), ("EQ", VoteFn::Equal)]
        .into_iter()
        .find(|(name, _)| l.text.take(name));
    let (_, f) = f.ok_or(Missing::Operands)?;
    let uniform = l.text.name == "VOTEU";
    let mut at = 0;
    let mut d = None;
    if !l.is_predicate(at) {
        d = l.result(at, Width::Word)?;
        at += 1;
    }
    let p = l.result_predicate(at)?;
    let q = [l.predicate(at + 1)?, predicate_never()];
    Ok(boxed(Native { d, p: [p, None], q, uniform, ..native(NativeFn::Vote(f)) }))
}

/// ELECT P0, URZ, PT: true in the lowest lane, whose number is the result.
fn elect(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let p = l.result_predicate(0)?;
    let d = l.result(1, Width::Word)?;
    let q = [l.predicate(2)?, predicate_never()];
    Ok(boxed(Native { d, p: [p, None], q, uniform: true, ..native(NativeFn::Vote(VoteFn::Elect)) }))
}

fn matching(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let all = l.text.take("ALL");
    l.text.take("ANY");
    let wide = l.text.take("U64") || l.text.take("64");
    let width = if wide { Width::Pair } else { Width::Word };
    // MATCH.ALL PT, R0, R1 and MATCH.ANY R0, R1.
    let mut at = 0;
    let mut p = None;
    if l.is_predicate(at) {
        p = l.result_predicate(at)?;
        at += 1;
    }
    let d = l.result(at, Width::Word)?;
    let s = [l.source(at + 1, width)?, Source::default(), Source::default()];
    Ok(boxed(Native { d, p: [p, None], s, ..native(NativeFn::Match { all, wide }) }))
}

fn redux(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let functions = [
        ("SUM", ReduxFn::Add),
        ("MIN", ReduxFn::Min),
        ("MAX", ReduxFn::Max),
        ("AND", ReduxFn::And),
        ("OR", ReduxFn::Or),
        ("XOR", ReduxFn::Xor),
    ];
    let found = functions.into_iter().find(|(name, _)| l.text.take(name));
    let signed = l.text.take("S32");
    // Without a function's name the mnemonic is REDUX, a bitwise and.
    let f = found.map_or(ReduxFn::And, |(_, f)| f);
    let d = l.result(0, Width::Word)?;
    let s = [l.source(1, Width::Word)?, Source::default(), Source::default()];
    Ok(boxed(Native { d, s, uniform: true, ..native(NativeFn::Redux { f, signed }) }))
}

/// S2R R0, SR_TID.X. Shared memory begins with `reserved` bytes of the system.
fn special(l: &mut Lowering<'_, '_>, reserved: u32) -> Result<Op, Missing> {
    let uniform = l.text.name == "S2UR";
    let narrow = l.text.take("32");
    let Some(&Operand::Special(name)) = l.text.operands.get(1) else {
        // CS2R R2, SRZ clears a pair.
        return match l.text.operands.get(1) {
            Some(Operand::Word("SRZ")) => zero(l, narrow),
            _ => Err(Missing::Operands),
        };
    };
    let clock = match name {
        "SR_CLOCKLO" if l.text.name == "CS2R" && !narrow => Some(Clock::Pair),
        "SR_CLOCKLO" => Some(Clock::Low),
        "SR_CLOCKHI" => Some(Clock::High),
        "SR_GLOBALTIMERLO" if l.text.name == "CS2R" && !narrow => Some(Clock::TimerPair),
        "SR_GLOBALTIMERLO" => Some(Clock::TimerLow),
        "SR_GLOBALTIMERHI" => Some(Clock::TimerHigh),
        _ => None,
    };
    if let Some(clock) = clock {
        let pair = matches!(clock, Clock::Pair | Clock::TimerPair);
        let width = if pair { Width::Pair } else { Width::Word };
        let d = l.result(0, width)?.ok_or(Missing::Operands)?;
        return Ok(Op::Clock { d, clock });
    }
    let axis = |letter: &str| match letter {
        "X" => 0,
        "Y" => 1,
        _ => 2,
    };
    let special = match name.split_once('.') {
        Some(("SR_TID", letter)) => Special::Tid(axis(letter)),
        Some(("SR_CTAID", letter)) => Special::Ctaid(axis(letter)),
        None => match name {
            "SR_LANEID" => Special::Laneid,
            "SR_VIRTUALSMID" | "SR_SMID" => Special::Smid,
            "SR_VIRTID" => Special::Virtid,
            "SR_VIRTCFG" => Special::Virtcfg,
            "SR_SMEMSZ" => {
                let d = l.result(0, Width::Word)?;
                let own = Source::of(l.rows.special(Special::TotalSmemSize));
                let s = [own, Source::of(l.rows.immediate(reserved)), Source::default()];
                return Ok(boxed(Native { d, s, uniform, ..native(NativeFn::Add) }));
            }
            "SR_NWARPID" => Special::Nwarpid,
            "SR_WARPID" => Special::Warpid,
            "SR_EQMASK" => Special::LanemaskEq,
            "SR_LTMASK" => Special::LanemaskLt,
            "SR_LEMASK" => Special::LanemaskLe,
            "SR_GTMASK" => Special::LanemaskGt,
            "SR_GEMASK" => Special::LanemaskGe,
            // A block is a cluster of its own.
            "SR_CgaCtaId" => return constant(l, 0, uniform),
            "SR_SWINHI" => return constant(l, (SHARED_WINDOW >> 32) as u32, uniform),
            "SR_LWINHI" => return constant(l, (LOCAL_WINDOW >> 32) as u32, uniform),
            // Debug code traps if its stack pointer is below; here an access there is a fault.
            "SR_LMEMHIOFF" => return constant(l, 0, uniform),
            // Counters that no profiler has set up.
            _ if name.starts_with("SR_PM") && l.text.name == "CS2R" => return zero(l, narrow),
            _ => return Err(Missing::Modifier(name.to_owned())),
        },
        _ => return Err(Missing::Modifier(name.to_owned())),
    };
    let d = l.result(0, Width::Word)?;
    let s = [Source::of(l.rows.special(special)), Source::default(), Source::default()];
    Ok(boxed(Native { d, s, uniform, ..native(NativeFn::Mov) }))
}

/// A special register with the same value in every launch.
fn constant(l: &mut Lowering<'_, '_>, value: u32, uniform: bool) -> Result<Op, Missing> {
    let d = l.result(0, Width::Word)?;
    let s = [Source::of(l.rows.immediate(value)), Source::default(), Source::default()];
    Ok(boxed(Native { d, s, uniform, ..native(NativeFn::Mov) }))
}

fn zero(l: &mut Lowering<'_, '_>, narrow: bool) -> Result<Op, Missing> {
    let (f, width) = match narrow {
        true => (NativeFn::Mov, Width::Word),
        false => (NativeFn::MovPair, Width::Pair),
    };
    let d = l.result(0, width)?;
    let s = [Source::of(l.rows.immediate(0)), Source::default(), Source::default()];
    Ok(boxed(Native { d, s, ..native(f) }))
}

/// BAR.SYNC 0x0, BAR.SYNC R0, 0x40, BAR.SYNC R0, R0 (number and count in one register), BAR.ARV
/// 0x1, 0x40, BAR.RED.AND 0x0, P0 ..
fn barrier(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    l.text.take("DEFER_BLOCKING");
    let arrives = l.text.take("ARV");
    let reduces = l.text.take("RED");
    l.text.take("SYNC");
    l.text.take("SYNCALL");
    let mut p = None;
    if let Some(Operand::Predicate(_)) = l.text.operands.last() {
        p = Some(l.predicate(l.text.operands.len() - 1)?);
    }
    let kind = match (arrives, reduces) {
        (true, _) => BarrierKind::Arrive,
        (_, true) => {
            let p = p.ok_or(Missing::Operands)?;
            let f = if l.text.take("POPC") {
                BarrierReduce::Popc(l.rows.reduced())
            } else if l.text.take("AND") {
                BarrierReduce::And(REDUCED)
            } else if l.text.take("OR") {
                BarrierReduce::Or(REDUCED)
            } else {
                return Err(Missing::Operands);
            };
            BarrierKind::Red { f, p }
        }
        _ => BarrierKind::Sync,
    };
    let numbers = l.text.operands.len() - usize::from(p.is_some());
    let id = if numbers > 0 { l.plain(0, Width::Word)? } else { l.rows.immediate(0) };
    let count = if numbers > 1 { Some(l.plain(1, Width::Word)?) } else { None };
    let packed = count == Some(id);
    Ok(Op::Barrier(Barrier { kind, id, count, packed, aligned: false }))
}

/// B2R.RESULT RZ, P0 or B2R.RESULT R0; either result may be dropped, as in B2R.RESULT RZ.
fn barrier_result(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    if !l.text.take("RESULT") {
        return Err(Missing::Operands);
    }
    let d = l.result(0, Width::Word)?;
    if l.text.operands.len() > 1
        && let Some(p) = l.result_predicate(1)?
    {
        let reduced = crate::kernel::PredicateUse { predicate: REDUCED, negated: false };
        return Ok(Op::PredicateLogic { f: PredicateFn::Mov, d: p, a: reduced, b: reduced });
    }
    let s = [Source::of(l.rows.reduced()), Source::default(), Source::default()];
    Ok(boxed(Native { d, s, ..native(NativeFn::Mov) }))
}

/// RPCMOV.32 Rpc.HI, R5 or RPCMOV.32 R5, Rpc.LO: the return address register as a store.
fn return_address(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    if !l.text.take("32") {
        return Err(Missing::Operands);
    }
    let part = |l: &mut Lowering<'_, '_>, i: usize| match l.text.operands.get(i) {
        Some(Operand::Word("Rpc.LO")) => Some(l.rows.return_address()),
        Some(Operand::Word("Rpc.HI")) => Some(Row(l.rows.return_address().0 + 1)),
        _ => None,
    };
    let (d, s) = match (part(l, 0), part(l, 1)) {
        (Some(d), None) => (Some(d), l.source(1, Width::Word)?),
        (None, Some(row)) => (l.result(0, Width::Word)?, Source::of(row)),
        _ => return Err(Missing::Operands),
    };
    let s = [s, Source::default(), Source::default()];
    Ok(boxed(Native { d, s, ..native(NativeFn::Mov) }))
}
