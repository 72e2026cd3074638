//! Prints pages and figures.
//! For the terminal in a given width, and as the reference page of the documentation.

use std::fmt::Write as _;

use super::{Example, Page, Subject, pages, worked};
use crate::evidence::{CodeKind, PAGE, Standing};
use crate::metrics::{self, Value};
use crate::numbers::{grouped, real, tenths_of_percent};
use crate::{Run, wrap};

/// Indentation of the text under a label.
const HANG: &str = "            ";

/// Prints a page in lines of at most `width` columns; commands are not wrapped.
pub fn page(page: &Page, width: usize) -> String {
    let mut out = format!("{}\n\n", title(page));
    let mut section = |word: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&wrap(text, width, &format!("  {word:<10}"), HANG));
            out.push('\n');
        }
    };
    section("means", &page.meaning);
    section(
        if matches!(page.subject, Subject::Metric(_)) { "formula" } else { "how" },
        &page.formula,
    );
    for (i, other) in page.elsewhere.iter().enumerate() {
        section(if i == 0 { "elsewhere" } else { "" }, &format!("{}: {}", other.tool, other.name));
    }
    if let Subject::Metric(metric) = page.subject {
        section("also", &metric.aliases.join(", "));
        let [ptx, sass] = CodeKind::ALL.map(|code| Standing::of(metric, code).measured());
        section("trust", &format!("{ptx} ({PAGE})"));
        if sass != ptx {
            section("", &sass);
        }
    }
    section("advice", page.remedy);
    match page.example {
        Example::None(why) => section("example", &format!("none. {why}")),
        Example::Command(command) => _ = writeln!(out, "  example   {command}"),
        Example::Run { .. } => _ = writeln!(out, "  example   {}", command(page)),
        Example::Text(text) => {
            out.push_str("  example   ");
            out.push_str(&text.replace('\n', &format!("\n{HANG}")));
            out.push('\n');
        }
    }
    out
}

/// Returns name, kind and unit.
fn title(page: &Page) -> String {
    match page.subject {
        Subject::Metric(metric) if !metric.unit.is_empty() => {
            format!("{} [{}]", page.name, metric.unit)
        }
        _ => page.name.to_owned(),
    }
}

/// Returns the command of a page's example.
fn command(page: &Page) -> String {
    match page.example {
        Example::Run { program, options } => {
            format!("simt-sim explain {} --run {program} {options}", page.name)
                .trim_end()
                .to_owned()
        }
        Example::Command(command) => command.to_owned(),
        Example::Text(_) | Example::None(_) => String::new(),
    }
}

