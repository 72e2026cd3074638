//! From what was typed to what is run: machine, mode, side order, launch, and the [`Job`] made of
//! them.

use std::path::Path;

use simt_core::diag::{self, Diagnostic, Source, closest};
use simt_core::divergence::SideOrder;
use simt_core::kernel::Kernel;
use simt_core::launch::{self, Launch, Overrides};
use simt_core::machine::{DoesNotFit, Finish, Options, Timing};
use simt_core::spec::{Lowering, Machine, Mode};
use simt_core::{Job, Program};
use simt_threads::Threads;

use super::args::{LaunchChoice, LimitChoice, LoweringArg, MachineChoice, ModeArg, ProgramChoice};
use super::source::read_text;
use super::{Failure, fields, output, reading, source};

/// The machine to run on, and how.
pub(crate) struct MachineSetup {
    pub(crate) spec: Machine,
    pub(crate) mode: Mode,
    pub(crate) order: SideOrder,
    /// True if spin loops yield.
    pub(crate) yields: bool,
    /// Lowering of PTX that was asked for.
    lowering: Option<LoweringArg>,
}

impl MachineSetup {
    /// Refuses to run machine code in pre-Volta mode, or with options for compiling PTX.
    pub(crate) fn check(&self, kernel: &Kernel) -> Result<(), Failure> {
        if let Err(why) = DoesNotFit::check_code(kernel, &self.spec, self.mode) {
            return Err(Failure::new(format!(
                "{why}\nhelp: run the kernel's .ptx there, or choose a machine of volta mode with \
                 warps of 32 lanes (`simt-sim machine` lists them)"
            )));
        }
        let option = match self.lowering {
            Some(LoweringArg::AsWritten) => "--lowering as-written",
            Some(LoweringArg::Hardware) => "--lowering hardware",
            None if !self.yields => "--no-yield",
            None => return Ok(()),
        };
        if kernel.native.is_none() {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{option} says how to compile PTX, but `{}` is machine code\n\
             help: leave the option out, or run the kernel's .ptx",
            kernel.name
        )))
    }

    /// The options of a run in the machine's mode.
    pub(crate) fn options(&self, limit: &LimitChoice) -> Options {
        let MachineSetup { mode, order, yields, .. } = *self;
        Options {
            mode,
            order,
            yields,
            max_cycles: limit.cycles(),
            max_issues: limit.issues(),
            timing: Timing::Cycles,
        }
    }
}

/// A resolved command line: program, machine and options.
pub(crate) struct Setup {
    pub(crate) program: Program,
    pub(crate) machine: Machine,
    pub(crate) options: Options,
    /// Index of the kernel.
    kernel: usize,
}

impl Setup {
    /// Reads and resolves; `quiet` leaves the program's warnings out.
    ///
    /// Of a program with several launches, it returns the chosen one, after running those before.
    pub(crate) fn new(choice: &ProgramChoice, quiet: bool) -> Result<(Setup, Launch), Failure> {
        let (mut setup, mut launches) = Setup::series(choice, quiet)?;
        if launches.len() > 1 && choice.launch.number.is_none() {
            return Err(Failure::new(format!(
                "`{}` has {} launches\nhelp: choose one with --launch N",
                setup.program.name,
                launches.len()
            )));
        }
        let Some(last) = launches.pop() else { return Err(Failure::new("no launch")) };
        let last = setup.after(launches, last)?;
        Ok((setup, last))
    }

    /// As [`Setup::new`], with the launches up to the chosen one, or all, in order.
    ///
    /// The buffers of later ones are empty until they follow a run.
    pub(crate) fn series(
        choice: &ProgramChoice,
        quiet: bool,
    ) -> Result<(Setup, Vec<Planned>), Failure> {
        let wanted = choice.kernel.as_deref();
        let program = source::read_runnable(&choice.file, &choice.sass, wanted, quiet)?;
        let launches = planned(&program, wanted, &choice.launch)?
            .map_err(|found| Failure(source::render(&program, &found)))?;
        let kernel = launches.first().map_or(0, |first| first.kernel);
        let machine = machine_for(&choice.machine, &program.kernels[kernel], quiet)?;
        let options = machine.options(&choice.limit);
        Ok((Setup { program, machine: machine.spec, options, kernel }, launches))
    }

    /// Runs launches in order and returns `last` with the memory that they leave.
    pub(crate) fn after(
        &mut self,
        earlier: Vec<Planned>,
        last: Planned,
    ) -> Result<Launch, Failure> {
        let mut left: Option<Launch> = None;
        for (number, planned) in (1..).zip(earlier) {
            let launch = self.turn_to(planned, left.take());
            let outcome = self.job(launch).execute(&Threads::new(0)).map_err(Failure::new)?;
            if !matches!(outcome.finish, Finish::Ok) {
                return Err(Failure::new(format!(
                    "launch {number} ends in {}\nhelp: view it with --launch {number}",
                    outcome.finish.name()
                )));
            }
            left = Some(outcome.launch);
        }
        Ok(self.turn_to(last, left))
    }

