//! The reconvergence stack over time as an icicle chart.
//! In volta mode, groups and join registers.

use std::fmt::Write;

use super::axis::{Column, Scale, Shows};
use super::frame::{Entry, Heading, MARGIN, Panel, TOP, legend_rows, plural};
use super::palette::{Cell, INK, Look, PALE, PURPLE, face, fitting, text_width};
use super::scene::{Area, Hatch, Rgb, Scene};
use super::tiles::tiles;
use crate::timeline::Recording;
use simt_core::base::{LaneMask, Pc};
use simt_core::divergence::GroupState;
use simt_core::observe::{Control, Issue, LaneState, Strip};

/// State of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Its lanes run on this path.
    Runs(u32),
    /// Its lanes are ready.
    Ready,
    /// Its lanes wait for others of the warp.
    Waits,
    /// Its lanes wait at a block barrier.
    Barrier,
    /// A join register in use.
    Join,
}

/// A box of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entity {
    role: Role,
    lanes: LaneMask,
    /// PC of its next step; `None` for the running lanes, whose PC always changes.
    pc: Option<Pc>,
    /// Reconvergence PC of a stack entry.
    reconverge: Option<Pc>,
    /// Join register and the lanes that have arrived.
    join: Option<(u32, LaneMask)>,
}

impl Role {
    fn look(self) -> Look {
        match self {
            Role::Runs(path) => Cell::At(LaneState::Active, path).look(),
            Role::Ready => Cell::At(LaneState::MaskedOff, 0).look(),
            Role::Waits => Cell::At(LaneState::AtJoin, 0).look(),
            Role::Barrier => Cell::At(LaneState::AtBarrier, 0).look(),
            Role::Join => Look::hatched(PURPLE.tint(80), Hatch::Level, PURPLE.tint(160)),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Role::Runs(_) => "runs",
            Role::Ready => "ready",
            Role::Waits => "waits",
            Role::Barrier => "barrier",
            Role::Join => "join",
        }
    }
}

/// Returns the boxes of an issue, from the first row down.
fn entities(issue: &Issue) -> Vec<Entity> {
    let Control { groups, stack, joins } = &issue.state;
    let none = Entity {
        role: Role::Ready,
        lanes: LaneMask::EMPTY,
        pc: None,
        reconverge: None,
        join: None,
    };
    if !stack.is_empty() {
        let top = stack.len() - 1;
        let mut above = LaneMask::EMPTY;
        let mut rows: Vec<Entity> = stack
            .iter()
            .enumerate()
            .rev()
            .map(|(i, entry)| {
                let role = match i == top {
                    true => Role::Runs(issue.path),
                    false if entry.lanes.intersects(above) => Role::Waits,
                    false => Role::Ready,
                };
                above |= entry.lanes;
                let pc = (i != top).then_some(entry.pc);
                Entity { role, lanes: entry.lanes, pc, reconverge: entry.reconverge, ..none }
            })
            .collect();
        rows.reverse();
        return rows;
    }
    let of_group = groups.iter().map(|group| {
        let role = match group.state {
            GroupState::Running => Role::Runs(issue.path),
            GroupState::Ready | GroupState::Yielded => Role::Ready,
            GroupState::AtBarrier(_) => Role::Barrier,
            GroupState::AtJoin(_)
            | GroupState::AtReconvergence
            | GroupState::Gathering(_)
            | GroupState::Aligning => Role::Waits,
        };
        let pc = (group.state != GroupState::Running).then_some(group.pc);
        Entity { role, lanes: group.lanes, pc, ..none }
    });
    let of_join = joins.iter().map(|join| Entity {
        role: Role::Join,
        lanes: join.participants,
        join: Some((join.id.0, join.arrived)),
        ..none
    });
    of_group.chain(of_join).collect()
}

