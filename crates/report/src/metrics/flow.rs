//! Metrics of branches and lanes.

use super::{Group, Metric, Value, count, per, percent};

pub(super) const TABLE: &[Metric] = &[
    Metric {
        name: "conditional_branches",
        ncu: None,
        aliases: &[],
        unit: "branch",
        group: Group::Divergence,
        formula: "conditional branches executed by warps",
        meaning: "Branches that can diverge; predicated instructions and unconditional branches do \
                  not count. Nsight's count (`smsp__sass_branch_targets.sum`) includes \
                  unconditional branches and those inside division and square root.",
        ours: true,
        value: |i| count(i.totals.branches),
    },
    Metric {
        name: "branch",
        ncu: Some("smsp__sass_branch_targets.sum"),
        aliases: &["branches"],
        unit: "branch",
        group: Group::Divergence,
        formula: "BRA, BRX, CALL and RET executed by warps",
        meaning: "Branches, unconditional ones included. Only machine code shows them all.",
        ours: false,
        value: |i| i.totals.opcodes.and_then(|opcodes| count(opcodes.branch_targets)),
    },
    Metric {
        name: "inst_executed_op_branch",
        ncu: Some("smsp__inst_executed_op_branch.sum"),
        aliases: &[],
        unit: "inst",
        group: Group::Divergence,
        formula: "branch, EXIT, BSYNC, BREAK, YIELD and WARPSYNC executed by warps",
        meaning: "Control-flow instructions. Only machine code shows them all.",
        ours: false,
        value: |i| i.totals.opcodes.and_then(|opcodes| count(opcodes.control)),
    },
    Metric {
        name: "divergent_branch",
        ncu: Some("smsp__sass_branch_targets_threads_divergent.sum"),
        aliases: &["divergent_branches"],
        unit: "branch",
        group: Group::Divergence,
        formula: "branches that some but not all active lanes took",
        meaning: "Branches at which a warp diverged.",
        ours: false,
        value: |i| count(i.totals.divergent_branches),
    },
    Metric {
        name: "branch_efficiency",
        ncu: Some("smsp__sass_average_branch_targets_threads_uniform.pct"),
        aliases: &[],
        unit: "%",
        group: Group::Divergence,
        formula: "100 x (conditional_branches - divergent_branch) / conditional_branches; 0 \
                  without branches",
        meaning: "Share of the conditional branches without divergence; 0 in a run without \
                  branches, as on a GPU. Nsight's share is of all branches, unconditional ones \
                  included.",
        ours: false,
        value: |i| match i.totals.opcodes.map_or(i.totals.branches, |o| o.branch_targets) {
            0 => Some(Value::Real(0.0)),
            branches => percent(branches.saturating_sub(i.totals.divergent_branches), branches),
        },
    },
    Metric {
        name: "thread_inst_executed",
        ncu: Some("smsp__thread_inst_executed.sum"),
        aliases: &[],
        unit: "inst",
        group: Group::Divergence,
        formula: "inst_executed x active lanes, summed; predicated-off lanes count as active",
        meaning: "Thread instructions: one per instruction and active lane.",
        ours: false,
        value: |i| count(i.totals.thread_inst_executed),
    },
    Metric {
        name: "not_predicated_off_thread_inst_executed",
        ncu: Some("smsp__thread_inst_executed_pred_on.sum"),
        aliases: &[],
        unit: "inst",
        group: Group::Divergence,
        formula: "inst_executed x lanes whose guard is true, summed",
        meaning: "Thread instructions that were not predicated off.",
        ours: false,
        value: |i| count(i.totals.not_predicated_off),
    },
    Metric {
        name: "warp_execution_efficiency",
        ncu: Some("smsp__thread_inst_executed_per_inst_executed.pct"),
        aliases: &[],
        unit: "%",
        group: Group::Divergence,
        formula: "100 x thread_inst_executed / (inst_executed x warp size)",
        meaning: "Average share of a warp's lanes that are active.",
        ours: false,
        value: |i| {
            percent(
                i.totals.thread_inst_executed,
                i.totals.inst_executed * u64::from(i.machine.warp_size),
            )
        },
    },
    Metric {
        name: "warp_nonpred_execution_efficiency",
        ncu: Some("smsp__thread_inst_executed_pred_on_per_inst_executed.pct"),
        aliases: &[],
        unit: "%",
        group: Group::Divergence,
        formula: "100 x not_predicated_off_thread_inst_executed / (inst_executed x warp size)",
        meaning: "Average share of a warp's lanes that are active and not predicated off.",
        ours: false,
        value: |i| {
            percent(
                i.totals.not_predicated_off,
                i.totals.inst_executed * u64::from(i.machine.warp_size),
            )
        },
    },
    Metric {
        name: "average_active_lanes",
        ncu: Some("smsp__thread_inst_executed_per_inst_executed.ratio"),
        aliases: &[],
        unit: "lane",
        group: Group::Divergence,
        formula: "thread_inst_executed / inst_executed",
        meaning: "Average number of active lanes per instruction.",
        ours: true,
        value: |i| per(i.totals.thread_inst_executed, i.totals.inst_executed),
    },
    Metric {
        name: "average_pred_on_lanes",
        ncu: Some("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"),
        aliases: &[],
        unit: "lane",
        group: Group::Divergence,
        formula: "not_predicated_off_thread_inst_executed / inst_executed",
        meaning: "Average number of active lanes per instruction that are not predicated off.",
        ours: true,
        value: |i| per(i.totals.not_predicated_off, i.totals.inst_executed),
    },
];