    /// Chooses the kernel of a launch, and gives it the memory that the one before left.
    pub(crate) fn turn_to(&mut self, planned: Planned, before: Option<Launch>) -> Launch {
        let Planned { kernel, mut launch } = planned;
        self.kernel = kernel;
        if let Some(before) = before {
            launch.follow(before);
        }
        launch
    }

    /// The kernel as written.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.program.kernels[self.kernel]
    }

    /// The run.
    pub(crate) fn job(&self, launch: Launch) -> Job<'_> {
        Job::new(&self.program, self.kernel(), launch, &self.machine, self.options.clone())
    }
}

/// A launch before it runs.
pub(crate) struct Planned {
    /// Index of the kernel.
    pub(crate) kernel: usize,
    pub(crate) launch: Launch,
}

/// Resolves the launches up to the chosen one, or all; findings are values.
///
/// Only the first has contents of buffers: later ones follow it.
pub(crate) fn planned(
    program: &Program,
    wanted: Option<&str>,
    choice: &LaunchChoice,
) -> Result<Result<Vec<Planned>, Vec<Diagnostic>>, Failure> {
    let all = program.plan.launches();
    let last = match choice.number {
        Some(number) if (1..=all).contains(&number) => number - 1,
        Some(number) => {
            let name = &program.name;
            let launches = match all {
                1 => format!("`{name}` has one launch, number 1"),
                _ => format!("the launches of `{name}` have the numbers 1 to {all}"),
            };
            return Err(Failure::new(format!("--launch {number}: {launches}")));
        }
        None => all - 1,
    };
    let given = [
        ("--kernel", wanted.is_some()),
        ("--grid", choice.grid.is_some()),
        ("--block", choice.block.is_some()),
    ];
    if let (None, true, Some((option, _))) =
        (choice.number, all > 1, given.iter().find(|(_, given)| *given))
    {
        return Err(Failure::new(format!(
            "{option} is for one launch; `{}` has {all}\nhelp: choose one with --launch N",
            program.name
        )));
    }
    let overrides = overrides(choice)?;
    let common = Overrides { grid: None, block: None, ..overrides.clone() };
    let folder = Path::new(&program.name).parent().unwrap_or(Path::new(""));
    let mut launches = Vec::new();
    for index in 0..=last {
        let (wanted, overrides) =
            if index == last { (wanted, &overrides) } else { (None, &common) };
        let kernel = program.kernel_at(index, wanted).map_err(Failure::new)?;
        let files = reading::beside(folder);
        let mut launch = match program.launch_at(index, kernel, overrides, &files) {
            Ok(launch) => launch,
            Err(found) => return Ok(Err(found)),
        };
        if index > 0 {
            launch.buffers.iter_mut().for_each(|buffer| buffer.words = Vec::new());
        }
        let kernel = program.kernels.iter().position(|k| k.name == kernel.name).unwrap_or_default();
        launches.push(Planned { kernel, launch });
    }
    Ok(Ok(launches))
}

/// Resolves the machine options for a kernel.
///
/// Machine code runs on the preset of its architecture unless a machine is named. On that of
/// another one a note says so, unless `quiet`.
pub(crate) fn machine_for(
    choice: &MachineChoice,
    kernel: &Kernel,
    quiet: bool,
) -> Result<MachineSetup, Failure> {
    let arch = kernel.native.as_ref().map(|native| native.arch);
    let own = arch.and_then(Machine::of_architecture);
    let stack = matches!(choice.mode, Some(ModeArg::PreVolta));
    let setup = match own {
        Some(own) if choice.machine.is_none() && !stack => {
            machine(&MachineChoice { machine: Some(own.to_owned()), ..choice.clone() })?
        }
        _ => machine(choice)?,
    };
    setup.check(kernel)?;
    let name = setup.spec.name.as_str();
    let modeled = [75, 80, 89, 90].into_iter().find(|a| Machine::of_architecture(*a) == Some(name));
    if let (Some(arch), Some(modeled)) = (arch, modeled)
        && own != Some(name)
        && !quiet
    {
        output::error(&format!(
            "note: `{}` is machine code of sm_{arch}, and `{name}` models a GPU of sm_{modeled}, \
             which cannot run it\n",
            kernel.name
        ));
    }
    Ok(setup)
}

