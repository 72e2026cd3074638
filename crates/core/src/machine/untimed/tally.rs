//! Events that repeat, told once with their number.
//!
//! Warps mostly execute a step with the masks, and access memory in the pattern, of its last
//! execution, or of an earlier one: in a loop, each warp of a block does what the ones before it
//! did, and the next block starts over. Such an execution costs an addition; the observer is told
//! at the end, or when a step has too many different ones.

use super::plan::{Plan, Step};
use crate::base::{LaneMask, MAX_LANES, Pc};
use crate::event::{Issues, Observer, Traffic};
use crate::exec::{self, MemoryAccess};
use crate::machine::memsys::Shape;
use crate::machine::pricing::Kind;

/// Different executions of a step that are remembered.
const MOST: usize = 10;
/// Accesses of a step in a row that repeat no other, after which they are told one by one.
const MOST_UNLIKE: u32 = 64;

/// Events not yet told, by PC.
pub(super) struct Tally {
    /// Executions of the straight piece that begins here.
    pieces: Vec<Piece>,
    runs: Vec<Recent<Run>>,
    patterns: Vec<Patterns>,
}

/// Accesses of a step.
#[derive(Default)]
struct Patterns {
    recent: Recent<Box<Pattern>>,
    /// Accesses in a row without a known pattern.
    unlike: u32,
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

/// Different executions of a step, at most [`MOST`]; the latest first.
#[derive(Clone)]
struct Recent<T>(Vec<T>);

impl<T> Default for Recent<T> {
    fn default() -> Recent<T> {
        Recent(Vec::new())
    }
}

impl<T> Recent<T> {
    /// Returns `f` of the first one for which it is some.
    #[inline(always)]
    fn find<R>(&mut self, mut f: impl FnMut(&mut T) -> Option<R>) -> Option<R> {
        let (at, found) =
            self.0.iter_mut().enumerate().find_map(|(at, one)| Some((at, f(one)?)))?;
        if at > 0 {
            self.0[..=at].rotate_right(1);
        }
        Some(found)
    }

    /// Adds one. Returns the one that came last of all, if there are many.
    fn add(&mut self, one: T) -> Option<T> {
        let replaced = if self.0.len() < MOST { None } else { self.0.pop() };
        self.0.insert(0, one);
        replaced
    }
}

impl Tally {
    /// Creates an empty tally for a code of `steps`.
    pub(super) fn new(steps: usize) -> Tally {
        Tally {
            pieces: vec![Piece::default(); steps],
            runs: vec![Recent::default(); steps],
            patterns: (0..steps).map(|_| Patterns::default()).collect(),
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
        let runs = &mut self.runs[pc.index()];
        let known = runs.find(|run| {
            let is_equal = (run.active, run.lanes) == (active, lanes);
            is_equal.then(|| {
                run.times += 1;
                run.slots += u64::from(slots);
            })
        });
        if known.is_none() {
            let run = Run { active, lanes, times: 1, slots: slots.into() };
            if let Some(ended) = runs.add(run) {
                tell_run(step, observer, pc, ended);
            }
        }
    }

    /// Adds an access that `repeat` executes as one with a known pattern. Returns true if memory
    /// changed, and `None` if it executes none.
    #[inline(always)]
    pub(super) fn repeat(
        &mut self,
        pc: Pc,
        mut repeat: impl FnMut(&exec::Pattern) -> Option<bool>,
    ) -> Option<bool> {
        let Patterns { recent, unlike } = &mut self.patterns[pc.index()];
        let changed = recent.find(|pattern| {
            let changed = repeat(pattern.shape.pattern())?;
            pattern.times += 1;
            Some(changed)
        })?;
        *unlike = 0;
        Some(changed)
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
        let Patterns { recent, unlike } = &mut self.patterns[pc.index()];
        if *unlike > MOST_UNLIKE {
            return observer.accesses(pc, &traffic(addresses), 1);
        }
        let known = recent
            .find(|pattern| pattern.shape.fits(access, addresses).then(|| pattern.times += 1));
        if known.is_some() {
            *unlike = 0;
            return;
        }
        *unlike += 1;
        let shape = Shape::new(access, addresses);
        let pattern = Pattern { shape, traffic: traffic(addresses), times: 1 };
        let ended = recent.add(Box::new(pattern));
        let all = if *unlike > MOST_UNLIKE { std::mem::take(&mut recent.0) } else { Vec::new() };
        for ended in ended.into_iter().chain(all) {
            observer.accesses(pc, &ended.traffic, ended.times);
        }
    }

    /// Tells all events.
    pub(super) fn end(self, plan: &Plan<'_>, observer: &mut impl Observer) {
        for ((piece, runs), (step, pc)) in
            self.pieces.into_iter().zip(self.runs).zip(plan.steps.iter().zip(0..))
        {
            tell_piece(plan, observer, Pc(pc), piece);
            runs.0.into_iter().for_each(|run| tell_run(step, observer, Pc(pc), run));
        }
        for (patterns, pc) in self.patterns.into_iter().zip(0..) {
            for pattern in patterns.recent.0 {
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
