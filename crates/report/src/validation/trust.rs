//! Accuracy labels of features, and the rule behind them.

use serde::{Serialize, Serializer};

use super::super::profile::Held;
use super::{GeneratedRow, Known, LARGE, ProfileRow, ProgramRow};

/// Accuracy of a feature.
#[derive(Clone, Debug, PartialEq)]
pub enum Trust {
    /// Every figure equals the measured one to its digits; memory is equal bit by bit.
    Exact,
    /// Every figure is within this percentage of the measured one.
    Within(f64),
    /// Memory is equal within the tolerance of the instruction set's rows.
    Granted(String),
    /// Some figure is further off.
    Differs {
        /// Known reason, if any.
        reason: Option<String>,
    },
    /// Not measured.
    NotMeasured,
}

impl Trust {
    /// Steps of [`Trust::Within`], in percent.
    pub const STEPS: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 15.0, 25.0];

    /// Labels some figures.
    /// *Exact* if each is exact; else *within* the first step that no figure exceeds; else
    /// *differs*, with the reason of the worst figure; *not measured* without figures.
    pub fn of<'h>(figures: impl Iterator<Item = &'h Held>, known: &Known) -> Trust {
        let figures: Vec<&Held> = figures.collect();
        let away =
            |h: &Held| if h.is_exact() { 0.0 } else { h.error().map_or(f64::INFINITY, f64::abs) };
        let Some(worst) = figures.iter().max_by(|a, b| away(a).total_cmp(&away(b))) else {
            return Trust::NotMeasured;
        };
        if figures.iter().all(|h| h.is_exact()) {
            return Trust::Exact;
        }
        let step = Trust::STEPS.into_iter().find(|step| away(worst) <= *step);
        step.map_or_else(
            || Trust::Differs { reason: known.counter(&worst.name).map(str::to_string) },
            Trust::Within,
        )
    }

    /// Returns the worse of two labels.
    fn and(self, other: Trust) -> Trust {
        let rank = |t: &Trust| match t {
            Trust::NotMeasured => 0.0,
            Trust::Exact => 1.0,
            Trust::Granted(_) => 2.0,
            Trust::Within(percent) => 3.0 + percent,
            Trust::Differs { reason: Some(_) } => 1000.0,
            Trust::Differs { reason: None } => 1001.0,
        };
        if rank(&other) > rank(&self) { other } else { self }
    }
}

impl std::fmt::Display for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trust::Exact => f.write_str("exact"),
            Trust::Within(percent) => write!(f, "within {percent} %"),
            Trust::Granted(tolerance) => f.write_str(tolerance),
            Trust::Differs { reason: Some(reason) } => write!(f, "differs: {reason}"),
            Trust::Differs { reason: None } => f.write_str("differs"),
            Trust::NotMeasured => f.write_str("not measured"),
        }
    }
}

