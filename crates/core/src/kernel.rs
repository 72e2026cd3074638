//! Checked programs: instructions, control-flow graph, reconvergence points.
//!
//! Only [`check()`] creates a [`Kernel`], so every kernel is valid. It has the device functions
//! that it can reach, its static variables, its registers as rows, and its control flow.
//!
//! Each function has its own rows and predicates in the register file. A call saves no registers,
//! unless the function is recursive: then it saves and restores the live registers of the caller.
//! Parameters, return values and `.local` arrays of a function are in its *frame*, in the lane's
//! local memory from the frame pointer on.

mod check;
mod flow;
mod inst;
mod lane;
pub mod layout;
mod names;
mod native;
mod tensor;

pub(crate) use check::LineStarts;
pub use check::{Checked, Refused, check, check_at, check_parsed, support};
pub use flow::{Around, BasicBlock, Branch, ControlFlow, Loop, register_pressure, warnings};
pub(crate) use flow::{
    EdgeFilter, is_wide, may_diverge_at_call, observes, observing_functions, regions, spins,
};
#[cfg(test)]
pub(crate) use flow::{blocks_of, shorthand, successors};
pub use inst::*;
pub use lane::*;
pub use names::{KernelName, give_source_names, source_name};
pub use native::*;
pub use tensor::*;

use std::sync::Arc;

use crate::diag::Span;
use crate::isa::{Form, Isa, Space, Type};

/// Valid kernel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Kernel {
    /// Instruction set whose rows [`Inst::form`] numbers.
    pub isa: &'static Isa,
    /// Name in the source language, as in `reduce<256>`.
    pub name: String,
    /// Name in the compiled code, as in `_Z6reduceILi256EEvPii`: the `.entry` of PTX.
    pub symbol: String,
    /// Parameters in order.
    pub params: Vec<Parameter>,
    /// Size of the parameter block, in bytes.
    pub param_bytes: u32,
    /// Instructions in source order; branch targets are indices into this list.
    ///
    /// No target is past the end: a kernel whose control could reach the end gets an `exit`.
    pub insts: Vec<Inst>,
    /// Device functions that the kernel may call.
    ///
    /// Their instructions follow those of the kernel in `insts`, in this order.
    pub functions: Vec<DeviceFunction>,
    /// Register rows and their initial values.
    pub registers: Registers,
    /// Static shared memory, in bytes.
    ///
    /// Dynamic shared memory starts here, aligned to 16.
    pub shared_bytes: u32,
    /// Local memory per lane before any call, in bytes: the kernel's own frame.
    pub local_bytes: u32,
    /// `.global` and `.const` variables of the module, shared by all its kernels.
    pub variables: Arc<Vec<StaticVariable>>,
    /// `.shared` variables: name, offset and size in bytes (for reports).
    ///
    /// The size of dynamic ones (`.extern .shared`) is 0.
    pub shared_variables: Vec<(String, u32, u32)>,
    /// Block shape of `.maxntid`/`.reqntid`; true if it is required (`.reqntid`).
    pub block_limit: Option<([u32; 3], bool)>,
    /// Required shape of a cluster in blocks (`.reqnctapercluster`).
    pub cluster: [u32; 3],
    /// Maximum number of live 32-bit registers per thread.
    ///
    /// Used for occupancy if the compiler's number is unknown.
    pub registers_per_thread: u32,
    /// Control flow and reconvergence points of divergent branches.
    pub flow: ControlFlow,
    /// Facts of machine code; `None` for PTX.
    pub native: Option<Arc<NativeKernel>>,
    /// Span of the kernel.
    pub span: Span,
}

