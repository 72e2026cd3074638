//! Kernels whose results cannot depend on the order of warps, if they have no race.

use simt_core::code::Code;
use simt_core::isa::Space;
use simt_core::kernel::{Op, Special};

/// Returns true if only a race makes the result of a kernel depend on the order of its warps.
///
/// It has no atomics, no strong accesses to memory that other warps see, no barrier objects, no
/// calls of the runtime system, and reads neither clocks nor the number of its warp slot. A run of
/// it without a clock that has no race ends as a run with one.
pub fn is_free_of_order(code: &Code) -> bool {
    let kernel = code.kernel();
    let places = [Special::Warpid, Special::Nwarpid];
    !kernel.uses_heap()
        && !kernel.registers.specials.iter().any(|(_, special)| places.contains(special))
        && !code.ops().iter().any(|op| depends(&op.inst.op))
}

fn depends(op: &Op) -> bool {
    match op {
        Op::Load(load) => load.access.strong() && load.access.space != Space::Local,
        Op::Store(store) => store.access.strong() && store.access.space != Space::Local,
        Op::Clock { .. } | Op::MBarrier(_) | Op::System(_) | Op::Sleep { .. } => true,
        op => op.atomic().is_some(),
    }
}
