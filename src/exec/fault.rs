//! Faults in words, for messages that add which thread and which line.

use std::fmt;

use super::{Fault, FaultKind};

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { space, address, bytes } => {
                write!(
                    f,
                    "{bytes} bytes at {} address 0x{address:x} are outside every buffer and variable",
                    space.name()
                )
            }
            FaultKind::Misaligned { space, address, bytes } => {
                write!(f, "{} address 0x{address:x} is not a multiple of the {bytes} bytes accessed", space.name())
            }
            FaultKind::ReadOnly { address } => write!(f, "address 0x{address:x} is read only"),
            FaultKind::UndefinedShuffle { source } => {
                write!(f, "the shuffle reads lane {source}, which does not take part")
            }
            FaultKind::NotInMask { mask } => write!(f, "the member mask {mask} does not name the lane that executes"),
            FaultKind::BadBarrier { value } if *value < 16 => write!(f, "{value} is no thread count for a barrier"),
            FaultKind::BadBarrier { value } => {
                write!(f, "{value} is neither a barrier's number (0 to 15) nor a whole number of warps")
            }
            FaultKind::UniformBranchDiverges => write!(f, "the lanes of a uniform branch do not agree"),
            FaultKind::Trap => write!(f, "the program executed trap"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {}: {}", self.lane, self.kind)
    }
}

impl std::error::Error for Fault {}
