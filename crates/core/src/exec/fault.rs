//! Faults in words, for messages that add which thread and which line.

use std::fmt;

use super::{Fault, FaultKind};

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { space, address, bytes } => {
                write!(f, "{bytes} bytes at 0x{address:x} ({}) belong to no buffer or variable", space.name())
            }
            FaultKind::Misaligned { space, address, bytes } => {
                write!(f, "0x{address:x} ({}) is not a multiple of the {bytes} bytes accessed", space.name())
            }
            FaultKind::ReadOnly { address } => {
                write!(f, "0x{address:x} cannot be written: constants and parameters are read-only")
            }
            FaultKind::NotInMask { mask } => {
                write!(f, "the member mask {mask} does not name the lane that executes it")
            }
            FaultKind::GatheredElsewhere { lanes } => write!(
                f,
                "lanes {} take part from another .sync instruction; values exchanged between two instructions are not \
                 modelled",
                lanes.list()
            ),
            FaultKind::BadBarrier { value } => write!(f, "expected a barrier number from 0 to 15, found {value}"),
            FaultKind::BadThreadCount { count, warp_size } => write!(
                f,
                "expected a thread count that is a positive multiple of the warp size, {warp_size}; found {count}"
            ),
            FaultKind::UniformBranchDiverges => {
                write!(f, ".uni promises that all active lanes agree, and they do not")
            }
            FaultKind::BadCallTarget { address } => {
                write!(f, "0x{address:x} is the address of no function that this call may be for")
            }
            FaultKind::BadBranchIndex { index, targets } => {
                write!(f, "index {index} is behind the end of a table of {targets} targets")
            }
            FaultKind::StackOverflow { depth, limit } => {
                let calls = crate::kernel::layout::DEPTH_LIMIT;
                write!(
                    f,
                    "stack overflow: {depth} calls deep; a thread may be {calls} deep and have {limit} bytes of local memory"
                )
            }
            FaultKind::Trap => write!(f, "trap"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {}: {}", self.lane, self.kind)
    }
}

impl std::error::Error for Fault {}
