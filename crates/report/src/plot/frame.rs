//! The frame of every picture: title, legend and footer.

use super::Focus;
use super::palette::{ALARM, GREY, INK, Look, PALE, face, text_width};
use super::scene::{Area, Rgb, Scene};
use crate::Ending;
use crate::numbers::grouped;
use crate::timeline::{Axis, Recording};
use simt_core::observe::Strip;

/// Margin on each side.
pub(super) const MARGIN: i32 = 24;

/// A legend entry.
pub(super) struct Entry {
    pub look: Look,
    pub letter: String,
    pub text: String,
}

/// Texts above and below a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub title: String,
    /// Program, mode, machine, launch.
    pub subtitle: String,
    /// Outcome of a run that did not finish, printed before the subtitle; `None` otherwise.
    pub ending: Option<String>,
    /// Sentence about what was simulated.
    pub footer: String,
}

/// Returns the outcome for [`Heading::ending`]; `None` if the run finished.
pub(super) fn ending(finish: Ending) -> Option<String> {
    (finish != Ending::Ok).then(|| finish.title().to_uppercase())
}

impl Heading {
    /// Makes the heading of a window's picture that shows `what`.
    pub(super) fn of(panel: &Panel<'_>, what: &str) -> Heading {
        let Recording { program, kernel, mode, machine, grid, block, simulated, .. } =
            panel.recording;
        let facts = run_facts(program, mode, machine, *grid, *block);
        let letter = panel.letter().map(|letter| format!("{letter}. ")).unwrap_or_default();
        let ending = panel.recording.ending_in_short();
        Heading {
            title: format!("{letter}{kernel}: {what}"),
            subtitle: facts,
            ending,
            footer: simulated.clone(),
        }
    }

    /// Draws title and subtitle; returns the top of the picture.
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

    /// Draws the footer.
    pub(super) fn draw_footer(&self, scene: &mut Scene) {
        let y = scene.height - 16;
        scene.line((MARGIN, y - 14), (scene.width - MARGIN, y - 14), PALE);
        scene.text((MARGIN, y), face(10, GREY), self.footer.clone());
        let name = concat!("simt-sim ", env!("CARGO_PKG_VERSION"));
        scene.text((scene.width - MARGIN, y), face(10, GREY).end(), name);
    }

    /// Returns the width that the heading needs.
    pub(super) fn width(&self) -> i32 {
        let wide = |text: &str, more: usize, size| text_width(text.chars().count() + more, size);
        let before = self.ending.as_ref().map_or(0, |ending| ending.chars().count() + 2);
        let lines = [
            wide(&self.title, 0, 20),
            wide(&self.subtitle, before, 12),
            wide(&self.footer, 20, 10),
        ];
        lines.into_iter().max().unwrap_or(0) + 2 * MARGIN
    }
}

/// Top of a picture below its title.
pub(super) const TOP: i32 = 76;

/// Returns `program, mode on machine, launch`.
pub(super) fn run_facts(
    program: &str,
    mode: &str,
    machine: &str,
    grid: [u32; 3],
    block: [u32; 3],
) -> String {
    let [x, y, z] = grid.map(u64::from);
    let threads: u64 = block.map(u64::from).iter().product();
    let blocks = plural(x * y * z, "block");
    format!("{program} \u{b7} {mode} on {machine} \u{b7} {blocks} x {threads} threads")
}

/// One recording's panel of a picture with several recordings on common axes.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub recording: &'a Recording,
    /// All recordings of the picture, this one included.
    pub peers: &'a [Recording],
    /// Index among them.
    pub place: usize,
    pub axis: Axis,
    pub focus: Focus,
}

impl<'a> Panel<'a> {
    pub(super) fn strips(&self) -> &'a [Strip] {
        self.recording.timeline.strips()
    }

    /// Returns the first `most` warps of every recording.
    pub(super) fn all_strips(&self, most: usize) -> impl Iterator<Item = &'a Strip> + Clone {
        self.peers.iter().flat_map(move |peer| peer.timeline.strips().iter().take(most))
    }

    /// Returns the panel's letter if there are several.
    fn letter(&self) -> Option<char> {
        (self.peers.len() > 1).then(|| letter(self.place))
    }
}

/// Returns `A`, `B`, ..; after `Z` again `A`.
pub(super) fn letter(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}

/// Draws a vertical legend from the upper left corner; returns its lower end.
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

/// Draws a legend in rows from `top`, if there is a scene.
/// Returns its height in any case.
pub(super) fn legend_rows(
    mut scene: Option<&mut Scene>,
    top: i32,
    width: i32,
    entries: &[Entry],
) -> i32 {
    let widest =
        entries.iter().map(|e| text_width(e.text.chars().count(), 11)).max().unwrap_or(0) + 34 + 24;
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

/// Formats a count with its noun: `1 lane`, `1,024 lanes`.
pub(super) fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}
