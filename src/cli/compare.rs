//! `simt-sim compare`: two runs side by side.

use simt_core::machine::Timing;
use simt_report::annotate::Source;
use simt_report::compare::{Comparison, IssueStreams};
use simt_report::html::{self, Part};
use simt_report::simulate;
use simt_report::timeline::Recording;
use simt_report::{self as report, Run};

use super::args::{CompareArgs, Format, PageChoice, ProgramChoice, TimingArg};
use super::job::Setup;
use super::progress::Bar;
use super::run::needs_time;
use super::{Exit, Failure, output, page, runs};

/// Issues of block 0 whose order is compared.
const STREAM_LIMIT: usize = 4_000_000;

/// Runs both and prints the differences. A run that fails is a difference, not an exit code.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    page::sensible(&args.page)?;
    let timing = TimingArg::of(args.timing);
    if timing == Timing::Off && args.runs.limit.has_cycles() {
        return Err(needs_time("--max-cycles"));
    }
    let chosen = runs::deal(&args.runs, 2)?;
    let (found, sides) = both(&chosen, timing, args.jobs, &args.page, args.quiet)?;
    if let Some(path) = &args.page.html {
        let page = html::comparison_page(&found, sides.each_ref().map(Side::part));
        output::write_file(path, page.as_bytes())?;
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
    let page = PageChoice::default();
    both(chosen, Timing::Cycles, jobs, &page, false).map(|(found, _)| found)
}

fn both(
    chosen: &[ProgramChoice],
    timing: Timing,
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
    let one = |chosen| simulate(chosen, timing, jobs, page, quiet);
    let [a, b] = [one(a)?, one(b)?];
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
    fn part(&self) -> Part<'_> {
        Part { run: &self.run, recording: self.recording.as_ref(), sources: &self.sources }
    }
}

fn simulate(
    chosen: &ProgramChoice,
    timing: Timing,
    jobs: usize,
    page: &PageChoice,
    quiet: bool,
) -> Result<Side, Failure> {
    let (mut setup, launch) = Setup::new(chosen, true)?;
    setup.options.timing = timing;
    let recording = page::recording(page, &setup, &launch)?;
    let bar = Bar::new(&launch, &setup.options, quiet, jobs);
    let job = setup.job(launch);
    let streams = simulate::issue_streams(&job, STREAM_LIMIT).map_err(Failure::new)?;
    let done = simulate::simulate(job, &bar).map_err(Failure::new)?;
    bar.clear();
    let sources = page::sources(&done.run, &setup.program);
    Ok(Side { run: done.run, streams, recording, sources })
}
