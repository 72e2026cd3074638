//! Whether what comes out depends on the order in which warps and groups of lanes run.
//!
//! The kernel is run again under adversarial schedules ([`Policy::Adversarial`]), each by its seed. A program without races
//! gives the same under all of them, except for what it makes of `%clock`, and the rounding of float atomics.

use crate::diag::{Diagnostic, Severity};
use crate::job::Job;
use crate::launch::Launch;
use crate::machine::{DoesNotFit, Finish};

/// A schedule with another result.
#[derive(Clone, Debug)]
pub struct Different {
    /// Its seed.
    pub seed: u64,
    /// What is different, as a finding.
    pub finding: Diagnostic,
}

/// Runs `launch` under the adversarial schedules 1 to `n`, until one ends otherwise than `finish`, or leaves other values than `done`.
///
/// # Errors
/// When a block does not fit the machine.
pub fn another_result(
    job: &Job<'_>,
    n: u64,
    (finish, done): (&Finish, &Launch),
) -> Result<Option<Different>, DoesNotFit> {
    for seed in 1..=n {
        let (machine, options) = Job::adversarial(job.machine, &job.options, seed);
        let outcome = Job { options, ..job.on(&machine) }.execute(&())?;
        if let Some(what) = difference((&outcome.finish, &outcome.launch), (finish, done)) {
            let finding = Diagnostic {
                severity: Severity::Error,
                code: "order-dependent",
                message: format!("schedule {seed} gives another result: {what}"),
                labels: Vec::new(),
                help: Some(format!("`--schedule {seed}` runs it again; `--checks` shows what is not ordered")),
            };
            return Ok(Some(Different { seed, finding }));
        }
    }
    Ok(None)
}

/// What is different there from here.
fn difference(there: (&Finish, &Launch), here: (&Finish, &Launch)) -> Option<String> {
    if there.0.name() != here.0.name() {
        return Some(format!("it ends in `{}`, and without it in `{}`", there.0.name(), here.0.name()));
    }
    if !matches!(here.0, Finish::Ok) {
        return None; // what a run leaves behind that was stopped says nothing
    }
    let mut all = there.1.buffers.iter().zip(&here.1.buffers).filter(|(there, here)| there.words != here.words);
    let (there, here) = all.next()?;
    let element = u64::from(here.element.bytes()).max(1);
    let different = |i: &u64| there.element_text(*i) != here.element_text(*i);
    let mut indices = (0..here.bytes / element).filter(different);
    let first = indices.next()?;
    let more = match indices.count() {
        0 => String::new(),
        more => format!("; {more} more elements of it differ"),
    };
    let (name, there, here) = (&here.name, there.element_text(first), here.element_text(first));
    Some(format!("`{name}[{first}]` is {there} instead of {here}{more}"))
}
