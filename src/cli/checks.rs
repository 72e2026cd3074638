//! What `run` and `check --run` share: the choice of checks, and their findings on the terminal.

use simt_core::checks::Checks;
use simt_core::diag::{Diagnostic, Severity};
use simt_core::machine::Host;
use simt_core::schedules::Different;
use simt_core::{Job, Program};
use simt_report::simulate::{self, Simulation};

use super::{Failure, output, source};

/// Findings shown of one run. More are rarely read, and often follow from the first.
const MOST_SHOWN: usize = 10;

/// The checks of `--checks=LIST`.
pub(crate) fn chosen(list: Option<&str>) -> Result<Option<Checks>, Failure> {
    let Some(list) = list else { return Ok(None) };
    let names = list.split(',').map(str::trim);
    Checks::named(names).map(Some).map_err(|unknown| {
        let all = Checks::NAMES.join(", ");
        Failure::new(format!("--checks={list}: there is no check `{unknown}`\nhelp: one or several of {all}, or all"))
    })
}

/// What is wanted of a run beside its report.
pub(crate) struct Wanted {
    /// Checks.
    pub(crate) on: Option<Checks>,
    /// How many other schedules to try.
    pub(crate) schedules: u64,
}

impl Wanted {
    /// Runs the kernel; the findings of checks and schedules, too.
    pub(crate) fn run(&self, job: Job<'_>, host: &dyn Host) -> Result<(Simulation, Vec<Diagnostic>), Failure> {
        let again = (self.schedules > 0).then(|| job.clone());
        let (mut simulation, mut findings) = match self.on {
            None => (simulate::simulate(job, host).map_err(Failure::new)?, Vec::new()),
            Some(on) => {
                let done = simulate::simulate_checked(job, host, on).map_err(Failure::new)?;
                (done.simulation, done.findings)
            }
        };
        if let Some(job) = again {
            let ended = (&simulation.finish, &simulation.launch);
            let different = simt_core::schedules::another_result(&job, self.schedules, ended);
            let different = different.map_err(Failure::new)?;
            simulation.run.notes.push(tried(self.schedules, different.as_ref()));
            findings.extend(different.map(|d| d.finding));
        }
        Ok((simulation, findings))
    }
}

/// The sentence about other schedules.
fn tried(n: u64, different: Option<&Different>) -> String {
    match different {
        Some(different) => format!("The result depends on the schedule: {} is the first with another.", different.seed),
        None => format!("{n} adversarial schedules gave the same result."),
    }
}

/// Findings for standard error: the first few in full, the rest as a count. `quiet` leaves warnings out.
pub(crate) fn shown(program: &Program, findings: &[Diagnostic], quiet: bool) -> String {
    let wanted = |f: &&Diagnostic| !quiet || f.severity == Severity::Error;
    let all: Vec<Diagnostic> = findings.iter().filter(wanted).cloned().collect();
    let first = all.get(..MOST_SHOWN).unwrap_or(&all);
    let mut text = source::excerpts(program, first, output::color_err());
    if all.len() > first.len() {
        text += &format!("\n{} more findings; --format json has all.\n", all.len() - first.len());
    }
    text + &source::further(first)
}
