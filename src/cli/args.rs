//! What can be typed.

mod calibrate;
mod checks;
mod export;
mod grade;
mod limit;
mod new;
mod page;
mod plot;
mod quiz;
mod runs;
mod step;
mod suite;
mod sweep;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use calibrate::CalibrateArgs;
pub(crate) use checks::{ChecksChoice, RunningChoice};
pub(crate) use export::{ExportArgs, ExportFormat};
pub(crate) use grade::{GradeArgs, GradeFormat};
pub(crate) use limit::LimitChoice;
pub(crate) use new::{NewArgs, NewKind};
pub(crate) use page::PageChoice;
pub(crate) use plot::{PictureFile, PlotArgs};
pub(crate) use quiz::QuizArgs;
pub(crate) use runs::RunsChoice;
pub(crate) use step::StepArgs;
pub(crate) use suite::{SuiteChoice, ValidationPage};
pub(crate) use sweep::SweepArgs;

/// A cycle-level SIMT warp simulator: see which lanes worked, when, and why a warp waited.
#[derive(Parser, Debug)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 ok; 1 an expectation failed; 2 usage, parse or I/O \
error; 3 deadlock or livelock proved; 4 cycle limit reached; 5 the program faulted; 6 nothing to compare with; 7 a check found \
an error."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a kernel and report what its warps did
    Run(RunArgs),
    /// Draw what each lane of a warp did, issue by issue
    Timeline(TimelineArgs),
    /// Step through a run in the terminal, forward and back
    Step(StepArgs),
    /// Compare two programs, modes, machines or settings: every counter, and where the issue streams part
    Compare(CompareArgs),
    /// Draw a picture of a run, as SVG or PNG
    Plot(PlotArgs),
    /// Write a run for another tool: Perfetto, Konata, a text trace, CSV
    Export(ExportArgs),
    /// Run a program once for each combination of values: a table, a file of results, a picture
    Sweep(SweepArgs),
    /// Check programs: errors, warnings, which kernels can run; with --run also what goes wrong in a run
    #[command(
        after_help = "A kernel is judged by what it reaches: its own text, the functions it may call, the variables \
it names.\nExit codes: 0 no error; 2 an error in a file (with --kernel: in what that kernel reaches); with --run else \
as `run`."
    )]
    Check(CheckArgs),
    /// Grade submissions by an assignment: what was measured, what was wanted, points
    Grade(GradeArgs),
    /// Make a program or an assignment to start from
    New(NewArgs),
    /// Hold the simulator against a GPU, or against what one did earlier
    Crosscheck(CrosscheckArgs),
    /// Measure a machine's parameters, on the simulator and on a GPU
    Calibrate(CalibrateArgs),
    /// Draw a kernel's control-flow graph with immediate post-dominators
    Cfg(CfgArgs),
    /// Print a program as canonical, complete PTX
    Print(PrintArgs),
    /// Ask a question about divergence; it is answered by experiment
    Ask(AskArgs),
    /// Predict a number, then see it measured: questions on divergence, or those of an assignment
    Quiz(QuizArgs),
    /// Explain a code, metric, warp state or outcome, with the numbers of a run
    Explain(ExplainArgs),
    /// List every metric: name, Nsight Compute name, unit, formula
    Metrics,
    /// List every instruction form
    Isa,
    /// List the machines, or print one's file
    Machine(MachineArgs),
    /// Print a script that completes simt-sim's arguments in a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
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
    /// The machine instructions that PTX becomes on the machine, short branches predicated
    Hardware,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A report to read
    Table,
    /// JSON, tagged with its schema
    Json,
}

