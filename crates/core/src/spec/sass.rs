//! Times of machine code (SASS) that its control words leave to the hardware.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::isa::Pipe;

/// Times of machine code. The control words have the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SassTimes {
    /// Cycles between two warp instructions of a scheduler on each pipe.
    ///
    /// The default is 1; of the pipes `Xu` and `Fp64` it is the price of the class.
    pub intervals: BTreeMap<Pipe, u32>,
    /// Cycles from issue to write-back of instructions of variable latency, by opcode.
    ///
    /// The default is the price of the class. The memory system has those of accesses.
    pub latencies: BTreeMap<String, u32>,
    /// Cycles from a taken branch to its target.
    pub taken: u32,
    /// Cycles from a BSYNC that completes its barrier to the next instruction.
    pub sync: u32,
    /// Cycles from a BSYNC that blocks to the next instruction of other lanes.
    pub blocked: u32,
    /// Cycles from BREAK to the next instruction.
    pub leave: u32,
    /// Cycles from YIELD to the next instruction.
    pub yields: u32,
    /// Cycles from the issue of a memory instruction until its sources have been read.
    pub read: u32,
    /// The same for instructions of the pipe `Xu`.
    pub read_xu: u32,
    /// Constant cache.
    pub constants: Option<ConstantCache>,
}

/// Constant cache of an SM, which is cold at launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantCache {
    /// Cycles until a new line arrives.
    pub latency: u32,
    /// Bytes of a line.
    pub line: u32,
}
