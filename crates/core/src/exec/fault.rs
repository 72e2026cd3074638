//! Texts of faults. Messages add the thread and the line.

use std::fmt;

use super::{Assertion, Fault, FaultKind};
use crate::kernel::layout::DEPTH_LIMIT;

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { space, address, bytes } => {
                write!(f, "out of bounds: {bytes}-byte {} access at 0x{address:x}", space.name())
            }
            FaultKind::Misaligned { space, address, bytes } => {
                write!(f, "misaligned: {bytes}-byte {} access at 0x{address:x}", space.name())
            }
            FaultKind::ReadOnly { address } => {
                write!(f, "write to read-only memory at 0x{address:x} (constants and parameters)")
            }
            FaultKind::NotInMask { mask } => {
                write!(f, "member mask {mask} does not include the executing lane")
            }
            FaultKind::GatheredElsewhere { lanes } => write!(
                f,
                "lanes {} wait at another .sync instruction; exchange between two instructions is \
                 not modelled",
                lanes.list()
            ),
            FaultKind::MissingLanes { lanes } => write!(
                f,
                "all 32 lanes of the warp must execute it together; lanes {} do not",
                lanes.list()
            ),
            FaultKind::BadBarrier { value } => {
                write!(f, "expected a barrier number from 0 to 15, found {value}")
            }
            FaultKind::BadThreadCount { count, warp_size } => write!(
                f,
                "expected a thread count that is a positive multiple of the warp size \
                 ({warp_size}), found {count}"
            ),
            FaultKind::UniformBranchDiverges => {
                write!(f, ".uni requires all active lanes to take the same path, but they diverge")
            }
            FaultKind::BadCallTarget { address } => {
                write!(
                    f,
                    "0x{address:x} is not the address of a function with this call's prototype"
                )
            }
            FaultKind::BadBranchIndex { index, targets } => {
                write!(f, "index {index} is out of range: the branch table has {targets} targets")
            }
            FaultKind::StackOverflow { depth, limit } => {
                let (limit, what) = if *depth as usize >= DEPTH_LIMIT {
                    (DEPTH_LIMIT as u64, "calls")
                } else {
                    (*limit, "bytes")
                };
                let depth = grouped(u64::from(*depth));
                write!(f, "stack overflow at call depth {depth}: limit {} {what}", grouped(limit))
            }
            FaultKind::Trap => write!(f, "trap"),
            FaultKind::GridSync => write!(
                f,
                "trap: `grid.sync()` requires a cooperative launch (`//! cooperative` in a program \
                 file, `cudaLaunchCooperativeKernel` in CUDA)"
            ),
            FaultKind::Assertion(failed) => {
                let Assertion { message, file, line, function, .. } = &**failed;
                write!(f, "{file}:{line}: {function}: Assertion `{message}` failed")
            }
            FaultKind::BadArrivalCount { count } => {
                write!(f, "expected an arrival count from 1 to 1048575, found {count}")
            }
            FaultKind::TooManyArrivals { address } => write!(
                f,
                "more arrivals at the mbarrier at 0x{address:x} than pending, or none initialized"
            ),
            FaultKind::BadImage { object, surface, other } => {
                let (wanted, found) =
                    if *surface { ("surface", "texture") } else { ("texture", "surface") };
                match other {
                    true => write!(f, "expected a {wanted} object, found a {found} object"),
                    false => write!(f, "0x{object:x} is no {wanted} object"),
                }
            }
            FaultKind::WrongGeometry { geometry, shape } => write!(
                f,
                "a `.{}` instruction does not suit a texture or surface of shape {shape:?}",
                geometry.name()
            ),
            FaultKind::OutsideSurface { at: [x, y, z], size: [w, h, d] } => write!(
                f,
                "outside of the surface: byte {x} of row {y} of layer {z}; the last ones are {w}, \
                 {h} and {d}"
            ),
            FaultKind::WildFree { address } => {
                write!(f, "free of 0x{address:x}, which is no allocation of `malloc`")
            }
        }
    }
}

/// Formats a number with commas between thousands.
fn grouped(n: u64) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1000), n % 1000) }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {}: {}", self.lane, self.kind)
    }
}

impl std::error::Error for Fault {}
