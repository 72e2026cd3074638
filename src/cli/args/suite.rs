//! Arguments of `crosscheck` for a whole folder and for a profiler's report.

use std::path::PathBuf;

use super::Format;

/// Page that `--suite` prints.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValidationPage {
    /// docs/reference/validation.md
    Summary,
    /// docs/reference/validation-programs.md
    Programs,
}

/// Comparison of a whole folder, or with a profiler's figures.
#[derive(clap::Args, Debug)]
pub(crate) struct SuiteChoice {
    /// Compare every program of a folder [default: programs] and its profiler figures: print one
    /// table, and a label for each feature of the model
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        default_missing_value = "programs",
        conflicts_with = "files"
    )]
    pub(crate) suite: Option<PathBuf>,
    /// Run unseen kernels [default: trust] and print the error of each metric against a recorded
    /// GPU; fail if an output differs
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "trust",
          conflicts_with_all = ["files", "suite", "ncu", "divergence", "record", "recorded"])]
    pub(crate) unseen: Option<PathBuf>,
    /// With --unseen: print the file that the labels of trust come from
    #[arg(long, requires = "unseen", conflicts_with = "format")]
    pub(crate) evidence: bool,
    /// Compare each program's counters with an `ncu --csv` report of the same launch
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["suite", "divergence", "record", "recorded"]
    )]
    pub(crate) ncu: Option<PathBuf>,
    /// With --suite: skip profiled launches of more than a million threads
    #[arg(long, requires = "suite")]
    pub(crate) quick: bool,
    /// With --suite: print docs/reference/validation.md, or its appendix docs/reference/validation-programs.md
    #[arg(
        long,
        requires = "suite",
        conflicts_with = "format",
        value_name = "PAGE",
        num_args = 0..=1,
        default_missing_value = "summary"
    )]
    pub(crate) page: Option<ValidationPage>,
    /// Choose the format of --suite, --unseen or --ncu
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}
