//! The source beside the timeline: every line with what it cost in the whole run.
//!
//! The columns are those of `run --annotate`. A long text is shown from the first to the last line that was executed, and at most
//! [`MOST_LINES`] of those, so that the page's size depends on the program only so far.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{Part, shown};
use crate::annotate::{Heat, Line, Source, by_line, compact};
use crate::numbers::{grouped, percent};

/// A text of at most this many lines is shown whole.
const WHOLE: usize = 1500;
/// The most lines that are shown of a longer one.
const MOST_LINES: usize = 6000;
/// The most characters of a line that are shown.
const MOST_CHARACTERS: usize = 300;

/// The listings, one for each source, of which one is seen at a time.
pub(super) fn listings(part: Part<'_>, id: &str) -> Markup {
    let own = by_line(part.run, false);
    let origins = by_line(part.run, true);
    let none = BTreeMap::new();
    let lines_of = |source: &Source| {
        let files = if source.name == part.run.program { &own } else { &origins };
        files.get(source.name.as_str()).unwrap_or(&none)
    };
    html! {
        div.sources {
            p.over {
                @if part.sources.len() > 1 {
                    label for={ (id) "-source" } { strong { "Source" } } " "
                    select.source id={ (id) "-source" } {
                        @for (i, source) in part.sources.iter().enumerate() { option value=(i) { (shown(&source.name)) } }
                    }
                } @else {
                    strong { "Source" }
                }
                " " span.chip { "figures: whole run" } " " span."chip window" { "marks: window" }
            }
            @for (i, source) in part.sources.iter().enumerate() {
                div."listing scroll" data-source=(i) hidden[i > 0] tabindex="0" role="region"
                    aria-label={ "Source " (shown(&source.name)) } {
                    (listing(source, lines_of(source)))
                }
            }
        }
    }
}

/// The lines of a text to show, from 1, and what to say about those that are not.
fn extent(texts: usize, lines: &BTreeMap<u32, Line>) -> (usize, usize, Option<String>) {
    let executed = |n: Option<&u32>| n.map_or(1, |&n| n as usize);
    let (first, last) = (executed(lines.keys().next()), executed(lines.keys().next_back()));
    if texts <= WHOLE {
        return (1, texts.max(last), None);
    }
    let last = last.min(first.saturating_add(MOST_LINES - 1));
    let note = format!("Lines {first} to {last} of {} are shown.", grouped(texts as u64));
    (first, last, Some(note))
}

fn listing(source: &Source, lines: &BTreeMap<u32, Line>) -> Markup {
    let texts: Vec<&str> = source.text.as_deref().unwrap_or_default().lines().collect();
    let (first, last, note) = extent(texts.len(), lines);
    let time: u64 = lines.values().map(Line::time).sum();
    let hottest = lines.values().map(Line::time).max().unwrap_or(0);
    let none = Line::default();
    html! {
        table.source {
            caption {
                (shown(&source.name))
                @if source.text.is_none() { " (not found beside the program: line numbers only)" }
                @if let Some(note) = note { " " (note) }
            }
            thead { tr {
                th.at scope="col" title="at the time chosen in the timeline: the lanes that run this line, or wait there" { "now" }
                th.n scope="col" { "line" }
                th scope="col" { "source" }
                th.n scope="col" title="share of issue slots and of waiting; >> no line takes longer" { "time" }
                th.n scope="col" title="instructions that warps executed" { "exec" }
                th.n scope="col" title="branches at which lanes parted; p: branches that were predicated, and how often their lanes would have parted" { "div" }
                th.n scope="col" title="active lanes on average" { "lanes" }
                th.n scope="col" title="sectors of 32 bytes" { "sect" }
                th.n scope="col" title="cycles that warps waited to issue it" { "wait" }
                th scope="col" title="the state in which they waited longest" { "for" }
            } }
            tbody {
                @for number in first..=last {
                    @let line = u32::try_from(number).ok().and_then(|n| lines.get(&n)).unwrap_or(&none);
                    @if source.text.is_some() || line.time() > 0 {
                        (row(number, texts.get(number - 1).copied().unwrap_or_default(), line, time, hottest))
                    }
                }
            }
        }
    }
}

fn row(number: usize, text: &str, line: &Line, time: u64, hottest: u64) -> Markup {
    let heat = line.heat(time, hottest);
    let share = u32::try_from(u128::from(line.time()) * 1000 / u128::from(time.max(1))).unwrap_or(1000);
    let width = u128::from(line.time()) * 100 / u128::from(hottest.max(1));
    let code: String = text.chars().take(MOST_CHARACTERS).collect();
    let cut = code.len() < text.len();
    let stall = line.main_stall().filter(|_| line.stalled > 0).unwrap_or_default();
    html! {
        tr data-line=(number) .hot[heat != Heat::Cold] {
            td.at {}
            td.n.number { (number) }
            td.code { code { (shown(&code)) @if cut { "…" } } }
            @if line.time() == 0 {
                td colspan="2" {} td.n { (line.divergence()) } td colspan="4" {}
            } @else {
                td."n bar" style={ "--v:" (width) "%" } {
                    @if heat == Heat::Hottest { span.hottest title="no line takes longer" { ">> " } }
                    (percent(share).replace(' ', ""))
                }
                (count(line.executed))
                @if line.predicated.is_some() { td.n { (line.divergence()) } } @else { (count(line.divergent)) }
                td.n { (line.average_lanes().map(|lanes| format!("{lanes:.1}")).unwrap_or_default()) }
                (count(line.sectors))
                (count(line.stalled))
                td.for title=(stall) { (stall) }
            }
        }
    }
}

/// A cell with a count in few digits, and all of them for whoever points at it.
fn count(n: u64) -> Markup {
    html! {
        @match n {
            0 => td {},
            1..10_000 => td.n { (n) },
            _ => td.n title=(grouped(n)) { (compact(n)) },
        }
    }
}
