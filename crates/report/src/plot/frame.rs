//! What every picture has around it: title, legend, and what was simulated.

use super::Focus;
use super::palette::{ALARM, GREY, INK, Look, PALE, face, text_width};
use super::scene::{Area, Rgb, Scene};
use crate::Finish;
use crate::numbers::grouped;
use crate::timeline::{Axis, Recording};
use simt_core::observe::Strip;

/// The margin at each side.
pub(super) const MARGIN: i32 = 24;

/// An entry of a legend.
pub(super) struct Entry {
    pub look: Look,
    pub letter: String,
    pub text: String,
}

/// What stands above and below a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub title: String,
    /// Program, mode, machine, launch.
    pub subtitle: String,
    /// That a run did not end, before the subtitle; nothing where all is well.
    pub ending: Option<String>,
    /// What was simulated for it.
    pub footer: String,
}

/// A run's ending for [`Heading::ending`]: nothing where it ended well.
pub(super) fn ending(finish: Finish) -> Option<String> {
    (finish != Finish::Ok).then(|| finish.title().to_uppercase())
}

impl Heading {
    /// That of a picture of a recorded window which shows `what`.
    pub(super) fn of(panel: &Panel<'_>, what: &str) -> Heading {
        let Recording { program, kernel, mode, machine, grid, block, simulated, .. } = panel.recording;
        let facts = run_facts(program, mode, machine, *grid, *block);
        let letter = panel.letter().map(|letter| format!("{letter}. ")).unwrap_or_default();
        let ending = panel.recording.ending_in_short();
        Heading { title: format!("{letter}{kernel}: {what}"), subtitle: facts, ending, footer: simulated.clone() }
    }

    /// Draws title and subtitle; returns where the picture may begin.
    pub(super) fn draw(&self, scene: &mut Scene) -> i32 {
        scene.text((MARGIN, 30), face(20, INK).bold(), self.title.clone());
        let mut x = MARGIN;
        if let Some(ending) = &self.ending {
            scene.text((x, 54), face(12, ALARM).bold(), ending.clone());
            x += text_width(ending.chars().count() + 2, 12);
        }
        scene.text((x, 54), face(12, GREY), self.subtitle.clone());
        TOP
    }

    /// Draws the last line of the picture.
    pub(super) fn draw_footer(&self, scene: &mut Scene) {
        let y = scene.height - 16;
        scene.line((MARGIN, y - 14), (scene.width - MARGIN, y - 14), PALE);
        scene.text((MARGIN, y), face(10, GREY), self.footer.clone());
        let name = concat!("simt-sim ", env!("CARGO_PKG_VERSION"));
        scene.text((scene.width - MARGIN, y), face(10, GREY).end(), name);
    }

    /// The narrowest picture in which it is whole.
    pub(super) fn width(&self) -> i32 {
        let wide = |text: &str, more: usize, size| text_width(text.chars().count() + more, size);
        let before = self.ending.as_ref().map_or(0, |ending| ending.chars().count() + 2);
        let lines = [wide(&self.title, 0, 20), wide(&self.subtitle, before, 12), wide(&self.footer, 20, 10)];
        lines.into_iter().max().unwrap_or(0) + 2 * MARGIN
    }
}

/// Where a picture begins below its title.
pub(super) const TOP: i32 = 76;

/// `program, mode on machine, launch`
pub(super) fn run_facts(program: &str, mode: &str, machine: &str, grid: [u32; 3], block: [u32; 3]) -> String {
    let [x, y, z] = grid.map(u64::from);
    let threads: u64 = block.map(u64::from).iter().product();
    let blocks = plural(x * y * z, "block");
    format!("{program} \u{b7} {mode} on {machine} \u{b7} {blocks} x {threads} threads")
}

/// One recording's part of a picture, which shows it beside its peers on common axes.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub recording: &'a Recording,
    /// All that the picture shows, this one included.
    pub peers: &'a [Recording],
    /// Its place among them.
    pub place: usize,
    pub axis: Axis,
    pub focus: Focus,
}

impl<'a> Panel<'a> {
    pub(super) fn strips(&self) -> &'a [Strip] {
        self.recording.timeline.strips()
    }

    /// The warps of every peer, the first `most` of each.
    pub(super) fn all_strips(&self, most: usize) -> impl Iterator<Item = &'a Strip> + Clone {
        self.peers.iter().flat_map(move |peer| peer.timeline.strips().iter().take(most))
    }

    /// What the panel is called where there are several.
    fn letter(&self) -> Option<char> {
        (self.peers.len() > 1).then(|| letter(self.place))
    }
}

/// `A`, `B`, .. and after `Z` again `A`.
pub(super) fn letter(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
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

/// `1 lane`, `1,024 lanes`
pub(super) fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}
