//! Colours, patterns and letters of the pictures, with their meanings.

use super::scene::{Anchor, Area, Face, Hatch, Rgb, Scene};
use simt_core::observe::LaneState;

pub(super) const INK: Rgb = Rgb(0x20, 0x20, 0x20);
pub(super) const GREY: Rgb = Rgb(0x60, 0x60, 0x60);
pub(super) const PALE: Rgb = Rgb(0xe4, 0xe4, 0xe4);
pub(super) const WHITE: Rgb = Rgb(0xff, 0xff, 0xff);
pub(super) const BLUE: Rgb = Rgb(0x00, 0x72, 0xb2);
pub(super) const ORANGE: Rgb = Rgb(0xe6, 0x9f, 0x00);
pub(super) const GREEN: Rgb = Rgb(0x00, 0x9e, 0x73);
pub(super) const VERMILLION: Rgb = Rgb(0xd5, 0x5e, 0x00);
/// Colour of text that a reader must not overlook.
pub(super) const ALARM: Rgb = Rgb(0xb0, 0x30, 0x00);
pub(super) const PURPLE: Rgb = Rgb(0xcc, 0x79, 0xa7);
pub(super) const SKY: Rgb = Rgb(0x56, 0xb4, 0xe9);
pub(super) const YELLOW: Rgb = Rgb(0xf0, 0xe4, 0x42);

/// Width of a character, in thousandths of an em.
const CHARACTER: i32 = 602;

/// Returns the width of a text at a size.
pub(super) fn text_width(characters: usize, size: i32) -> i32 {
    i32::try_from(characters).unwrap_or(i32::MAX / 100_000).min(10_000) * size * CHARACTER / 1000
}

/// Returns the number of characters that fit.
pub(super) fn fitting(width: i32, size: i32) -> usize {
    usize::try_from(width.max(0) * 1000 / (size * CHARACTER)).unwrap_or(0)
}

/// Cuts text to a width, on one line.
pub(super) fn clipped(text: &str, width: i32, size: i32) -> String {
    let room = fitting(width, size);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= room {
        return text;
    }
    text.chars().take(room.saturating_sub(1)).chain(['\u{2026}']).collect()
}

/// Returns the default face of a size and colour.
pub(super) const fn face(size: i32, colour: Rgb) -> Face {
    Face { size, bold: false, colour, anchor: Anchor::Start }
}

impl Face {
    pub(super) const fn bold(self) -> Face {
        Face { bold: true, ..self }
    }

    pub(super) const fn middle(self) -> Face {
        Face { anchor: Anchor::Middle, ..self }
    }

    pub(super) const fn end(self) -> Face {
        Face { anchor: Anchor::End, ..self }
    }
}

/// Fill of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub ground: Rgb,
    pub hatch: Option<(Hatch, Rgb)>,
    /// Colour of text on it.
    pub ink: Rgb,
}

impl Look {
    pub(super) const fn plain(ground: Rgb, ink: Rgb) -> Look {
        Look { ground, hatch: None, ink }
    }

    pub(super) const fn hatched(ground: Rgb, hatch: Hatch, colour: Rgb) -> Look {
        Look { ground, hatch: Some((hatch, colour)), ink: INK }
    }

    /// Fills an area; writes `text` in its middle if it fits.
    pub(super) fn draw(self, scene: &mut Scene, area: Area, text: &str) {
        scene.fill(area, self.ground);
        if let Some((hatch, colour)) = self.hatch {
            scene.hatch(area, hatch, colour);
        }
        let size = if area.h >= 14 && area.w >= 14 { 11 } else { 9 };
        let width = text_width(text.chars().count(), size);
        if area.h >= size && area.w >= width + 2 && !text.is_empty() {
            let at = (area.x + area.w / 2, area.y + area.h / 2);
            if self.hatch.is_some() {
                let (w, h) = (width + 2, size + 1);
                scene.fill(Area { x: at.0 - w / 2, y: at.1 - h / 2, w, h }, self.ground);
            }
            scene.text(at, face(size, self.ink).middle(), text);
        }
    }
}

/// Returns the colour of a path, and a text colour for it.
pub(super) fn path_colour(path: u32) -> (Rgb, Rgb) {
    const PATHS: [(Rgb, Rgb); 7] = [
        (BLUE, WHITE),
        (ORANGE, INK),
        (GREEN, WHITE),
        (VERMILLION, WHITE),
        (SKY, INK),
        (PURPLE, INK),
        (YELLOW, INK),
    ];
    // Path 0 is the whole warp and shares its blue with no other path.
    if path == 0 { PATHS[0] } else { PATHS[1 + (path as usize - 1) % (PATHS.len() - 1)] }
}

/// Activity of a lane, as pictures show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// State at an issue, on a path.
    At(LaneState, u32),
    /// Ready on this path between two issues, while its warp waits.
    Stalled(u32),
}

impl Cell {
    pub(super) fn look(self) -> Look {
        match self {
            Cell::At(LaneState::Active, path) => {
                let (ground, ink) = path_colour(path);
                Look::plain(ground, ink)
            }
            Cell::At(LaneState::PredicatedOff, path) => {
                let colour = path_colour(path).0;
                Look::hatched(colour.tint(70), Hatch::Level, colour)
            }
            Cell::At(LaneState::MaskedOff, _) => {
                Look::hatched(Rgb(0xfa, 0xfa, 0xfa), Hatch::Dots, INK)
            }
            Cell::At(LaneState::AtJoin, _) => {
                Look::hatched(Rgb(0xee, 0xee, 0xee), Hatch::Rising, Rgb(0x80, 0x80, 0x80))
            }
            Cell::At(LaneState::AtBarrier, _) => {
                Look::hatched(Rgb(0xee, 0xee, 0xee), Hatch::Cross, Rgb(0x80, 0x80, 0x80))
            }
            Cell::At(LaneState::Exited, _) => Look::plain(Rgb(0xc4, 0xc4, 0xc4), GREY),
            Cell::Stalled(path) => {
                let (colour, _) = path_colour(path);
                Look::hatched(colour.tint(56), Hatch::Upright, colour.tint(140))
            }
        }
    }

    /// Returns the text on a cell: the path's number or the state's letter.
    pub(super) fn label(self) -> String {
        match self {
            Cell::At(LaneState::Active, path) => path.to_string(),
            Cell::At(LaneState::MaskedOff | LaneState::PredicatedOff, _) | Cell::Stalled(_) => {
                String::new()
            }
            Cell::At(state, _) => state.letter().to_string(),
        }
    }
}
