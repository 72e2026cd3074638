//! What one instruction does to lanes and memory. No cycle, no mode, no statistics.
//!
//! [`step`] applies one instruction to the lanes of one warp that its guard lets through. Arithmetic is small pure
//! functions in `arith`; the lane loop is written once, in `lanes`. A fault of the *program* is a value; a broken
//! invariant of the simulator is a panic. Where PTX leaves a result open, the module that computes it says what comes out.

mod access;
mod alu;
mod arith;
mod atomic;
mod barrier;
mod calls;
mod carry;
mod fault;
mod lanes;
mod memory;
mod registers;
mod warp;

pub use barrier::{barrier_votes, finish_barrier_reduction};
pub use calls::{CallStack, finish_call};
pub use memory::{GlobalMemory, LocalMemory, SegmentImage, SharedMemory, block_shared_bytes, variable_segments};
pub use registers::WarpPlace;
pub use warp::{Members, members};

use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::{Clock, DeviceFunction, Inst, Op};

/// The registers of one warp: `narrow[row][lane]`, `wide[row][lane]`, one mask a predicate.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterFile {
    /// 32-bit rows.
    pub narrow: Vec<[u32; MAX_LANES]>,
    /// 64-bit rows.
    pub wide: Vec<[u64; MAX_LANES]>,
    /// Predicates, bit = lane.
    pub predicates: Vec<u32>,
    /// By lane; empty while no lane has called a function.
    pub calls: Vec<CallStack>,
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
    /// The functions that the kernel may call.
    pub functions: &'a [DeviceFunction],
    /// Lanes of a full warp: barriers count threads in multiples of it.
    pub warp_size: u32,
    /// Where the instruction stands, in the driver's own numbers: what a call notes, and a return gives back.
    pub pc: u32,
    /// What `%clock64` reads now.
    pub clock: u64,
    /// What `%globaltimer` reads now.
    pub nanoseconds: u64,
    /// Scratch: the byte address of each lane of the last [`Effect::Access`], as an offset in its space
    /// (absolute for global and const). Lanes outside `Access::lanes` hold garbage.
    pub addresses: &'a mut [u64; MAX_LANES],
}

/// The longest that `nanosleep` sleeps, in nanoseconds: one millisecond (PTX ISA, "Miscellaneous Instructions:
/// nanosleep").
const LONGEST_SLEEP: u32 = 1_000_000;

/// What an instruction did that others must know of. Registers and memory are already changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// Registers changed, nothing else.
    Done,
    /// The same, and these lanes got the value of a lane that does not take part: 0, where PTX leaves it undefined.
    Undefined {
        /// The lanes, never none.
        lanes: LaneMask,
        /// The lane that the lowest of them read.
        source: u32,
    },
    /// These lanes want to branch.
    Branch {
        /// The lanes whose guard held.
        taken: LaneMask,
    },
    /// These lanes go to the targets of a branch through a table whose numbers are in `Env::addresses`.
    Switch {
        /// The lanes whose guard held.
        lanes: LaneMask,
    },
    /// These lanes call the functions whose numbers are in `Env::addresses`. Their frames are ready.
    Call {
        /// The lanes whose guard held.
        lanes: LaneMask,
    },
    /// These lanes return from their functions; `Env::addresses` holds where they were called. The driver goes on behind
    /// the call, for which it asks [`finish_call`] first.
    Return {
        /// The lanes, never none.
        lanes: LaneMask,
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
    /// Whether any byte of memory has another value than before: false for loads, failed compare-and-swaps, and stores
    /// of what was there.
    pub changed: bool,
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
    /// A `.sync` instruction whose mask does not name the executing lane.
    NotInMask {
        /// The mask.
        mask: LaneMask,
    },
    /// A `.sync` instruction whose members wait at another one. PTX lets them exchange values; the model does not.
    GatheredElsewhere {
        /// The members that are not active here.
        lanes: LaneMask,
    },
    /// `bar` with a number of 16 or more.
    BadBarrier {
        /// The number.
        value: u32,
    },
    /// `bar` with a thread count that is 0 or no multiple of the machine's warp size.
    BadThreadCount {
        /// The count.
        count: u32,
        /// Lanes of a full warp.
        warp_size: u32,
    },
    /// A call through a register that holds no address of a function of that prototype.
    BadCallTarget {
        /// What it holds.
        address: u64,
    },
    /// `brx.idx` with an index behind the end of its table.
    BadBranchIndex {
        /// The index.
        index: u32,
        /// Targets in the table.
        targets: u32,
    },
    /// A call too deep, or one whose frame does not fit the lane's local memory.
    StackOverflow {
        /// How many calls deep.
        depth: u32,
        /// Bytes of local memory that a thread may have.
        limit: u64,
    },
    /// `bra.uni`, `call.uni` or `brx.idx.uni` whose lanes do not agree.
    UniformBranchDiverges,
    /// `trap`
    Trap,
}

