//! The file of an assignment, `assignment.ron`: cases, criteria, leaderboard and limits.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::rules::Criterion;
use simt_core::spec::Mode;

/// Contents of `assignment.ron`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Title.
    pub title: String,
    /// Name of the submitted kernel. A submission with only one kernel may use another name.
    pub kernel: String,
    /// File with the task.
    #[serde(default = "statement")]
    pub statement: String,
    /// File that students start from.
    pub starter: String,
    /// File with the solution. Its directives are the assignment's.
    pub reference: String,
    /// File that [`Than::Baseline`](super::super::Than::Baseline) refers to [default: the starter].
    #[serde(default)]
    pub baseline: Option<String>,
    /// Machines: preset, optional mode (`:pre-volta`, `:volta`), optional warp size (`:32`).
    #[serde(default = "machines")]
    pub machines: Vec<String>,
    /// Inputs and launches.
    pub cases: Vec<Case>,
    /// Constants that a submission may choose, with the allowed values.
    #[serde(default)]
    pub choices: BTreeMap<String, Vec<i64>>,
    /// Criteria.
    pub criteria: Vec<Criterion>,
    /// Leaderboard entries.
    #[serde(default)]
    pub leaderboard: Vec<LeaderboardEntry>,
    /// Limits of a submission.
    #[serde(default)]
    pub limits: Limits,
}

fn statement() -> String {
    "statement.md".to_owned()
}

fn machines() -> Vec<String> {
    [Mode::PreVolta, Mode::Volta].map(|mode| mode.default_machine().to_owned()).to_vec()
}

/// One launch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name, visible to students.
    pub name: String,
    /// Changed constants of the reference's directives.
    #[serde(default)]
    pub set: BTreeMap<String, i64>,
    /// Grid, if not set by the directives.
    #[serde(default)]
    pub grid: Option<[u32; 3]>,
    /// Block, if not set by the directives.
    #[serde(default)]
    pub block: Option<[u32; 3]>,
    /// Machines it runs on [default: all].
    #[serde(default)]
    pub machines: Vec<String>,
    /// True if students learn only its name and whether it passes.
    #[serde(default)]
    pub hidden: bool,
}

/// A leaderboard figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaderboardEntry {
    /// Column name.
    pub name: String,
    /// Metric.
    pub metric: String,
    /// Case.
    pub case: String,
    /// Machine.
    pub machine: String,
    /// True if more is better.
    #[serde(default)]
    pub more_is_better: bool,
}

/// Limits of a submission.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Cycles of one run.
    pub cycles: u64,
    /// Cycles of one run as a multiple of the reference's (at least 1,000).
    pub times_reference: u64,
    /// Seconds for all runs: the last resort, because it depends on the host.
    pub seconds: u64,
    /// Host memory in MiB.
    pub memory_mib: u64,
    /// KiB of each thread's stack: ends infinite recursion.
    pub stack_kib: u32,
    /// KiB of a submitted file.
    pub file_kib: u64,
    /// KiB of text that a submission can add to a report.
    pub output_kib: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            cycles: 20_000_000,
            times_reference: 20,
            seconds: 60,
            memory_mib: 512,
            stack_kib: 4,
            file_kib: 512,
            output_kib: 64,
        }
    }
}
