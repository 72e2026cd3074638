//! The label of a metric: what kind of figure it is, and how it came out on kernels that nothing was tuned on.

use super::super::metrics::{Basis, Metric};
use super::{Errors, Evidence, Fingerprint, known};

/// Where a reader finds the evidence.
pub const PAGE: &str = "docs/validation.md";

/// Kernels in which a metric must occur for its errors to be evidence.
const ENOUGH: usize = 5;

/// How far the figures of a metric may be trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing<'e> {
    /// What kind of figure it is.
    pub basis: Basis,
    /// Its errors on kernels that only state the error.
    errors: Option<&'e Errors>,
    evidence: Option<&'e Evidence>,
}

impl Standing<'static> {
    /// That of a metric, by the evidence that is compiled in.
    pub fn of(metric: &Metric) -> Standing<'static> {
        Standing::by(known(), metric)
    }
}

impl<'e> Standing<'e> {
    /// That of a metric, by some evidence.
    pub fn by(evidence: Option<&'e Evidence>, metric: &Metric) -> Standing<'e> {
        let errors = evidence.and_then(|e| errors(e, metric)).filter(|e| e.kernels >= ENOUGH);
        Standing { basis: metric.basis(), errors, evidence }
    }

    /// `exact on 29 of 29 unseen kernels (H200)`: how it came out with the machine file that was measured with.
    pub fn evidence(&self) -> String {
        let (Some(errors), Some(evidence)) = (self.errors, self.evidence) else {
            return "not measured on unseen code".to_owned();
        };
        let of = |n: usize| format!("on {n} of {} unseen kernels ({})", errors.kernels, evidence.gpu());
        let most = Errors::STEPS[Errors::STEPS.len() - 1];
        match errors.within {
            _ if 10 * errors.exact >= 9 * errors.kernels => format!("exact {}", of(errors.exact)),
            Some((step, kernels)) => format!("within {step} % {}", of(kernels)),
            None => format!("unreliable: over {most} % off {}", of(errors.beyond)),
        }
    }

    /// Kind and evidence, as far as it holds of a run with this fingerprint.
    pub fn words(&self, run: &Fingerprint) -> String {
        let kind = self.basis.words();
        let holds = self.evidence.is_some_and(|e| match self.basis {
            Basis::Program | Basis::Compiler => e.fingerprint.counts == run.counts,
            Basis::Model => e.fingerprint.whole == run.whole,
        });
        if holds { self.measured() } else { format!("{kind}; not measured with this machine file") }
    }

    /// Kind and evidence, of the machine that was measured with.
    pub fn measured(&self) -> String {
        format!("{}; {}", self.basis.words(), self.evidence())
    }
}

/// The errors of a metric, or of the one that is the same figure in another unit: lanes and their share of the warp.
fn errors<'e>(evidence: &'e Evidence, metric: &Metric) -> Option<&'e Errors> {
    let of = |counter: &str| evidence.metrics.iter().find(|e| e.counter == counter);
    let ncu = metric.ncu?;
    of(ncu).or_else(|| of(&ncu.replace(".pct", ".ratio"))).and_then(|e| e.held.as_ref())
}
