//! Pictures of lanes: one line per issue, one letter per lane, lane 0 on the left.
//!
//! The letters are those of `simt-sim timeline`; the legend below a picture explains those that
//! occur.

use super::lab::Watched;
use simt_core::divergence::StackEntry;
use simt_core::observe::{Issue, LaneState};
use simt_report::Picture;

/// Maximum number of lines in a picture.
const ROWS: usize = 32;
/// Columns of the source text beside the lanes.
const TEXT: usize = 44;

/// Draws a warp of block 0 from the first issue of a line with `from`. Join steps are left out;
/// they cost next to nothing.
pub(crate) fn lanes(title: impl Into<String>, watched: &Watched, warp: u32, from: &str) -> Picture {
    let issues = watched.issues(warp).skip_while(|i| !watched.source(i.pc).contains(from));
    picture(title, watched, issues.filter(|i| watched.is_written(i.pc)))
}

/// Draws like [`lanes`], but only issues whose source line contains `part`.
pub(crate) fn only(title: impl Into<String>, watched: &Watched, warp: u32, part: &str) -> Picture {
    picture(title, watched, watched.of_warp(warp, part))
}

/// Draws one row per issue. Identical consecutive rows are merged into one with a count.
fn picture<'a>(
    title: impl Into<String>,
    watched: &Watched,
    issues: impl Iterator<Item = &'a Issue>,
) -> Picture {
    let mut seen = [false; LaneState::ALL.len()];
    let mut rows: Vec<(String, u32)> = Vec::new();
    let mut left_out = 0_u64;
    for issue in issues {
        let states = issue.lane_states(watched.lanes());
        let letters: String = states.iter().map(|state| state.letter()).collect();
        let row =
            format!("{letters}  {:2}  {:.TEXT$}", issue.executed.count(), watched.source(issue.pc));
        let full = rows.len() == ROWS;
        match rows.last_mut() {
            Some((last, times)) if *last == row => *times += 1,
            _ if full => left_out += 1,
            _ => rows.push((row, 1)),
        }
        if left_out == 0 {
            states.into_iter().for_each(|state| seen[state as usize] = true);
        }
    }
    let line = |(row, times)| if times == 1 { row } else { format!("{row}  (x {times})") };
    let mut lines: Vec<String> = rows.into_iter().map(line).collect();
    if left_out > 0 {
        lines.push(format!("({left_out} further issues)"));
    }
    let legend = LaneState::ALL.iter().filter(|&&state| seen[state as usize]);
    let legend: Vec<String> =
        legend.map(|state| format!("{} {}", state.letter(), state.name())).collect();
    lines.push(format!("[{}]", legend.join("   ")));
    Picture { title: title.into(), lines }
}

/// Draws the reconvergence stack of warp 0, top entry first. One line per issue that changed a
/// mask: `{line mask reconvergence line}`.
pub(crate) fn stack(
    title: impl Into<String>,
    watched: &Watched,
    story: &[(&Issue, &[StackEntry])],
) -> Picture {
    let entry = |e: &StackEntry| {
        let meets = e.reconverge.map_or("-".to_owned(), |pc| watched.line(pc).to_string());
        format!("{{{} {:08x} {meets}}}", watched.line(e.pc), e.lanes.0)
    };
    let line = |(issue, entries): &(&Issue, &[StackEntry])| {
        let entries: Vec<String> = entries.iter().rev().map(entry).collect();
        format!("line {:>3}  {}", watched.line(issue.pc), entries.join(" "))
    };
    Picture { title: title.into(), lines: story.iter().map(line).collect() }
}
