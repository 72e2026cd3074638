//! What one instruction does to lanes and memory. No cycle, no mode, no statistics.
//!
//! [`step`] applies one instruction to the lanes of one warp that its guard lets through. Arithmetic is small pure
//! functions in `arith`; the lane loop is written once. A fault of the *program* is a value; a broken invariant of
//! the simulator is a panic.

mod memory;

pub use memory::{GlobalMemory, LocalMemory, SharedMemory};

use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::Inst;

/// The registers of one warp: `narrow[row][lane]`, `wide[row][lane]`, one mask a predicate.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterFile {
    /// 32-bit rows.
    pub narrow: Vec<[u32; MAX_LANES]>,
    /// 64-bit rows.
    pub wide: Vec<[u64; MAX_LANES]>,
    /// Predicates, bit = lane.
    pub predicates: Vec<u32>,
}

/// What an instruction can reach beside registers.
pub struct Env<'a> {
    /// Device memory and constants, shared by the grid.
    pub global: &'a GlobalMemory,
    /// The block's shared memory.
    pub shared: &'a mut SharedMemory,
    /// The warp's local memory.
    pub local: &'a mut LocalMemory,
    /// The kernel's parameter block.
    pub params: &'a [u8],
    /// What `%clock64` reads now.
    pub clock: u64,
    /// Scratch: the byte address of each lane of the last [`Effect::Access`], as an offset in its space
    /// (absolute for global and const). Lanes outside `Access::lanes` hold garbage.
    pub addresses: &'a mut [u64; MAX_LANES],
}

/// What an instruction did that others must know of. Registers and memory are already changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// Registers changed, nothing else.
    Done,
    /// These lanes want to branch.
    Branch {
        /// The lanes whose guard held.
        taken: LaneMask,
    },
    /// These lanes ended.
    Exit {
        /// The lanes whose guard held.
        lanes: LaneMask,
    },
    /// Memory was accessed at `Env::addresses`.
    Access(MemoryAccess),
    /// The lanes arrive at a block barrier.
    Barrier {
        /// The lanes whose guard held.
        lanes: LaneMask,
        /// Barrier number 0..16.
        id: u8,
        /// Threads expected; `None`: all of the block.
        count: Option<u32>,
        /// Whether they wait (`sync`, `red`) or go on (`arrive`).
        wait: bool,
    },
    /// The lanes pause.
    Sleep {
        /// Nanoseconds.
        ns: u32,
    },
}

/// Read, write or read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Load.
    Read,
    /// Store.
    Write,
    /// Atomic.
    Atomic,
}

/// One warp-level memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// The space reached; a generic access is resolved to the space its addresses are in.
    pub space: Space,
    /// Read, write or both.
    pub kind: AccessKind,
    /// The lanes that took part.
    pub lanes: LaneMask,
    /// Contiguous bytes a lane (element size times vector count).
    pub bytes: u8,
    /// Goes to L2 without looking in L1.
    pub bypass_l1: bool,
}

/// The program did something that has no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The lowest lane at fault.
    pub lane: u32,
    /// What it did.
    pub kind: FaultKind,
}

/// Kinds of program faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// No buffer or variable there.
    OutOfBounds {
        /// Space of the access.
        space: Space,
        /// Byte address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// Not a multiple of the access size.
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
    /// `shfl` reads a lane that does not take part.
    UndefinedShuffle {
        /// The lane read.
        source: u32,
    },
    /// A `.sync` instruction whose mask does not name the executing lane.
    NotInMask {
        /// The mask.
        mask: LaneMask,
    },
    /// `bar` with a number of 16 or more, or a count that is 0 or no multiple of the warp size.
    BadBarrier {
        /// The offending value.
        value: u32,
    },
    /// `bra.uni` whose lanes do not agree.
    UniformBranchDiverges,
    /// `trap`
    Trap,
}

/// The lanes of `active` for which the instruction's guard holds.
pub fn guarded(inst: &Inst, active: LaneMask, registers: &RegisterFile) -> LaneMask {
    match inst.guard {
        None => active,
        Some(g) => {
            let bits = registers.predicates[g.predicate.0 as usize];
            active & LaneMask(if g.negated { !bits } else { bits })
        }
    }
}

/// Applies one instruction to `lanes`, a subset of `active` (those whose guard holds; see [`guarded`]).
///
/// `lanes` may be empty. Join steps never come here.
pub fn step(
    inst: &Inst,
    lanes: LaneMask,
    active: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    let _ = (inst, lanes, active, registers, env);
    Ok(Effect::Done)
}
