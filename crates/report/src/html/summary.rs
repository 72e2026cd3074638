//! The summary of a run: outcome, expectations and key figures.

use maud::{Markup, html};

use super::{Scope, heading, number, outcome, sentence, shape, shown};
use crate::numbers::{duration, grouped};
use crate::{Run, Verdict, metrics};

/// Metrics shown in the summary.
const FIRST: [&str; 6] = [
    "inst_per_warp",
    "divergent_branch",
    "warp_execution_efficiency",
    "gld_transactions",
    "shared_ld_bank_conflict",
    "achieved_occupancy",
];

/// Makes the line with program, mode, machine, shape and outcome.
pub(super) fn subtitle(run: &Run) -> Markup {
    let (word, good) = outcome(run);
    html! {
        p.subtitle {
            code { (shown(&run.program)) } ", " (run.mode) " on " (shown(&run.machine))
            "; grid " (shape(run.grid)) ", block " (shape(run.block)) ", " (grouped(run.warps))
            (if run.warps == 1 { " warp" } else { " warps" })
            @for (name, value) in &run.constants.0 { ", " code { (shown(name)) " = " (value) } }
            " "
            span.outcome.good[good].bad[!good] { (word) }
        }
    }
}

/// Makes the section of results.
pub(super) fn section(run: &Run, level: u8) -> Markup {
    html! {
        section.result {
            (heading(level, "Result", Some(Scope::WholeRun)))
            @if let Some(verdict) = &run.verdict { (hang(run, verdict)) }
            dl.tiles {
                @if run.is_timed() {
                    div { dt { "cycles" } dd { (grouped(run.cycles)) } }
                    @if run.machine_facts.clock_hz > 0 && run.cycles > 0 {
                        div { dt { "time" } dd { (duration(run.cycles as f64 / run.machine_facts.clock_hz as f64)) } }
                    }
                }
                @for metric in FIRST.iter().filter_map(|name| metrics::find(name)) {
                    @if let Some(value) = run.metric(metric.name) {
                        div title=(metric.meaning) {
                            dt { (metric.name) }
                            dd { (number(value)) @if !metric.unit.is_empty() { small { " " (metric.unit) } } }
                        }
                    }
                }
            }
            @if !run.expectations.is_empty() {
                ul.expectations {
                    @for e in &run.expectations {
                        li {
                            span.good[e.passed].bad[!e.passed] { (if e.passed { "ok" } else { "FAILED" }) }
                            " " code { (shown(&e.text)) }
                            @if !e.detail.is_empty() { " " (shown(&e.detail)) }
                        }
                    }
                }
            }
            @for note in &run.notes { p.note { (sentence(note)) } }
        }
    }
}

/// Makes the verdict of a run that did not finish.
fn hang(run: &Run, verdict: &Verdict) -> Markup {
    html! {
        div.verdict role="note" {
            p { strong { (run.finish.title().to_uppercase()) } ": " (shown(&verdict.message)) }
            @if !verdict.lanes.is_empty() {
                ul {
                    @for group in &verdict.lanes {
                        li {
                            "block " (group.block) " warp " (group.warp) ", " (group.named()) " (" (group.mask) "): "
                            (shown(&group.state)) "; line " (group.line) ": " code { (shown(&group.text)) }
                        }
                    }
                }
            }
            @if let Some(help) = &verdict.help { p { "Help: " (help) } }
        }
    }
}
