//! Checked instructions: operands are rows of the register file, modifiers are values, nothing is left to look up.
//!
//! Only `kernel::check` makes these, so `exec` may trust them: row numbers are in range, widths agree.

use super::{Carry, LaneOp, TestFn};
use crate::base::Pc;
use crate::diag::Span;
use crate::isa::{BoolOp, Class, Compare, Space, Type};

/// A row of a warp's register file: 32 values of 32 bits or 32 of 64, as the instruction's type says.
///
/// 8- and 16-bit values live in 32-bit rows, zero-extended above their width. Immediates and special registers
/// (except clocks) have rows of their own, filled when a warp starts, so that an operand is always a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Row(pub u16);

/// A predicate register: one bit a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Predicate(pub u16);

/// A predicate operand, perhaps negated (`!%p`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredicateUse {
    /// The register.
    pub predicate: Predicate,
    /// Whether its complement is meant.
    pub negated: bool,
}

/// A register as the scoreboard and the uniformity analysis see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Register {
    /// A 32-bit row.
    Narrow(Row),
    /// A 64-bit row.
    Wide(Row),
    /// A predicate.
    Predicate(Predicate),
}

/// One checked instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// The lanes it does it for: those whose guard holds; all active lanes when absent.
    pub guard: Option<PredicateUse>,
    /// What a machine prices.
    pub class: Class,
    /// The row of the ISA it instantiates (`Isa::rows` index).
    pub form: u16,
    /// Registers read, guard included; immediates and special registers are not listed. No duplicates.
    pub reads: Vec<Register>,
    /// Registers written. No duplicates.
    pub writes: Vec<Register>,
    /// The source text of the instruction.
    pub span: Span,
    /// Its line in the program's file, from 1. (What a `.loc` says is in `text::locations`.)
    pub line: u32,
}

/// What an instruction does. Element-wise work is one variant; the others touch memory, other lanes or control.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `d = f(a, b, c, e)`, lane by lane.
    Lane(LaneOp),
    /// `d|q = compare(a, b) [bool c]`, lane by lane.
    Setp(Setp),
    /// `d = a bool b`, on predicates (`and.pred`, `or.pred`, `xor.pred`, `not.pred`, `mov.pred`).
    PredicateLogic {
        /// The function.
        f: PredicateFn,
        /// The result.
        d: Predicate,
        /// First operand.
        a: PredicateUse,
        /// Second operand; equals `a` for the one-operand functions.
        b: PredicateUse,
    },
    /// `d = c ? a : b` (`selp`).
    Select {
        /// The type moved.
        ty: Type,
        /// The result.
        d: Row,
        /// Taken where `c` holds.
        a: Row,
        /// Taken elsewhere.
        b: Row,
        /// The condition.
        c: PredicateUse,
    },
    /// A link of a carry chain, lane by lane.
    Carry(Carry),
    /// `p = f(a)`, lane by lane.
    Test {
        /// The question.
        f: TestFn,
        /// The type of `a`.
        ty: Type,
        /// The answer.
        p: Predicate,
        /// The value asked about.
        a: Row,
    },
    /// Reads a clock.
    Clock {
        /// The result: a 64-bit row for the two 64-bit clocks, a 32-bit row otherwise.
        d: Row,
        /// Which one.
        clock: Clock,
    },
    /// A load.
    Load(Load),
    /// A store.
    Store(Store),
    /// `atom` (with `d`) or `red` (without).
    Atomic(Atomic),
    /// A branch; divergent when guarded and the guard differs between lanes.
    Branch {
        /// Where the lanes whose guard holds go. In a [`crate::kernel::Kernel`]'s `insts`: the index of the instruction behind the label.
        target: Pc,
        /// `bra.uni`: the author promises that all active lanes agree.
        uniform: bool,
    },
    /// `brx.idx`: a branch to one of several targets.
    Switch(Switch),
    /// `call`, direct or through a register.
    Call(Box<Call>),
    /// The end of a device function: every `ret` of it leads here, so that the lanes of an activation return together.
    Return,
    /// `ld.param` of a device function's parameter, or of what a call has brought back. Costs a move, or nothing as machine code.
    ReadSlot(Load),
    /// `st.param`: to an argument of a call to come, or to the value that a device function returns. Costs a move, or nothing as machine code.
    WriteSlot(Store),
    /// `ret` of a kernel or `exit`: the lanes end.
    Exit,
    /// `trap`: the program faults.
    Trap,
    /// `bar.sync`/`barrier.sync`, `bar.arrive`, `bar.red`.
    Barrier(Barrier),
    /// `bar.warp.sync mask`
    WarpSync {
        /// The lanes named.
        mask: Row,
    },
    /// `shfl.sync`
    Shuffle(Shuffle),
    /// `vote.sync`
    Vote(Vote),
    /// `activemask.b32`
    ActiveMask {
        /// The result.
        d: Row,
    },
    /// `match.any.sync`/`match.all.sync`
    Match(Match),
    /// `redux.sync`
    Redux(Redux),
    /// `membar`/`fence`: order only; the model's memory is sequentially consistent.
    Fence,
    /// `prefetch`, `discard` and their kin, `pmevent`: nothing that a program could see.
    Hint {
        /// What it is about.
        address: Option<Address>,
    },
    /// `nanosleep t`
    Sleep {
        /// Nanoseconds.
        t: Row,
    },
    /// A join operation of the independent mode. Never in `Kernel::insts`; only streams hold it.
    Join(JoinOp),
}

