//! Small programs with known answers. They are written in a shorthand, one instruction a line: `label:`, `work`,
//! `bra L`, `@t bra L` (guard from `%tid`), `@u bra L` (guard from `%ntid`), `ret`, `@t ret`, `bar`, and `op d a b` forms below.

use super::*;
use crate::base::Pc;
use crate::diag::Span;
use crate::isa::{Class, Compare, Space, Type};
use crate::kernel::*;

/// Rows: 0 `%tid.x`, 1 `%ntid.x`, 2.. the author's. Predicates: 0 from `%tid`, 1 from `%ntid`, 2.. the author's.
fn registers() -> Registers {
    let specials = vec![(Row(0), Special::Tid(0)), (Row(1), Special::Ntid(0))];
    Registers { narrow: 16, wide: 4, predicates: 8, specials, ..Registers::default() }
}

fn row(word: &str) -> Row {
    Row(word[1..].parse().unwrap())
}

fn predicate(word: &str) -> Predicate {
    match word {
        "t" => Predicate(0),
        "u" => Predicate(1),
        _ => Predicate(word[1..].parse().unwrap()),
    }
}

fn address(base: &str) -> Address {
    Address { base: AddressBase::Narrow(row(base)), offset: 0 }
}

fn load(space: Space, strong: bool, d: &str, base: &str) -> Op {
    let order = if strong { MemoryOrder::Volatile } else { MemoryOrder::Weak };
    let access = Access { space, ty: Type::U32, count: 1, wide: false, order, scope: Scope::Block, bypass_l1: strong };
    Op::Load(Load { access, d: [Some(row(d)), None, None, None], address: address(base) })
}

fn assemble(text: &str) -> Vec<Inst> {
    let text = format!("setp t r0 r0\nsetp u r1 r1\n{text}");
    let (mut insts, mut labels) = (Vec::new(), Vec::new());
    for (line, words) in text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>()).enumerate() {
        let mut words = &words[..];
        if let [label, rest @ ..] = words
            && label.ends_with(':')
        {
            labels.push((label.trim_end_matches(':').to_string(), insts.len()));
            words = rest;
        }
        let mut guard = None;
        if let [first, rest @ ..] = words
            && first.starts_with('@')
        {
            guard = Some(PredicateUse { predicate: predicate(&first[1..]), negated: false });
            words = rest;
        }
        let lane = |f, d, s| Op::Lane(LaneOp { f, ty: Type::U32, d, s });
        let uniform = matches!(words, ["bra.uni", _]);
        let op = match words {
            [] => continue,
            ["work"] => Op::Fence(Scope::Block),
            ["ret"] => Op::Exit,
            ["trap"] => Op::Trap,
            // The target is the number of its name until all labels are known.
            ["bra" | "bra.uni", _] => Op::Branch { target: Pc(line as u32), uniform },
            ["bar"] => Op::Barrier(Barrier { kind: BarrierKind::Sync, id: Row(15), count: None, aligned: true }),
            ["add", d, a, b] => lane(LaneFn::Add { sat: false }, row(d), [row(a), row(b), Row(0), Row(0)]),
            ["mov", d, a] => lane(LaneFn::Mov, row(d), [row(a), Row(0), Row(0), Row(0)]),
            ["setp", p, a, b] => Op::Setp(Setp {
                compare: Compare::Lt,
                ty: Type::U32,
                ftz: false,
                p: Some(predicate(p)),
                q: None,
                a: row(a),
                b: row(b),
                combine: None,
            }),
            ["load", d, base] => load(Space::Global, false, d, base),
            ["param", d, base] => load(Space::Param, false, d, base),
            ["local", d, base] => load(Space::Local, false, d, base),
            ["volatile", d, base] => load(Space::Global, true, d, base),
            ["atom", d, base] => Op::Atomic(Atomic {
                space: Space::Global,
                f: AtomicFn::Add,
                ty: Type::U32,
                order: MemoryOrder::Relaxed,
                scope: Scope::Wider,
                d: Some(row(d)),
                address: address(base),
                b: Row(1),
                c: Row(1),
            }),
            ["ballot", d, p] => {
                let p = PredicateUse { predicate: predicate(p), negated: false };
                Op::Vote(Vote { kind: VoteKind::Ballot(row(d)), p: Some(p), mask: Row(14) })
            }
            other => panic!("what is {other:?}?"),
        };
        let mut reads = guard.map(|g| Register::Predicate(g.predicate)).into_iter().collect();
        let mut writes = Vec::new();
        match words {
            ["bra" | "bra.uni", _] => {}
            ["setp", p, a, b] => {
                writes.push(Register::Predicate(predicate(p)));
                reads_rows(&mut reads, &[a, b]);
            }
            ["ballot", d, p] => {
                writes.push(Register::Narrow(row(d)));
                reads.push(Register::Predicate(predicate(p)));
            }
            [_, d, sources @ ..] => {
                writes.push(Register::Narrow(row(d)));
                reads_rows(&mut reads, sources);
            }
            _ => {}
        }
        let span = Span::new(line * 10, line * 10 + 5);
        insts.push(Inst { op, guard, class: Class::Move, form: 0, reads, writes, span, line: line as u32 + 1 });
    }
    for inst in &mut insts {
        if let Op::Branch { target, .. } = &mut inst.op {
            let name = text.lines().nth(target.index()).and_then(|l| l.split_whitespace().last()).unwrap();
            *target = Pc(labels.iter().find(|(label, _)| label == name).unwrap().1 as u32);
        }
    }
    insts
}

