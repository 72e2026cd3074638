//! Spin loops: loops that end when another lane or warp writes.

use super::{ControlFlow, Loop};
use crate::base::BasicBlockId;
use crate::kernel::{DeviceFunction, Inst, Op, Register};

/// Returns true if the instruction observes writes of other lanes or warps.
pub(crate) fn observes(inst: &Inst) -> bool {
    match &inst.op {
        Op::Atomic(atomic) => atomic.d.is_some(),
        Op::AtomicVector(vector) => vector.first.d.is_some(),
        Op::Load(load) => load.access.strong(),
        Op::MBarrier(op) => op.f.tests(),
        _ => false,
    }
}

/// Returns true for each instruction that a spin loop waits for.
///
/// It is a strong load or an atomic that decides when a spin loop ends.
pub(in crate::kernel) fn awaited(
    insts: &[Inst],
    functions: &[DeviceFunction],
    flow: &ControlFlow,
) -> Vec<bool> {
    let observing = observing_functions(insts, functions);
    let mut awaited = vec![false; insts.len()];
    for spinning in flow.loops.iter().filter(|candidate| spins(insts, &observing, flow, candidate))
    {
        for block in spinning.body.iter().filter(|block| flow.loop_depth(**block) == spinning.depth)
        {
            for i in flow.blocks[block.index()].range() {
                awaited[i] |= observes(&insts[i]);
            }
        }
    }
    awaited
}

/// Returns true for each function that may execute an instruction that [`observes`].
pub(crate) fn observing_functions(insts: &[Inst], functions: &[DeviceFunction]) -> Vec<bool> {
    let mut observing = vec![false; functions.len()];
    loop {
        let sees = |inst: &Inst| observes(inst) || calls_any_of(inst, &observing);
        let now: Vec<bool> = functions
            .iter()
            .map(|f| insts[f.first as usize..f.end as usize].iter().any(sees))
            .collect();
        if now == observing {
            return now;
        }
        observing = now;
    }
}

fn calls_any_of(inst: &Inst, selected: &[bool]) -> bool {
    matches!(&inst.op, Op::Call(call) if call.callees().iter().any(|&f| selected.get(f as usize) == Some(&true)))
}

/// Returns true if a loop waits for writes of other lanes or warps.
///
/// An atomic's result or a strong load's value, read in this loop and in no inner loop, decides a
/// branch or a guard of the loop. The results of functions that read such values count as well.
pub(crate) fn spins(
    insts: &[Inst],
    observing: &[bool],
    flow: &ControlFlow,
    candidate: &Loop,
) -> bool {
    let innermost = |b: &&BasicBlockId| flow.loop_depth(**b) == candidate.depth;
    let range = |b: &BasicBlockId| flow.blocks[b.index()].range();
    let own: Vec<&Inst> =
        candidate.body.iter().filter(innermost).flat_map(range).map(|i| &insts[i]).collect();
    let calls = own.iter().any(|inst| calls_any_of(inst, observing));
    let observes_result =
        |inst: &&&Inst| observes(inst) || calls && matches!(inst.op, Op::ReadSlot(_));
    let mut observed: Vec<Register> =
        own.iter().filter(observes_result).flat_map(|i| i.writes.iter().copied()).collect();
    if observed.is_empty() {
        return false;
    }
    let body: Vec<&Inst> = candidate.body.iter().flat_map(range).map(|i| &insts[i]).collect();
    let mut grown = true;
    while grown {
        grown = false;
        for inst in &body {
            if inst.reads.iter().any(|r| observed.contains(r)) {
                for &register in &inst.writes {
                    if !observed.contains(&register) {
                        observed.push(register);
                        grown = true;
                    }
                }
            }
        }
    }
    let decides = |inst: &&&Inst| {
        inst.guard.is_some_and(|g| observed.contains(&Register::Predicate(g.predicate)))
    };
    body.iter().any(|inst| decides(&inst))
}
