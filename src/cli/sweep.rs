//! `simt-sim sweep`: a run for each combination of values, recorded as it ends.

mod estimate;
mod points;

use std::path::Path;

use simt_core::Program;
use simt_core::kernel::Kernel;
use simt_core::machine::Timing;
use simt_report::plot::lines;
use simt_teach::sweep::{self, Axis, Chart, Columns, Point, Record, Results, Shard};

use super::args::{RowFormat, SweepArgs, TimingArg};
use super::array::{Array, Parts, Share};
use super::run::{COUNTS_ONLY, needs_time};
use super::{Exit, Failure, output, plot, results, source};
use points::{Planned, axes, simulate};

/// Runs a sweep, or merges results.
pub(crate) fn sweep(args: &SweepArgs) -> Result<Exit, Failure> {
    // Refuses an unknown metric before the runs, not after them.
    Columns::new(Vec::new(), &args.metrics).map_err(Failure::new)?;
    if TimingArg::of(args.timing) == Timing::Off {
        needs_no_time(args)?;
        output::error(COUNTS_ONLY);
    }
    let share = args.array.share()?;
    let (axes, records) = match &share {
        Share::Write(folder) => return write(args, folder),
        Share::Task(shard, part) => {
            // The part belongs to the array, whose program may have changed.
            run(args, &Plan::new(args, Some(*shard))?, (Some(part), true))?
        }
        Share::Gather(parts) => gather(args, parts)?,
        Share::All if args.merge.is_empty() => {
            let plan = Plan::new(args, args.shard)?;
            run(args, &plan, (args.results.as_deref(), args.replace))?
        }
        Share::All => merge(args)?,
    };
    // The merge of an array shows the results.
    if !matches!(share, Share::Task(..)) {
        show(args, axes, &records)?;
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

/// Writes the table and the picture.
fn show(args: &SweepArgs, axes: Vec<String>, records: &[Record]) -> Result<(), Failure> {
    let columns = Columns::new(axes, &args.metrics).map_err(Failure::new)?;
    let file = args.output.as_deref();
    let text = match args.format {
        RowFormat::Csv => columns.csv(records),
        RowFormat::Text => columns.text(records, output::style(file)),
    };
    output::deliver(file, &text)?;
    if let Some(path) = &args.plot {
        let metric = args.metrics.first().map_or("", String::as_str);
        let chart = Chart::new(records, args.x.as_deref(), metric).map_err(Failure::new)?;
        plot::write(&lines(&chart.captions, &chart.lines), path)?;
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
    let all: Results = results::together(&args.merge)?;
    if let Some(out) = &args.results {
        output::write_file(out, all.text().as_bytes())?;
    }
    let records: Vec<Record> = all.records().cloned().collect();
    Ok((Columns::axes_of(&records), records))
}

/// The points of a sweep, or of one shard.
struct Plan {
    program: Program,
    axes: Vec<Axis>,
    jobs: Vec<Planned>,
}

impl Plan {
    fn new(args: &SweepArgs, shard: Option<Shard>) -> Result<Plan, Failure> {
        let file = args.file.as_deref().unwrap_or(Path::new(""));
        let program = source::read_runnable(file, &args.sass, args.kernel.as_deref(), false)?;
        let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
        let axes = axes(args, &program)?;
        let points = sweep::product(&axes).map_err(Failure::new)?;
        let mine = |&(i, _): &(usize, Point)| shard.is_none_or(|shard| shard.takes(i));
        let points = points.into_iter().enumerate().filter(mine).map(|(_, point)| point);
        let jobs = points
            .map(|point| Planned::new(args, &program, kernel, point))
            .collect::<Result<_, _>>()?;
        Ok(Plan { program, axes, jobs })
    }

    fn kernel(&self, args: &SweepArgs) -> Result<&Kernel, Failure> {
        self.program.kernel(args.kernel.as_deref()).map_err(Failure::new)
    }

    /// Returns the swept names, and the records of the points.
    fn swept(&self, kernel: &Kernel, results: &Results) -> Swept {
        let records = self
            .jobs
            .iter()
            .filter_map(|job| results.find(&self.program.name, &kernel.name, &job.point).cloned());
        (self.axes.iter().map(|axis| axis.name.clone()).collect(), records.collect())
    }
}

/// Runs the points that the file of results lacks.
fn run(
    args: &SweepArgs,
    plan: &Plan,
    (out, replace): (Option<&Path>, bool),
) -> Result<Swept, Failure> {
    let (program, kernel, jobs) = (&plan.program, plan.kernel(args)?, &plan.jobs);
    let mut results: Results = results::resume(out)?;
    let there = |job: &Planned| results.find(&program.name, &kernel.name, &job.point);
    let stale = jobs
        .iter()
        .filter(|job| there(job).is_some_and(|record| record.inputs != job.inputs))
        .count();
    if let (Some(out), 1.., false) = (out, stale, replace) {
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
    // With few points, spare host threads simulate SMs.
    let threads = if args.jobs == 0 { rayon::current_num_threads() } else { args.jobs };
    let inner = (threads / todo.len().max(1)).max(1);
    let work = |job: &&Planned| simulate(args, program, kernel, job, inner);
    results::record(out, &mut results, (args.jobs, &todo), work)?;
    Ok(plan.swept(kernel, &results))
}

/// Writes the scripts of a job array.
fn write(args: &SweepArgs, folder: &Path) -> Result<Exit, Failure> {
    if args.file.as_deref() == Some(Path::new("-")) {
        return Err(Failure::new(
            "a job array cannot read standard input\nhelp: name a file that all nodes see",
        ));
    }
    let plan = Plan::new(args, None)?;
    let need = estimate::of(args, &plan.program, plan.kernel(args)?, &plan.jobs);
    let array = Array {
        folder,
        tasks: args.array.tasks,
        runs: plan.jobs.len(),
        what: "points",
        jobs: args.jobs,
        need,
    };
    output::print(&array.write()?).map(|()| Exit::Ok)
}

/// Merges the parts of a job array.
fn gather(args: &SweepArgs, parts: &Parts<'_>) -> Result<Swept, Failure> {
    let plan = Plan::new(args, None)?;
    let kernel = plan.kernel(args)?;
    let all: Results = results::together(&parts.files())?;
    let there = |job: &Planned| {
        all.find(&plan.program.name, &kernel.name, &job.point)
            .filter(|record| record.inputs == job.inputs)
    };
    let lacks = |&(_, job): &(usize, &Planned)| there(job).is_none();
    let missing: Vec<usize> = plan.jobs.iter().enumerate().filter(lacks).map(|(i, _)| i).collect();
    parts.complete(&missing, "points")?;
    let own = parts.results();
    output::write_file(args.results.as_deref().unwrap_or(&own), all.text().as_bytes())?;
    Ok(plan.swept(kernel, &all))
}
