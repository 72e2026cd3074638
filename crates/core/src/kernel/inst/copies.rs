//! Asynchronous copies from global to shared memory (`cp.async`).

use super::{Address, PredicateUse, Row};

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
}
