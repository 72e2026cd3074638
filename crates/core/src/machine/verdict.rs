//! How a run can end, and the proofs behind "it never will".
//!
//! *Deadlock*: every live warp is blocked (barrier, join, warp sync) and nothing is left that could release one.
//!
//! *Livelock*: while memory did not change, every live warp that still issues came back to a state it had before. A
//! warp's next steps depend only on its own state and on memory, so it will repeat those steps for ever, and since none of
//! them changed memory, so will all the others: the proof does not depend on timing. "State" is the control state, the calls that
//! wait for a return, the warp's local memory and those registers that the repeated steps use for control, addresses, stored values or between lanes; a counter that is only
//! counted up does not hide a livelock.

use super::block::Block;
use super::gpu::Context;
use super::warp::Warp;
use crate::base::{BlockId, Cycle, LaneMask, Pc, SmId};
use crate::code::MicroOp;
use crate::divergence::{GroupState, WarpControl};
use crate::exec::{Fault, LocalMemory, RegisterFile};
use crate::isa::Space;
use crate::kernel::{Inst, Op, Register};

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Finish {
    /// Every thread of the grid ended.
    Ok,
    /// Nothing can ever run again.
    Deadlock(Hang),
    /// What runs will run for ever without effect.
    Livelock(Hang),
    /// A limit on the run was reached; nothing is proved.
    CycleLimit(Limit),
    /// The program did something that has no meaning.
    Fault(Box<FaultReport>),
}

impl Finish {
    /// The word used in reports and expectations.
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

/// The limit at which a run was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many cycles.
    Cycles(Cycle),
    /// An SM's share of the instructions that may be issued.
    Issues {
        /// The SM.
        sm: SmId,
        /// What it had issued.
        issued: u64,
        /// When.
        cycle: Cycle,
    },
}

/// Who hangs where.
#[derive(Clone, Debug)]
pub struct Hang {
    /// The SM whose warps hang.
    pub sm: SmId,
    /// Warps that hang.
    pub warps: u32,
    /// Lane sets of the first few of them.
    pub lanes: Vec<StuckLanes>,
}

/// Lanes of one warp that hang together.
#[derive(Clone, Debug)]
pub struct StuckLanes {
    /// Their block.
    pub block: BlockId,
    /// Their warp's index in the block.
    pub warp: u32,
    /// The lanes.
    pub lanes: LaneMask,
    /// Source lines (1-based): where they wait, or all the lines of the loop they repeat.
    pub lines: Vec<u32>,
    /// What they do there.
    pub what: String,
    /// The step that they are at.
    pub pc: Pc,
    /// The lanes of the warp that a `.sync` instruction waits for: its mask names them, and they are elsewhere.
    pub missing: LaneMask,
    /// Whether they repeat a loop whose condition depends on no memory that could change.
    pub fixed: bool,
}

/// A fault with its place.
#[derive(Clone, Debug)]
pub struct FaultReport {
    /// What happened.
    pub fault: Fault,
    /// Where.
    pub sm: SmId,
    /// The block.
    pub block: BlockId,
    /// The warp's index in the block.
    pub warp: u32,
    /// The active mask.
    pub active: LaneMask,
    /// When.
    pub cycle: Cycle,
    /// The instruction.
    pub inst: Inst,
}

impl FaultReport {
    pub(super) fn new(fault: Fault, sm: SmId, warp: &Warp, inst: &Inst, active: LaneMask, cycle: Cycle) -> FaultReport {
        FaultReport { fault, sm, block: warp.block_id, warp: warp.index, active, cycle, inst: inst.clone() }
    }
}

/// Issues of one SM without progress after which states are compared. Comparing costs; progress is the rule.
pub const QUIET: u64 = 1 << 14;

/// Watches one SM for a livelock.
#[derive(Clone)]
pub(super) struct Watch {
    /// Issues since the last progress.
    quiet: u64,
    /// Whether progress was made since [`Watch::take_progress`].
    progressed: bool,
    /// By warp slot: the state compared with.
    records: Vec<Option<Box<Record>>>,
}

#[derive(Clone)]
struct Record {
    at: (Pc, LaneMask),
    control: WarpControl,
    registers: RegisterFile,
    local: LocalMemory,
    /// Which steps were issued since, by PC.
    visited: Vec<bool>,
    repeats: bool,
    /// Times the warp was back at `at`, and at which of them the slow comparison is due.
    returns: u64,
    /// Issues since the snapshot, and after how many a later one is taken (Brent's cycle finding).
    age: u64,
    renew_at: u64,
}

