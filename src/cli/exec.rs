//! `simt-sim exec`: a program whose CUDA calls go to the simulator.
//!
//! The libraries are placed in a temporary folder in front of `LD_LIBRARY_PATH`; options travel in
//! the environment; each process writes its launches to a file of that folder.

mod elf;
mod libraries;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
#[cfg(unix)]
use std::sync::Arc;
use std::{env, fs};

use simt_core::machine::Timing;
use simt_core::spec::Mode;
use simt_report as report;
use simt_report::launches::{self, Launched};

use super::args::{ExecArgs, LoweringArg, MachineChoice, PictureFile, TimingArg};
use super::run::needs_time;
use super::{Exit, Failure, checks, job, output};

/// Variable with the folders that the system searches for libraries first.
const SEARCH: &str = "LD_LIBRARY_PATH";

/// Runs a program and returns its exit code.
pub(crate) fn exec(args: &ExecArgs) -> Result<ExitCode, Failure> {
    if let Some(folder) = &args.place {
        let failed = |e| Failure::new(format!("cannot create `{}`: {e}", folder.display()));
        fs::create_dir_all(folder).map_err(failed)?;
        libraries::place(folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let timing = TimingArg::of(args.timing);
    for name in &args.metrics {
        let (_, metric) = report::known(name).map_err(Failure::new)?;
        if timing == Timing::Off && metric.needs_time() {
            return Err(needs_time(&format!("--metrics {name}")));
        }
    }
    let timed = [("--max-cycles", args.max_cycles.is_some()), ("--plot", !args.plot.is_empty())];
    if let (Timing::Off, Some((option, _))) = (timing, timed.iter().find(|(_, given)| *given)) {
        return Err(needs_time(option));
    }
    checks::chosen(args.list.checks.as_deref())?;
    let machines = machines(&args.machine)?;
    if args.sass && machines.mode == Some(Mode::PreVolta) {
        return Err(Failure::new(
            "machine code runs in volta mode only; leave out `--sass` to run PTX",
        ));
    }
    let [program, arguments @ ..] = args.program.as_slice() else {
        return Err(Failure::new("expected a program"));
    };
    let file = find(program);
    if let Some(warning) = file.as_deref().and_then(elf::warning) {
        return Err(Failure::new(warning));
    }
    let folder = tempfile::Builder::new().prefix("simt-sim-exec-").tempdir();
    let folder =
        folder.map_err(|e| Failure::new(format!("cannot create a temporary folder: {e}")))?;
    let placed = libraries::provide(folder.path())?;
    let reports = folder.path().join("launches");
    fs::create_dir(&reports)
        .map_err(|e| Failure::new(format!("cannot create a temporary folder: {e}")))?;
    let mut command = Command::new(program);
    command.args(arguments).env(SEARCH, in_front(&placed)?);
    command.envs(libraries::preload(&placed));
    let set = |command: &mut Command, name: &str, value: &dyn std::fmt::Display| {
        command.env(format!("SIMT_SIM_{name}"), value.to_string());
    };
    command.env("SIMT_SIM_REPORTS", &reports);
    command.env("SIMT_SIM_ERRORS", format!("/proc/{}/fd/2", std::process::id()));
    set(&mut command, "MACHINE", &machines.names.join(","));
    if let Some(mode) = machines.mode {
        set(&mut command, "MODE", &mode.name());
    }
    if let Some(order) = &args.machine.its_order {
        set(&mut command, "ITS_ORDER", order);
    }
    if let Some(lanes) = args.machine.warp_size {
        set(&mut command, "WARP_SIZE", &lanes);
    }
    if args.machine.no_yield {
        set(&mut command, "NO_YIELD", &1);
    }
    match args.machine.lowering {
        None => {}
        Some(LoweringArg::AsWritten) => set(&mut command, "LOWERING", &"as-written"),
        Some(LoweringArg::Hardware) => set(&mut command, "LOWERING", &"hardware"),
    }
    if let Some(arch) = &args.arch {
        set(&mut command, "ARCH", arch);
    }
    if args.sass {
        set(&mut command, "SASS", &1);
    }
    if let Some(list) = &args.list.checks {
        set(&mut command, "CHECKS", list);
    }
    if timing == Timing::Off {
        set(&mut command, "TIMING", &timing.name());
    }
    if let Some(cycles) = args.max_cycles {
        set(&mut command, "MAX_CYCLES", &cycles);
    }
    set(&mut command, "JOBS", &args.jobs);
    if let Some(gib) = args.max_memory {
        set(&mut command, "MEMORY_GIB", &gib);
    }
    if !args.metrics.is_empty() {
        set(&mut command, "METRICS", &args.metrics.join(","));
    }
    if args.json {
        set(&mut command, "WHOLE", &1);
    }
    views(args, &mut command)?;
    // Interrupts are for the program, which shares the terminal; its rows come after it.
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGQUIT] {
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
    let mut child = command.spawn().map_err(|e| {
        Failure::new(format!("cannot start `{}`: {e}", Path::new(program).display()))
    })?;
    #[cfg(unix)]
    pass_on_end(child.id());
    let status = child.wait().map_err(Failure::new)?;
    let (launches, hidden) = read(&reports)?;
    output::error(&hidden);
    rows(args, &launches)?;
    drop(folder);
    if let Some(missing) = missing(args, &launches) {
        output::error(&missing);
        // A program that failed has told its own reason.
        if status.success() {
            return Ok(ExitCode::from(Exit::Usage as u8));
        }
    }
    Ok(code(status))
}

/// Passes on to a process the signals that ask this one to end, which ends after it: launches are
/// told then, too, and nothing is left in the temporary folder.
#[cfg(unix)]
fn pass_on_end(process: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGTERM]) else { return };
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let signal = if signal == SIGHUP { Signal::HUP } else { Signal::TERM };
            let _ = process.map(|process| kill_process(process, signal)); // it may have ended
        }
    });
}

