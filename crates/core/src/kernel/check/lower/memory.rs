//! Lowering of loads, stores and atomics.

use super::super::operands::{Arg, Args, Value, space, vector_length};
use crate::isa::{FormMatch, Space, Type};
use crate::kernel::{
    Access, Atomic, AtomicFn, AtomicForm, AtomicVector, Load, MemoryOrder, Op, Row, Scope, Store,
};

/// Returns the scope of a mnemonic; the GPU if it names none.
pub(super) fn scope(m: &FormMatch<'_>) -> Scope {
    m.pick(&[("cta", Scope::Block), ("sys", Scope::System)]).unwrap_or(Scope::Gpu)
}

fn access(m: &FormMatch<'_>, wide: bool) -> Access {
    let space = space(m);
    let order = m.pick(&[
        ("volatile", MemoryOrder::Volatile),
        ("relaxed", MemoryOrder::Relaxed),
        ("acquire", MemoryOrder::Acquire),
        ("release", MemoryOrder::Release),
    ]);
    // No other thread sees local memory.
    let order = order.filter(|_| space != Space::Local);
    Access {
        space,
        ty: m.ty(),
        count: vector_length(m),
        wide,
        order: order.unwrap_or(MemoryOrder::Weak),
        scope: scope(m),
        bypass_l1: order.is_some() || m.has("cg") || m.has("cv"),
    }
}

fn parts(args: &Args, i: usize) -> (&[Option<Value>], bool) {
    match args.args.get(i) {
        Some(Arg::Parts(parts, wide)) => (parts, *wide),
        other => unreachable!("isa/ptx.ron: operand {i}: expected vector, found {other:?}"),
    }
}

pub(super) fn load(m: &FormMatch<'_>, args: &Args) -> Op {
    let (parts, wide) = parts(args, 0);
    let mut d = [None; 4];
    d.iter_mut().zip(parts).for_each(|(place, part)| *place = part.map(|value| value.row));
    let address = args.address(1);
    if args.slot {
        return Op::ReadSlot(Load {
            uniform: false,
            access: Access { space: Space::Local, ..access(m, wide) },
            d,
            address,
        });
    }
    Op::Load(Load { uniform: false, access: access(m, wide), d, address })
}

pub(super) fn store(m: &FormMatch<'_>, args: &Args) -> Op {
    let (parts, wide) = parts(args, 1);
    let mut s = [Row(0); 4];
    s.iter_mut().zip(parts.iter().flatten()).for_each(|(place, value)| *place = value.row);
    let address = args.address(0);
    if args.slot {
        return Op::WriteSlot(Store {
            access: Access { space: Space::Local, ..access(m, wide) },
            s,
            address,
        });
    }
    Op::Store(Store { access: access(m, wide), s, address })
}

/// Returns the function of an atomic or a reduction.
pub(super) fn atomic_fn(m: &FormMatch<'_>) -> AtomicFn {
    m.pick(&[
        ("min", AtomicFn::Min),
        ("max", AtomicFn::Max),
        ("and", AtomicFn::And),
        ("or", AtomicFn::Or),
        ("xor", AtomicFn::Xor),
        ("inc", AtomicFn::Inc),
        ("dec", AtomicFn::Dec),
        ("exch", AtomicFn::Exch),
        ("cas", AtomicFn::Cas),
    ])
    .unwrap_or(AtomicFn::Add)
}

pub(super) fn atomic(m: &FormMatch<'_>, args: &Args) -> Op {
    let f = atomic_fn(m);
    let order = m.pick(&[
        ("acquire", MemoryOrder::Acquire),
        ("release", MemoryOrder::Release),
        ("acq_rel", MemoryOrder::AcquireRelease),
    ]);
    // `red` has no result, so its operands have indices one lower.
    let first = usize::from(m.form.opcode == "atom");
    let vector = matches!(args.args.get(first + 1), Some(Arg::Parts(..)));
    let (d, b, others) = if vector {
        let row = |value: &Option<Value>| value.map(|value| value.row);
        let (operands, _) = parts(args, first + 1);
        let mut operands = operands.iter().map(|value| row(value).unwrap_or_default());
        let mut results = (first == 1).then(|| parts(args, 0).0.iter().map(row));
        let mut result = || results.as_mut().and_then(|rows| rows.next()).flatten();
        let (d, b) = (result(), operands.next().unwrap_or_default());
        (d, b, operands.map(|b| (result(), b)).collect())
    } else {
        let d = if first == 1 { args.optional_row(0) } else { None };
        (d, args.row(first + 1), Vec::new())
    };
    let joint = m.has("b128");
    let (c, upper) = match f {
        AtomicFn::Cas if joint => {
            let half = |i: usize| parts(args, first + 2).0[i].map_or(Row(0), |value| value.row);
            (half(0), half(1))
        }
        AtomicFn::Cas => (args.row(first + 2), Row(0)),
        _ => (Row(0), Row(0)),
    };
    let atomic = Atomic {
        space: space(m),
        f,
        ty: if joint { Type::B64 } else { m.ty() },
        order: order.unwrap_or(MemoryOrder::Relaxed),
        scope: scope(m),
        d,
        address: args.address(first),
        b,
        c,
        pairs: false,
        form: AtomicForm::Usual,
        reached: None,
    };
    match vector {
        true => {
            let joint = joint.then_some(upper);
            Op::AtomicVector(Box::new(AtomicVector { first: atomic, others, joint }))
        }
        false => Op::Atomic(atomic),
    }
}
