//! Instructions on matrices that the lanes of a warp hold together: tensor cores, `ldmatrix`.
//!
//! Lane `l` is in group `g = l / 4` and has place `t = l % 4` in it. A register of a factor holds
//! `p` elements of a row or column (`p` = 32 / bits, 1 for f64), register by register from the
//! lowest bits:
//!
//! | fragment | register `r`, element `h` | row | column |
//! |---|---|---|---|
//! | A, 16 rows | | `g + 8 (r % 2)` | `p t + h + 4 p (r / 2)` |
//! | A, 8 rows | | `g` | `p t + h + 4 p r` |
//! | B | | `p t + h + 4 p r` | `g` |
//! | C and D | value `v` of the lane | `g + 8 (v / 2)` | `2 t + v % 2` |
//!
//! (PTX ISA, "Warp-Level Matrix Instructions".)

use super::{Address, Row};
use crate::isa::Space;

/// Element type of the factors of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX names")]
pub enum FactorType {
    F16,
    BF16,
    TF32,
    F64,
    S8,
    U8,
    S4,
    U4,
    B1,
    E4M3,
    E5M2,
}

impl FactorType {
    /// Returns the type of a PTX name without the dot.
    pub fn from_name(name: &str) -> Option<FactorType> {
        Some(match name {
            "f16" => FactorType::F16,
            "bf16" => FactorType::BF16,
            "tf32" => FactorType::TF32,
            "f64" => FactorType::F64,
            "s8" => FactorType::S8,
            "u8" => FactorType::U8,
            "s4" => FactorType::S4,
            "u4" => FactorType::U4,
            "b1" => FactorType::B1,
            "e4m3" => FactorType::E4M3,
            "e5m2" => FactorType::E5M2,
            _ => return None,
        })
    }

    /// Returns the width of an element in a register, in bits.
    pub const fn bits(self) -> u32 {
        match self {
            FactorType::F16 | FactorType::BF16 => 16,
            FactorType::TF32 => 32,
            FactorType::F64 => 64,
            FactorType::S8 | FactorType::U8 | FactorType::E4M3 | FactorType::E5M2 => 8,
            FactorType::S4 | FactorType::U4 => 4,
            FactorType::B1 => 1,
        }
    }

    /// Returns the elements in a register; 1 for f64, whose registers have 64 bits.
    pub const fn per_register(self) -> u32 {
        match self {
            FactorType::F64 => 1,
            _ => 32 / self.bits(),
        }
    }

    /// Returns true for signed integers.
    pub const fn is_signed(self) -> bool {
        matches!(self, FactorType::S8 | FactorType::S4)
    }
}

/// Element type of the accumulators of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX names")]
pub enum SumType {
    F16,
    F32,
    F64,
    S32,
}

impl SumType {
    /// Returns the type of a PTX name without the dot.
    pub fn from_name(name: &str) -> Option<SumType> {
        Some(match name {
            "f16" => SumType::F16,
            "f32" => SumType::F32,
            "f64" => SumType::F64,
            "s32" => SumType::S32,
            _ => return None,
        })
    }
}

/// Operation on two elements before the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Product.
    Multiply,
    /// Number of ones of the exclusive or (`.xor.popc`).
    XorPopc,
    /// Number of ones of the conjunction (`.and.popc`).
    AndPopc,
}

/// Matrix product of a warp: D = A * B + C, with 8 columns (`mma.sync`; HMMA, IMMA, DMMA, BMMA).
#[derive(Clone, Debug, PartialEq)]
pub struct Mma {
    /// Rows of A, C and D: 8 or 16.
    pub m: u8,
    /// Columns of A and rows of B.
    pub k: u16,
    /// Element types of A and B.
    pub factors: [FactorType; 2],
    /// Element type of C and D.
    pub sum: SumType,
    /// Operation on the elements.
    pub combine: Combine,
    /// True if an integer result is clamped (`.satfinite`), false if it wraps.
    pub saturates: bool,
    /// Registers of A: `m * k` elements over 32 lanes.
    pub a: Vec<Row>,
    /// Registers of B: `k * 8` elements over 32 lanes.
    pub b: Vec<Row>,
    /// Registers of C: `m * 8` elements over 32 lanes.
    pub c: Vec<Row>,
    /// Registers of D, as many as of C. `None`: the results are dropped (RZ).
    pub d: Option<Vec<Row>>,
    /// True if f64 values are in pairs of 32-bit rows, the lower word first (machine code).
    pub pairs: bool,
}

impl Mma {
    /// Returns the number of registers of A, B, and of C and D.
    ///
    /// Counts registers of 64 bits for f64, of 32 bits for the other types.
    pub fn counts(m: u8, k: u16, factor: FactorType, sum: SumType) -> [usize; 3] {
        let (m, k) = (u32::from(m), u32::from(k));
        let lanes = 32 * factor.per_register();
        let sums = if sum == SumType::F16 { 64 } else { 32 };
        [m * k / lanes, k * 8 / lanes, m * 8 / sums].map(|n| n as usize)
    }
}

/// Direction of a move of 8x8 matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixMove {
    /// From shared memory to registers (`ldmatrix`; LDSM).
    Load,
    /// From registers to shared memory (`stmatrix`; STSM).
    Store,
}

/// Move of one to four 8x8 matrices of 16-bit elements between shared memory and registers.
///
/// Lane `8 i + j` has the address of row `j` of matrix `i`: 16 bytes. A register holds two
/// neighbors of row `l / 4`; transposed, two neighbors of column `l / 4`.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixAccess {
    /// Direction.
    pub direction: MatrixMove,
    /// Space of the addresses: shared or generic.
    pub space: Space,
    /// Address of a row.
    pub address: Address,
    /// True for `.trans`.
    pub transposed: bool,
    /// Narrow rows, one for each matrix; `None` for RZ as a result.
    pub rows: Vec<Option<Row>>,
}
