//! What `crosscheck` is held against beside memory: a folder of programs at once, and a profiler's report.

use std::path::PathBuf;

use super::Format;

/// A page that `--suite` makes.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValidationPage {
    /// docs/validation.md
    Summary,
    /// docs/validation-programs.md
    Programs,
}

/// The whole folder at once, and a profiler's figures.
#[derive(clap::Args, Debug)]
pub(crate) struct SuiteChoice {
    /// Hold every program of a folder [default: programs], and what a profiler measured of them, against the simulator: one table, and a
    /// label for each feature of the model
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "programs", conflicts_with = "files")]
    pub(crate) suite: Option<PathBuf>,
    /// Run kernels that nothing was built with [default: trust], and state the error of each metric beside what a GPU
    /// recorded; fails where an output differs
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "trust",
          conflicts_with_all = ["files", "suite", "ncu", "divergence", "record", "recorded"])]
    pub(crate) unseen: Option<PathBuf>,
    /// With --unseen: print the file that labels of trust come from
    #[arg(long, requires = "unseen", conflicts_with = "format")]
    pub(crate) evidence: bool,
    /// Hold each program's counters against a report of `ncu --csv` (or `--page raw --csv`) of the same launch
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "divergence", "record", "recorded"])]
    pub(crate) ncu: Option<PathBuf>,
    /// With --suite: leave out profiled launches of more than a million threads
    #[arg(long, requires = "suite")]
    pub(crate) quick: bool,
    /// With --suite: print the page docs/validation.md, or docs/validation-programs.md, its appendix
    #[arg(long, requires = "suite", conflicts_with = "format", value_name = "PAGE", num_args = 0..=1,
          default_missing_value = "summary")]
    pub(crate) page: Option<ValidationPage>,
    /// How to print the result of --suite, --unseen or --ncu
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}
