//! Events that repeat, told once with their number.
//!
//! Warps mostly execute a step with the masks, and access memory in the pattern, of its last
//! execution. Such an execution costs an addition; the observer is told when one differs.

use super::plan::{Plan, Step};
use crate::base::{LaneMask, MAX_LANES, Pc};
use crate::event::{Issues, Observer, Traffic};
use crate::exec::MemoryAccess;
use crate::isa::Space;
use crate::machine::cache::LINE;
use crate::machine::pricing::Kind;

/// Events not yet told, by PC.
pub(super) struct Tally {
    /// Executions of the straight piece that begins here.
    pieces: Vec<Piece>,
    runs: Vec<Run>,
    patterns: Vec<Option<Box<Pattern>>>,
}

/// Executions of a straight piece with one mask.
#[derive(Clone, Copy, Default)]
struct Piece {
    active: LaneMask,
    times: u64,
}

/// Executions of a step with equal masks.
#[derive(Clone, Copy, Default)]
struct Run {
    active: LaneMask,
    lanes: LaneMask,
    times: u64,
    slots: u64,
}

/// Accesses whose traffic is equal because their addresses differ by a constant only.
struct Pattern {
    access: MemoryAccess,
    /// Place of the lowest lane's address within the period of [`period`].
    base: u64,
    /// Address by lane, from that of the lowest.
    offsets: [u64; MAX_LANES],
    /// All ones for each lane of the access.
    is_in: [u64; MAX_LANES],
    traffic: Traffic,
    times: u64,
}

/// Returns the bytes by which all addresses may move without a change of lines, sectors and banks.
///
/// Consecutive words of a lane's local memory are lines apart; the banks of shared memory take
/// turns. 0: addresses mean nothing.
fn period(space: Space) -> u64 {
    match space {
        Space::Const | Space::Param => 0,
        Space::Shared | Space::Local => 4,
        Space::Global | Space::Generic => LINE,
    }
}

impl Pattern {
    fn new(access: MemoryAccess, addresses: &[u64; MAX_LANES], traffic: Traffic) -> Pattern {
        let first = lowest(access, addresses);
        Pattern {
            access,
            base: first.checked_rem(period(access.space)).unwrap_or(0),
            offsets: std::array::from_fn(|lane| addresses[lane].wrapping_sub(first)),
            is_in: std::array::from_fn(|lane| match access.lanes.contains(lane as u32) {
                true => u64::MAX,
                false => 0,
            }),
            traffic,
            times: 0,
        }
    }

    /// Returns true if an access has this pattern's traffic.
    #[inline]
    fn fits(&self, access: MemoryAccess, addresses: &[u64; MAX_LANES]) -> bool {
        let known = &self.access;
        if (known.lanes, known.bytes, known.space, known.kind, known.row)
            != (access.lanes, access.bytes, access.space, access.kind, access.row)
        {
            return false;
        }
        let first = lowest(access, addresses);
        let base = match period(access.space) {
            0 => return true,
            period => first & (period - 1), // a power of two
        };
        let mut differs = base ^ self.base;
        if access.row {
            return differs == 0;
        }
        for ((address, offset), is_in) in addresses.iter().zip(&self.offsets).zip(&self.is_in) {
            differs |= (address.wrapping_sub(first) ^ offset) & is_in;
        }
        differs == 0
    }
}

/// Returns the address of the lowest lane.
#[inline]
fn lowest(access: MemoryAccess, addresses: &[u64; MAX_LANES]) -> u64 {
    addresses[access.lanes.lowest().unwrap_or(0) as usize % MAX_LANES]
}

impl Tally {
    /// Creates an empty tally for a code of `steps`.
    pub(super) fn new(steps: usize) -> Tally {
        Tally {
            pieces: vec![Piece::default(); steps],
            runs: vec![Run::default(); steps],
            patterns: (0..steps).map(|_| None).collect(),
        }
    }

    /// Adds an execution of the straight piece at `pc`, without its guarded micro-ops.
    #[inline(always)]
    pub(super) fn piece(
        &mut self,
        plan: &Plan<'_>,
        observer: &mut impl Observer,
        pc: Pc,
        active: LaneMask,
    ) {
        let piece = &mut self.pieces[pc.index()];
        if piece.active != active {
            let ended = std::mem::replace(piece, Piece { active, times: 0 });
            tell_piece(plan, observer, pc, ended);
        }
        self.pieces[pc.index()].times += 1;
    }

    /// Adds an execution of a step.
    #[inline(always)]
    pub(super) fn issue(
        &mut self,
        step: &Step,
        observer: &mut impl Observer,
        pc: Pc,
        (active, lanes): (LaneMask, LaneMask),
        slots: u32,
    ) {
        let run = &mut self.runs[pc.index()];
        if (run.active, run.lanes) != (active, lanes) {
            let ended = std::mem::replace(run, Run { active, lanes, times: 0, slots: 0 });
            tell_run(step, observer, pc, ended);
        }
        run.times += 1;
        run.slots += u64::from(slots);
    }

    /// Adds an access, whose traffic is `traffic` unless it repeats the step's last one.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        observer: &mut impl Observer,
        pc: Pc,
        access: MemoryAccess,
        addresses: &mut [u64; MAX_LANES],
        traffic: impl FnOnce(&mut [u64; MAX_LANES]) -> Traffic,
    ) {
        let slot = &mut self.patterns[pc.index()];
        match slot {
            Some(pattern) if pattern.fits(access, addresses) => pattern.times += 1,
            _ => {
                let asked = *addresses;
                let mut pattern = Box::new(Pattern::new(access, &asked, traffic(addresses)));
                pattern.times = 1;
                if let Some(ended) = slot.replace(pattern) {
                    observer.accesses(pc, &ended.traffic, ended.times);
                }
            }
        }
    }

    /// Tells all events.
    pub(super) fn end(self, plan: &Plan<'_>, observer: &mut impl Observer) {
        for ((piece, run), (step, pc)) in
            self.pieces.into_iter().zip(self.runs).zip(plan.steps.iter().zip(0..))
        {
            tell_piece(plan, observer, Pc(pc), piece);
            tell_run(step, observer, Pc(pc), run);
        }
        for (pattern, pc) in self.patterns.into_iter().zip(0..) {
            if let Some(pattern) = pattern {
                observer.accesses(Pc(pc), &pattern.traffic, pattern.times);
            }
        }
    }
}

/// Tells executions of the straight piece at `pc`. Guarded micro-ops are told by themselves.
#[inline(never)]
fn tell_piece(plan: &Plan<'_>, observer: &mut impl Observer, pc: Pc, piece: Piece) {
    let Piece { active, times } = piece;
    if times == 0 {
        return;
    }
    for op in plan.piece(&plan.steps[pc.index()]).iter().filter(|op| !op.is_guarded) {
        let slots = times * u64::from(op.slots);
        let (pc, lanes) = (op.pc, active);
        observer.issues(&Issues { pc, active, lanes, times, slots, is_branch: false });
    }
}

/// Tells executions of a step.
#[inline(never)]
fn tell_run(step: &Step, observer: &mut impl Observer, pc: Pc, run: Run) {
    let Run { active, lanes, times, slots } = run;
    if times > 0 {
        let is_branch = step.kind == Kind::ConditionalBranch;
        observer.issues(&Issues { pc, active, lanes, times, slots, is_branch });
    }
}
