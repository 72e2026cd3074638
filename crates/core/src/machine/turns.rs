//! Order in which SMs run whose blocks can communicate: by cycle, the lower SM on a tie.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::scheduler::NEVER;
use super::sm::Sm;
use super::verdict::Finish;
use crate::base::Cycle;
use crate::event::Observer;

/// Order of SMs, and what they know of each other's progress.
#[derive(Clone)]
pub(super) struct Turns {
    /// Next cycle and number of each unfinished SM.
    order: BinaryHeap<Reverse<(Cycle, usize)>>,
    /// Number of times that an SM changed what others can see.
    progress: u64,
    /// `progress` at the last call of [`Turns::look_again`].
    waited: u64,
}

impl Turns {
    /// Orders SMs of which none has finished.
    pub(super) fn new<O: Observer>(sms: &mut [Sm<'_, O>]) -> Turns {
        let order = sms.iter_mut().enumerate().map(|(i, sm)| Reverse((due(sm), i))).collect();
        Turns { order, progress: 0, waited: 0 }
    }

    /// Orders the unfinished SMs again, after some have run.
    pub(super) fn order<O: Observer>(
        &mut self,
        sms: &mut [Sm<'_, O>],
        finished: &[Option<Finish>],
    ) {
        let sms = sms.iter_mut().zip(finished).enumerate();
        let unfinished = sms.filter(|(_, (_, done))| done.is_none());
        self.order = unfinished.map(|(i, (sm, _))| Reverse((due(sm), i))).collect();
    }

    /// Returns the unfinished SM with the earliest next cycle, and tells it of others' progress.
    pub(super) fn next<O: Observer>(&self, sms: &mut [Sm<'_, O>]) -> Option<usize> {
        let &Reverse((_, i)) = self.order.peek()?;
        self.tell(&mut sms[i]);
        Some(i)
    }

    /// Tells an SM of others' progress.
    pub(super) fn tell<O: Observer>(&self, sm: &mut Sm<'_, O>) {
        sm.issuer.watch.catch_up(self.progress);
    }

    /// Ends the turn of `sm`, the one that [`Turns::next`] returned; `finished` if it has ended.
    pub(super) fn end<O: Observer>(&mut self, sm: &mut Sm<'_, O>, finished: bool) {
        let Some(mut first) = self.order.peek_mut() else { return };
        if finished {
            PeekMut::pop(first);
        } else {
            first.0.0 = due(sm);
        }
    }

    /// Compares the states of all SMs anew: memory may have changed.
    pub(super) fn look_again(&mut self) {
        self.progress += 1;
        self.waited = self.progress;
    }

    /// Returns true if there was progress since [`Turns::look_again`].
    pub(super) fn progressed(&self) -> bool {
        self.progress != self.waited
    }

    /// Returns true if SM `i`, which has just run a cycle, and all others provably repeat a state.
    pub(super) fn all_hang<O: Observer>(
        &mut self,
        sms: &mut [Sm<'_, O>],
        finished: &[Option<Finish>],
        i: usize,
    ) -> bool {
        let watch = &mut sms[i].issuer.watch;
        if watch.take_progress() {
            self.progress += 1;
            watch.catch_up(self.progress);
        }
        let hangs = |sm: &Sm<'_, O>| {
            sm.issuer.watch.knows(self.progress) && sm.issuer.watch.proves_livelock(sm.warps())
        };
        hangs(&sms[i]) && sms.iter().zip(finished).all(|(sm, done)| done.is_some() || hangs(sm))
    }
}

/// Returns the cycle at which an SM is due: at once if it can issue nothing, for its verdict.
fn due<O: Observer>(sm: &mut Sm<'_, O>) -> Cycle {
    let next = sm.next_cycle();
    if next == NEVER { 0 } else { next }
}
