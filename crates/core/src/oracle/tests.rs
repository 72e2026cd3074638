//! Small programs of checked instructions, with expected results computed in Rust.

use super::*;
use crate::diag::Span;
use crate::exec::FaultKind;
use crate::isa::{Class, Compare, FloatMode, Isa, Space, Type};
use crate::kernel::*;
use crate::launch::{Buffer, Spare, Variables};

const OUT: u64 = 0x0700_0000_0000;

// The rows of every test program.
const TID: Row = Row(0);
const CTAID: Row = Row(1);
const NTID: Row = Row(2);
const ZERO: Row = Row(3);
const ONE: Row = Row(4);
const FOUR: Row = Row(5);
const FULL: Row = Row(6);
const LIMIT: Row = Row(7);
const X: Row = Row(8);
const Y: Row = Row(9);
const I: Row = Row(10);
// Wide rows.
const BASE: Row = Row(0);
const ADDRESS: Row = Row(1);
const P: PredicateUse = PredicateUse { predicate: Predicate(0), negated: false };
const NOT_P: PredicateUse = PredicateUse { negated: true, ..P };

fn i(op: Op) -> Inst {
    Inst {
        also: None,
        compiled: None,
        op,
        guard: None,
        class: Class::Move,
        form: 0,
        contracts: false,
        reads: vec![],
        writes: vec![],
        span: Span::default(),
        line: 0,
    }
}

fn when(guard: PredicateUse, op: Op) -> Inst {
    Inst { guard: Some(guard), ..i(op) }
}

fn lane(f: LaneFn, ty: Type, d: Row, s: &[Row]) -> Inst {
    let source = |n: usize| s.get(n).copied().unwrap_or_default();
    i(Op::Lane(LaneOp { f, ty, d, s: [source(0), source(1), source(2), source(3)] }))
}

fn add(d: Row, a: Row, b: Row) -> Inst {
    lane(LaneFn::Add { sat: false }, Type::U32, d, &[a, b])
}

fn setp(compare: Compare, a: Row, b: Row) -> Inst {
    let p = Some(P.predicate);
    i(Op::Setp(Setp { compare, ty: Type::U32, ftz: false, p, q: None, a, b, combine: None }))
}

fn jump(target: u32) -> Op {
    Op::Branch { target: Pc(target), uniform: false }
}

fn access(space: Space) -> Access {
    Access {
        space,
        ty: Type::U32,
        count: 1,
        wide: false,
        order: MemoryOrder::Weak,
        scope: Scope::Block,
        bypass_l1: false,
    }
}

fn store(value: Row) -> Inst {
    let address = Address { base: AddressBase::Wide(ADDRESS), offset: 0 };
    i(Op::Store(Store { access: access(Space::Global), s: [value; 4], address }))
}

/// Computes `ADDRESS = OUT + 4 * index`.
fn point_at(index: Row) -> Inst {
    lane(LaneFn::MadWide, Type::U32, ADDRESS, &[index, FOUR, BASE])
}

/// Computes `I = ctaid * ntid + tid`.
fn global_index() -> Inst {
    lane(LaneFn::MadLo, Type::U32, I, &[CTAID, NTID, TID])
}

fn barrier(kind: BarrierKind, id: Row) -> Op {
    Op::Barrier(Barrier { kind, id, count: None, packed: false, aligned: true })
}

fn kernel(limit: u32, insts: Vec<Inst>) -> Kernel {
    Kernel {
        isa: Isa::ptx(),
        name: "test".into(),
        symbol: "test".into(),
        params: Vec::new(),
        param_bytes: 0,
        insts,
        registers: Registers {
            narrow: 11,
            wide: 2,
            predicates: 2,
            narrow_constants: vec![
                (ZERO, 0),
                (ONE, 1),
                (FOUR, 4),
                (FULL, u32::MAX),
                (LIMIT, limit),
            ],
            wide_constants: vec![(BASE, OUT)],
            specials: vec![
                (TID, Special::Tid(0)),
                (CTAID, Special::Ctaid(0)),
                (NTID, Special::Ntid(0)),
            ],
            frame_pointer: None,
            always_false: None,
            names: Vec::new(),
        },
        native: None,
        shared_bytes: 4096,
        local_bytes: 0,
        functions: Vec::new(),
        variables: Default::default(),
        shared_variables: Vec::new(),
        block_limit: None,
        cluster: [1; 3],
        registers_per_thread: 16,
        flow: ControlFlow::default(),
        span: Span::default(),
    }
}

