//! Position of a run as plain values, everything that a screen shows.

use super::debugger::Debugger;
use super::goal::Focus;
use super::notes::{Remark, StepNote};
use super::pattern::Pattern;
use crate::base::{BlockId, Cycle, LaneMask, Pc, SmId, WarpId};
use crate::divergence::{Group, GroupState, Join, StackEntry};
use crate::event::Stall;
use crate::isa::Type;
use crate::kernel::Register;
use crate::machine::{Access, WarpState};
use crate::observe::LaneState;

/// View of a position, with one warp in focus.
#[derive(Clone, Debug)]
pub struct View {
    /// Number of executed steps.
    pub steps: u64,
    /// Displayed cycle.
    pub clock: Cycle,
    /// Outcome (`ok`, `deadlock`, ..) if this is the end of the run.
    pub finish: Option<&'static str>,
    /// Warp in focus.
    pub focus: Focus,
    /// Blocks of the grid, and warps per block.
    pub extent: (u64, u32),
    /// SM of the warp in focus; the first one if the warp is not resident.
    pub sm: SmId,
    /// Warp in focus, if it is resident and has not ended.
    pub warp: Option<WarpView>,
    /// Blocks resident on its SM, ascending.
    pub blocks: Vec<BlockId>,
    /// Schedulers of its SM.
    pub schedulers: Vec<SchedulerView>,
    /// Last step of any warp.
    pub last: Option<StepNote>,
    /// Remarks, the latest last.
    pub remarks: Vec<Remark>,
}

/// Warp in focus.
#[derive(Clone, Debug)]
pub struct WarpView {
    /// Warp slot on the SM.
    pub slot: WarpId,
    /// Scheduler of the warp.
    pub scheduler: u32,
    /// Lane groups, the running one first.
    pub groups: Vec<Group>,
    /// Reconvergence stack, bottom first; empty in volta mode.
    pub stack: Vec<StackEntry>,
    /// Joins in use, oldest first; empty in pre-volta mode.
    pub joins: Vec<Join>,
    /// State of each lane.
    ///
    /// A ready lane is [`LaneState::Active`] or [`LaneState::MaskedOff`].
    pub lanes: Vec<LaneState>,
    /// Warp state and the first cycle of a possible issue. `None`: it can issue.
    pub wait: Option<(Stall, Option<Cycle>)>,
    /// Last step of the warp.
    pub last: Option<StepNote>,
    /// Registers that have source names.
    pub registers: Vec<RegisterView>,
    /// Last memory access, with its cycle.
    pub access: Option<(Cycle, Access)>,
    /// Bank or sector pattern of that access.
    pub pattern: Option<Pattern>,
    /// Shared memory of its block.
    pub shared: Vec<u32>,
}

/// Register of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterView {
    /// Source name.
    pub name: String,
    /// Register index.
    pub register: Register,
    /// Declared type.
    pub ty: Type,
    /// Value of each lane.
    pub values: Vec<u64>,
    /// Lanes for which the warp's last step wrote it.
    pub written: LaneMask,
    /// True if the warp's next step reads or writes it.
    pub next: bool,
}

/// Scheduler of the SM.
#[derive(Clone, Debug, PartialEq)]
pub struct SchedulerView {
    /// Scheduler number on the SM.
    pub number: u32,
    /// Slot of the warp that it issues from in this cycle.
    pub issues: Option<WarpId>,
    /// True if it has already issued in this cycle.
    pub has_issued: bool,
    /// Warps that have not ended, by slot.
    pub warps: Vec<WarpBrief>,
}

/// Warp in the list of its scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpBrief {
    /// Warp slot.
    pub slot: WarpId,
    /// Block of the warp.
    pub block: BlockId,
    /// Warp index in the block.
    pub index: u32,
    /// PC of its next issue; `None` while all its lanes are blocked.
    pub next: Option<Pc>,
    /// Warp state, as in [`WarpView::wait`].
    pub wait: Option<(Stall, Option<Cycle>)>,
}

