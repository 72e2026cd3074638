//! Constant propagation, and removal of edges that no lane takes.
//!
//! ptxas evaluates what constants alone decide. A branch that always goes the same way does not
//! exist in machine code, so lanes reconverge where the remaining edges do. This is constant
//! propagation on registers (Kildall, POPL 1973), forward from the start of the kernel: a value is
//! known if it is the same on all paths. After edges have been removed, the analysis runs again
//! without them.
//!
//! Unlike conditional constant propagation (Wegman and Zadeck, TOPLAS 1991), it does not assume
//! that a loop's back edge is dead until shown otherwise; nor does ptxas, which keeps the loop `do
//! .. while (++i < 0)`. (With conditional propagation, the counts of four generated kernels less
//! match those of an H200.)
//!
//! Known values are integers of 32 and 64 bits and predicates, through the operations of [`lane`].
//! Not modelled: what ptxas knows of ranges (that `x & 7` is never above 12; it does not know that
//! it is never above 7), and constants that unrolling reveals.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::BasicBlockId;
use crate::graph::Successors;
use crate::isa::{BoolOp, Compare, Type};
use crate::kernel::*;

/// Known register values; a predicate is 0 or 1.
type Known = BTreeMap<Register, u64>;

/// Maximum number of values processed.
///
/// Beyond it all values count as unknown, so that the time is not quadratic in the length of the
/// text.
const MOST_WORK: usize = 1 << 21;

/// Removes the edges from `graph` that no lane can take.
pub(super) fn drop_dead_edges(
    graph: &mut Successors,
    insts: &[Inst],
    registers: &Registers,
    blocks: &[BasicBlock],
    block_of: &[BasicBlockId],
) {
    let immediates = immediates(registers);
    let mut left = MOST_WORK;
    let mut dropped = true;
    while dropped {
        let Some(known) = propagate(graph, insts, &immediates, blocks, &mut left) else { return };
        dropped = false;
        for (block, next) in graph.iter_mut().enumerate() {
            let before = next.len();
            match &known[block] {
                Some(state) => {
                    next.retain(|&to| !state.never_goes(insts, &blocks[block], block_of, to))
                }
                None => next.clear(),
            }
            dropped |= next.len() < before;
        }
    }
}

/// Returns the registers that hold immediates.
fn immediates(registers: &Registers) -> Known {
    let narrow = registers
        .narrow_constants
        .iter()
        .map(|&(row, value)| (Register::Narrow(row), u64::from(value)));
    let wide = registers.wide_constants.iter().map(|&(row, value)| (Register::Wide(row), value));
    let truth = registers.always_false.map(|p| (Register::Predicate(p), 0));
    narrow.chain(wide).chain(truth).collect()
}

/// Returns the known values at the end of each block; `None` for an unreached block.
///
/// Returns `None` if the work exceeds `left`.
fn propagate<'a>(
    graph: &Successors,
    insts: &[Inst],
    immediates: &'a Known,
    blocks: &[BasicBlock],
    left: &mut usize,
) -> Option<Vec<Option<State<'a>>>> {
    let mut entry: Vec<Option<Known>> = vec![None; blocks.len()];
    let mut exit: Vec<Option<State>> = blocks.iter().map(|_| None).collect();
    let mut open: BTreeSet<usize> = BTreeSet::new();
    if let Some(first) = entry.first_mut() {
        *first = Some(Known::new());
        open.insert(0);
    }
    while let Some(block) = open.pop_first() {
        let Some(known) = entry[block].clone() else { continue };
        *left = left.checked_sub(known.len() + blocks[block].range().len())?;
        let mut state = State { immediates, known };
        insts[blocks[block].range()].iter().for_each(|inst| state.execute(inst));
        for &next in &graph[block] {
            if join(&mut entry[next], &state.known) {
                open.insert(next);
            }
        }
        exit[block] = Some(state);
    }
    Some(exit)
}

