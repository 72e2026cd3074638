//! The lane map: a row per issue of a warp, a column per lane.

use std::fmt::Write;

use super::{Axis, LEAST_WIDTH, MapStyle, Recording, head, path_colour, span};
use crate::wrap;
use simt_core::base::Cycle;
use simt_core::observe::{Issue, Stall, Strip};

/// Prints the lane map of every recorded warp. Readable without colour.
pub fn lane_map(recording: &Recording, style: MapStyle) -> String {
    let width = style.style.width.max(LEAST_WIDTH);
    let mut out = head(recording, style.axis, width);
    for strip in recording.timeline.strips() {
        map_of(&mut out, recording, strip, style, width);
    }
    if let Some(ending) = recording.ending().filter(|_| recording.ends_here) {
        let _ = writeln!(out, "\n{}", wrap(&ending, width, "", "  "));
    }
    out
}

fn map_of(out: &mut String, recording: &Recording, strip: &Strip, style: MapStyle, width: usize) {
    let _ = writeln!(out, "\n{}", span(strip));
    let Some(last) = strip.issues.last() else { return };
    let lanes = recording.warp_size.min(32) as usize;
    let digits = |n: u64, least: usize| n.to_string().len().max(least);
    let (issues, cycles) = (digits(last.number, 5), digits(last.cycle, 5));
    let line = |issue: &Issue| recording.line(issue.pc);
    let lines = digits(strip.issues.iter().map(line).max().unwrap_or(0).into(), 4);
    let lane_column = lanes.max(5);
    let left = issues + cycles + lines + 3;
    let room = width.saturating_sub(left + lane_column + 2 + 4 + 2);
    let row = |out: &mut String, cells: [&str; 5], text: &str| {
        let [issue, cycle, line, lanes, n] = cells;
        let text: String = text.chars().filter(|c| !c.is_control()).take(room).collect();
        let row = format!("{issue:>issues$} {cycle:>cycles$} {line:>lines$} {lanes}{n:>4}  {text}");
        out.push_str(row.trim_end());
        out.push('\n');
    };
    // `n` is the number of lanes that execute the step.
    row(
        out,
        ["issue", "cycle", "line", &format!("{:<lane_column$}", ruler(lanes)), "n"],
        "instruction",
    );
    for (i, issue) in strip.issues.iter().enumerate() {
        let text = recording.step(issue.pc).map_or("", |step| step.text.as_str());
        let letters = recording.letters(issue);
        let letters = if style.style.color { coloured(&letters, issue.path) } else { letters };
        let pad = " ".repeat(lane_column - lanes);
        let n = format!("{}{}", issue.executed.count(), if issue.diverges() { "*" } else { " " });
        let cells = [&issue.number.to_string(), &issue.cycle.to_string(), &line(issue).to_string()];
        row(out, [cells[0], cells[1], cells[2], &(letters + &pad), &n], text);
        for (lane, text) in &issue.printed {
            let words = format!("lane {lane} prints {}", quoted_text(text));
            let words: String = words.chars().take(width.saturating_sub(left)).collect();
            out.push_str(&format!("{:left$}{words}\n", ""));
        }
        if style.axis == Axis::Issue {
            continue;
        }
        let mut wait = |(stall, cycles): (Stall, Cycle), letters: &str, between: &str| {
            row(
                out,
                ["", &format!("+{cycles}"), "", letters, ""],
                &format!("({}{between})", stall.name()),
            );
        };
        let letters = recording.letters_between(issue) + &pad;
        issue
            .waits_between()
            .into_iter()
            .for_each(|w| wait(w, &letters, ", between its machine instructions"));
        if let Some(next) = strip.issues.get(i + 1) {
            let letters = recording.letters_after(issue) + &pad;
            next.waits.iter().for_each(|&w| wait(w, &letters, ""));
        }
    }
}

/// Returns a printed text in quotes, as a string of C.
pub fn quoted_text(text: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(text))
}

/// Marks every eighth lane: `0       8       16      24`.
fn ruler(lanes: usize) -> String {
    let mut ruler = String::new();
    for lane in (0..lanes).step_by(8) {
        ruler.push_str(&format!("{lane:<8}"));
    }
    ruler.chars().take(lanes).collect()
}

fn coloured(letters: &str, path: u32) -> String {
    let mut out = String::new();
    for run in letters.split_inclusive(|c| c != '#') {
        let (active, other) = run.split_at(run.len() - usize::from(!run.ends_with('#')));
        if !active.is_empty() {
            out += &format!("{}{active}\x1b[0m", path_colour(path));
        }
        if !other.is_empty() {
            out += &format!("\x1b[2m{other}\x1b[0m");
        }
    }
    out
}
