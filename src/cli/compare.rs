//! `simt-sim compare`: two runs side by side.

use simt_report::annotate::Source;
use simt_report::compare::{Comparison, IssueStreams};
use simt_report::html::{self, Part};
use simt_report::simulate;
use simt_report::timeline::Recording;
use simt_report::{self as report, Run};

use super::args::{CompareArgs, Format, PageChoice, ProgramChoice};
use super::job::Setup;
use super::progress::Bar;
use super::{Exit, Failure, output, page, runs};

/// Issues of block 0 whose order is compared.
const STREAM_LIMIT: usize = 4_000_000;

/// Runs both and prints the differences. A run that fails is a difference, not an exit code.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    page::sensible(&args.page)?;
    let (found, sides) = both(&runs::deal(&args.runs, 2)?, args.jobs, &args.page, args.quiet)?;
    if let (Some(path), [Some(a), Some(b)]) = (&args.page.html, sides.each_ref().map(Side::part)) {
        output::write_file(path, html::comparison_page(&found, [a, b]).as_bytes())?;
    }
    let file = args.output.as_deref();
    let text = match args.format {
        Format::Json => found.to_json().map_err(Failure::new)?,
        Format::Table if args.quiet && file.is_none() => return Ok(Exit::Ok),
        Format::Table => report::comparison(&found, output::style(file)),
    };
    output::deliver(file, &text)?;
    Ok(Exit::Ok)
}

/// Runs both and compares them.
pub(crate) fn comparison(chosen: &[ProgramChoice], jobs: usize) -> Result<Comparison, Failure> {
    both(chosen, jobs, &PageChoice::default(), false).map(|(found, _)| found)
}

fn both(
    chosen: &[ProgramChoice],
    jobs: usize,
    page: &PageChoice,
    quiet: bool,
) -> Result<(Comparison, [Side; 2]), Failure> {
    let [a, b] = chosen else {
        return Err(Failure::new(match chosen.len() {
            0 | 1 => "expected two runs, found one\n\
                help: name a second program, or give two values of an \
                      option: --mode pre-volta,volta, --machine fermi,h200, --set n=1024,65536"
                .to_owned(),
            n => format!("expected two runs, found {n}"),
        }));
    };
    let [a, b] = [simulate(a, jobs, page, quiet)?, simulate(b, jobs, page, quiet)?];
    Ok((Comparison::new(&a.run, &b.run, [&a.streams, &b.streams]), [a, b]))
}

/// One of the two finished runs.
struct Side {
    run: Run,
    streams: IssueStreams,
    /// Window of the run for a page, if one is written.
    recording: Option<Recording>,
    sources: Vec<Source>,
}

impl Side {
    fn part(&self) -> Option<Part<'_>> {
        Some(Part { run: &self.run, recording: self.recording.as_ref()?, sources: &self.sources })
    }
}

fn simulate(
    chosen: &ProgramChoice,
    jobs: usize,
    page: &PageChoice,
    quiet: bool,
) -> Result<Side, Failure> {
    let (setup, launch) = Setup::new(chosen, true)?;
    let recording = page::recording(page, &setup, &launch)?;
    let bar = Bar::new(&launch, &setup.options, quiet, jobs);
    let job = setup.job(launch);
    let streams = simulate::issue_streams(&job, STREAM_LIMIT).map_err(Failure::new)?;
    let done = simulate::simulate(job, &bar).map_err(Failure::new)?;
    bar.clear();
    let sources = page::sources(&done.run, &setup.program);
    Ok(Side { run: done.run, streams, recording, sources })
}
