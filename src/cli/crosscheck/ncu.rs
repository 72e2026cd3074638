//! `simt-sim crosscheck --ncu REPORT FILE..`: a profiler's counters beside the simulator's.

use std::path::Path;

use simt_core::Program;
use simt_report::profile::{Launched, Profile};
use simt_report::validation::ProfileRow;
use simt_report::{Style, profiled};

use super::super::args::{CrosscheckArgs, Format, LaunchChoice};
use super::super::{Exit, Failure, job, output, source};
use super::{graver, simulate};

/// Holds each file against the launches of the report that it can be.
pub(super) fn ncu(args: &CrosscheckArgs, report: &Path) -> Result<Exit, Failure> {
    let profile = read(report)?;
    let mut worst = Exit::Ok;
    let mut rows = Vec::new();
    for path in &args.files {
        let program = source::read_runnable(path, args.kernel.as_deref(), true)?;
        let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
        let launch = job::launch(&program, kernel, &args.launch)?;
        let found = profile.launches_of(&kernel.name, launch.grid, launch.block, &launch.constants);
        if found.is_empty() {
            output::error(&none(&program, &kernel.name, &profile, report));
            worst = graver(worst, Exit::NothingToCompare);
            continue;
        }
        for launched in found {
            rows.push(hold(args, &program, launched, &args.launch)?);
        }
    }
    match args.suite.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&rows).map_err(Failure::new)?;
            output::print(&(json + "\n"))?;
        }
        Format::Table => {
            let style = Style { width: output::width(), color: output::color_out() };
            for row in &rows {
                output::print(&profiled(row, true, style))?;
            }
        }
    }
    Ok(worst)
}

/// A report, or where it cannot be read.
pub(super) fn read(report: &Path) -> Result<Profile, Failure> {
    let (name, text) = source::read_text(report)?;
    Profile::parse(&text).map_err(|e| {
        let help = "help: `ncu --csv --page raw --log-file FILE ..` writes a report that can be read";
        Failure(format!("error: `{name}`, {e}\n{help}\n"))
    })
}

/// Runs a program as a launch of the report was, and holds its counters against the report's.
pub(super) fn hold(
    args: &CrosscheckArgs,
    program: &Program,
    launched: &Launched,
    choice: &LaunchChoice,
) -> Result<ProfileRow, Failure> {
    let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
    let launch = job::launch(program, kernel, choice)?;
    let size = launch.grid.iter().chain(&launch.block).map(|&n| u64::from(n)).product();
    let simulated = simulate(args, program, kernel, launch)?;
    let done = launched.hold(&simulated.done.run);
    Ok(ProfileRow {
        program: program.name.clone(),
        launch: launched.title(),
        threads: size,
        held: done.held,
        unknown: done.unknown,
    })
}

fn none(program: &Program, kernel: &str, profile: &Profile, report: &Path) -> String {
    let there: Vec<String> = profile.launches.iter().filter(|l| l.kernel == kernel).map(Launched::title).collect();
    let help = if there.is_empty() {
        let mut kernels: Vec<&str> = profile.launches.iter().map(|l| l.kernel.as_str()).collect();
        kernels.dedup();
        format!("the report has no kernel `{kernel}`, it has {}", kernels.join(", "))
    } else {
        format!("give --set, --grid or --block so that the launch is one of: {}", there.join("; "))
    };
    format!("{}: no launch of `{}` is this one\nhelp: {help}\n", program.name, report.display())
}
