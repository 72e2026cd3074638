//! The lanes of a warp over time, as tiles.

use super::axis::{Column, Scale, Shows};
use super::palette::{Cell, GREY, WHITE, face};
use super::scene::{Area, Scene};
use super::tiles::tiles;
use crate::timeline::Recording;
use simt_core::base::LaneMask;
use simt_core::observe::{LaneState, Strip};

/// Returns the cells of one column, lane by lane.
fn cells(recording: &Recording, strip: &Strip, shows: Shows) -> Vec<Cell> {
    let lanes = recording.warp_size.min(32);
    match shows {
        Shows::Issue(i) => {
            let issue = &strip.issues[i];
            let cell = |state| match state {
                // Waiting lanes have no path, so that equal states look equal.
                LaneState::Active | LaneState::PredicatedOff => Cell::At(state, issue.path),
                _ => Cell::At(state, 0),
            };
            issue.lane_states(lanes).into_iter().map(cell).collect()
        }
        Shows::Between { issue: i, .. } => {
            let issue = &strip.issues[i];
            let cell = |state| match state {
                LaneState::Active => Cell::Stalled(issue.path),
                LaneState::PredicatedOff => Cell::At(state, issue.path),
                _ => Cell::At(state, 0),
            };
            issue.lane_states(lanes).into_iter().map(cell).collect()
        }
        Shows::Wait { after, next } => {
            let (issue, next) = (&strip.issues[after], next.map(|next| &strip.issues[next]));
            let (join, barrier) = issue.after.blocked();
            let live = issue.after.live();
            let running =
                issue.after.groups.first().map_or(LaneMask::EMPTY, |g| g.lanes) - join - barrier;
            let path = next.map_or(issue.path, |next| next.path);
            let cell = |lane: u32| match () {
                () if running.contains(lane) => Cell::Stalled(path),
                () if join.contains(lane) => Cell::At(LaneState::AtJoin, 0),
                () if barrier.contains(lane) => Cell::At(LaneState::AtBarrier, 0),
                () if live.contains(lane) => Cell::At(LaneState::MaskedOff, 0),
                () => Cell::At(LaneState::Exited, 0),
            };
            (0..lanes).map(cell).collect()
        }
    }
}

/// Draws a warp's lanes into an area, lane 0 at the top; each lane is `row` high.
pub(super) fn lanes(
    scene: &mut Scene,
    recording: &Recording,
    strip: &Strip,
    scale: &Scale,
    top: i32,
    row: i32,
) {
    let columns: Vec<Column> = scale.columns(strip);
    let grid: Vec<Vec<Cell>> = columns.iter().map(|c| cells(recording, strip, c.shows)).collect();
    for tile in tiles(&grid) {
        let (first, last) = (columns[tile.columns.0], columns[tile.columns.1 - 1]);
        let y = |row_number: usize| top + i32::try_from(row_number).unwrap_or(0) * row;
        let area = Area {
            x: first.from,
            y: y(tile.rows.0),
            w: last.to - first.from,
            h: y(tile.rows.1) - y(tile.rows.0),
        };
        tile.cell.look().draw(scene, area, &tile.cell.label());
        if row > 5 {
            scene.line((area.x, area.y), (area.right(), area.y), WHITE);
            scene.line((area.x, area.y), (area.x, area.bottom()), WHITE);
        }
    }
}

/// Draws lane numbers at the left of the rows.
pub(super) fn lane_numbers(
    scene: &mut Scene,
    recording: &Recording,
    scale: &Scale,
    top: i32,
    row: i32,
) {
    let lanes = i32::try_from(recording.warp_size.min(32)).unwrap_or(32);
    let step = if row >= 10 { 4 } else { 8 };
    for lane in (0..lanes).filter(|lane| lane % step == 0 || *lane == lanes - 1) {
        scene.text(
            (scale.left() - 6, top + lane * row + row / 2),
            face(9, GREY).end(),
            lane.to_string(),
        );
    }
}
