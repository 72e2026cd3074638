//! Pictures of lanes over time.
//! One warp with its source ([`timeline`]), or every warp of a block ([`masks`]).

use super::axis::{Column, Scale, Shows};
use super::frame::{Entry, Heading, MARGIN, Panel, TOP, legend, legend_rows};
use super::grid::{lane_numbers, lanes};
use super::palette::{ALARM, Cell, GREY, INK, Look, PALE, clipped, face, path_colour, text_width};
use super::reasons;
use super::scene::{Area, Rgb, Scene};
use crate::timeline::{Axis, Recording, nothing};
use simt_core::base::Pc;
use simt_core::observe::{Issue, LaneState, Strip};

/// Left edge of the axis; legend and source text are left of it.
const LEFT: i32 = 360;
/// Width of the axis.
const ROOM: i32 = 1120;
/// Height of a source line.
const SOURCE: i32 = 15;
/// Maximum source lines below a timeline.
const MOST_LINES: usize = 64;

/// Draws the lanes of each warp over time.
/// One warp has its source lines below.
pub(super) fn timeline(panel: &Panel<'_>) -> Scene {
    let Panel { recording, axis, .. } = *panel;
    let strips = panel.strips();
    let scale = Scale::new(panel.all_strips(usize::MAX), axis, LEFT, ROOM);
    let row = if strips.len() > 1 { 8 } else { 11 };
    let key = entries(axis, strips);
    // The source starts below the legend, even if the warp is narrow.
    let legend = 20 * i32::try_from(key.len()).unwrap_or(0) + 46;
    let height = row * i32::try_from(recording.warp_size.min(32)).unwrap_or(32);
    let steps = match strips {
        [one] => steps_of(recording, one),
        _ => Vec::new(),
    };
    let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX / 1000).min(4096);
    let waits = if axis == Axis::Cycle { 20 } else { 0 };
    let source = if steps.is_empty() { 0 } else { count(steps.len()) * SOURCE + 44 };
    let body = (count(strips.len()) * (height + 34 + waits) + 30).max(legend);
    let what = match strips {
        [one] => format!("lane states of warp {} over time", one.warp),
        _ => "lane states over time".to_owned(),
    };
    let heading = Heading::of(panel, &what);
    let width = (scale.right() + 70).max(heading.width());
    let mut scene = Scene::new(width, TOP + (body + source).max(280) + 40);
    let top = heading.draw(&mut scene);
    lane_legend(&mut scene, (MARGIN, top + 20), &key);

    let mut y = top;
    for strip in strips {
        scene.text((scale.left(), y + 8), face(11, INK).bold(), span(strip));
        y += 18;
        let area = Area { x: scale.left(), y, w: scale.right() - scale.left(), h: height };
        scene.fill(area, Rgb(0xf6, 0xf6, 0xf6));
        lanes(&mut scene, recording, strip, &scale, y, row);
        lane_numbers(&mut scene, recording, &scale, y, row);
        scale.border(&mut scene, area);
        y += height + 16;
    }
    y = scale.draw(&mut scene, Area { x: 0, y: y - 12, w: 0, h: 0 });
    if let ([strip], false) = (strips, steps.is_empty()) {
        let below = (y + 14).max(top + legend);
        y = source_lines(&mut scene, recording, strip, &scale, &steps, below);
    }
    if let Some(ending) = ending(recording) {
        scene.text((scale.left(), y + 8), face(11, ALARM).bold(), ending);
    }
    heading.draw_footer(&mut scene);
    scene
}

