//! Evidence as table rows: one per metric, one per kernel.

use super::{Errors, Evidence, KernelErrors, MetricErrors};
use crate::metrics::{self, Basis};

/// Metrics of a short table.
pub const CHOSEN: [&str; 24] = [
    "gld_requests",
    "gld_transactions",
    "gst_requests",
    "gst_transactions",
    "shared_load_transactions",
    "shared_store_transactions",
    "shared_ld_bank_conflict",
    "inst_executed",
    "thread_inst_executed",
    "average_active_lanes",
    "average_pred_on_lanes",
    "branch",
    "inst_executed_op_branch",
    "divergent_branch",
    "branch_efficiency",
    "elapsed_cycles",
    "launch_cycles",
    "ipc",
    "l1_hit_sectors",
    "l2_read_transactions",
    "dram_read_bytes",
    "warp_state_long_scoreboard",
    "warp_state_wait",
    "warp_state_barrier",
];

/// Columns of a metric's row.
/// For each set, kernels, exact kernels, error that nine of ten stay within, mean error.
pub const HEADER: [&str; 9] = [
    "metric",
    "mend: kernels",
    "exact",
    "error in 9 of 10",
    "mean error",
    "held: kernels",
    "exact",
    "error in 9 of 10",
    "mean error",
];

/// Columns of a kernel's row.
pub const KERNELS: [&str; 7] = [
    "kernel",
    "set",
    "output equal in",
    "exact counters",
    "instructions",
    "active cycles",
    "cycles with launch",
];

/// Returns the rows of metrics by basis, for `names` or for all.
pub fn by_basis(evidence: &Evidence, names: Option<&[&str]>) -> Vec<(Basis, Vec<Vec<String>>)> {
    let rows = |basis: Basis| {
        let shown = |e: &&MetricErrors| {
            let of = metrics::find(&e.metric).map(|m| evidence.fingerprint.code.basis(m));
            of == Some(basis) && names.is_none_or(|names| names.contains(&e.metric.as_str()))
        };
        evidence.metrics.iter().filter(shown).map(row).collect()
    };
    let found = Basis::ALL.into_iter().map(|basis| (basis, rows(basis)));
    found.filter(|(_, rows): &(Basis, Vec<_>)| !rows.is_empty()).collect()
}

fn row(errors: &MetricErrors) -> Vec<String> {
    let half = |half: Option<&Errors>| match half {
        None => vec![String::new(); 4],
        Some(e) => vec![
            e.kernels.to_string(),
            e.exact.to_string(),
            e.nine_tenths.map_or("-".to_owned(), |p| format!("{p} %")),
            format!("{} %", e.mean),
        ],
    };
    [vec![errors.metric.clone()], half(errors.mend.as_ref()), half(errors.held.as_ref())].concat()
}

/// Returns the row of a kernel.
pub fn kernel_row(kernel: &KernelErrors) -> Vec<String> {
    let (figures, exact) = kernel.figures;
    let set = if kernel.mend { "mend" } else { "held" };
    let errors = kernel.errors.iter().map(|e| e.map_or("-".to_owned(), |p| format!("{p:+.1} %")));
    let first = [
        kernel.kernel.clone(),
        set.to_owned(),
        kernel.output.join(", "),
        format!("{exact} of {figures}"),
    ];
    first.into_iter().chain(errors).collect()
}
