//! A grade as Markdown, for a pull request or a job summary.

use std::fmt::Write;

use super::super::graded::Graded;
use super::super::sanitise::without_colour;
use super::points;

/// Formats a table of the criteria, and the lane map.
pub fn markdown(graded: &Graded) -> String {
    let title = cell(&format!("{}: {}", graded.assignment, graded.submission));
    let mut out = format!("## {title}\n\n**{} points**\n\n", points(graded.score, graded.max));
    if let Some(failed) = &graded.failed {
        let _ = writeln!(out, "{}\n", fenced(&failed.text()));
    }
    graded.notes.iter().for_each(|note| out += &format!("Note: {}\n\n", cell(note)));
    out +=
        "| criterion | points | measured | required | hint | trust |\n|---|---|---|---|---|---|\n";
    for mark in &graded.criteria {
        let trust = format!("{} ({})", mark.trust, mark.trust_page);
        let points = points(mark.points, mark.max);
        let cells = [&mark.title, &points, &mark.measured, &mark.wanted, &mark.hint, &trust]
            .map(|c| cell(c));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    for mark in graded.criteria.iter().filter(|mark| !mark.details.is_empty()) {
        let _ = writeln!(out, "\n{}:\n\n{}", cell(&mark.title), fenced(&mark.details.join("\n")));
    }
    if let Some(map) = &graded.map {
        let _ = writeln!(out, "\n{}", fenced(&without_colour(map)));
    }
    out
}

/// Escapes markup and cell borders.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push(' '),
            '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '\\' | '#' | '!' => {
                out.extend(['\\', c])
            }
            c => out.push(c),
        }
    }
    out
}

/// Fences text with more backticks than it contains.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}
