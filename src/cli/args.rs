//! Command-line arguments.

mod array;
mod calibrate;
mod checks;
mod crosscheck;
mod exec;
mod export;
mod grade;
mod limit;
mod new;
mod page;
mod plot;
mod quiz;
mod runs;
mod sass;
mod step;
mod suite;
mod sweep;
mod timeline;
mod timing;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use plot::text_file;

pub(crate) use array::ArrayChoice;
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use checks::{ChecksChoice, RunningChoice};
pub(crate) use crosscheck::CrosscheckArgs;
pub(crate) use exec::ExecArgs;
pub(crate) use export::{ExportArgs, ExportFormat};
pub(crate) use grade::{GradeArgs, GradeFormat};
pub(crate) use limit::LimitChoice;
pub(crate) use new::{NewArgs, NewKind};
pub(crate) use page::PageChoice;
pub(crate) use plot::{PictureFile, PlotArgs, PlotFormat};
pub(crate) use quiz::QuizArgs;
pub(crate) use runs::RunsChoice;
pub(crate) use sass::{ImportArgs, SassChoice};
pub(crate) use step::StepArgs;
pub(crate) use suite::{SuiteChoice, UnseenCode, ValidationPage};
pub(crate) use sweep::SweepArgs;
pub(crate) use timeline::{AxisArg, TimelineArgs, WindowChoice};
pub(crate) use timing::TimingArg;

/// Simulate SIMT warps cycle by cycle: which lanes work, when, and why a warp waits.
#[derive(Parser, Debug)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 ok; 1 an expectation failed; 2 usage, parse or I/O error; \
3 deadlock or livelock proved; 4 cycle limit reached; 5 the program faulted; \
6 nothing to compare with; 7 a check found an error."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Commands. Those without a description here have a longer one at their arguments.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a kernel and report its divergence, stalls and memory traffic
    Run(RunArgs),
    /// Print a lane map: each lane of a warp, issue by issue
    Timeline(TimelineArgs),
    Step(StepArgs),
    /// Compare two programs, modes, machines or settings counter by counter
    Compare(CompareArgs),
    Plot(PlotArgs),
    /// Write a run for Perfetto or Konata, or as a text trace
    Export(ExportArgs),
    Sweep(SweepArgs),
    Exec(ExecArgs),
    /// Check programs for errors and warnings; with --run, check a run for races and hangs
    #[command(
        after_help = "A kernel is judged by the code it can reach: its own text, the functions \
it may call, the variables it names.\nExit codes: 0 no error; 2 an error in a file (with --kernel: \
in code that the kernel can reach); otherwise, with --run, those of `run`."
    )]
    Check(CheckArgs),
    Grade(GradeArgs),
    New(NewArgs),
    Crosscheck(CrosscheckArgs),
    Calibrate(CalibrateArgs),
    Import(ImportArgs),
    /// Draw a kernel's control-flow graph with immediate post-dominators
    Cfg(CfgArgs),
    /// Print a program as complete PTX in canonical form
    Print(PrintArgs),
    /// Answer a question about divergence by experiment
    Ask(AskArgs),
    Quiz(QuizArgs),
    Explain(ExplainArgs),
    /// List every metric: name, Nsight Compute name, unit, formula
    Metrics,
    /// List every instruction form
    Isa,
    /// List the machines, or print one's file
    Machine(MachineArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(ManArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Reconvergence stack (Tesla to Pascal)
    PreVolta,
    /// Independent thread scheduling (Volta on)
    Volta,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoweringArg {
    /// One issue for each PTX instruction, branches as written
    AsWritten,
    /// The machine instructions that PTX compiles to, with short branches predicated
    Hardware,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A report
    #[value(name = "text")]
    Table,
    /// JSON, tagged with its schema
    Json,
}

/// Formats of a result that has rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// Text for the terminal
    Text,
    /// Comma-separated values with a header line
    Csv,
}

#[derive(clap::Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) program: ProgramChoice,
    /// Simulate SMs on N host threads [default: 0, all]; figures depend on N only where blocks race
    /// through plain loads and stores
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Model time, or count only [default: cycles]
    #[arg(long, value_enum)]
    pub(crate) timing: Option<TimingArg>,
    /// Print only these metrics, comma-separated, by nvprof or Nsight Compute name
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// Print the source with the cost of each line: CUDA lines if the PTX has `.loc`
    #[arg(long, conflicts_with_all = ["metrics", "format", "quiet"])]
    pub(crate) annotate: bool,
    /// Also draw the run: KIND as in `simt-sim plot`, FILE ending in .svg or .png
    #[arg(long, value_name = "KIND=FILE", value_parser = PictureFile::parse)]
    pub(crate) plot: Vec<PictureFile>,
    #[command(flatten)]
    pub(crate) checks: ChecksChoice,
    /// Print elements or a number after the run: out[0..16], sum(out), hash(out)
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = ["format", "output"])]
    pub(crate) show: Vec<String>,
    /// Write a buffer to FILE after the run: .npy, .txt, or raw bytes
    #[arg(long, value_name = "BUFFER=FILE", value_parser = SavedBuffer::parse)]
    pub(crate) save: Vec<SavedBuffer>,
    /// Choose the format of the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Write the result to FILE instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
    /// Print no report and no warnings; --format json still prints its JSON
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) page: PageChoice,
}

