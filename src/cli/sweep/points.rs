//! Axes of a sweep, and the run of one point.

use clap::ValueEnum;
use simt_core::diag::closest;
use simt_core::kernel::Kernel;
use simt_core::machine::{Options, Timing};
use simt_core::{Job, Program};
use simt_report::simulate;
use simt_teach::sweep::{Axis, Point, Record, Setting, Step, fingerprint};

use crate::cli::args::{LaunchChoice, LoweringArg, MachineChoice, ModeArg, SweepArgs, TimingArg};
use crate::cli::job::MachineSetup;
use crate::cli::{Failure, fields, job};

use simt_threads::Threads;

/// A point with everything needed to run it.
pub(super) struct Planned {
    pub(super) point: Point,
    machine: Result<MachineSetup, String>,
    launch: LaunchChoice,
    pub(super) inputs: String,
}

impl Planned {
    /// Gives a point's values to the options they stand for.
    pub(super) fn new(
        args: &SweepArgs,
        program: &Program,
        kernel: &Kernel,
        point: Point,
    ) -> Result<Planned, Failure> {
        let mut machine: MachineChoice = args.machine.clone();
        let mut launch = args.launch.clone();
        for (name, value) in &point.0 {
            let text = value.to_string();
            match name.as_str() {
                name if is_constant(program, name) => launch.set.push(format!("{name}={text}")),
                "mode" => machine.mode = Some(choice::<ModeArg>(name, &text)?),
                "lowering" => machine.lowering = Some(choice::<LoweringArg>(name, &text)?),
                "machine" => machine.machine = Some(text),
                "its-order" => machine.its_order = Some(text),
                "warp-size" => match value {
                    Setting::Number(lanes) if (2..=32).contains(lanes) => {
                        machine.warp_size = u32::try_from(*lanes).ok()
                    }
                    _ => {
                        return Err(Failure::new(format!(
                            "warp-size {text}: a warp has 2 to 32 lanes"
                        )));
                    }
                },
                "grid" => launch.grid = Some(text),
                "block" => launch.block = Some(text),
                name => {
                    if let Some(path) = name.strip_prefix(fields::PREFIX) {
                        machine.fields.push((path.to_owned(), text));
                    }
                }
            }
        }
        let is_swept = |name: &str| point.0.contains_key(name) && !is_constant(program, name);
        machine.compares_modes = is_swept("mode") && !is_swept("machine");
        let resolved = match job::machine(&machine) {
            // An impossible machine file is a slip, not a result.
            Err(failure) if !machine.fields.is_empty() => return Err(failure),
            resolved => resolved.map_err(|failure| message(&failure)),
        };
        let how = match &resolved {
            Ok(MachineSetup { spec, mode, order, .. }) => format!("{spec:?} {mode:?} {order:?}"),
            Err(message) => message.clone(),
        };
        let fixed = [how, format!("{:?} {:?} {:?}", launch.set, launch.grid, launch.block)];
        let timing = match TimingArg::of(args.timing) {
            Timing::Cycles => "",
            Timing::Off => " off",
        };
        let limits = (args.limit.cycles(), args.limit.issues());
        let options = format!("{} {} {}{timing}", machine.no_yield, limits.0, limits.1);
        let parts = [
            env!("CARGO_PKG_VERSION"),
            program.code(),
            &program.text,
            &kernel.name,
            &fixed[0],
            &fixed[1],
            &options,
        ];
        Ok(Planned { inputs: fingerprint(parts), point, machine: resolved, launch })
    }

    /// Returns the run of the point, or the reason why there is none.
    pub(super) fn prepared<'a>(
        &'a self,
        args: &SweepArgs,
        program: &'a Program,
        kernel: &'a Kernel,
    ) -> Result<Job<'a>, String> {
        let machine = self.machine.as_ref().map_err(Clone::clone)?;
        let said = |failure: Failure| message(&failure);
        machine.check(kernel).map_err(said)?;
        let launch =
            job::resolve(program, kernel, &self.launch).map_err(said)?.map_err(|found| {
                found.into_iter().map(|found| found.message).collect::<Vec<_>>().join("; ")
            })?;
        let timing = TimingArg::of(args.timing);
        let options = Options { timing, ..machine.options(&args.limit) };
        let mut job = Job::new(program, kernel, launch, &machine.spec, options);
        if shows_counts(args) && simulate::is_free_of_order(&job.code) && !expects_time(&job) {
            job.options.timing = Timing::Off;
        }
        Ok(job)
    }
}

/// Returns true if nothing that the sweep shows or keeps follows from time.
///
/// A file of results answers later questions, too: its lines have all metrics.
fn shows_counts(args: &SweepArgs) -> bool {
    let kept = args.results.is_some() || args.array.slurm.is_some();
    let mut metrics = args.metrics.iter();
    args.timing.is_none() && !kept && !args.limit.has_cycles() && !metrics.any(|m| needs_time(m))
}

