//! Checked instructions: operands are rows of the register file, modifiers are values, nothing is left to look up.
//!
//! Only `kernel::check` makes these, so `exec` may trust them: row numbers are in range, widths agree.

mod calls;
mod memory;
mod together;

pub use calls::*;
pub use memory::*;
pub use together::*;

use super::{Carry, LaneOp, TestFn};
use crate::base::Pc;
use crate::diag::Span;
use crate::isa::{BoolOp, Class, Compare, Type};

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
    Fence(Scope),
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
    /// Saves or restores a register of a recursive function. Only machine code holds it ([`Kernel::with_saved_registers`]).
    Spill(Spill),
    /// A join operation of the independent mode. Never in `Kernel::insts`; only streams hold it.
    Join(ConvergenceOp),
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
pub enum ConvergenceOp {
    /// The active lanes become the participants of the register (BSSY).
    Set(crate::base::JoinId),
    /// Wait for the other participants (BSYNC).
    Sync(crate::base::JoinId),
    /// The active lanes are participants no longer: they do not come to the sync (BREAK).
    Break(crate::base::JoinId),
    /// Let the other groups of the warp go first (YIELD).
    Yield,
}

impl std::fmt::Display for ConvergenceOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConvergenceOp::Set(join) => write!(f, "set {join}"),
            ConvergenceOp::Sync(join) => write!(f, "sync {join}"),
            ConvergenceOp::Break(join) => write!(f, "break {join}"),
            ConvergenceOp::Yield => f.write_str("yield"),
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