/// `--save BUFFER=FILE`
#[derive(Clone, Debug)]
pub(crate) struct SavedBuffer {
    pub(crate) buffer: String,
    pub(crate) file: PathBuf,
}

impl SavedBuffer {
    fn parse(text: &str) -> Result<SavedBuffer, String> {
        match text.split_once('=') {
            Some((buffer, file)) if !buffer.is_empty() && !file.is_empty() => {
                Ok(SavedBuffer { buffer: buffer.trim().to_owned(), file: file.into() })
            }
            _ => Err("write BUFFER=FILE, as in out=sum.npy".to_owned()),
        }
    }
}

/// A program, and how to run it.
#[derive(clap::Args, Debug)]
pub(crate) struct ProgramChoice {
    /// The program: an .ir, .ptx, .sass, .cubin or .cu file, or - for standard input
    pub(crate) file: PathBuf,
    /// Choose the kernel of a file that has several
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) sass: SassChoice,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
}

#[derive(clap::Args, Debug)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) runs: RunsChoice,
    /// Model time, or count only [default: cycles]
    #[arg(long, value_enum)]
    pub(crate) timing: Option<TimingArg>,
    /// Simulate SMs on N host threads [default: 0, all]; figures depend on N only where blocks race
    /// through plain loads and stores
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Choose the format of the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Write the result to FILE instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
    /// Print no report; --format json still prints its JSON
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) page: PageChoice,
}

/// Machine and mode of a run.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct MachineChoice {
    /// Choose how warps diverge; without --machine, pre-volta runs on fermi and volta on h200
    #[arg(long, value_enum)]
    pub(crate) mode: Option<ModeArg>,
    /// Run on a preset (`simt-sim machine` lists them) or on a machine file
    #[arg(long, value_name = "NAME|FILE.ron")]
    pub(crate) machine: Option<String>,
    /// Choose the side of a divergent branch that runs first: fewer, more, taken, fall-through,
    /// random:SEED [default: the machine's]
    #[arg(long, visible_alias = "side-order", value_name = "ORDER")]
    pub(crate) its_order: Option<String>,
    /// Set the lanes of a warp, 2 to 32 [default: the machine's]
    #[arg(long, value_name = "N")]
    pub(crate) warp_size: Option<u32>,
    /// Choose the instruction lowering [default: the machine's; hardware on all but teaching]
    #[arg(long, value_enum)]
    pub(crate) lowering: Option<LoweringArg>,
    /// Omit YIELD from spin loops (volta mode) to see runs without the compiler's help
    #[arg(long)]
    pub(crate) no_yield: bool,
    /// True if modes are compared: without --machine, one machine runs all of them.
    #[arg(skip)]
    pub(crate) compares_modes: bool,
    /// Fields of the machine file with the values that a sweep gives them.
    #[arg(skip)]
    pub(crate) fields: Vec<(String, String)>,
}

