//! Pictures of what lanes did: one line an issue, one mark a lane.
//!
//! `#` the lane works, `-` its guard is off, `.` it waits for the others of its warp, `x` it has returned.

use super::lab::Watched;
use crate::base::{BlockId, LaneMask};
use crate::kernel::Op;
use crate::observe::TraceEntry;
use crate::report::Picture;

/// Lines a picture may have.
const ROWS: usize = 28;
/// Columns of the source text beside the lanes.
const TEXT: usize = 44;

/// What a warp of block 0 issued, from the first instruction whose source line contains `from` on. Issues that look alike
/// and follow each other stand once, with their number. Join steps, which cost next to nothing, are left out.
pub(super) fn lanes(title: impl Into<String>, watched: &Watched, warp: u32, from: &str) -> Picture {
    let issues = watched.trace.of_warp(BlockId(0), warp).skip_while(|e| !watched.source(e.pc).contains(from));
    picture(title, watched, issues)
}

fn picture<'a>(title: impl Into<String>, watched: &Watched, issues: impl Iterator<Item = &'a TraceEntry>) -> Picture {
    let mut gone = LaneMask::EMPTY;
    let mut rows: Vec<(String, u32)> = Vec::new();
    for entry in issues {
        let step = watched.stream.steps.get(entry.pc.index());
        if step.is_none_or(|s| s.source.is_none()) {
            continue;
        }
        let row = format!("{}  {:2}  {:.TEXT$}", marks(entry, gone), entry.lanes.count(), watched.source(entry.pc));
        match rows.last_mut() {
            Some((last, times)) if *last == row => *times += 1,
            _ => rows.push((row, 1)),
        }
        if step.is_some_and(|s| matches!(s.inst.op, Op::Exit)) {
            gone |= entry.lanes;
        }
    }
    let left_out = rows.len().saturating_sub(ROWS);
    let mut lines: Vec<String> = rows
        .into_iter()
        .take(ROWS)
        .map(|(row, times)| if times == 1 { row } else { format!("{row}  (x {times})") })
        .collect();
    if left_out > 0 {
        lines.push(format!("({left_out} further lines)"));
    }
    Picture { title: title.into(), lines }
}

/// The lanes of an issue, lane 0 on the left.
fn marks(entry: &TraceEntry, gone: LaneMask) -> String {
    let mark = |lane| match () {
        () if entry.lanes.contains(lane) => '#',
        () if entry.active.contains(lane) => '-',
        () if gone.contains(lane) => 'x',
        () => '.',
    };
    (0..32).map(mark).collect()
}

/// As [`lanes`], of those instructions alone whose source line contains `part`.
pub(super) fn only(title: impl Into<String>, watched: &Watched, warp: u32, part: &str) -> Picture {
    let issues = watched.of(part).filter(|e| e.block == BlockId(0) && e.warp == warp);
    picture(title, watched, issues)
}