impl Watch {
    pub(super) fn new() -> Watch {
        Watch { quiet: 0, progressed: false, records: Vec::new() }
    }

    /// Something changed that other warps, or later runs of a loop, can see.
    #[inline]
    pub(super) fn progress(&mut self) {
        self.quiet = 0;
        self.progressed = true;
    }

    /// Whether there was progress since the last call.
    pub(super) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.progressed)
    }

    /// Another SM made progress that this one can see.
    pub(super) fn disturb(&mut self) {
        self.quiet = 0;
    }

    /// Counts an issue; whether states are compared now.
    #[inline]
    pub(super) fn tick(&mut self) -> bool {
        self.quiet += 1;
        if self.quiet == QUIET {
            self.records.clear();
        }
        self.quiet >= QUIET
    }

    /// Takes note of the step that warp `w` is about to issue.
    pub(super) fn observe(&mut self, w: usize, warp: &Warp, steps: &[MicroOp], pc: Pc, active: LaneMask) {
        if self.records.len() <= w {
            self.records.resize_with(w + 1, || None);
        }
        let slot = &mut self.records[w];
        let renew_at = match slot {
            Some(record) if record.repeats => return,
            Some(record) => {
                let back = record.at == (pc, active) && record.control == warp.control;
                if back && record.registers.calls == warp.registers.calls && record.local == warp.local {
                    record.returns += 1;
                    // Exact equality is cheap to refute; the sliced comparison is tried at every power of two.
                    record.repeats = record.registers == warp.registers
                        || record.returns.is_power_of_two() && record.equal_where_it_matters(&warp.registers, steps);
                }
                record.visited[pc.index()] = true;
                record.age += 1;
                if record.repeats || record.age < record.renew_at {
                    return;
                }
                record.renew_at * 2
            }
            None => 64,
        };
        let mut visited = vec![false; steps.len()];
        visited[pc.index()] = true;
        *slot = Some(Box::new(Record {
            at: (pc, active),
            control: warp.control.clone(),
            registers: warp.registers.clone(),
            local: warp.local.clone(),
            visited,
            repeats: false,
            returns: 0,
            age: 0,
            renew_at,
        }));
    }

    /// Takes note of a step that warp `w` passes on the way, without an issue: what it computes may matter later.
    #[inline]
    pub(super) fn pass(&mut self, w: usize, pc: Pc) {
        if let Some(Some(record)) = self.records.get_mut(w) {
            record.visited[pc.index()] = true;
        }
    }

    /// Whether every live warp is blocked or repeats itself, and at least one repeats.
    pub(super) fn proves_livelock(&self, warps: &[Warp]) -> bool {
        self.quiet >= QUIET
            && warps.iter().enumerate().all(|(w, warp)| warp.next.is_none() || self.repeats(w))
            && warps.iter().any(|warp| warp.next.is_some())
    }

    fn repeats(&self, w: usize) -> bool {
        matches!(self.records.get(w), Some(Some(record)) if record.repeats)
    }
}

impl Record {
    /// Whether `now` equals the snapshot in every register that the visited steps use for more than counting.
    fn equal_where_it_matters(&self, now: &RegisterFile, steps: &[MicroOp]) -> bool {
        let visited = || steps.iter().zip(&self.visited).filter(|&(_, &v)| v).map(|(s, _)| &s.inst);
        let mut matter: Vec<Register> = Vec::new();
        for inst in visited().filter(|inst| !only_computes(&inst.op)) {
            matter.extend(&inst.reads);
        }
        backwards(visited, &mut matter);
        matter.iter().all(|r| match *r {
            Register::Narrow(row) => self.registers.narrow[usize::from(row.0)] == now.narrow[usize::from(row.0)],
            Register::Wide(row) => self.registers.wide[usize::from(row.0)] == now.wide[usize::from(row.0)],
            Register::Predicate(p) => self.registers.predicates[usize::from(p.0)] == now.predicates[usize::from(p.0)],
        })
    }
}