/// Resolves the machine options.
pub(crate) fn machine(choice: &MachineChoice) -> Result<MachineSetup, Failure> {
    let asked = choice.mode.map(|m| match m {
        ModeArg::PreVolta => Mode::PreVolta,
        ModeArg::Volta => Mode::Volta,
    });
    let name = match (&choice.machine, asked) {
        (Some(name), _) => name.as_str(),
        (None, Some(mode)) if !choice.compares_modes => mode.default_machine(),
        // So that nothing but the mode differs.
        (None, _) => Mode::Volta.default_machine(),
    };
    let mut spec = load_machine(name, &choice.fields)?;
    if let Some(lanes) = choice.warp_size {
        if !(2..=32).contains(&lanes) {
            return Err(Failure::new(format!("--warp-size {lanes}: a warp has 2 to 32 lanes")));
        }
        let changed = spec.changed(|spec| spec.warp_size = lanes);
        spec = changed.map_err(|faults| {
            Failure::new(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        })?;
    }
    match choice.lowering {
        None => {}
        Some(LoweringArg::AsWritten) => spec = spec.lowered(Lowering::AsWritten),
        Some(LoweringArg::Hardware) if spec.code.is_some() => {
            spec = spec.lowered(Lowering::Hardware)
        }
        Some(LoweringArg::Hardware) => {
            return Err(Failure::new(format!(
                "--lowering hardware: the file of {} does not say what PTX becomes there\nhelp: choose a machine whose file has \
                 `code` (all presets but teaching)",
                spec.name
            )));
        }
    }
    let mode = match asked {
        None => spec.modes[0],
        Some(mode) if choice.compares_modes || spec.modes.contains(&mode) => mode,
        Some(mode) => {
            return Err(Failure::new(format!(
                "--mode {} contradicts --machine {}: that machine's mode is {}\nhelp: leave one of the two out, or choose \
                 a machine of that mode (`simt-sim machine` lists them; `teaching` has both)",
                mode.name(),
                spec.name,
                spec.modes[0].name(),
            )));
        }
    };
    let order = match &choice.its_order {
        Some(text) => text.parse().map_err(|e| Failure::new(format!("--its-order {text}: {e}")))?,
        None => spec.side_order(),
    };
    Ok(MachineSetup { spec, mode, order, yields: !choice.no_yield, lowering: choice.lowering })
}

fn load_machine(name: &str, fields: &[(String, String)]) -> Result<Machine, Failure> {
    let (file, text) = match Machine::preset_text(name) {
        Some(text) => (format!("{name}.ron"), text.to_string()),
        None if name.ends_with(".ron") => read_text(Path::new(name))?,
        None => return Err(unknown_machine(name)),
    };
    let text = fields::set(&text, fields).map_err(Failure::new)?;
    Machine::parse(&text).map_err(|found| {
        let shown = diag::render(&found, Source { name: &file, text: &text }, output::color_err());
        Failure(shown + &source::further(&found))
    })
}

/// The failure for a machine nobody knows.
pub(crate) fn unknown_machine(name: &str) -> Failure {
    let presets: Vec<&str> = Machine::presets().collect();
    let hint = match closest(name, presets.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}, or a file that ends in .ron", presets.join(", ")),
    };
    Failure::new(format!("there is no machine `{name}`\nhelp: {hint}"))
}

/// Evaluates the program's directives with what was typed on top.
pub(crate) fn launch(
    program: &Program,
    kernel: &Kernel,
    choice: &LaunchChoice,
) -> Result<Launch, Failure> {
    resolve(program, kernel, choice)?.map_err(|found| Failure(source::render(program, &found)))
}

/// The same, the findings as values; fails on what was typed wrongly.
pub(crate) fn resolve(
    program: &Program,
    kernel: &Kernel,
    choice: &LaunchChoice,
) -> Result<Result<Launch, Vec<Diagnostic>>, Failure> {
    if choice.number.is_some() && program.plan.launches() > 1 {
        return Err(Failure::new("--launch is not for this command, which runs one launch"));
    }
    let overrides = overrides(choice)?;
    let folder = Path::new(&program.name).parent().unwrap_or(Path::new(""));
    Ok(program.launch(kernel, &overrides, &reading::beside(folder)))
}

/// Parses the launch options.
pub(crate) fn overrides(choice: &LaunchChoice) -> Result<Overrides, Failure> {
    let mut overrides = Overrides::default();
    for set in &choice.set {
        let Some(setting) = launch::setting(set) else {
            return Err(Failure::new(format!("--set {set}: write --set NAME=VALUE")));
        };
        overrides.set.push(setting);
    }
    overrides.grid = choice.grid.as_deref().map(|t| parse_shape("--grid", t)).transpose()?;
    overrides.block = choice.block.as_deref().map(|t| parse_shape("--block", t)).transpose()?;
    overrides.most_memory = choice.max_memory.map(|gib| gib.saturating_mul(1 << 30));
    Ok(overrides)
}

fn parse_shape(option: &str, text: &str) -> Result<[u32; 3], Failure> {
    launch::extent(text).ok_or_else(|| {
        Failure::new(format!(
            "{option} {text}: write one to three positive numbers, as in {option} 128,2"
        ))
    })
}
