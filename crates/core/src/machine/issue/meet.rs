//! Lanes that part or meet: branches through registers, `.sync` instructions, block barriers.

use super::super::block::Votes;
use super::super::warp::{Arrival, Warp};
use super::{Issue, Issuer, add_side, sides};
use crate::base::{Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::code::MicroOp;
use crate::divergence::{Flow, first_set, first_side};
use crate::event::{Event, Observer};
use crate::exec::{self, Fault, FaultKind, Members, RegisterFile};
use crate::kernel::{BarrierKind, Meeting, Op};

/// Returns true if the `active` lanes can execute a `.sync` instruction now.
///
/// Each set of lanes with a common mask waits for its own members; the others stay active.
pub(in crate::machine) fn gather(step: &MicroOp, warp: &mut Warp, active: LaneMask) -> bool {
    let lanes = exec::guarded(&step.inst, active, &warp.registers);
    let passive = active - lanes;
    // Lanes outside of their own mask proceed, mostly to their fault.
    let waits = |set: &Members| {
        set.lanes.is_subset(set.named) && !warp.control.gathered(set.lanes | passive, set.named)
    };
    let sets = exec::members(&step.inst, lanes, &warp.registers);
    let waiting: Vec<Members> = sets.filter(waits).collect();
    let staying = waiting.iter().fold(lanes, |staying, set| staying - set.lanes);
    for (i, set) in waiting.iter().enumerate() {
        // Lanes with a false guard stay with the executing lanes, or wait with the first set.
        let with = if i == 0 && staying.is_empty() { passive } else { LaneMask::EMPTY };
        warp.control.advance(Flow::Await { lanes: set.lanes | with, members: set.named });
    }
    waiting.is_empty()
}

/// Reports the sets of lanes at a `.sync` instruction, one per mask.
///
/// Returns a fault if partners exchange values at another instruction.
pub(in crate::machine) fn members_meet(
    (step, lanes): (&MicroOp, LaneMask),
    warp: &Warp,
    (sm, w, pc): (SmId, usize, Pc),
    observer: &mut impl Observer,
) -> Option<Fault> {
    for Members { named, lanes, omitted } in exec::members(&step.inst, lanes, &warp.registers) {
        if !omitted && !lanes.is_subset(named) {
            return None; // a lane outside of its mask: execution reports the fault
        }
        let slot = WarpId(w as u32);
        observer.on(Event::Collective { sm, warp: slot, pc, lanes, members: named });
        let away = warp.control.elsewhere(named);
        // A shuffle whose lanes read each other needs no others.
        let needs = match &step.inst.op {
            Op::WarpSync { .. } => LaneMask::EMPTY,
            Op::Shuffle(shuffle) => exec::shuffle_reads(shuffle, lanes, &warp.registers),
            _ => LaneMask::FULL,
        };
        if let (true, Some(lane)) = (away.intersects(needs), lanes.lowest()) {
            return Some(Fault { lane, kind: FaultKind::GatheredElsewhere { lanes: away } });
        }
    }
    None
}

/// Branches through a register to the addresses of `lanes`, and reports the branch. Returns true if
/// the active lanes have several targets.
pub(in crate::machine) fn jump(
    (step, lanes, addresses): (&MicroOp, LaneMask, &[u64; MAX_LANES]),
    warp: &mut Warp,
    (sm, w, pc): (SmId, usize, Pc),
    (cycle, active): (Cycle, LaneMask),
    observer: &mut impl Observer,
) -> bool {
    let mut sides = sides(lanes, addresses, |pc| Pc(pc as u32));
    add_side(&mut sides, step.next, active - lanes);
    let first = first_side(active, &sides);
    let taken = if first.intersects(lanes) { first } else { lanes };
    if is_further_branch(warp, active, taken) {
        observer.on(Event::Branch { cycle, sm, warp: WarpId(w as u32), pc, active, taken });
    }
    warp.control.split(&sides, None);
    sides.len() > 1
}

/// Returns true if an H200 counts a branch, where lanes with another target or mask stay to execute
/// the instruction again. The last of them to do so are no further branch.
fn is_further_branch(warp: &Warp, active: LaneMask, taken: LaneMask) -> bool {
    taken != active || !warp.control.are_left()
}

/// Executes WARPSYNC of machine code for `lanes`, and reports the sets that go on.
///
/// A WARPSYNC.EXCLUSIVE whose lanes have several masks is reported as a divergent branch. Returns
/// the number of sets that go on; `None` if all live lanes execute it together.
pub(in crate::machine) fn gather_native(
    (step, lanes): (&MicroOp, LaneMask),
    warp: &mut Warp,
    (sm, w, pc): (SmId, usize, Pc),
    cycle: Cycle,
    observer: &mut impl Observer,
) -> Option<u32> {
    let Op::Gather { meeting, .. } = &step.inst.op else { return None };
    let slot = WarpId(w as u32);
    let sets = exec::members(&step.inst, lanes, &warp.registers);
    let mut sets = sets.map(|Members { named, lanes, .. }| (lanes, named));
    let Some(lowest) = sets.next() else {
        warp.control.go(step.next);
        return None;
    };
    let mut sets: Vec<_> = sets.collect(); // mostly none
    let set_of = |lane| *sets.iter().find(|set| set.0.contains(lane)).unwrap_or(&lowest);
    let first = first_set(lanes, |lane| set_of(lane).0);
    let first = set_of(first.lowest().unwrap_or(0));
    let now = match *meeting {
        Meeting::Common if !sets.is_empty() => {
            sets.push(lowest);
            &sets[..]
        }
        _ => &[first],
    };
    let comes_last = matches!(meeting, Meeting::Collective { .. });
    let goes_on = |set| warp.control.is_gathered(set, comes_last);
    let mut gone = 0;
    for &(lanes, members) in now.iter().filter(|&&set| goes_on(set)) {
        observer.on(Event::Collective { sm, warp: slot, pc, lanes, members });
        gone += 1;
    }
    let live = warp.control.live();
    let together = live.is_subset(first.0) && live.is_subset(first.1);
    match *meeting {
        Meeting::Common => warp.control.gather(now, step.next),
        Meeting::Aligned => warp.control.align(first.0, step.next),
        Meeting::Exclusive => {
            let (active, taken) = (lanes, first.0);
            if is_further_branch(warp, active, taken) {
                observer.on(Event::Branch { cycle, sm, warp: slot, pc, active, taken });
            }
            warp.control.gather_apart(first, step.next);
        }
        Meeting::Collective { end } => warp.control.gather_together(first, step.next, end),
    }
    (!together).then_some(gone)
}

/// Returns the votes of lanes that arrive at a barrier, for `bar.red`.
pub(in crate::machine) fn votes_of(
    step: &MicroOp,
    lanes: LaneMask,
    registers: &RegisterFile,
) -> Votes {
    match &step.inst.op {
        Op::Barrier(b) if matches!(b.kind, BarrierKind::Red { .. }) => Votes {
            threads: lanes.count(),
            holds: exec::barrier_votes(&step.inst, lanes, registers).count(),
        },
        _ => Votes::default(),
    }
}

impl<O: Observer> Issuer<'_, O> {
    /// Lets lanes arrive at a block barrier for `count` threads, or all if `None`.
    ///
    /// With `wait` they wait there.
    pub(super) fn arrive(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        arrival: Arrival,
        count: Option<u32>,
        wait: bool,
    ) {
        let (cx, Arrival { id, pc, lanes }) = (self.cx, arrival);
        let &Issue { w, now, step, .. } = issue;
        let (sm, slot) = (self.id, WarpId(w as u32));
        let arriving = warp.control.arriving();
        let passing = issue.active - lanes;
        if !passing.is_empty() {
            self.observer.on(Event::BarrierPassed { sm, warp: slot, pc, lanes: passing });
        }
        self.observer.on(Event::Barrier {
            cycle: now,
            sm,
            warp: slot,
            pc,
            lanes,
            arriving,
            id,
            count,
            wait,
        });
        let votes = votes_of(step, lanes, &warp.registers);
        // Thread counts cover whole warps, so exited lanes may count, too.
        let threads = match count {
            Some(_) => warp.come(id, arriving, cx.spec.warp_size),
            None => arriving.count(),
        };
        self.barrier_free = self.barrier_free.max(now) + Cycle::from(cx.spec.barrier.per_warp);
        self.blocks[warp.block].arrive(id, threads, count, votes, self.barrier_free);
        let arrival = Arrival { id, pc, lanes };
        if !wait {
            self.watch.progress();
            warp.control.go(step.next);
        } else if cx.spec.barrier.deferred
            && arriving == warp.control.live()
            && votes == Votes::default()
        {
            warp.ahead = Some(arrival);
            warp.control.go(step.next);
        } else {
            warp.wait(arrival, step.next);
        }
    }
}
