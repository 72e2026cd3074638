//! Lowering of barrier objects.

use super::super::operands::{Arg, Args, space};
use super::{LaneFn, Op, Row, Type, lane};
use crate::isa::{FormMatch, Space};
use crate::kernel::{ByCopies, MBarrier, MBarrierFn, MemoryOrder, ObjectLayout, StateForm};

/// Lowers `mbarrier` and `cp.async.mbarrier`.
pub(super) fn mbarrier(m: &FormMatch<'_>, args: &Args) -> Op {
    let f = match m.words.iter().flatten().copied().next() {
        Some("init") => MBarrierFn::Init,
        Some("inval") => MBarrierFn::Inval,
        _ if m.form.opcode == "cp" => MBarrierFn::ByCopies(match m.has("noinc") {
            true => ByCopies::Arrive,
            false => ByCopies::ExpectAndComplete,
        }),
        Some(word @ ("arrive" | "arrive_drop")) => {
            MBarrierFn::Arrive { drops: word == "arrive_drop", expects: m.has("expect_tx") }
        }
        Some("expect_tx") => MBarrierFn::ExpectTx,
        Some("complete_tx") => MBarrierFn::CompleteTx,
        _ if m.has("parity") => MBarrierFn::TestParity,
        _ => MBarrierFn::Test,
    };
    // A result comes first.
    let at = args.args.iter().position(|arg| matches!(arg, Arg::Address(_))).unwrap_or(0);
    let d = if at == 1 && !f.tests() { args.optional_row(0) } else { None };
    let p = f.tests().then(|| args.predicate(0).predicate);
    let a = if args.args.len() > at + 1 { args.optional_row(at + 1) } else { None };
    let order = match f {
        _ if m.has("relaxed") => MemoryOrder::Relaxed,
        MBarrierFn::Arrive { .. } | MBarrierFn::ByCopies(_) => MemoryOrder::Release,
        MBarrierFn::Test | MBarrierFn::TestParity => MemoryOrder::Acquire,
        _ => MemoryOrder::Relaxed,
    };
    let space = if space(m) == Space::Generic { Space::Generic } else { Space::Shared };
    Op::MBarrier(Box::new(MBarrier {
        f,
        space,
        order,
        address: args.address(at),
        layout: ObjectLayout::default(),
        d,
        state: StateForm::default(),
        suspends: m.has("try_wait"),
        p,
        a,
    }))
}

/// Lowers `mbarrier.pending_count`: the field of the state, negated.
pub(super) fn pending_count(args: &Args) -> Op {
    lane(LaneFn::PendingCount, Type::B64, args.row(0), &[args.row(1), Row(0)])
}
