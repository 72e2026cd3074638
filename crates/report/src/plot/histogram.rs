//! Histogram of active lanes W0..W32, and its share over time (as in AerialVision).

use std::fmt::Write;

use super::axis::Scale;
use super::bins::{Bin, bins};
use super::frame::{Entry, Heading, MARGIN, Panel, TOP, legend_rows};
use super::palette::{BLUE, GREEN, GREY, INK, Look, ORANGE, PALE, SKY, WHITE, YELLOW, face};
use super::scene::{Area, Hatch, Rgb, Scene};
use crate::numbers::{grouped, percent, tenths_of_percent};
use crate::timeline::{Axis, Recording};
use simt_core::base::MAX_LANES;

/// Classes of the area over time: maximum active lanes and name of each.
const CLASSES: [(usize, &str); 6] = [
    (0, "W0"),
    (8, "W1 to W8"),
    (16, "W9 to W16"),
    (24, "W17 to W24"),
    (31, "W25 to W31"),
    (32, "W32: all lanes"),
];

fn class(lanes: usize) -> usize {
    CLASSES.iter().position(|&(most, _)| lanes <= most).unwrap_or(CLASSES.len() - 1)
}

fn look(class: usize) -> Look {
    match class {
        0 => Look::plain(Rgb(0xc4, 0xc4, 0xc4), INK),
        1 => Look::hatched(ORANGE, Hatch::Rising, Rgb(0x90, 0x60, 0x00)),
        2 => Look::hatched(YELLOW, Hatch::Falling, Rgb(0xa0, 0x96, 0x10)),
        3 => Look::hatched(GREEN, Hatch::Level, WHITE),
        4 => Look::hatched(SKY, Hatch::Upright, BLUE),
        _ => Look::plain(BLUE, WHITE),
    }
}

const BAR: i32 = 17;
const HEIGHT: i32 = 330;
const LEFT: i32 = MARGIN + 56;

/// Draws the picture.
pub(super) fn lanes(panel: &Panel<'_>) -> Scene {
    let Panel { recording, axis, .. } = *panel;
    let most = recording.warp_size.min(32) as usize;
    let bars = i32::try_from(most + 1).unwrap_or(33) * BAR;
    let scale = Scale::new(panel.all_strips(usize::MAX), axis, LEFT + bars + 110, 720);
    let bins = bins(recording, &scale, 120);
    let all = sums(&bins);
    let of_peer = |peer| sums(&super::bins::bins(peer, &scale, 120)).into_iter().max().unwrap_or(0);
    let highest = panel.peers.iter().map(of_peer).max().unwrap_or(0).max(1);
    let heading = Heading::of(panel, "active lanes per instruction");
    let width = (scale.right() + 70).max(heading.width());
    // A machine with narrow warps has fewer classes.
    let key: Vec<Entry> = (0..=class(most))
        .map(|c| Entry { look: look(c), letter: String::new(), text: CLASSES[c].1.to_owned() })
        .collect();
    let legend = legend_rows(None, 0, width, &key);
    let mut scene = Scene::new(width, TOP + legend + 40 + HEIGHT + 100);
    let top = heading.draw(&mut scene);
    let top = top + legend_rows(Some(&mut scene), top, width, &key) + 40;

    let total: u64 = all.iter().sum();
    let thread: u64 = (0..).zip(&all).map(|(lanes, n)| lanes * n).sum();
    let average = if total == 0 { 0.0 } else { thread as f64 / total as f64 };
    let caption =
        format!("{} warp instructions, {average:.2} active lanes on average", grouped(total));
    scene.text((LEFT, top - 18), face(12, INK).bold(), caption);
    histogram(&mut scene, &all, highest, most, top);

    scene.text(
        (scale.left(), top - 18),
        face(12, INK).bold(),
        format!("share of instructions over time ({})", axis.name()),
    );
    for tenth in [0, 5, 10] {
        let y = top + HEIGHT - HEIGHT * tenth / 10;
        scene.text((scale.left() - 6, y), face(10, GREY).end(), format!("{} %", tenth * 10));
        scene.line((scale.left(), y), (scale.right(), y), PALE);
    }
    for bin in &bins {
        let sum = bin.instructions();
        let (x, right) = (scale.x(bin.from), scale.x(bin.to));
        let mut below = 0_u64;
        for c in (0..CLASSES.len()).rev() {
            let n: u64 =
                (0..).zip(&bin.lanes).filter(|&(lanes, _)| class(lanes) == c).map(|(_, n)| n).sum();
            let y = |n: u64| {
                top + HEIGHT
                    - i32::try_from(n * HEIGHT.unsigned_abs() as u64 / sum.max(1)).unwrap_or(HEIGHT)
            };
            let (bottom, high) = (y(below), y(below + n));
            below += n;
            look(c).draw(&mut scene, Area { x, y: high, w: right - x, h: bottom - high }, "");
        }
    }
    scale.draw(&mut scene, Area { x: 0, y: top + HEIGHT, w: 0, h: 0 });
    heading.draw_footer(&mut scene);
    scene
}

/// Sums the instructions of all spans by number of active lanes.
fn sums(bins: &[Bin]) -> [u64; MAX_LANES + 1] {
    let mut all = [0_u64; MAX_LANES + 1];
    for bin in bins {
        all.iter_mut().zip(&bin.lanes).for_each(|(sum, n)| *sum += n);
    }
    all
}

fn histogram(scene: &mut Scene, all: &[u64], highest: u64, most: usize, top: i32) {
    let shares = tenths_of_percent(all);
    let base = top + HEIGHT;
    for (lanes, &n) in all.iter().enumerate().take(most + 1) {
        let x = LEFT + i32::try_from(lanes).unwrap_or(0) * BAR;
        let h = i32::try_from(u128::from(n) * HEIGHT.unsigned_abs() as u128 / u128::from(highest))
            .unwrap_or(HEIGHT);
        let h = if n > 0 { h.max(1) } else { 0 };
        look(class(lanes)).draw(scene, Area { x: x + 1, y: base - h, w: BAR - 3, h }, "");
        if n > 0 {
            let share = percent(shares[lanes]);
            scene.text(
                (x + BAR / 2, base - h - 8),
                face(9, INK).middle(),
                share.trim_end_matches(" %"),
            );
        }
        if lanes % 4 == 0 || lanes == most {
            scene.text((x + BAR / 2, base + 12), face(10, GREY).middle(), format!("W{lanes}"));
        }
    }
    scene.line((LEFT, base), (LEFT + i32::try_from(most + 1).unwrap_or(33) * BAR, base), GREY);
    scene.text((LEFT - 8, top), face(10, GREY).end(), grouped(highest));
    scene.text((LEFT - 8, base), face(10, GREY).end(), "0");
    scene.text(
        (LEFT, base + 30),
        face(10, GREY),
        "number of active lanes; above the bars: % of instructions",
    );
}

/// Prints the histogram of each span as CSV.
pub(super) fn data(recording: &Recording, axis: Axis) -> String {
    let scale = Scale::new(recording.timeline.strips().iter(), axis, 0, 720);
    let names: Vec<String> = (0..=MAX_LANES).map(|n| format!("w{n}")).collect();
    let mut out = format!("from_{axis},to_{axis},{}\n", names.join(","), axis = axis.name());
    for bin in bins(recording, &scale, 120) {
        let counts: Vec<String> = bin.lanes.iter().map(u64::to_string).collect();
        let _ = writeln!(out, "{},{},{}", bin.from, bin.to, counts.join(","));
    }
    out
}