/// Overrides of the program's directives.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct LaunchChoice {
    /// Change a named constant of the program, as in --set n=65536
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Set the grid in blocks: X, X,Y or X,Y,Z
    #[arg(long, allow_negative_numbers = true, value_name = "X,Y,Z")]
    pub(crate) grid: Option<String>,
    /// Set the block in threads: X, X,Y or X,Y,Z
    #[arg(long, allow_negative_numbers = true, value_name = "X,Y,Z")]
    pub(crate) block: Option<String>,
    /// Limit the host memory for buffers and expected values [default: 2]
    #[arg(long, value_name = "GIB")]
    pub(crate) max_memory: Option<u64>,
    /// Choose a launch of a program that has several, from 1; those before it run first
    #[arg(long = "launch", value_name = "N")]
    pub(crate) number: Option<usize>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct CheckArgs {
    /// The programs: .ir, .ptx, .sass, .cubin or .cu files, or - for standard input
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sass: SassChoice,
    /// Print only errors and warnings
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) running: RunningChoice,
}

#[derive(clap::Args, Debug)]
pub(crate) struct CfgArgs {
    /// The program: an .ir, .ptx, .sass, .cubin or .cu file, or - for standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) sass: SassChoice,
    /// Choose the kernel of a file that has several
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Write Graphviz text [default, unless --output ends in .svg]
    #[arg(long)]
    pub(crate) dot: bool,
    /// Write an SVG picture
    #[arg(long, conflicts_with = "dot")]
    pub(crate) svg: bool,
    /// Write the graph to FILE instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct PrintArgs {
    /// The program: an .ir or .ptx file, or - for standard input
    pub(crate) file: PathBuf,
    /// Insert the probes that count divergence, for warps of 32 lanes
    #[arg(long)]
    pub(crate) probes: bool,
}

#[derive(clap::Args, Debug)]
pub(crate) struct MachineArgs {
    /// The machine whose file to print
    pub(crate) name: Option<String>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct AskArgs {
    /// The name of a question, or words to search for [default: list all questions]
    pub(crate) name: Vec<String>,
    /// Answer every question
    #[arg(long, conflicts_with_all = ["name", "source"])]
    pub(crate) all: bool,
    /// List the questions (the default without NAME)
    #[arg(long, conflicts_with_all = ["name", "all", "source"])]
    pub(crate) list: bool,
    /// Check claims of books and forums against runs and a GPU; print a page of Markdown
    #[arg(long, conflicts_with_all = ["name", "all", "list", "source", "format"])]
    pub(crate) seeds: bool,
    /// Print the programs of the experiment instead of its answer
    #[arg(long, requires = "name")]
    pub(crate) source: bool,
    /// Choose the format of the answer
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Write the answer to FILE instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(clap::Args, Debug)]
pub(crate) struct ManArgs {
    /// Write simt-sim.1 and a page for each command to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Explain a diagnostic code, metric, warp state or outcome
///
/// Explain a name that a report or an error mentions: diagnostic codes, metrics under any of their
/// names, warp states, verdicts, exit codes, lane states. Other words search all pages.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    /// A name, as in branch_efficiency or deadlock, or words to search for [default: list all
    /// names]
    pub(crate) name: Vec<String>,
    /// List every name (the default without NAME)
    #[arg(long, conflicts_with_all = ["name", "run"])]
    pub(crate) list: bool,
    /// Run this program and show the formula with its figures
    #[arg(long, value_name = "FILE", requires = "name")]
    pub(crate) run: Option<PathBuf>,
    /// Choose the kernel of a file that has several
    #[arg(long, value_name = "NAME", requires = "run")]
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
}
