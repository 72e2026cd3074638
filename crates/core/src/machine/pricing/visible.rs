//! Instructions by which blocks on different SMs see each other.

use crate::code::{Code, MicroOp};
use crate::exec;
use crate::isa::{Space, Type};
use crate::kernel::{Atomic, AtomicFn, Op, Scope, SurfaceMove};

/// Whether other SMs can see the effect of an instruction. It decides how far an SM may run ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) enum Visibility {
    /// They cannot: they may run before or after it.
    Private,
    /// A load or store of memory of all SMs that no other SM awaits as a rule: a weak one, which
    /// programs order by other accesses, or a strong one of a [kernel without such
    /// order](Sharing::unordered).
    Plain,
    /// An atomic without a result, which commutes with every other one of the kernel.
    Reduction,
    /// Anything else: SMs execute it in the order of cycles.
    Ordered,
}

/// Function and type of the atomics that commute with each other.
type Sum = (AtomicFn, Type);

/// Returns true if running blocks can communicate through memory.
pub(in crate::machine) fn blocks_communicate(code: &Code) -> bool {
    code.kernel().uses_heap() || code.ops().iter().any(|op| communicates(&op.inst.op))
}

/// Returns true if an SM may run ahead of others between steps that are not
/// [private](Visibility::Private).
pub(in crate::machine) fn may_run_ahead(code: &Code) -> bool {
    // Steps without an issue slot run together with others.
    let covered = |op: &MicroOp| op.count > 0 || is_private(&op.inst.op);
    !code.kernel().uses_heap() && code.ops().iter().all(covered)
}

/// Returns true if the SMs' accesses to common memory are all loads, stores and atomics, whose
/// order can be checked.
pub(in crate::machine) fn has_checked_order(code: &Code) -> bool {
    let is_checked = |op: &Op| matches!(op, Op::Load(_) | Op::Store(_) | Op::Atomic(_));
    code.ops().iter().all(|op| is_checked(&op.inst.op) || is_private(&op.inst.op))
}

/// Returns true if the instruction can communicate with running blocks.
///
/// It is a global atomic, or a strong access to memory that other blocks see. (All blocks also
/// share one heap.)
fn communicates(op: &Op) -> bool {
    match op {
        Op::AtomicVector(vector) => is_common(vector.first.space),
        Op::Atomic(a) => is_common(a.space),
        Op::Surface(surface) => matches!(surface.direction, SurfaceMove::Reduce(..)),
        Op::BulkCopy(copy) => copy.reduces.is_some() && is_common(copy.to.space),
        Op::Load(l) => l.access.strong() && is_common(l.access.space),
        Op::Store(s) => s.access.strong() && is_common(s.access.space),
        _ => false,
    }
}

/// Returns true for memory that all blocks see.
fn is_common(space: Space) -> bool {
    matches!(space, Space::Global | Space::Generic)
}

/// Returns true if the instruction neither reads nor changes what other SMs see.
fn is_private(op: &Op) -> bool {
    let own =
        |space: Space| matches!(space, Space::Shared | Space::Local | Space::Param | Space::Const);
    match op {
        Op::Load(load) => own(load.access.space),
        Op::Store(store) => own(store.access.space),
        Op::Atomic(atomic) => own(atomic.space),
        Op::AtomicVector(vector) => own(vector.first.space),
        Op::ReadSlot(_) | Op::WriteSlot(_) | Op::Stack(_) | Op::Spill(_) => true,
        Op::Branch { .. } | Op::BranchTogether { .. } | Op::BranchByConvergence { .. } => true,
        Op::Switch(_) | Op::Call(_) | Op::Jump(_) | Op::Return | Op::Exit | Op::Join(_) => true,
        Op::Barrier(_) | Op::WarpSync { .. } | Op::Gather { .. } | Op::Fence(_) => true,
        Op::EndCollective | Op::Together => true,
        Op::Shuffle(_) | Op::Vote(_) | Op::ActiveMask { .. } | Op::Match(_) | Op::Redux(_) => true,
        Op::Mma(_) | Op::GroupMma(_) | Op::GroupSync(_) | Op::MatrixTranspose { .. } => true,
        Op::Clock { .. } | Op::Sleep { .. } | Op::Hint { .. } => true,
        op => exec::is_element_wise(op),
    }
}

