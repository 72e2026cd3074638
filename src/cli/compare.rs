//! `simt-sim compare`: one command line for two runs.

use simt_sim::pipeline::{self, Simulation};
use simt_sim::report::compare::{Comparison, IssueStreams};
use simt_sim::report::{self, Style};

use super::args::{CompareArgs, Format, ProgramChoice};
use super::{Exit, Failure, job, output, runs, source};

/// The most issues of block 0 whose order is compared.
const STREAM_LIMIT: usize = 4_000_000;

/// Runs both and prints what differs. How the runs ended is part of that, not of the exit code.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let found = comparison(&runs::deal(&args.runs, 2)?, args.jobs)?;
    let text = match args.format {
        Format::Json => found.to_json().map_err(Failure::new)?,
        Format::Table => report::comparison(&found, Style { width: output::width(), color: output::color_out() }),
    };
    output::print(&text)?;
    Ok(Exit::Ok)
}

/// Runs both and compares them.
pub(crate) fn comparison(chosen: &[ProgramChoice], jobs: usize) -> Result<Comparison, Failure> {
    let [a, b] = chosen else {
        return Err(Failure::new(match chosen.len() {
            0 | 1 => {
                "there is one run to compare, and it takes two\nhelp: name a second program, or two values of an option: \
                 --mode pre-volta,volta, --machine fermi,h200, --set n=1024,65536"
                    .to_owned()
            }
            n => format!("there are {n} runs; two are compared"),
        }));
    };
    let [(a, a_streams), (b, b_streams)] = [simulate(a, jobs)?, simulate(b, jobs)?];
    Ok(Comparison::new(&a.run, &b.run, [&a_streams, &b_streams]))
}

fn simulate(chosen: &ProgramChoice, jobs: usize) -> Result<(Simulation, IssueStreams), Failure> {
    let machine = job::machine(&chosen.machine)?;
    let program = source::read_sound(&chosen.file, true)?;
    let kernel = program.kernel(chosen.kernel.as_deref()).map_err(Failure::new)?;
    let launch = job::launch(&program, kernel, &chosen.launch)?;
    let options = runs::options(chosen, &machine, jobs);
    let streams = pipeline::issue_streams(&program, kernel, launch.clone(), &machine.spec, &options, STREAM_LIMIT);
    let simulation = pipeline::simulate(&program, kernel, launch, &machine.spec, &options, &());
    Ok((simulation.map_err(Failure::new)?, streams.map_err(Failure::new)?))
}
