//! Faults of programs, and their texts. Messages add the thread and the line.

use std::fmt;

use super::ImageShape;
use crate::base::LaneMask;
use crate::isa::{Space, Type};
use crate::kernel::Geometry;
use crate::kernel::layout::DEPTH_LIMIT;

/// A fault: the program did something that has no defined meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The lowest lane at fault.
    pub lane: u32,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// Kinds of program faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An address outside all buffers and variables.
    OutOfBounds {
        /// Space of the access.
        space: Space,
        /// Byte address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// An address that is not a multiple of the access size.
    Misaligned {
        /// Space of the access.
        space: Space,
        /// Byte address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// A write to constants or parameters.
    ReadOnly {
        /// Byte address.
        address: u64,
    },
    /// A `.sync` instruction whose mask does not name the executing lane.
    NotInMask {
        /// The mask.
        mask: LaneMask,
    },
    /// A `.sync` instruction whose members wait at another one.
    /// PTX allows them to exchange values; the simulator does not model this.
    GatheredElsewhere {
        /// The members that are not active here.
        lanes: LaneMask,
    },
    /// An instruction on matrices that some lanes of the warp do not execute.
    MissingLanes {
        /// The missing lanes.
        lanes: LaneMask,
    },
    /// A product of a warpgroup in a warp that is in no complete warpgroup.
    MissingWarps,
    /// `bar` with a number of 16 or more.
    BadBarrier {
        /// The number.
        value: u32,
    },
    /// `bar` with a thread count that is 0 or not a multiple of the warp size.
    BadThreadCount {
        /// The count.
        count: u32,
        /// Lanes of a full warp.
        warp_size: u32,
    },
    /// A call through a register without the address of a matching function.
    BadCallTarget {
        /// The register's value.
        address: u64,
    },
    /// `brx.idx` with an index past the end of its table.
    BadBranchIndex {
        /// The index.
        index: u32,
        /// Targets in the table.
        targets: u32,
    },
    /// A call too deep, or one whose frame does not fit the lane's local memory.
    StackOverflow {
        /// Call depth.
        depth: u32,
        /// Limit on local memory per thread in bytes.
        limit: u64,
        /// True if the kernel's frame and one frame of each function come on top of the limit.
        has_frames: bool,
    },
    /// `bra.uni`, `call.uni` or `brx.idx.uni` whose active lanes diverge.
    UniformBranchDiverges,
    /// `trap`
    Trap,
    /// `trap` of `grid.sync()`, which finds no workspace in a plain launch.
    GridSync,
    /// A failed `assert`.
    Assertion(Box<Assertion>),
    /// `mbarrier.init` with a count of 0 or too many.
    BadArrivalCount {
        /// The count.
        count: u64,
    },
    /// A bulk copy of a number of bytes that is not a multiple of 16.
    BadCopySize {
        /// Number of bytes.
        bytes: u32,
    },
    /// A copy of a tile by what is no tensor map, or one of another number of dimensions.
    BadTensorMap {
        /// Byte address of the map.
        address: u64,
        /// Dimensions of the instruction.
        rank: u8,
    },
    /// A copy of a tile by a map whose layout is not modelled.
    OtherLayout,
    /// A reduction that has no meaning for the elements of a tensor.
    BadReduction {
        /// Type of the elements.
        ty: Type,
    },
    /// A tile whose rows do not start at a multiple of 16 bytes.
    UnalignedTile {
        /// First coordinate.
        element: i32,
    },
    /// A store of a tile that starts at a negative coordinate.
    NegativeTile {
        /// Number of the coordinate, from 0.
        dimension: u8,
        /// The coordinate.
        value: i32,
    },
    /// More arrivals at an `mbarrier` than its phase expects, or one at no such object.
    TooManyArrivals {
        /// Byte address in shared memory.
        address: u64,
    },
    /// `free` of an address that `malloc` has not returned, or has been freed since.
    WildFree {
        /// The address.
        address: u64,
    },
    /// A value that is no texture or surface object.
    BadImage {
        /// The value.
        object: u64,
        /// True if the instruction takes surfaces, false if it takes textures.
        surface: bool,
        /// True if the value is an object of the other kind.
        other: bool,
    },
    /// An instruction for textures of another shape.
    WrongGeometry {
        /// Geometry of the instruction.
        geometry: Geometry,
        /// Shape of the texture or surface.
        shape: ImageShape,
    },
    /// An access outside of a surface (`.trap`).
    OutsideSurface {
        /// Byte in the row, row, and slice or layer.
        at: [i64; 3],
        /// Last valid ones.
        size: [i64; 3],
    },
}

/// Failed `assert` of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Condition as in the source, or message.
    pub message: String,
    /// Source file.
    pub file: String,
    /// Source line, 1-based.
    pub line: u32,
    /// Function.
    pub function: String,
    /// Lanes of the warp that failed together.
    pub lanes: LaneMask,
}

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
            FaultKind::MissingWarps => write!(
                f,
                "a warpgroup is four warps of 32 threads, the first one a multiple of four; the \
                 block's last warps are none"
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
            FaultKind::StackOverflow { depth, limit, has_frames } => {
                let (limit, what) = if *depth as usize >= DEPTH_LIMIT {
                    (DEPTH_LIMIT as u64, "calls")
                } else if *has_frames {
                    (*limit, "bytes besides one frame of each function")
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
            FaultKind::BadCopySize { bytes } => {
                write!(f, "expected a multiple of 16 bytes for a bulk copy, found {bytes}")
            }
            FaultKind::BadTensorMap { address, rank } => {
                write!(f, "no tensor map of rank {rank} is at 0x{address:x}")
            }
            FaultKind::OtherLayout => {
                write!(f, "tiles of interleaved tensors are not modelled")
            }
            FaultKind::BadReduction { ty } => {
                write!(f, "this reduction does not exist for a tensor of `.{}`", ty.name())
            }
            FaultKind::UnalignedTile { element } => write!(
                f,
                "rows of a tile must start at a multiple of 16 bytes, found element {element}"
            ),
            FaultKind::NegativeTile { dimension, value } => write!(
                f,
                "a store of a tile cannot start outside: coordinate {dimension} is {value}"
            ),
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
