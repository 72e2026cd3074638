//! Checked instructions, with register file rows as operands.
//!
//! Only `kernel::check` creates them, so `exec` relies on valid row numbers and matching widths.

mod calls;
mod copies;
mod image;
mod matrix;
mod mbarrier;
mod memory;
mod system;
mod together;
mod video;
mod warpgroup;

pub use calls::*;
pub use copies::*;
pub use image::*;
pub use matrix::*;
pub use mbarrier::*;
pub use memory::*;
pub use system::*;
pub use together::*;
pub use video::*;
pub use warpgroup::{
    Accumulate, Descriptor, GROUP_ROW_BYTES, GROUP_WARPS, GroupFactor, GroupMma, GroupSync,
};

use super::{Carry, LaneOp, Native, TestFn};
use crate::base::Pc;
use crate::diag::Span;
use crate::isa::{BoolOp, Class, Compare, Type};

/// Row of a warp's register file: 32 values of 32 or 64 bits.
///
/// 8- and 16-bit values are in 32-bit rows, zero-extended. Immediates and special registers (except
/// clocks) have their own rows, which are set when a warp starts, so that every operand is a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Row(pub u16);

/// Predicate register: one bit per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Predicate(pub u16);

/// Predicate operand, which may be negated (`!%p`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredicateUse {
    /// Register.
    pub predicate: Predicate,
    /// True for the complement.
    pub negated: bool,
}

/// Register, as tracked by the scoreboard and the uniformity analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Register {
    /// A 32-bit row.
    Narrow(Row),
    /// A 64-bit row.
    Wide(Row),
    /// A predicate.
    Predicate(Predicate),
}

/// Checked instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Operation.
    pub op: Op,
    /// Guard predicate; without one, all active lanes execute the operation.
    pub guard: Option<PredicateUse>,
    /// Second predicate that must hold with the guard (`@P0 BRA P1, ..`, machine code only).
    pub also: Option<PredicateUse>,
    /// Instruction class, which has costs in the machine file.
    pub class: Class,
    /// True for a sum, difference, product or approximate quotient of floats without a rounding
    /// modifier (`add.f32`, not `add.rn.f32`): the compiler may fuse it with another one.
    pub contracts: bool,
    /// Form, as an index of `Isa::rows`; [`MACHINE_FORM`](super::MACHINE_FORM) for machine code.
    pub form: u16,
    /// Registers read, with the guard, without immediates and special registers.
    ///
    /// No duplicates.
    pub reads: Vec<Register>,
    /// Registers written. No duplicates.
    pub writes: Vec<Register>,
    /// Span of the instruction, or of its source line if the program is CUDA C++.
    pub span: Span,
    /// Span in the text that a compiler made, if the program is CUDA C++.
    pub compiled: Option<Span>,
    /// Line in the program's file, from 1. (`text::locations` has the lines of `.loc`.)
    pub line: u32,
}