#[derive(clap::Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) program: ProgramChoice,
    /// Host threads to simulate SMs on [default: all]; figures do not depend on it
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Print only these metrics, comma-separated, by nvprof or Nsight Compute name
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// Print the source instead, with what each line cost: of a .ptx that names its .cu lines, those
    #[arg(long, conflicts_with_all = ["metrics", "format", "quiet"])]
    pub(crate) annotate: bool,
    /// Draw a picture of the run, too: `simt-sim plot` lists the kinds; FILE ends in .svg or .png
    #[arg(long, value_name = "KIND=FILE", value_parser = PictureFile::parse)]
    pub(crate) plot: Vec<PictureFile>,
    #[command(flatten)]
    pub(crate) checks: ChecksChoice,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Print nothing but errors; the exit code tells
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) page: PageChoice,
}

/// Which part of a run to look at. Only the SM that runs the block is simulated, and no longer than needed.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct WindowChoice {
    /// The warps of the block: one, a range as in 0..3 (the first three), or all
    #[arg(long, value_name = "RANGE")]
    pub(crate) warp: Option<String>,
    /// The block, by its linear index in the grid
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) block_id: u32,
    /// The first cycle
    #[arg(long, value_name = "CYCLE", default_value_t = 0)]
    pub(crate) from: u64,
    /// The cycle at which to stop
    #[arg(long, value_name = "CYCLE")]
    pub(crate) to: Option<u64>,
    /// The most issues of a warp; 0 = no limit [default: 200; of a page more, when it has few warps]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AxisArg {
    /// Issues, one after the other
    Issue,
    /// Cycles: with the waits in between
    Cycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Data {
    /// Comma-separated values with a line of names
    Csv,
}

#[derive(clap::Args, Debug)]
pub(crate) struct TimelineArgs {
    #[command(flatten)]
    pub(crate) program: ProgramChoice,
    #[command(flatten)]
    pub(crate) window: WindowChoice,
    /// What a row stands for
    #[arg(long, value_enum, default_value_t = AxisArg::Issue)]
    pub(crate) axis: AxisArg,
    /// A row for each lane, a column for each issue
    #[arg(long)]
    pub(crate) lanes: bool,
    /// Columns of the page [default: the terminal's]
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) width: Option<usize>,
    /// Print the data instead of the map
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) data: Option<Data>,
}

/// A program, and how to run it.
#[derive(clap::Args, Debug)]
pub(crate) struct ProgramChoice {
    /// The program: an .ir or .ptx file
    pub(crate) file: PathBuf,
    /// The kernel to run, when the file has several
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
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
    /// Host threads to simulate SMs on [default: all]; figures do not depend on it
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) page: PageChoice,
}

/// Which machine, in which mode.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct MachineChoice {
    /// How warps diverge; without --machine, picks fermi or h200
    #[arg(long, value_enum)]
    pub(crate) mode: Option<ModeArg>,
    /// A preset (`simt-sim machine` lists them) or a machine file
    #[arg(long, value_name = "NAME|FILE.ron")]
    pub(crate) machine: Option<String>,
    /// Which side of a divergent branch runs first: fewer, more, taken, fall-through, random:SEED [default: the machine's]
    #[arg(long, visible_alias = "side-order", value_name = "ORDER")]
    pub(crate) its_order: Option<String>,
    /// Lanes a warp, 2 to 32 [default: the machine's]
    #[arg(long, value_name = "N")]
    pub(crate) warp_size: Option<u32>,
    /// What is issued for an instruction [default: the machine's; hardware on all but teaching]
    #[arg(long, value_enum)]
    pub(crate) lowering: Option<LoweringArg>,
    /// Place no YIELD in spin loops (volta mode): shows that progress comes from the compiler
    #[arg(long)]
    pub(crate) no_yield: bool,
    /// Several modes are compared: without --machine one machine runs them all, whatever its own mode.
    #[arg(skip)]
    pub(crate) compares_modes: bool,
}

/// What the program's directives say, overridden.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct LaunchChoice {
    /// Change a named constant of the program, e.g. --set n=65536
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Blocks: X, X,Y or X,Y,Z
    #[arg(long, value_name = "X,Y,Z")]
    pub(crate) grid: Option<String>,
    /// Threads a block: X, X,Y or X,Y,Z
    #[arg(long, value_name = "X,Y,Z")]
    pub(crate) block: Option<String>,
    /// Let contents of buffers and expected values take this much of the computer's memory [default: 2]
    #[arg(long, value_name = "GIB")]
    pub(crate) max_memory: Option<u64>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct CheckArgs {
    /// The programs
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print only errors and warnings
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) running: RunningChoice,
}