impl Kernel {
    /// Returns the names that the kernel answers to.
    pub fn names(&self) -> KernelName<'_> {
        KernelName { name: &self.name, symbol: &self.symbol }
    }

    /// Returns the most threads of a block that the kernel was declared for.
    pub fn most_threads(&self) -> u32 {
        let declared = self.block_limit.map(|(limit, _)| limit);
        declared.map_or(u32::MAX, |limit| limit.iter().fold(1, |all, &n| all.saturating_mul(n)))
    }

    /// Returns the row of an instruction; `None` for convergence operations.
    pub fn row(&self, inst: &Inst) -> Option<&'static Form> {
        self.isa.rows().get(usize::from(inst.form))
    }

    /// Returns the device function of an instruction.
    ///
    /// `None` if it belongs to the kernel itself.
    pub fn function_of(&self, inst: usize) -> Option<&DeviceFunction> {
        self.functions.iter().find(|f| (f.first as usize..f.end as usize).contains(&inst))
    }

    /// Returns the bytes of local memory that a thread has before it calls a function.
    ///
    /// Machine code has its stack from the start.
    pub fn local_size(&self, stack: Option<u32>) -> u32 {
        match &self.native {
            Some(native) if self.local_bytes > 0 => native.stack_of(stack),
            _ => self.local_bytes,
        }
    }

    /// Returns the limit of local memory per thread, in bytes.
    ///
    /// With a stack limit, this is the sum of the kernel's frame, one frame of each function, and
    /// `stack` bytes for further calls, so that only recursion can exceed it.
    ///
    /// Machine code has one stack, which is what `stack` or the default gives.
    pub fn local_limit(&self, stack: Option<u32>) -> u64 {
        if let Some(native) = &self.native {
            return native.stack_of(stack).into();
        }
        let each = self.functions.iter().map(|f| u64::from(f.frame) + layout::CALL_BYTES);
        let limit = |stack: u32| u64::from(self.local_bytes) + each.sum::<u64>() + u64::from(stack);
        stack.map_or(layout::LOCAL_LIMIT, limit).min(layout::LOCAL_LIMIT)
    }

    /// Returns the bytes of shared memory that a block gets for those that it asks for.
    ///
    /// Machine code may load whole vectors at the end, since hardware allocates in units.
    pub fn granted_shared(&self, bytes: u32) -> u32 {
        const UNIT: u32 = 128;
        match &self.native {
            Some(_) => bytes.checked_next_multiple_of(UNIT).unwrap_or(bytes),
            None => bytes,
        }
    }

    /// Returns the bytes at the start of shared memory that the system reserves, if the kernel uses
    /// them under their own address; 0 otherwise.
    pub fn named_reserved(&self) -> u32 {
        let first = self.shared_variables.first();
        first.filter(|(name, ..)| name == layout::RESERVED_NAME).map_or(0, |&(.., bytes)| bytes)
    }

    /// Returns the bytes of the shared window below the block's shared memory.
    pub fn reserved_shared(&self) -> u32 {
        self.native.as_ref().map_or(0, |native| native.reserved_shared)
    }

    /// Returns true if the kernel may call `malloc` or `free`.
    pub fn uses_heap(&self) -> bool {
        let calls = |inst: &Inst| matches!(&inst.op, Op::System(op) if op.function.uses_heap());
        self.native.as_ref().is_some_and(|native| native.heap) || self.insts.iter().any(calls)
    }

    /// Returns true if the kernel reads the address of a cooperative launch's workspace, as
    /// `grid.sync()` does.
    pub fn reads_workspace(&self) -> bool {
        match &self.native {
            Some(native) => native.reads(native.workspace_at()),
            None => {
                let specials = &self.registers.specials;
                specials.iter().any(|(_, special)| matches!(special, Special::Workspace(_)))
            }
        }
    }

    /// Returns the generic address of the parameters: aligned as they are in their constant bank.
    pub fn parameters_address(&self) -> u64 {
        layout::PARAMETERS + self.native.as_ref().map_or(0, |native| u64::from(native.params_at))
    }

    /// Returns true if the kernel takes generic addresses of its parameters (`cvta.param`).
    pub fn shows_parameters(&self) -> bool {
        let shows = |inst: &Inst| {
            let window = layout::PARAMETERS as i64;
            matches!(inst.op, Op::Lane(LaneOp { f: LaneFn::OffsetBy(by), .. }) if by == window)
        };
        match &self.native {
            Some(native) => native.reads(native.parameters_pointer()),
            None => self.insts.iter().any(shows),
        }
    }

    /// Returns the kernel's own registers that some path reads before they are written.
    pub fn read_unset(&self) -> Vec<Register> {
        flow::Liveness::new(self.own_insts(), &self.registers).at_entry
    }

    /// Returns the instructions of the kernel itself, without those of its functions.
    fn own_insts(&self) -> &[Inst] {
        let own = self.functions.first().map_or(self.insts.len(), |f| f.first as usize);
        &self.insts[..own]
    }

    /// Returns the registers that a starting warp must set to 0, beside the predicates: a lane may
    /// read them before it has written them, or another lane may.
    ///
    /// `None`: all [variables](Registers::variables).
    pub fn unset_registers(&self) -> Option<Vec<Register>> {
        flow::unset_registers(self)
    }

    /// Returns true for each instruction whose value a spin loop waits for.
    ///
    /// Such a loop ends when a strong load or an atomic returns a different value.
    pub fn awaited(&self) -> Vec<bool> {
        flow::awaited(&self.insts, &self.functions, &self.flow)
    }

    /// Returns the device function of a source line.
    ///
    /// `None` if the kernel has code on it as well.
    pub fn function_at(&self, line: u32) -> Option<&DeviceFunction> {
        let mut on_line = self.insts.iter().enumerate().filter(|(_, inst)| inst.line == line);
        // The kernel's own instructions come first.
        on_line.next().and_then(|(i, _)| self.function_of(i))
    }
}