/// Returns true if an expectation of the launch is about a metric of time.
fn expects_time(job: &Job<'_>) -> bool {
    let mut metrics = job.launch.expectations.iter().filter_map(|expected| expected.metric());
    metrics.any(needs_time)
}

/// Returns true for the name of a metric that follows from time.
fn needs_time(name: &str) -> bool {
    simt_report::known(name).is_ok_and(|(_, metric)| metric.needs_time())
}

/// Runs a point on `jobs` host threads.
pub(super) fn simulate(
    args: &SweepArgs,
    program: &Program,
    kernel: &Kernel,
    job: &Planned,
    jobs: usize,
) -> Record {
    let error = |message: String| {
        Record::of_error(
            &program.name,
            &kernel.name,
            job.point.clone(),
            job.inputs.clone(),
            message,
        )
    };
    match job.prepared(args, program, kernel) {
        Err(message) => error(message),
        Ok(run) => match simulate::simulate(run, &Threads::new(jobs)) {
            Ok(done) => Record::of_run(&done.run, job.point.clone(), job.inputs.clone()),
            Err(does_not_fit) => error(does_not_fit.to_string()),
        },
    }
}

/// Returns the message of a failure as one line.
fn message(failure: &Failure) -> String {
    let text = failure.0.trim_start_matches("error: ");
    text.split("\nhelp:")
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns true if a name is a constant of the program. A constant goes before an option of the
/// same name: a program that has a constant `block` sizes its buffers by it.
fn is_constant(program: &Program, name: &str) -> bool {
    program.plan.constants().any(|constant| constant == name)
}

/// Names of options that can be swept.
const OPTIONS: [&str; 7] =
    ["mode", "machine", "warp-size", "lowering", "its-order", "grid", "block"];

/// Returns the axes of the arguments, scans before lists.
pub(super) fn axes(args: &SweepArgs, program: &Program) -> Result<Vec<Axis>, Failure> {
    let mut axes = Vec::new();
    let step = |i: usize| args.step.get(i).or(args.step.last()).copied().unwrap_or(Step::Add(1));
    for (i, scan) in args.scan.chunks_exact(3).enumerate() {
        let number = |text: &str| {
            text.parse::<i64>().map_err(|_| {
                Failure::new(format!(
                    "-P {}: expected a whole number, found `{text}`",
                    scan.join(" ")
                ))
            })
        };
        axes.push(
            Axis::scan(&scan[0], number(&scan[1])?, number(&scan[2])?, step(i))
                .map_err(Failure::new)?,
        );
    }
    for list in &args.list {
        let Some((name, values)) = list.split_once('=') else {
            return Err(Failure::new(format!(
                "expected NAME=VALUES, found `{list}`\nhelp: write `-P NAME=VALUE,VALUE`"
            )));
        };
        axes.push(Axis::list(name.trim(), values).map_err(Failure::new)?);
    }
    if axes.is_empty() {
        return Err(Failure::new(
            "nothing is swept\nhelp: sweep numbers with `-P n 1024 65536 -D x2`, values \
             with `-P mode=pre-volta,volta`",
        ));
    }
    for axis in &axes {
        known(&axis.name, args, program)?;
    }
    Ok(axes)
}

/// Fails for an unknown name, or one that has a value already.
fn known(name: &str, args: &SweepArgs, program: &Program) -> Result<(), Failure> {
    let (machine, launch) = (&args.machine, &args.launch);
    let given = match name {
        name if is_constant(program, name) => {
            launch.set.iter().any(|set| set.split('=').next().is_some_and(|set| set.trim() == name))
        }
        "mode" => machine.mode.is_some(),
        "machine" => machine.machine.is_some(),
        "warp-size" => machine.warp_size.is_some(),
        "lowering" => machine.lowering.is_some(),
        "its-order" => machine.its_order.is_some(),
        "grid" => launch.grid.is_some(),
        "block" => launch.block.is_some(),
        name if name.starts_with(fields::PREFIX) => false,
        name => {
            let names: Vec<&str> = program.plan.constants().chain(OPTIONS).collect();
            let hint = match closest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "choose one of {}, or a field of the machine file, as in machine.l1.bytes",
                    names.join(", ")
                ),
            };
            return Err(Failure::new(format!(
                "`{}` has no `{name}` to sweep\nhelp: {hint}",
                program.name
            )));
        }
    };
    if given {
        return Err(Failure::new(format!(
            "`{name}` is swept and has a value, too\nhelp: leave one of the two out"
        )));
    }
    Ok(())
}

fn choice<T: ValueEnum>(name: &str, text: &str) -> Result<T, Failure> {
    T::from_str(text, false).map_err(|_| {
        let known: Vec<String> = T::value_variants()
            .iter()
            .filter_map(T::to_possible_value)
            .map(|v| v.get_name().to_owned())
            .collect();
        Failure::new(format!("{name} {text}: expected one of {}", known.join(", ")))
    })
}
