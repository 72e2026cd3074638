//! Probabilities of the generator. Strategies are boxed, because their nested value trees would
//! exceed a test's stack. Trees shrink to smaller trees, so a failure shows the smallest program
//! that proptest found.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

use super::program::*;

/// Draws any program.
pub(crate) fn program() -> impl Strategy<Value = Program> {
    // Partial warps, single threads and full warps; at most 96 threads.
    let block = prop_oneof![
        3 => (1u32..=96).prop_map(|x| [x, 1]),
        2 => select(vec![[32, 1], [64, 1], [33, 1], [8, 4], [1, 1]]),
        1 => (1u32..=12, 1u32..=8).prop_map(|(x, y)| [x, y]),
    ];
    let grid = prop_oneof![3 => (1u32..=3).prop_map(|x| [x, 1]), 1 => Just([2, 2])];
    let parts = (grid, block, any::<u16>(), functions(), vec(phase(), 1..4));
    parts.prop_map(|(grid, block, seed, functions, phases)| Program {
        grid,
        block,
        seed: seed.into(),
        functions,
        phases,
    })
}

/// Draws any program, with phases in which parts of a warp synchronize. A separate strategy, so
/// that programs recorded from a GPU stay the same.
pub(crate) fn program_in_parts() -> impl Strategy<Value = Program> {
    let part = (any::<prop::sample::Index>(), phase_in_parts());
    (program(), vec(part, 1..4)).prop_map(|(mut program, parts)| {
        for (at, part) in parts {
            let at = at.index(program.phases.len() + 1);
            program.phases.insert(at, part);
        }
        program
    })
}

/// Draws a small program with phases of asynchronous copies and barrier objects, for the same
/// reason by a strategy of its own.
pub(crate) fn program_with_copies() -> impl Strategy<Value = Program> {
    let block = prop_oneof![
        2 => (1u32..=96).prop_map(|x| [x, 1]),
        1 => select(vec![[32, 1], [64, 1], [33, 1], [8, 4], [1, 1]]),
    ];
    let grid = (1u32..=2).prop_map(|x| [x, 1]);
    let part = (any::<prop::sample::Index>(), super::asynchronous::phase());
    let parts = (grid, block, any::<u16>(), vec(single_phase(2), 0..3), vec(part, 1..4));
    parts.prop_map(|(grid, block, seed, mut phases, parts)| {
        for (at, part) in parts {
            phases.insert(at.index(phases.len() + 1), part);
        }
        let functions = Functions { registers: false, bodies: Vec::new() };
        Program { grid, block, seed: seed.into(), functions, phases }
    })
}

fn phase_in_parts() -> BoxedStrategy<Phase> {
    let register = 0..REGISTERS;
    let reductions = vec!["add.u32", "min.s32", "max.u32", "and.b32", "xor.b32"];
    let how = prop_oneof![
        3 => select(reductions).prop_map(Partial::Reduce),
        1 => Just(Partial::Ballot),
        1 => Just(Partial::Match),
        1 => Just(Partial::Broadcast),
        1 => Just(Partial::WarpSync),
    ];
    let single = prop_oneof![
        3 => (any::<bool>(), 1u32..7, how, register.clone(), register.clone())
            .prop_map(|(spins, by, how, value, into)| Phase::Partition { spins, by, how, value, into }),
        2 => (any::<bool>(), register.clone(), register)
            .prop_map(|(spins, value, into)| Phase::Handover { spins, value, into }),
    ]
    .boxed();
    let repeated = (2u32..4, vec(prop_oneof![2 => single.clone(), 1 => single_phase(1)], 1..4));
    prop_oneof![
        4 => single,
        1 => repeated.prop_map(|(rounds, phases)| Phase::Repeat { rounds, phases }),
    ]
    .boxed()
}

/// Draws functions. They are small: at most one level below their own, because calls of calls in
/// nested loops would take too long.
fn functions() -> impl Strategy<Value = Functions> {
    let bodies = prop_oneof![1 => Just(Vec::new()), 3 => vec(list(1, 1), 1..4)];
    (any::<bool>(), bodies).prop_map(|(registers, bodies)| Functions { registers, bodies })
}

