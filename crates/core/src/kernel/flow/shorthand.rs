//! Kernels for tests in a shorthand, one instruction per line.
//!
//! Forms: `label:`, `work`, `bra L`, `@t bra L` (guard from `%tid`), `@u bra L` (guard from
//! `%ntid`), `ret`, `@t ret`, `bar`, and the `op d a b` forms below.

use super::ControlFlow;
use crate::base::Pc;
use crate::diag::Span;
use crate::isa::{Class, Compare, Isa, Space, Type};
use crate::kernel::*;

/// Returns the registers of the shorthand.
///
/// Rows: 0 `%tid.x`, 1 `%ntid.x`, 2.. free. Predicates: 0 from `%tid`, 1 from `%ntid`, 2.. free.
pub(crate) fn registers() -> Registers {
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
    let access = Access {
        space,
        ty: Type::U32,
        count: 1,
        wide: false,
        order,
        scope: Scope::Block,
        bypass_l1: strong,
    };
    Op::Load(Load {
        uniform: false,
        access,
        d: [Some(row(d)), None, None, None],
        address: address(base),
    })
}

pub(crate) fn assemble(text: &str) -> Vec<Inst> {
    let text = format!("setp t r0 r0\nsetp u r1 r1\n{text}");
    let (mut insts, mut labels) = (Vec::new(), Vec::new());
    for (line, words) in text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>()).enumerate()
    {
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
            // The target is the line of the branch until all labels are known.
            ["bra" | "bra.uni", _] => Op::Branch { target: Pc(line as u32), uniform },
            ["bar"] => Op::Barrier(Barrier {
                kind: BarrierKind::Sync,
                id: Row(15),
                count: None,
                packed: false,
                aligned: true,
            }),
            ["add", d, a, b] => {
                lane(LaneFn::Add { sat: false }, row(d), [row(a), row(b), Row(0), Row(0)])
            }
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
                scope: Scope::Gpu,
                d: Some(row(d)),
                address: address(base),
                b: Row(1),
                c: Row(1),
                pairs: false,
                form: AtomicForm::Usual,
                reached: None,
            }),
            ["ballot", d, p] => {
                let p = PredicateUse { predicate: predicate(p), negated: false };
                Op::Vote(Vote { kind: VoteKind::Ballot(row(d)), p: Some(p), mask: Row(14).into() })
            }
            other => panic!("unknown form {other:?}"),
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
        insts.push(Inst {
            also: None,
            compiled: None,
            op,
            guard,
            class: Class::Move,
            form: 0,
            contracts: false,
            reads,
            writes,
            span,
            line: line as u32 + 1,
        });
    }
    for inst in &mut insts {
        if let Op::Branch { target, .. } = &mut inst.op {
            let name =
                text.lines().nth(target.index()).and_then(|l| l.split_whitespace().last()).unwrap();
            *target = Pc(labels.iter().find(|(label, _)| label == name).unwrap().1 as u32);
        }
    }
    insts
}

/// Special registers (rows 0 and 1) are not listed as read.
fn reads_rows(reads: &mut Vec<Register>, words: &[&str]) {
    reads.extend(words.iter().map(|w| row(w)).filter(|r| r.0 > 1).map(Register::Narrow));
}

pub(crate) fn kernel(text: &str) -> Kernel {
    let insts = assemble(text);
    let flow = ControlFlow::build(&insts, &[], &registers());
    Kernel {
        isa: Isa::ptx(),
        name: "k".to_string(),
        symbol: "k".to_string(),
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
        cluster: [1; 3],
        registers_per_thread: 0,
        native: None,
        flow,
        span: Span::new(0, 1),
    }
}
