//! Structured kernels as a small tree, drawn by the generator and printed as PTX.
//!
//! Every tree is a program that terminates, stays in bounds and has no data races: loops count to
//! at most seven on registers that nothing else writes, recursions to at most two, and indices are
//! masked to their buffer. A thread stores only to its own slots. Threads exchange data through
//! shared memory between two block barriers, through warp collectives where all live lanes are
//! together, or through reductions whose result does not depend on the order.

/// General registers `%r0..`; the tree names them by number.
pub(crate) const REGISTERS: u8 = 6;
/// Words of output, of local memory and of shared memory that each thread owns.
pub(crate) const SLOTS: u8 = 8;
/// Words of the read-only input buffer; a power of two.
pub(crate) const INPUT_WORDS: u32 = 64;
/// Operations that all threads accumulate in shared words. Each operation has its own word in
/// global memory and one per block: the result does not depend on the order, because an operation
/// commutes with itself and words are not shared between operations.
pub(crate) const TALLIES: [&str; 6] =
    ["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"];

/// A whole program: a launch, and phases that all threads execute together.
#[derive(Clone)]
pub(crate) struct Program {
    /// Blocks in x and y.
    pub(crate) grid: [u32; 2],
    /// Threads of a block in x and y.
    pub(crate) block: [u32; 2],
    /// Seed of the input.
    pub(crate) seed: u32,
    /// Functions that it may call.
    pub(crate) functions: Functions,
    /// Phases in order.
    pub(crate) phases: Vec<Phase>,
}

impl Program {
    /// Returns true if threads wait for asynchronous copies or at barrier objects.
    pub(crate) fn is_asynchronous(&self) -> bool {
        fn any(phases: &[Phase]) -> bool {
            phases.iter().any(|phase| match phase {
                Phase::Copies { .. } | Phase::Pipeline { .. } | Phase::Meeting(_) => true,
                Phase::Repeat { phases, .. } => any(phases),
                _ => false,
            })
        }
        any(&self.phases)
    }

    /// Returns the program without functions: calls of one are omitted.
    pub(crate) fn without_functions(self) -> Program {
        Program { functions: Functions { bodies: Vec::new(), ..self.functions }, ..self }
    }
}

/// Device functions of one signature: two words and a depth in, one word out. A function calls
/// others, or itself, only while its depth is above 0, and passes on a smaller one.
#[derive(Clone, Debug)]
pub(crate) struct Functions {
    /// True if parameters and results are registers (`.reg`), false if memory (`.param`).
    pub(crate) registers: bool,
    /// Body of each function.
    pub(crate) bodies: Vec<Vec<Statement>>,
}

/// Part of the kernel between points where all live threads of the block are together.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    /// Any statements.
    Work(Vec<Statement>),
    /// Each thread writes a word to shared memory and reads that of the thread whose index differs
    /// in the bits of `partner`, or its own if there is no such thread.
    Exchange { value: u8, partner: u32, into: u8 },
    /// The block waits at a barrier, and each thread reads the block's tally of this number.
    Tally { tally: u8, into: u8 },
    /// The live threads of a warp or of the block combine one value each.
    Together { how: Collective, value: u8, into: u8 },
    /// The lanes of a warp with the same `lane % by` combine one value each, after a loop that they
    /// leave one by one.
    Partition { spins: bool, by: u32, how: Partial, value: u8, into: u8 },
    /// Every other warp passes words to the next one at a counted barrier, where it does not wait.
    /// For warps of 32.
    Handover { spins: bool, value: u8, into: u8 },
    /// Each thread copies input into its own shared words asynchronously, one group after another,
    /// and reads the groups that its first wait covers before the others.
    Copies { groups: Vec<AsyncCopy>, left: u32, between: Vec<Statement>, into: u8 },
    /// Double buffering: each thread copies a word of the next trip while it reads the word of this
    /// trip that its partner copied. `partner` as in `Exchange`.
    Pipeline { trips: u32, bytes: u32, from: Source, partner: u32, into: u8 },
    /// The live threads of a block meet at a barrier object.
    Meeting(Meeting),
    /// Repeats phases; repetitions do not nest.
    Repeat { rounds: u32, phases: Vec<Phase> },
}

/// An asynchronous copy of 4, 8 or 16 bytes from the input, in a group of its own.
#[derive(Clone, Debug)]
pub(crate) struct AsyncCopy {
    /// Lanes that copy; the group of the others is empty.
    pub(crate) guard: Option<Condition>,
    /// `ca` or, for 16 bytes, `cg`.
    pub(crate) cache: &'static str,
    pub(crate) bytes: u32,
    pub(crate) from: Source,
    /// Elements that become zero instead of a copy.
    pub(crate) zeros: Zeros,
}

/// Bytes of an asynchronous copy that are zero.
#[derive(Clone, Debug)]
pub(crate) enum Zeros {
    /// None.
    None,
    /// All after the given number.
    After(u32),
    /// All, in lanes for which the condition holds.
    Where(Condition),
}