/// `brx.idx index, targets`
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// The index, a narrow row.
    pub index: Row,
    /// Where the lanes go, by index; as [`Op::Branch`]'s target.
    pub targets: Vec<Pc>,
    /// `.uni`: the author promises that all active lanes agree.
    pub uniform: bool,
}

/// Which function a call is for. Numbers index [`Kernel::functions`](crate::kernel::Kernel::functions).
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// This one.
    Direct(u32),
    /// The one among `targets` whose address a register holds.
    Indirect {
        /// The address, a 64-bit row.
        address: Row,
        /// All functions that it may be.
        targets: Vec<u32>,
    },
}

/// Bytes that a call or a return copies from one frame to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Offset in the frame they come from.
    pub from: u32,
    /// Offset in the frame they go to.
    pub to: u32,
    /// How many.
    pub bytes: u32,
}

/// `call`. The callee's frame lies behind the caller's in the lane's local memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub callee: Callee,
    /// `.uni`: the author promises that all active lanes call the same function.
    pub uniform: bool,
    /// From the caller's frame to the callee's.
    pub arguments: Vec<Copied>,
    /// From the callee's frame to the caller's, on return.
    pub results: Vec<Copied>,
    /// The 64-bit row that holds where each lane's frame begins.
    pub frame_pointer: Row,
    /// Size of the caller's frame.
    pub frame: u32,
    /// Registers of the caller that it reads later and that a recursion through this call may overwrite.
    pub saves: Vec<Register>,
}

impl Call {
    /// The functions that it may be for.
    pub fn callees(&self) -> &[u32] {
        match &self.callee {
            Callee::Direct(function) => std::slice::from_ref(function),
            Callee::Indirect { targets, .. } => targets,
        }
    }

    /// Whether lanes that execute the call together may go different ways at it: to different functions, or past it.
    pub(super) fn may_part(&self, guarded: bool) -> bool {
        guarded || matches!(&self.callee, Callee::Indirect { targets, .. } if targets.len() > 1) && !self.uniform
    }
}

/// The clocks a program can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// `%clock`: the low word of the cycle.
    Low,
    /// `%clock_hi`: the high word.
    High,
    /// `%clock64`
    Wide,
    /// `%globaltimer`: nanoseconds.
    Timer,
    /// `%globaltimer_lo`
    TimerLow,
    /// `%globaltimer_hi`
    TimerHigh,
}

impl Clock {
    /// Whether it has 64 bits.
    pub const fn is_wide(self) -> bool {
        matches!(self, Clock::Wide | Clock::Timer)
    }
}

/// A convergence-barrier operation that the kernel pass places for the independent mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinOp {
    /// The active lanes become the participants of the register (BSSY).
    Set(crate::base::JoinId),
    /// Wait for the other participants (BSYNC).
    Sync(crate::base::JoinId),
    /// The active lanes are participants no longer: they do not come to the sync (BREAK).
    Break(crate::base::JoinId),
    /// Let the other groups of the warp go first (YIELD).
    Yield,
}

impl std::fmt::Display for JoinOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JoinOp::Set(join) => write!(f, "set {join}"),
            JoinOp::Sync(join) => write!(f, "sync {join}"),
            JoinOp::Break(join) => write!(f, "break {join}"),
            JoinOp::Yield => f.write_str("yield"),
        }
    }
}

/// Functions on predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX's own names")]
pub enum PredicateFn {
    Mov,
    Not,
    And,
    Or,
    Xor,
}

/// `setp.CMP[.BOOL][.ftz].TYPE p[|q], a, b[, c]`: `p = (a CMP b) BOOL c`, `q = !(a CMP b) BOOL c`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setp {
    /// The comparison; `lo/ls/hi/hs` are stored as the unsigned `Lt/Le/Gt/Ge`, with `ty` unsigned.
    pub compare: Compare,
    /// The operand type.
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
    /// The combination.
    pub combine: Option<(BoolOp, PredicateUse)>,
}

/// An address: a base row plus a constant. Symbols are folded into the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The base.
    pub base: AddressBase,
    /// Added to it; the whole address when there is no base.
    pub offset: i64,
}

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// Zero.
    Zero,
    /// A 32-bit row (shared, local, const and param addresses), zero-extended.
    Narrow(Row),
    /// A 64-bit row.
    Wide(Row),
}

/// A memory type: how many bytes, and how they become a register's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The state space.
    pub space: Space,
    /// The element type: width in memory; sign- or zero-extension into the register. `LaneOp` widths: the register row is wide iff `wide`.
    pub ty: Type,
    /// Elements a lane: 1, 2 or 4.
    pub count: u8,
    /// Whether the registers are 64-bit rows (a narrower load may fill a wider register).
    pub wide: bool,
    /// What it promises to other threads.
    pub order: MemoryOrder,
    /// `.cg`, `.cv`, `.volatile`, strong: goes to L2 without looking in L1.
    pub bypass_l1: bool,
}

