//! Bank conflicts of one shared-memory access.
//! A row per lane, a column per bank, and in each cell the wavefront (pass) that served the lane.
//!
//! Lanes that access the same word are served together; distinct words of one bank are served one
//! after the other. An access of 8 or 16 bytes per lane is served half a warp or a quarter at a
//! time. The words of a bank are numbered by their lowest lane; the order affects only the numbers.
//! Atomics serve the lanes on a bank one after the other, with two wavefronts each if they compare.

use std::fmt::Write;

use super::access::{Access, Of, choose};
use super::frame::{Entry, Heading, MARGIN, Panel, TOP, legend_rows, plural};
use super::palette::{GREY, INK, Look, PALE, VERMILLION, face, path_colour};
use super::scene::{Area, Hatch, Rgb, Scene};
use crate::timeline::Recording;
use simt_core::event::AccessWay;

/// Word that a lane accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hit {
    lane: u32,
    address: u64,
    word: u64,
    bank: u32,
    /// Number from 1.
    wavefront: u32,
    /// Lanes of its group that access the word.
    sharers: u32,
}

/// Maximum number of lanes served together: those that move 32 words.
fn group(access: &Access<'_>) -> u32 {
    (32 / access.places.bytes.div_ceil(4).max(1)).max(1)
}

fn hits(access: &Access<'_>, banks: u32) -> Vec<Hit> {
    let by_word = served(access, banks, false);
    let last = |hits: &[Hit]| hits.iter().map(|hit| hit.wavefront).max().unwrap_or(0);
    let all = access.traffic.wavefronts;
    if access.traffic.kind != AccessWay::Atomic || last(&by_word) == all {
        return by_word;
    }
    let mut by_lane = served(access, banks, true);
    let each = (all / last(&by_lane).max(1)).max(1);
    // One that tries a lane of each bank leaves the others.
    by_lane.iter_mut().for_each(|hit| hit.wavefront = (each * hit.wavefront).min(all));
    by_lane
}

/// Returns the words of the lanes; lanes on one word are served `apart` or together.
fn served(access: &Access<'_>, banks: u32, apart: bool) -> Vec<Hit> {
    let (group, banks) = (group(access), u64::from(banks.max(1)));
    let per_lane = u64::from(access.places.bytes.div_ceil(4).max(1));
    let mut hits: Vec<Hit> = Vec::new();
    let mut before = 0; // wavefronts of earlier groups
    for first in (0..32).step_by(group as usize) {
        let mut words: Vec<(u64, u32)> = Vec::new();
        let start = hits.len();
        for (lane, address) in
            access.lanes().filter(|(lane, _)| (first..first + group).contains(lane))
        {
            for word in address / 4..address / 4 + per_lane {
                let bank = word % banks;
                let turn = (word, if apart { lane } else { 0 });
                if !words.contains(&turn) {
                    words.push(turn);
                }
                let place = words
                    .iter()
                    .filter(|&(w, _)| w % banks == bank)
                    .position(|&t| t == turn)
                    .unwrap_or(0);
                let wavefront = before + place as u32 + 1;
                hits.push(Hit { lane, address, word, bank: bank as u32, wavefront, sharers: 0 });
            }
        }
        let here = &mut hits[start..];
        let sharers: Vec<u32> = here
            .iter()
            .map(|hit| here.iter().filter(|h| h.word == hit.word && !apart).count().max(1) as u32)
            .collect();
        here.iter_mut().zip(sharers).for_each(|(hit, n)| hit.sharers = n);
        before = here.iter().map(|hit| hit.wavefront).max().unwrap_or(before);
    }
    hits
}

const LEFT: i32 = MARGIN + 70;
/// Width of all columns.
const WIDTH: i32 = 1024;
const ROW: i32 = 15;
/// Height of the bar of the busiest bank.
const BAR: i32 = 64;

fn look(wavefront: u32, shared: bool) -> Look {
    let (ground, ink) = path_colour(wavefront - 1);
    if shared {
        Look::hatched(ground.tint(110), Hatch::Level, ground)
    } else {
        Look::plain(ground, ink)
    }
}

const ABSENT: Look = Look::hatched(Rgb(0xf4, 0xf4, 0xf4), Hatch::Dots, Rgb(0x90, 0x90, 0x90));

