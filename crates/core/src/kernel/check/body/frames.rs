//! Whole-kernel analysis of functions: recursion, saved registers, register demand.

use crate::kernel::flow::{Liveness, on_its_own};
use crate::kernel::{DeviceFunction, Inst, Op, Registers};

/// Completes the functions and their calls.
///
/// Returns the maximum number of registers per thread.
pub(super) fn complete(
    insts: &mut [Inst],
    functions: &mut [DeviceFunction],
    registers: &Registers,
) -> u32 {
    let own = functions.first().map_or(insts.len(), |f| f.first as usize);
    let kernel = Liveness::new(&insts[..own], registers);
    let live: Vec<Liveness> =
        functions.iter().map(|f| Liveness::new(&on_its_own(insts, f), registers)).collect();
    let callees: Vec<Vec<u32>> = functions
        .iter()
        .map(|f| {
            let calls =
                insts[f.first as usize..f.end as usize].iter().filter_map(|inst| match &inst.op {
                    Op::Call(call) => Some(call.callees()),
                    _ => None,
                });
            calls.flatten().copied().collect()
        })
        .collect();
    let reaches: Vec<Vec<bool>> = (0..functions.len()).map(|f| reached(&callees, f)).collect();
    for (f, function) in functions.iter_mut().enumerate() {
        function.recursive = reaches[f][f];
        function.held = live[f].held;
        function.clears = live[f].at_entry.clone();
        for (at, registers, _) in &live[f].across {
            if let Op::Call(call) = &mut insts[function.first as usize + at].op
                && call
                    .callees()
                    .iter()
                    .any(|&callee| reaches[callee as usize][f] || callee as usize == f)
            {
                call.saves = registers.clone();
            }
        }
    }
    let mut needs: Vec<Option<u32>> = vec![None; functions.len()];
    let most = |live: &Liveness, first: usize, insts: &[Inst], needs: &[Option<u32>]| {
        let calls = live.across.iter().filter_map(|(at, _, cost)| match &insts[first + at].op {
            Op::Call(call) => Some((call, cost)),
            _ => None,
        });
        let deepest = calls.map(|(call, cost)| {
            let callee = call.callees().iter().filter_map(|&f| needs[f as usize]).max();
            cost.saturating_add(callee.unwrap_or(0))
        });
        deepest.max().unwrap_or(0).max(live.pressure)
    };
    // Recursive calls save registers in memory, so a recursive function counts once.
    for _ in 0..functions.len() {
        for f in (0..functions.len()).filter(|&f| needs[f].is_none()).collect::<Vec<_>>() {
            let outside = |&&c: &&u32| !reaches[c as usize][f] && c as usize != f;
            if callees[f].iter().filter(outside).all(|&c| needs[c as usize].is_some()) {
                needs[f] = Some(most(&live[f], functions[f].first as usize, insts, &needs));
            }
        }
    }
    most(&kernel, 0, insts, &needs)
}

/// Returns the functions that `from` may call, directly or indirectly.
fn reached(callees: &[Vec<u32>], from: usize) -> Vec<bool> {
    let mut seen = vec![false; callees.len()];
    let mut open = vec![from];
    while let Some(f) = open.pop() {
        for &callee in &callees[f] {
            if !std::mem::replace(&mut seen[callee as usize], true) {
                open.push(callee as usize);
            }
        }
    }
    seen
}