impl Debugger<'_> {
    /// Returns the view of this position with a warp in focus.
    pub fn view(&self, focus: Focus) -> View {
        let found = self.find(focus);
        let sm = found.map_or(0, |(sm, _)| sm);
        let briefs: Vec<(u32, WarpBrief)> =
            self.session.warps(sm, self.clock()).map(|w| (w.scheduler, brief(&w))).collect();
        let mut blocks: Vec<BlockId> = briefs.iter().map(|(_, w)| w.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let now = self.clock();
        let issued = |slots: &[WarpBrief]| {
            self.notes.last.as_ref().is_some_and(|_| {
                slots
                    .iter()
                    .any(|w| self.notes.last_of(sm, w.slot).is_some_and(|last| last.cycle == now))
            })
        };
        let schedulers = (0..self.session.spec().schedulers).map(|number| {
            let warps: Vec<WarpBrief> =
                briefs.iter().filter(|(s, _)| *s == number).map(|&(_, w)| w).collect();
            let issues = self.session.would_issue(sm, number as usize, now);
            SchedulerView { number, issues, has_issued: issued(&warps), warps }
        });
        View {
            steps: self.steps(),
            clock: now,
            finish: self.finish().map(|finish| finish.name()),
            focus,
            extent: self.session.extent(),
            sm: self.session.sms().nth(sm).unwrap_or_default(),
            schedulers: schedulers.collect(),
            warp: found.and_then(|(sm, slot)| {
                self.session.warp(sm, slot, now).map(|w| self.warp_view(sm, &w))
            }),
            blocks,
            last: self.notes.last.clone(),
            remarks: self.notes.remarks.iter().copied().collect(),
        }
    }

    fn warp_view(&self, sm: usize, warp: &WarpState<'_>) -> WarpView {
        let last = self.notes.last_of(sm, warp.slot);
        let access = self.notes.access_of(sm, warp.slot);
        let banks = self.session.spec().memory.shared_banks;
        let groups = warp.control.groups();
        WarpView {
            slot: warp.slot,
            scheduler: warp.scheduler,
            lanes: lane_states(&groups, self.session.spec().warp_size),
            stack: warp.control.stack_entries(),
            joins: warp.control.joins(),
            wait: warp.wait,
            registers: self.registers(warp, last),
            last: last.cloned(),
            access: access.cloned(),
            pattern: access.map(|(_, access)| Pattern::of(access, banks)),
            shared: self.session.shared_words(sm, warp.block).unwrap_or_default().to_vec(),
            groups,
        }
    }

    fn registers(&self, warp: &WarpState<'_>, last: Option<&StepNote>) -> Vec<RegisterView> {
        let inst = |pc: Pc| self.session.steps().get(pc.index()).map(|step| &step.inst);
        let done = last.and_then(|last| inst(last.pc).map(|inst| (inst, last.lanes)));
        let next = warp.control.active().and_then(|(pc, _)| inst(pc));
        let lanes = self.session.spec().warp_size.min(32);
        let of = |(name, register, ty): &(String, Register, Type)| RegisterView {
            name: name.clone(),
            register: *register,
            ty: *ty,
            values: (0..lanes).map(|lane| warp.registers.get(*register, lane)).collect(),
            written: done
                .filter(|(i, _)| i.writes.contains(register))
                .map_or(LaneMask::EMPTY, |(_, lanes)| lanes),
            next: next.is_some_and(|i| i.reads.contains(register) || i.writes.contains(register)),
        };
        self.session.kernel().registers.names.iter().map(of).collect()
    }
}

fn brief(warp: &WarpState<'_>) -> WarpBrief {
    WarpBrief {
        slot: warp.slot,
        block: warp.block,
        index: warp.index,
        next: warp.control.active().map(|(pc, _)| pc),
        wait: warp.wait,
    }
}

/// Returns the state of each lane of a warp between two steps.
fn lane_states(groups: &[Group], warp_size: u32) -> Vec<LaneState> {
    let of = |lane: u32| {
        let group = groups.iter().find(|group| group.lanes.contains(lane));
        group.map_or(LaneState::Exited, |group| match group.state {
            GroupState::Running => LaneState::Active,
            GroupState::Ready | GroupState::Yielded => LaneState::MaskedOff,
            GroupState::AtJoin(_)
            | GroupState::AtReconvergence
            | GroupState::Gathering(_)
            | GroupState::Aligning => LaneState::AtJoin,
            GroupState::AtBarrier(_) => LaneState::AtBarrier,
        })
    };
    (0..warp_size.min(32)).map(of).collect()
}