/// Runs each program on the simulator and on the GPU and compares every buffer that it writes: bit by bit, or within the
/// widest tolerance among the rows of the instruction set that it uses (`simt-sim isa`, "agrees"). Without a GPU it compares
/// with recorded observations. Exit codes: 0 all agree; 1 something differs; 2 usage or a refusal of the driver; 3 the GPU
/// did not end in time (the remaining programs are left out); 6 no GPU and no fresh observation.
#[derive(clap::Args, Debug)]
pub(crate) struct CrosscheckArgs {
    /// The programs
    #[arg(required_unless_present_any = ["suite", "unseen"])]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) suite: SuiteChoice,
    /// The kernel to run, when a file has several
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    /// Write what the GPU did to DIR/FILE.ron
    #[arg(long, value_name = "DIR", conflicts_with = "recorded")]
    pub(crate) record: Option<PathBuf>,
    /// Compare with DIR/FILE.ron, and run nothing on a GPU [default without a GPU: tests/observations/h200]
    #[arg(long, value_name = "DIR")]
    pub(crate) recorded: Option<PathBuf>,
    /// The day to write into observations [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: Option<String>,
    /// Seconds that a kernel may take on the GPU
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(crate) timeout: u64,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
    /// Tell how many units in the last place the float buffers are apart at most
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Count divergence instead: of every branch its executions, lanes and which side ran first, by the simulator, by probes in
    /// the program's text, and by the same probes on the GPU
    #[arg(long)]
    pub(crate) divergence: bool,
    /// With --divergence: print the blocks and branches that this warp of the grid passed, in order
    #[arg(long, value_name = "WARP", requires = "divergence")]
    pub(crate) trace: Option<u32>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct CfgArgs {
    /// The program
    pub(crate) file: PathBuf,
    /// The kernel, when the file has several
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Graphviz text (the default)
    #[arg(long)]
    pub(crate) dot: bool,
    /// A picture
    #[arg(long, conflicts_with = "dot")]
    pub(crate) svg: bool,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct PrintArgs {
    /// The program
    pub(crate) file: PathBuf,
    /// With the probes that count divergence, for warps of 32 lanes
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
    /// The question; without one, all that can be asked are listed
    pub(crate) name: Option<String>,
    /// Answer every question
    #[arg(long, conflicts_with_all = ["name", "source"])]
    pub(crate) all: bool,
    /// List the questions (the default without NAME)
    #[arg(long, conflicts_with_all = ["name", "all", "source"])]
    pub(crate) list: bool,
    /// Hold the claims of books and forums against runs and a real GPU, as a page of Markdown
    #[arg(long, conflicts_with_all = ["name", "all", "list", "source", "format"])]
    pub(crate) seeds: bool,
    /// Print the programs that the experiment runs instead of its answer
    #[arg(long, requires = "name")]
    pub(crate) source: bool,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(clap::Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(clap::Args, Debug)]
pub(crate) struct ManArgs {
    /// Write simt-sim.1 and a page for each command into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Explains what a run, a report or an error mentions: diagnostic codes, metrics under any of their names, warp states,
/// verdicts, exit codes, lane states.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The name, e.g. unknown-name, branch_efficiency, long_scoreboard, deadlock; without one, all are listed
    pub(crate) name: Option<String>,
    /// List every name (the default without NAME)
    #[arg(long, conflicts_with_all = ["name", "run"])]
    pub(crate) list: bool,
    /// Run this program, and put its numbers into the formula
    #[arg(long, value_name = "FILE", requires = "name")]
    pub(crate) run: Option<PathBuf>,
    /// The kernel to run, when the file has several
    #[arg(long, value_name = "NAME", requires = "run")]
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
}
