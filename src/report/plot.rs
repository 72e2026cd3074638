//! Pictures of a recorded window, as SVG and as PNG.
//!
//! A picture is a [`Scene`] first: a list of shapes with nothing left to decide, so that both formats show the same and equal
//! runs give equal bytes. Text is set in one embedded monospaced font; no font of the system is looked for.
//! Colours are those of Okabe and Ito, which people with any common colour blindness tell apart; every colour also
//! has a pattern or a letter.

mod axis;
mod frame;
mod grid;
mod palette;
mod render;
mod scene;
mod strips;
mod tiles;

pub use render::{png, svg};
pub use scene::Scene;

use super::timeline::{Axis, Recording, csv};

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Lanes of warps over time, with the source lines below.
    Timeline,
    /// All warps of a block, a strip each.
    Masks,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 2] = [Kind::Timeline, Kind::Masks];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Timeline => "timeline",
            Kind::Masks => "masks",
        }
    }

    /// Whether it is about all warps of a block, rather than one.
    pub const fn is_of_block(self) -> bool {
        !matches!(self, Kind::Timeline)
    }
}

/// The picture of a recording.
pub fn picture(kind: Kind, recording: &Recording, axis: Axis) -> Scene {
    match kind {
        Kind::Timeline => strips::timeline(recording, axis),
        Kind::Masks => strips::masks(recording, axis),
    }
}

/// The figures of a picture, as CSV with a line of column names.
pub fn data(kind: Kind, recording: &Recording) -> String {
    match kind {
        Kind::Timeline | Kind::Masks => csv(recording),
    }
}

#[cfg(test)]
mod tests;
