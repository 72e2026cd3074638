//! The account of time: every slot of a scheduler and every cycle of a resident warp has one reason.

use super::super::scheduler::{Port, Scheduler};
use super::super::warp::{Waiting, Warp};
use super::Issuer;
use crate::base::{Cycle, Pc, WarpId};
use crate::event::{Event, Observer, SlotLoss, Stall};

impl<O: Observer> Issuer<'_, O> {
    /// The scheduler's slots up to `until` that are not accounted for yet are lost for `reason`.
    #[inline]
    pub(in super::super) fn lose_slots(&mut self, scheduler: &mut Scheduler, until: Cycle, reason: SlotLoss) {
        if until > scheduler.accounted {
            let (cycle, cycles) = (scheduler.accounted, until - scheduler.accounted);
            scheduler.accounted = until;
            self.observer.on(Event::SlotsLost { cycle, sm: self.id, scheduler: scheduler.number, reason, cycles });
        }
    }

    /// Attributes the scheduler's lost slots and the warp's waiting up to `now`, when it issues.
    #[inline]
    pub(super) fn attribute(
        &mut self,
        scheduler: &mut Scheduler,
        warp: &Warp,
        w: usize,
        pc: Pc,
        (port, throttle): (Port, Stall),
        now: Cycle,
    ) {
        let Waiting { from, before, fetched, until } = warp.waiting;
        let (sm, warp, stall) = (self.id, WarpId(w as u32), until.stall());
        if from == now {
            return self.lose_slots(scheduler, now, SlotLoss::Stalled(stall));
        }
        // First the instruction itself, then its dependences, the port (as far as it was busy at last), and the other warps.
        let ready = until.cycle().max(from).min(now);
        let free = scheduler.free(port, &self.shared).max(ready).min(now);
        self.lose_slots(scheduler, now, SlotLoss::Stalled(if free > ready { throttle } else { stall }));
        let fetched = fetched.clamp(from, ready);
        let asked = before.cycle().clamp(from, fetched);
        for (stall, cycles) in [
            (before.stall(), asked - from),
            (Stall::NoInstruction, fetched - asked),
            (stall, ready - fetched),
            (throttle, free - ready),
            (Stall::NotSelected, now - free),
        ] {
            if cycles > 0 {
                self.observer.on(Event::WarpStalled { sm, warp, pc, stall, cycles });
            }
        }
    }
}
