//! `simt-sim sweep`: a run for each combination of values, recorded as it ends.

mod points;

use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget};
use simt_core::machine::Timing;
use simt_report::plot::lines;
use simt_teach::sweep::{self, Chart, Columns, Point, Record, Results, Tail};

use super::args::{RowFormat, SweepArgs, TimingArg};
use super::run::{COUNTS_ONLY, needs_time};
use super::{Exit, Failure, output, plot, reading, source};
use points::{Planned, axes, simulate};

/// Largest file of results, in bytes. A record has a few kilobytes.
const MOST_RESULTS: u64 = 1 << 30;

/// Runs a sweep, or merges results.
pub(crate) fn sweep(args: &SweepArgs) -> Result<Exit, Failure> {
    // Refuses an unknown metric before the runs, not after them.
    Columns::new(Vec::new(), &args.metrics).map_err(Failure::new)?;
    if TimingArg::of(args.timing) == Timing::Off {
        needs_no_time(args)?;
        output::error(COUNTS_ONLY);
    }
    let (axes, records) = if args.merge.is_empty() { run(args)? } else { merge(args)? };
    let columns = Columns::new(axes, &args.metrics).map_err(Failure::new)?;
    let file = args.output.as_deref();
    let text = match args.format {
        RowFormat::Csv => columns.csv(&records),
        RowFormat::Text => columns.text(&records, output::style(file)),
    };
    output::deliver(file, &text)?;
    if let Some(path) = &args.plot {
        let metric = args.metrics.first().map_or("", String::as_str);
        let chart = Chart::new(&records, args.x.as_deref(), metric).map_err(Failure::new)?;
        plot::write(&lines(&chart.captions, &chart.lines), path)?;
    }
    for record in records.iter().filter(|record| !record.passed) {
        let message = record.message.as_deref().unwrap_or_default();
        output::error(&format!("{}: {}: {message}\n", record.point, record.outcome()));
    }
    Ok(records.iter().map(exit).find(|&exit| exit != Exit::Ok).unwrap_or(Exit::Ok))
}

/// Refuses what runs without a clock cannot show.
fn needs_no_time(args: &SweepArgs) -> Result<(), Failure> {
    if args.limit.has_cycles() {
        return Err(needs_time("--max-cycles"));
    }
    for name in &args.metrics {
        if simt_report::known(name).map_err(Failure::new)?.1.needs_time() {
            return Err(needs_time(&format!("--metrics {name}")));
        }
    }
    Ok(())
}

/// Returns the exit code of a single run with this outcome.
fn exit(record: &Record) -> Exit {
    match record.outcome() {
        "ok" => Exit::Ok,
        "FAILED" => Exit::ExpectationFailed,
        "deadlock" | "livelock" => Exit::Hang,
        "cycle-limit" => Exit::CycleLimit,
        "fault" => Exit::Fault,
        _ => Exit::Usage,
    }
}

/// Swept names, and the records of the points.
type Swept = (Vec<String>, Vec<Record>);

fn merge(args: &SweepArgs) -> Result<Swept, Failure> {
    let all = together(&args.merge)?;
    if let Some(out) = &args.results {
        output::write_file(out, all.text().as_bytes())?;
    }
    let records: Vec<Record> = all.records().cloned().collect();
    Ok((Columns::axes_of(&records), records))
}

/// Merges the results of several files; fails if two disagree about a point.
pub(crate) fn together(files: &[PathBuf]) -> Result<Results, Failure> {
    let mut all = Results::default();
    for path in files {
        let fail =
            |what: &dyn std::fmt::Display| Failure::new(format!("{}: {what}", path.display()));
        let (results, _) = read(path)?.ok_or_else(|| fail(&"no such file"))?;
        all.merge(results).map_err(|e| fail(&format!("{e} from those of the files before it")))?;
    }
    Ok(all)
}