/// Lists every name with its meaning, by subject, one per line.
pub fn listing(width: usize) -> String {
    let mut out = String::new();
    let mut heading = "";
    for page in pages() {
        if page.subject.heading() != heading {
            heading = page.subject.heading();
            let _ = writeln!(out, "{}{heading}", if out.is_empty() { "" } else { "\n" });
        }
        let meaning = first_sentence(&page.meaning);
        out.push_str(&wrap(meaning, width, &format!("  {:<32} ", page.name), &" ".repeat(35)));
        out.push('\n');
    }
    out
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

/// `docs/reference/explain.md`.
pub fn reference() -> String {
    let mut out = String::from(
        "# Explanations of every name\n\n\
         `simt-sim explain NAME` prints these pages, `simt-sim explain --list` lists them, and\n\
         `--run FILE` puts the numbers of a run into the formula. The text below a diagnostic's\n\
         code is the shortest that raises it; statements and directives belong in a kernel that\n\
         declares what they use.\n\n\
         This page is generated: `BLESS=1 cargo test --test suite explain` rewrites it.\n",
    );
    let mut heading = "";
    for page in pages() {
        if page.subject.heading() != heading {
            heading = page.subject.heading();
            let _ = writeln!(out, "\n## {heading}");
        }
        let _ = writeln!(out, "\n### {}\n\n{}\n", page.name, page.meaning);
        let kind = if matches!(page.subject, Subject::Metric(_)) { "Formula" } else { "How" };
        let _ = writeln!(out, "- {kind}: {}", page.formula);
        for other in &page.elsewhere {
            let _ = writeln!(out, "- {}: {}", other.tool, other.name);
        }
        let _ = writeln!(out, "- Advice: {}", page.remedy);
        match page.example {
            Example::None(why) => _ = writeln!(out, "- Example: none. {why}"),
            Example::Run { .. } | Example::Command(_) => {
                _ = writeln!(out, "- Example: `{}`", command(&page))
            }
            Example::Text(text) => _ = writeln!(out, "\n```text\n{text}\n```"),
        }
    }
    out
}

/// Prints the figures of a run that belong to a page.
/// Lines have at most `width` columns.
pub fn in_run(page: &Page, run: &Run, width: usize) -> String {
    let Run { program, kernel, mode, machine, .. } = run;
    let mut out =
        wrap(&format!("In this run ({program}, {kernel}, {mode} on {machine})"), width, "", "  ");
    out.push('\n');
    match page.subject {
        Subject::Metric(metric) => in_formula(&mut out, metric, run),
        Subject::State(stall) => in_state(&mut out, stall.name(), run, width),
        Subject::Slot => in_slots(&mut out, page.name, run),
        Subject::Verdict | Subject::Exit => ended(&mut out, run, width),
        Subject::Code(_) | Subject::Lane => {}
    }
    out
}

fn in_formula(out: &mut String, metric: &'static metrics::Metric, run: &Run) {
    let name = metric.name;
    let result = run.metric(name).map(number);
    if let (Some(worked), Some(_)) = (worked(metric, run), &result) {
        let terms: Vec<(String, String, &str)> =
            worked.terms.iter().map(|t| (t.name.to_owned(), number(t.value), t.unit)).collect();
        let names = terms.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        let values = terms.iter().map(|(_, value, _)| value.len()).max().unwrap_or(0);
        for (name, value, unit) in &terms {
            let _ = writeln!(
                out,
                "{}",
                format!("  {name:<names$}  {value:>values$} {unit}").trim_end()
            );
        }
        let _ = writeln!(out, "\n  {name} = {}", worked.filled(number));
        let gap = " ".repeat(name.len());
        let _ = writeln!(
            out,
            "{}",
            format!("  {gap} = {} {}", result.unwrap_or_default(), metric.unit).trim_end()
        );
        return;
    }
    match result {
        Some(value) => {
            _ = writeln!(out, "{}", format!("  {name} = {value} {}", metric.unit).trim_end())
        }
        None => {
            _ = writeln!(
                out,
                "  {name} has no value: its denominator is zero, or this machine does not model it"
            )
        }
    }
}

/// Text in place of figures of time.
const NO_CLOCK: &str = "  no figures: the run had no clock\n";

/// Prints the cycles in a state, and the instructions that waited longest in it.
fn in_state(out: &mut String, state: &'static str, run: &Run, width: usize) {
    let (stalls, slots) = (&run.stalls, &run.slots);
    if !run.is_timed() {
        return out.push_str(NO_CLOCK);
    }
    let cycles = stalls.get(&state).copied().unwrap_or(0);
    let all: u64 = stalls.0.iter().map(|(_, n)| n).sum();
    let lost = slots.lost.get(&state).copied().unwrap_or(0);
    let _ = writeln!(
        out,
        "  {state}: {} of {} stalled warp cycles, {} %",
        grouped(cycles),
        grouped(all),
        share(cycles, all)
    );
    if slots.used > 0 {
        let used = slots.used;
        let each = real(cycles as f64 / used as f64);
        let _ = writeln!(
            out,
            "  per issue: {} / {} issues = {each} cycles",
            grouped(cycles),
            grouped(used)
        );
    }
    let _ = writeln!(
        out,
        "  issue slots lost: {} of {}, {} %",
        grouped(lost),
        grouped(slots.total),
        share(lost, slots.total)
    );
    let waits = run.instructions.iter().filter_map(|row| Some((row, row.wait?)));
    let mut rows: Vec<_> = waits.filter(|(_, wait)| wait.main_stall == Some(state)).collect();
    rows.sort_by_key(|(_, wait)| std::cmp::Reverse(wait.stalled_cycles));
    if !rows.is_empty() {
        out.push_str(
            "  instructions that waited mainly in this state (with cycles in all states):\n",
        );
    }
    for (row, wait) in rows.iter().take(3) {
        let line =
            format!("line {}: {} cycles  {}", row.line, grouped(wait.stalled_cycles), row.text);
        out.push_str(&wrap(&line, width, "    ", "      "));
        out.push('\n');
    }
}

fn in_slots(out: &mut String, name: &'static str, run: &Run) {
    if !run.is_timed() {
        return out.push_str(NO_CLOCK);
    }
    let of_run = &run.slots;
    let slots = if ["no_warp", "launch"].contains(&name) {
        of_run.lost.get(&name).copied().unwrap_or(0)
    } else {
        of_run.used
    };
    let total = of_run.total;
    let _ = writeln!(
        out,
        "  {name}: {} of {} issue slots, {} %",
        grouped(slots),
        grouped(total),
        share(slots, total)
    );
}

fn ended(out: &mut String, run: &Run, width: usize) {
    let after = match run.is_timed() {
        true => format!(" after {} cycles", grouped(run.cycles)),
        false => String::new(),
    };
    let mut lines = vec![format!("ended{after}: {}", run.finish.name())];
    if let Some(verdict) = &run.verdict {
        lines.push(verdict.message.clone());
        let lane = |l: &crate::LaneGroup| {
            format!("{} of warp {}, line {}: {}", l.named(), l.warp, l.line, l.state)
        };
        lines.extend(verdict.lanes.iter().map(lane));
    }
    let failed = run.expectations.iter().filter(|e| !e.passed).count();
    lines.push(format!("{failed} of {} expectations failed", run.expectations.len()));
    for line in lines {
        out.push_str(&wrap(&line, width, "  ", "    "));
        out.push('\n');
    }
}

fn number(value: Value) -> String {
    match value {
        Value::Count(n) => grouped(n),
        Value::Real(x) => real(x),
    }
}

/// Formats a share as a percentage with one decimal.
fn share(part: u64, whole: u64) -> String {
    let tenths =
        tenths_of_percent(&[part, whole.saturating_sub(part)]).first().copied().unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}