/// Returns the number of group rows and join rows that a strip needs.
fn depths(strip: &Strip) -> (usize, usize) {
    let upper = |issue: &Issue| {
        if issue.state.stack.is_empty() {
            issue.state.groups.len()
        } else {
            issue.state.stack.len()
        }
    };
    let groups = strip.issues.iter().map(upper).max().unwrap_or(1);
    let joins = strip.issues.iter().map(|i| i.state.joins.len()).max().unwrap_or(0);
    (groups.min(MOST), joins.min(MOST))
}

/// Maximum rows of either kind.
const MOST: usize = 33;
const ROW: i32 = 34;
const LEFT: i32 = MARGIN + 110;

/// Draws the first recorded warp.
pub(super) fn stack(panel: &Panel<'_>) -> Scene {
    let recording = panel.recording;
    let strips = panel.strips().get(..1).unwrap_or_default();
    let scale = Scale::new(panel.all_strips(1), panel.axis, LEFT, 1260);
    let stacked = recording.mode == "pre-volta";
    let subject =
        if stacked { "reconvergence stack" } else { "groups of lanes and join registers" };
    let heading = Heading::of(
        panel,
        &format!("{subject} of warp {}", strips.first().map_or(0, |strip| strip.warp)),
    );
    let width = (scale.right() + 70).max(heading.width());
    let entry = |role: Role, letter: &str, text: &str| Entry {
        look: role.look(),
        letter: letter.into(),
        text: text.into(),
    };
    let mut key = vec![
        entry(Role::Runs(0), "[0]", "runs (colour, number in brackets: the set of lanes)"),
        entry(Role::Ready, "8", "ready: its turn comes later (plain number: how many lanes)"),
        entry(Role::Waits, "", "waits for lanes of its warp"),
    ];
    if !stacked {
        key.push(entry(Role::Barrier, "", "waits at a block barrier"));
        key.push(entry(Role::Join, "", "join register: arrived / participants"));
    }
    let legend = legend_rows(None, 0, width, &key);
    let (groups, joins) = strips.first().map_or((1, 0), depths);
    let count = |n: usize| i32::try_from(n).unwrap_or(0);
    let body = count(groups + joins) * ROW + if joins > 0 { 30 } else { 0 };
    let mut scene = Scene::new(width, TOP + legend + 30 + body + 34 + 50);
    let top = heading.draw(&mut scene);
    let top = top + legend_rows(Some(&mut scene), top, width, &key) + 30;
    let second = top + count(groups) * ROW + 30;
    let y = |row: usize| {
        if row < groups { top + count(row) * ROW } else { second + count(row - groups) * ROW }
    };
    for row in 0..groups + joins {
        let name = match (stacked, row.checked_sub(groups)) {
            (true, _) if row == 0 => "bottom".to_owned(),
            (true, _) => format!("entry {row}"),
            (false, None) if row == 0 => "running".to_owned(),
            (false, None) => format!("group {row}"),
            (false, Some(join)) => format!("join {join}"),
        };
        scene.text((LEFT - 8, y(row) + ROW / 2), face(11, INK).bold().end(), name);
        scene.line((scale.left(), y(row) + ROW - 2), (scale.right(), y(row) + ROW - 2), PALE);
    }
    if let Some(strip) = strips.first() {
        boxes(&mut scene, recording, strip, &scale, (groups, joins), &y);
    }
    scale.draw(&mut scene, Area { x: 0, y: top + body, w: 0, h: 0 });
    heading.draw_footer(&mut scene);
    scene
}

