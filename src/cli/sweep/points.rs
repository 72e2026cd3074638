//! What is swept, and how one point is run.

use clap::ValueEnum;
use simt_core::diag::closest;
use simt_core::kernel::Kernel;
use simt_core::{Job, Program};
use simt_report::simulate;
use simt_teach::sweep::{Axis, Point, Record, Setting, Step, fingerprint};

use crate::cli::args::{LaunchChoice, LoweringArg, MachineChoice, ModeArg, SweepArgs};
use crate::cli::job::Machine;
use crate::cli::{Failure, job};
use simt_threads::Threads;

/// A point with what it takes to run it.
pub(super) struct Planned {
    pub(super) point: Point,
    machine: Result<Machine, String>,
    launch: LaunchChoice,
    pub(super) inputs: String,
}

impl Planned {
    /// Gives a point's values to the options they stand for.
    pub(super) fn new(args: &SweepArgs, program: &Program, kernel: &Kernel, point: Point) -> Result<Planned, Failure> {
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
                    _ => return Err(Failure::new(format!("warp-size {text}: a warp has 2 to 32 lanes"))),
                },
                "grid" => launch.grid = Some(text),
                "block" => launch.block = Some(text),
                _ => {} // `known` has refused it
            }
        }
        let is_swept = |name: &str| point.0.contains_key(name) && !is_constant(program, name);
        machine.compares_modes = is_swept("mode") && !is_swept("machine");
        let resolved = job::machine(&machine).map_err(|failure| message(&failure));
        let how = match &resolved {
            Ok(Machine { spec, mode, order, .. }) => format!("{spec:?} {mode:?} {order:?}"),
            Err(message) => message.clone(),
        };
        let fixed = [how, format!("{:?} {:?} {:?}", launch.set, launch.grid, launch.block)];
        let options = format!("{} {} {}", machine.no_yield, args.limit.cycles(), args.limit.issues());
        let parts = [env!("CARGO_PKG_VERSION"), &program.text, &kernel.name, &fixed[0], &fixed[1], &options];
        Ok(Planned { inputs: fingerprint(parts), point, machine: resolved, launch })
    }
}

/// Runs a point on `jobs` threads of the host.
pub(super) fn simulate(args: &SweepArgs, program: &Program, kernel: &Kernel, job: &Planned, jobs: usize) -> Record {
    let error =
        |message: String| Record::of_error(&program.name, &kernel.name, job.point.clone(), job.inputs.clone(), message);
    let machine = match &job.machine {
        Ok(machine) => machine,
        Err(message) => return error(message.clone()),
    };
    let launch = match job::resolve(program, kernel, &job.launch) {
        Ok(Ok(launch)) => launch,
        Ok(Err(found)) => {
            return error(found.into_iter().map(|found| found.message).collect::<Vec<_>>().join("; "));
        }
        Err(failure) => return error(message(&failure)),
    };
    let options = machine.options(&args.limit);
    let run = Job::new(program, kernel, launch, &machine.spec, options);
    match simulate::simulate(run, &Threads::new(jobs)) {
        Ok(simulation) => Record::of_run(&simulation.run, job.point.clone(), job.inputs.clone()),
        Err(does_not_fit) => error(does_not_fit.to_string()),
    }
}

/// What a failure says, on one line.
fn message(failure: &Failure) -> String {
    let text = failure.0.trim_start_matches("error: ");
    text.split("\nhelp:").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a name is a constant of the program. It is then that which is swept, even where an option is called the same: a
/// program that has a constant `block` sizes its buffers by it.
fn is_constant(program: &Program, name: &str) -> bool {
    program.plan.constants().any(|constant| constant == name)
}

/// The names that stand for options.
const OPTIONS: [&str; 7] = ["mode", "machine", "warp-size", "lowering", "its-order", "grid", "block"];

/// What is swept, as typed, scans first.
pub(super) fn axes(args: &SweepArgs, program: &Program) -> Result<Vec<Axis>, Failure> {
    let mut axes = Vec::new();
    let step = |i: usize| args.step.get(i).or(args.step.last()).copied().unwrap_or(Step::Add(1));
    for (i, scan) in args.scan.chunks_exact(3).enumerate() {
        let number = |text: &str| {
            text.parse::<i64>().map_err(|_| Failure::new(format!("-P {}: `{text}` is no whole number", scan.join(" "))))
        };
        axes.push(Axis::scan(&scan[0], number(&scan[1])?, number(&scan[2])?, step(i)).map_err(Failure::new)?);
    }
    for list in args.list.chunks_exact(2) {
        axes.push(Axis::list(&list[0], &list[1]).map_err(Failure::new)?);
    }
    if axes.is_empty() {
        return Err(Failure::new(
            "nothing is swept\nhelp: -P n 1024 65536 -D x2 takes numbers, -L mode pre-volta,volta takes values",
        ));
    }
    for axis in &axes {
        known(&axis.name, args, program)?;
    }
    Ok(axes)
}

/// Fails for a name that means nothing, or that has a value already.
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
        name => {
            let names: Vec<&str> = program.plan.constants().chain(OPTIONS).collect();
            let hint = match closest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of {}", names.join(", ")),
            };
            return Err(Failure::new(format!("`{}` has no `{name}` to sweep\nhelp: {hint}", program.name)));
        }
    };
    if given {
        return Err(Failure::new(format!("`{name}` is swept, and has a value on the command line, too")));
    }
    Ok(())
}

fn choice<T: ValueEnum>(name: &str, text: &str) -> Result<T, Failure> {
    T::from_str(text, false).map_err(|_| {
        let known: Vec<String> =
            T::value_variants().iter().filter_map(T::to_possible_value).map(|v| v.get_name().to_owned()).collect();
        Failure::new(format!("{name} {text}: one of {}", known.join(", ")))
    })
}