/// Says that no process made the launch of the pictures, or of the page.
fn missing(args: &ExecArgs, launches: &[Launched]) -> Option<String> {
    let page = args.html.as_ref().filter(|_| args.launch.is_some());
    let file = args.plot.first().map(|plot| &plot.path).or(page)?;
    let number = args.launch.unwrap_or(1);
    if launches.iter().any(|launch| launch.number == number) {
        return None;
    }
    let made = match launches.iter().map(|launch| launch.number).max() {
        None => "the program launched no kernel".to_owned(),
        Some(1) => "the program made one launch, number 1".to_owned(),
        Some(most) => format!("the launches have the numbers 1 to {most}"),
    };
    let file = file.display();
    Some(Failure::new(format!("`{file}` shows no launch {number}: {made}")).0)
}

/// Machines of the virtual GPUs.
struct Machines {
    /// Names of presets, and files.
    names: Vec<String>,
    /// The mode that was asked for, or the one that a single machine has.
    mode: Option<Mode>,
}

/// Checks the machine options for each of the machines that they list.
fn machines(choice: &MachineChoice) -> Result<Machines, Failure> {
    let listed = match &choice.machine {
        None => vec![None],
        Some(list) => list.split(',').map(|name| Some(name.trim().to_owned())).collect(),
    };
    let (mut names, mut mode) = (Vec::new(), None);
    let is_single = listed.len() == 1;
    for machine in listed {
        let setup = job::machine(&MachineChoice { machine: machine.clone(), ..choice.clone() })?;
        names.push(match machine.filter(|name| name.ends_with(".ron")) {
            // The program may change its folder before it loads the driver.
            Some(file) => std::path::absolute(&file)
                .map_err(|e| Failure::new(format!("cannot read `{file}`: {e}")))?
                .display()
                .to_string(),
            None => setup.spec.name.clone(),
        });
        mode = (is_single || choice.mode.is_some()).then_some(setup.mode);
    }
    Ok(Machines { names, mode })
}

