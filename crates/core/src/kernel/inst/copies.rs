//! Asynchronous copies: of a few bytes per lane (`cp.async`), and bulk copies (`cp.async.bulk`).

use super::{Address, AtomicFn, PredicateUse, Row};
use crate::isa::{Space, Type};

/// `cp.async`: a copy of up to 16 bytes per lane, which bypasses the registers.
#[derive(Clone, Debug, PartialEq)]
pub struct AsyncCopy {
    /// Address in shared memory.
    pub to: Address,
    /// Address in global memory.
    pub from: Address,
    /// Bytes written: 4, 8 or 16.
    pub bytes: u8,
    /// Bytes read; the rest is 0.
    pub valid: ValidBytes,
    /// Predicate that replaces the source by zeros where it is true.
    pub ignore: Option<PredicateUse>,
    /// True if the copy bypasses L1 (`.cg`).
    pub bypass_l1: bool,
}

/// Bytes that an asynchronous copy reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidBytes {
    /// All.
    All,
    /// As many as this narrow row says.
    First(Row),
    /// All but as many as the source address is past a multiple of the size; the source is at that
    /// multiple (LDGSTS.ZFILL).
    ToAlignment,
}

/// Operation on a thread's groups of asynchronous copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyGroups {
    /// Makes a group of the copies that are in none (`cp.async.commit_group`).
    Commit,
    /// Waits until at most this many of the latest groups are incomplete (`cp.async.wait_group`).
    Wait(u32),
    /// Waits for all copies, in a group or not (`cp.async.wait_all`).
    WaitAll,
    /// As `Commit`, for bulk copies (`cp.async.bulk.commit_group`).
    CommitBulk,
    /// As `Wait`, for bulk copies (`cp.async.bulk.wait_group`).
    WaitBulk(u32),
}

/// `cp.async.bulk`, `cp.async.bulk.tensor` and their reductions: a copy of consecutive bytes, or of
/// a tile of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkCopy {
    /// Destination.
    pub to: BulkPlace,
    /// Source.
    pub from: BulkPlace,
    /// Bytes or tile.
    pub shape: BulkShape,
    /// Barrier object in shared memory that counts the bytes; `None`: the copy is in a bulk group.
    pub object: Option<Address>,
    /// Function of a reduction; `None`: the bytes replace those of the destination.
    pub reduces: Option<AtomicFn>,
    /// True if the lanes start one copy together (machine code), not one each.
    pub together: bool,
}

/// Source or destination of a bulk copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BulkPlace {
    /// Global or shared.
    pub space: Space,
    /// Address of the first byte; in global memory, of the tensor map if a tile is copied.
    pub address: Address,
}

/// Extent of a bulk copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkShape {
    /// Consecutive bytes, whose number is in a narrow row, as elements of a type.
    Bytes(Row, Type),
    /// As `Bytes`, in units of 16 bytes in the lower half of the register (machine code).
    Units(Row, Type),
    /// A tile of a tensor.
    Tile(TileAt),
}

/// Place of a tile in its tensor, innermost dimension first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileAt {
    /// Narrow rows with the coordinates of the first element.
    pub coordinates: [Row; MAX_RANK],
    /// Dimensions of the tensor, from 1.
    pub rank: u8,
}

impl TileAt {
    /// Returns the rows of the coordinates.
    pub fn rows(&self) -> &[Row] {
        &self.coordinates[..usize::from(self.rank).min(MAX_RANK)]
    }
}

/// Maximum number of dimensions of a tensor.
pub const MAX_RANK: usize = 5;
