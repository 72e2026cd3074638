//! Effects of one instruction on lanes and memory. No cycles, no modes, no statistics.
//!
//! [`step`] applies one instruction to those lanes of a warp whose guard holds. Arithmetic is small
//! pure functions in `arith`; the lane loop is written once, in `lanes`. A fault of the *program*
//! is a value; a broken invariant of the simulator is a panic. Where PTX leaves a result undefined,
//! the module that computes it documents the choice.

mod access;
mod aligned;
mod alu;
mod arith;
mod atomic;
mod barrier;
mod bulk;
mod calls;
mod carry;
mod copies;
mod fault;
mod format;
mod heap;
mod image;
mod lanes;
mod matrix;
mod mbarrier;
mod memory;
mod native;
mod registers;
mod segments;
mod surface;
mod system;
mod tensor;
mod texture;
mod video;
mod warp;
mod warpgroup;

pub use access::{Pattern, is_repeatable, load_parameters, repeat};
pub use aligned::AlignedRows;
pub use alu::{LaneFunction, lane_function};
pub use arith::half::{short_bits, short_value};
pub use barrier::{barrier_votes, finish_barrier_reduction, waits_for_block};
pub use bulk::{BulkData, BulkRun, GroupedBulk, Reduction, land_bulk};
pub use calls::{CallStack, finish_call};
pub use copies::{CopiedData, Copies, land_copies};
pub use fault::{Assertion, Fault, FaultKind};
pub use heap::Heap;
pub use image::{AddressMode, Channel, HEADER_BYTES, Image, ImageShape};
pub use lanes::Vectors;
pub(crate) use lanes::vectorized;
pub use mbarrier::{CopyArrival, arrive_by_copies};
pub use memory::{GlobalMemory, Lent, LocalMemory, SegmentImage, SharedMemory, block_shared_bytes};
pub use registers::WarpPlace;
pub use segments::{parameters, part_of, segments, variable_segments, workspace};
pub use system::SystemLog;
pub use tensor::{MAP_BYTES, TensorElement, TensorMap};
pub use warp::{Members, members, shuffle_reads};

use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::{Address, Clock, DeviceFunction, Inst, Op, PredicateUse, Row};

/// The registers of one warp.
/// They are `narrow[row][lane]`, `wide[row][lane]`, and one mask per predicate.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))] // what most instructions need has one cache line
pub struct RegisterFile {
    /// 32-bit rows.
    pub narrow: AlignedRows<u32>,
    /// Predicates, one bit per lane.
    pub predicates: Vec<u32>,
    /// Vector units for loops over lanes.
    pub vectors: Vectors,
    /// 64-bit rows.
    pub wide: AlignedRows<u64>,
    /// Call stacks by lane; empty until a lane calls a function.
    pub calls: Vec<CallStack>,
    /// Asynchronous copies in flight.
    pub copies: Copies,
}

/// State that an instruction can access besides registers.
pub struct Env<'a> {
    /// Device memory and constants, shared by the grid.
    pub global: &'a GlobalMemory,
    /// The block's shared memory.
    pub shared: &'a mut SharedMemory,
    /// The warp's local memory.
    pub local: &'a mut LocalMemory,
    /// The kernel's parameter block.
    pub params: &'a [u8],
    /// Functions that the kernel may call.
    pub functions: &'a [DeviceFunction],
    /// Lanes of a full warp: barriers count threads in multiples of it.
    pub warp_size: u32,
    /// Lanes of the warp that have not exited.
    pub live: LaneMask,
    /// PC of the instruction in the driver's numbering.
    /// A call records it, a return restores it.
    pub pc: u32,
    /// Value of `%clock64`.
    pub clock: u64,
    /// Value of `%globaltimer`.
    pub nanoseconds: u64,
    /// Scratch: byte address of each lane in the last [`Effect::Access`] or [`Effect::Accesses`].
    /// An address is an offset in its space (absolute for global and const). Lanes outside
    /// [`MemoryAccess::lanes`] hold garbage.
    pub addresses: &'a mut [u64; MAX_LANES],
    /// Results that an [`Effect`] does not hold; the driver empties it.
    pub system: &'a mut SystemLog,
}

/// Maximum duration of `nanosleep` in nanoseconds.
/// One millisecond (PTX ISA, "Miscellaneous Instructions: nanosleep").
const LONGEST_SLEEP: u32 = 1_000_000;