/// Passes on which views are wanted.
fn views(args: &ExecArgs, command: &mut Command) -> Result<(), Failure> {
    let absolute = |path: &Path| {
        std::path::absolute(path)
            .map_err(|e| Failure::new(format!("cannot write `{}`: {e}", path.display())))
    };
    if let Some(number) = args.launch {
        if args.html.is_none() && args.plot.is_empty() {
            return Err(Failure::new(
                "--launch chooses the launch of a view\nhelp: add --html DIR or --plot KIND=FILE",
            ));
        }
        command.env("SIMT_SIM_LAUNCH", number.to_string());
    }
    if let Some(folder) = &args.html {
        let failed = |e| Failure::new(format!("cannot create `{}`: {e}", folder.display()));
        fs::create_dir_all(folder).map_err(failed)?;
        command.env("SIMT_SIM_HTML", absolute(folder)?);
    }
    if !args.plot.is_empty() {
        let mut list = OsString::new();
        for PictureFile { kind, path } in &args.plot {
            list.push(format!("{}=", kind.name()));
            list.push(absolute(path)?);
            list.push("\n");
        }
        command.env("SIMT_SIM_PLOT", list);
    }
    Ok(())
}

/// Prints the rows of all launches.
fn rows(args: &ExecArgs, launches: &[Launched]) -> Result<(), Failure> {
    if let Some(folder) = &args.html {
        let page = |l: &Launched| {
            let name = format!("{}-{}.html", l.process, l.number);
            folder.join(&name).is_file().then_some(name)
        };
        let index = launches::index(launches, page);
        output::write_file(&folder.join("index.html"), index.as_bytes())?;
    }
    if args.quiet && args.output.is_none() {
        return Ok(());
    }
    let text = if args.json {
        let line = |l: &Launched| serde_json::to_string(l).map(|json| json + "\n");
        launches.iter().map(line).collect::<Result<String, _>>().map_err(Failure::new)?
    } else if args.csv {
        launches::csv(launches)
    } else if launches.is_empty() {
        "simt-sim: the program launched no kernel\n".to_owned()
    } else {
        launches::rows(launches, output::style(args.output.as_deref()))
    };
    match &args.output {
        Some(file) => output::write_file(file, text.as_bytes()),
        None => {
            output::error(&text);
            Ok(())
        }
    }
}

/// Reads the launches of all processes, in the order in which the processes began, and what they
/// told on a standard error of their own.
fn read(reports: &Path) -> Result<(Vec<Launched>, String), Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::new(format!("cannot read the launches: {e}"));
    let mut files: Vec<PathBuf> =
        fs::read_dir(reports).map_err(|e| failed(&e))?.flatten().map(|e| e.path()).collect();
    files.sort_by_key(|file| file.file_stem().and_then(|s| s.to_str()?.parse::<u32>().ok()));
    let (mut launches, mut hidden) = (Vec::new(), String::new());
    for file in files {
        let text = fs::read_to_string(&file).map_err(|e| failed(&e))?;
        if file.extension().is_some_and(|extension| extension == "txt") {
            hidden += &text;
            continue;
        }
        // A process that was killed may leave half a line.
        launches.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
    }
    Ok((launches, hidden))
}

/// Returns the search path with a folder in front.
fn in_front(folder: &Path) -> Result<OsString, Failure> {
    let before = env::var_os(SEARCH).unwrap_or_default();
    let before = env::split_paths(&before).filter(|path| !path.as_os_str().is_empty());
    env::join_paths(std::iter::once(folder.to_owned()).chain(before)).map_err(Failure::new)
}

/// Finds the file of a program as the system does.
fn find(program: &OsString) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| path.is_file())
}

/// Returns the exit code of a program; 128 and the signal's number if one ended it, as in a shell.
fn code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    let code = status.code().or(signal.map(|signal| 128 + signal));
    ExitCode::from(code.map_or(1, |code| code as u8))
}