/// Operation of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `d = f(a, b, c, e)`, lane by lane.
    Lane(LaneOp),
    /// An element-wise instruction of machine code.
    Native(Box<Native>),
    /// `d|q = compare(a, b) [bool c]`, lane by lane.
    Setp(Setp),
    /// `d = a bool b`, on predicates (`and.pred`, `not.pred`, `mov.pred` ..).
    PredicateLogic {
        /// Function.
        f: PredicateFn,
        /// Result.
        d: Predicate,
        /// First operand.
        a: PredicateUse,
        /// Second operand; equals `a` for the one-operand functions.
        b: PredicateUse,
    },
    /// `d = c ? a : b` (`selp`).
    Select {
        /// Type of the operands.
        ty: Type,
        /// Result.
        d: Row,
        /// Value if `c` is true.
        a: Row,
        /// Value if `c` is false.
        b: Row,
        /// Condition.
        c: PredicateUse,
    },
    /// A link of a carry chain, lane by lane.
    Carry(Carry),
    /// `p = f(a)`, lane by lane.
    Test {
        /// Test function.
        f: TestFn,
        /// Type of `a`.
        ty: Type,
        /// Result.
        p: Predicate,
        /// Tested value.
        a: Row,
    },
    /// A video instruction, lane by lane.
    Video(Box<Video>),
    /// Reads a clock.
    Clock {
        /// Result: a 64-bit row for the 64-bit clocks, else a 32-bit row.
        d: Row,
        /// Clock.
        clock: Clock,
    },
    /// A load.
    Load(Load),
    /// A store.
    Store(Store),
    /// `atom` (with `d`) or `red` (without).
    Atomic(Atomic),
    /// `atom` or `red` on a vector.
    AtomicVector(Box<AtomicVector>),
    /// `alloca`, `stacksave`, `stackrestore`
    Stack(Stack),
    /// A branch; divergent if the guard differs between lanes.
    Branch {
        /// Branch target; in `insts` of a [`crate::kernel::Kernel`], an instruction index.
        target: Pc,
        /// True for `bra.uni`, whose author guarantees that all active lanes agree.
        uniform: bool,
    },
    /// A branch that all active lanes take, depending on whether the lanes whose guard holds
    /// include the live lanes of a mask. Not taken if no guard holds.
    BranchByConvergence {
        /// Branch target.
        target: Pc,
        /// Mask of lanes.
        mask: Row,
        /// True if the branch is taken with all lanes of the mask (BRA.CONV), false if it is taken
        /// where some of them are absent (BRA.DIV).
        converged: bool,
    },
    /// A branch that all active lanes take or none.
    BranchTogether {
        /// Branch target.
        target: Pc,
        /// True if it is taken where the guard holds in any of them (BRA.U.ANY), false if it is
        /// taken where it holds in all (BRA.U).
        any: bool,
    },
    /// `brx.idx`: a branch to one of several targets.
    Switch(Switch),
    /// `call`, direct or indirect.
    Call(Box<Call>),
    /// A call, return or indirect branch of machine code.
    Jump(Jump),
    /// A call of the runtime system: `vprintf`, `__assertfail`, `malloc`, `free`.
    System(Box<SystemCall>),
    /// Return of a device function.
    ///
    /// Every `ret` branches here, so that the lanes return together.
    Return,
    /// `ld.param` of a device function's parameter or of a call's result.
    ///
    /// Costs a move, or nothing as machine code.
    ReadSlot(Load),
    /// `st.param` of an argument or of a device function's result.
    ///
    /// Costs a move, or nothing as machine code.
    WriteSlot(Store),
    /// `ret` of a kernel, or `exit`: the lanes exit.
    Exit,
    /// `trap`: the program faults.
    Trap,
    /// `bar.sync`/`barrier.sync`, `bar.arrive`, `bar.red`.
    Barrier(Barrier),
    /// `bar.warp.sync mask`
    WarpSync {
        /// Member mask.
        mask: MemberMask,
    },
    /// WARPSYNC of machine code: the lanes with one mask wait for each other.
    Gather {
        /// Member mask.
        mask: MemberMask,
        /// How they go on.
        meeting: Meeting,
    },
    /// ENDCOLLECTIVE of machine code: lanes go on where their [`Op::Gather`] says.
    EndCollective,
    /// NOP of machine code: no effect but that its lanes execute it together.
    ///
    /// ptxas writes it for a `__syncwarp()` of lanes that it knows to be together.
    Together,
    /// `shfl.sync`
    Shuffle(Shuffle),
    /// `vote.sync`
    Vote(Vote),
    /// `activemask.b32`
    ActiveMask {
        /// Result.
        d: Row,
    },
    /// `match.any.sync`/`match.all.sync`
    Match(Match),
    /// `redux.sync`
    Redux(Redux),
    /// `cp.async`
    AsyncCopy(Box<AsyncCopy>),
    /// `cp.async.commit_group`, `cp.async.wait_group` and `cp.async.wait_all`, and those of bulk
    /// copies.
    CopyGroups(CopyGroups),
    /// `cp.async.bulk` and `cp.reduce.async.bulk`
    BulkCopy(Box<BulkCopy>),
    /// `mbarrier` and `cp.async.mbarrier`.
    MBarrier(Box<MBarrier>),
    /// `mma`: a matrix product of the warp.
    Mma(Box<Mma>),
    /// `wgmma.mma_async`: a matrix product of a warpgroup.
    GroupMma(Box<GroupMma>),
    /// `wgmma.fence`, `wgmma.commit_group` and `wgmma.wait_group`.
    GroupSync(GroupSync),
    /// `ldmatrix` and `stmatrix`
    MatrixAccess(Box<MatrixAccess>),
    /// `movmatrix`: transposes an 8x8 matrix of 16-bit elements.
    MatrixTranspose {
        /// Result (narrow).
        d: Option<Row>,
        /// Source (narrow).
        a: Row,
    },
    /// `tex` and `tld4`
    Texture(Box<Texture>),
    /// `suld`, `sust` and `sured`
    Surface(Box<Surface>),
    /// `txq` and `suq`
    ImageQuery(ImageQuery),
    /// `membar`/`fence`: orders accesses; simulated memory is sequentially consistent.
    Fence(Scope),
    /// `prefetch`, `discard`, `pmevent`: hints without effect on the program.
    Hint {
        /// Address of the hint.
        address: Option<Address>,
    },
    /// `nanosleep t`
    Sleep {
        /// Duration in nanoseconds.
        t: Row,
    },
    /// Saves or restores a register of a recursive function.
    ///
    /// Only in machine code ([`Kernel::with_saved_registers`]).
    Spill(Spill),
    /// A convergence operation.
    ///
    /// Machine code has its own in `Kernel::insts`; for PTX the compiler model adds them to the
    /// micro-ops.
    Join(ConvergenceOp),
}

