//! JUnit XML in the dialect shared by Jenkins, GitLab and cargo-nextest.

use std::fmt::Write;

use super::super::graded::Graded;
use super::{body, points};

/// Formats one test suite per submission. A criterion without full points is a failure.
pub fn junit(grades: &[Graded]) -> String {
    let tests: usize = grades.iter().map(|graded| graded.criteria.len()).sum();
    let failures: usize = grades.iter().map(failures).sum();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"simt-sim\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n"
    );
    for graded in grades {
        let name = escaped(&format!("{}: {}", graded.assignment, graded.submission));
        let count = graded.criteria.len();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{}\">",
            self::failures(graded)
        );
        for mark in &graded.criteria {
            let (id, title) = (escaped(&mark.id), escaped(&mark.title));
            let _ = writeln!(out, "    <testcase classname=\"{id}\" name=\"{title}\">");
            let points = points(mark.points, mark.max);
            let text = escaped(&body(mark));
            if mark.is_full() {
                let _ = writeln!(out, "      <system-out>{points} points\n{text}</system-out>");
            } else {
                let why = graded
                    .failed
                    .as_ref()
                    .map_or_else(|| mark.measured.clone(), |failed| failed.text());
                let message = escaped(&format!("{points} points: {why}"));
                let _ = writeln!(
                    out,
                    "      <failure type=\"criterion\" message=\"{message}\">{text}</failure>"
                );
            }
            out += "    </testcase>\n";
        }
        if !graded.notes.is_empty() {
            let _ =
                writeln!(out, "    <system-out>{}</system-out>", escaped(&graded.notes.join("\n")));
        }
        out += "  </testsuite>\n";
    }
    out + "</testsuites>\n"
}

fn failures(graded: &Graded) -> usize {
    graded.criteria.iter().filter(|mark| !mark.is_full()).count()
}

/// Escapes markup and drops characters that XML 1.0 does not allow.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