/// Device function of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFunction {
    /// `.func` name.
    pub name: String,
    /// Address, as returned by `mov.u64 %rd, name;`.
    pub address: u64,
    /// First instruction in [`Kernel::insts`].
    pub first: u32,
    /// One past the last instruction.
    pub end: u32,
    /// Frame size in bytes.
    ///
    /// A frame has return values, parameters, `.local` arrays, and arguments of calls.
    pub frame: u32,
    /// Registers that may be read before they are written; a call sets them to 0.
    pub clears: Vec<Register>,
    /// True if the function may be called again before it returns.
    pub recursive: bool,
    /// Maximum number of 32-bit registers that are live across a call.
    pub held: u32,
    /// Span of the function.
    pub span: Span,
}

/// Kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Type; for an array, the element type.
    pub ty: Type,
    /// Byte offset in the parameter block.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Span of the declared name.
    pub span: Span,
}

/// Module-level variable with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticVariable {
    /// Name.
    pub name: String,
    /// `Global` or `Const`.
    pub space: Space,
    /// Absolute, generic address.
    pub address: u64,
    /// Initial bytes, zero-filled to the size.
    pub bytes: Vec<u8>,
}

/// Returns the author's name of a variable: nvcc writes `_ZZ6kernelE4data` for `data` in `kernel`.
pub fn plain_name(name: &str) -> &str {
    let own = name.starts_with("_Z").then(|| {
        let starts = (1..name.len()).rev().filter(|&i| name.is_char_boundary(i));
        starts.filter_map(|i| name.get(i..)).find(|rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0 && rest[..digits].parse() == Ok(rest.len() - digits)
        })
    });
    let own = own.flatten().map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    own.unwrap_or(name)
}

/// Register rows of a warp, with their initial values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registers {
    /// Number of 32-bit rows.
    pub narrow: u16,
    /// Number of 64-bit rows.
    pub wide: u16,
    /// Number of predicates.
    pub predicates: u16,
    /// Rows that hold an immediate in every lane.
    pub narrow_constants: Vec<(Row, u32)>,
    /// 64-bit rows that hold an immediate in every lane.
    pub wide_constants: Vec<(Row, u64)>,
    /// Rows that hold a special register.
    pub specials: Vec<(Row, Special)>,
    /// 64-bit row of the frame pointer, if the kernel calls functions.
    ///
    /// 0 in the kernel itself.
    pub frame_pointer: Option<Row>,
    /// Predicate that is always false, if the kernel has constant predicates.
    pub always_false: Option<Predicate>,
    /// Declared registers: name, row, declared type.
    pub names: Vec<(String, Register, Type)>,
}

impl Registers {
    /// Returns the rows that hold neither an immediate nor a special register.
    pub fn variables(&self) -> Vec<Register> {
        let mut narrow = vec![true; self.narrow.into()];
        let mut wide = vec![true; self.wide.into()];
        let constants = self.narrow_constants.iter().map(|(row, _)| row);
        let specials = self.specials.iter().map(|(row, _)| row);
        constants.chain(specials).for_each(|row| narrow[usize::from(row.0)] = false);
        self.wide_constants.iter().for_each(|(row, _)| wide[usize::from(row.0)] = false);
        let rows = |marks: Vec<bool>| (0..).zip(marks).filter(|(_, is)| *is).map(|(n, _)| Row(n));
        rows(narrow).map(Register::Narrow).chain(rows(wide).map(Register::Wide)).collect()
    }
}

/// Special registers that are constant during the lifetime of a thread.
///
/// All are 32-bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "PTX names; the index is x = 0, y = 1, z = 2")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSmemSize,
    TotalSmemSize,
    /// `%aggr_smem_size`: bytes that the system reserves, and those of the block.
    AggrSmemSize,
    /// `%envreg2` (0) and `%envreg1` (1): low and high word of the address of the grid's workspace;
    /// 0 unless the launch is cooperative.
    Workspace(u8),
    /// SR_VIRTID of machine code: lane, `%warpid` from bit 8 on, `%smid` from bit 20 on.
    Virtid,
    /// SR_VIRTCFG of machine code: lanes of a warp, `%nwarpid` from bit 8 on.
    Virtcfg,
    /// Number of the warp in its warpgroup; [`WARPGROUP_COMPLETE`] is set if the block has all
    /// four warps of it.
    Warpgroup,
}

/// Bit of [`Special::Warpgroup`] of a complete warpgroup.
pub const WARPGROUP_COMPLETE: u32 = 1 << 2;