/// Merges the values of a further edge into a block's entry values.
///
/// Returns true if the entry values change.
fn join(entry: &mut Option<Known>, incoming: &Known) -> bool {
    match entry {
        None => {
            *entry = Some(incoming.clone());
            true
        }
        Some(known) => {
            let before = known.len();
            known.retain(|register, value| incoming.get(register) == Some(value));
            known.len() < before
        }
    }
}

struct State<'a> {
    immediates: &'a Known,
    known: Known,
}

impl State<'_> {
    fn get(&self, register: Register) -> Option<u64> {
        self.known.get(&register).or_else(|| self.immediates.get(&register)).copied()
    }

    fn row(&self, row: Row, ty: Type) -> Option<u64> {
        self.get(if ty.is_wide() { Register::Wide(row) } else { Register::Narrow(row) })
    }

    fn holds(&self, p: PredicateUse) -> Option<bool> {
        self.get(Register::Predicate(p.predicate)).map(|value| (value != 0) != p.negated)
    }

    /// Returns true if the branch that ends `block` is known not to go to block `next`.
    fn never_goes(
        &self,
        insts: &[Inst],
        block: &BasicBlock,
        block_of: &[BasicBlockId],
        next: usize,
    ) -> bool {
        let last = &insts[block.last()];
        let (Op::Branch { target, .. }, Some(guard)) = (&last.op, last.guard) else { return false };
        let Some(taken) = self.holds(guard) else { return false };
        let goes_to = if taken { target.index() } else { block.last() + 1 };
        block_of.get(goes_to).is_some_and(|b| b.index() != next)
    }

    fn execute(&mut self, inst: &Inst) {
        let guard = inst.guard.map_or(Some(true), |guard| self.holds(guard));
        if guard == Some(false) {
            return;
        }
        let results = self.results(&inst.op);
        for &register in &inst.writes {
            let value = results.iter().find(|(r, _)| *r == register).and_then(|(_, value)| *value);
            match value {
                Some(value) if guard == Some(true) || self.known.get(&register) == Some(&value) => {
                    self.known.insert(register, value);
                }
                _ => {
                    self.known.remove(&register);
                }
            }
        }
    }

    /// Returns the registers that an operation writes, with their values if known.
    fn results(&self, op: &Op) -> [(Register, Option<u64>); 2] {
        const NONE: (Register, Option<u64>) = (Register::Narrow(Row(0)), None);
        let predicate =
            |p: Predicate, value: Option<bool>| (Register::Predicate(p), value.map(u64::from));
        match op {
            Op::Lane(op) => {
                let d =
                    if result_is_wide(op) { Register::Wide(op.d) } else { Register::Narrow(op.d) };
                let source = |n: usize| {
                    self.get(if is_wide(op, n) {
                        Register::Wide(op.s[n])
                    } else {
                        Register::Narrow(op.s[n])
                    })
                };
                [(d, lane(op, source)), NONE]
            }
            Op::Setp(op) => {
                let sources = self.row(op.a, op.ty).zip(self.row(op.b, op.ty));
                let held = sources.and_then(|(a, b)| compare(op.compare, op.ty, a, b));
                let combined = |held: Option<bool>| match op.combine {
                    None => held,
                    Some((f, c)) => combine(f, held, self.holds(c)),
                };
                let result =
                    |p: Option<Predicate>, held| p.map_or(NONE, |p| predicate(p, combined(held)));
                [result(op.p, held), result(op.q, held.map(|held| !held))]
            }
            Op::PredicateLogic { f, d, a, b } => {
                let (a, b) = (self.holds(*a), self.holds(*b));
                let value = match f {
                    PredicateFn::Mov => a,
                    PredicateFn::Not => a.map(|a| !a),
                    PredicateFn::And => combine(BoolOp::And, a, b),
                    PredicateFn::Or => combine(BoolOp::Or, a, b),
                    PredicateFn::Xor => combine(BoolOp::Xor, a, b),
                };
                [predicate(*d, value), NONE]
            }
            Op::Select { ty, d, a, b, c } => {
                let (a, b) = (self.row(*a, *ty), self.row(*b, *ty));
                let value = match self.holds(*c) {
                    Some(holds) => {
                        if holds {
                            a
                        } else {
                            b
                        }
                    }
                    None => a.filter(|_| a == b),
                };
                let d = if ty.is_wide() { Register::Wide(*d) } else { Register::Narrow(*d) };
                [(d, value), NONE]
            }
            _ => [NONE, NONE],
        }
    }
}

