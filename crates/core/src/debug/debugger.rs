//! Movement along the history of a run.

use super::goal::{Focus, Goal, Reached};
use super::history::{History, INTERVAL};
use super::notes::{Happening, Remark, StepLog};
use super::survey::Survey;
use crate::base::{BlockId, Cycle, LaneMask, Pc, WarpId};
use crate::code::Code;
use crate::kernel::{ConvergenceOp, Op, Register};
use crate::launch::Launch;
use crate::machine::{self, DoesNotFit, Finish, Options, Saved, Session};
use crate::spec::Machine;

/// Register changed by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Warp of the register.
    pub focus: Focus,
    /// Lane of the register.
    pub lane: u32,
    /// Changed register.
    pub register: Register,
    /// New value; its low bits for a narrower register.
    pub bits: u64,
}

/// Run at a position of its history.
pub struct Debugger<'a> {
    pub(super) session: Session<'a>,
    pub(super) notes: StepLog,
    pub(super) survey: Option<Survey>,
    history: History<Moment<'a>>,
    /// Edits with their positions, ascending.
    edits: Vec<(u64, Edit)>,
    /// Number of edits applied at this position.
    edited: usize,
    steps: u64,
    clock: Cycle,
}

/// Checkpoint.
struct Moment<'a> {
    saved: Saved<'a>,
    notes: StepLog,
    edited: usize,
    clock: Cycle,
}

