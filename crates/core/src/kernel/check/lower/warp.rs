//! Lowering of barriers and warp-level instructions.

use super::super::body::Body;
use super::super::operands::{Arg, Args};
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, Sem};
use crate::kernel::{
    Barrier, BarrierKind, BarrierReduce, Match, Op, Predicate, Redux, ReduxFn, Row, Shuffle,
    ShuffleMode, Vote, VoteKind,
};
use crate::ptx::tree::{Instruction, Operand};

/// Number of barriers in a block (PTX ISA, `bar`).
const BARRIERS: i64 = 16;

impl Body<'_> {
    pub(super) fn barrier(
        &mut self,
        inst: &Instruction,
        m: &FormMatch<'_>,
        args: &Args,
    ) -> Option<Op> {
        // `bar.red` has its result first.
        let first = usize::from(m.form.sem == Sem::BarrierRed);
        if let Some(Operand::Int { value, span, .. }) = inst.operands.get(first)
            && !(0..BARRIERS).contains(value)
        {
            let message = format!("barrier number {value} is out of range");
            self.report(
                Diagnostic::error("barrier-number", *span, message)
                    .help("use a number from 0 to 15"),
            );
            return None;
        }
        let kind = match m.form.sem {
            Sem::BarrierArrive => BarrierKind::Arrive,
            Sem::BarrierRed => {
                let f = if m.has("popc") {
                    BarrierReduce::Popc(args.row(0))
                } else if m.has("and") {
                    BarrierReduce::And(args.predicate(0).predicate)
                } else {
                    BarrierReduce::Or(args.predicate(0).predicate)
                };
                BarrierKind::Red { f, p: args.predicate(3) }
            }
            _ => BarrierKind::Sync,
        };
        let aligned = m.form.opcode == "bar" || m.has("aligned");
        Some(Op::Barrier(Barrier {
            kind,
            id: args.row(first),
            count: args.optional_row(first + 1),
            packed: false,
            aligned,
        }))
    }
}

fn value_and_predicate(args: &Args) -> (Option<Row>, Option<Predicate>) {
    match args.args.first() {
        Some(Arg::ValueAndPredicate(d, p)) => (*d, *p),
        other => unreachable!("isa/ptx.ron: result: expected `d|p`, found {other:?}"),
    }
}

pub(super) fn shuffle(m: &FormMatch<'_>, args: &Args) -> Op {
    let mode = m.pick(&[
        ("up", ShuffleMode::Up),
        ("down", ShuffleMode::Down),
        ("bfly", ShuffleMode::Butterfly),
    ]);
    let (d, p) = value_and_predicate(args);
    let mode = mode.unwrap_or(ShuffleMode::Index);
    Op::Shuffle(Shuffle {
        mode,
        d,
        p,
        a: args.row(1),
        b: args.row(2),
        c: args.row(3),
        mask: args.members(4),
    })
}

pub(super) fn vote(m: &FormMatch<'_>, args: &Args) -> Op {
    let kind = if m.form.sem == Sem::Elect {
        let (d, p) = value_and_predicate(args);
        return Op::Vote(Vote { kind: VoteKind::Elect(d, p), p: None, mask: args.members(1) });
    } else if m.has("ballot") {
        VoteKind::Ballot(args.row(0))
    } else {
        let d = args.predicate(0).predicate;
        m.pick(&[("any", VoteKind::Any(d)), ("uni", VoteKind::Uni(d))]).unwrap_or(VoteKind::All(d))
    };
    Op::Vote(Vote { kind, p: Some(args.predicate(1)), mask: args.members(2) })
}

pub(super) fn lanes_equal(m: &FormMatch<'_>, args: &Args) -> Op {
    let all = m.has("all");
    let (d, p) = if all { value_and_predicate(args) } else { (Some(args.row(0)), None) };
    Op::Match(Match {
        all,
        ty: m.ty(),
        d: d.unwrap_or_default(),
        p,
        a: args.row(1),
        mask: args.members(2),
    })
}

pub(super) fn redux(m: &FormMatch<'_>, args: &Args) -> Op {
    let f = m.pick(&[
        ("min", ReduxFn::Min),
        ("max", ReduxFn::Max),
        ("and", ReduxFn::And),
        ("or", ReduxFn::Or),
        ("xor", ReduxFn::Xor),
    ]);
    let f = f.unwrap_or(ReduxFn::Add);
    Op::Redux(Redux { f, ty: m.ty(), d: args.row(0), a: args.row(1), mask: args.members(2) })
}