fn launch(blocks: u32, threads: u32, words: usize) -> Launch {
    let buffer = Buffer {
        name: "out".into(),
        address: OUT,
        bytes: 4 * words as u64,
        reach: 4 * words as u64,
        element: Type::U32,
        words: vec![0; words],
        lent: None,
        unset: None,
        mapped: true,
        writable: true,
    };
    Launch {
        kernel: String::new(),
        title: None,
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        params: Vec::new(),
        dynamic_shared: 0,
        stack: None,
        cooperative: false,
        registers: None,
        buffers: vec![buffer],
        variables: Variables::Fresh,
        heap: None,
        spare: Spare::default(),
        expectations: Vec::new(),
        constants: Vec::new(),
    }
}

fn output(kernel: &Kernel, launch: &Launch) -> Vec<u32> {
    run(kernel, launch, 1 << 24).unwrap().buffers.remove(0)
}

#[test]
fn a_ragged_end_is_left_alone() {
    let program = kernel(
        70,
        vec![
            global_index(),
            setp(Compare::Ge, I, LIMIT),
            when(P, Op::Exit),
            point_at(I),
            lane(LaneFn::MulLo, Type::U32, X, &[I, I]),
            store(X),
            i(Op::Exit),
        ],
    );
    let launch = launch(3, 40, 120);
    let expected: Vec<u32> = (0..120).map(|n| if n < 70 { n * n } else { 0 }).collect();
    assert_eq!(output(&program, &launch), expected);
    let settings = Settings { traced: vec![5, 75], ..Settings::default() };
    let outcome = run_with(&program, &launch, &settings).unwrap();
    assert_eq!(outcome.traces, [vec![0, 1, 2, 3, 4, 5, 6], vec![0, 1, 2]]);
    assert_eq!(outcome.steps, 70 * 7 + 50 * 3);
    let narrow = Settings { warp_size: 4, ..settings };
    assert_eq!(run_with(&program, &launch, &narrow).unwrap(), outcome);
}

/// Each thread loops `tid` times, waits for all, and reads its mirror image's value.
#[test]
fn barriers_make_shared_memory_visible() {
    let shared = |row| Address { base: AddressBase::Narrow(row), offset: 0 };
    let program = kernel(
        95,
        vec![
            lane(LaneFn::Mov, Type::U32, I, &[ZERO]),
            setp(Compare::Ge, I, TID), // 1: head
            when(P, jump(6)),
            add(X, X, I),
            add(I, I, ONE),
            i(jump(1)),
            lane(LaneFn::MulLo, Type::U32, Y, &[TID, FOUR]), // 6: done
            i(Op::Store(Store { access: access(Space::Shared), s: [X; 4], address: shared(Y) })),
            i(barrier(BarrierKind::Sync, ZERO)),
            lane(LaneFn::Sub { sat: false }, Type::U32, Y, &[LIMIT, TID]),
            lane(LaneFn::MulLo, Type::U32, Y, &[Y, FOUR]),
            i(Op::Load(Load {
                uniform: false,
                access: access(Space::Shared),
                d: [Some(X), None, None, None],
                address: shared(Y),
            })),
            point_at(TID),
            store(X),
            i(Op::Exit),
        ],
    );
    let expected: Vec<u32> = (0..96).map(|t| (0..95 - t).sum()).collect();
    assert_eq!(output(&program, &launch(1, 96, 96)), expected);
}

/// Lanes arrive at each shuffle after different numbers of instructions; the last warp is partial.
#[test]
fn shuffles_gather_their_warp() {
    let shuffle = Shuffle {
        mode: ShuffleMode::Butterfly,
        d: Some(Y),
        p: None,
        a: X,
        b: I,
        c: Row(7),
        mask: FULL.into(),
    };
    let program = kernel(
        31,
        vec![
            add(X, TID, ONE),
            lane(LaneFn::Mov, Type::U32, I, &[ONE]),
            setp(Compare::Lt, TID, FOUR), // 2: some lanes take a longer path
            when(NOT_P, jump(5)),
            add(Y, X, X),
            i(Op::Shuffle(shuffle)), // 5
            add(X, X, Y),
            add(I, I, I),
            setp(Compare::Lt, I, LIMIT),
            when(P, jump(2)),
            point_at(TID),
            store(X),
            i(Op::Exit),
        ],
    );
    let sum: u32 = (1..=32).sum();
    assert_eq!(output(&program, &launch(1, 32, 32)), [sum; 32]);
    // Lanes 24 to 31 are absent: reading them gives 0. Lanes 8 to 15 miss the sum of 16 to 23.
    let lonely = output(&program, &launch(1, 24, 24));
    let sums: Vec<u32> = (0..24).map(|lane| if lane / 8 == 1 { 136 } else { 300 }).collect();
    assert_eq!(lonely, sums);
}