/// Effect of an instruction beyond registers and memory, which are already updated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// Registers changed, nothing else.
    Done,
    /// Registers changed; some lanes read an inactive lane.
    /// Their result is 0, where PTX leaves it undefined.
    Undefined {
        /// The reading lanes, never empty.
        lanes: LaneMask,
        /// The lane that the lowest of them read.
        source: u32,
    },
    /// Lanes branch.
    Branch {
        /// The lanes whose guard held.
        taken: LaneMask,
    },
    /// Lanes branch through a table; `Env::addresses` holds their target numbers.
    Switch {
        /// The lanes whose guard held.
        lanes: LaneMask,
    },
    /// Lanes of machine code jump; `Env::addresses` holds their target PCs.
    Jump {
        /// The lanes whose guard held.
        lanes: LaneMask,
    },
    /// Lanes call functions; `Env::addresses` holds the functions' numbers.
    /// The frames are ready.
    Call {
        /// The lanes whose guard held.
        lanes: LaneMask,
    },
    /// Lanes return from functions; `Env::addresses` holds the PCs of their calls.
    /// The driver calls [`finish_call`] for the call instruction and continues after it.
    Return {
        /// The lanes, never empty.
        lanes: LaneMask,
    },
    /// Lanes exit.
    Exit {
        /// The lanes whose guard held.
        lanes: LaneMask,
    },
    /// Lanes of machine code gather by their masks ([`members`]).
    Gather {
        /// The lanes whose guard held.
        lanes: LaneMask,
    },
    /// Lanes of machine code end what they have executed together.
    EndCollective,
    /// Memory was accessed at `Env::addresses`.
    Access(MemoryAccess),
    /// Lanes of a generic access reached several memories, at `Env::addresses`.
    ///
    /// [`SystemLog::parts`] has an access of each, with its lanes.
    Accesses,
    /// A texture was fetched from or a surface accessed, at `Env::addresses` and
    /// [`SystemLog::taps`].
    Image(MemoryAccess),
    /// A product of a warpgroup read matrices at [`SystemLog::pieces`].
    MatrixRead,
    /// An asynchronous copy started; `Env::addresses` holds the source addresses.
    ///
    /// Its data are [`Copies::latest`]. No lane reads if all sources are replaced by zeros.
    Copy(MemoryAccess),
    /// Lanes arrive at barrier objects when their asynchronous copies are done.
    ///
    /// The driver calls [`land_copies`] and, for each lane, [`arrive_by_copies`].
    ArriveByCopies(MemoryAccess),
    /// Lanes wait for asynchronous copies: the driver calls [`land_copies`].
    WaitCopies {
        /// The lanes whose guard held.
        lanes: LaneMask,
        /// Number of latest groups that may be incomplete; `None` waits for all copies.
        groups: Option<u32>,
    },
    /// Bulk copies started; [`SystemLog::bulk`] has them.
    ///
    /// Copies to global memory have written it. The driver calls [`land_bulk`] for copies to shared
    /// memory, and [`Copies::add_bulk`] for copies without a barrier object.
    BulkCopies,
    /// Lanes wait for groups of bulk copies: the driver calls [`Copies::take_bulk`].
    WaitBulk {
        /// The lanes whose guard held.
        lanes: LaneMask,
        /// Number of latest groups that may be incomplete.
        groups: u32,
    },
    /// The lanes arrive at a block barrier.
    Barrier {
        /// The lanes whose guard held.
        lanes: LaneMask,
        /// Barrier number 0..16.
        id: u8,
        /// Number of threads expected; `None` for the whole block.
        count: Option<u32>,
        /// True if the lanes wait (`sync`, `red`), false if they continue (`arrive`).
        wait: bool,
    },
    /// Lanes pause.
    Sleep {
        /// Duration in nanoseconds.
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
    /// The space accessed, never generic: addresses resolve a generic access.
    pub space: Space,
    /// Read, write or both.
    pub kind: AccessKind,
    /// The participating lanes.
    pub lanes: LaneMask,
    /// Contiguous bytes per lane: element size times vector count.
    pub bytes: u8,
    /// True if the access goes to L2 without an L1 lookup.
    pub bypass_l1: bool,
    /// True if any byte of memory has a new value.
    /// False for loads, failed compare-and-swaps, and stores of the old value.
    pub changed: bool,
    /// True if all 32 lanes access contiguous elements in lane order; may be false for such, too.
    pub row: bool,
}

/// Returns the lanes of `active` whose guard holds.
#[inline]
pub fn guarded(inst: &Inst, active: LaneMask, registers: &RegisterFile) -> LaneMask {
    match inst.guard {
        None => active,
        Some(g) => {
            let bits = registers.predicates[g.predicate.0 as usize];
            let lanes = active & LaneMask(if g.negated { !bits } else { bits });
            inst.also.map_or(lanes, |p| lanes & LaneMask(lanes::predicate(registers, p)))
        }
    }
}

/// Returns the address of each of `lanes`, which may be generic. The others are any.
pub(crate) fn addresses(
    address: Address,
    lanes: LaneMask,
    registers: &RegisterFile,
) -> [u64; MAX_LANES] {
    let mut addresses = [0; MAX_LANES];
    access::fill_addresses(address, lanes, registers, &mut addresses);
    addresses
}

