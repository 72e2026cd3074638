//! What is typed, what is run, what is printed, and the exit code. Everything else is the library's.
//!
//! `args` is what was typed; each subcommand has a file that turns it into library calls.

mod args;

mod ask;
mod calibrate;
mod cfg;
mod check;
mod checks;
mod compare;
mod crosscheck;
mod explain;
mod export;
mod grade;
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
mod run;
mod runs;
mod shell;
mod source;
mod step;
mod sweep;
mod timeline;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Args, Command};
use simt_teach::grade::plain;

/// Bytes of a message.
const MOST_MESSAGE: usize = 16 << 10;

/// How the process ends. The numbers are documented in `--help` and in the README.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything asked for was done, and everything expected came out.
    Ok = 0,
    /// The program ran to its end, but an expectation failed.
    ExpectationFailed = 1,
    /// Wrong usage, a program that does not pass the checks, or a file that cannot be read or written.
    Usage = 2,
    /// The program hangs, and that is proved.
    Hang = 3,
    /// The cycle limit was reached.
    CycleLimit = 4,
    /// The program faulted.
    Fault = 5,
    /// There is no GPU, and no observation that fits.
    NothingToCompare = 6,
    /// The program ran to its end, and a check found an error.
    CheckFound = 7,
}

/// Something the user has to be told before the process ends with [`Exit::Usage`]: the text is complete, help included.
pub(crate) struct Failure(pub String);

impl Failure {
    /// A failure that has no place in a source text.
    pub(crate) fn new(message: impl std::fmt::Display) -> Failure {
        // It may name files and repeat what was typed, which a terminal must not obey.
        Failure(format!("error: {}\n", plain(&message.to_string(), MOST_MESSAGE)))
    }
}

/// Parses the arguments, runs the command, returns the exit code.
pub(crate) fn main() -> ExitCode {
    // clap prints usage errors itself and ends with 2, help and version with 0.
    let matches = numbers::read(Args::command()).get_matches();
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    let done = match &args.command {
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
        Err(Failure(text)) => {
            output::error(&text);
            ExitCode::from(Exit::Usage as u8)
        }
    }
}
