//! Kernels whose results cannot depend on the order of warps, if they have no race.

use super::{Simulation, simulate_checked};
use simt_core::Job;
use simt_core::checks::Checks;
use simt_core::code::Code;
use simt_core::isa::Space;
use simt_core::kernel::{Op, Special};
use simt_core::machine::{DoesNotFit, Finish, Host, Timing};

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

/// Runs a job without a clock, with checks `on` and that for races. Returns `None` if a run with a
/// clock could end in another way, or has findings to report: the caller runs it with one.
///
/// The run issues at most `job.options.max_issues` steps on an SM; a longer one is `None`, too.
///
/// # Errors
/// Fails if a block does not fit the machine.
pub fn without_time(
    mut job: Job<'_>,
    host: &dyn Host,
    on: Checks,
) -> Result<Option<Simulation>, DoesNotFit> {
    if !is_free_of_order(&job.code) {
        return Ok(None);
    }
    job.options.timing = Timing::Off;
    let done = simulate_checked(job, host, Checks { races: true, ..on })?;
    let ended = matches!(done.simulation.finish, Finish::Ok) && done.simulation.run.passed();
    Ok((ended && done.findings.is_empty()).then_some(done.simulation))
}

fn depends(op: &Op) -> bool {
    match op {
        Op::Load(load) => load.access.strong() && load.access.space != Space::Local,
        Op::Store(store) => store.access.strong() && store.access.space != Space::Local,
        Op::Clock { .. } | Op::MBarrier(_) | Op::System(_) | Op::Sleep { .. } => true,
        op => op.atomic().is_some(),
    }
}
