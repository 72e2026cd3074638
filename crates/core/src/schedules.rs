//! Search for a schedule of warps and lane groups that changes the result.
//!
//! The kernel runs again under adversarial schedules ([`Policy::Adversarial`]), one per seed. A
//! program without races gives the same result under all of them, except for uses of `%clock` and
//! the rounding of float atomics.

use crate::diag::{Diagnostic, Severity};
use crate::job::Job;
use crate::launch::Launch;
use crate::machine::{DoesNotFit, Finish};

/// A schedule whose result differs.
#[derive(Clone, Debug)]
pub struct Different {
    /// Seed of the schedule.
    pub seed: u64,
    /// The difference, as a finding.
    pub finding: Diagnostic,
}

/// Runs a job under the adversarial schedules 1 to `n` until a result differs.
///
/// A result differs if the outcome is not `finish` or the buffers are not those of `done`.
///
/// # Errors
/// Fails if a block does not fit the machine.
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
                message: format!("the result of schedule {seed} differs: {what}"),
                labels: Vec::new(),
                help: Some(format!(
                    "repeat it with `--schedule {seed}`; find unordered accesses with `--checks`"
                )),
            };
            return Ok(Some(Different { seed, finding }));
        }
    }
    Ok(None)
}

/// Describes the first difference between two results, if any.
fn difference(there: (&Finish, &Launch), here: (&Finish, &Launch)) -> Option<String> {
    if there.0.name() != here.0.name() {
        return Some(format!("it ends in `{}` instead of `{}`", there.0.name(), here.0.name()));
    }
    if !matches!(here.0, Finish::Ok) {
        return None; // the memory of a stopped run means nothing
    }
    let mut all = there
        .1
        .buffers
        .iter()
        .zip(&here.1.buffers)
        .filter(|(there, here)| there.words != here.words);
    let (there, here) = all.next()?;
    let element = u64::from(here.element.bytes()).max(1);
    let different = |i: &u64| there.element_text(*i) != here.element_text(*i);
    let mut indices = (0..here.bytes / element).filter(different);
    let first = indices.next()?;
    let more = match indices.count() {
        0 => String::new(),
        more => format!("; {more} more elements differ"),
    };
    let (name, there, here) = (&here.name, there.element_text(first), here.element_text(first));
    Some(format!("`{name}[{first}]` is {there} instead of {here}{more}"))
}
