//! Structured kernels as a small tree: what the generator draws, and what the printer writes out as PTX.
//!
//! Every tree is a program that terminates, stays in bounds and is free of data races: loops count to at most seven on
//! registers that nothing else writes, recursions to at most two, indices are masked to their buffer, a thread stores to its own slots only, and
//! what threads exchange goes through shared memory between two block barriers, through warp collectives where all live lanes are together,
//! or through reductions whose result does not depend on the order.

/// General registers `%r0..`; the tree names them by number.
pub(crate) const REGISTERS: u8 = 6;
/// Words of output, of local memory and of shared memory that each thread owns.
pub(crate) const SLOTS: u8 = 8;
/// Words of the read-only input buffer; a power of two.
pub(crate) const INPUT_WORDS: u32 = 64;
/// What all threads add up in words that they share. Each operation has a word of its own in global memory, and one of the
/// block: what it ends with depends on no order, because an operation commutes with itself and never meets another.
pub(crate) const TALLIES: [&str; 6] = ["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"];

/// A whole program: a launch, and phases that all threads go through together.
#[derive(Clone)]
pub(crate) struct Program {
    /// Blocks in x and y.
    pub(crate) grid: [u32; 2],
    /// Threads of a block in x and y.
    pub(crate) block: [u32; 2],
    /// Seed of the input.
    pub(crate) seed: u32,
    /// The functions that it may call.
    pub(crate) functions: Functions,
    /// What is done, in order.
    pub(crate) phases: Vec<Phase>,
}

impl Program {
    /// The same without functions: calls of one are left out.
    pub(crate) fn without_functions(self) -> Program {
        Program { functions: Functions { bodies: Vec::new(), ..self.functions }, ..self }
    }
}

/// Device functions of one signature: two words and a depth go in, a word comes out. A function calls others, or itself, only
/// while the depth that it was given is above 0, and hands on a smaller one.
#[derive(Clone, Debug)]
pub(crate) struct Functions {
    /// Whether parameters and results are registers (`.reg`) or memory (`.param`).
    pub(crate) registers: bool,
    /// What each does.
    pub(crate) bodies: Vec<Vec<Statement>>,
}

/// A part of the kernel between points where all live threads of the block are together.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    /// Any statements.
    Work(Vec<Statement>),
    /// Each thread writes a word to shared memory, and reads that of the thread whose index differs in the bits of
    /// `partner`, or its own where there is no such thread.
    Exchange { value: u8, partner: u32, into: u8 },
    /// The block meets, and each thread reads what the block's tally of this number has come to.
    Tally { tally: u8, into: u8 },
    /// The live threads of a warp, or of the block, make one value of theirs together.
    Together { how: Collective, value: u8, into: u8 },
    /// The lanes of a warp with the same `lane % by` make one value of theirs together, after a loop that they leave one by one.
    Partition { spins: bool, by: u32, how: Partial, value: u8, into: u8 },
    /// Every other warp hands words to the next one at a counted barrier, where it does not wait. For warps of 32.
    Handover { spins: bool, value: u8, into: u8 },
    /// The same phases so many times; no repetition stands in another.
    Repeat { rounds: u32, phases: Vec<Phase> },
}

