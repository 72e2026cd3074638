//! `simt-sim compare`: one command line for two runs.

use simt_report::annotate::Source;
use simt_report::compare::{Comparison, IssueStreams};
use simt_report::html::{self, Part};
use simt_report::simulate;
use simt_report::timeline::Recording;
use simt_report::{self as report, Run, Style};

use super::args::{CompareArgs, Format, PageChoice, ProgramChoice};
use super::job::Setup;
use super::progress::Bar;
use super::{Exit, Failure, output, page, runs};

/// The most issues of block 0 whose order is compared.
const STREAM_LIMIT: usize = 4_000_000;

/// Runs both and prints what differs. How the runs ended is part of that, not of the exit code.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    page::sensible(&args.page)?;
    let (found, sides) = both(&runs::deal(&args.runs, 2)?, args.jobs, &args.page)?;
    if let (Some(path), [Some(a), Some(b)]) = (&args.page.html, sides.each_ref().map(Side::part)) {
        output::write_file(path, html::comparison_page(&found, [a, b]).as_bytes())?;
    }
    let text = match args.format {
        Format::Json => found.to_json().map_err(Failure::new)?,
        Format::Table => report::comparison(&found, Style { width: output::width(), color: output::color_out() }),
    };
    output::print(&text)?;
    Ok(Exit::Ok)
}

/// Runs both and compares them.
pub(crate) fn comparison(chosen: &[ProgramChoice], jobs: usize) -> Result<Comparison, Failure> {
    both(chosen, jobs, &PageChoice::default()).map(|(found, _)| found)
}

fn both(chosen: &[ProgramChoice], jobs: usize, page: &PageChoice) -> Result<(Comparison, [Side; 2]), Failure> {
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
    let [a, b] = [simulate(a, jobs, page)?, simulate(b, jobs, page)?];
    Ok((Comparison::new(&a.run, &b.run, [&a.streams, &b.streams]), [a, b]))
}

/// One of the two runs, done.
struct Side {
    run: Run,
    streams: IssueStreams,
    /// What a page shows of it; nothing when none is wanted.
    recording: Option<Recording>,
    sources: Vec<Source>,
}

impl Side {
    fn part(&self) -> Option<Part<'_>> {
        Some(Part { run: &self.run, recording: self.recording.as_ref()?, sources: &self.sources })
    }
}

fn simulate(chosen: &ProgramChoice, jobs: usize, page: &PageChoice) -> Result<Side, Failure> {
    let (setup, launch) = Setup::new(chosen, true)?;
    let recording = page::recording(page, &setup, &launch)?;
    let bar = Bar::new(&launch, &setup.options, false, jobs);
    let job = setup.job(launch);
    let streams = simulate::issue_streams(&job, STREAM_LIMIT).map_err(Failure::new)?;
    let done = simulate::simulate(job, &bar).map_err(Failure::new)?;
    bar.clear();
    let sources = page::sources(&done.run, &setup.program);
    Ok(Side { run: done.run, streams, recording, sources })
}
