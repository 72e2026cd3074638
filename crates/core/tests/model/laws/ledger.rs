//! An observer that checks the accounts of time: every issue slot of every scheduler, and every
//! cycle of every resident warp, is accounted for exactly once and without gaps, and the issues of
//! an SM come in the order of their cycles.

use simt_core::base::{Cycle, SmId, WarpId};
use simt_core::event::{Event, Observer};

/// Accounts of all SMs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ledger {
    /// By scheduler: end of its accounted slots.
    schedulers: Vec<Cycle>,
    /// By warp slot: start of its warp's residency, and the cycles it was selected or stalled;
    /// `None` while free.
    warps: Vec<Option<(Cycle, Cycle)>>,
    /// Cycle of the last issue.
    now: Cycle,
    /// Warps that ended.
    ended: u64,
    /// Discrepancies.
    faults: Vec<String>,
}

impl Ledger {
    /// Creates accounts for SMs with a number of schedulers.
    pub(crate) fn new(schedulers: u32) -> Ledger {
        Ledger { schedulers: vec![0; schedulers as usize], ..Ledger::default() }
    }

    /// Returns the discrepancies; empty if all is well.
    pub(crate) fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Returns the warps that ran from start to end.
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    fn issue(&mut self, sm: SmId, warp: WarpId, cycle: Cycle, slots: u32) {
        if cycle < self.now {
            self.faults.push(format!("{sm} {warp}: an issue at {cycle} after one at {}", self.now));
        }
        self.now = cycle;
        let scheduler = warp.index() % self.schedulers.len();
        self.slots(sm, scheduler, "used", cycle, slots.into());
        self.busy(sm, warp, slots.into());
    }

    fn slots(&mut self, sm: SmId, scheduler: usize, what: &str, cycle: Cycle, cycles: Cycle) {
        let until = self.schedulers[scheduler];
        if cycle != until {
            self.faults.push(format!(
                "{sm} scheduler {scheduler}: {cycles} slots {what} from cycle {cycle}, but they are accounted for until {until}"
            ));
        }
        self.schedulers[scheduler] = cycle + cycles;
    }

    fn busy(&mut self, sm: SmId, warp: WarpId, cycles: Cycle) {
        match self.warps.get_mut(warp.index()) {
            Some(Some((_, busy))) => *busy += cycles,
            _ => self
                .faults
                .push(format!("{sm} {warp}: {cycles} cycles of a warp that is not resident")),
        }
    }
}

impl Observer for Ledger {
    fn on(&mut self, event: Event) {
        match event {
            Event::WarpStart { cycle, sm, warp, .. } => {
                if self.warps.len() <= warp.index() {
                    self.warps.resize(warp.index() + 1, None);
                }
                if self.warps[warp.index()].replace((cycle, 0)).is_some() {
                    self.faults
                        .push(format!("{sm} {warp}: a second warp in the slot at cycle {cycle}"));
                }
            }
            Event::WarpEnd { cycle, sm, warp, since } => {
                self.ended += 1;
                match self.warps.get_mut(warp.index()).and_then(Option::take) {
                    Some((start, busy)) if start == since && busy == cycle - since => {}
                    was => self.faults.push(format!(
                        "{sm} {warp}: {was:?} does not fill the cycles {since}..{cycle}"
                    )),
                }
            }
            Event::Issue { cycle, sm, warp, slots, .. } if slots > 0 => {
                self.issue(sm, warp, cycle, slots);
            }
            Event::IssueMicroOp { cycle, sm, warp, .. } => self.issue(sm, warp, cycle, 1),
            Event::WarpStalled { sm, warp, cycles, .. } => self.busy(sm, warp, cycles),
            Event::SlotsLost { cycle, sm, scheduler, cycles, .. } => {
                self.slots(sm, scheduler as usize, "lost", cycle, cycles);
            }
            Event::SmEnd { cycle, sm, .. } => {
                for (scheduler, &until) in self.schedulers.iter().enumerate() {
                    if until != cycle {
                        self.faults.push(format!(
                            "{sm} scheduler {scheduler}: accounted for until cycle {until}, but the SM ends at {cycle}"
                        ));
                    }
                }
                for (warp, state) in
                    self.warps.iter().enumerate().filter(|(_, state)| state.is_some())
                {
                    self.faults.push(format!("{sm} w{warp}: still resident at the end, {state:?}"));
                }
            }
            _ => {}
        }
    }

    fn merge(&mut self, other: Ledger) {
        self.ended += other.ended;
        self.faults.extend(other.faults);
    }
}
