//! Conversions to the small formats of tensor cores.

/// 8-bit float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fp8 {
    /// Four exponent bits, three fraction bits, no infinity.
    E4M3,
    /// Five exponent bits, two fraction bits.
    E5M2,
}

/// Rounding of a conversion to tf32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tf32Round {
    /// To nearest, ties to even (`.rn`).
    Nearest,
    /// To nearest, ties away from zero (`.rna`).
    Away,
    /// Toward zero (`.rz`).
    Zero,
}

/// Conversion of one or two numbers in 32-bit rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorConvert {
    /// Two f32, the first in the upper byte, or the halves of one f16x2, to a pair of 8-bit floats.
    ///
    /// A result is clamped to the largest number.
    ToFp8 {
        /// Format of the results.
        format: Fp8,
        /// True if the source is one f16x2.
        halves: bool,
        /// `.relu`: a negative result becomes +0.
        relu: bool,
    },
    /// A pair of 8-bit floats to f16x2, exactly.
    FromFp8 {
        /// Format of the source.
        format: Fp8,
        /// `.relu`: a negative result becomes +0.
        relu: bool,
    },
    /// An f32 to tf32: ten fraction bits, the low 13 bits are 0.
    ToTf32 {
        /// Rounding.
        round: Tf32Round,
        /// `.relu`: a negative result becomes +0.
        relu: bool,
        /// `.satfinite`
        satfinite: bool,
    },
}

impl TensorConvert {
    /// Returns the number of sources.
    pub const fn sources(self) -> usize {
        match self {
            TensorConvert::ToFp8 { halves: false, .. } => 2,
            _ => 1,
        }
    }
}