/// Returns the lanes in which a predicate operand holds.
#[inline]
pub fn predicate(registers: &RegisterFile, p: PredicateUse) -> LaneMask {
    LaneMask(lanes::predicate(registers, p))
}

/// Applies one instruction to `lanes`, the lanes of `active` whose guard holds.
///
/// See [`guarded`]. `lanes` may be empty: branches and exits report that, other instructions return
/// [`Effect::Done`]. A fault leaves registers and memory unchanged. Join steps are never passed in.
///
/// # Errors
/// Returns the program's fault, with the lowest lane at fault.
#[inline]
pub fn step(
    inst: &Inst,
    lanes: LaneMask,
    active: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    loop {
        match try_step(inst, lanes, active, registers, env) {
            Err(fault) if env.local.deepen(&fault) => {}
            result => return result,
        }
    }
}

/// As [`step`], with the local memory that the warp has had so far.
#[inline(always)]
fn try_step(
    inst: &Inst,
    lanes: LaneMask,
    active: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    // The most frequent instructions go straight to their functions.
    match &inst.op {
        Op::Load(op) => {
            let effect = access::load(op, lanes, registers, env)?;
            if op.uniform {
                let lane = lanes.lowest().unwrap_or(0) as usize % MAX_LANES;
                for d in op.d.into_iter().flatten() {
                    let value = registers.narrow[usize::from(d.0)][lane];
                    registers.narrow[usize::from(d.0)] = [value; MAX_LANES];
                }
            }
            Ok(effect)
        }
        Op::Store(op) => access::store(op, lanes, registers, env),
        _ => other_step(inst, lanes, active, registers, env),
    }
}

/// As [`step`], for all but the most frequent instructions.
fn other_step(
    inst: &Inst,
    lanes: LaneMask,
    active: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    match &inst.op {
        op @ (Op::Lane(_)
        | Op::Native(_)
        | Op::Setp(_)
        | Op::PredicateLogic { .. }
        | Op::Select { .. }
        | Op::Carry(_)
        | Op::Test { .. }) => {
            element_wise(op, lanes, registers);
        }
        &Op::Clock { d, clock: clock @ (Clock::Pair | Clock::TimerPair) } => {
            let now = if clock == Clock::Pair { env.clock } else { env.nanoseconds };
            lanes::splat(registers, d, lanes, now as u32);
            lanes::splat(registers, Row(d.0 + 1), lanes, (now >> 32) as u32);
        }
        &Op::Clock { d, clock } => {
            let now = match clock {
                Clock::Low | Clock::Wide | Clock::Pair => env.clock,
                Clock::High => env.clock >> 32,
                Clock::Timer | Clock::TimerLow | Clock::TimerPair => env.nanoseconds,
                Clock::TimerHigh => env.nanoseconds >> 32,
            };
            access::put(registers, d, clock.is_wide(), lanes, |_| now);
        }
        Op::Load(_) | Op::Store(_) => unreachable!("`step` executes these"),
        Op::Atomic(op) => return access::atomic(op, lanes, registers, env),
        Op::AtomicVector(op) => return access::atomic_vector(op, lanes, registers, env),
        &Op::Branch { uniform, .. } => return branch(uniform, lanes, active),
        &Op::BranchTogether { any, .. } => {
            let holds = if any { !lanes.is_empty() } else { lanes == active };
            let taken = if holds { active } else { LaneMask::EMPTY };
            return Ok(Effect::Branch { taken });
        }
        &Op::BranchByConvergence { mask, converged, .. } => {
            // All lanes branch, those whose guard fails included, as on an H200.
            let taken = match lanes.lowest() {
                Some(lane) => {
                    let named = registers.narrow[usize::from(mask.0)][lane as usize % MAX_LANES];
                    (LaneMask(named) & env.live).is_subset(lanes) == converged
                }
                None => false,
            };
            return Ok(Effect::Branch { taken: if taken { active } else { LaneMask::EMPTY } });
        }
        Op::Switch(op) => return calls::switch(op, lanes, active, registers, env),
        Op::Call(op) => return calls::call(op, lanes, active, registers, env),
        Op::System(op) => system::call(op, lanes, registers, env)?,
        Op::Stack(op) => calls::stack(op, lanes, registers, env)?,
        Op::Jump(op) => return calls::jump(op, lanes, registers, env),
        Op::Return => return Ok(calls::ret(lanes, registers, env)),
        Op::Spill(op) => return Ok(calls::spill(op, lanes, registers, env)),
        // Slots live in local memory, but a GPU keeps their values in registers: no traffic.
        Op::ReadSlot(op) => access::load(op, lanes, registers, env).map(|_| ())?,
        Op::WriteSlot(op) => access::store(op, lanes, registers, env).map(|_| ())?,
        Op::Exit => return Ok(Effect::Exit { lanes }),
        Op::Trap => {
            return lanes
                .lowest()
                .map_or(Ok(Effect::Done), |lane| Err(Fault { lane, kind: FaultKind::Trap }));
        }
        Op::Barrier(op) => return barrier::arrive(op, lanes, registers, env.warp_size),
        &Op::WarpSync { mask } => warp::check_members(mask, lanes, registers)?,
        &Op::Gather { mask, .. } => {
            warp::check_members(mask, lanes, registers)?;
            return Ok(Effect::Gather { lanes });
        }
        Op::EndCollective => return Ok(Effect::EndCollective),
        Op::Shuffle(op) => return warp::shuffle(op, lanes, registers),
        Op::Vote(op) => warp::vote(op, lanes, registers)?,
        &Op::ActiveMask { d } => lanes::splat(registers, d, lanes, active.0),
        Op::Match(op) => warp::match_op(op, lanes, registers)?,
        Op::Redux(op) => warp::redux(op, lanes, registers)?,
        Op::Video(op) => video::execute(op, lanes, registers),
        Op::BulkCopy(op) => return bulk::copy(op, lanes, registers, env),
        Op::AsyncCopy(op) => return copies::copy(op, lanes, registers, env),
        Op::MBarrier(op) => return mbarrier::execute(op, lanes, registers, env),
        Op::Mma(op) => matrix::mma(op, lanes, registers)?,
        Op::GroupMma(op) => return warpgroup::product(op, lanes, registers, env),
        Op::MatrixAccess(op) => return matrix::access(op, lanes, registers, env),
        &Op::MatrixTranspose { d, a } => matrix::transpose(d, a, lanes, registers)?,
        &Op::CopyGroups(op) => return Ok(copies::groups(op, lanes, registers)),
        Op::Texture(op) => return texture::fetch(op, lanes, registers, env),
        Op::Surface(op) => return surface::access(op, lanes, registers, env),
        Op::ImageQuery(op) => texture::query(op, lanes, registers, env)?,
        Op::Fence(_) | Op::Hint { .. } | Op::Together | Op::GroupSync(_) => {}
        &Op::Sleep { t } => {
            let row = &registers.narrow[usize::from(t.0)];
            let longest = lanes.lanes().map(|lane| row[lane as usize]).max();
            return Ok(
                longest.map_or(Effect::Done, |ns| Effect::Sleep { ns: ns.min(LONGEST_SLEEP) })
            );
        }
        Op::Join(_) => unreachable!("join steps are the machine's own"),
    }
    Ok(Effect::Done)
}

