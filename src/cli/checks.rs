//! Checks and schedules of `run` and `check --run`, and their findings.

use simt_core::checks::Checks;
use simt_core::diag::{Diagnostic, Severity};
use simt_core::machine::Host;
use simt_core::schedules::Different;
use simt_core::{Job, Program};
use simt_report::simulate::{self, Simulation};

use super::{Failure, output, source};

/// Findings shown of one run. Later ones often follow from the first.
const MOST_SHOWN: usize = 10;

/// Parses the list of `--checks=LIST`.
pub(crate) fn chosen(list: Option<&str>) -> Result<Option<Checks>, Failure> {
    let Some(list) = list else { return Ok(None) };
    let names = list.split(',').map(str::trim);
    Checks::named(names).map(Some).map_err(|unknown| {
        let all = Checks::NAMES.join(", ");
        Failure::new(format!(
            "--checks={list}: no check `{unknown}`\nhelp: choose from {all}, or all"
        ))
    })
}

/// Checks and schedules of a run.
pub(crate) struct Wanted {
    /// Enabled checks.
    pub(crate) on: Option<Checks>,
    /// Number of adversarial schedules to try.
    pub(crate) schedules: u64,
}

impl Wanted {
    /// Runs the kernel; also returns the findings of checks and schedules.
    pub(crate) fn run(
        &self,
        job: Job<'_>,
        host: &dyn Host,
    ) -> Result<(Simulation, Vec<Diagnostic>), Failure> {
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

/// Describes the result of other schedules.
fn tried(n: u64, different: Option<&Different>) -> String {
    match different {
        Some(different) => format!(
            "The result depends on the schedule: schedule {} is the first whose result differs.",
            different.seed
        ),
        None => format!("{n} adversarial schedules gave the same result."),
    }
}

/// Renders findings for standard error: the first few, then a count. `quiet` omits warnings.
pub(crate) fn shown(program: &Program, findings: &[Diagnostic], quiet: bool) -> String {
    let wanted = |f: &&Diagnostic| !quiet || f.severity == Severity::Error;
    let all: Vec<Diagnostic> = findings.iter().filter(wanted).cloned().collect();
    let first = all.get(..MOST_SHOWN).unwrap_or(&all);
    let mut text = source::excerpts(program, first, output::color_err());
    if all.len() > first.len() {
        text +=
            &format!("\n{} more findings; --format json prints all.\n", all.len() - first.len());
    }
    text + &source::further(first)
}