impl Access {
    /// Whether it is strong: other threads' accesses may run at the same time, and a spin loop on it yields.
    pub const fn strong(&self) -> bool {
        !matches!(self.order, MemoryOrder::Weak)
    }
}

/// What a memory access promises to other threads (PTX ISA, "Memory Consistency Model"). Scopes are not told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// Nothing (`.weak`, the default of `ld` and `st`).
    Weak,
    /// `.volatile`: strong, and no more than that.
    Volatile,
    /// `.relaxed`, the default of `atom` and `red`.
    Relaxed,
    /// `.acquire`: what follows comes after what the other thread released.
    Acquire,
    /// `.release`: what came before is seen by who acquires.
    Release,
    /// `.acq_rel`
    AcquireRelease,
}

impl MemoryOrder {
    /// Whether earlier accesses of the thread are released.
    pub const fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcquireRelease)
    }
}

/// `ld`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// What is read.
    pub access: Access,
    /// Results; `access.count` of them count. `None` for `_`.
    pub d: [Option<Row>; 4],
    /// From where.
    pub address: Address,
}

/// `st`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Store {
    /// What is written.
    pub access: Access,
    /// Sources; `access.count` of them count.
    pub s: [Row; 4],
    /// To where.
    pub address: Address,
}

/// Read-modify-write functions of `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX's own names; inc/dec wrap at the operand; cas compares with b and writes c")]
pub enum AtomicFn {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exch,
    Cas,
}

/// `atom`/`red`. Lanes are served in ascending order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atomic {
    /// Generic, global or shared.
    pub space: Space,
    /// The function.
    pub f: AtomicFn,
    /// The element type: 32 or 64 bits (16 for cas); also floats and pairs for add.
    pub ty: Type,
    /// What it promises to other threads; never weak.
    pub order: MemoryOrder,
    /// The old value; `None` for `red` and `_`.
    pub d: Option<Row>,
    /// Where.
    pub address: Address,
    /// Operand `b`.
    pub b: Row,
    /// Operand `c` (cas only).
    pub c: Row,
}

/// What a block barrier instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Arrive and wait.
    Sync,
    /// Arrive and go on.
    Arrive,
    /// Arrive, wait, and reduce a predicate over the block.
    Red {
        /// The function.
        f: BarrierReduce,
        /// The predicate contributed.
        p: PredicateUse,
    },
}

/// `bar.red` functions and their result register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierReduce {
    /// `.popc.u32`: how many threads' predicate holds.
    Popc(Row),
    /// `.and.pred`
    And(Predicate),
    /// `.or.pred`
    Or(Predicate),
}

/// `bar.*` and `barrier.*`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier {
    /// What it does.
    pub kind: BarrierKind,
    /// The barrier's number, a narrow row (0..16); uniform over the warp.
    pub id: Row,
    /// The thread count, a narrow row; `None` for all threads of the block.
    pub count: Option<Row>,
    /// `bar.*` and `.aligned`: all threads of the warp execute it together (the promise is the author's).
    pub aligned: bool,
}

/// `shfl.sync` modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX's own names")]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// `shfl.sync.MODE.b32 d|p, a, b, c, mask`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shuffle {
    /// The mode.
    pub mode: ShuffleMode,
    /// The result; `None` for `_`.
    pub d: Option<Row>,
    /// Whether the source lane was in range.
    pub p: Option<Predicate>,
    /// The value offered.
    pub a: Row,
    /// Lane or offset.
    pub b: Row,
    /// Segment mask (bits 8..13) and clamp (bits 0..5).
    pub c: Row,
    /// The lanes named.
    pub mask: Row,
}

/// `vote.sync` modes and their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX's own names")]
pub enum VoteKind {
    All(Predicate),
    Any(Predicate),
    Uni(Predicate),
    Ballot(Row),
    /// `elect.sync`: the lowest lane, and whether it is this one; nothing is contributed.
    Elect(Option<Row>, Option<Predicate>),
}

/// `vote.sync`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vote {
    /// The mode and result.
    pub kind: VoteKind,
    /// The predicate contributed; nothing for `elect`.
    pub p: Option<PredicateUse>,
    /// The lanes named.
    pub mask: Row,
}

/// `match.any.sync`/`match.all.sync`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// `.all`, otherwise `.any`
    pub all: bool,
    /// b32 or b64: the width of `a`.
    pub ty: Type,
    /// The mask of equal lanes (narrow).
    pub d: Row,
    /// `.all` only: whether all agree.
    pub p: Option<Predicate>,
    /// The value.
    pub a: Row,
    /// The lanes named.
    pub mask: Row,
}

/// `redux.sync` functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX's own names")]
pub enum ReduxFn {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// `redux.sync`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Redux {
    /// The function.
    pub f: ReduxFn,
    /// u32, s32 or b32.
    pub ty: Type,
    /// The result, the same in all lanes.
    pub d: Row,
    /// The value.
    pub a: Row,
    /// The lanes named.
    pub mask: Row,
}