fn call() -> impl Strategy<Value = Statement> {
    let callee = prop_oneof![
        (0u8..3).prop_map(Callee::Direct),
        (source(), any::<bool>()).prop_map(|(which, listed)| Callee::Indirect { which, listed }),
    ];
    let arguments = (source(), source()).prop_map(|(a, b)| [a, b]);
    (weighted(0.25, condition()), callee, arguments, source(), 0..REGISTERS).prop_map(
        |(guard, callee, arguments, depth, to)| Statement::Call {
            guard,
            callee,
            arguments,
            depth,
            to,
        },
    )
}

fn phase() -> BoxedStrategy<Phase> {
    let repeated = (2u32..4, vec(single_phase(2), 1..4));
    prop_oneof![
        12 => single_phase(4),
        1 => repeated.prop_map(|(rounds, phases)| Phase::Repeat { rounds, phases }),
    ]
    .boxed()
}

pub(super) fn single_phase(depth: u32) -> BoxedStrategy<Phase> {
    let register = 0..REGISTERS;
    prop_oneof![
        8 => list(depth, 1).prop_map(Phase::Work),
        2 => (register.clone(), select(vec![1u32, 2, 5, 16, 32, 63]), register.clone())
            .prop_map(|(value, partner, into)| Phase::Exchange { value, partner, into }),
        1 => (tally(), register.clone()).prop_map(|(tally, into)| Phase::Tally { tally, into }),
        3 => (collective(), register.clone(), register)
            .prop_map(|(how, value, into)| Phase::Together { how, value, into }),
    ]
    .boxed()
}

fn tally() -> impl Strategy<Value = u8> + Clone {
    0..TALLIES.len() as u8
}

fn collective() -> BoxedStrategy<Collective> {
    let reductions = vec!["add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"];
    let shuffles = vec![Shuffle::Up, Shuffle::Down, Shuffle::Butterfly, Shuffle::Index];
    prop_oneof![
        1 => Just(Collective::Ballot),
        1 => select(vec!["any", "all", "uni"]).prop_map(Collective::Vote),
        1 => select(reductions).prop_map(Collective::Reduce),
        1 => select(vec![Collective::MatchAny, Collective::MatchAll]),
        2 => (select(shuffles), 0u32..32, 0u32..6)
            .prop_map(|(how, by, width)| Collective::Shuffle { how, by, width }),
        1 => Just(Collective::Count),
    ]
    .boxed()
}

/// Draws a statement list with at most `depth` levels below it.
pub(super) fn list(depth: u32, least: usize) -> BoxedStrategy<Vec<Statement>> {
    vec(statement(depth), least..4).boxed()
}

fn statement(depth: u32) -> BoxedStrategy<Statement> {
    let simple = prop_oneof![
        8 => (weighted(0.25, condition()), 0..REGISTERS, value())
            .prop_map(|(guard, to, value)| Statement::Assign { guard, to, value }),
        2 => (weighted(0.25, condition()), memory(), 0..SLOTS, source())
            .prop_map(|(guard, memory, slot, value)| Statement::Store { guard, memory, slot, value }),
        1 => (weighted(0.25, condition()), any::<bool>(), tally(), source())
            .prop_map(|(guard, global, tally, value)| Statement::Tally { guard, global, tally, value }),
        2 => call(),
        2 => leave(depth),
    ];
    if depth == 0 {
        return simple.boxed();
    }
    let inner = list(depth - 1, 0);
    let looped = (trips(), any::<bool>(), list(depth - 1, 1));
    let cases = vec((inner.clone(), weighted_bool(0.25)), 1..4);
    prop_oneof![
        4 => simple,
        3 => (condition(), inner.clone(), inner.clone(), any::<bool>())
            .prop_map(|(when, then, other, swapped)| Statement::If { when, then, other, swapped }),
        2 => looped.prop_map(|(trips, bottom, body)| Statement::Loop { trips, bottom, body }),
        1 => (source(), cases, inner).prop_map(|(on, cases, default)| Statement::Switch { on, cases, default }),
    ]
    .boxed()
}

