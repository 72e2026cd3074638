//! Events that repeat, told once with their number.
//!
//! Warps mostly execute a step with the masks, and access memory in the pattern, of its last
//! execution, or of the last that differed: some warps of a block work, others do not. Such an
//! execution costs an addition; the observer is told when another one comes.

use super::plan::{Plan, Step};
use crate::base::{LaneMask, MAX_LANES, Pc};
use crate::event::{Issues, Observer, Traffic};
use crate::exec::MemoryAccess;
use crate::machine::memsys::Shape;
use crate::machine::pricing::Kind;

/// Events not yet told, by PC.
pub(super) struct Tally {
    /// Executions of the straight piece that begins here.
    pieces: Vec<Piece>,
    /// The latest masks first.
    runs: Vec<[Run; 2]>,
    /// The latest pattern first.
    patterns: Vec<[Option<Box<Pattern>>; 2]>,
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
    shape: Shape,
    traffic: Traffic,
    times: u64,
}

impl Pattern {
    /// Counts an access that has this pattern. Returns false for another one.
    #[inline(always)]
    fn repeats(
        pattern: &mut Option<Box<Pattern>>,
        access: MemoryAccess,
        addresses: &[u64; MAX_LANES],
    ) -> bool {
        let fitting = pattern.as_mut().filter(|known| known.shape.fits(access, addresses));
        let Some(pattern) = fitting else { return false };
        pattern.times += 1;
        true
    }
}

impl Tally {
    /// Creates an empty tally for a code of `steps`.
    pub(super) fn new(steps: usize) -> Tally {
        Tally {
            pieces: vec![Piece::default(); steps],
            runs: vec![Default::default(); steps],
            patterns: (0..steps).map(|_| Default::default()).collect(),
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
        let [run, earlier] = &mut self.runs[pc.index()];
        if (run.active, run.lanes) != (active, lanes) {
            std::mem::swap(run, earlier);
            if (run.active, run.lanes) != (active, lanes) {
                let ended = std::mem::replace(run, Run { active, lanes, times: 0, slots: 0 });
                tell_run(step, observer, pc, ended);
            }
        }
        run.times += 1;
        run.slots += u64::from(slots);
    }

    /// Adds an access, whose traffic is `traffic` unless it repeats a known one of the step.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        observer: &mut impl Observer,
        pc: Pc,
        access: MemoryAccess,
        addresses: &mut [u64; MAX_LANES],
        traffic: impl FnOnce(&mut [u64; MAX_LANES]) -> Traffic,
    ) {
        let [latest, earlier] = &mut self.patterns[pc.index()];
        if Pattern::repeats(latest, access, addresses) {
            return;
        }
        std::mem::swap(latest, earlier);
        if Pattern::repeats(latest, access, addresses) {
            return;
        }
        let shape = Shape::new(access, addresses);
        let pattern = Pattern { shape, traffic: traffic(addresses), times: 1 };
        match latest {
            Some(ended) => {
                observer.accesses(pc, &ended.traffic, ended.times);
                **ended = pattern;
            }
            None => *latest = Some(Box::new(pattern)),
        }
    }

    /// Tells all events.
    pub(super) fn end(self, plan: &Plan<'_>, observer: &mut impl Observer) {
        for ((piece, runs), (step, pc)) in
            self.pieces.into_iter().zip(self.runs).zip(plan.steps.iter().zip(0..))
        {
            tell_piece(plan, observer, Pc(pc), piece);
            runs.into_iter().for_each(|run| tell_run(step, observer, Pc(pc), run));
        }
        for (patterns, pc) in self.patterns.into_iter().zip(0..) {
            for pattern in patterns.into_iter().flatten() {
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
