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

/// Number of classes of lanes: none, one for each quarter of the warp, and all lanes.
const CLASSES: usize = 6;

/// Returns the largest number of active lanes of each class in warps of `lanes` lanes.
fn classes(lanes: usize) -> [usize; CLASSES] {
    let quarters = |n| lanes * n / 4;
    [0, quarters(1), quarters(2), quarters(3), lanes.saturating_sub(1), lanes]
}

/// Returns the class of `active` lanes of a warp of `lanes`.
fn class(active: usize, lanes: usize) -> usize {
    classes(lanes).iter().position(|&most| active <= most).unwrap_or(CLASSES - 1)
}

/// Names a class of warps of `lanes` lanes; `None` if no number of lanes is in it.
fn name(class: usize, lanes: usize) -> Option<String> {
    let most = classes(lanes)[class];
    let least = class.checked_sub(1).map_or(0, |before| classes(lanes)[before] + 1);
    match most {
        _ if most < least => None,
        _ if most == lanes => Some(format!("W{most}: all lanes")),
        _ if most == least => Some(format!("W{most}")),
        _ => Some(format!("W{least} to W{most}")),
    }
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

/// Width of a bar of a warp of 32 lanes, and the most of one of fewer.
const BAR: (i32, i32) = (17, 40);
const HEIGHT: i32 = 330;
const LEFT: i32 = MARGIN + 56;
/// Least width of the bars, since the caption has 60 characters.
const LEAST: i32 = 350;

/// Draws the picture.
pub(super) fn lanes(panel: &Panel<'_>) -> Scene {
    let Panel { recording, axis, .. } = *panel;
    let most = recording.warp_size.min(32) as usize;
    let widest = panel.peers.iter().map(|peer| peer.warp_size.min(32)).max().unwrap_or(32);
    let count = i32::try_from(widest + 1).unwrap_or(33);
    let bar = (LEAST / count).clamp(BAR.0, BAR.1);
    let left = LEFT + (count * bar).max(LEAST) + 110;
    let scale = Scale::new(panel.all_strips(usize::MAX), axis, left, 720);
    let bins = bins(recording, &scale, 120);
    let all = sums(&bins);
    let of_peer = |peer| sums(&super::bins::bins(peer, &scale, 120)).into_iter().max().unwrap_or(0);
    let highest = panel.peers.iter().map(of_peer).max().unwrap_or(0).max(1);
    let heading = Heading::of(panel, "active lanes per instruction");
    let width = (scale.right() + 70).max(heading.width());
    let entry = |c| Some(Entry { look: look(c), letter: String::new(), text: name(c, most)? });
    let key: Vec<Entry> = (0..CLASSES).filter_map(entry).collect();
    let legend = legend_rows(None, 0, width, &key);
    let mut scene = Scene::new(width, TOP + legend + 46 + HEIGHT + 100);
    let top = heading.draw(&mut scene);
    let top = top + legend_rows(Some(&mut scene), top, width, &key) + 46;

    let total: u64 = all.iter().sum();
    let thread: u64 = (0..).zip(&all).map(|(lanes, n)| lanes * n).sum();
    let average = if total == 0 { 0.0 } else { thread as f64 / total as f64 };
    let caption =
        format!("{} warp instructions, {average:.2} active lanes on average", grouped(total));
    scene.text((LEFT, top - 24), face(12, INK).bold(), caption);
    histogram(&mut scene, &all, highest, (most, bar), top);

    scene.text(
        (scale.left(), top - 24),
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
        for c in (0..CLASSES).rev() {
            let of_class = |&(lanes, _): &(usize, &u64)| class(lanes, most) == c;
            let n: u64 = (0..).zip(&bin.lanes).filter(of_class).map(|(_, n)| n).sum();
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

fn histogram(scene: &mut Scene, all: &[u64], highest: u64, (most, bar): (usize, i32), top: i32) {
    let shares = tenths_of_percent(all);
    let base = top + HEIGHT;
    // Number of lanes and height of the label before.
    let mut before = (usize::MAX, 0);
    for (lanes, &n) in all.iter().enumerate().take(most + 1) {
        let x = LEFT + i32::try_from(lanes).unwrap_or(0) * bar;
        let h = i32::try_from(u128::from(n) * HEIGHT.unsigned_abs() as u128 / u128::from(highest))
            .unwrap_or(HEIGHT);
        let h = if n > 0 { h.max(1) } else { 0 };
        look(class(lanes, most)).draw(scene, Area { x: x + 1, y: base - h, w: bar - 3, h }, "");
        if n > 0 {
            let share = percent(shares[lanes]);
            let share = share.trim_end_matches(" %");
            // Of neighbors at one height, every second label stands above the other.
            let wide = i32::try_from(share.len()).unwrap_or(bar) * 6 > bar;
            let mut y = base - h - 8;
            if wide && before.0 == lanes.wrapping_sub(1) && (y - before.1).abs() < 10 {
                y = before.1 - 10;
            }
            before = (lanes, y);
            scene.text((x + bar / 2, y), face(9, INK).middle(), share);
        }
        if lanes % 4 == 0 || lanes == most || bar > 30 {
            scene.text((x + bar / 2, base + 12), face(10, GREY).middle(), format!("W{lanes}"));
        }
    }
    scene.line((LEFT, base), (LEFT + i32::try_from(most + 1).unwrap_or(33) * bar, base), GREY);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_shares_of_the_warp() {
        let names = |lanes| (0..CLASSES).filter_map(|c| name(c, lanes)).collect::<Vec<_>>();
        assert_eq!(names(8), ["W0", "W1 to W2", "W3 to W4", "W5 to W6", "W7", "W8: all lanes"]);
        assert_eq!(names(4), ["W0", "W1", "W2", "W3", "W4: all lanes"]);
        assert_eq!(names(2), ["W0", "W1", "W2: all lanes"]);
        let wide = ["W0", "W1 to W8", "W9 to W16", "W17 to W24", "W25 to W31", "W32: all lanes"];
        assert_eq!(names(32), wide);
        for lanes in 2..=32 {
            let used: Vec<usize> = (0..=lanes).map(|active| class(active, lanes)).collect();
            assert!(used.is_sorted() && used.iter().all(|&c| name(c, lanes).is_some()), "{lanes}");
            assert_eq!(used.iter().filter(|&&c| c == CLASSES - 1).count(), 1, "{lanes}");
        }
    }
}
