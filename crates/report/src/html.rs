//! A run, or a comparison of two runs, as one self-contained HTML file.
//! The file loads nothing: no network, no other file.
//!
//! [`run_page`] combines the figures of the whole run ([`Run`]), a window of it issue by issue
//! ([`Recording`]), the source ([`Source`]) and the formulas of [`crate::explain`]. Tables are
//! plain HTML, made here; the scripts in `html/*.js` draw the timeline from JSON in the page
//! (`data`). Every section says whether its figures cover the whole run or the window.
//!
//! Text from programs and file names goes through `shown` and maud, which escape it; a content
//! security policy in the page forbids loading anything. The bytes depend only on the arguments.

mod comparison;
mod data;
mod explorer;
mod facts;
mod metrics;
mod source;
mod summary;
mod theme;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::annotate::Source;
use crate::compare::Comparison;
use crate::metrics::Value;
use crate::numbers::{grouped, real};
use crate::timeline::Recording;
use crate::{Ending, Run};

const STYLE: &str = include_str!("html/page.css");
const SCRIPTS: [&str; 4] = [
    include_str!("html/model.js"),
    include_str!("html/canvas.js"),
    include_str!("html/explorer.js"),
    include_str!("html/page.js"),
];

/// Content security policy: the page may load nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

/// A run with its recorded window and sources.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Figures of the whole run.
    pub run: &'a Run,
    /// Window of the same run; `None` without a clock.
    pub recording: Option<&'a Recording>,
    /// Source texts: the files the program was compiled from, if any, and the program.
    pub sources: &'a [Source],
}

/// Makes the page of one run.
pub fn run_page(part: Part<'_>) -> String {
    let title = format!(
        "{}: {}, {} on {}",
        part.run.kernel, part.run.program, part.run.mode, part.run.machine
    );
    document(
        &title,
        &html! {
            header.top {
                div {
                    h1 { (shown(&part.run.kernel)) }
                    (summary::subtitle(part.run))
                }
                (theme::switch())
            }
            main { (run_sections(part, "run", 2)) }
        },
    )
}

/// Makes the page of two runs: the comparison, then each run.
pub fn comparison_page(found: &Comparison, parts: [Part<'_>; 2]) -> String {
    let title = format!("{} compared with {}", found.b.name, found.a.name);
    document(
        &title,
        &html! {
            header.top {
                div {
                    h1 { (shown(&found.b.name)) " compared with " (shown(&found.a.name)) }
                    p.subtitle { (shown(&found.closing)) }
                    nav {
                        "Below: " a href="#a" { "A: " (shown(&found.a.name)) } ", " a href="#b" { "B: " (shown(&found.b.name)) }
                    }
                }
                (theme::switch())
            }
            main {
                (comparison::sections(found))
                @for ((name, part), id) in [(&found.a.name, parts[0]), (&found.b.name, parts[1])].into_iter().zip(["a", "b"]) {
                    section.part id=(id) {
                        h2.side { (id.to_uppercase()) ": " (shown(name)) }
                        (summary::subtitle(part.run))
                        (run_sections(part, id, 3))
                    }
                }
            }
        },
    )
}

/// Makes the sections of one run; ids begin with `id`, headings are at `level`.
fn run_sections(part: Part<'_>, id: &str, level: u8) -> Markup {
    html! {
        (summary::section(part.run, level))
        @if let Some(recording) = part.recording { (explorer::section(part, recording, id, level)) }
        @if !part.run.is_empty() {
            (facts::lanes(part.run, level))
            (facts::branches(part.run, level))
            @if part.run.is_timed() { (facts::waits(part.run, level)) }
            (facts::memory(part.run, level))
        }
        (metrics::section(part.run, id, level))
        (facts::launch_and_machine(part.run, level))
    }
}

fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "simt-sim " (env!("CARGO_PKG_VERSION")) };
                link rel="icon" href="data:,";
                title { (shown(title)) }
                style { (PreEscaped(theme::variables())) (PreEscaped(STYLE)) }
            }
            body {
                (body)
                footer {
                    "Made by simt-sim " (env!("CARGO_PKG_VERSION")) ". Everything is in this file; nothing is loaded."
                }
                script {
                    (PreEscaped("(() => {\n\"use strict\";\n"))
                    @for script in SCRIPTS { (PreEscaped(script)) }
                    (PreEscaped("})();\n"))
                }
            }
        }
    };
    page.into_string() + "\n"
}

/// Scope of a section's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    WholeRun,
    Window,
}

/// Makes a heading with the scope of its section.
fn heading(level: u8, text: &str, scope: Option<Scope>) -> Markup {
    let chip = html! {
        @match scope {
            Some(Scope::WholeRun) => { " " span.chip { "whole run" } }
            Some(Scope::Window) => { " " span."chip window" { "window" } }
            None => {}
        }
    };
    html! {
        @match level {
            2 => h2 { (text) (chip) },
            3 => h3 { (text) (chip) },
            _ => h4 { (text) (chip) },
        }
    }
}

/// Escapes text from a program, a file name or an argument for one line of a page.
/// Control characters of terminals and of the writing direction become a visible replacement
/// character.
fn shown(text: &str) -> String {
    let harmless = |c: char| match c {
        '\t' => c,
        c if c.is_control() => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}' => '\u{fffd}',
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c => c,
    };
    text.chars().map(harmless).collect()
}

/// Makes a sentence whose words between backticks are code.
fn sentence(text: &str) -> Markup {
    html! {
        @for (i, part) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (shown(part)) } } @else { (shown(part)) }
        }
    }
}

/// Formats a figure for people.
fn number(value: Value) -> String {
    match value {
        Value::Count(n) => grouped(n),
        Value::Real(x) => real(x),
    }
}

/// Formats a grid or block size, such as `32 x 2`.
fn shape([x, y, z]: [u32; 3]) -> String {
    let sizes = [x, y, z].map(u64::from).map(grouped);
    let used = if z > 1 {
        3
    } else if y > 1 {
        2
    } else {
        1
    };
    sizes[..used].join(" x ")
}

/// Returns the outcome in words, and true if it is good.
fn outcome(run: &Run) -> (String, bool) {
    let failed = run.expectations.iter().filter(|e| !e.passed).count();
    match (run.finish, failed) {
        (Ending::Ok, 0) if run.expectations.is_empty() => ("finished".to_owned(), true),
        (Ending::Ok, 0) => {
            (format!("finished, {0} of {0} expectations passed", run.expectations.len()), true)
        }
        (Ending::Ok, n) => {
            (format!("finished, {n} of {} expectations failed", run.expectations.len()), false)
        }
        (finish, 0) if !run.expectations.is_empty() => {
            (format!("{}, as expected", finish.title().to_uppercase()), false)
        }
        (finish, _) => (finish.title().to_uppercase(), false),
    }
}

#[cfg(test)]
mod tests;
