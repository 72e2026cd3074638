//! Programs on which the properties are checked.

use std::fmt::Write;

use crate::base::Pc;
use crate::diag::Span;
use crate::isa::{Class, Compare, Type};
use crate::kernel::*;

/// End of a block of a graph.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Exit,
    Jump(usize),
    Fork(usize, usize),
}

/// Random numbers by SplitMix64, so that samples are the same everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 16) as usize % n
    }
}

/// Returns every graph of exactly `n` reachable blocks, up to renaming.
///
/// Blocks are numbered in the order in which a walk from the first block finds them.
pub(super) fn graphs(n: usize) -> impl Iterator<Item = Vec<End>> {
    let ends = 1 + n + n * n;
    (0..ends.pow(n as u32)).filter_map(move |mut code| {
        let mut graph = Vec::with_capacity(n);
        for _ in 0..n {
            graph.push(match code % ends {
                0 => End::Exit,
                e if e <= n => End::Jump(e - 1),
                e => End::Fork((e - 1 - n) / n, (e - 1 - n) % n),
            });
            code /= ends;
        }
        let mut found = vec![0];
        for i in 0..n {
            let block = *found.get(i)?;
            let (a, b) = match graph[block] {
                End::Exit => continue,
                End::Jump(a) => (a, a),
                End::Fork(a, b) => (a, b),
            };
            for next in [a, b] {
                if !found.contains(&next) {
                    found.push(next);
                }
            }
        }
        found.iter().copied().eq(0..n).then_some(graph)
    })
}

/// Returns a random graph of `n` blocks, mostly forks.
pub(super) fn sample(random: &mut Random, n: usize) -> Vec<End> {
    let end = |random: &mut Random| match random.below(8) {
        0 => End::Exit,
        1 | 2 => End::Jump(random.below(n)),
        _ => End::Fork(random.below(n), random.below(n)),
    };
    let mut graph: Vec<End> = (0..n).map(|_| end(random)).collect();
    graph[n - 1] = End::Exit;
    graph
}

/// Returns the registers of the programs.
///
/// Row 0 is `%tid.x`. The first instruction computes predicate 0 from it, which guards every
/// branch.
pub(super) fn registers() -> Registers {
    let specials = vec![(Row(0), Special::Tid(0))];
    Registers { narrow: 1, predicates: 1, specials, ..Registers::default() }
}

fn inst(op: Op, guarded: bool) -> Inst {
    let predicate = Predicate(0);
    let guard = guarded.then_some(PredicateUse { predicate, negated: false });
    let reads = if guarded { vec![Register::Predicate(predicate)] } else { Vec::new() };
    Inst {
        also: None,
        compiled: None,
        op,
        guard,
        class: Class::Branch,
        form: 0,
        contracts: false,
        reads,
        writes: Vec::new(),
        span: Span::default(),
        line: 0,
    }
}

fn compare() -> Inst {
    let (p, q, a, b) = (Some(Predicate(0)), None, Row(0), Row(0));
    let setp = Setp { compare: Compare::Lt, ty: Type::U32, ftz: false, p, q, a, b, combine: None };
    Inst { writes: vec![Register::Predicate(Predicate(0))], ..inst(Op::Setp(setp), false) }
}

fn work() -> Inst {
    inst(Op::Fence(Scope::Block), false)
}

fn branch(target: usize, guarded: bool) -> Inst {
    inst(Op::Branch { target: Pc(target as u32), uniform: false }, guarded)
}

/// Returns the instructions of a graph.
///
/// With `bare`, blocks that exit contain nothing else.
pub(super) fn insts_of_graph(graph: &[End], bare: bool) -> Vec<Inst> {
    let mut insts = vec![compare()];
    let mut starts = Vec::new();
    for (n, end) in graph.iter().enumerate() {
        starts.push(insts.len());
        match *end {
            End::Exit if bare => insts.push(inst(Op::Exit, false)),
            End::Exit => insts.extend([work(), inst(Op::Exit, false)]),
            End::Jump(to) => insts.extend([work(), branch(to, false)]),
            End::Fork(taken, fall) => {
                insts.extend([work(), branch(taken, true)]);
                if fall != n + 1 {
                    insts.push(branch(fall, false));
                }
            }
        }
    }
    for inst in &mut insts {
        if let Op::Branch { target, .. } = &mut inst.op {
            *target = Pc(starts[target.index()] as u32);
        }
    }
    insts
}