impl Serialize for Trust {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A feature of the model with its accuracy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Feature {
    /// Name.
    pub feature: &'static str,
    /// Number of compared figures or programs.
    pub figures: usize,
    /// Number of exact ones.
    pub exact: usize,
    /// Label of all of them.
    pub trust: Trust,
    /// Worst figure: program, counter and error in percent.
    pub worst: Option<String>,
}

/// Size of the launches that a feature covers.
#[derive(Clone, Copy, PartialEq)]
enum Size {
    Any,
    Small,
    Large,
}

impl Size {
    fn has(self, launch: &ProfileRow) -> bool {
        self == Size::Any || (self == Size::Large) == (launch.threads >= LARGE)
    }
}

/// Features with the prefixes of their counters' names. In a small launch, most of L2's and DRAM's
/// counts are code, constants and the profiler, not the kernel.
const COUNTED: &[(&str, Size, &[&str])] = &[
    ("divergent branches", Size::Any, &["smsp__sass_branch_targets_threads_divergent"]),
    ("share of uniform branches", Size::Any, &["smsp__sass_average_branch"]),
    (
        "requests and sectors of global memory",
        Size::Any,
        &[
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.",
            "l1tex__t_requests_pipe_lsu_mem_global_op_st.",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_st.",
            "smsp__sass_average_data_bytes",
        ],
    ),
    (
        "sectors that hit in L1",
        Size::Any,
        &["l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit"],
    ),
    (
        "shared memory: accesses, wavefronts, conflicts",
        Size::Any,
        &["l1tex__data_", "smsp__inst_executed_op_shared"],
    ),
    ("L2 sectors read and written, large launches", Size::Large, &["lts__t_sectors_op"]),
    ("bytes read from DRAM, large launches", Size::Large, &["dram__bytes_read.sum"]),
    ("bytes written to DRAM, large launches", Size::Large, &["dram__bytes_write.sum"]),
    (
        "L2 and DRAM, small launches",
        Size::Small,
        &["lts__t_sectors_op", "dram__bytes_read.sum", "dram__bytes_write.sum"],
    ),
    ("warps", Size::Any, &["smsp__warps_launched"]),
    (
        "instructions of warps",
        Size::Any,
        &["smsp__inst_", "smsp__average_inst_executed", "smsp__issue_active"],
    ),
    ("instructions of lanes, average lanes", Size::Any, &["smsp__thread_inst"]),
    (
        "cycles and time",
        Size::Any,
        &["sm__cycles_elapsed", "sm__cycles_active", "smsp__cycles_active", "gpu__time"],
    ),
    (
        "rates: IPC, occupancy, bytes per second",
        Size::Any,
        &["sm__inst_executed", "sm__warps_active", "l1tex__t_bytes"],
    ),
    ("warp states, cycles per instruction", Size::Any, &["smsp__average_warps_issue_stalled"]),
];

/// Labels every feature.
pub(super) fn features(
    programs: &[ProgramRow],
    profiles: &[ProfileRow],
    generated: &[GeneratedRow],
    known: &Known,
) -> Vec<Feature> {
    let mut found =
        vec![of_programs("final memory contents", programs.iter().map(|p| (p, &p.memory)))];
    let drawn: usize = generated.iter().map(|g| g.programs).sum();
    if drawn > 0 {
        found.push(Feature {
            feature: "final memory contents of generated kernels, both modes",
            figures: drawn,
            exact: drawn,
            trust: Trust::Exact,
            worst: None,
        });
    }
    let counted = programs.iter().filter_map(|p| Some((p, p.divergence.as_ref()?)));
    found.push(of_programs("branches and blocks: executions, lanes, first side", counted));
    let mut taken: Vec<(&str, bool)> = Vec::new();
    for (feature, size, beginnings) in COUNTED {
        let is_of = |h: &&Held| beginnings.iter().any(|b| h.name.starts_with(b));
        // A counter belongs to the first feature that lists it.
        let figures: Vec<(&ProfileRow, &Held)> = profiles
            .iter()
            .flat_map(|p| p.held.iter().map(move |h| (p, h)))
            .filter(|(p, h)| {
                size.has(p) && is_of(h) && !taken.contains(&(h.name.as_str(), p.threads >= LARGE))
            })
            .collect();
        let away = |h: &Held| h.error().map_or(f64::INFINITY, f64::abs);
        let worst = figures
            .iter()
            .filter(|(_, h)| !h.is_exact())
            .max_by(|a, b| away(a.1).total_cmp(&away(b.1)));
        found.push(Feature {
            feature,
            figures: figures.len(),
            exact: figures.iter().filter(|(_, h)| h.is_exact()).count(),
            trust: Trust::of(figures.iter().map(|(_, h)| *h), known),
            worst: worst.map(|(p, h)| format!("{}, {}: {}", p.launch, h.name, error(h))),
        });
        taken.extend(figures.iter().map(|(p, h)| (h.name.as_str(), p.threads >= LARGE)));
    }
    found
}

/// Labels a feature with one result per program.
/// Programs with a known reason are counted separately, not hidden.
fn of_programs<'p>(
    feature: &'static str,
    programs: impl Iterator<Item = (&'p ProgramRow, &'p Trust)>,
) -> Feature {
    let measured: Vec<_> = programs.filter(|(_, trust)| **trust != Trust::NotMeasured).collect();
    let is_open = |trust: &Trust| matches!(trust, Trust::Differs { reason: Some(_) });
    let judged = measured.iter().filter(|(_, trust)| !is_open(trust));
    let open: Vec<&str> =
        measured.iter().filter(|(_, t)| is_open(t)).map(|(p, _)| p.program.as_str()).collect();
    Feature {
        feature,
        figures: measured.len(),
        exact: measured.iter().filter(|(_, trust)| **trust == Trust::Exact).count(),
        trust: judged.fold(Trust::NotMeasured, |worst, (_, trust)| worst.and((*trust).clone())),
        worst: (!open.is_empty())
            .then(|| format!("{} with a known reason: {}", open.len(), open.join(", "))),
    }
}

/// Formats an error: `exact`, `+0.7 %`, or `-` if there is no ratio.
pub(crate) fn error(held: &Held) -> String {
    match held.error() {
        _ if held.is_exact() => "exact".to_string(),
        Some(percent) if percent.abs() < 0.05 => format!("{percent:+.3} %"),
        Some(percent) => format!("{percent:+.1} %"),
        None => "-".to_string(),
    }
}