/// Draws a strip of lanes per warp of the block, all on one axis.
pub(super) fn masks(panel: &Panel<'_>) -> Scene {
    const ROW: i32 = 2;
    let Panel { recording, axis, .. } = *panel;
    let strips = panel.strips();
    let scale = Scale::new(panel.all_strips(usize::MAX), axis, 2 * MARGIN + 90, ROOM + 240);
    let height = ROW * i32::try_from(recording.warp_size.min(32)).unwrap_or(32);
    let count = i32::try_from(strips.len()).unwrap_or(64).min(64);
    let heading = Heading::of(panel, "lanes of each warp");
    let key = entries(axis, strips);
    let width = (scale.right() + 70).max(heading.width());
    let legend = legend_rows(None, 0, width, &key);
    let mut scene = Scene::new(width, TOP + legend + 14 + count * (height + 6) + 30 + 44);
    let top = heading.draw(&mut scene);
    let mut y = top + legend_rows(Some(&mut scene), top, width, &key) + 10;
    for strip in strips {
        let area = Area { x: scale.left(), y, w: scale.right() - scale.left(), h: height };
        scene.fill(area, Rgb(0xf6, 0xf6, 0xf6));
        lanes(&mut scene, recording, strip, &scale, y, ROW);
        scale.border(&mut scene, area);
        let middle = y + height / 2;
        scene.text(
            (scale.left() - 8, middle - 7),
            face(11, INK).bold().end(),
            format!("warp {}", strip.warp),
        );
        let share = average_lanes(strip);
        scene.text((scale.left() - 8, middle + 8), face(10, GREY).end(), format!("{share} lanes"));
        y += height + 6;
    }
    scale.draw(&mut scene, Area { x: 0, y, w: 0, h: 0 });
    heading.draw_footer(&mut scene);
    scene
}

/// Returns the average number of active lanes over issues that take a slot.
fn average_lanes(strip: &Strip) -> String {
    let slots: u64 = strip.issues.iter().map(|i| u64::from(i.slots)).sum();
    let lanes: u64 =
        strip.issues.iter().map(|i| u64::from(i.slots) * u64::from(i.active.count())).sum();
    if slots == 0 { "-".to_owned() } else { format!("{:.1}", lanes as f64 / slots as f64) }
}

/// Names the issues and cycles that a strip shows.
fn span(strip: &Strip) -> String {
    let more = if strip.more { " (more follow)" } else { "" };
    match (strip.issues.first(), strip.issues.last()) {
        (Some(first), Some(last)) => format!(
            "block {} warp {}: issues {} to {}, cycles {} to {}{more}",
            strip.block.0, strip.warp, first.number, last.number, first.cycle, last.cycle
        ),
        _ => format!("block {} warp {}: {}", strip.block.0, strip.warp, nothing(strip)),
    }
}

fn ending(recording: &Recording) -> Option<String> {
    let finish = recording.finish.filter(|&f| f != crate::Ending::Ok && recording.ends_here)?;
    Some(format!("the run ends here: {}", finish.title()))
}

/// Returns the legend of the states that occur.
fn entries(axis: Axis, strips: &[Strip]) -> Vec<Entry> {
    let issues = || strips.iter().flat_map(|s| &s.issues);
    let paths = issues().map(|i| i.path).max().unwrap_or(0);
    let mut entries = Vec::new();
    let mut add = |cell: Cell, letter: &str, text: &str| {
        entries.push(Entry { look: cell.look(), letter: letter.to_owned(), text: text.to_owned() });
    };
    add(Cell::At(LaneState::Active, 0), "0", "active: the whole warp");
    for path in 1..=paths.min(3) {
        let text = match path {
            1 => "active: 1st subset of lanes",
            2 => "active: 2nd subset",
            _ if paths > 3 => "active: 3rd subset, and so on",
            _ => "active: 3rd subset",
        };
        add(Cell::At(LaneState::Active, path), &path.to_string(), text);
    }
    add(Cell::At(LaneState::PredicatedOff, 0), "", "predicated off; at a branch: not taken");
    add(Cell::At(LaneState::MaskedOff, 0), "", "masked off: runs later");
    add(Cell::At(LaneState::AtJoin, 0), "w", "waits for lanes of its warp (join)");
    add(Cell::At(LaneState::AtBarrier, 0), "b", "waits at a block barrier");
    add(Cell::At(LaneState::Exited, 0), "x", "exited");
    if axis == Axis::Cycle {
        add(Cell::Stalled(0), "", "ready; the warp waits");
    }
    entries
}

fn lane_legend(scene: &mut Scene, at: (i32, i32), key: &[Entry]) {
    let end = legend(scene, at, key);
    scene.text((at.0, end + 12), face(10, GREY), "rows: lanes, 0 on top");
}