/// Writes a random structured program.
///
/// It has nested `if`, `if else`, `while`, `do while` and, with `jumps`, conditional `break` and
/// `return`. Returns its instructions, those at its top level, and its text.
pub(super) fn structured(random: &mut Random, jumps: bool) -> (Vec<Inst>, Vec<u32>, String) {
    // Branch targets are labels at first: indices into `labels`.
    let mut w = Writer {
        insts: vec![compare()],
        labels: Vec::new(),
        random,
        jumps,
        top: vec![0],
        text: String::new(),
    };
    let end = w.label();
    w.list(0, None, end, 4);
    w.bind(end);
    w.top.push(w.insts.len() as u32);
    w.insts.push(inst(Op::Exit, false));
    let Writer { mut insts, labels, top, text, .. } = w;
    for inst in &mut insts {
        if let Op::Branch { target, .. } = &mut inst.op {
            *target = Pc(labels[target.index()] as u32);
        }
    }
    (insts, top, text)
}

struct Writer<'a> {
    insts: Vec<Inst>,
    labels: Vec<usize>,
    random: &'a mut Random,
    jumps: bool,
    top: Vec<u32>,
    text: String,
}

impl Writer<'_> {
    fn label(&mut self) -> usize {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }

    fn bind(&mut self, label: usize) {
        self.labels[label] = self.insts.len();
    }

    fn say(&mut self, depth: usize, text: &str) {
        let at = self.insts.len();
        let _ = writeln!(self.text, "{at:3} {:indent$}{text}", "", indent = depth * 2);
    }

    fn branch(&mut self, label: usize, guarded: bool) {
        self.insts.push(branch(label, guarded));
    }

    fn list(&mut self, depth: usize, out: Option<usize>, end: usize, most: usize) {
        for _ in 0..1 + self.random.below(most) {
            self.statement(depth, out, end);
        }
    }

    /// Writes a statement; `out` is the target of `break`, `end` that of `return`.
    fn statement(&mut self, depth: usize, out: Option<usize>, end: usize) {
        let deep = depth >= 4;
        match self.random.below(if deep { 2 } else { 8 }) {
            0 | 1 => {
                self.say(depth, "work");
                if depth == 0 {
                    self.top.push(self.insts.len() as u32);
                }
                self.insts.push(work());
            }
            2 | 3 => {
                self.say(depth, "if");
                let skip = self.label();
                self.branch(skip, true);
                self.list(depth + 1, out, end, 2);
                self.bind(skip);
            }
            4 => {
                self.say(depth, "if else");
                let (other, join) = (self.label(), self.label());
                self.branch(other, true);
                self.list(depth + 1, out, end, 2);
                self.branch(join, false);
                self.bind(other);
                self.say(depth, "else");
                self.list(depth + 1, out, end, 2);
                self.bind(join);
            }
            5 => {
                self.say(depth, "while");
                let (head, done) = (self.label(), self.label());
                self.bind(head);
                self.branch(done, true);
                self.list(depth + 1, Some(done), end, 2);
                self.branch(head, false);
                self.bind(done);
            }
            6 => {
                self.say(depth, "do while");
                let (head, done) = (self.label(), self.label());
                self.bind(head);
                self.list(depth + 1, Some(done), end, 2);
                self.branch(head, true);
                self.bind(done);
            }
            _ if !self.jumps => {}
            _ => {
                let skip = self.label();
                let target = match out {
                    Some(out) if self.random.below(2) == 0 => out,
                    _ => end,
                };
                self.say(depth, if target == end { "if return" } else { "if break" });
                if self.random.below(2) == 0 {
                    self.branch(target, true);
                } else {
                    self.branch(skip, true);
                    self.insts.push(work());
                    if target == end && self.random.below(2) == 0 {
                        self.insts.push(inst(Op::Exit, false));
                    } else {
                        self.branch(target, false);
                    }
                }
                self.bind(skip);
            }
        }
        // An instruction after every construct makes a reconvergence point.
        self.insts.push(work());
    }
}