/// An operation of several threads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Collective {
    /// `vote.sync.ballot`
    Ballot,
    /// `vote.sync` of this kind.
    Vote(&'static str),
    /// `redux.sync` of this operation and type.
    Reduce(&'static str),
    /// `match.any.sync`
    MatchAny,
    /// `match.all.sync`, its predicate deciding what is kept.
    MatchAll,
    /// `shfl.sync` of this kind, by this many lanes, in pieces of `1 << width` lanes. Instead of a lane that has ended a thread reads itself.
    Shuffle { how: Shuffle, by: u32, width: u32 },
    /// `bar.red.popc` over the block
    Count,
}

/// An operation of the lanes that a mask names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Partial {
    /// `redux.sync` of this operation and type.
    Reduce(&'static str),
    /// `vote.sync.ballot`
    Ballot,
    /// `match.any.sync`
    Match,
    /// `shfl.sync.idx` from the lowest lane of the mask.
    Broadcast,
    /// `bar.warp.sync`, then `redux.sync.add.u32`.
    WarpSync,
}

/// Whose value a shuffle takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shuffle {
    /// The lane so many below.
    Up,
    /// The lane so many above.
    Down,
    /// The lane whose number differs in these bits.
    Butterfly,
    /// The lane of this number in the piece.
    Index,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// One computation, perhaps under a guard.
    Assign { guard: Option<Condition>, to: u8, value: Value },
    /// A word to one of the thread's own slots, perhaps under a guard.
    Store { guard: Option<Condition>, memory: Memory, slot: u8, value: Source },
    /// A value to the tally of this number: the grid's, or the block's, perhaps under a guard.
    Tally { guard: Option<Condition>, global: bool, tally: u8, value: Source },
    /// `if (when) { then } else { other }`; `swapped` lays the `else` side out first.
    If { when: Condition, then: Vec<Statement>, other: Vec<Statement>, swapped: bool },
    /// `while (i < trips)` with the test on top, or `do .. while` with the test at the bottom.
    Loop { trips: Trips, bottom: bool, body: Vec<Statement> },
    /// `switch (on % cases)` as a chain of compares; a case may run on into the next one.
    Switch { on: Source, cases: Vec<(Vec<Statement>, bool)>, default: Vec<Statement> },
    /// `to = callee(a, b)`, perhaps under a guard.
    Call { guard: Option<Condition>, callee: Callee, arguments: [Source; 2], depth: Source, to: u8 },
    /// `break`, `continue` or the end of the thread. Nothing behind an unconditional one is printed in its block.
    Leave { how: Leave, when: Option<Condition> },
}

/// Which function is called; numbers count modulo the functions that there are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    /// Always this one.
    Direct(u8),
    /// The one in a table that a register says. `listed`: the call names the functions, not a prototype.
    Indirect { which: Source, listed: bool },
}

/// How control leaves a statement list early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Leave {
    /// To behind the innermost loop; nothing outside a loop.
    Break,
    /// To the innermost loop's next trip; nothing outside a loop.
    Continue,
    /// `ret`: of the function, if it is in one.
    Return,
    /// `exit`
    Exit,
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trips {
    /// The same for all threads.
    Constant(u32),
    /// The low `bits` bits of a source, plus `more`.
    Of { source: Source, bits: u32, more: u32 },
}

/// Where a 32-bit operand comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// `%r<n>`
    Register(u8),
    /// The thread's linear index in its block.
    Thread,
    /// `%laneid`
    Lane,
    /// The block's linear index: the same for the whole block.
    Block,
    /// The trip count so far of a loop around the place, the innermost being 0; the thread's index where there is none.
    Counter(u8),
    /// The same for all.
    Constant(u32),
}

/// A predicate: a test of a few bits, perhaps combined with another.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) test: Test,
    /// `and`, `or` or `xor`, and the second test.
    pub(crate) also: Option<(&'static str, Test)>,
    /// Whether `!p` is what counts.
    pub(crate) negated: bool,
}

/// `source % 2^bits compare constant`, or the sign of the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) source: Source,
    /// 0 tests the sign instead.
    pub(crate) bits: u32,
    pub(crate) compare: &'static str,
    pub(crate) constant: u32,
}

/// Memory that a thread has words of its own in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Memory {
    /// The output buffer.
    Global,
    /// `.local`
    Local,
    /// The block's shared memory.
    Shared,
}

/// A computation.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// `OP d, a, b` for a 32-bit `OP`.
    Binary(&'static str, Source, Source),
    /// `OP d, a` for a 32-bit `OP`.
    Unary(&'static str, Source),
    /// `OP d, a, c` for a divisor from 1 up.
    Divide(&'static str, Source, u32),
    /// `mad.lo.u32`
    MulAdd(Source, Source, Source),
    /// `selp`
    Select(Condition, Source, Source),
    /// `mul.wide.u32`, then a 64-bit `OP` with a constant, then bits from `shift` up.
    Wide { op: &'static str, a: Source, b: Source, constant: u32, shift: u32 },
    /// A word of the input.
    Input(Source),
    /// A word of the thread's own.
    Slot(Memory, u8),
}

impl Program {
    /// Threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        self.block[0] * self.block[1]
    }
}

/// proptest shows what it found by this: a file that can be run as it stands.
impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", self.print())
    }
}