/// Draws the picture.
pub(super) fn banks(panel: &Panel<'_>) -> Scene {
    let recording = panel.recording;
    let access = match choose(recording, Of::Banks, &panel.focus) {
        Ok(access) => access,
        Err(none) => return super::empty(panel, &none),
    };
    let hits = hits(&access, recording.shared_banks);
    let columns = i32::try_from(recording.shared_banks.clamp(1, 64)).unwrap_or(32);
    let rows = i32::try_from(recording.warp_size.min(32)).unwrap_or(32);
    let wavefronts = hits.iter().map(|hit| hit.wavefront).max().unwrap_or(0);
    let heading = Heading::of(panel, &format!("one {} across the {columns} banks", access.way()));
    let mut key: Vec<Entry> = (1..=wavefronts.min(3))
        .map(|n| {
            let more = if n == 3 && wavefronts > 3 { ", and so on" } else { "" };
            Entry {
                look: look(n, false),
                letter: n.to_string(),
                text: format!("served in wavefront {n}{more}"),
            }
        })
        .collect();
    if hits.iter().any(|hit| hit.sharers > 1) {
        let text = "same word as another lane, served together".to_owned();
        key.push(Entry { look: look(1, true), letter: "1".to_owned(), text });
    }
    key.push(Entry { look: ABSENT, letter: String::new(), text: "inactive lane".to_owned() });
    let width = (LEFT + WIDTH + 90).max(heading.width());
    let legend = legend_rows(None, 0, width, &key);
    let grid = rows * ROW;
    let mut scene = Scene::new(width, TOP + 64 + legend + 34 + grid + 34 + BAR + 26 + 40);
    let top = heading.draw(&mut scene);
    scene.text((MARGIN, top + 8), face(13, INK).bold(), access.source(recording));
    scene.text((MARGIN, top + 28), face(12, INK), access.which());
    let top = top + 64 + legend_rows(Some(&mut scene), top + 52, width, &key);
    scene.text((LEFT, top + 6), face(12, INK).bold(), result(&access, wavefronts));
    let top = top + 34;

    let column = WIDTH / columns;
    let x = |bank: i32| LEFT + bank * column;
    for lane in 0..rows {
        let y = top + lane * ROW;
        let area = Area { x: LEFT, y, w: columns * column, h: ROW };
        if !access.traffic.lanes.contains(lane as u32) {
            ABSENT.draw(&mut scene, area, "");
        }
        scene.line((LEFT, y), (area.right(), y), PALE);
        scene.text((LEFT - 8, y + ROW / 2), face(9, GREY).end(), format!("lane {lane}"));
    }
    for bank in 0..=columns {
        scene.line((x(bank), top), (x(bank), top + grid), PALE);
    }
    for bank in 0..columns {
        scene.text((x(bank) + column / 2, top - 8), face(9, GREY).middle(), bank.to_string());
    }
    scene.text((LEFT - 8, top - 8), face(10, INK).bold().end(), "bank");
    scene.outline(Area { x: LEFT, y: top, w: columns * column, h: grid }, GREY);
    let together = i32::try_from(group(&access)).unwrap_or(32);
    for lane in (together..rows).step_by(together.unsigned_abs() as usize) {
        let y = top + lane * ROW;
        scene.path(vec![(LEFT - 6, y), (x(columns) + 6, y)], VERMILLION, 2);
    }
    for hit in &hits {
        let (lane, bank) =
            (i32::try_from(hit.lane).unwrap_or(0), i32::try_from(hit.bank).unwrap_or(0));
        let area = Area { x: x(bank) + 1, y: top + lane * ROW + 1, w: column - 1, h: ROW - 1 };
        look(hit.wavefront, hit.sharers > 1).draw(&mut scene, area, &hit.wavefront.to_string());
    }

    let base = top + grid + 34 + BAR;
    let per_bank: Vec<i32> = (0..columns).map(|bank| words_of(&hits, bank)).collect();
    let most = per_bank.iter().copied().max().unwrap_or(1).max(1);
    for (bank, &words) in (0..).zip(&per_bank) {
        let h = BAR * words / most;
        let area = Area { x: x(bank) + 3, y: base - h, w: column - 5, h };
        scene.fill(area, if words > 1 { VERMILLION } else { GREY });
        let text = if words > 0 { words.to_string() } else { "-".to_owned() };
        scene.text((x(bank) + column / 2, base - h - 7), face(10, INK).middle(), text);
    }
    scene.line((LEFT, base), (x(columns), base), GREY);
    let counted = if access.traffic.kind == AccessWay::Atomic { "turns" } else { "words" };
    scene.text((LEFT - 8, base - BAR / 2 - 7), face(10, INK).bold().end(), counted);
    scene.text((LEFT - 8, base - BAR / 2 + 7), face(10, INK).bold().end(), "per bank");
    if together < rows {
        let share = rows / together;
        let note =
            format!("{} bytes per lane: a {share}th of the warp at a time", access.places.bytes)
                .replace("a 2th of the warp", "half a warp")
                .replace("a 4th of the warp", "a quarter of a warp");
        scene.text((LEFT, base + 16), face(10, GREY), note);
    }
    heading.draw_footer(&mut scene);
    scene
}

/// Distinct words of a bank, each counted once per group of lanes, or turns of an atomic.
fn words_of(hits: &[Hit], bank: i32) -> i32 {
    let mut seen: Vec<u32> =
        hits.iter().filter(|hit| hit.bank as i32 == bank).map(|hit| hit.wavefront).collect();
    seen.sort_unstable();
    seen.dedup();
    i32::try_from(seen.len()).unwrap_or(0)
}

fn result(access: &Access<'_>, wavefronts: u32) -> String {
    let ideal = access.traffic.ideal_wavefronts;
    let lanes = access.traffic.lanes.count();
    let bytes = plural(access.places.bytes.into(), "byte");
    let head = format!(
        "{} x {bytes}: {}",
        plural(lanes.into(), "lane"),
        plural(wavefronts.into(), "wavefront")
    );
    match wavefronts.saturating_sub(ideal) {
        0 => format!("{head}, no bank conflict"),
        extra => format!("{head} instead of {ideal}: {extra} extra from bank conflicts"),
    }
}

/// Prints a row per word and lane.
pub(super) fn data(recording: &Recording, access: &Access<'_>) -> String {
    let mut out = String::from(
        "block,warp,issue,cycle,line,lane,address,word,bank,wavefront,lanes_on_word\n",
    );
    for hit in hits(access, recording.shared_banks) {
        let Hit { lane, address, word, bank, wavefront, sharers } = hit;
        let (strip, issue) = (access.strip, access.issue);
        let line = recording.line(issue.pc);
        let _ = writeln!(
            out,
            "{},{},{},{},{line},{lane},{address:#x},{word},{bank},{wavefront},{sharers}",
            strip.block.0, strip.warp, issue.number, issue.cycle
        );
    }
    out
}