impl Record {
    /// Whether a branch of the loop depends on memory that somebody else may write.
    fn awaits_memory(&self, steps: &[MicroOp]) -> bool {
        let visited = || steps.iter().zip(&self.visited).filter(|&(_, &v)| v).map(|(s, _)| &s.inst);
        let mut matter: Vec<Register> = Vec::new();
        for inst in
            visited().filter(|inst| matches!(inst.op, Op::Branch { .. } | Op::Switch(_) | Op::Exit | Op::Return))
        {
            matter.extend(&inst.reads);
        }
        backwards(visited, &mut matter);
        let decides = |inst: &&Inst| inst.writes.iter().any(|r| matter.binary_search(r).is_ok());
        visited().filter(decides).any(|inst| match &inst.op {
            Op::Load(load) => matches!(load.access.space, Space::Global | Space::Shared | Space::Generic),
            op => matches!(op, Op::Atomic(_) | Op::Barrier(_)),
        })
    }
}

/// Adds the registers that those in `matter` are computed from; sorts.
fn backwards<'i, I: Iterator<Item = &'i Inst>>(visited: impl Fn() -> I, matter: &mut Vec<Register>) {
    loop {
        matter.sort_unstable();
        matter.dedup();
        let before = matter.len();
        for inst in visited() {
            if inst.writes.iter().any(|r| matter[..before].binary_search(r).is_ok()) {
                let new = inst.reads.iter().filter(|r| matter[..before].binary_search(r).is_err());
                let new: Vec<Register> = new.copied().collect();
                matter.extend(new);
            }
        }
        if matter.len() == before {
            return;
        }
    }
}

/// Whether the instruction does nothing but write its own registers from its own lane's.
fn only_computes(op: &Op) -> bool {
    matches!(
        op,
        Op::Lane(_)
            | Op::Setp(_)
            | Op::Select { .. }
            | Op::PredicateLogic { .. }
            | Op::Carry(_)
            | Op::Test { .. }
            | Op::Clock { .. }
            | Op::Join(_)
    )
}

/// Lane sets listed at most.
const LISTED: usize = 12;

/// Who hangs where; with a `watch`, lanes that run are described by the loop that they repeat.
pub(super) fn describe(cx: &Context<'_>, sm: SmId, warps: &[Warp], blocks: &[Block], watch: Option<&Watch>) -> Hang {
    let line = |pc: Pc| cx.program.ops.get(pc.index()).map_or(0, |s| s.inst.line);
    let mut hang = Hang { sm, warps: 0, lanes: Vec::new() };
    for (w, warp) in warps.iter().enumerate().filter(|(_, warp)| !warp.control.live().is_empty()) {
        hang.warps += 1;
        let record = watch.and_then(|watch| watch.records.get(w)?.as_ref()).filter(|record| record.repeats);
        for group in warp.control.groups() {
            if hang.lanes.len() >= LISTED {
                break;
            }
            let mut lines = vec![line(group.pc)];
            let (mut missing, mut fixed) = (LaneMask::EMPTY, false);
            let what = match group.state {
                GroupState::Running | GroupState::Ready | GroupState::Yielded => {
                    if let Some(record) = record {
                        fixed = !record.awaits_memory(&cx.program.ops);
                        let visited = record.visited.iter().enumerate().filter(|&(_, &v)| v);
                        lines = visited.map(|(pc, _)| line(Pc(pc as u32))).filter(|&l| l > 0).collect();
                        lines.sort_unstable();
                        lines.dedup();
                    }
                    if record.is_some() { "repeating for ever" } else { "never getting a turn" }.to_string()
                }
                GroupState::AtReconvergence => "waiting for the others at the reconvergence point".to_string(),
                GroupState::AtJoin(join) => format!("waiting at join {join} for lanes that never come"),
                GroupState::AtBarrier(id) => {
                    if let Some(arrival) = warp.arrivals.iter().find(|a| a.id == id && a.lanes.intersects(group.lanes))
                    {
                        lines = vec![line(arrival.pc)]; // the group's own PC is already behind the barrier
                    }
                    let (arrived, awaited) = blocks[warp.block].progress(id);
                    format!("waiting at barrier {id}, where {arrived} of {awaited} threads have arrived")
                }
                GroupState::Gathering(members) => {
                    missing = (members & warp.control.live()) - group.lanes;
                    format!("waiting for lanes {} to execute a matching .sync instruction", members.list())
                }
            };
            let (block, warp, pc) = (warp.block_id, warp.index, group.pc);
            hang.lanes.push(StuckLanes { block, warp, lanes: group.lanes, lines, what, pc, missing, fixed });
        }
    }
    hang
}
