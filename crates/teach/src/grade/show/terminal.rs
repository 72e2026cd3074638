//! The report for a terminal.

use super::super::graded::{Graded, Mark};
use super::super::sanitise::without_colour;
use super::{lines, points};
use simt_report::{Style, wrap};

/// Formats the report, or one criterion with `only`.
pub fn terminal(graded: &Graded, only: Option<&str>, style: Style) -> String {
    let mut out = format!("{}: {}\n", graded.assignment, graded.submission);
    if let Some(failed) = &graded.failed {
        out += &format!("\n{}\n\n", failed.text().trim_end());
    }
    for note in &graded.notes {
        out += &format!("{}\n", wrap(note, style.width, "note: ", "      "));
    }
    let marks = graded.criteria.iter().filter(|mark| only.is_none_or(|id| id == mark.id));
    marks.for_each(|mark| criterion(&mut out, mark, graded.failed.is_some(), style));
    if only.is_none() {
        out += &format!("\n{} points\n", points(graded.score, graded.max));
        if let Some(map) = &graded.map {
            let map = if style.color { map.clone() } else { without_colour(map) };
            out +=
                &format!("\nThe branch that diverged most often, at its first divergence:\n{map}");
        }
    }
    out
}

/// Formats a criterion; only its title if nothing was measured.
fn criterion(out: &mut String, mark: &Mark, unmeasured: bool, style: Style) {
    let (on, off) = match (style.color, mark.is_full(), mark.points > 0.0) {
        (false, ..) => ("", ""),
        (true, true, _) => ("\x1b[32m", "\x1b[0m"),
        (true, false, true) => ("\x1b[33m", "\x1b[0m"),
        (true, false, false) => ("\x1b[31m", "\x1b[0m"),
    };
    let gap = if unmeasured { "" } else { "\n" };
    *out += &format!(
        "{gap}{on}{:>9}  {}{off} [{}]\n",
        points(mark.points, mark.max),
        mark.title,
        mark.id
    );
    if unmeasured {
        return;
    }
    for (name, text) in lines(mark) {
        for (i, line) in text.lines().enumerate() {
            let name = if i == 0 { name } else { "" };
            *out += &format!(
                "{}\n",
                wrap(line, style.width, &format!("           {name:<9} "), "                     ")
            );
        }
    }
}

/// Formats a submission in one line, plus one line per note.
pub fn line(graded: &Graded) -> String {
    let marks =
        graded.criteria.iter().map(|mark| format!("{} {}", mark.id, points(mark.points, mark.max)));
    let why = graded.failed.as_ref().map(|failed| failed.text()).unwrap_or_default();
    let why = if why.is_empty() { why } else { format!("  {}", first_reason(&why)) };
    let marks: Vec<String> = marks.collect();
    let notes: String =
        graded.notes.iter().map(|note| format!("           note: {note}\n")).collect();
    let points = points(graded.score, graded.max);
    format!("{points:>9}  {}  ({}){why}\n{notes}", graded.submission, marks.join(", "))
}

/// Returns the first line of a reason. If findings follow, with the first of them and its place.
fn first_reason(why: &str) -> String {
    let mut lines = why.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let Some(finding) = lines.next().filter(|_| first.ends_with(':')) else {
        return first.to_owned();
    };
    let place = lines.next().and_then(|line| line.strip_prefix("--> "));
    let place = place.map_or(String::new(), |place| format!(" ({place})"));
    format!("{first} {finding}{place}")
}