fn combine(f: BoolOp, a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (f, a, b) {
        (BoolOp::And, Some(false), _) | (BoolOp::And, _, Some(false)) => Some(false),
        (BoolOp::Or, Some(true), _) | (BoolOp::Or, _, Some(true)) => Some(true),
        (BoolOp::And | BoolOp::Or, a, b) => a.zip(b).map(|(a, _)| a),
        (BoolOp::Xor, a, b) => a.zip(b).map(|(a, b)| a != b),
    }
}

/// Returns the value as a number, if the type is an integer of 32 or 64 bits.
fn number(ty: Type, bits: u64) -> Option<i128> {
    match ty {
        Type::U32 | Type::B32 => Some(i128::from(bits as u32)),
        Type::S32 => Some(i128::from(bits as u32 as i32)),
        Type::U64 | Type::B64 => Some(i128::from(bits)),
        Type::S64 => Some(i128::from(bits as i64)),
        _ => None,
    }
}

fn compare(compare: Compare, ty: Type, a: u64, b: u64) -> Option<bool> {
    let (a, b) = (number(ty, a)?, number(ty, b)?);
    match compare {
        Compare::Eq => Some(a == b),
        Compare::Ne => Some(a != b),
        Compare::Lt => Some(a < b),
        Compare::Le => Some(a <= b),
        Compare::Gt => Some(a > b),
        Compare::Ge => Some(a >= b),
        _ => None,
    }
}

fn result_is_wide(op: &LaneOp) -> bool {
    match op.f {
        LaneFn::MulWide => op.ty.bits() == 32,
        _ => op.ty.is_wide(),
    }
}