/// How blocks of a kernel can see each other's accesses.
#[derive(Clone, Copy)]
pub(super) struct Sharing {
    /// Function and type of its reductions, if they all have the same.
    sum: Option<Sum>,
    /// True if nothing orders accesses of different blocks: no fence beyond a block, no acquire or
    /// release, and no atomics but reductions. Volatile accesses are then mostly to a block's own
    /// data, as in the reductions of old samples, whose last warp has no barriers.
    unordered: bool,
    /// True if its reductions, too, are [ordered](Visibility::Ordered), as L2 serves all atomics of
    /// SMs whose accesses have an order.
    pub orders_atomics: bool,
}

impl Sharing {
    /// Finds how blocks of `code` share memory, on a machine where atomics queue in L2 if `queues`.
    pub(super) fn of(code: &Code, queues: bool) -> Sharing {
        let sum = reductions(code);
        let orders = |op: &MicroOp| match &op.inst.op {
            f if is_wide_fence(f) => true,
            f if is_private(f) => false,
            Op::Load(load) => load.access.order.acquires(),
            Op::Store(store) => store.access.order.releases(),
            Op::Atomic(atomic) => {
                let order = atomic.order;
                order.acquires() || order.releases() || !reduces(atomic, op, sum, code)
            }
            _ => true,
        };
        let unordered = !code.ops().iter().any(orders);
        Sharing { sum, unordered, orders_atomics: queues && !unordered }
    }

    /// Returns the visibility of an instruction.
    pub(super) fn visibility(self, op: &MicroOp, code: &Code) -> Visibility {
        match &op.inst.op {
            f if is_private(f) => Visibility::Private,
            Op::Load(load) if self.unordered || !load.access.strong() => Visibility::Plain,
            Op::Store(store) if self.unordered || !store.access.strong() => Visibility::Plain,
            Op::Atomic(atomic) if !self.orders_atomics && reduces(atomic, op, self.sum, code) => {
                Visibility::Reduction
            }
            _ => Visibility::Ordered,
        }
    }
}

/// Returns true for a fence beyond the block.
pub(super) fn is_wide_fence(op: &Op) -> bool {
    matches!(op, Op::Fence(scope) if *scope != Scope::Block)
}

/// Returns function and type of a kernel's reductions, if they all have the same.
fn reductions(code: &Code) -> Option<Sum> {
    let mut sums = code.ops().iter().filter_map(|op| match &op.inst.op {
        Op::Atomic(atomic) if is_common(atomic.space) => sum_of(atomic, op, code),
        _ => None,
    });
    let first = sums.next();
    first.filter(|_| sums.all(|sum| Some(sum) == first))
}

/// Returns true if an atomic is one of a kernel's reductions.
fn reduces(atomic: &Atomic, op: &MicroOp, reductions: Option<Sum>, code: &Code) -> bool {
    reductions.is_some() && reductions == sum_of(atomic, op, code)
}

/// Returns function and type of an atomic whose result no instruction reads, if two of it commute.
fn sum_of(atomic: &Atomic, op: &MicroOp, code: &Code) -> Option<Sum> {
    use AtomicFn::{Add, And, Max, Min, Or, Xor};
    let commutes = matches!(atomic.f, Add | And | Max | Min | Or | Xor) && !atomic.ty.is_float();
    let reads = |of: &MicroOp| op.inst.writes.iter().any(|r| of.inst.reads.contains(r));
    (commutes && !code.ops().iter().any(reads)).then_some((atomic.f, atomic.ty))
}
