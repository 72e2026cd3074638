//! The accuracy label of a metric: its basis, and its errors on unseen kernels.

use super::super::metrics::{Basis, Metric};
use super::{CodeKind, Errors, Evidence, Fingerprint, known};

/// Page with the evidence.
pub const PAGE: &str = "docs/reference/validation.md";

/// Minimum kernels in which a metric must occur for its errors to be evidence.
const ENOUGH: usize = 5;

/// Accuracy of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing<'e> {
    /// Basis of the figure.
    pub basis: Basis,
    /// Errors on the set *held*.
    errors: Option<&'e Errors>,
    evidence: Option<&'e Evidence>,
}

impl Standing<'static> {
    /// Returns the accuracy of a metric by the evidence that is compiled in.
    pub fn of(metric: &Metric, code: CodeKind) -> Standing<'static> {
        Standing { basis: code.basis(metric), ..Standing::by(known(code), metric) }
    }

    /// Returns the label of a metric in a run.
    pub fn label(metric: &Metric, run: &Fingerprint) -> String {
        Standing::of(metric, run.code).words(run)
    }
}

impl<'e> Standing<'e> {
    /// Returns the accuracy of a metric by given evidence.
    pub fn by(evidence: Option<&'e Evidence>, metric: &Metric) -> Standing<'e> {
        let errors = evidence.and_then(|e| errors(e, metric)).filter(|e| e.kernels >= ENOUGH);
        let code = evidence.map(|e| e.fingerprint.code).unwrap_or_default();
        Standing { basis: code.basis(metric), errors, evidence }
    }

    /// Formats the errors with the measured machine file.
    /// For example, `exact on 29 of 29 unseen kernels (H200)`.
    pub fn evidence(&self) -> String {
        let (Some(errors), Some(evidence)) = (self.errors, self.evidence) else {
            return "not measured on unseen code".to_owned();
        };
        let kernels = match evidence.fingerprint.code {
            CodeKind::Ptx => "unseen kernels",
            CodeKind::Sass => "unseen kernels of machine code",
        };
        let of = |n: usize| format!("on {n} of {} {kernels} ({})", errors.kernels, evidence.gpu());
        let most = Errors::STEPS[Errors::STEPS.len() - 1];
        match errors.within {
            _ if 10 * errors.exact >= 9 * errors.kernels => format!("exact {}", of(errors.exact)),
            Some((step, kernels)) => format!("within {step} % {}", of(kernels)),
            None => format!("unreliable: over {most} % off {}", of(errors.beyond)),
        }
    }

    /// Formats basis and evidence for a run with this fingerprint.
    /// Evidence for another machine file does not apply.
    pub fn words(&self, run: &Fingerprint) -> String {
        let kind = self.basis.words();
        if let Some(arch) = run.unmeasured {
            return format!("{kind}; machine code of sm_{arch} was not measured");
        }
        let holds = self.evidence.map(|e| &e.fingerprint).is_some_and(|measured| {
            measured.code == run.code
                && match self.basis {
                    Basis::Program | Basis::Compiler => measured.counts == run.counts,
                    Basis::Model => measured.whole == run.whole,
                }
        });
        if holds { self.measured() } else { format!("{kind}; not measured with this machine file") }
    }

    /// Formats basis and evidence for the measured machine file.
    pub fn measured(&self) -> String {
        format!("{}; {}", self.basis.words(), self.evidence())
    }
}

/// Returns the errors of a metric.
/// Lanes and their share of the warp are the same figure in two units.
fn errors<'e>(evidence: &'e Evidence, metric: &Metric) -> Option<&'e Errors> {
    let of = |counter: &str| evidence.metrics.iter().find(|e| e.counter == counter);
    let ncu = metric.ncu?;
    of(ncu).or_else(|| of(&ncu.replace(".pct", ".ratio"))).and_then(|e| e.held.as_ref())
}
