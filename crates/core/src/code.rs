//! Machine code: the one thing that a machine runs.
//!
//! A [`Code`] is made by a compiler model ([`crate::ptxas`]) from a checked [`Kernel`]. Its micro-ops carry what a machine needs to
//! know and cannot decide: meaning and operands, issue slots and unit, dependences, convergence operations, and the
//! instruction that each comes from. Layout is irrelevant: every micro-op names its successor.

use crate::base::Pc;
use crate::kernel::{Inst, Kernel};

/// Scheme by which diverged lanes reconverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// A stack per warp: a divergent branch pushes its reconvergence PC, reaching that PC pops (pre-Volta).
    Stack,
    /// Convergence barriers and per-lane PCs: BSSY, BSYNC, BREAK, YIELD (Volta on).
    Barriers,
}

/// Form number of micro-ops that have no row in the ISA: convergence operations.
pub const NO_FORM: u16 = u16::MAX;

/// One micro-op.
#[derive(Clone, Debug)]
pub struct MicroOp {
    /// Meaning and operands; the branch targets are PCs of this code.
    pub inst: Inst,
    /// Index in [`Kernel::insts`] of the instruction that it comes from; `None` for an added convergence operation.
    pub source: Option<u32>,
    /// PC of lanes that neither branch nor exit. Meaningless after an unguarded branch or exit.
    pub next: Pc,
    /// Reconvergence PC that the branch pushes ([`Scheme::Stack`] only); `None` if its sides do not meet.
    pub reconverge: Option<Pc>,
    /// Machine instructions that it stands for; 0 if a neighbour does its work.
    pub count: u32,
    /// Machine instructions among them that use the unit of the instruction's class.
    pub on_unit: u32,
    /// True if the uniform datapath can execute it once for the warp.
    pub uniform: bool,
    /// True if it invalidates the SM's L1 (CCTL.IVALL), so that later loads see what other SMs wrote.
    pub invalidates_l1: bool,
    /// Dependences on earlier micro-ops of the warp.
    pub dependences: Dependences,
}

/// Means by which a machine knows when a micro-op's operands are ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependences {
    /// Scoreboard entries of the registers that it names.
    Registers {
        /// Entries: the written ones first, then those that are only read.
        entries: Vec<u16>,
        /// Number of written ones.
        written: u8,
        /// Entry of the guard's predicate.
        guard: Option<u16>,
    },
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Code {
    /// The instructions as compiled. Their numbers differ from those of the kernel that was compiled.
    pub(crate) kernel: Kernel,
    /// Micro-ops by PC: first the kernel's instructions one for one, then added ones.
    pub(crate) ops: Vec<MicroOp>,
    /// PC at which a warp starts.
    pub(crate) entry: Pc,
    /// PC at which each of [`Kernel::functions`] starts.
    pub(crate) functions: Vec<Pc>,
    /// Reconvergence scheme.
    pub(crate) scheme: Scheme,
    /// True if counts are machine instructions rather than instructions as written.
    pub(crate) is_machine_code: bool,
    /// Branches that became predication, by the instruction in their place.
    pub(crate) predicated: Vec<PredicatedBranch>,
}

impl Code {
    /// The instructions as compiled, and the facts of the kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Micro-ops by PC.
    pub fn ops(&self) -> &[MicroOp] {
        &self.ops
    }

    /// PC at which a warp starts.
    pub fn entry(&self) -> Pc {
        self.entry
    }

    /// PC at which each of [`Kernel::functions`] starts.
    pub fn functions(&self) -> &[Pc] {
        &self.functions
    }

    /// Reconvergence scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns true if machine instructions are counted, convergence operations among them.
    pub fn is_machine_code(&self) -> bool {
        self.is_machine_code
    }

    /// Branches that became predication, by the instruction in their place.
    pub fn predicated(&self) -> &[PredicatedBranch] {
        &self.predicated
    }

    /// Number of machine instructions that instruction `source` of the kernel stands for.
    pub fn count(&self, source: u32) -> u32 {
        self.ops.get(source as usize).map_or(1, |op| op.count)
    }

    /// Number of machine instructions of the kernel without convergence operations: the length of a disassembly.
    pub fn static_count(&self) -> u64 {
        self.ops[..self.kernel.insts.len()].iter().map(|op| u64::from(op.count)).sum()
    }
}

/// A conditional branch that the compiled kernel no longer has, because its sides are guarded.
///
/// The instruction in its place shows what the branch would have done: the same warps reach it with the same active lanes, and
/// its guard is the branch's or the complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicatedBranch {
    /// Source line of the branch.
    pub line: u32,
    /// Source line at which its sides reconverge; `None` if one side ends the thread.
    pub meets: Option<u32>,
    /// The instruction in its place: index in [`Kernel::insts`].
    pub inst: u32,
    /// True if the lanes that execute the instruction are those that would have taken the branch.
    pub executes_taken: bool,
}
