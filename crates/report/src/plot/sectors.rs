//! Sectors of one access to global or local memory.
//! The picture shows the 128-byte lines, their 32-byte sectors, and in each word the lane that
//! requested it.
//!
//! A sector is moved whole. Hits in L1, L2 and DRAM are known per access, not per sector. A machine
//! that fills whole lines (Fermi) moves more into L1 than is shown.

use std::fmt::Write;

use super::access::{Access, Of, SECTOR, choose};
use super::frame::{Entry, Heading, MARGIN, Panel, TOP, legend_rows, plural};
use super::palette::{
    BLUE, GREEN, GREY, INK, Look, ORANGE, PALE, SKY, VERMILLION, WHITE, face, text_width,
};
use super::scene::{Area, Hatch, Rgb, Scene};
use crate::numbers::grouped;
use crate::timeline::Recording;
use simt_core::event::AccessWay;

/// Bytes per line.
const LINE: u64 = 128;
const WORDS: usize = 8;

/// A touched sector.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Touched {
    address: u64,
    /// Lanes that request bytes of each word.
    lanes: [Vec<u32>; WORDS],
    /// One bit per requested byte.
    bytes: u32,
}

/// Returns the sectors of an access, by address.
fn touched(access: &Access<'_>) -> Vec<Touched> {
    let mut sectors: Vec<Touched> = Vec::new();
    for (lane, address) in access.lanes() {
        // An aligned access of up to 16 bytes lies in one sector.
        let start = address / SECTOR * SECTOR;
        let at = match sectors.binary_search_by_key(&start, |sector| sector.address) {
            Ok(at) => at,
            Err(at) => {
                sectors.insert(at, Touched { address: start, lanes: Default::default(), bytes: 0 });
                at
            }
        };
        let first = (address - start) as usize;
        for byte in first..(first + access.places.bytes as usize).min(SECTOR as usize) {
            sectors[at].bytes |= 1 << byte;
            let lanes = &mut sectors[at].lanes[byte / 4];
            if lanes.last() != Some(&lane) {
                lanes.push(lane);
            }
        }
    }
    sectors
}

const LEFT: i32 = MARGIN + 150;
const CELL: i32 = 29;
const GAP: i32 = 8;
const ROW: i32 = 20;
/// Space between lines that are not neighbours.
const BREAK: i32 = 8;

const ASKED: Look = Look::plain(BLUE, WHITE);
const UNUSED: Look = Look::hatched(ORANGE.tint(70), Hatch::Rising, ORANGE);
const L1: Look = Look::plain(GREEN, WHITE);
const L2: Look = Look::hatched(SKY.tint(140), Hatch::Level, BLUE);
const DRAM: Look = Look::hatched(VERMILLION.tint(120), Hatch::Cross, VERMILLION);
const MERGED: Look = Look::hatched(Rgb(0xe8, 0xe8, 0xe8), Hatch::Upright, GREY);

/// Draws the picture.
pub(super) fn sectors(panel: &Panel<'_>) -> Scene {
    let recording = panel.recording;
    let access = match choose(recording, Of::Sectors, &panel.focus) {
        Ok(access) => access,
        Err(none) => return super::empty(panel, &none),
    };
    let sectors = touched(&access);
    let heading = Heading::of(panel, &format!("sectors moved by one {}", access.way()));
    let entry = |look, letter: &str, text: &str| Entry {
        look,
        letter: letter.to_owned(),
        text: text.to_owned(),
    };
    let key = [
        entry(ASKED, "7", "word requested by a lane, with its number (7+: several lanes)"),
        entry(UNUSED, "", "moved with its sector, not requested"),
    ];
    let right = LEFT + 4 * WORDS as i32 * CELL + 3 * GAP;
    let width = (right + 120).max(heading.width());
    let legend = legend_rows(None, 0, width, &key);
    let lines: Vec<&[Touched]> =
        sectors.chunk_by(|a, b| a.address / LINE == b.address / LINE).collect();
    let gaps: i32 =
        lines.windows(2).map(|pair| if neighbours(pair[0], pair[1]) { 0 } else { BREAK }).sum();
    let grid = i32::try_from(lines.len()).unwrap_or(32) * ROW + gaps;
    let mut scene = Scene::new(width, TOP + 60 + legend + 34 + grid + 150 + 40);
    let top = heading.draw(&mut scene);
    scene.text((MARGIN, top + 8), face(13, INK).bold(), access.source(recording));
    scene.text((MARGIN, top + 28), face(12, INK), access.which());
    let top = top + 60 + legend_rows(Some(&mut scene), top + 52, width, &key);
    scene.text((MARGIN, top + 10), face(10, INK).bold(), "128-byte line");
    for sector in 0..4 {
        let x = LEFT + sector * (WORDS as i32 * CELL + GAP);
        scene.text(
            (x, top + 10),
            face(10, GREY),
            format!("sector {sector}: bytes {} to {}", sector * 32, sector * 32 + 31),
        );
    }
    let mut y = top + 24;
    for (i, &line) in lines.iter().enumerate() {
        if i > 0 && !neighbours(lines[i - 1], line) {
            y += BREAK;
        }
        row(&mut scene, line, y, right);
        y += ROW;
    }
    bars(&mut scene, &access, &sectors, y + 34);
    heading.draw_footer(&mut scene);
    scene
}

fn neighbours(a: &[Touched], b: &[Touched]) -> bool {
    let line = |sectors: &[Touched]| sectors.first().map_or(0, |sector| sector.address / LINE);
    line(a) + 1 == line(b)
}

