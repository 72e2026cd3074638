//! Times of machine code (SASS) that its control words leave to the hardware.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::isa::Pipe;

/// Times of machine code. The control words have the others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SassTimes {
    /// Cycles between two warp instructions of a scheduler on each pipe; 1 for pipes not listed.
    pub intervals: BTreeMap<Pipe, u32>,
    /// Cycles from the issue of a branch to the issue of its target, beyond the stall count.
    pub taken: u32,
    /// Cycles from the issue of a memory instruction until its source registers may be written.
    pub read: u32,
    /// Cycles until the next instruction after one whose lanes leave or wait for each other.
    pub switch: u32,
}

impl Default for SassTimes {
    fn default() -> SassTimes {
        SassTimes { intervals: BTreeMap::new(), taken: 0, read: 1, switch: 0 }
    }
}
