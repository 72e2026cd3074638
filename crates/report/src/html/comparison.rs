//! Two runs side by side.
//! Figures with ratios, branches, and the first difference in their issue streams.

use maud::{Markup, html};

use super::{heading, number, sentence, shown};
use crate::compare::{BranchPair, Comparison, Figure, LinePair, Parting, StreamIssue};
use crate::numbers::{grouped, real};

/// Makes the sections that cover both runs.
pub(super) fn sections(found: &Comparison) -> Markup {
    let [a, b] = [shown(&found.a.name), shown(&found.b.name)];
    html! {
        section.comparison {
            @for note in &found.notes { p { "Note: " (sentence(note)) } }
            @if !found.is_of_two_languages() {
                (heading(2, "First difference", None))
                (parting(found.parting.as_ref(), found.compared_to_the_end, [&a, &b]))
            }
            @if !found.branches.is_empty() { (heading(2, "Branches", Some(super::Scope::WholeRun))) (branches(&found.branches, [&a, &b])) }
            @for pairs in found.lines.chunk_by(|x, y| x.file == y.file) {
                @if let Some(first) = pairs.first() {
                    (heading(2, &format!("Lines of {}", shown(&first.file)), Some(super::Scope::WholeRun)))
                    (lines(pairs, [&a, &b]))
                }
            }
            (heading(2, "Figures", Some(super::Scope::WholeRun)))
            p.filter hidden {
                label for="both-filter" { "Show figures whose name contains " }
                input id="both-filter" type="search" autocomplete="off";
            }
            div.scroll tabindex="0" role="region" aria-label="Figures of both runs" {
                table.metrics {
                    thead { tr {
                        th scope="col" { "metric" } th.n scope="col" { "A: " (a) } th.n scope="col" { "B: " (b) }
                        th.n scope="col" { "B / A" } th scope="col" { "unit" }
                    } }
                    @for group in found.figures.chunk_by(|x, y| x.group == y.group) {
                        tbody {
                            @if let Some(first) = group.first() {
                                tr.group { th scope="rowgroup" colspan="5" { (first.group.title()) } }
                            }
                            @for figure in group { (row(figure)) }
                        }
                    }
                }
            }
        }
    }
}

fn row(figure: &Figure) -> Markup {
    let shown = |value: Option<_>| value.map_or_else(|| "-".to_owned(), number);
    let same = figure.ratio == Some(1.0);
    html! {
        tr.metric.same[same] {
            th scope="row" { (figure.metric) }
            td.n { (shown(figure.a)) }
            td.n { (shown(figure.b)) }
            td.n { (if same { "same".to_owned() } else { figure.ratio.map(|r| format!("{}x", real(r))).unwrap_or_default() }) }
            td { small { (figure.unit) } }
        }
    }
}

fn branches(pairs: &[BranchPair], [a, b]: [&str; 2]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Branches of both runs" {
            table {
                thead {
                    tr {
                        th.n scope="col" { "line" } th scope="col" { "branch" }
                        th.n scope="col" { "executed, A: " (a) } th.n scope="col" { "executed, B: " (b) }
                        th.n scope="col" title="p: predicated; times it would have diverged" { "divergent, A" }
                        th.n scope="col" title="p: predicated; times it would have diverged" { "divergent, B" }
                    }
                }
                tbody {
                    @for pair in pairs {
                        tr {
                            td.n { (pair.line) }
                            td { code { (shown(&pair.text)) } }
                            @for n in pair.executed { td.n { (grouped(n)) } }
                            @for side in [0, 1] { td.n { (pair.divergence(side)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Makes the table of CUDA lines of PTX and of its machine code.
fn lines(pairs: &[LinePair], [a, b]: [&str; 2]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="CUDA lines of both runs" {
            table {
                thead {
                    tr {
                        th.n scope="col" { "line" }
                        th.n scope="col" { "executed, A: " (a) } th.n scope="col" { "executed, B: " (b) }
                        th.n scope="col" title="p: predicated; times it would have diverged" { "divergent, A" }
                        th.n scope="col" title="p: predicated; times it would have diverged" { "divergent, B" }
                        th.n scope="col" title="cycles that warps waited" { "waited, A" }
                        th.n scope="col" title="cycles that warps waited" { "waited, B" }
                        th scope="col" { "for (A)" } th scope="col" { "for (B)" }
                    }
                }
                tbody {
                    @for pair in pairs {
                        tr {
                            td.n { (pair.line) }
                            @for n in pair.executed { td.n { (grouped(n)) } }
                            @for side in [0, 1] { td.n { (pair.divergence(side)) } }
                            @for n in pair.stalled { td.n { (grouped(n)) } }
                            @for stall in pair.main_stall { td { (stall.unwrap_or_default()) } }
                        }
                    }
                }
            }
        }
    }
}

fn parting(parting: Option<&Parting>, to_the_end: bool, [a, b]: [&str; 2]) -> Markup {
    let issue = |issue: &Option<StreamIssue>| {
        html! {
            @match issue {
                Some(issue) => {
                    "line " (issue.line) ": " code { (shown(&issue.text)) } ", active " (issue.active) " ("
                    (issue.active.count()) ")"
                }
                None => { "nothing: its warp has ended" }
            }
        }
    };
    html! {
        @match parting {
            Some(at) => {
                p { "Block 0, warp " (at.warp) ": the first " (grouped(at.issue as u64)) " instructions are equal. Next:" }
                ul {
                    li { "A (" (a) ") issues " (issue(&at.a)) }
                    li { "B (" (b) ") issues " (issue(&at.b)) }
                }
            }
            None if to_the_end => { p { "The warps of block 0 issue the same instructions for the same lanes." } }
            None => { p { "The warps of block 0 issue the same instructions as far as they were compared." } }
        }
    }
}
