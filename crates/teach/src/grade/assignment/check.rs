//! The check of an assignment against its programs, machines and metrics.

use std::collections::BTreeSet;

use super::super::rules::{Answer, Band, Rule, Than};
use super::Assignment;
use simt_core::checks::Checks;
use simt_report::metrics;

impl Assignment {
    pub(super) fn check(&self, faults: &mut Vec<String>) {
        let spec = &self.spec;
        let mut fault = |ok: bool, text: &dyn Fn() -> String| {
            if !ok {
                faults.push(text());
            }
        };
        fault(!spec.cases.is_empty(), &|| "`cases`: expected at least one case".into());
        fault(!spec.criteria.is_empty(), &|| "`criteria`: expected at least one criterion".into());
        fault(self.reference.kernel(Some(&spec.kernel)).is_ok(), &|| {
            format!("`kernel`: `{}` has no kernel `{}`", spec.reference, spec.kernel)
        });
        for (what, names) in [
            ("case", spec.cases.iter().map(|c| c.name.as_str()).collect::<Vec<_>>()),
            ("criterion", spec.criteria.iter().map(|c| c.id.as_str()).collect()),
            ("machine", spec.machines.iter().map(String::as_str).collect()),
        ] {
            let mut seen = BTreeSet::new();
            for name in names {
                fault(seen.insert(name), &|| format!("two {what} entries are named `{name}`"));
            }
        }
        for name in spec.choices.keys().chain(spec.cases.iter().flat_map(|case| case.set.keys())) {
            let known = self.reference.plan.constants().any(|constant| constant == name);
            fault(known, &|| {
                format!(
                    "`{}` has no constant `{name}`; add `//! const {name} = ..`",
                    spec.reference
                )
            });
        }
        let known_case = |name: &String| spec.cases.iter().any(|case| case.name == *name);
        let known_machine = |name: &String| spec.machines.contains(name);
        for case in &spec.cases {
            for machine in &case.machines {
                fault(known_machine(machine), &|| {
                    format!("case `{}`: `{machine}` is not in `machines`", case.name)
                });
            }
        }
        for criterion in &spec.criteria {
            let id = &criterion.id;
            let (cases, machines) = criterion.rule.runs().unwrap_or_default();
            for case in cases.iter().filter(|case| !known_case(case)) {
                fault(false, &|| format!("criterion `{id}`: unknown case `{case}`"));
            }
            for machine in machines.iter().filter(|machine| !known_machine(machine)) {
                fault(false, &|| format!("criterion `{id}`: `{machine}` is not in `machines`"));
            }
            fault(criterion.points.is_finite() && criterion.points >= 0.0, &|| {
                format!("criterion `{id}`: expected 0 or more points, found {}", criterion.points)
            });
            let bounded = |band: &Band| {
                (band.at_most.is_some() || band.at_least.is_some())
                    && (0.0..=criterion.points).contains(&band.points)
            };
            fault(criterion.bands.iter().all(bounded), &|| {
                format!(
                    "criterion `{id}`: expected a band with `at_most` or `at_least` and 0 to {} \
                     points",
                    criterion.points
                )
            });
            let full = |bands: &[Band]| {
                bands.iter().any(|band| (band.points - criterion.points).abs() < 1e-9)
            };
            let bands = if criterion.bands.is_empty() {
                criterion.rule.usual_bands(criterion.points)
            } else {
                criterion.bands.clone()
            };
            fault(full(&bands), &|| {
                format!(
                    "criterion `{id}`: no band gives the full {} points; add one with `points: \
                     {0}`",
                    criterion.points
                )
            });
            match &criterion.rule {
                Rule::Checks { kinds, .. } => {
                    if let Err(unknown) = Checks::named(kinds.iter().map(String::as_str)) {
                        let all = Checks::NAMES.join(", ");
                        fault(false, &|| {
                            format!(
                                "criterion `{id}`: unknown check `{unknown}`; expected one of {all}"
                            )
                        });
                    }
                }
                Rule::Metric { name, .. } => {
                    fault(metrics::find(name).is_some(), &|| unknown_metric(id, name))
                }
                Rule::Question { answer: Answer::Metric { name, of, case, machine }, .. } => {
                    fault(metrics::find(name).is_some(), &|| unknown_metric(id, name));
                    fault(*of != Than::Absolute, &|| {
                        format!("criterion `{id}`: expected `of: Reference` or `of: Baseline`")
                    });
                    fault(known_case(case) && known_machine(machine), &|| {
                        format!("criterion `{id}`: no case `{case}` on `{machine}`")
                    });
                }
                _ => {}
            }
        }
        for entry in &spec.leaderboard {
            fault(metrics::find(&entry.metric).is_some(), &|| {
                unknown_metric(&entry.name, &entry.metric)
            });
            fault(known_case(&entry.case) && known_machine(&entry.machine), &|| {
                format!(
                    "leaderboard `{}`: no case `{}` on `{}`",
                    entry.name, entry.case, entry.machine
                )
            });
            let hidden = spec.cases.iter().any(|case| case.hidden && case.name == entry.case);
            fault(!hidden, &|| {
                format!(
                    "leaderboard `{}`: `{}` is hidden, but a leaderboard is public",
                    entry.name, entry.case
                )
            });
        }
    }
}

fn unknown_metric(of: &str, name: &str) -> String {
    format!("`{of}`: {}", metrics::unknown(name))
}