fn boxes(
    scene: &mut Scene,
    recording: &Recording,
    strip: &Strip,
    scale: &Scale,
    (groups, joins): (usize, usize),
    y: &impl Fn(usize) -> i32,
) {
    let columns: Vec<Column> = scale.columns(strip);
    let column = |column: &Column| {
        let (Shows::Issue(i) | Shows::Between { issue: i, .. } | Shows::Wait { after: i, .. }) =
            column.shows;
        let issue = &strip.issues[i];
        let mut rows: Vec<Option<Entity>> = vec![None; groups + joins];
        let (of_joins, of_groups): (Vec<_>, Vec<_>) =
            entities(issue).into_iter().partition(|e| e.role == Role::Join);
        rows.iter_mut().take(groups).zip(of_groups).for_each(|(row, e)| *row = Some(e));
        rows.iter_mut().skip(groups).zip(of_joins).for_each(|(row, e)| *row = Some(e));
        rows
    };
    let grid: Vec<Vec<Option<Entity>>> = columns.iter().map(column).collect();
    for tile in tiles(&grid) {
        let Some(entity) = tile.cell else { continue };
        for row in tile.rows.0..tile.rows.1 {
            let x = columns[tile.columns.0].from;
            let w = columns[tile.columns.1 - 1].to - x;
            let area = Area { x, y: y(row), w, h: ROW - 3 };
            entity.role.look().draw(scene, area, "");
            scene.outline(area, Rgb(0xff, 0xff, 0xff));
            label(scene, recording, entity, area);
        }
    }
}

/// Draws the text of a box, as much as fits.
fn label(scene: &mut Scene, recording: &Recording, entity: Entity, area: Area) {
    let line = |pc: Option<Pc>| pc.map(|pc| recording.line(pc).to_string());
    let lanes = entity.lanes.count();
    let (first, second) = match (entity.role, entity.join) {
        (_, Some((id, arrived))) => (
            format!("B{id}: {}/{lanes}", arrived.count()),
            format!("{arrived} of {}", entity.lanes),
        ),
        (role, _) => {
            let at = line(entity.pc).map_or(String::new(), |l| format!(" at {l}"));
            let until = line(entity.reconverge).map_or(String::new(), |l| format!(" to {l}"));
            let path =
                if let Role::Runs(path) = role { format!("[{path}] ") } else { String::new() };
            (format!("{path}{}{at}{until}", plural(lanes.into(), "lane")), entity.lanes.to_string())
        }
    };
    let look = entity.role.look();
    let room = fitting(area.w - 6, 10);
    let middle = area.x + area.w / 2;
    let short = lanes.to_string();
    let texts: Vec<(&str, i32)> = match () {
        () if first.len().max(second.len()) <= room => {
            vec![(&first, area.y + 10), (&second, area.y + 22)]
        }
        () if first.len() <= room => vec![(&first, area.y + area.h / 2)],
        () if short.len() <= room => vec![(&short, area.y + area.h / 2)],
        () => Vec::new(),
    };
    for (text, y) in texts {
        if look.hatch.is_some() {
            let w = text_width(text.chars().count(), 10) + 4;
            scene.fill(Area { x: middle - w / 2, y: y - 6, w, h: 12 }, look.ground);
        }
        scene.text(
            (middle, y),
            face(10, if look.hatch.is_some() { INK } else { look.ink }).middle(),
            text,
        );
    }
}

/// Prints every box of every issue as CSV.
pub(super) fn data(recording: &Recording) -> String {
    let mut out =
        String::from("block,warp,issue,cycle,row,state,lanes,line,reconverge_line,join,arrived\n");
    for strip in recording.timeline.strips().iter().take(1) {
        for issue in &strip.issues {
            for (row, e) in entities(issue).into_iter().enumerate() {
                let line =
                    |pc: Option<Pc>| pc.map_or(String::new(), |pc| recording.line(pc).to_string());
                let pc = if matches!(e.role, Role::Runs(_)) { Some(issue.pc) } else { e.pc };
                let (join, arrived) = e
                    .join
                    .map_or_else(Default::default, |(id, a)| (format!("B{id}"), a.to_string()));
                let _ = writeln!(
                    out,
                    "{},{},{},{},{row},{},{},{},{},{join},{arrived}",
                    strip.block.0,
                    strip.warp,
                    issue.number,
                    issue.cycle,
                    e.role.name(),
                    e.lanes,
                    line(pc),
                    line(e.reconverge),
                );
            }
        }
    }
    out
}
