//! Comparison with a profiler's counters.

use simt_report::profile::{Launched, Profile};
use simt_report::validation::ProfileRow;

use super::{Bench, Failed, Subject};

/// Compares the program with every launch of the report that is the same launch.
///
/// # Errors
/// The launch cannot be resolved, or a block does not fit the machine.
pub fn compare(
    bench: &Bench<'_>,
    subject: &Subject<'_>,
    profile: &Profile,
) -> Result<Vec<ProfileRow>, Failed> {
    let launch = subject.launch()?;
    let found =
        profile.launches_of(&subject.kernel.name, launch.grid, launch.block, &launch.constants);
    found.into_iter().map(|launched| hold(bench, subject, launched)).collect()
}

/// Runs the program with its launch and compares the counters with the launch of a report.
pub(super) fn hold(
    bench: &Bench<'_>,
    subject: &Subject<'_>,
    launched: &Launched,
) -> Result<ProfileRow, Failed> {
    let launch = subject.launch()?;
    let threads = launch.grid.iter().chain(&launch.block).map(|&n| u64::from(n)).product();
    let simulated = bench.simulate(subject, launch)?;
    let done = launched.hold(&simulated.done.run);
    Ok(ProfileRow {
        program: subject.program.name.clone(),
        launch: launched.title(),
        threads,
        held: done.held,
        unknown: done.unknown,
    })
}

/// Explains that no launch of `report` is the program's.
pub fn no_launch(subject: &Subject<'_>, profile: &Profile, report: &str) -> String {
    let (name, kernel) = (&subject.program.name, &subject.kernel.name);
    let there = profile.launches.iter().filter(|l| l.kernel == *kernel);
    let there: Vec<String> = there.map(Launched::title).collect();
    let help = if there.is_empty() {
        let mut kernels: Vec<&str> = profile.launches.iter().map(|l| l.kernel.as_str()).collect();
        kernels.dedup();
        format!("the report has no kernel `{kernel}`, it has {}", kernels.join(", "))
    } else {
        format!("give --set, --grid or --block so that the launch is one of: {}", there.join("; "))
    };
    format!("{name}: no launch of `{report}` is this one\nhelp: {help}\n")
}