impl Op {
    /// Returns the operation of `atom` or `red`; for a vector, that on its first element.
    pub fn atomic(&self) -> Option<&Atomic> {
        match self {
            Op::Atomic(atomic) => Some(atomic),
            Op::AtomicVector(vector) => Some(&vector.first),
            _ => None,
        }
    }

    /// Returns true if the instruction only computes within its lane's registers.
    pub(crate) fn only_computes(&self) -> bool {
        matches!(
            self,
            Op::Lane(_)
                | Op::Setp(_)
                | Op::Select { .. }
                | Op::PredicateLogic { .. }
                | Op::Carry(_)
                | Op::Test { .. }
                | Op::Video(_)
                | Op::Clock { .. }
                | Op::Join(_)
        )
    }
}

/// Clocks that a program can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// `%clock`: the low word of the cycle.
    Low,
    /// `%clock_hi`: the high word.
    High,
    /// `%clock64`
    Wide,
    /// The cycle in a pair of 32-bit rows (CS2R of machine code).
    Pair,
    /// `%globaltimer`: nanoseconds.
    Timer,
    /// The nanoseconds in a pair of 32-bit rows (CS2R of machine code).
    TimerPair,
    /// `%globaltimer_lo`
    TimerLow,
    /// `%globaltimer_hi`
    TimerHigh,
}

impl Clock {
    /// Returns true for a 64-bit clock.
    pub const fn is_wide(self) -> bool {
        matches!(self, Clock::Wide | Clock::Timer)
    }
}

/// Convergence barrier operation, inserted for the independent mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvergenceOp {
    /// Makes the active lanes the participants of the barrier (BSSY).
    Set(crate::base::JoinId),
    /// Copies the mask of the barrier to a register (BMOV R, B).
    Save {
        /// Barrier.
        join: crate::base::JoinId,
        /// Register; `None` for RZ.
        d: Option<Row>,
        /// `.CLEAR`
        clear: bool,
    },
    /// Sets the mask of the barrier from a register (BMOV B, R).
    Restore {
        /// Barrier.
        join: crate::base::JoinId,
        /// Register.
        s: Row,
    },
    /// Waits for the other participants (BSYNC).
    Sync(crate::base::JoinId),
    /// Removes the active lanes from the participants (BREAK).
    Break(crate::base::JoinId),
    /// Lets the other lane groups of the warp run first (YIELD).
    Yield,
}

impl std::fmt::Display for ConvergenceOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConvergenceOp::Set(join) => write!(f, "set {join}"),
            ConvergenceOp::Sync(join) => write!(f, "sync {join}"),
            ConvergenceOp::Break(join) => write!(f, "break {join}"),
            ConvergenceOp::Save { join, .. } => write!(f, "save {join}"),
            ConvergenceOp::Restore { join, .. } => write!(f, "restore {join}"),
            ConvergenceOp::Yield => f.write_str("yield"),
        }
    }
}

/// How lanes go on that have gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// As before, with lanes of other masks (WARPSYNC).
    Common,
    /// All live lanes, at this instruction (WARPSYNC.ALL).
    Aligned,
    /// Without lanes of other masks, which execute the instruction again (WARPSYNC.EXCLUSIVE).
    Exclusive,
    /// As exclusive, but all lanes of the mask together, wherever they came from, up to
    /// [`Op::EndCollective`] (WARPSYNC.COLLECTIVE).
    Collective {
        /// Where the lanes go on then.
        end: Pc,
    },
}

/// Functions on predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX names")]
pub enum PredicateFn {
    Mov,
    Not,
    And,
    Or,
    Xor,
}

/// `setp.CMP[.BOOL][.ftz].TYPE p[|q], a, b[, c]`
///
/// `p = (a CMP b) BOOL c`, `q = !(a CMP b) BOOL c`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setp {
    /// Comparison; `lo/ls/hi/hs` are `Lt/Le/Gt/Ge` with an unsigned `ty`.
    pub compare: Compare,
    /// Operand type.
    pub ty: Type,
    /// `.ftz`
    pub ftz: bool,
    /// First result; `None` for `_`.
    pub p: Option<Predicate>,
    /// Second result.
    pub q: Option<Predicate>,
    /// Left operand.
    pub a: Row,
    /// Right operand.
    pub b: Row,
    /// Combination with a third predicate.
    pub combine: Option<(BoolOp, PredicateUse)>,
}
