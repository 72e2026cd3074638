//! The source next to the timeline: every line with its cost in the whole run.
//!
//! The columns are those of `run --annotate`. A long text is cut to the range from the first to the
//! last executed line, and to [`MOST_LINES`], which bounds the size of the page. A listing of
//! machine code shows its instructions with their CUDA and PTX lines, without facts and encodings.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{Part, shown};
use crate::Run;
use crate::annotate::{Heat, Line, Source, by_line, compact};
use crate::numbers::{grouped, percent};

/// Maximum lines of a text that is shown whole.
const WHOLE: usize = 1500;
/// Maximum lines shown of a longer text.
const MOST_LINES: usize = 6000;
/// Maximum characters shown of a line.
const MOST_CHARACTERS: usize = 300;

/// Makes the listings, one per source, of which one is visible.
pub(super) fn listings(part: Part<'_>, id: &str) -> Markup {
    let own = by_line(part.run, false);
    let origins = by_line(part.run, true);
    let none = BTreeMap::new();
    let lines_of = |source: &Source| {
        let files = if source.name == part.run.program { &own } else { &origins };
        files.get(source.name.as_str()).unwrap_or(&none)
    };
    let machine = machine_lines(part.run);
    let empty = BTreeMap::new();
    let machine_of = |source: &Source| match source.name == part.run.program {
        true => &machine,
        false => &empty,
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
                    (listing(source, lines_of(source), machine_of(source)))
                }
            }
        }
    }
}

/// Returns the first and last line to show, from 1, and a note if lines are left out.
fn extent(texts: usize, lines: &BTreeMap<u32, Line>) -> (usize, usize, Option<String>) {
    let executed = |n: Option<&u32>| n.map_or(1, |&n| n as usize);
    let (first, last) = (executed(lines.keys().next()), executed(lines.keys().next_back()));
    if texts <= WHOLE {
        return (1, texts.max(last), None);
    }
    let last = last.min(first.saturating_add(MOST_LINES - 1));
    let note = format!("Showing lines {first} to {last} of {}.", grouped(texts as u64));
    (first, last, Some(note))
}

/// Returns the texts of machine instructions by line: CUDA line, PTX line, address, instruction.
fn machine_lines(run: &Run) -> BTreeMap<u32, &str> {
    let of_machine = run.instructions.iter().filter(|row| row.machine.is_some());
    of_machine.map(|row| (row.line, row.text.as_str())).collect()
}

fn listing(source: &Source, lines: &BTreeMap<u32, Line>, machine: &BTreeMap<u32, &str>) -> Markup {
    let texts: Vec<&str> = source.text.as_deref().unwrap_or_default().lines().collect();
    let (first, last, note) = extent(texts.len(), lines);
    let time: u64 = lines.values().map(Line::time).sum();
    let hottest = lines.values().map(Line::time).max().unwrap_or(0);
    let none = Line::default();
    html! {
        table.source {
            caption {
                (shown(&source.name))
                @if source.text.is_none() { " (source not found next to the program: line numbers only)" }
                @if let Some(note) = note { " " (note) }
            }
            thead { tr {
                th.at scope="col" title="lanes that run this line or wait there at the selected \
                                         moment" { "now" }
                th.n scope="col" { "line" }
                th scope="col" { "source" }
                th.n scope="col" title="share of issue slots and waiting; >> hottest line" { "time" }
                th.n scope="col" title="instructions that warps executed" { "exec" }
                th.n scope="col" title="divergent branches; p: predicated branches, and how often \
                                        they would have diverged" { "div" }
                th.n scope="col" title="average number of active lanes" { "lanes" }
                th.n scope="col" title="32-byte sectors" { "sect" }
                th.n scope="col" title="cycles that warps waited to issue it" { "wait" }
                th scope="col" title="state of the longest wait" { "for" }
            } }
            tbody {
                @for number in first..=last {
                    @let line = u32::try_from(number).ok().and_then(|n| lines.get(&n)).unwrap_or(&none);
                    @let text = u32::try_from(number).ok().and_then(|n| machine.get(&n)).copied();
                    @let is_shown = if machine.is_empty() {
                        source.text.is_some() || line.time() > 0
                    } else {
                        text.is_some()
                    };
                    @if is_shown {
                        (row(number, text.or_else(|| texts.get(number - 1).copied()).unwrap_or_default(), line, time, hottest))
                    }
                }
            }
        }
    }
}

fn row(number: usize, text: &str, line: &Line, time: u64, hottest: u64) -> Markup {
    let heat = line.heat(time, hottest);
    let share =
        u32::try_from(u128::from(line.time()) * 1000 / u128::from(time.max(1))).unwrap_or(1000);
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
                    @if heat == Heat::Hottest { span.hottest title="hottest line" { ">> " } }
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

/// Makes a cell with a count in few digits; the tooltip has all digits.
fn count(n: u64) -> Markup {
    html! {
        @match n {
            0 => td {},
            1..10_000 => td.n { (n) },
            _ => td.n title=(grouped(n)) { (compact(n)) },
        }
    }
}