/// Special registers (rows 0 and 1) are not listed as read.
fn reads_rows(reads: &mut Vec<Register>, words: &[&str]) {
    reads.extend(words.iter().map(|w| row(w)).filter(|r| r.0 > 1).map(Register::Narrow));
}

fn kernel(text: &str) -> Kernel {
    let insts = assemble(text);
    let flow = ControlFlow::build(&insts, &[], &registers());
    Kernel {
        predicated: Vec::new(),
        name: "k".to_string(),
        params: Vec::new(),
        param_bytes: 0,
        insts,
        functions: Vec::new(),
        registers: registers(),
        shared_bytes: 0,
        local_bytes: 0,
        variables: Default::default(),
        shared_variables: Vec::new(),
        block_limit: None,
        registers_per_thread: 0,
        flow,
        span: Span::new(0, 1),
    }
}

/// The line (in the text given, from 0) at which the branch on line `line` reconverges.
fn joins(text: &str) -> Vec<(u32, Option<u32>)> {
    let k = kernel(text);
    let line = |inst: u32| k.insts[inst as usize].line - 3;
    let block_line = |b: BasicBlockId| line(k.flow.blocks()[b.index()].first);
    k.flow.branches().iter().map(|b| (line(b.inst), b.reconverge.map(block_line))).collect()
}

#[test]
fn meeting_places() {
    type Meetings = &'static [(u32, Option<u32>)];
    let cases: [(&str, &str, Meetings); 9] = [
        ("if else, then a bare ret", "@t bra L\nwork\nbra M\nL: work\nM: ret", &[(0, Some(4))]),
        ("a guard around the whole kernel", "@t bra M\nwork\nM: ret", &[(0, Some(2))]),
        ("return inside a nested if", "@t bra Y\n@t bra X\nret\nX: work\nY: work\nret", &[(0, Some(4)), (1, Some(3))]),
        ("the same with one shared ret", "@t bra Y\n@t bra E\nwork\nY: work\nE: ret", &[(0, Some(3)), (1, Some(2))]),
        ("guarded ret does not fork", "@t bra Y\n@t ret\nwork\nY: work\nret", &[(0, Some(3))]),
        ("both arms return", "@t bra L\nwork\nret\nL: work\nret", &[(0, Some(3))]),
        ("loop", "H: @t bra E\nwork\nbra H\nE: work\nret", &[(0, Some(3))]),
        (
            "return inside two loops",
            "H: @t bra E\nI: @t bra J\n@t bra E\nwork\nbra I\nJ: work\nbra H\nE: ret",
            &[(0, Some(7)), (1, Some(5)), (2, Some(3))],
        ),
        ("an endless loop with an if", "H: @t bra L\nwork\nL: work\nbra H", &[(0, Some(2))]),
    ];
    for (what, text, expected) in cases {
        assert_eq!(joins(text), expected, "{what}");
    }
}

#[test]
fn an_endless_arm_is_no_meeting_place() {
    assert_eq!(joins("@t bra L\nM: work\nbra M\nL: work\nN: work\nbra N").len(), 1);
    let k = kernel("@t bra L\nM: work\nbra M\nL: work\nN: work\nbra N");
    assert!(!k.flow.branches()[0].meets);
}

#[test]
fn loops_and_dominators() {
    let k = kernel("H: work\nI: @t bra J\nwork\nbra I\nJ: @t bra H\nret");
    let loops: Vec<(u32, usize, u32)> = k.flow.loops().iter().map(|l| (l.header.0, l.body.len(), l.depth)).collect();
    // Blocks: 0 prologue, 1 H, 2 I, 3 the inner body, 4 J, 5 ret.
    assert_eq!(loops, [(1, 4, 1), (2, 2, 2)]);
    let idom = |b| k.flow.immediate_dominator(BasicBlockId(b)).map(|d| d.0);
    assert_eq!((0..6).map(idom).collect::<Vec<_>>(), [None, Some(0), Some(1), Some(2), Some(2), Some(4)]);
    assert_eq!((0..6).map(|b| k.flow.loop_depth(BasicBlockId(b))).collect::<Vec<_>>(), [0, 1, 2, 2, 1, 0]);
}

