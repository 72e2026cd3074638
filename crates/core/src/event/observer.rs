//! Observer of a run's events, and compositions of observers.

use super::{Event, Issues, LaneAccess, Printed, SlotLoss, Stall, Traffic};
use crate::base::{Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::divergence::WarpControl;

/// Consumer that folds events into values. Each SM has one; [`Observer::merge`] joins them in SM
/// order.
pub trait Observer: Send + Sized {
    /// True if a run without time may tell equal events together.
    ///
    /// [`Observer::issues`] then stands for [`Event::Issue`] and for [`Event::Branch`] of
    /// conditional branches, [`Observer::accesses`] for [`Event::Memory`], in any order;
    /// [`Observer::control`], [`Observer::access`] and [`Observer::addresses`] are not called. A
    /// run with time calls them, but the addresses of an access to shared memory may be those of
    /// another.
    const FOLDS: bool = false;
    /// Receives equal executions of a step; see [`Observer::FOLDS`].
    fn issues(&mut self, _: &Issues) {}
    /// Receives a number of accesses of a step with equal traffic; see [`Observer::FOLDS`].
    fn accesses(&mut self, _: Pc, _: &Traffic, _: u64) {}
    /// True if it needs an [`Event::IssueMicroOp`] for each further micro-op of a step.
    ///
    /// Otherwise [`Observer::micro_ops`] tells their number after the last one.
    const EACH_MICRO_OP: bool = true;
    /// True if it needs no order between the events of one SM and those of another.
    const EACH_SM_ALONE: bool = false;
    /// Receives one event.
    fn on(&mut self, event: Event);
    /// Receives the number of further micro-ops of a step that `lanes` of the `active` ones
    /// execute.
    #[inline(always)]
    fn micro_ops(&mut self, _pc: Pc, _active: LaneMask, _lanes: LaneMask, _count: u32) {}
    /// Receives successive states of a warp before an issue, with the cycles spent in each.
    ///
    /// The default reports each state with cycles as an [`Event::WarpStalled`].
    #[inline(always)]
    fn waited<const N: usize>(
        &mut self,
        sm: SmId,
        warp: WarpId,
        pc: Pc,
        states: [(Stall, Cycle); N],
    ) {
        for (stall, cycles) in states {
            if cycles > 0 {
                self.on(Event::WarpStalled { sm, warp, pc, stall, cycles });
            }
        }
    }
    /// Receives the issue slots of a scheduler from `cycle` on that were lost to a state of warps.
    ///
    /// The default reports them as an [`Event::SlotsLost`], if there are any.
    #[inline(always)]
    fn stalled(&mut self, cycle: Cycle, sm: SmId, scheduler: u32, stall: Stall, cycles: Cycle) {
        if cycles > 0 {
            let reason = SlotLoss::Stalled(stall);
            self.on(Event::SlotsLost { cycle, sm, scheduler, reason, cycles });
        }
    }
    /// Receives the control state of a warp, before each issue and after it settles.
    ///
    /// Too large for an event; the default costs nothing.
    #[inline(always)]
    fn control(&mut self, _: SmId, _: WarpId, _: &WarpControl) {}
    /// Receives the lane access right before its [`Event::Memory`].
    ///
    /// Memory is already changed. Too large for an event; the default costs nothing.
    #[inline(always)]
    fn access(&mut self, _: WarpId, _: Pc, _: &LaneAccess<'_>) {}
    /// Receives the lane addresses of an access right after its [`Event::Memory`].
    ///
    /// Entries of inactive lanes are arbitrary. Local memory is interleaved as the caches see it;
    /// shared memory counts from the block's first byte. Too large for an event; the default costs
    /// nothing.
    #[inline(always)]
    fn addresses(&mut self, _: WarpId, _: Pc, _: &Traffic, _: &[u64; MAX_LANES]) {}
    /// Receives a text that a thread printed, in the order of issue on the SM.
    ///
    /// The default costs nothing.
    fn printed(&mut self, _: &Printed<'_>) {}
    /// Returns true if it needs no more events: `machine::watch` may then stop.
    #[inline(always)]
    fn is_done(&self) -> bool {
        false
    }
    /// Merges the results of `other`, the observer of a later SM.
    fn merge(&mut self, other: Self);
}

/// Observer that ignores all events.
impl Observer for () {
    const FOLDS: bool = true;
    const EACH_MICRO_OP: bool = false;
    const EACH_SM_ALONE: bool = true;
    #[inline(always)]
    fn on(&mut self, _: Event) {}
    fn merge(&mut self, (): ()) {}
}

/// Pair of observers of the same run.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const FOLDS: bool = A::FOLDS && B::FOLDS;
    fn issues(&mut self, issues: &Issues) {
        self.0.issues(issues);
        self.1.issues(issues);
    }
    fn accesses(&mut self, pc: Pc, traffic: &Traffic, times: u64) {
        self.0.accesses(pc, traffic, times);
        self.1.accesses(pc, traffic, times);
    }
    const EACH_MICRO_OP: bool = A::EACH_MICRO_OP || B::EACH_MICRO_OP;
    const EACH_SM_ALONE: bool = A::EACH_SM_ALONE && B::EACH_SM_ALONE;
    #[inline(always)]
    fn on(&mut self, event: Event) {
        self.0.on(event);
        self.1.on(event);
    }
    #[inline(always)]
    fn micro_ops(&mut self, pc: Pc, active: LaneMask, lanes: LaneMask, count: u32) {
        self.0.micro_ops(pc, active, lanes, count);
        self.1.micro_ops(pc, active, lanes, count);
    }
    #[inline(always)]
    fn waited<const N: usize>(
        &mut self,
        sm: SmId,
        warp: WarpId,
        pc: Pc,
        states: [(Stall, Cycle); N],
    ) {
        self.0.waited(sm, warp, pc, states);
        self.1.waited(sm, warp, pc, states);
    }
    #[inline(always)]
    fn stalled(&mut self, cycle: Cycle, sm: SmId, scheduler: u32, stall: Stall, cycles: Cycle) {
        self.0.stalled(cycle, sm, scheduler, stall, cycles);
        self.1.stalled(cycle, sm, scheduler, stall, cycles);
    }
    #[inline(always)]
    fn control(&mut self, sm: SmId, warp: WarpId, control: &WarpControl) {
        self.0.control(sm, warp, control);
        self.1.control(sm, warp, control);
    }
    #[inline(always)]
    fn access(&mut self, warp: WarpId, pc: Pc, access: &LaneAccess<'_>) {
        self.0.access(warp, pc, access);
        self.1.access(warp, pc, access);
    }
    #[inline(always)]
    fn addresses(&mut self, warp: WarpId, pc: Pc, traffic: &Traffic, addresses: &[u64; MAX_LANES]) {
        self.0.addresses(warp, pc, traffic, addresses);
        self.1.addresses(warp, pc, traffic, addresses);
    }
    fn printed(&mut self, printed: &Printed<'_>) {
        self.0.printed(printed);
        self.1.printed(printed);
    }
    #[inline(always)]
    fn is_done(&self) -> bool {
        self.0.is_done() && self.1.is_done()
    }
    fn merge(&mut self, other: (A, B)) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }
}