/// Draws an early exit. Thread exits are rarer than breaks, because they stop most of a program; at
/// top level they are conditional.
fn leave(depth: u32) -> BoxedStrategy<Statement> {
    let how = prop_oneof![
        3 => Just(Leave::Break),
        2 => Just(Leave::Continue),
        1 => Just(Leave::Return),
        1 => Just(Leave::Exit),
    ];
    let when = condition().prop_map(Some);
    let when =
        if depth == 4 { when.boxed() } else { prop_oneof![3 => when, 1 => Just(None)].boxed() };
    (how, when).prop_map(|(how, when)| Statement::Leave { how, when }).boxed()
}

fn weighted_bool(chance: f64) -> impl Strategy<Value = bool> + Clone {
    proptest::bool::weighted(chance)
}

fn trips() -> impl Strategy<Value = Trips> {
    prop_oneof![
        1 => (0u32..4).prop_map(Trips::Constant),
        3 => (source(), 1u32..3, 0u32..2).prop_map(|(source, bits, more)| Trips::Of { source, bits, more }),
    ]
}

pub(super) fn source() -> BoxedStrategy<Source> {
    prop_oneof![
        4 => (0..REGISTERS).prop_map(Source::Register),
        2 => Just(Source::Thread),
        1 => Just(Source::Lane),
        1 => Just(Source::Block),
        2 => (0u8..2).prop_map(Source::Counter),
        1 => prop_oneof![0u32..40, any::<u32>()].prop_map(Source::Constant),
    ]
    .boxed()
}

pub(super) fn condition() -> BoxedStrategy<Condition> {
    let also = (select(vec!["and", "or", "xor"]), test());
    (test(), weighted(0.2, also), any::<bool>())
        .prop_map(|(test, also, negated)| Condition { test, also, negated })
        .boxed()
}

fn test() -> impl Strategy<Value = Test> + Clone {
    (source(), 0u32..6, select(vec!["eq", "ne", "lt", "le", "gt", "ge"]), 0u32..32)
        .prop_map(|(source, bits, compare, constant)| Test { source, bits, compare, constant })
}

fn memory() -> impl Strategy<Value = Memory> + Clone {
    prop_oneof![3 => Just(Memory::Global), 1 => Just(Memory::Local), 1 => Just(Memory::Shared)]
}

fn value() -> BoxedStrategy<Value> {
    let binary = vec![
        "add.u32",
        "sub.u32",
        "mul.lo.u32",
        "mul.hi.u32",
        "xor.b32",
        "and.b32",
        "or.b32",
        "shl.b32",
        "shr.u32",
        "shr.s32",
        "min.u32",
        "max.u32",
        "min.s32",
        "max.s32",
    ];
    let unary = vec!["not.b32", "neg.s32", "abs.s32", "popc.b32", "clz.b32", "brev.b32", "mov.b32"];
    let wide = vec!["add.u64", "sub.u64", "mul.lo.u64", "xor.b64", "min.u64"];
    prop_oneof![
        6 => (select(binary), source(), source()).prop_map(|(op, a, b)| Value::Binary(op, a, b)),
        1 => (select(unary), source()).prop_map(|(op, a)| Value::Unary(op, a)),
        1 => (select(vec!["rem.u32", "div.u32", "rem.s32", "div.s32"]), source(), 1u32..20)
            .prop_map(|(op, a, by)| Value::Divide(op, a, by)),
        1 => (source(), source(), source()).prop_map(|(a, b, c)| Value::MulAdd(a, b, c)),
        1 => (condition(), source(), source()).prop_map(|(when, a, b)| Value::Select(when, a, b)),
        1 => (select(wide), source(), source(), 0u32..1000, 0u32..40)
            .prop_map(|(op, a, b, constant, shift)| Value::Wide { op, a, b, constant, shift }),
        2 => source().prop_map(Value::Input),
        2 => (memory(), 0..SLOTS).prop_map(|(memory, slot)| Value::Slot(memory, slot)),
    ]
    .boxed()
}