#[test]
fn what_depends_on_the_lane() {
    // Each program ends in a branch on p2; the question is whether that one may diverge.
    let cases = [
        ("block size", "setp p2 r1 r1", false),
        ("thread number", "setp p2 r1 r0", true),
        ("through a sum", "add r3 r0 r1\nsetp p2 r3 r1", true),
        ("overwritten", "add r3 r0 r1\nmov r3 r1\nsetp p2 r3 r1", false),
        ("a guarded overwrite keeps the old", "mov r3 r0\n@u mov r3 r1\nsetp p2 r3 r1", true),
        ("a guard that differs", "mov r3 r1\n@t add r3 r1 r1\nsetp p2 r3 r1", true),
        ("a parameter", "param r3 r1\nsetp p2 r3 r1", false),
        ("one address for all", "load r3 r1\nsetp p2 r3 r1", false),
        ("an address each", "load r3 r0\nsetp p2 r3 r1", true),
        ("volatile", "volatile r3 r1\nsetp p2 r3 r1", true),
        ("local memory", "local r3 r1\nsetp p2 r3 r1", true),
        ("an atomic", "atom r3 r1\nsetp p2 r3 r1", true),
        ("a ballot of all", "ballot r3 t\nsetp p2 r3 r1", false),
        ("a ballot in one arm", "@t bra A\nballot r3 t\nA: setp p2 r3 r1", true),
        ("written in one arm of a divergent branch", "mov r3 r1\n@t bra A\nadd r3 r1 r1\nA: setp p2 r3 r1", true),
        ("written in one arm of a uniform branch", "mov r3 r1\n@u bra A\nadd r3 r1 r1\nA: setp p2 r3 r1", false),
        ("written before lanes return", "mov r3 r1\n@t bra A\nadd r3 r1 r1\nret\nA: setp p2 r3 r1", false),
        ("counted in a loop left at different times", "A: add r3 r3 r1\n@t bra A\nsetp p2 r3 r1", true),
        ("counted in a loop left together", "A: add r3 r3 r1\n@u bra A\nsetp p2 r3 r1", false),
    ];
    for (what, text, diverges) in cases {
        let k = kernel(&format!("{text}\n@p2 bra Z\nwork\nZ: work\nret"));
        let last = k.flow.branches().last().unwrap();
        assert_eq!(last.may_diverge, diverges, "{what}");
    }
    let k = kernel("@t bra.uni Z\nwork\nZ: work\nret");
    assert!(!k.flow.branches()[0].may_diverge, "the author promised");
}

/// The join operations of the barrier stream, as `op line`, along the way a converged warp takes when every branch
/// falls through.
fn straight(text: &str, yields: bool) -> String {
    let k = kernel(text);
    let stream = if yields { k.stream(Convergence::Barriers) } else { k.stream_without_yield(Convergence::Barriers) };
    let mut out = Vec::new();
    let mut pc = stream.entry;
    for _ in 0..100 {
        let step = &stream.steps[pc.index()];
        out.push(match step.inst.op {
            Op::Join(op) => format!("{op:?}"),
            Op::Branch { .. } if step.inst.guard.is_some() => "fork".to_string(),
            Op::Exit => "exit".to_string(),
            _ => "work".to_string(),
        });
        pc = match step.inst.op {
            Op::Exit => break,
            Op::Branch { target, .. } if step.inst.guard.is_none() => target,
            _ => step.next,
        };
    }
    out[2..].join(" ").replace("(B", "(")
}