/// Returns the result of an element-wise operation, if known.
fn lane(op: &LaneOp, source: impl Fn(usize) -> Option<u64>) -> Option<u64> {
    let ty = op.ty;
    let bits = ty.bits();
    let n = |k: usize| number(ty, source(k)?);
    let value = match op.f {
        LaneFn::Mov => n(0)?,
        LaneFn::Add { sat: false } => n(0)? + n(1)?,
        LaneFn::Sub { sat: false } => n(0)? - n(1)?,
        LaneFn::MulLo => n(0)?.wrapping_mul(n(1)?),
        LaneFn::MulWide => n(0)?.wrapping_mul(n(1)?),
        LaneFn::MadLo => n(0)?.wrapping_mul(n(1)?).wrapping_add(n(2)?),
        LaneFn::Div if n(1)? != 0 => n(0)? / n(1)?,
        LaneFn::Rem if n(1)? != 0 => n(0)? % n(1)?,
        LaneFn::Min { relu: false } => n(0)?.min(n(1)?),
        LaneFn::Max { relu: false } => n(0)?.max(n(1)?),
        LaneFn::And => n(0)? & n(1)?,
        LaneFn::Or => n(0)? | n(1)?,
        LaneFn::Xor => n(0)? ^ n(1)?,
        LaneFn::Not => !n(0)?,
        LaneFn::Shl => n(0)?
            .checked_shl(source(1)? as u32)
            .filter(|_| source(1) < Some(u64::from(bits)))
            .unwrap_or(0),
        LaneFn::Shr => n(0)? >> source(1)?.min(u64::from(bits)),
        _ => return None,
    };
    let wide = bits == 64 || op.f == LaneFn::MulWide;
    Some(if wide { value as u64 } else { u64::from(value as u32) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Overrides;
    use crate::{Program, oracle};

    fn kernel(body: &str, words: usize) -> Program {
        let text = format!(
            "//! grid = 1\n//! block = 1\n//! buffer out: u32[{words}] = fill(0)\n//! arg out = out\n\
             .visible .entry k(.param .u64 out)\n{{\n.reg .u32 %r<8>; .reg .u64 %d<8>; .reg .pred %p<4>; .reg .u64 %out;\n\
             ld.param.u64 %out, [out];\n{body}\nret;\n}}\n"
        );
        Program::parse("constants.ir", &text)
    }

    fn checked(program: &Program) -> &Kernel {
        program.kernel(None).unwrap_or_else(|e| panic!("{e}\n{}", program.text))
    }

    /// Returns the number of remaining edges out of each block.
    fn edges(body: &str) -> Vec<usize> {
        let program = kernel(body, 1);
        let kernel = checked(&program);
        let (blocks, block_of) = blocks_of(&kernel.insts);
        let mut graph = successors(&blocks);
        drop_dead_edges(&mut graph, &kernel.insts, &kernel.registers, &blocks, &block_of);
        graph.iter().map(Vec::len).collect()
    }

    /// Every modelled operation, on corner values, gives the oracle's result.
    #[test]
    fn what_is_known_is_what_a_run_computes() {
        const NARROW: [u64; 6] = [0, 1, 7, 33, 0x8000_0000, 0xffff_ffff];
        const WIDE: [u64; 6] = [0, 1, 65, 0xffff_ffff, 1 << 63, u64::MAX];
        let mut body = String::new();
        let mut word = 0;
        for (ty, values, r, bits) in [
            ("u32", NARROW, "%r", "b32"),
            ("s32", NARROW, "%r", "b32"),
            ("u64", WIDE, "%d", "b64"),
            ("s64", WIDE, "%d", "b64"),
        ] {
            for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
                body += &format!(
                    "mov.{bits} {r}0, {a};\nmov.{bits} {r}1, {b};\nmov.u32 %r7, {};\n",
                    b % 80
                );
                let mut ops: Vec<String> = ["add", "sub", "mul.lo", "min", "max"]
                    .iter()
                    .map(|op| format!("{op}.{ty} {r}2, {r}0, {r}1;"))
                    .collect();
                ops.extend(
                    ["and", "or", "xor"].iter().map(|op| format!("{op}.{bits} {r}2, {r}0, {r}1;")),
                );
                ops.extend(
                    ["shl.b", "shr.u", "shr.s"]
                        .iter()
                        .map(|op| format!("{op}{} {r}2, {r}0, %r7;", &ty[1..])),
                );
                ops.push(format!("not.{bits} {r}2, {r}0;"));
                ops.push(format!("mad.lo.{ty} {r}2, {r}0, {r}1, {r}1;"));
                if *b != 0 {
                    ops.extend(
                        ["div", "rem"].iter().map(|op| format!("{op}.{ty} {r}2, {r}0, {r}1;")),
                    );
                }
                for op in ops {
                    body += &format!("{op}\nst.global.{bits} [%out+{}], {r}2;\n", 8 * word);
                    word += 1;
                }
                for compare in ["eq", "ne", "lt", "le", "gt", "ge"] {
                    body += &format!(
                        "setp.{compare}.{ty} %p0|%p1, {r}0, {r}1;\nselp.u32 %r3, 1, 0, %p0;\nselp.u32 %r4, 2, %r3, %p1;\n"
                    );
                    body += &format!("st.global.u32 [%out+{}], %r4;\n", 8 * word);
                    word += 1;
                }
                if bits == "b32" {
                    body += &format!(
                        "mul.wide.{ty} %d2, {r}0, {r}1;\nst.global.b64 [%out+{}], %d2;\n",
                        8 * word
                    );
                    word += 1;
                }
            }
        }
        let program = kernel(&body, 2 * word);
        let kernel = checked(&program);
        let launch = program
            .launch(kernel, &Overrides::default(), &|_, _| Err(String::new()))
            .expect("a launch");
        let memory = oracle::run(kernel, &launch, 1 << 20)
            .unwrap_or_else(|e| panic!("{e}"))
            .buffers
            .remove(0);
        let immediates = immediates(&kernel.registers);
        let mut state = State { immediates: &immediates, known: Known::new() };
        let mut stored = 0;
        for inst in &kernel.insts {
            if let Op::Store(store) = &inst.op {
                let known = state.row(store.s[0], store.access.ty);
                let at = store.address.offset as usize / 4;
                let left = u64::from(memory[at]) | u64::from(memory[at + 1]) << 32;
                let line = program.text.lines().nth(inst.line as usize - 2).unwrap_or_default();
                assert_eq!(known, Some(left), "line {}: {line}", inst.line - 1);
                stored += 1;
            }
            state.execute(inst);
        }
        assert_eq!(stored, word);
    }

    #[test]
    fn a_branch_that_constants_decide_has_one_way() {
        let branch = "@%p0 bra X;\nmov.u32 %r2, 1;\nX:\nst.global.u32 [%out], %r2;";
        let decided = |condition: &str| {
            edges(&format!("mov.u32 %r2, %tid.x;\n{condition}\n{branch}"))[0] == 1
        };
        assert!(decided("mov.u32 %r0, 21;\nand.b32 %r0, %r0, 15;\nsetp.ne.u32 %p0, %r0, 5;"));
        assert!(
            decided("setp.gt.u32 %p1, %r2, 3;\nsetp.ne.and.u32 %p0, 3, 3, %p1;"),
            "nothing and anything"
        );
        assert!(!decided("setp.gt.u32 %p1, %r2, 3;\nsetp.eq.and.u32 %p0, 3, 3, %p1;"));
        assert!(!decided("and.b32 %r0, %r2, 7;\nsetp.gt.u32 %p0, %r0, 7;"), "ranges are not known");
        assert!(!decided(
            "mov.u32 %r0, 3;\nsetp.gt.u32 %p1, %r2, 3;\n@%p1 mov.u32 %r0, 4;\nsetp.gt.u32 %p0, %r0, 7;"
        ));
        assert!(decided(
            "mov.u32 %r0, 3;\nsetp.gt.u32 %p1, %r2, 3;\n@%p1 mov.u32 %r0, 3;\nsetp.gt.u32 %p0, %r0, 7;"
        ));
    }

    /// ptxas keeps the loop: in its first round no iteration is known to be the last.
    #[test]
    fn a_counter_is_not_known_in_its_loop() {
        let round = |more: u32| {
            edges(&format!(
                "mov.u32 %r0, 0;\nL:\nadd.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, {more};\n@%p0 bra L;"
            ))
        };
        assert_eq!(round(0)[1], 2);
        assert_eq!(round(2)[1], 2);
    }

    /// Removing a dead edge can reveal more constants.
    #[test]
    fn what_only_a_dead_way_changes_is_known() {
        let left = edges(
            "mov.u32 %r0, 3;\nmov.u32 %r1, 5;\nsetp.eq.u32 %p0, %r0, 4;\n@!%p0 bra X;\nmov.u32 %r1, %tid.x;\nX:\n\
             setp.eq.u32 %p1, %r1, 5;\n@%p1 bra Y;\nst.global.u32 [%out], %r0;\nY:",
        );
        assert_eq!(left, [1, 0, 1, 0, 0]);
    }

    #[test]
    fn a_text_with_too_many_constants_keeps_its_ways() {
        let decided = |constants: usize, branches: usize| {
            let mut body = format!(".reg .u32 %c<{constants}>;\nsetp.eq.u32 %p0, 3, 4;\n");
            (0..constants).for_each(|n| body += &format!("mov.u32 %c{n}, {n};\n"));
            (0..branches)
                .for_each(|n| body += &format!("@%p0 bra X{n};\nmov.u32 %r1, 1;\nX{n}:\n"));
            edges(&(body + "mov.u32 %r2, 2;"))[0] == 1
        };
        assert!(decided(100, 100));
        assert!(!decided(1_500, 1_500));
    }
}
