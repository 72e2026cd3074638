//! Whole runs of SMs whose blocks can communicate.
//!
//! SMs have their turns in the order of cycles, on one thread. Where the observer allows it, an SM
//! runs ahead of the others in its turn, until its next step that they can tell. If that takes
//! long, the SM is *free*; once the turn would be a free SM's, all of these run at the same time on
//! the host's threads. Figures do not depend on when free steps run.

use std::sync::{Mutex, PoisonError};

use super::access_order::AccessOrder;
use super::device::{Context, Ended, REPORT_ISSUES};
use super::host::{Host, each};
use super::sm::{ISSUES, ISSUES_BESIDE, Sm};
use super::turns::Turns;
use super::verdict::Finish;
use crate::base::SmId;
use crate::event::Observer;

/// Runs all SMs until they end, one fails, or an observer is done; `ahead` of each other if true.
pub(super) fn run<O: Observer>(
    cx: &Context<'_>,
    (host, ahead): (&dyn Host, bool),
    observer: &impl Fn() -> O,
) -> Vec<Ended<O>> {
    let mut sms: Vec<Sm<'_, O>> =
        (0..cx.active_sms).map(|sm| Sm::new(cx, SmId(sm), observer())).collect();
    let turns = Turns::new(&mut sms);
    let finished = sms.iter().map(|_| None).collect();
    let free = vec![ahead; sms.len()];
    let mut run = Run { cx, host, ahead, sms, finished, free, turns, unreported: 0 };
    while let Some(i) = run.turns.next(&mut run.sms) {
        let stops = if run.free[i] { run.all_free() } else { run.turn(i) };
        if stops {
            break;
        }
    }
    let Run { sms, finished, .. } = run;
    sms.into_iter().zip(finished).map(|(sm, finish)| Ended::new(sm, finish)).collect()
}

/// A run that has not ended.
struct Run<'r, 'a, O> {
    cx: &'r Context<'a>,
    host: &'r dyn Host,
    ahead: bool,
    sms: Vec<Sm<'r, O>>,
    /// End of each SM.
    finished: Vec<Option<Finish>>,
    /// True for each SM that has last run long without a step that others can tell.
    free: Vec<bool>,
    turns: Turns,
    /// Issues that the host has not been told of.
    unreported: u64,
}

impl<O: Observer> Run<'_, '_, O> {
    /// Runs the turn of SM `i`, the next one. Returns true if the run stops.
    fn turn(&mut self, i: usize) -> bool {
        let sm = &mut self.sms[i];
        let before = sm.issued();
        let finish = if self.ahead { sm.turns_ahead() } else { sm.cycle() };
        let issued = sm.issued() - before;
        self.turns.end(sm, finish.is_some());
        self.free[i] = self.ahead && finish.is_none() && issued >= ISSUES;
        self.finished[i] = finish;
        self.stops_after(i, issued)
    }

    /// Runs all free SMs until their next steps that others can tell. Returns true if the run
    /// stops.
    fn all_free(&mut self) -> bool {
        let free = self.sms.iter_mut().enumerate().filter(|(i, _)| self.free[*i]);
        let (free, sms): (Vec<usize>, Vec<_>) = free.map(|(i, sm)| (i, Mutex::new(sm))).unzip();
        let ran = each(self.host, sms.len() as u32, |k| {
            let mut sm = sms[k as usize].lock().unwrap_or_else(PoisonError::into_inner);
            self.turns.tell(&mut sm);
            let before = sm.issued();
            let finish = sm.turns_beside();
            (finish, sm.issued() - before)
        });
        drop(sms);
        let issued = free.iter().zip(ran).map(|(&i, (finish, issued))| {
            self.free[i] = finish.is_none() && issued >= ISSUES_BESIDE;
            self.finished[i] = finish;
            issued
        });
        let issued: Vec<u64> = issued.collect();
        self.turns.order(&mut self.sms, &self.finished);
        free.into_iter().zip(issued).any(|(i, issued)| self.stops_after(i, issued))
    }

    /// Returns true if the run stops after SM `i` has run and issued.
    fn stops_after(&mut self, i: usize, issued: u64) -> bool {
        self.unreported += issued;
        if self.unreported >= REPORT_ISSUES {
            self.host.issued(std::mem::take(&mut self.unreported));
        }
        if let Some(finish) = &self.finished[i] {
            self.host.blocks_done(u64::from(self.sms[i].blocks_run()));
            if !matches!(finish, Finish::Ok) {
                return true; // the others depend on an SM that has stopped
            }
        }
        if self.turns.all_hang(&mut self.sms, &self.finished, i) {
            if !self.cx.may_change(self.host, self.turns.progressed()) {
                self.finished[i] = Some(self.sms[i].livelock());
                return true;
            }
            self.turns.look_again();
        }
        self.sms[i].issuer.observer.is_done()
            || self.cx.accesses.as_ref().is_some_and(AccessOrder::is_broken)
    }
}
