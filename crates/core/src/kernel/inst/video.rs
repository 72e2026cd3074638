//! Video instructions: arithmetic on selected bytes and halves.

use super::Row;
use crate::isa::Compare;

/// `vadd`, `vadd2`, `vset4` and their kin.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// Function.
    pub f: VideoFn,
    /// True for signed parts of `d`, `a` and `b`.
    pub signed: [bool; 3],
    /// True if results are clamped to the type of `d`, in the width of its part.
    pub sat: bool,
    /// Operation of the result with `c`.
    pub then: VideoThen,
    /// Parts of the registers.
    pub parts: VideoParts,
    /// Result, a narrow row.
    pub d: Row,
    /// `a`, `b` and `c`, narrow rows; an absent `c` is 0.
    pub s: [Row; 3],
}

/// Functions of video instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoFn {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Absolute difference.
    AbsDiff,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Average; a tie is rounded up, a negative one too.
    Average,
    /// Left shift; an amount above 31 wraps or counts as 32.
    ShiftLeft {
        /// `.wrap`
        wrap: bool,
    },
    /// Right shift; an amount above 31 wraps or counts as 32.
    ShiftRight {
        /// `.wrap`
        wrap: bool,
    },
    /// Product plus `c`, shifted right.
    MultiplyAdd {
        /// `.po`: plus 1.
        plus_one: bool,
        /// Amount: 0, 7 or 15.
        shift: u8,
    },
    /// 1 if the comparison holds, else 0.
    Set(Compare),
}

/// Second operation of a video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoThen {
    /// The other parts of `d` are those of `c`.
    Merge,
    /// `d` is the sum of `c` and the results.
    Add,
    /// `d` is the minimum of `c` and the result.
    Min,
    /// `d` is the maximum of `c` and the result.
    Max,
}

/// Parts of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoParts {
    /// One part of each register, `d`, `a` and `b`.
    One([VideoPart; 3]),
    /// Two halves or four bytes at once.
    Each {
        /// Number of parts: 2 or 4.
        count: u8,
        /// For each part of the result, the parts of `a` and of `b`: numbers in the pair `{b, a}`.
        from: [[u8; 4]; 2],
        /// Parts of the result that are written, one bit each.
        mask: u8,
    },
}

/// Part of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoPart {
    /// All 32 bits.
    Whole,
    /// A half, 0 or 1.
    Half(u8),
    /// A byte, 0 to 3.
    Byte(u8),
}

impl VideoPart {
    /// Returns the number of bits and the lowest one.
    pub const fn place(self) -> (u32, u32) {
        match self {
            VideoPart::Whole => (32, 0),
            VideoPart::Half(n) => (16, 16 * n as u32),
            VideoPart::Byte(n) => (8, 8 * n as u32),
        }
    }
}
