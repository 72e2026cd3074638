//! Block barriers as seen by one warp: arrivals, votes and results.
//!
//! The machine counts arrivals and waits. A `bar.red` executes in two halves: [`super::step`]
//! reports the arrival, and when the barrier opens, the machine calls [`finish_barrier_reduction`]
//! with the block's result.

use super::lanes::{predicate, set_predicate, splat};
use super::{Effect, Fault, FaultKind, RegisterFile};
use crate::base::{LaneMask, MAX_LANES};
use crate::kernel::{Barrier, BarrierKind, BarrierReduce, Inst, Op};

/// Number of barriers per block.
const BARRIERS: u32 = 16;

/// Returns the arrival of `lanes` at a barrier.
/// Number and count are the lowest lane's. A count is a multiple of the machine's warp size (PTX
/// ISA, "Parallel Synchronization and Communication Instructions: bar").
pub(super) fn arrive(
    op: &Barrier,
    lanes: LaneMask,
    registers: &RegisterFile,
    warp_size: u32,
) -> Result<Effect, Fault> {
    let Some(lane) = lanes.lowest() else { return Ok(Effect::Done) };
    let read = |row: crate::kernel::Row| registers.narrow[usize::from(row.0)][lane as usize];
    let fault = |kind| Err(Fault { lane, kind });
    let (id, count) = (read(op.id), op.count.map(read));
    let (id, count) = match op.packed {
        true => (id % BARRIERS, Some(id >> 16).filter(|&count| count > 0)),
        false => (id, count),
    };
    if id >= BARRIERS {
        return fault(FaultKind::BadBarrier { value: id });
    }
    match count {
        Some(count) if count == 0 || count.checked_rem(warp_size) != Some(0) => {
            fault(FaultKind::BadThreadCount { count, warp_size })
        }
        _ => {
            Ok(Effect::Barrier { lanes, id: id as u8, count, wait: op.kind != BarrierKind::Arrive })
        }
    }
}

/// Returns the barrier at which `lanes` wait for the whole block, if an operation does just that.
#[inline]
pub fn waits_for_block(op: &Op, lanes: LaneMask, registers: &RegisterFile) -> Option<u8> {
    let &Op::Barrier(Barrier { id, count: None, kind: BarrierKind::Sync, .. }) = op else {
        return None;
    };
    let lane = lanes.lowest()? as usize % MAX_LANES;
    let id = registers.narrow[usize::from(id.0)][lane];
    (id < BARRIERS).then_some(id as u8)
}

fn reduction(inst: &Inst) -> Option<BarrierKind> {
    match &inst.op {
        Op::Barrier(Barrier { kind: kind @ BarrierKind::Red { .. }, .. }) => Some(*kind),
        _ => None,
    }
}

/// Returns the lanes whose predicate holds at a `bar.red`.
/// Empty for other instructions.
pub fn barrier_votes(inst: &Inst, lanes: LaneMask, registers: &RegisterFile) -> LaneMask {
    match reduction(inst) {
        Some(BarrierKind::Red { p, .. }) => lanes & LaneMask(predicate(registers, p)),
        _ => LaneMask::EMPTY,
    }
}

/// Writes the result of a `bar.red` over the whole block to `lanes`.
/// `popc` is the number of threads whose predicate holds, `and` is true if all hold, `or` if any
/// does. Does nothing for other instructions.
pub fn finish_barrier_reduction(
    inst: &Inst,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    popc: u32,
    and: bool,
    or: bool,
) {
    let mask = |holds: bool| if holds { u32::MAX } else { 0 };
    if let Some(BarrierKind::Red { f, .. }) = reduction(inst) {
        match f {
            BarrierReduce::Popc(d) => splat(registers, d, lanes, popc),
            BarrierReduce::And(d) => set_predicate(registers, d, lanes, mask(and)),
            BarrierReduce::Or(d) => set_predicate(registers, d, lanes, mask(or)),
        }
    }
}