/// The lanes of `active` for which the instruction's guard holds.
#[inline]
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
/// `lanes` may be empty: branches and exits report it, everything else is then [`Effect::Done`]. A fault leaves
/// registers and memory as they were. Join steps never come here.
///
/// # Errors
/// What the program did wrong, with the lowest lane that did it.
pub fn step(
    inst: &Inst,
    lanes: LaneMask,
    active: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    match &inst.op {
        op @ (Op::Lane(_)
        | Op::Setp(_)
        | Op::PredicateLogic { .. }
        | Op::Select { .. }
        | Op::Carry(_)
        | Op::Test { .. }) => {
            element_wise(op, lanes, registers);
        }
        &Op::Clock { d, clock } => {
            let now = match clock {
                Clock::Low | Clock::Wide => env.clock,
                Clock::High => env.clock >> 32,
                Clock::Timer | Clock::TimerLow => env.nanoseconds,
                Clock::TimerHigh => env.nanoseconds >> 32,
            };
            access::put(registers, d, clock.is_wide(), lanes, |_| now);
        }
        Op::Load(op) => return access::load(op, lanes, registers, env),
        Op::Store(op) => return access::store(op, lanes, registers, env),
        Op::Atomic(op) => return access::atomic(op, lanes, registers, env),
        &Op::Branch { uniform, .. } => return branch(uniform, lanes, active),
        Op::Switch(op) => return calls::switch(op, lanes, active, registers, env),
        Op::Call(op) => return calls::call(op, lanes, active, registers, env),
        Op::Return => return Ok(calls::ret(lanes, registers, env)),
        Op::Spill(op) => return Ok(calls::spill(op, lanes, registers, env)),
        // Slots are in local memory, but what moves through them would be in registers on a GPU: no traffic.
        Op::ReadSlot(op) => access::load(op, lanes, registers, env).map(|_| ())?,
        Op::WriteSlot(op) => access::store(op, lanes, registers, env).map(|_| ())?,
        Op::Exit => return Ok(Effect::Exit { lanes }),
        Op::Trap => return lanes.lowest().map_or(Ok(Effect::Done), |lane| Err(Fault { lane, kind: FaultKind::Trap })),
        Op::Barrier(op) => return barrier::arrive(op, lanes, registers, env.warp_size),
        &Op::WarpSync { mask } => warp::check_members(mask, lanes, registers)?,
        Op::Shuffle(op) => return warp::shuffle(op, lanes, registers),
        Op::Vote(op) => warp::vote(op, lanes, registers)?,
        &Op::ActiveMask { d } => lanes::splat(registers, d, lanes, active.0),
        Op::Match(op) => warp::match_op(op, lanes, registers)?,
        Op::Redux(op) => warp::redux(op, lanes, registers)?,
        Op::Fence(_) | Op::Hint { .. } => {}
        &Op::Sleep { t } => {
            let row = &registers.narrow[usize::from(t.0)];
            let longest = lanes.lanes().map(|lane| row[lane as usize]).max();
            return Ok(longest.map_or(Effect::Done, |ns| Effect::Sleep { ns: ns.min(LONGEST_SLEEP) }));
        }
        Op::Join(_) => unreachable!("join steps are the machine's own"),
    }
    Ok(Effect::Done)
}

/// Whether the instruction computes registers of each lane from registers of the same lane, and does nothing else.
pub fn is_element_wise(op: &Op) -> bool {
    matches!(
        op,
        Op::Lane(_) | Op::Setp(_) | Op::PredicateLogic { .. } | Op::Select { .. } | Op::Carry(_) | Op::Test { .. }
    )
}

/// As [`step`] for the instructions that [`is_element_wise`] names, whose effect is always [`Effect::Done`].
#[inline]
pub fn element_wise(op: &Op, lanes: LaneMask, registers: &mut RegisterFile) {
    match op {
        Op::Lane(op) => alu::lane_op(op, lanes, registers),
        Op::Setp(op) => alu::setp(op, lanes, registers),
        &Op::PredicateLogic { f, d, a, b } => {
            let bits = alu::predicate_logic(f, a, b, registers);
            lanes::set_predicate(registers, d, lanes, bits);
        }
        Op::Carry(op) => carry::carry(op, lanes, registers),
        &Op::Test { f, ty, p, a } => alu::test_value(f, ty, p, a, lanes, registers),
        &Op::Select { ty, d, a, b, c } => alu::select(ty, d, [a, b], c, lanes, registers),
        _ => unreachable!("the caller asks `is_element_wise` first"),
    }
}

/// A branch; `bra.uni` promises that all active lanes agree.
fn branch(uniform: bool, lanes: LaneMask, active: LaneMask) -> Result<Effect, Fault> {
    match (active - lanes).lowest() {
        Some(lane) if uniform && !lanes.is_empty() => Err(Fault { lane, kind: FaultKind::UniformBranchDiverges }),
        _ => Ok(Effect::Branch { taken: lanes }),
    }
}

#[cfg(test)]
mod tests;
