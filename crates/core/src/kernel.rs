//! Checked programs: instructions with resolved operands, their control-flow graph, and where lanes meet again.
//!
//! Only [`check()`] makes a [`Kernel`], so whoever holds one may trust it. Modelled: one kernel of a module with the device
//! functions that it can reach, its static variables, its registers as rows, its control flow.
//!
//! *Calls.* Each function has rows and predicates of its own in the one register file; a call saves nothing, except where the
//! function may be entered again before it returns: then the caller's live registers are saved and restored. Parameters, return
//! values and `.local` arrays of a function are in its *frame*, in the lane's local memory from the frame pointer on.

mod check;
mod flow;
mod inst;
mod lane;
pub mod layout;

pub use check::{Checked, Refused, check, check_parsed, support};
pub use flow::{Around, BasicBlock, Branch, ControlFlow, Loop, register_pressure, warnings};
pub(crate) use flow::{EdgeFilter, is_wide, observes, observing_functions, parting_call, regions, spins};
#[cfg(test)]
pub(crate) use flow::{blocks_of, shorthand, successors};
pub use inst::*;
pub use lane::*;

use std::sync::Arc;

use crate::diag::Span;
use crate::isa::{Space, Type};

/// A kernel that passed every check.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The `.entry` name.
    pub name: String,
    /// The parameters in order.
    pub params: Vec<Parameter>,
    /// Size of the parameter block in bytes.
    pub param_bytes: u32,
    /// The instructions in the order written. Branch targets are indices into this list; one past the end never occurs
    /// (a kernel that could run off its end gets an `exit`).
    pub insts: Vec<Inst>,
    /// The device functions that the kernel may call. Their instructions follow the kernel's own in `insts`, in this order.
    pub functions: Vec<DeviceFunction>,
    /// The register rows and what fills them when a warp starts.
    pub registers: Registers,
    /// Static shared memory, in bytes. Dynamic shared memory starts here, aligned to 16.
    pub shared_bytes: u32,
    /// Local memory a lane, in bytes, before any call: the kernel's own frame.
    pub local_bytes: u32,
    /// `.global` and `.const` variables of the module, which all its kernels share.
    pub variables: Arc<Vec<StaticVariable>>,
    /// `.shared` variables by name: offset and size in the block's shared memory (for reports).
    pub shared_variables: Vec<(String, u32, u32)>,
    /// `.maxntid`/`.reqntid`: the block shape promised or required, with whether it is required.
    pub block_limit: Option<([u32; 3], bool)>,
    /// The largest number of 32-bit registers a thread holds live at once: what occupancy is counted with when
    /// no compiler has said better.
    pub registers_per_thread: u32,
    /// Control flow and where divergent branches reconverge.
    pub flow: ControlFlow,
    /// The kernel's text.
    pub span: Span,
}

impl Kernel {
    /// The device function that the instruction belongs to; `None` if it is the kernel's own.
    pub fn function_of(&self, inst: usize) -> Option<&DeviceFunction> {
        self.functions.iter().find(|f| (f.first as usize..f.end as usize).contains(&inst))
    }

    /// Local memory that a thread may use: where its stack is limited, that of the kernel, of each function once, and of calls beyond
    /// that `stack` bytes, so that only recursion can go over it.
    pub fn local_limit(&self, stack: Option<u32>) -> u64 {
        let each = self.functions.iter().map(|f| u64::from(f.frame) + layout::CALL_BYTES);
        let limit = |stack: u32| u64::from(self.local_bytes) + each.sum::<u64>() + u64::from(stack);
        stack.map_or(layout::LOCAL_LIMIT, limit).min(layout::LOCAL_LIMIT)
    }

    /// Registers of the kernel itself that some path reads before anything has written them.
    pub fn read_unset(&self) -> Vec<Register> {
        let own = self.functions.first().map_or(self.insts.len(), |f| f.first as usize);
        flow::Liveness::new(&self.insts[..own], &self.registers).at_entry
    }

    /// For each instruction, whether a loop spins on what it sees: it ends when a strong load or an atomic brings another value.
    pub fn awaited(&self) -> Vec<bool> {
        flow::awaited(&self.insts, &self.functions, &self.flow)
    }

    /// The device function that the source line belongs to; `None` if the kernel has instructions there as well.
    pub fn function_at(&self, line: u32) -> Option<&DeviceFunction> {
        let mut there = self.insts.iter().enumerate().filter(|(_, inst)| inst.line == line);
        there.next().and_then(|(i, _)| self.function_of(i)) // the kernel's own instructions come first
    }
}

/// A device function as one kernel sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFunction {
    /// The `.func` name.
    pub name: String,
    /// What `mov.u64 %rd, name;` gives.
    pub address: u64,
    /// Its first instruction in [`Kernel::insts`].
    pub first: u32,
    /// One past its last instruction.
    pub end: u32,
    /// Size of its frame in bytes: return values, parameters, `.local` arrays, arguments of its own calls.
    pub frame: u32,
    /// Registers that it may read before it writes them; a call sets them to 0.
    pub clears: Vec<Register>,
    /// Whether it may be called again before it returns.
    pub recursive: bool,
    /// 32-bit registers that hold, at any one place, values which are needed after some call.
    pub held: u32,
    /// The function's text.
    pub span: Span,
}

/// One kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type (arrays: the element type).
    pub ty: Type,
    /// Byte offset in the parameter block.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Where it is declared.
    pub span: Span,
}

/// A module-level variable with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticVariable {
    /// Its name.
    pub name: String,
    /// `Global` or `Const`.
    pub space: Space,
    /// Its address (absolute, generic).
    pub address: u64,
    /// Its initial bytes, zero-filled to its size.
    pub bytes: Vec<u8>,
}

/// The rows a warp has, and how they start.
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
    /// The 64-bit row that holds where each lane's frame begins, if the kernel calls functions. 0 in the kernel itself.
    pub frame_pointer: Option<Row>,
    /// The predicate that is false in every lane for good, if a constant stands where a predicate is read.
    pub always_false: Option<Predicate>,
    /// The author's registers: name, where it lives, its declared type.
    pub names: Vec<(String, Register, Type)>,
}

/// Special registers that are constant while a thread lives. All are 32-bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "PTX's own names; the index is x = 0, y = 1, z = 2")]
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
}
