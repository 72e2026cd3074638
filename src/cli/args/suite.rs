//! What `crosscheck` is held against beside memory: a folder of programs at once, and a profiler's report.

use std::path::PathBuf;

use super::Format;

/// The whole folder at once, and a profiler's figures.
#[derive(clap::Args, Debug)]
pub(crate) struct SuiteChoice {
    /// Hold every program of a folder [default: programs], and what a profiler measured of them, against the simulator: one table, and a
    /// label for each feature of the model
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "programs", conflicts_with = "files")]
    pub(crate) suite: Option<PathBuf>,
    /// Hold each program's counters against a report of `ncu --csv` (or `--page raw --csv`) of the same launch
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "divergence", "record", "recorded"])]
    pub(crate) ncu: Option<PathBuf>,
    /// With --suite: leave out profiled launches of more than a million threads
    #[arg(long, requires = "suite")]
    pub(crate) quick: bool,
    /// With --suite: print the page docs/validation.md
    #[arg(long, requires = "suite", conflicts_with = "format")]
    pub(crate) page: bool,
    /// How to print the result of --suite or --ncu
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}