/// Returns the steps that a warp issued, by source line.
/// Empty if there are too many to draw.
fn steps_of(recording: &Recording, strip: &Strip) -> Vec<Pc> {
    let mut steps: Vec<Pc> = strip.issues.iter().map(|i| i.pc).collect();
    steps.sort_by_key(|&pc| (recording.line(pc), place_of(recording, pc), pc));
    steps.dedup();
    if steps.len() > MOST_LINES { Vec::new() } else { steps }
}

/// Orders the steps of a line: a join is set before its branch and reached after it.
fn place_of(recording: &Recording, pc: Pc) -> u8 {
    match recording.step(pc) {
        Some(step) if step.source.is_none() && step.text.starts_with("(set") => 0,
        Some(step) if step.source.is_none() => 2,
        _ => 1,
    }
}

/// Draws the source below the lanes: a row per step.
/// Each issue is a bar as high as its share of lanes.
fn source_lines(
    scene: &mut Scene,
    recording: &Recording,
    strip: &Strip,
    scale: &Scale,
    steps: &[Pc],
    top: i32,
) -> i32 {
    scene.text(
        (scale.left(), top),
        face(10, GREY),
        "instructions; bar height: share of executing lanes",
    );
    let top = top + 12;
    let row = |i: usize| top + i32::try_from(i).unwrap_or(0) * SOURCE;
    let number = text_width(4, 10);
    for (i, &pc) in steps.iter().enumerate() {
        let middle = row(i) + SOURCE / 2;
        let text = recording.step(pc).map_or("", |s| s.text.as_str());
        let cut = clipped(text, LEFT - 2 * MARGIN - number, 10);
        scene.text((MARGIN + number, middle), face(10, GREY).end(), recording.line(pc).to_string());
        scene.text((MARGIN + number + 10, middle), face(10, INK), cut);
        scene.line((scale.left(), row(i) + SOURCE), (scale.right(), row(i) + SOURCE), PALE);
    }
    let row_of = |pc: Pc| steps.iter().position(|&step| step == pc);
    let full = i32::try_from(recording.warp_size.clamp(1, 32)).unwrap_or(32);
    let bar = |scene: &mut Scene, issue: &Issue, x: i32, w: i32| {
        let Some(i) = row_of(issue.pc) else { return };
        let lanes = i32::try_from(issue.executed.count()).unwrap_or(0);
        let h = if lanes == 0 { 1 } else { ((SOURCE - 2) * lanes / full).max(2) };
        let (ground, ink) = path_colour(issue.path);
        let area = Area { x, y: row(i) + SOURCE - h, w: w - i32::from(w > 5), h };
        if issue.slots == 0 {
            // It has no column: drawn as an outline in the column of the issue before.
            return scene.outline(Area { w: area.w - 1, h: (h - 1).max(1), ..area }, ground);
        }
        let label = if lanes < full { lanes.to_string() } else { String::new() };
        let fits = area.h >= 11 && area.w >= text_width(label.len(), 9) + 2;
        Look::plain(ground, ink).draw(scene, area, if fits { &label } else { "" });
    };
    for Column { from: x, to, shows } in scale.columns(strip) {
        match shows {
            Shows::Issue(i) => {
                bar(scene, &strip.issues[i], x, to - x);
                let free = strip.issues[i + 1..].iter().take_while(|issue| issue.slots == 0);
                free.for_each(|issue| bar(scene, issue, x, to - x));
            }
            Shows::Between { issue, stall } => {
                if let Some(i) = row_of(strip.issues[issue].pc) {
                    let area = Area { x, y: row(i) + 2, w: to - x, h: SOURCE - 3 };
                    reasons::look(stall).draw(scene, area, "");
                }
            }
            // A wait is drawn in the row of the waiting instruction.
            Shows::Wait { next, .. } => {
                let next = next.map(|next| &strip.issues[next]);
                let reason =
                    next.and_then(|next| next.waits.iter().max_by_key(|&&(_, cycles)| cycles));
                if let (Some((stall, _)), Some(i)) = (reason, next.and_then(|next| row_of(next.pc)))
                {
                    let area = Area { x, y: row(i) + 2, w: to - x, h: SOURCE - 3 };
                    reasons::look(*stall).draw(scene, area, stall.name());
                }
            }
        }
    }
    row(steps.len()) + 8
}
