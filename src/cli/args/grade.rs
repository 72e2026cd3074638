//! Arguments of `grade`.

use std::path::PathBuf;

use clap::ValueEnum;
use simt_teach::grade::RunLimit;
use simt_teach::sweep::Shard;

use super::ArrayChoice;
use super::plot::text_file;

/// Grade submissions against an assignment
///
/// Grade a submission, or a folder of them, against an assignment (docs/grading.md). Each
/// submission runs in its own process with limits on time, memory and output. Exit codes: 0 all
/// points (with --format gradescope, --format classroom or --all: graded); 1 points are missing; 2
/// the assignment or an argument is wrong.
#[derive(clap::Args, Debug)]
pub(crate) struct GradeArgs {
    /// The assignment: a folder with assignment.ron
    pub(crate) assignment: PathBuf,
    /// The submission: an .ir, .ptx or .cu file, or a folder with one (and answers.ron)
    #[arg(required_unless_present_any = ["all", "list"])]
    pub(crate) submission: Option<PathBuf>,
    /// Grade every submission in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["submission", "only"])]
    pub(crate) all: Option<PathBuf>,
    /// List the criteria
    #[arg(long, conflicts_with_all = ["submission", "all"])]
    pub(crate) list: bool,
    /// Grade only this criterion; the exit code is that of the criterion
    #[arg(long, value_name = "ID")]
    pub(crate) only: Option<String>,
    /// Choose the format of the result
    #[arg(long, value_enum, default_value_t = GradeFormat::Text)]
    pub(crate) format: GradeFormat,
    /// Write the result to FILE instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
    /// Show results on hidden inputs, for lecturers (Gradescope: a test visible to staff only)
    #[arg(long)]
    pub(crate) show_hidden: bool,
    /// Grade N submissions at a time [default: all cores]
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// With --all: record every measurement in FILE, one line of JSON each, and measure only what
    /// FILE lacks
    #[arg(long, value_name = "FILE.jsonl", requires = "all")]
    pub(crate) results: Option<PathBuf>,
    /// With --all: grade only part I of N equal parts, 1 to N, for jobs of an array with separate
    /// --results
    #[arg(long, value_name = "I/N", requires = "all", conflicts_with = "merge")]
    pub(crate) shard: Option<Shard>,
    /// With --all: grade by the results of these files (put into --results, if given); measure no
    /// submission
    #[arg(long, value_name = "FILE.jsonl", num_args = 1.., requires = "all")]
    pub(crate) merge: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) array: ArrayChoice,
    /// Measure one submission within these cycles and issues, one limit for each run (used by the
    /// grader itself)
    #[arg(
        long,
        hide = true,
        value_name = "CYCLES:ISSUES",
        value_delimiter = ',',
        num_args = 0..=1,
        require_equals = true
    )]
    pub(crate) measure: Option<Vec<RunLimit>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GradeFormat {
    /// A report; with --all, a line for each submission
    Text,
    /// Comma-separated values with a header line: a row for each submission
    Csv,
    /// JSON (simt-sim/grade/1); with --all, a list
    Json,
    /// Gradescope's results.json
    Gradescope,
    /// The JSON of GitHub Classroom's reporter, before base64
    Classroom,
    /// JUnit XML
    Junit,
    /// Markdown
    Md,
}