/// Writes one value to lanes of a 32-bit row.
pub fn write_lanes(registers: &mut RegisterFile, row: Row, lanes: LaneMask, value: u32) {
    lanes::splat(registers, row, lanes, value);
}

/// Returns true if each lane's result depends only on its own registers.
/// Such an instruction has no other effect.
pub fn is_element_wise(op: &Op) -> bool {
    matches!(
        op,
        Op::Lane(_)
            | Op::Native(_)
            | Op::Setp(_)
            | Op::PredicateLogic { .. }
            | Op::Select { .. }
            | Op::Carry(_)
            | Op::Test { .. }
    )
}

/// Applies an [`is_element_wise`] instruction; its effect is [`Effect::Done`].
#[inline]
pub fn element_wise(op: &Op, lanes: LaneMask, registers: &mut RegisterFile) {
    match op {
        Op::Lane(op) => alu::lane_op(op, lanes, registers),
        Op::Native(op) => native::native(op, lanes, registers),
        Op::Setp(op) => alu::setp(op, lanes, registers),
        &Op::PredicateLogic { f, d, a, b } => {
            let bits = alu::predicate_logic(f, a, b, registers);
            lanes::set_predicate(registers, d, lanes, bits);
        }
        Op::Carry(op) => carry::carry(op, lanes, registers),
        &Op::Test { f, ty, p, a } => alu::test_value(f, ty, p, a, lanes, registers),
        &Op::Select { ty, d, a, b, c } => alu::select(ty, d, [a, b], c, lanes, registers),
        _ => unreachable!("the caller checks `is_element_wise` first"),
    }
}

/// Executes a branch; `bra.uni` requires all active lanes to agree.
fn branch(uniform: bool, lanes: LaneMask, active: LaneMask) -> Result<Effect, Fault> {
    match (active - lanes).lowest() {
        Some(lane) if uniform && !lanes.is_empty() => {
            Err(Fault { lane, kind: FaultKind::UniformBranchDiverges })
        }
        _ => Ok(Effect::Branch { taken: lanes }),
    }
}

#[cfg(test)]
mod tests;
