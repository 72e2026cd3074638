//! Code that a machine runs.
//!
//! A compiler model ([`crate::ptxas`]) makes a [`Code`] from a checked [`Kernel`] of PTX;
//! [`crate::sass`] makes one from machine code, where nothing is left to decide. Its micro-ops
//! carry what a machine needs and cannot decide: operation and operands, issue slots and unit,
//! dependences, convergence operations, and the source instruction. Layout is irrelevant: every
//! micro-op names its successor.

use crate::base::Pc;
use crate::isa::{ControlWord, Opcode};
use crate::kernel::{Inst, Kernel};

/// Reconvergence scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Stack per warp (pre-Volta).
    ///
    /// A divergent branch pushes its reconvergence PC; reaching that PC pops.
    Stack,
    /// Convergence barriers and per-lane PCs: BSSY, BSYNC, BREAK, YIELD (Volta on).
    Barriers,
    /// The same as machine code has them: sixteen barrier registers per warp, which BMOV moves.
    BarrierRegisters,
}

/// Form of micro-ops without a row in the ISA: convergence operations.
pub const NO_FORM: u16 = u16::MAX;

/// A micro-op.
#[derive(Clone, Debug)]
pub struct MicroOp {
    /// Operation and operands; branch targets are PCs of this code.
    pub inst: Inst,
    /// Index of the source instruction in [`Kernel::insts`].
    ///
    /// `None` for an added convergence operation.
    pub source: Option<u32>,
    /// PC of lanes that neither branch nor exit; unused after an unguarded branch or exit.
    pub next: Pc,
    /// Reconvergence PC that the branch pushes ([`Scheme::Stack`] only).
    ///
    /// `None` if its sides do not reconverge.
    pub reconverge: Option<Pc>,
    /// Number of machine instructions; 0 if a neighbour does its work.
    pub count: u32,
    /// Number of them that use the unit of the instruction's class.
    pub on_unit: u32,
    /// True if the uniform datapath can execute it once for the warp.
    pub uniform: bool,
    /// True if it invalidates the SM's L1 (CCTL.IVALL).
    ///
    /// Later loads then see the writes of other SMs.
    pub invalidates_l1: bool,
    /// Dependences on earlier micro-ops of the warp.
    pub dependences: Dependences,
}

/// Source of a micro-op's dependences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependences {
    /// Scoreboard entries of its registers.
    Registers {
        /// Entries, written ones first, then those that are only read.
        entries: Vec<u16>,
        /// Number of written entries.
        written: u8,
        /// Entry of the guard's predicate.
        guard: Option<u16>,
    },
    /// Control word of the machine instruction, set by NVIDIA's compiler.
    Control {
        /// Control word.
        word: ControlWord,
        /// Opcode, which has a pipe.
        opcode: &'static Opcode,
        /// Counter and value to which it must fall (DEPBAR.LE).
        falls_to: Option<(u8, u8)>,
    },
}

/// Dependence counters of a warp.
pub const COUNTERS: usize = 6;

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Code {
    /// Instructions as compiled, numbered differently from the source kernel's.
    pub(crate) kernel: Kernel,
    /// Micro-ops by PC: one per kernel instruction, then added ones.
    pub(crate) ops: Vec<MicroOp>,
    /// PC at which a warp starts.
    pub(crate) entry: Pc,
    /// PC at which each of [`Kernel::functions`] starts.
    pub(crate) functions: Vec<Pc>,
    /// Reconvergence scheme.
    pub(crate) scheme: Scheme,
    /// True if counts are machine instructions rather than instructions as written.
    pub(crate) is_machine_code: bool,
    /// Branches that became predication, by the instruction that replaces them.
    pub(crate) predicated: Vec<PredicatedBranch>,
}

impl Code {
    /// Returns the instructions as compiled, and the facts of the kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Returns the micro-ops by PC.
    pub fn ops(&self) -> &[MicroOp] {
        &self.ops
    }

    /// Returns the PC at which a warp starts.
    pub fn entry(&self) -> Pc {
        self.entry
    }

    /// Returns the PC at which each of [`Kernel::functions`] starts.
    pub fn functions(&self) -> &[Pc] {
        &self.functions
    }

    /// Returns the reconvergence scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns true if machine instructions are counted, including convergence operations.
    pub fn is_machine_code(&self) -> bool {
        self.is_machine_code
    }

    /// Returns the branches that became predication, by the instruction that replaces them.
    pub fn predicated(&self) -> &[PredicatedBranch] {
        &self.predicated
    }

    /// Returns the number of machine instructions of kernel instruction `source`.
    pub fn count(&self, source: u32) -> u32 {
        self.ops.get(source as usize).map_or(1, |op| op.count)
    }

    /// Returns the number of machine instructions in a disassembly.
    ///
    /// Convergence operations are left out.
    pub fn static_count(&self) -> u64 {
        self.ops[..self.kernel.insts.len()].iter().map(|op| u64::from(op.count)).sum()
    }
}

/// A conditional branch that predication replaced.
///
/// The replacing instruction shows what the branch would have done: the same warps reach it with
/// the same active lanes, and its guard is the branch's predicate or the complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicatedBranch {
    /// Source line of the branch.
    pub line: u32,
    /// Source line at which its sides reconverge; `None` if one side ends the thread.
    pub meets: Option<u32>,
    /// Index of the replacing instruction in [`Kernel::insts`].
    pub inst: u32,
    /// True if the guarded lanes are those that would have taken the branch.
    pub executes_taken: bool,
}
