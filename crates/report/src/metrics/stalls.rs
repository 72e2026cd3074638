//! Stall metrics: nvprof's stall reasons and Nsight Compute's warp states.
//!
//! A resident warp is in exactly one state in every cycle. nvprof's reasons are coarser; [`reason`]
//! maps states to them, after NVIDIA's table of corresponding metrics. nvprof has shares of all
//! stall cycles, which add up to 100 %; Nsight has cycles per issued instruction, which with
//! `selected` add up to the warp latency of an instruction. Nsight's
//! `smsp__warp_issue_stalled_*_per_warp_active.pct` divide by all cycles of a warp, issuing ones
//! included, so no reason has them as its Nsight name.

use super::{Group, Inputs, Metric, Value, per, percent};
use simt_core::observe::Stall;

/// nvprof's reason for a state.
pub(super) const fn reason(stall: Stall) -> &'static str {
    match stall {
        Stall::Wait | Stall::ShortScoreboard => "stall_exec_dependency",
        Stall::LongScoreboard => "stall_memory_dependency",
        Stall::Barrier | Stall::Membar => "stall_sync",
        Stall::MathPipeThrottle | Stall::MioThrottle | Stall::DispatchStall => "stall_pipe_busy",
        Stall::LgThrottle | Stall::Drain => "stall_memory_throttle",
        Stall::TexThrottle => "stall_texture",
        Stall::NotSelected => "stall_not_selected",
        Stall::Sleeping => "stall_sleeping",
        Stall::NoInstruction => "stall_inst_fetch",
        Stall::ImcMiss => "stall_constant_memory_dependency",
        Stall::BranchResolving | Stall::Blocked => "stall_other",
    }
}

fn share(inputs: &Inputs<'_>, name: &str) -> Option<Value> {
    let cycles =
        Stall::ALL.iter().filter(|&&s| reason(s) == name).map(|&s| inputs.totals.stalled(s)).sum();
    percent(cycles, inputs.totals.stalled_total())
}

fn per_issue(inputs: &Inputs<'_>, stall: Stall) -> Option<Value> {
    per(inputs.totals.stalled(stall), inputs.totals.slots_used)
}

macro_rules! reason_metric {
    ($name:literal, $states:literal, $meaning:literal) => {
        Metric {
            name: $name,
            ncu: None,
            aliases: &[],
            unit: "%",
            group: Group::Stalls,
            formula: concat!("100 x cycles in ", $states, " / cycles in any state except selected"),
            meaning: $meaning,
            ours: false,
            value: |i| share(i, $name),
        }
    };
}

macro_rules! state_metric {
    ($stall:expr, $name:literal, $meaning:literal) => {
        Metric {
            name: concat!("warp_state_", $name),
            ncu: Some(concat!(
                "smsp__average_warps_issue_stalled_",
                $name,
                "_per_issue_active.ratio"
            )),
            aliases: &[],
            unit: "cycle/inst",
            group: Group::WarpStates,
            formula: concat!("cycles in ", $name, " / issue_slots"),
            meaning: $meaning,
            ours: true,
            value: |i| per_issue(i, $stall),
        }
    };
}

pub(super) const TABLE: &[Metric] = &[
    reason_metric!(
        "stall_exec_dependency",
        "wait or short_scoreboard",
        "Waited for a result of arithmetic, shared memory or a shuffle."
    ),
    reason_metric!(
        "stall_memory_dependency",
        "long_scoreboard",
        "Waited for a result of global or local memory."
    ),
    reason_metric!(
        "stall_sync",
        "barrier or membar",
        "Waited at a block barrier or a memory fence."
    ),
    reason_metric!(
        "stall_pipe_busy",
        "math_pipe_throttle or mio_throttle or dispatch_stall",
        "The execution unit, the shared-memory queue or the register file was busy."
    ),
    reason_metric!(
        "stall_memory_throttle",
        "lg_throttle or drain",
        "The global-memory queue was full, or stores were still in flight after the exit."
    ),
    reason_metric!("stall_texture", "tex_throttle", "The queue of the texture unit was full."),
    reason_metric!(
        "stall_not_selected",
        "not_selected",
        "Was ready, but the scheduler issued another warp; a large share means enough warps."
    ),
    reason_metric!(
        "stall_inst_fetch",
        "no_instruction",
        "Waited for the next instruction to be fetched."
    ),
    reason_metric!(
        "stall_constant_memory_dependency",
        "imc_miss",
        "Waited for constants that missed in the constant cache."
    ),
    reason_metric!("stall_sleeping", "sleeping", "Slept (nanosleep)."),
    reason_metric!(
        "stall_other",
        "branch_resolving or blocked",
        "Waited for a branch's target, or had all lanes blocked on each other."
    ),
    Metric {
        name: "warp_state_selected",
        ncu: Some("smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"),
        aliases: &[],
        unit: "cycle/inst",
        group: Group::WarpStates,
        formula: "issue_slots / issue_slots",
        meaning: "Issued: one cycle per instruction.",
        ours: true,
        value: |i| per(i.totals.slots_used, i.totals.slots_used),
    },
    state_metric!(Stall::Wait, "wait", "Waited for a fixed-latency result."),
    state_metric!(
        Stall::ShortScoreboard,
        "short_scoreboard",
        "Waited for shared memory, special functions or a shuffle."
    ),
    state_metric!(Stall::LongScoreboard, "long_scoreboard", "Waited for global or local memory."),
    state_metric!(Stall::Barrier, "barrier", "Waited at a block barrier."),
    state_metric!(Stall::Membar, "membar", "Waited for a memory fence."),
    state_metric!(Stall::BranchResolving, "branch_resolving", "Waited for the target of a branch."),
    state_metric!(Stall::MathPipeThrottle, "math_pipe_throttle", "The execution unit was busy."),
    state_metric!(
        Stall::MioThrottle,
        "mio_throttle",
        "The shared-memory and special-function queue was full."
    ),
    state_metric!(Stall::LgThrottle, "lg_throttle", "The global-memory queue was full."),
    state_metric!(Stall::TexThrottle, "tex_throttle", "The queue of the texture unit was full."),
    state_metric!(
        Stall::NotSelected,
        "not_selected",
        "Was ready; the scheduler issued another warp."
    ),
    state_metric!(Stall::Sleeping, "sleeping", "Slept."),
    Metric {
        ncu: None,
        ..state_metric!(
            Stall::Blocked,
            "blocked",
            "Had all lanes blocked on each other; not a hardware state, the run ends in a deadlock."
        )
    },
    state_metric!(
        Stall::NoInstruction,
        "no_instruction",
        "Waited for its next instruction to be fetched."
    ),
    state_metric!(
        Stall::ImcMiss,
        "imc_miss",
        "Waited for a constant that missed in the constant cache."
    ),
    state_metric!(
        Stall::DispatchStall,
        "dispatch_stall",
        "Was ready; the register file was delivering operands of other instructions."
    ),
    state_metric!(Stall::Drain, "drain", "Had exited, with stores still in flight."),
    Metric {
        name: "warp_latency_per_inst",
        ncu: Some("smsp__average_warp_latency_per_inst_issued.ratio"),
        aliases: &[],
        unit: "cycle/inst",
        group: Group::WarpStates,
        formula: "(issue_slots + cycles in any other state) / issue_slots",
        meaning: "Average cycles between two issues of a warp.",
        ours: true,
        value: |i| per(i.totals.slots_used + i.totals.stalled_total(), i.totals.slots_used),
    },
];
