//! The transposed lane map: a row per lane, a column per issue.
//! The source line is above its column.

use std::fmt::Write;

use super::{Axis, MapStyle, Recording, head, span};
use crate::wrap;
use simt_core::observe::{Issue, LaneState, Strip};

/// Prints the transposed lane map of every recorded warp, in page-wide panels.
pub fn transposed(recording: &Recording, style: MapStyle) -> String {
    let width = style.style.width.max(60);
    let mut out = head(recording, Axis::Issue, width);
    for strip in recording.timeline.strips() {
        let _ = writeln!(out, "\n{}", span(strip));
        for panel in strip.issues.chunks(width - MARGIN) {
            out.push('\n');
            panel_of(&mut out, recording, strip, panel);
        }
    }
    if let Some(ending) = recording.ending().filter(|_| recording.ends_here) {
        let _ = writeln!(out, "\n{}", wrap(&ending, width, "", "  "));
    }
    out
}

/// Columns in front of the first issue: `lane 31` and two blanks.
const MARGIN: usize = 9;

fn panel_of(out: &mut String, recording: &Recording, strip: &Strip, panel: &[Issue]) {
    let digits = panel.iter().map(|i| recording.line(i.pc).to_string().len()).max().unwrap_or(1);
    for digit in 0..digits {
        let name = if digit + 1 == digits { "line" } else { "" };
        let column = |issue: &Issue| {
            let line = format!("{:>digits$}", recording.line(issue.pc));
            line.chars().nth(digit).unwrap_or(' ')
        };
        row(out, name, panel.iter().map(column));
    }
    let states: Vec<Vec<LaneState>> =
        panel.iter().map(|issue| issue.lane_states(recording.warp_size)).collect();
    for lane in strip.lanes.lanes() {
        let letters =
            states.iter().map(|s| s.get(lane as usize).map_or(' ', |state| state.letter()));
        row(out, &format!("lane {lane:>2}"), letters);
    }
}

fn row(out: &mut String, name: &str, columns: impl Iterator<Item = char>) {
    let columns: String = columns.collect();
    let _ =
        writeln!(out, "{}", format!("{name:>width$}  {columns}", width = MARGIN - 2).trim_end());
}