/// Reads a file of results; returns `None` if the file does not exist.
fn read(path: &Path) -> Result<Option<(Results, Tail)>, Failure> {
    if std::fs::metadata(path).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return Ok(None);
    }
    let bytes = reading::regular(path, MOST_RESULTS, "the limit of results is")
        .map_err(|e| Failure::new(format!("cannot read `{}`: {e}", path.display())))?;
    // A line may be cut within a character.
    let read = Results::read(&String::from_utf8_lossy(&bytes));
    read.map(Some).map_err(|e| Failure::new(format!("{}: {e}", path.display())))
}

/// Reads the results that `--results` has already, and drops a last line cut short.
fn resume(out: Option<&Path>) -> Result<Results, Failure> {
    let Some(out) = out.filter(|out| !output::is_special(out)) else {
        return Ok(Results::default());
    };
    let Some((results, tail)) = read(out)? else { return Ok(Results::default()) };
    if tail != Tail::Whole {
        output::write_file(out, results.text().as_bytes())?;
    }
    if tail == Tail::Cut {
        output::error(&format!("note: {}: dropped a half written last line\n", out.display()));
    }
    Ok(results)
}

fn run(args: &SweepArgs) -> Result<Swept, Failure> {
    let file = args.file.as_deref().unwrap_or(Path::new(""));
    let program = source::read_runnable(file, &args.sass, args.kernel.as_deref(), false)?;
    let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
    let axes = axes(args, &program)?;
    let points = sweep::product(&axes).map_err(Failure::new)?;
    let mine = |&(i, _): &(usize, Point)| args.shard.is_none_or(|shard| shard.takes(i));
    let points = points.into_iter().enumerate().filter(mine).map(|(_, point)| point);
    let jobs: Vec<Planned> = points
        .map(|point| Planned::new(args, &program, kernel, point))
        .collect::<Result<_, _>>()?;

    let out = args.results.as_deref();
    let mut results = resume(out)?;
    let there = |job: &Planned| results.find(&program.name, &kernel.name, &job.point);
    let stale = jobs
        .iter()
        .filter(|job| there(job).is_some_and(|record| record.inputs != job.inputs))
        .count();
    if let (Some(out), 1.., false) = (out, stale, args.replace) {
        return Err(Failure::new(format!(
            "{} has {stale} of these points from another program text, machine, option \
             or version\nhelp: choose another file for --results, or rerun them with --replace",
            out.display()
        )));
    }
    // Retrying a point that could not be run costs little.
    let is_done = |job: &&Planned| {
        there(job).is_some_and(|record| record.inputs == job.inputs && !record.is_error())
    };
    let (done, todo): (Vec<&Planned>, Vec<&Planned>) = jobs.iter().partition(is_done);
    if !done.is_empty() {
        output::error(&format!("note: {} of {} points are done already\n", done.len(), jobs.len()));
    }

    let mut lines = out.map(output::Appended::open).transpose()?;
    let bar = bar(todo.len());
    // With few points, spare host threads simulate SMs.
    let threads = if args.jobs == 0 { rayon::current_num_threads() } else { args.jobs };
    let inner = (threads / todo.len().max(1)).max(1);
    let work = |job: &&Planned| simulate(args, &program, kernel, job, inner);
    let records = sweep::run(args.jobs, &todo, work, |record| {
        bar.inc(1);
        lines.as_mut().map_or(Ok(()), |lines| lines.write(&(record.to_line() + "\n")))
    })?;
    bar.finish_and_clear();
    results.replace(&records);
    // A special file has the lines already.
    if let Some(out) = out.filter(|out| !output::is_special(out)) {
        output::write_file(out, results.text().as_bytes())?;
    }
    let records = jobs
        .iter()
        .filter_map(|job| results.find(&program.name, &kernel.name, &job.point).cloned());
    Ok((axes.into_iter().map(|axis| axis.name).collect(), records.collect()))
}

fn bar(points: usize) -> ProgressBar {
    let shown = std::io::stderr().is_terminal() && points > 1;
    let target =
        if shown { ProgressDrawTarget::stderr_with_hz(2) } else { ProgressDrawTarget::hidden() };
    ProgressBar::with_draw_target(Some(points as u64), target)
}
