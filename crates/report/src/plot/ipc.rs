//! Warp IPC and lane IPC over time. Lane IPC counts active lanes in units of full warps; the gap is
//! divergence.

use std::fmt::Write;

use super::axis::{Scale, nice_step};
use super::bins::{Bin, bins};
use super::frame::{Entry, Heading, MARGIN, Panel, TOP, legend_rows};
use super::palette::{BLUE, GREY, INK, Look, ORANGE, PALE, WHITE, face};
use super::scene::{Area, Hatch, Rgb, Scene};
use crate::numbers::real;
use crate::timeline::{Axis, Recording};

const HEIGHT: i32 = 360;
const LEFT: i32 = MARGIN + 56;
const MOST: u64 = 160;

const USED: Look = Look::plain(BLUE, WHITE);
const GAP: Look = Look::hatched(ORANGE.tint(110), Hatch::Rising, ORANGE);

/// Returns warp IPC and lane IPC.
fn rates(bin: &Bin, warp_size: u32) -> (f64, f64) {
    let cycles = (bin.to - bin.from).max(1) as f64;
    let warps = bin.instructions() as f64 / cycles;
    (warps, bin.thread_instructions() as f64 / cycles / f64::from(warp_size.max(1)))
}

/// Draws the picture.
pub(super) fn ipc(panel: &Panel<'_>) -> Scene {
    let recording = panel.recording;
    let scale = Scale::new(panel.all_strips(usize::MAX), Axis::Cycle, LEFT, 1240);
    let bins = bins(recording, &scale, MOST);
    let heading = Heading::of(panel, "warp IPC and lane IPC");
    let width = (scale.right() + 70).max(heading.width());
    let entry = |look, text: &str| Entry { look, letter: String::new(), text: text.to_owned() };
    let key = [
        entry(USED, "lane IPC / warp size: active lanes, in full warps"),
        entry(GAP, "gap up to warp IPC: inactive lanes"),
    ];
    let legend = legend_rows(None, 0, width, &key);
    let mut scene = Scene::new(width, TOP + legend + 44 + HEIGHT + 80);
    let top = heading.draw(&mut scene);
    let top = top + legend_rows(Some(&mut scene), top, width, &key) + 44;
    let of_peer = |peer| {
        super::bins::bins(peer, &scale, MOST).iter().map(|b| rates(b, 1).0).fold(0.0, f64::max)
    };
    let most = panel.peers.iter().map(of_peer).fold(0.0, f64::max);
    // Five round steps up to the maximum, in thousandths.
    let step = nice_step((most * 1000.0 / 5.0).ceil().max(1.0) as u64) as f64 / 1000.0;
    let steps = (most / step).ceil().max(1.0);
    let most = step * steps;
    let whole = |f: fn(&Bin) -> u64| bins.iter().map(f).sum::<u64>() as f64;
    // Average over the recording's own cycles, not those of a slower peer.
    let (from, to) = Scale::new(panel.strips().iter(), Axis::Cycle, LEFT, 1240).span();
    let (warps, threads) = (whole(Bin::instructions), whole(Bin::thread_instructions));
    let share = threads / (warps * f64::from(recording.warp_size)).max(1.0) * 100.0;
    let strips = recording.timeline.strips().len();
    let caption = format!(
        "{strips} warp{}: warp IPC {} on average; {share:.1} % of lanes active",
        if strips == 1 { "" } else { "s" },
        real(warps / (to - from).max(1) as f64),
    );
    scene.text((LEFT, top - 18), face(12, INK).bold(), caption);
    for i in 0..=steps as i32 {
        let y = top + HEIGHT - (f64::from(HEIGHT * i) / steps).round() as i32;
        let rate = format!("{:.3}", step * f64::from(i));
        scene.text(
            (LEFT - 8, y),
            face(10, GREY).end(),
            rate.trim_end_matches('0').trim_end_matches('.'),
        );
        scene.line((LEFT, y), (scale.right(), y), PALE);
    }
    let mut edge = Vec::new();
    for bin in &bins {
        let (warps, lanes) = rates(bin, recording.warp_size);
        let y = |rate: f64| top + HEIGHT - (rate / most * f64::from(HEIGHT)).round() as i32;
        let (x, w) = (scale.x(bin.from), scale.x(bin.to) - scale.x(bin.from));
        GAP.draw(&mut scene, Area { x, y: y(warps), w, h: y(lanes) - y(warps) }, "");
        USED.draw(&mut scene, Area { x, y: y(lanes), w, h: top + HEIGHT - y(lanes) }, "");
        edge.extend([(x, y(warps)), (x + w, y(warps))]);
    }
    scene.path(edge, Rgb(0x40, 0x40, 0x40), 1);
    scale.draw(&mut scene, Area { x: 0, y: top + HEIGHT, w: 0, h: 0 });
    heading.draw_footer(&mut scene);
    scene
}

/// Prints the rates as CSV.
pub(super) fn data(recording: &Recording) -> String {
    let scale = Scale::new(recording.timeline.strips().iter(), Axis::Cycle, LEFT, 1240);
    let mut out = String::from("from_cycle,to_cycle,inst,thread_inst,warp_ipc,lane_ipc\n");
    for bin in bins(recording, &scale, MOST) {
        let (warps, lanes) = rates(&bin, recording.warp_size);
        let lanes = lanes * f64::from(recording.warp_size);
        let (inst, thread) = (bin.instructions(), bin.thread_instructions());
        let _ = writeln!(out, "{},{},{inst},{thread},{warps:.6},{lanes:.6}", bin.from, bin.to);
    }
    out
}
