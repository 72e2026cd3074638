//! End of a run.
//!
//! *Deadlock*: every live warp is blocked (barrier, join, warp sync), and nothing can release one.
//! [`super::livelock`] proves livelocks.

use super::block::Block;
use super::device::Context;
use super::livelock::Watch;
use super::warp::Warp;
use crate::base::{BlockId, Cycle, LaneMask, Pc, SmId};
use crate::divergence::GroupState;
use crate::exec::{Assertion, Fault, FaultKind};
use crate::kernel::Inst;

/// End of a run.
#[derive(Clone, Debug)]
pub enum Finish {
    /// Every thread of the grid exited.
    Ok,
    /// No warp can ever issue again.
    Deadlock(Hang),
    /// Issuing warps repeat their states forever.
    Livelock(Hang),
    /// Reached a limit; nothing is proved.
    CycleLimit(Limit),
    /// Executed an undefined operation.
    Fault(Box<FaultReport>),
}

impl Finish {
    /// Returns the word used in reports and expectations.
    pub const fn name(&self) -> &'static str {
        match self {
            Finish::Ok => "ok",
            Finish::Deadlock(_) => "deadlock",
            Finish::Livelock(_) => "livelock",
            Finish::CycleLimit(_) => "cycle-limit",
            Finish::Fault(_) => "fault",
        }
    }
}

/// Limit at which a run was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Limit in cycles.
    Cycles(Cycle),
    /// Issue limit of an SM, its share of the run's limit.
    Issues {
        /// SM that reached it.
        sm: SmId,
        /// Instructions issued on the SM.
        issued: u64,
        /// Cycle of the last issue; `None` without a clock.
        cycle: Option<Cycle>,
    },
}

/// Hanging warps of an SM.
#[derive(Clone, Debug)]
pub struct Hang {
    /// SM with the hanging warps.
    pub sm: SmId,
    /// Number of hanging warps.
    pub warps: u32,
    /// Lane sets of the first hanging warps.
    pub lanes: Vec<StuckLanes>,
}

/// Lanes of one warp that hang together.
#[derive(Clone, Debug)]
pub struct StuckLanes {
    /// Block of the lanes.
    pub block: BlockId,
    /// Warp index in the block.
    pub warp: u32,
    /// Lanes of the set.
    pub lanes: LaneMask,
    /// Source lines (1-based) of the wait, or of the repeated loop.
    pub lines: Vec<u32>,
    /// Description of the wait or the loop.
    pub what: String,
    /// PC of the lanes.
    pub pc: Pc,
    /// Live lanes named by the mask of a `.sync` instruction, or awaited before a block barrier,
    /// but absent from it.
    pub missing: LaneMask,
    /// True if the lanes wait for all others of the warp before a block barrier (machine code).
    pub aligned: bool,
    /// True if the condition of the repeated loop depends on no shared memory.
    pub fixed: bool,
}

/// Fault with its place.
#[derive(Clone, Debug)]
pub struct FaultReport {
    /// Fault and lane.
    pub fault: Fault,
    /// SM of the fault.
    pub sm: SmId,
    /// Block of the fault.
    pub block: BlockId,
    /// Warp index in the block.
    pub warp: u32,
    /// Index in the block of the warp's first thread.
    pub first_thread: u32,
    /// Active mask.
    pub active: LaneMask,
    /// Cycle of the fault; `None` without a clock.
    pub cycle: Option<Cycle>,
    /// Faulting instruction.
    pub inst: Inst,
}

impl FaultReport {
    pub(super) fn new(
        fault: Fault,
        (sm, warp_size): (SmId, u32),
        warp: &Warp,
        inst: &Inst,
        active: LaneMask,
        cycle: impl Into<Option<Cycle>>,
    ) -> FaultReport {
        FaultReport {
            fault,
            sm,
            block: warp.block_id,
            warp: warp.index,
            first_thread: warp.index * warp_size,
            active,
            cycle: cycle.into(),
            inst: inst.clone(),
        }
    }

    /// Returns the lines that CUDA prints for a failed `assert`, one for each thread.
    ///
    /// `None` for other faults.
    pub fn assertion(&self, grid: [u32; 3], block: [u32; 3]) -> Option<Vec<String>> {
        let FaultKind::Assertion(failed) = &self.fault.kind else { return None };
        let place = |index: u32, size: [u32; 3]| {
            let [x, y] = [size[0].max(1), size[1].max(1)];
            format!("[{},{},{}]", index % x, index / x % y, index / x / y)
        };
        let Assertion { message, file, line, function, lanes } = &**failed;
        let line = |lane: u32| {
            format!(
                "{file}:{line}: {function}: block: {}, thread: {} Assertion `{message}` failed.",
                place(self.block.0, grid),
                place(self.first_thread + lane, block)
            )
        };
        Some(lanes.lanes().map(line).collect())
    }
}

/// Maximum number of lane sets listed.
const LISTED: usize = 12;

/// Describes the hanging lanes.
///
/// With a `watch`, running lanes are described by their repeated loop.
pub(super) fn describe(
    cx: &Context<'_>,
    sm: SmId,
    warps: &[Warp],
    blocks: &[Block],
    watch: Option<&Watch>,
) -> Hang {
    let line = |pc: Pc| cx.program.ops.get(pc.index()).map_or(0, |s| s.inst.line);
    let mut hang = Hang { sm, warps: 0, lanes: Vec::new() };
    for (w, warp) in warps.iter().enumerate().filter(|(_, warp)| !warp.control.live().is_empty()) {
        hang.warps += 1;
        let record = watch.and_then(|watch| watch.repeated(w));
        for group in warp.control.groups() {
            if hang.lanes.len() >= LISTED {
                break;
            }
            let mut lines = vec![line(group.pc)];
            let (mut missing, mut aligned, mut fixed) = (LaneMask::EMPTY, false, false);
            let what = match group.state {
                GroupState::Running | GroupState::Ready | GroupState::Yielded => {
                    if let Some(record) = record {
                        fixed = !record.awaits_memory(cx.program.ops);
                        lines = record.pcs().map(line).filter(|&line| line > 0).collect();
                        lines.sort_unstable();
                        lines.dedup();
                    }
                    if record.is_some() { "repeating" } else { "never scheduled" }.to_string()
                }
                GroupState::AtReconvergence => "waiting at the reconvergence point".to_string(),
                GroupState::AtJoin(join) => {
                    format!("waiting at join {join} for lanes that never arrive")
                }
                GroupState::AtBarrier(id) => {
                    if let Some(arrival) =
                        warp.arrivals.iter().find(|a| a.id == id && a.lanes.intersects(group.lanes))
                    {
                        // The group's own PC is already past the barrier.
                        lines = vec![line(arrival.pc)];
                    }
                    let (arrived, awaited) = blocks[warp.block].progress(id);
                    format!("waiting at barrier {id}: {arrived} of {awaited} threads have arrived")
                }
                GroupState::Aligning => {
                    missing = warp.control.live() - group.lanes;
                    aligned = true;
                    "waiting for all lanes of the warp, before a block barrier".to_string()
                }
                GroupState::Gathering(members) => {
                    missing = (members & warp.control.live()) - group.lanes;
                    format!(
                        "waiting for lanes {} to execute a matching `.sync` instruction",
                        members.list()
                    )
                }
            };
            let (block, warp, pc) = (warp.block_id, warp.index, group.pc);
            hang.lanes.push(StuckLanes {
                block,
                warp,
                lanes: group.lanes,
                lines,
                what,
                pc,
                missing,
                aligned,
                fixed,
            });
        }
    }
    hang
}
