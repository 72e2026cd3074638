//! What every picture has around it: title, legend, and what was simulated.

use super::palette::{GREY, INK, Look, PALE, face, text_width};
use super::scene::{Area, Rgb, Scene};
use crate::report::numbers::grouped;
use crate::report::timeline::Recording;

/// The margin at each side.
pub(super) const MARGIN: i32 = 24;

/// An entry of a legend.
pub(super) struct Entry {
    pub look: Look,
    pub letter: String,
    pub text: String,
}

/// Draws title and subtitle; returns where the picture may begin.
pub(super) fn title(scene: &mut Scene, recording: &Recording, what: &str) -> i32 {
    let Recording { kernel, mode, machine, .. } = recording;
    scene.text((MARGIN, 30), face(20, INK).bold(), format!("{kernel}: {what}"));
    let [x, y, z] = recording.grid.map(u64::from);
    let threads: u64 = recording.block.map(u64::from).iter().product();
    let launch = format!("{} x {threads} threads", plural(x * y * z, "block"));
    let subtitle = format!("{} \u{b7} {mode} on {machine} \u{b7} {launch}", recording.program);
    scene.text((MARGIN, 54), face(12, GREY), subtitle);
    76
}

/// The narrowest picture in which the title is whole.
pub(super) fn title_width(recording: &Recording, what: &str) -> i32 {
    let title = text_width(recording.kernel.chars().count() + what.chars().count() + 2, 20);
    let facts =
        [&recording.program, &recording.mode, &recording.machine].map(|s| s.chars().count()).iter().sum::<usize>();
    title.max(text_width(facts + 48, 12)).max(text_width(recording.simulated.chars().count() + 20, 10)) + 2 * MARGIN
}

/// Draws the last line of the picture.
pub(super) fn footer(scene: &mut Scene, recording: &Recording) {
    let y = scene.height - 16;
    scene.line((MARGIN, y - 14), (scene.width - MARGIN, y - 14), PALE);
    scene.text((MARGIN, y), face(10, GREY), recording.simulated.clone());
    let name = concat!("simt-sim ", env!("CARGO_PKG_VERSION"));
    scene.text((scene.width - MARGIN, y), face(10, GREY).end(), name);
}

/// Draws a legend below each other, from the upper left corner; returns where it ends.
pub(super) fn legend(scene: &mut Scene, at: (i32, i32), entries: &[Entry]) -> i32 {
    let (x, mut y) = at;
    for Entry { look, letter, text } in entries {
        let swatch = Area { x, y, w: 26, h: 15 };
        look.draw(scene, swatch, letter);
        scene.outline(swatch, Rgb(0xa0, 0xa0, 0xa0));
        scene.text((x + 34, y + 8), face(11, INK), text.clone());
        y += 20;
    }
    y
}

/// Draws a legend in rows across the picture, from `top` on, where there is a scene; returns its height in any case.
pub(super) fn legend_rows(mut scene: Option<&mut Scene>, top: i32, width: i32, entries: &[Entry]) -> i32 {
    let widest = entries.iter().map(|e| text_width(e.text.chars().count(), 11)).max().unwrap_or(0) + 34 + 24;
    let per_row = ((width - 2 * MARGIN) / widest.max(1)).max(1);
    let mut rows = 0;
    for (i, entry) in (0..).zip(entries) {
        rows = i / per_row + 1;
        if let Some(scene) = scene.as_deref_mut() {
            let at = (MARGIN + i % per_row * widest, top + i / per_row * 20);
            legend(scene, at, std::slice::from_ref(entry));
        }
    }
    rows * 20
}

fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}