#[test]
fn where_join_steps_stand() {
    let cases = [
        ("if", "@t bra A\nwork\nA: work\nret", "Set(0) fork work Sync(0) work exit"),
        ("a uniform if needs none", "@u bra A\nwork\nA: work\nret", "fork work work exit"),
        (
            "nested",
            "@t bra A\n@t bra B\nwork\nB: work\nA: work\nret",
            "Set(0) fork Set(1) fork work Sync(1) work Sync(0) work exit",
        ),
        (
            "the same end needs one barrier",
            "@t bra A\n@t bra A\nwork\nA: work\nret",
            "Set(0) fork fork work Sync(0) work exit",
        ),
        (
            "one after another use one register",
            "@t bra A\nwork\nA: @t bra B\nwork\nB: work\nret",
            "Set(0) fork work Sync(0) Set(0) fork work Sync(0) work exit",
        ),
        ("a loop is set outside", "A: work\n@t bra A\nwork\nret", "Set(0) work fork Sync(0) work exit"),
        (
            "a spinning loop yields inside",
            "A: atom r3 r1\nsetp p2 r3 r1\n@p2 bra A\nwork\nret",
            "Set(0) Yield work work fork Sync(0) work exit",
        ),
        (
            "a counting loop with an atomic does not",
            "A: atom r3 r1\n@t bra A\nwork\nret",
            "Set(0) work fork Sync(0) work exit",
        ),
        (
            "two ways to one end, neither around the other, meet where they part",
            "@u bra B\n@t bra J\nB: @t bra J\nwork\nJ: work\nret",
            "Set(0) fork fork fork work Sync(0) work exit",
        ),
        (
            "who does not break meets before the end of the loop",
            "A: work\n@t bra B\n@t bra Z\nwork\nB: work\n@t bra A\nZ: work\nret",
            "Set(0) work Set(1) fork fork work Sync(1) work fork Sync(0) work exit",
        ),
        (
            "so does who comes from a case to the next, if others have a third",
            "@t bra A\n@t bra B\nbra D\nA: work\nB: work\nbra E\nD: work\nE: work\nret",
            "Set(0) Set(1) fork fork Break(1) work work Sync(0) work exit",
        ),
        (
            "of two merges, one in the other, the inner has none if who turns away from it may come to the outer",
            "@t bra A\n@t bra B\n@t bra C\nbra D\nA: work\nB: work\nC: work\nbra E\nD: work\nE: work\nret",
            "Set(0) Set(1) fork fork fork Break(1) work work Sync(0) work exit",
        ),
        (
            "unless nobody turns away from the outer, which is then a join set early",
            "@u bra J\nwork\n@t bra A\nwork\nbra M\nA: @t bra J\nM: work\nJ: work\nret",
            "Set(0) fork work Set(1) fork work work Sync(1) work Sync(0) work exit",
        ),
        ("early return needs none", "@t bra A\nwork\nret\nA: work\nret", "fork work exit"),
    ];
    for (what, text, expected) in cases {
        assert_eq!(straight(text, true), expected, "{what}");
        let without: Vec<&str> = expected.split(' ').filter(|w| *w != "Yield").collect();
        assert_eq!(straight(text, false), without.join(" "), "{what}");
    }
}

#[test]
fn a_stack_stream_is_the_program_itself() {
    let k = kernel("@t bra A\nwork\nA: work\nret");
    let stream = k.stream(Convergence::Stack);
    assert_eq!(stream.steps.len(), k.insts.len());
    assert_eq!(stream.steps[2].reconverge, Some(Pc(4)));
    for (i, step) in stream.steps.iter().enumerate() {
        assert_eq!((&step.inst, step.source), (&k.insts[i], Some(i as u32)));
    }
}

#[test]
fn register_pressure_counts_what_is_live_together() {
    let cases = [
        ("work\nret", 0),
        ("mov r2 r1\nret", 1),
        ("mov r2 r1\nmov r3 r1\nadd r4 r2 r3\nadd r5 r4 r4\nret", 2),
        ("mov r2 r1\nmov r3 r1\nmov r4 r1\nadd r5 r2 r3\nadd r5 r5 r4\nret", 3),
        ("mov r2 r1\nA: mov r3 r1\nadd r4 r3 r3\n@t bra A\nadd r3 r2 r2\nret", 2),
        ("mov r2 r1\n@t mov r2 r0\nmov r3 r1\nadd r4 r2 r3\nret", 2),
    ];
    for (text, expected) in cases {
        assert_eq!(register_pressure(&assemble(text), &registers()), expected, "{text}");
    }
}

#[test]
fn findings() {
    let cases: [(&str, &[&str]); 8] = [
        ("work\nret", &[]),
        ("A: work\nbra A", &["no-exit"]),
        ("work\nret\nwork\nwork\nret", &["unreachable-code"]),
        ("work\nret\nret", &[]),
        ("@t bra A\nbar\nA: work\nret", &["divergent-barrier"]),
        ("@t bar\nwork\nret", &["divergent-barrier"]),
        ("@t bra A\nwork\nA: bar\nret", &[]),
        ("@t ret\n@t bra A\nret\nA: bar\n@u bra B\nbar\nB: work\nret", &[]),
    ];
    for (text, expected) in cases {
        let codes: Vec<&str> = warnings(&kernel(text)).iter().map(|d| d.code).collect();
        assert_eq!(codes, expected, "{text}");
    }
    let found = warnings(&kernel("@t bra A\nbar\nA: work\nret"));
    assert_eq!(found[0].labels[1].span, Span::new(20, 25), "the branch is named as the cause");
}
