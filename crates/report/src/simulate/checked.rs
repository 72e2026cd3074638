//! Runs with checks.

use super::{About, Simulation};
use crate::{CheckFinding, CheckPlace, Checked};
use simt_core::Job;
use simt_core::checks::{self, Account, Checks, Does, Finding, Kind, Place};
use simt_core::code::Scheme;
use simt_core::diag::{Diagnostic, Severity, line_column};
use simt_core::machine::{DoesNotFit, Finish, Hang, Host, Outcome};

/// A finished run with the findings of the checks.
pub struct CheckedSimulation {
    /// The run; its report lists the findings.
    pub simulation: Simulation,
    /// Findings, errors first, one per kind and pair of source lines.
    ///
    /// Messages have the number of occurrences.
    pub findings: Vec<Diagnostic>,
}

impl CheckedSimulation {
    /// Returns true if any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|f| f.severity == Severity::Error)
    }
}

/// Like [`simulate`](super::simulate), with checks, on one host thread.
///
/// # Errors
/// Fails if a block does not fit the machine.
pub fn simulate_checked(
    job: Job<'_>,
    host: &dyn Host,
    on: Checks,
) -> Result<CheckedSimulation, DoesNotFit> {
    let about = About::new(&job);
    let outcome = job.check(host, on)?;
    let About { program, code, .. } = &about;
    let (kernel, lock_step) = (code.kernel(), code.scheme() == Scheme::Stack);
    let Outcome {
        finish,
        cycles,
        active_sms,
        interleaved,
        occupancy,
        launch,
        observer: (counts, checker),
    } = outcome;
    let (mut found, left_out) = checker.finish();
    if let (Finish::Deadlock(hang), true) = (&finish, on.sync) {
        absences_of_hang(hang, &mut found);
    }

    let locations = program.locations();
    let account =
        Account { kernel, steps: code.ops(), launch: &launch, locations: &locations, lock_step };
    let fault = match &finish {
        Finish::Fault(report) if of_interest(on, &report.fault.kind) => {
            Some((&report.fault, &report.inst, report.block.0, report.warp))
        }
        _ => None,
    };
    let said = checks::judge(&account, &found, fault);
    let rows = said.iter().map(|(finding, times)| row(finding, *times, &program.text)).collect();
    let findings: Vec<Diagnostic> =
        said.into_iter().map(|(finding, times)| counted(finding, times)).collect();
    let outcome =
        Outcome { finish, cycles, active_sms, interleaved, occupancy, launch, observer: counts };
    let mut simulation = about.report(outcome);
    simulation.run.notes.push(note(on, &findings, left_out, &simulation.finish));
    simulation.run.checks = Some(Checked { on: on.names(), findings: rows, complete: !left_out });
    Ok(CheckedSimulation { simulation, findings })
}

/// Adds a finding for each instruction that causes a deadlock because it waits for lanes that never
/// arrive: a `.sync` instruction whose mask names them, or a block barrier.
fn absences_of_hang(hang: &Hang, found: &mut Vec<Finding>) {
    for stuck in hang.lanes.iter().filter(|stuck| !stuck.missing.is_empty()) {
        let kind = if stuck.aligned { Kind::BarrierInParts } else { Kind::MaskAbsent };
        match found.iter_mut().find(|f| f.kind == kind && f.here.pc == stuck.pc) {
            Some(known) => known.times += 1,
            None => {
                let (block, warp) = (stuck.block.0, stuck.warp);
                let here = Place { pc: stuck.pc, block, warp, lanes: stuck.lanes, does: Does::Is };
                found.push(Finding {
                    kind,
                    here,
                    there: None,
                    at: None,
                    detail: stuck.missing.list(),
                    times: 1,
                });
            }
        }
    }
}

/// Returns true if a fault belongs to an enabled check.
fn of_interest(on: Checks, kind: &simt_core::exec::FaultKind) -> bool {
    use simt_core::exec::FaultKind;
    match kind {
        FaultKind::OutOfBounds { .. }
        | FaultKind::Misaligned { .. }
        | FaultKind::ReadOnly { .. } => on.bounds,
        FaultKind::NotInMask { .. } | FaultKind::GatheredElsewhere { .. } => on.sync,
        _ => false,
    }
}

/// Returns the note of the report.
fn note(on: Checks, findings: &[Diagnostic], left_out: bool, finish: &Finish) -> String {
    let errors = findings.iter().filter(|f| f.severity == Severity::Error).count();
    let plural =
        |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    let found = match (errors, findings.len() - errors) {
        (0, 0) => match finish {
            Finish::Ok => "nothing found",
            // The verdict says what went wrong; no check has a name for it.
            _ => "no finding besides the verdict",
        }
        .to_owned(),
        (0, warnings) => plural(warnings, "warning"),
        (errors, 0) => plural(errors, "error"),
        (errors, warnings) => {
            format!("{}, {}", plural(errors, "error"), plural(warnings, "warning"))
        }
    };
    let less = if left_out { " Memory beyond 128 MiB was not checked for races." } else { "" };
    format!("Checked for {}: {found}.{less}", on.names().join(", "))
}

fn counted(finding: Diagnostic, times: u64) -> Diagnostic {
    match times {
        0 | 1 => finding,
        n => Diagnostic { message: format!("{} ({n} times)", finding.message), ..finding },
    }
}

fn row(finding: &Diagnostic, times: u64, text: &str) -> CheckFinding {
    let place = |l: &simt_core::diag::Label| CheckPlace {
        line: line_column(text, l.span.start).0,
        text: l.text.clone(),
    };
    CheckFinding {
        code: finding.code,
        severity: if finding.severity == Severity::Error { "error" } else { "warning" },
        message: finding.message.clone(),
        places: finding.labels.iter().map(place).collect(),
        help: finding.help.clone(),
        times,
    }
}
