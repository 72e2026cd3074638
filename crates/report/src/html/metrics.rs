//! Metrics of the run, with formulas and with the run's numbers in them.

use maud::{Markup, html};

use super::{Scope, heading, number};
use crate::Run;
use crate::explain::worked;
use crate::metrics::{self, Group, Metric, Value};

/// Makes the table of metrics, by group.
pub(super) fn section(run: &Run, id: &str, level: u8) -> Markup {
    let mut groups: Vec<(Group, Vec<(&'static Metric, Value)>)> = Vec::new();
    for metric in metrics::all() {
        let Some(value) = run.metric(metric.name) else { continue };
        match groups.last_mut() {
            Some((group, rows)) if *group == metric.group => rows.push((metric, value)),
            _ => groups.push((metric.group, vec![(metric, value)])),
        }
    }
    html! {
        section.metrics {
            (heading(level, "Metrics", Some(Scope::WholeRun)))
            p.filter hidden {
                label for={ (id) "-filter" } { "Show metrics whose name or meaning contains " }
                input id={ (id) "-filter" } type="search" autocomplete="off";
            }
            div.scroll tabindex="0" role="region" aria-label="Metrics" {
                table.metrics {
                    thead { tr {
                        th scope="col" { "metric" } th.n scope="col" { "value" }
                        th scope="col" { "formula, then with this run's numbers" }
                    } }
                    @for (group, rows) in &groups {
                        tbody {
                            tr.group { th scope="rowgroup" colspan="3" { (group.title()) } }
                            @for (metric, value) in rows { (row(run, metric, *value)) }
                        }
                    }
                }
            }
        }
    }
}

fn row(run: &Run, metric: &'static Metric, value: Value) -> Markup {
    html! {
        tr.metric {
            th scope="row" {
                (metric.name)
                @if let Some(ncu) = metric.ncu { small title="name in Nsight Compute" { (ncu) } }
            }
            td.n { (number(value)) @if !metric.unit.is_empty() { small { " " (metric.unit) } } }
            td {
                (metric.meaning)
                small.formula { "= " (metric.formula) }
                @if let Some(worked) = worked(metric, run) {
                    small.formula.numbers { "= " (worked.filled(number)) " = " (number(value)) " " (metric.unit) }
                }
                small { (run.trust_of(metric)) }
            }
        }
    }
}
