//! Arguments of `grade`.

use std::path::PathBuf;

use clap::ValueEnum;

/// Grades a submission, or a folder of them, by an assignment (docs/grading.md). Each submission runs in a process of its own with
/// limits on time, memory and output. Exit codes: 0 all points (or, with --format gradescope or --all, graded); 1 points are missing;
/// 2 the assignment or an argument is wrong.
#[derive(clap::Args, Debug)]
pub(crate) struct GradeArgs {
    /// The assignment: a folder with assignment.ron
    pub(crate) assignment: PathBuf,
    /// The submission: an .ir, .ptx or .cu file, or a folder with one and perhaps answers.ron
    #[arg(required_unless_present_any = ["all", "list"])]
    pub(crate) submission: Option<PathBuf>,
    /// Grade every submission in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["submission", "only"])]
    pub(crate) all: Option<PathBuf>,
    /// List the criteria
    #[arg(long, conflicts_with_all = ["submission", "all"])]
    pub(crate) list: bool,
    /// Judge by this criterion alone; the exit code is its own
    #[arg(long, value_name = "ID")]
    pub(crate) only: Option<String>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = GradeFormat::Table)]
    pub(crate) format: GradeFormat,
    /// Write the result to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// With --all: write a table of all points
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(crate) csv: Option<PathBuf>,
    /// Show what happened on hidden inputs: for lecturers (Gradescope: a test that only staff sees)
    #[arg(long)]
    pub(crate) show_hidden: bool,
    /// Submissions graded at a time [default: all cores]
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// What the process of one submission does: run it within these cycles, a limit for each run, and print figures
    #[arg(long, hide = true, value_name = "CYCLES", value_delimiter = ',', num_args = 0..=1, require_equals = true)]
    pub(crate) measure: Option<Vec<u64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GradeFormat {
    /// A report to read; with --all, a line for each submission
    Table,
    /// JSON (simt-sim/grade/1); with --all, a list
    Json,
    /// Gradescope's results.json
    Gradescope,
    /// What GitHub Classroom's reporter takes, before base64
    Classroom,
    /// JUnit XML
    Junit,
    /// Markdown
    Md,
}
