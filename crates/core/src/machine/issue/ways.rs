//! Control flow of executed instructions, as [`Flow`] and [`Side`] values.

use super::super::warp::Warp;
use super::{Issue, Issuer};
use crate::base::{LaneMask, MAX_LANES, Pc, WarpId, mix};
use crate::code::MicroOp;
use crate::divergence::{Flow, Side, WarpControl};
use crate::event::{Event, Observer};
use crate::exec;
use crate::kernel::{ConvergenceOp, Op, Register};

impl<O: Observer> Issuer<'_, O> {
    /// Reports a shuffle from an inactive lane, and continues.
    #[cold]
    pub(super) fn undefined(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        lanes: LaneMask,
        source: u32,
    ) {
        let (sm, slot, pc) = (self.id, WarpId(issue.w as u32), issue.pc);
        self.observer.on(Event::UndefinedShuffle { sm, warp: slot, pc, lanes, source });
        warp.control.go(issue.step.next);
    }
}

/// Splits the active lanes of PTX pseudo-randomly, for an adversarial schedule.
///
/// Here a quarter of the steps do. The choice depends only on the situation, so that livelocks can
/// be proved. Machine code itself says where lanes part and meet: its barriers rely on that.
#[cold]
pub(in crate::machine) fn split(control: &mut WarpControl, seed: u64, active: LaneMask, next: Pc) {
    let draw = mix(seed ^ u64::from(active.0) << 32 ^ u64::from(next.0));
    let some = active & LaneMask(draw as u32);
    let splits = draw >> 62 == 0 && !some.is_empty() && some != active;
    if splits && matches!(control, WarpControl::Independent(_)) {
        control.split(
            &[Side { pc: next, lanes: some }, Side { pc: next, lanes: active - some }],
            None,
        );
    } else {
        control.go(next);
    }
}

/// Returns the control flow of a branch taken by `taken`.
#[inline]
pub(in crate::machine) fn branch(step: &MicroOp, taken: LaneMask) -> Flow {
    let target = match step.inst.op {
        Op::Branch { target, .. }
        | Op::BranchTogether { target, .. }
        | Op::BranchByConvergence { target, .. } => target,
        _ => step.next,
    };
    Flow::Branch { taken, target, next: step.next, reconverge: step.reconverge }
}

/// Returns the control flow of a join step.
#[inline]
pub(in crate::machine) fn join(step: &MicroOp) -> Flow {
    let next = step.next;
    match step.inst.op {
        Op::Join(ConvergenceOp::Set(join)) => Flow::Set { join, next },
        Op::Join(ConvergenceOp::Sync(join)) => Flow::Sync { join, next },
        Op::Join(ConvergenceOp::Break(join)) => Flow::Break { join, next },
        Op::Join(ConvergenceOp::Yield) => Flow::Yield { next },
        _ => Flow::Next { next },
    }
}

/// Executes a convergence operation of machine code for the `lanes` whose guard holds.
pub(in crate::machine) fn barrier_register(
    warp: &mut Warp,
    op: ConvergenceOp,
    step: &MicroOp,
    lanes: LaneMask,
    active: LaneMask,
) {
    let next = step.next;
    if lanes.is_empty() {
        return warp.control.go(next);
    }
    match op {
        ConvergenceOp::Save { join, d, clear } => {
            let mask = warp.control.barrier(join, clear, next);
            if let Some(d) = d {
                exec::write_lanes(&mut warp.registers, d, lanes, mask.0);
            }
        }
        ConvergenceOp::Restore { join, s } => {
            // Lanes may have saved different masks: the lowest one's is restored.
            let value = |lane| warp.registers.get(Register::Narrow(s), lane) as u32;
            warp.control.set_barrier(join, LaneMask(lanes.lowest().map_or(0, value)));
            warp.control.go(next);
        }
        ConvergenceOp::Break(join) => warp.control.leave(join, lanes, next),
        _ if lanes == active => warp.control.advance(self::join(step)),
        // Lanes whose guard fails pass; they form a group of their own.
        _ => {
            let (pc, _) = warp.control.active().unwrap_or((next, active));
            let flow =
                Flow::Branch { taken: active - lanes, target: next, next: pc, reconverge: None };
            warp.control.advance(flow);
        }
    }
}

/// Groups lanes by target, in ascending order of their numbers.
pub(in crate::machine) fn sides(
    lanes: LaneMask,
    numbers: &[u64; MAX_LANES],
    target: impl Fn(usize) -> Pc,
) -> Vec<Side> {
    let number = |lane: u32| numbers[lane as usize & (MAX_LANES - 1)];
    let mut sides = Vec::new();
    let mut rest = lanes;
    while let Some(least) = rest.lanes().map(number).min() {
        let here = rest.lanes().filter(|&lane| number(lane) == least);
        let here = here.fold(LaneMask::EMPTY, |mask, lane| mask | LaneMask::lane(lane));
        add_side(&mut sides, target(least as usize), here);
        rest -= here;
    }
    sides
}

/// Adds lanes to the side with target `pc`.
pub(in crate::machine) fn add_side(sides: &mut Vec<Side>, pc: Pc, lanes: LaneMask) {
    match sides.iter_mut().find(|side| side.pc == pc) {
        _ if lanes.is_empty() => {}
        Some(side) => side.lanes |= lanes,
        None => sides.push(Side { pc, lanes }),
    }
}
