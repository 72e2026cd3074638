//! Instructions by which blocks on different SMs see each other.

use crate::code::{Code, MicroOp};
use crate::exec;
use crate::isa::Space;
use crate::kernel::{Op, SurfaceMove};

/// Returns true if running blocks can communicate through memory.
pub(in crate::machine) fn blocks_communicate(code: &Code) -> bool {
    code.kernel().uses_heap() || code.ops().iter().any(|op| communicates(&op.inst.op))
}

/// Returns true if an SM may run ahead of others between steps that are not [private](super::Cost::private).
pub(in crate::machine) fn may_run_ahead(code: &Code) -> bool {
    // Steps without an issue slot run together with others.
    let covered = |op: &MicroOp| op.count > 0 || is_private(&op.inst.op);
    !code.kernel().uses_heap() && code.ops().iter().all(covered)
}

/// Returns true if the instruction can communicate with running blocks.
///
/// It is a global atomic, or a strong access to memory that other blocks see. (All blocks also
/// share one heap.)
fn communicates(op: &Op) -> bool {
    let visible = |space: Space| matches!(space, Space::Global | Space::Generic);
    match op {
        Op::AtomicVector(vector) => visible(vector.first.space),
        Op::Atomic(a) => visible(a.space),
        Op::Surface(surface) => matches!(surface.direction, SurfaceMove::Reduce(..)),
        Op::Load(l) => l.access.strong() && visible(l.access.space),
        Op::Store(s) => s.access.strong() && visible(s.access.space),
        _ => false,
    }
}

/// Returns true if the instruction neither reads nor changes what other SMs see.
pub(super) fn is_private(op: &Op) -> bool {
    let own =
        |space: Space| matches!(space, Space::Shared | Space::Local | Space::Param | Space::Const);
    match op {
        Op::Load(load) => own(load.access.space),
        Op::Store(store) => own(store.access.space),
        Op::Atomic(atomic) => own(atomic.space),
        Op::Branch { .. } | Op::BranchIfAny { .. } | Op::BranchByConvergence { .. } => true,
        Op::Join(_) => true,
        Op::Exit | Op::Barrier(_) | Op::WarpSync { .. } => true,
        Op::Shuffle(_) | Op::Vote(_) | Op::Match(_) | Op::Redux(_) => true,
        op => exec::is_element_wise(op),
    }
}