/// Rounds of writing a word, arriving, waiting, and reading the partner's word, as in `Exchange`.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    pub(crate) rounds: u32,
    pub(crate) arrival: Arrival,
    pub(crate) wait: Wait,
    /// Threads that write once and leave the barrier by `arrive_drop`.
    pub(crate) drop: Option<Condition>,
    pub(crate) value: Source,
    pub(crate) partner: u32,
    pub(crate) into: u8,
}

/// How a thread arrives at a barrier object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arrival {
    /// `mbarrier.arrive`
    Plain,
    /// `mbarrier.arrive` with a count of 2.
    Twice,
    /// `mbarrier.arrive.noComplete`, then `mbarrier.arrive`.
    InTwoSteps,
    /// `mbarrier.arrive.expect_tx`, then `mbarrier.complete_tx`.
    Bytes,
    /// A copy of a word, `cp.async.mbarrier.arrive`, and `mbarrier.arrive`.
    Copy,
    /// A copy of a word, and `cp.async.mbarrier.arrive.noinc` as the arrival.
    CopyArrives,
}

/// How a thread waits at a barrier object, in a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// `try_wait`, not `test_wait`.
    pub(crate) tries: bool,
    /// By the parity of the phase, not by the arrival's state.
    pub(crate) parity: bool,
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
    /// `match.all.sync`; its predicate selects the result.
    MatchAll,
    /// `shfl.sync` of this kind, by this many lanes, in segments of `1 << width` lanes. A thread
    /// reads itself instead of an exited lane.
    Shuffle { how: Shuffle, by: u32, width: u32 },
    /// `bar.red.popc` over the block.
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

/// Source lane of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shuffle {
    /// A number of lanes below.
    Up,
    /// A number of lanes above.
    Down,
    /// The lane whose number differs in these bits.
    Butterfly,
    /// The lane with this number in the segment.
    Index,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// One computation, optionally guarded.
    Assign { guard: Option<Condition>, to: u8, value: Value },
    /// Stores a word to one of the thread's own slots, optionally guarded.
    Store { guard: Option<Condition>, memory: Memory, slot: u8, value: Source },
    /// Adds a value to the tally of this number: the grid's or the block's, optionally guarded.
    Tally { guard: Option<Condition>, global: bool, tally: u8, value: Source },
    /// `if (when) { then } else { other }`; `swapped` lays the `else` side out first.
    If { when: Condition, then: Vec<Statement>, other: Vec<Statement>, swapped: bool },
    /// `while (i < trips)` with the test on top, or `do .. while` with the test at the bottom.
    Loop { trips: Trips, bottom: bool, body: Vec<Statement> },
    /// `switch (on % cases)` as a chain of compares; a case may fall through into the next one.
    Switch { on: Source, cases: Vec<(Vec<Statement>, bool)>, default: Vec<Statement> },
    /// `to = callee(a, b)`, optionally guarded.
    Call { guard: Option<Condition>, callee: Callee, arguments: [Source; 2], depth: Source, to: u8 },
    /// `break`, `continue` or the end of the thread. Nothing after an unconditional one is printed
    /// in its block.
    Leave { how: Leave, when: Option<Condition> },
}

/// The called function; numbers are taken modulo the number of functions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    /// A fixed function.
    Direct(u8),
    /// The function at an index of a table, from a register. `listed`: the call names the
    /// functions, not a prototype.
    Indirect { which: Source, listed: bool },
}

/// Early exit from a statement list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Leave {
    /// Jumps past the innermost loop; nothing outside a loop.
    Break,
    /// Jumps to the innermost loop's next trip; nothing outside a loop.
    Continue,
    /// `ret`: returns from the function, if it is in one.
    Return,
    /// `exit`
    Exit,
}

/// Trip count of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trips {
    /// Uniform over all threads.
    Constant(u32),
    /// The low `bits` bits of a source, plus `more`.
    Of { source: Source, bits: u32, more: u32 },
}

/// Source of a 32-bit operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// `%r<n>`
    Register(u8),
    /// The thread's linear index in its block.
    Thread,
    /// `%laneid`
    Lane,
    /// The block's linear index: uniform within the block.
    Block,
    /// The trip count so far of a surrounding loop, the innermost being 0; the thread's index
    /// outside of loops.
    Counter(u8),
    /// Uniform over all threads.
    Constant(u32),
}

/// A predicate: a test of a few bits, optionally combined with another.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) test: Test,
    /// `and`, `or` or `xor`, and the second test.
    pub(crate) also: Option<(&'static str, Test)>,
    /// True to negate the predicate.
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

/// Memory with words of each thread.
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
    /// `OP d, a, c` for a constant divisor of at least 1.
    Divide(&'static str, Source, u32),
    /// `mad.lo.u32`
    MulAdd(Source, Source, Source),
    /// `selp`
    Select(Condition, Source, Source),
    /// `mul.wide.u32`, then a 64-bit `OP` with a constant, then bits from `shift` up.
    Wide { op: &'static str, a: Source, b: Source, constant: u32, shift: u32 },
    /// A word of the input.
    Input(Source),
    /// One of the thread's own words.
    Slot(Memory, u8),
}

impl Program {
    /// Returns the threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        self.block[0] * self.block[1]
    }
}

/// Printed by proptest for a failure: a complete runnable file.
impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", self.print())
    }
}
