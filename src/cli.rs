//! Command line: arguments, files, the terminal and exit codes. Everything else is in the library.
//!
//! `args` defines the arguments; each subcommand has a file that turns them into library calls.

mod args;

mod array;
mod ask;
mod buffers;
mod calibrate;
mod cfg;
mod check;
mod checks;
mod compare;
mod compile;
mod crosscheck;
mod data;
mod date;
mod exec;
mod explain;
mod export;
mod fields;
mod grade;
mod help;
mod import;
mod job;
mod list;
mod new;
mod numbers;
mod output;
mod page;
mod plot;
mod progress;
mod quiz;
mod reading;
mod results;
mod run;
mod runs;
mod search;
mod shell;
mod source;
mod step;
mod sweep;
mod timeline;
mod typed;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Args, Command};
use simt_teach::grade::plain;

/// Longest message, in bytes.
const MOST_MESSAGE: usize = 16 << 10;

/// Exit codes, as in `--help` and in the README.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded and all expectations hold.
    Ok = 0,
    /// The program finished, but an expectation failed.
    ExpectationFailed = 1,
    /// Wrong usage, a program with errors, or a file that cannot be read or written.
    Usage = 2,
    /// A deadlock or livelock was proved.
    Hang = 3,
    /// The cycle limit was reached.
    CycleLimit = 4,
    /// The program faulted.
    Fault = 5,
    /// Neither a GPU nor a matching observation is available.
    NothingToCompare = 6,
    /// The program finished, but a check found an error.
    CheckFound = 7,
}

/// Complete error message, with help, of a process that ends with [`Exit::Usage`].
pub(crate) struct Failure(pub String);

impl Failure {
    /// Creates a failure without a place in a source text.
    pub(crate) fn new(message: impl std::fmt::Display) -> Failure {
        // The message may quote arguments and file names, whose escapes must not reach a terminal.
        Failure(format!("error: {}\n", plain(&message.to_string(), MOST_MESSAGE)))
    }
}

/// Parses the arguments, runs the command, returns the exit code.
pub(crate) fn main() -> ExitCode {
    // clap prints usage errors itself and exits with 2, after help and version with 0.
    let typed = typed::lists(std::env::args_os());
    let command = help::grouped(numbers::read(Args::command()));
    let matches = command.try_get_matches_from(&typed);
    let matches =
        matches.unwrap_or_else(|e| typed::with_tip(e, typed.get(1).map(AsRef::as_ref)).exit());
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    let done = match &args.command {
        Command::Exec(a) => return exec::exec(a).unwrap_or_else(|failure| fail(&failure)),
        Command::Run(a) => run::run(a),
        Command::Timeline(a) => timeline::timeline(a),
        Command::Step(a) => step::step(a),
        Command::Compare(a) => compare::compare(a),
        Command::Plot(a) => plot::plot(a),
        Command::Export(a) => export::export(a),
        Command::Sweep(a) => sweep::sweep(a),
        Command::Check(a) => check::check(a),
        Command::Grade(a) => grade::grade(a),
        Command::New(a) => new::new(a),
        Command::Crosscheck(a) => crosscheck::crosscheck(a),
        Command::Import(a) => import::import(a),
        Command::Cfg(a) => cfg::cfg(a),
        Command::Print(a) => list::print(a),
        Command::Calibrate(a) => calibrate::calibrate(a),
        Command::Ask(a) => ask::ask(a),
        Command::Quiz(a) => quiz::quiz(a),
        Command::Completions(a) => shell::completions(a),
        Command::Man(a) => shell::man(a),
        Command::Explain(a) => explain::explain(a),
        Command::Metrics => list::metrics(),
        Command::Isa => list::isa(),
        Command::Machine(a) => list::machine(a),
    };
    match done {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(failure) => fail(&failure),
    }
}

fn fail(Failure(text): &Failure) -> ExitCode {
    output::error(text);
    ExitCode::from(Exit::Usage as u8)
}
