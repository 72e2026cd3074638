//! Pictures of a recorded window, as SVG and as PNG.
//!
//! A picture is a [`Scene`] first: a list of shapes with nothing left to decide, so that both formats show the same and equal
//! runs give equal bytes. Text is set in one embedded monospaced font; no font of the system is looked for.
//! Colours are those of Okabe and Ito, which people with any common colour blindness tell apart; every colour also
//! has a pattern or a letter.

mod axis;
mod bins;
mod frame;
mod grid;
mod histogram;
mod ipc;
mod palette;
mod reasons;
mod render;
mod scene;
mod schedule;
mod stack;
mod stalls;
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
    /// The W0..W32 histogram, and its share over time.
    Lanes,
    /// The reconvergence stack, or groups and join registers, over time.
    Stack,
    /// Warp by cycle: issued, or why not.
    Schedule,
    /// What warps waited for, by warp and by line.
    Stalls,
    /// Instructions a cycle of warps and of lanes.
    Ipc,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 7] =
        [Kind::Timeline, Kind::Masks, Kind::Lanes, Kind::Stack, Kind::Schedule, Kind::Stalls, Kind::Ipc];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Timeline => "timeline",
            Kind::Masks => "masks",
            Kind::Lanes => "lanes",
            Kind::Stack => "stack",
            Kind::Schedule => "schedule",
            Kind::Stalls => "stalls",
            Kind::Ipc => "ipc",
        }
    }

    /// Whether it is about all warps of a block, rather than one.
    pub const fn is_of_block(self) -> bool {
        !matches!(self, Kind::Timeline | Kind::Stack)
    }
}

/// The picture of a recording. Schedule, stalls and IPC are always over cycles.
pub fn picture(kind: Kind, recording: &Recording, axis: Axis) -> Scene {
    match kind {
        Kind::Timeline => strips::timeline(recording, axis),
        Kind::Masks => strips::masks(recording, axis),
        Kind::Lanes => histogram::lanes(recording, axis),
        Kind::Stack => stack::stack(recording, axis),
        Kind::Schedule => schedule::schedule(recording),
        Kind::Stalls => stalls::stalls(recording),
        Kind::Ipc => ipc::ipc(recording),
    }
}

/// The figures of a picture, as CSV with a line of column names.
pub fn data(kind: Kind, recording: &Recording, axis: Axis) -> String {
    match kind {
        Kind::Timeline | Kind::Masks => csv(recording),
        Kind::Lanes => histogram::data(recording, axis),
        Kind::Stack => stack::data(recording),
        Kind::Schedule => schedule::data(recording),
        Kind::Stalls => stalls::data(recording),
        Kind::Ipc => ipc::data(recording),
    }
}

#[cfg(test)]
mod tests;