#[test]
fn barrier_reductions_count_the_block() {
    let red = BarrierKind::Red { f: BarrierReduce::Popc(X), p: P };
    let program = kernel(
        37,
        vec![
            setp(Compare::Lt, TID, LIMIT),
            i(barrier(red, ONE)),
            point_at(TID),
            store(X),
            i(Op::Exit),
        ],
    );
    assert_eq!(output(&program, &launch(1, 64, 64)), [37; 64]);
}

/// Takes a lock, adds to a sum without atomics, and releases the lock.
/// Needs turns: a waiting thread must not run forever.
#[test]
fn a_spin_lock_is_served_by_turns() {
    let at = |offset| Address { base: AddressBase::Wide(BASE), offset };
    let (space, ty, order, address) = (Space::Global, Type::U32, MemoryOrder::Relaxed, at(0));
    let atomic = |f, d, b, c| {
        let (pairs, form, reached) = (false, AtomicForm::Usual, None);
        let scope = Scope::Gpu;
        i(Op::Atomic(Atomic { space, f, ty, order, scope, d, address, b, c, pairs, form, reached }))
    };
    let program = kernel(
        0,
        vec![
            atomic(AtomicFn::Cas, Some(X), ZERO, ONE),
            setp(Compare::Ne, X, ZERO),
            when(P, jump(0)),
            i(Op::Load(Load {
                uniform: false,
                access: access(Space::Global),
                d: [Some(Y), None, None, None],
                address: at(4),
            })),
            add(Y, Y, TID),
            i(Op::Store(Store { access: access(Space::Global), s: [Y; 4], address: at(4) })),
            atomic(AtomicFn::Exch, None, ZERO, ZERO),
            i(Op::Exit),
        ],
    );
    let sum = (0..64).sum();
    assert_eq!(output(&program, &launch(1, 64, 2)), [0, sum]);
}

#[test]
fn what_cannot_finish_says_why() {
    let block = BlockId(1);
    let spin = kernel(0, vec![i(jump(0))]);
    assert_eq!(run(&spin, &launch(1, 1, 1), 1000), Err(OracleError::StepLimit { steps: 1000 }));

    let apart = kernel(
        8,
        vec![
            setp(Compare::Lt, TID, LIMIT),
            when(P, barrier(BarrierKind::Sync, ZERO)),
            when(NOT_P, barrier(BarrierKind::Sync, ONE)),
            i(Op::Exit),
        ],
    );
    let stuck = OracleError::Stuck { block: BlockId(0), thread: 0, pc: Pc(1) };
    assert_eq!(run(&apart, &launch(1, 64, 1), 1000), Err(stuck));

    let wild = kernel(0, vec![global_index(), point_at(I), store(I), i(Op::Exit)]);
    let kind = FaultKind::OutOfBounds { space: Space::Global, address: OUT + 4 * 100, bytes: 4 };
    let fault = Fault { lane: 4, kind };
    let expected = OracleError::Fault { fault, pc: Pc(2), block, thread: 36 };
    assert_eq!(run(&wild, &launch(2, 64, 100), 1 << 20), Err(expected));
}

/// Variables start with their bytes, shared by the whole grid; floats survive the trip.
#[test]
fn variables_are_memory_too() {
    let address = crate::kernel::layout::CONST_BASE;
    let near = FloatMode::default();
    let mut program = kernel(
        0,
        vec![
            i(Op::Load(Load {
                uniform: false,
                access: access(Space::Const),
                d: [Some(X), None, None, None],
                address: Address { base: AddressBase::Zero, offset: address as i64 },
            })),
            lane(LaneFn::FMul(near), Type::F32, X, &[X, X]),
            point_at(TID),
            store(X),
            i(Op::Exit),
        ],
    );
    let bytes = 1.5f32.to_le_bytes().to_vec();
    std::sync::Arc::make_mut(&mut program.variables).push(StaticVariable {
        name: "c".into(),
        space: Space::Const,
        address,
        bytes,
    });
    assert_eq!(output(&program, &launch(1, 2, 2)), [2.25f32.to_bits(); 2]);
}
