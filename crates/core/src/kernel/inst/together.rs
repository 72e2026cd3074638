//! What threads do together: block barriers, shuffles, votes, matches and reductions of a warp.

use super::{Predicate, PredicateUse, Row};
use crate::isa::Type;

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
