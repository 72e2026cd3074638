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

/// Code that `--unseen` runs.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnseenCode {
    /// PTX, in both modes
    Ptx,
    /// Machine code
    Sass,
}

/// Comparison of a whole folder, or with a profiler's figures.
#[derive(clap::Args, Debug)]
pub(crate) struct SuiteChoice {
    /// Hold every program of a folder [default: the bundled ones], and what a profiler measured of
    /// them, against the simulator: one table, and a label for each feature of the model
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with = "files")]
    pub(crate) suite: Option<Option<PathBuf>>,
    /// Run kernels that nothing was built with [default: the bundled ones], and state the error of
    /// each metric beside what a GPU recorded; fails where an output differs
    #[arg(long, value_name = "DIR", num_args = 0..=1,
          conflicts_with_all = ["files", "suite", "ncu", "divergence", "record", "recorded"])]
    pub(crate) unseen: Option<Option<PathBuf>>,
    /// With --unseen: run only PTX or only machine code [default: both]
    #[arg(long, requires = "unseen", value_name = "CODE")]
    pub(crate) code: Option<UnseenCode>,
    /// With --unseen: print the file that labels of trust come from
    #[arg(long, requires_all = ["unseen", "code"], conflicts_with = "format")]
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
    /// With --suite: print docs/reference/validation.md, or its appendix
    /// docs/reference/validation-programs.md
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