/// Draws one line: its address, its words, its number of moved sectors.
fn row(scene: &mut Scene, line: &[Touched], y: i32, right: i32) {
    let Some(first) = line.first() else { return };
    let middle = y + ROW / 2;
    scene.text(
        (LEFT - 10, middle),
        face(10, INK).end(),
        format!("{:#x}", first.address / LINE * LINE),
    );
    for sector in 0..4_u64 {
        let x = LEFT + sector as i32 * (WORDS as i32 * CELL + GAP);
        let here = line.iter().find(|touched| touched.address / SECTOR % 4 == sector);
        for word in 0..WORDS {
            let area = Area { x: x + word as i32 * CELL, y: y + 1, w: CELL, h: ROW - 2 };
            match here.map(|touched| touched.lanes[word].as_slice()) {
                None => {}
                Some([]) => UNUSED.draw(scene, area, ""),
                Some([lane]) => ASKED.draw(scene, area, &lane.to_string()),
                Some([lane, ..]) => ASKED.draw(scene, area, &format!("{lane}+")),
            }
            scene.outline(area, if here.is_some() { WHITE } else { PALE });
        }
    }
    scene.text((right + 12, middle), face(10, INK), plural(line.len() as u64, "sector"));
}

/// Draws requested bytes against moved bytes, and where the sectors were found.
fn bars(scene: &mut Scene, access: &Access<'_>, sectors: &[Touched], top: i32) {
    let traffic = &access.traffic;
    let moved = sectors.len() as u64 * SECTOR;
    let distinct = sectors.iter().map(|s| u64::from(s.bytes.count_ones())).sum::<u64>();
    let room = 4 * WORDS as i32 * CELL + 3 * GAP;
    let part = |n: u64, of: u64| {
        i32::try_from(u128::from(n) * room.unsigned_abs() as u128 / u128::from(of.max(1)))
            .unwrap_or(room)
    };
    scene.text((LEFT - 10, top + 11), face(11, INK).bold().end(), "bytes");
    let used = part(distinct, moved);
    ASKED.draw(scene, Area { x: LEFT, y: top, w: used, h: 22 }, &grouped(distinct));
    UNUSED.draw(
        scene,
        Area { x: LEFT + used, y: top, w: room - used, h: 22 },
        &grouped(moved - distinct),
    );
    let twice = match u64::from(traffic.requested) - distinct.min(traffic.requested.into()) {
        0 => String::new(),
        _ => {
            format!(" ({} counting shared bytes once per lane)", grouped(traffic.requested.into()))
        }
    };
    let caption = format!(
        "{} {} bytes{twice}; {} of {}: {} bytes moved, {:.1} % used",
        match traffic.lanes.count() {
            1 => "1 lane requests".to_owned(),
            n => format!("{n} lanes request"),
        },
        grouped(distinct),
        plural(traffic.sectors.into(), "sector"),
        plural(traffic.lines.into(), "line"),
        grouped(moved),
        100.0 * distinct as f64 / moved.max(1) as f64,
    );
    scene.text((LEFT, top + 36), face(11, INK), caption);
    let top = top + 60;
    scene.text((LEFT - 10, top + 11), face(11, INK).bold().end(), "found in");
    let found: Vec<(Look, &str, u64)> =
        found(access).into_iter().filter(|&(.., n)| n > 0).collect();
    let all: u64 = found.iter().map(|&(.., n)| n).sum();
    let (mut before, mut x) = (0, LEFT);
    for (look, name, n) in found {
        let (from, to) = (LEFT + part(before, all), LEFT + part(before + n, all));
        before += n;
        look.draw(scene, Area { x: from, y: top, w: to - from, h: 22 }, name);
        // Below the bar, because the bar may be too narrow for its name.
        let swatch = Area { x, y: top + 30, w: 26, h: 15 };
        look.draw(scene, swatch, "");
        let text = format!("{name}: {}", plural(n, "sector"));
        scene.text((x + 34, top + 38), face(11, INK), text.clone());
        x += 34 + text_width(text.chars().count(), 11) + 24;
    }
}

/// Returns the number of sectors found in each memory.
fn found(access: &Access<'_>) -> [(Look, &'static str, u64); 4] {
    let traffic = &access.traffic;
    let [l1, l2, dram] = [traffic.l1_hits, traffic.l2_hits, traffic.dram].map(u64::from);
    // A store that misses in L2 is merged there without a read.
    let merged = match traffic.kind {
        AccessWay::Store => u64::from(traffic.sectors).saturating_sub(l1 + l2 + dram),
        _ => 0,
    };
    [(L1, "L1", l1), (L2, "L2", l2), (DRAM, "DRAM", dram), (MERGED, "new in L2", merged)]
}

/// Prints a row per sector, then a row per memory where sectors were found.
pub(super) fn data(recording: &Recording, access: &Access<'_>) -> String {
    let (strip, issue) = (access.strip, access.issue);
    let line = recording.line(issue.pc);
    let head = format!("{},{},{},{},{line}", strip.block.0, strip.warp, issue.number, issue.cycle);
    let mut out = String::from(
        "block,warp,issue,cycle,line,of,address,lanes,requested_bytes,fetched_bytes,sectors\n",
    );
    for sector in touched(access) {
        let mut lanes: Vec<u32> = sector.lanes.iter().flatten().copied().collect();
        lanes.sort_unstable();
        lanes.dedup();
        let (lanes, bytes) = (lanes.len(), sector.bytes.count_ones());
        let _ = writeln!(out, "{head},sector,{:#x},{lanes},{bytes},{SECTOR},1", sector.address);
    }
    for (_, name, n) in found(access) {
        let _ = writeln!(out, "{head},{name},,,,{},{n}", n * SECTOR);
    }
    out
}
