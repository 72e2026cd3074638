//! Vocabulary of integer machine instructions.

use crate::isa::{BoolOp, Compare};

/// Funnel shift (SHF): one word of `(high, low)` after a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Funnel {
    /// True for `.L`.
    pub left: bool,
    /// `.HI`: the result is the high word.
    pub high: bool,
    /// `.S32`, `.S64`: a shift to the right copies the sign bit.
    pub signed: bool,
    /// `.U64`, `.S64`: the shift count is clamped to 64, else to 32.
    pub long: bool,
    /// `.W`: the shift count wraps instead.
    pub wrap: bool,
}

/// Integer comparison (ISETP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompareIntegers {
    /// Comparison; `Num` is always true, `Nan` always false.
    pub compare: Compare,
    /// Combination with `q[0]`.
    pub combine: BoolOp,
    /// False for `.U32`.
    pub signed: bool,
    /// `.EX`: if `a == b`, the comparison of the low words in `q[1]` decides.
    pub extended: bool,
}

/// Minimum or maximum (VIMNMX, VIMNMX3, VIADDMNMX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinMax {
    /// Operands.
    pub of: MinMaxOf,
    /// False for `.U32`, `.U16x2`.
    pub signed: bool,
    /// True for two 16-bit lanes.
    pub halves: bool,
    /// `.RELU`: a negative result becomes 0.
    pub relu: bool,
}

/// Operands of a minimum or maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinMaxOf {
    /// `a` and `b`.
    Two,
    /// `a`, `b` and `c`.
    Three,
    /// `a + b` and `c`.
    Sum,
}
