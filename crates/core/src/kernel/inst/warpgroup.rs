//! Matrix products of a warpgroup: `wgmma`; HGMMA, IMMA, QGMMA and BGMMA.
//!
//! Four warps of a block with consecutive numbers, the first a multiple of four, are a warpgroup.
//! They multiply 64 rows of A by B; warp `w` of the group has rows `16 w` to `16 w + 15`. A row of
//! A and a column of B have 32 bytes of elements.
//!
//! A descriptor says where the elements of a matrix are in shared memory. Eight rows of 16 bytes
//! are a core matrix; its rows are `W` bytes apart: 16, or the width of the swizzle, 32, 64 or 128.
//! Byte `x` of row `r` of A, or of column `r` of B, is at `start` plus
//!
//! | K-major | offset |
//! |---|---|
//! | no swizzle | `r / 8 * stride + r % 8 * W + x / 16 * leading + x % 16` |
//! | swizzle | `r / 8 * stride + r % 8 * W + x` |
//!
//! A transposed (MN-major) matrix is stored by rows of 16-bit elements of one `k`; byte `y` of row
//! `k` is at `start` plus
//!
//! | MN-major | offset |
//! |---|---|
//! | no swizzle | `y / 16 * stride + y % 16 + k % 8 * W + k / 8 * leading` |
//! | swizzle | `y / W * leading + y % W + k % 8 * W + k / 8 * stride` |
//!
//! The swizzle then exchanges pieces of 16 bytes: of the address bits from 4 on, as many as
//! `W / 16` numbers have change by exclusive or with those from bit 7 on, less the base offset. All
//! combinations of these were recorded on an H200, with strides at random
//! (tests/observations/h200/warpgroups.txt).

use super::{Combine, FactorType, PredicateUse, Row, SumType};

/// Bytes of a row of A, and of a column of B.
pub const GROUP_ROW_BYTES: usize = 32;
/// Warps of a warpgroup.
pub const GROUP_WARPS: u32 = 4;

/// Register with the descriptor of a matrix in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The register, or the lower one of two.
    pub row: Row,
    /// True for two 32-bit rows (machine code), false for one 64-bit row.
    pub pair: bool,
}

/// Source of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupFactor {
    /// Four narrow rows, as of a product with 16 rows and 32 bytes a row ([`super::Mma`]).
    Registers([Row; 4]),
    /// Shared memory.
    Shared(Descriptor),
}

/// Addition of C to a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulate {
    /// C is added.
    Always,
    /// C counts as zeros.
    Never,
    /// C is added if the predicate holds.
    If(PredicateUse),
}

/// One warp's part of a matrix product of a warpgroup: D = A * B + C.
///
/// Value `v` of lane `l` is in row `l / 4 + 8 (v / 2 % 2)` of the warp's sixteen and in column
/// `8 (v / 4) + 2 (l % 4) + v % 2`. Sums of f16 are two in a register.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupMma {
    /// Columns of B: a multiple of 8, up to 256.
    pub columns: u16,
    /// Element types of A and B.
    pub factors: [FactorType; 2],
    /// Element type of C and D.
    pub sum: SumType,
    /// Operation on the elements.
    pub combine: Combine,
    /// True if an integer result is clamped (`.satfinite`), false if it wraps.
    pub saturates: bool,
    /// A.
    pub a: GroupFactor,
    /// B, in shared memory.
    pub b: Descriptor,
    /// True for A and B whose elements are negated.
    pub negated: [bool; 2],
    /// True for A and B that are MN-major, not K-major.
    pub transposed: [bool; 2],
    /// Addition of C (`scale-d`).
    pub adds: Accumulate,
    /// Narrow rows of C.
    pub c: Vec<Row>,
    /// Narrow rows of D, as many as of C.
    pub d: Vec<Row>,
    /// Address of the block's shared memory in descriptors.
    pub shared_base: u32,
    /// Row of the warp's place ([`Special::Warpgroup`](super::Special::Warpgroup)).
    pub place: Row,
    /// True if the product ends a group of products (`gsb0` of machine code).
    pub commits: bool,
}

impl GroupMma {
    /// Returns the number of registers of C and of D.
    pub fn registers(columns: u16, sum: SumType) -> usize {
        usize::from(columns) / if sum == SumType::F16 { 4 } else { 2 }
    }

    /// Returns the bytes that the four warps read from shared memory together.
    pub fn shared_bytes(&self) -> u32 {
        let rows = match self.a {
            GroupFactor::Registers(_) => 0,
            GroupFactor::Shared(_) => 16 * GROUP_WARPS,
        };
        (rows + u32::from(self.columns)) * GROUP_ROW_BYTES as u32
    }
}

/// Synchronization with the products of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSync {
    /// Orders accesses to registers before later products (`wgmma.fence`; WARPGROUP.ARRIVE).
    Fence,
    /// Makes a group of the products so far (`wgmma.commit_group`).
    Commit,
    /// Waits until at most this many groups are incomplete (`wgmma.wait_group`;
    /// WARPGROUP.DEPBAR).
    Wait(u32),
}
