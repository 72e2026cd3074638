//! Block barriers and warp-level instructions (shuffles, votes, matches, reductions).

use super::{Op, Predicate, PredicateUse, Row};
use crate::base::LaneMask;
use crate::isa::Type;

/// Kind of a block barrier instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Arrive and wait.
    Sync,
    /// Arrive without waiting.
    Arrive,
    /// Arrive, wait, and reduce a predicate over the block.
    Red {
        /// Function.
        f: BarrierReduce,
        /// Source predicate.
        p: PredicateUse,
    },
}

/// `bar.red` functions and their result register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierReduce {
    /// `.popc.u32`: number of threads with a true predicate.
    Popc(Row),
    /// `.and.pred`
    And(Predicate),
    /// `.or.pred`
    Or(Predicate),
}

/// `bar.*` and `barrier.*`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier {
    /// Kind.
    pub kind: BarrierKind,
    /// Barrier number (0..16), a narrow row; uniform over the warp.
    pub id: Row,
    /// Thread count, a narrow row; `None` for all threads of the block.
    pub count: Option<Row>,
    /// True if `id` and `count` are one row of machine code, with the number in its low four bits
    /// and the count, 0 for all threads, in its upper half.
    pub packed: bool,
    /// True for `bar.*` and `.aligned`: all threads of a warp must execute it together.
    pub aligned: bool,
}

/// Member mask of a `.sync` instruction: a narrow row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberMask {
    /// Mask of each lane.
    pub row: Row,
    /// Mask of all lanes, if it is an immediate.
    pub common: Option<LaneMask>,
    /// True if lanes outside of it take part, as compilers emit no WARPSYNC (see
    /// [`ControlFlow::omits_mask`](crate::kernel::ControlFlow::omits_mask)).
    pub omitted: bool,
}

impl From<Row> for MemberMask {
    fn from(row: Row) -> MemberMask {
        MemberMask { row, common: None, omitted: false }
    }
}

impl Op {
    /// Returns the member mask of a `.sync` instruction.
    pub fn member_mask(&self) -> Option<MemberMask> {
        match self {
            Op::WarpSync { mask } | Op::Gather { mask, .. } => Some(*mask),
            Op::Shuffle(op) => Some(op.mask),
            Op::Vote(op) => Some(op.mask),
            Op::Match(op) => Some(op.mask),
            Op::Redux(op) => Some(op.mask),
            _ => None,
        }
    }

    /// Lets lanes outside of the member mask take part.
    pub(in crate::kernel) fn omit_mask(&mut self) {
        match self {
            Op::WarpSync { mask } => mask.omitted = true,
            Op::Shuffle(op) => op.mask.omitted = true,
            Op::Vote(op) => op.mask.omitted = true,
            Op::Match(op) => op.mask.omitted = true,
            Op::Redux(op) => op.mask.omitted = true,
            _ => {}
        }
    }
}

/// `shfl.sync` modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX names")]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// `shfl.sync.MODE.b32 d|p, a, b, c, mask`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shuffle {
    /// Mode.
    pub mode: ShuffleMode,
    /// Result; `None` for `_`.
    pub d: Option<Row>,
    /// Predicate result: true if the source lane is in range.
    pub p: Option<Predicate>,
    /// Source value.
    pub a: Row,
    /// Lane or offset.
    pub b: Row,
    /// Segment mask (bits 8..13) and clamp (bits 0..5).
    pub c: Row,
    /// Member mask.
    pub mask: MemberMask,
}

/// `vote.sync` modes and their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX names")]
pub enum VoteKind {
    All(Predicate),
    Any(Predicate),
    Uni(Predicate),
    Ballot(Row),
    /// `elect.sync`: the lowest lane, and a predicate that is true in it; no source.
    Elect(Option<Row>, Option<Predicate>),
}

/// `vote.sync`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vote {
    /// Mode and result.
    pub kind: VoteKind,
    /// Source predicate; `None` for `elect`.
    pub p: Option<PredicateUse>,
    /// Member mask.
    pub mask: MemberMask,
}

/// `match.any.sync`/`match.all.sync`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// True for `.all`, false for `.any`.
    pub all: bool,
    /// Type of `a`: b32 or b64.
    pub ty: Type,
    /// Mask of lanes with equal values (narrow).
    pub d: Row,
    /// Predicate result of `.all`: true if all values are equal.
    pub p: Option<Predicate>,
    /// Source value.
    pub a: Row,
    /// Member mask.
    pub mask: MemberMask,
}

/// `redux.sync` functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX names")]
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
    /// Function.
    pub f: ReduxFn,
    /// Type: u32, s32 or b32.
    pub ty: Type,
    /// Result, the same in all lanes.
    pub d: Row,
    /// Source value.
    pub a: Row,
    /// Member mask.
    pub mask: MemberMask,
}