/// Runs `work` on a debugger at the start of a run; see [`machine::step_through`].
///
/// # Errors
/// If a block does not fit the machine.
pub fn open<R>(
    code: &Code,
    launch: Launch,
    spec: &Machine,
    options: &Options,
    block: BlockId,
    work: impl FnOnce(Debugger<'_>) -> R,
) -> Result<R, DoesNotFit> {
    machine::step_through(code, launch, spec, options, block, |session| {
        work(Debugger::new(session))
    })
}

impl<'a> Debugger<'a> {
    fn new(mut session: Session<'a>) -> Debugger<'a> {
        let notes = StepLog::new(&session);
        let bytes = session.state_bytes();
        let start = Moment { saved: session.save(), notes: notes.clone(), edited: 0, clock: 0 };
        Debugger {
            session,
            notes,
            survey: None,
            history: History::new(start, bytes),
            edits: Vec::new(),
            edited: 0,
            steps: 0,
            clock: 0,
        }
    }

    /// Returns the number of steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the displayed cycle; all earlier issues have been executed.
    pub fn clock(&self) -> Cycle {
        self.clock
    }

    /// Returns the end of the run if this position is its end.
    pub fn finish(&self) -> Option<&Finish> {
        self.session.finish()
    }

    /// Runs to the next step that meets the goal, but at most `budget` steps.
    pub fn forward(&mut self, goal: Goal, focus: Focus, budget: u64) -> Reached {
        for _ in 0..budget {
            if !self.step(Cycle::MAX) {
                return Reached::End;
            }
            if self.is_at(goal, focus) {
                return Reached::Goal;
            }
        }
        Reached::Budget
    }

    /// Goes back to an earlier step that meets the goal.
    ///
    /// That is the `times`-th one counted from here; if there are fewer, the start of the run.
    pub fn back(&mut self, goal: Goal, focus: Focus, times: u64) -> Reached {
        let (mut until, mut left) = (self.steps, times);
        while until > 0 && left > 0 {
            let (from, _) = self.history.before(until - 1);
            self.restore(until - 1);
            let mut met = Vec::new();
            if self.steps > 0 && self.is_at(goal, focus) {
                met.push(self.steps);
            }
            while self.steps + 1 < until && self.step(Cycle::MAX) {
                if self.is_at(goal, focus) {
                    met.push(self.steps);
                }
            }
            let here = met.len() as u64;
            if here >= left {
                self.seek(met[(here - left) as usize]);
                return Reached::Goal;
            }
            left -= here;
            until = from;
        }
        self.seek(0);
        Reached::End
    }

    /// Goes to the position after `steps` steps, or to an earlier end of the run.
    pub fn seek(&mut self, steps: u64) {
        if steps < self.steps
            || self.history.next_after(self.steps + INTERVAL).is_some_and(|at| at <= steps)
        {
            self.restore(steps);
        }
        while self.steps < steps && self.step(Cycle::MAX) {}
        self.clock = self.notes.last.as_ref().map_or(0, |last| last.cycle);
    }

    /// Goes to the start of a cycle, or to an earlier end of the run.
    ///
    /// None of the cycle's issues has been executed there.
    pub fn seek_cycle(&mut self, cycle: Cycle) {
        if cycle <= self.clock {
            // The last checkpoint certainly before the cycle: the last with an earlier clock.
            let mut steps = self.steps;
            loop {
                let (at, moment) = self.history.before(steps);
                if moment.clock < cycle || at == 0 {
                    self.restore(at);
                    break;
                }
                steps = at - 1;
            }
        }
        while self.forward_to_cycle(cycle, u64::MAX) == Reached::Budget {}
    }

    /// Runs to the start of a later cycle, but at most `budget` steps.
    pub fn forward_to_cycle(&mut self, cycle: Cycle, budget: u64) -> Reached {
        let last = cycle.saturating_sub(1);
        for _ in 0..budget {
            if cycle == 0 || !self.step(last) {
                if self.session.is_over() {
                    return Reached::End;
                }
                self.clock = self.clock.max(cycle);
                return Reached::Goal;
            }
        }
        Reached::Budget
    }

    /// Changes a register at this position and drops the known future.
    ///
    /// Returns false if the warp is not resident or lacks the register.
    pub fn edit(&mut self, edit: Edit) -> bool {
        if !self.apply(edit) {
            return false;
        }
        self.edits.truncate(self.edited);
        self.edits.push((self.steps, edit));
        self.edited += 1;
        self.changed();
        true
    }

    /// Undoes the last earlier edit and stays at this position. Returns false if there is none.
    pub fn undo_edit(&mut self) -> bool {
        self.edits.truncate(self.edited);
        let Some((at, _)) = self.edits.pop() else { return false };
        let (steps, clock) = (self.steps, self.clock);
        // A checkpoint at that position may include the edit.
        self.history.forget_after(at.saturating_sub(1));
        self.restore(at);
        self.come_back(steps, clock);
        self.survey = None;
        true
    }

    /// Goes to a position and to the cycle that was displayed there.
    pub fn come_back(&mut self, steps: u64, clock: Cycle) {
        self.seek(steps);
        self.clock = self.clock.max(clock);
    }

    fn changed(&mut self) {
        self.history.forget_after(self.steps);
        self.survey = None;
    }

    fn apply(&mut self, edit: Edit) -> bool {
        let Edit { focus, lane, register, bits } = edit;
        let Some((sm, slot)) = self.find(focus) else { return false };
        let done = self.session.set_register(sm, slot, lane, register, bits);
        let what = Happening::Changed { lanes: LaneMask::lane(lane) };
        self.notes.remark(Remark { cycle: self.clock, block: focus.block, warp: focus.warp, what });
        done
    }

    /// Returns the index of the warp's SM, and its slot.
    pub(super) fn find(&self, focus: Focus) -> Option<(usize, WarpId)> {
        let mine = |sm: usize| {
            let mut warps = self.session.warps(sm, self.clock);
            warps.find(|w| w.block == focus.block && w.index == focus.warp).map(|w| (sm, w.slot))
        };
        (0..self.session.sms().count()).find_map(mine)
    }

    /// Returns the source line shown for a step.
    ///
    /// For a waiting join step that the compiler model added, it is that of the reconvergence
    /// point.
    pub fn line(&self, pc: Pc) -> u32 {
        let steps = self.session.steps();
        let mut at = pc;
        for _ in 0..steps.len() {
            let Some(step) = steps.get(at.index()) else { return 0 };
            let is_added = step.source.is_none();
            if !is_added || !matches!(step.inst.op, Op::Join(ConvergenceOp::Sync(_))) {
                return step.inst.line;
            }
            at = step.next;
        }
        0
    }

    pub(super) fn is_at(&self, goal: Goal, focus: Focus) -> bool {
        let next = || {
            let (sm, slot) = self.find(focus)?;
            let warp = self.session.warp(sm, slot, self.clock)?;
            warp.control.active().map(|(pc, _)| self.line(pc))
        };
        self.notes.last.as_ref().is_some_and(|note| goal.is_met(focus, note, next))
    }

    /// Executes one step, if there is one up to cycle `limit`, and the edits after it.
    pub(super) fn step(&mut self, limit: Cycle) -> bool {
        if !self.session.step(limit) {
            return false;
        }
        self.steps += 1;
        self.notes.take(&self.session);
        let cycle = self.notes.last.as_ref().map_or(self.clock, |last| last.cycle);
        self.clock = self.clock.max(cycle);
        self.redo();
        if self.history.is_due(self.steps) {
            let saved = self.session.save();
            // A page in several checkpoints counts in each: an upper bound.
            let bytes = self.session.state_bytes() + saved.page_bytes();
            let moment =
                Moment { saved, notes: self.notes.clone(), edited: self.edited, clock: self.clock };
            self.history.keep(self.steps, moment, bytes);
        }
        true
    }

    /// Applies the pending edits of this position.
    fn redo(&mut self) {
        while let Some(&(at, edit)) = self.edits.get(self.edited)
            && at == self.steps
        {
            self.edited += 1;
            self.apply(edit);
        }
    }

    /// Restores the last checkpoint at or before `steps`.
    fn restore(&mut self, steps: u64) {
        let (at, moment) = self.history.before(steps);
        self.session.restore(&moment.saved);
        self.notes = moment.notes.clone();
        self.edited = moment.edited;
        self.clock = moment.clock;
        self.steps = at;
        self.redo();
    }
}
