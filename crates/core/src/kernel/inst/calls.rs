//! Calls and indexed branches.

use std::fmt;

use super::{Register, Row};
use crate::base::Pc;

/// `brx.idx index, targets`
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Index, a narrow row.
    pub index: Row,
    /// Targets by index, as in [`Op::Branch`](super::Op::Branch).
    pub targets: Vec<Pc>,
    /// True for `.uni`, whose author guarantees that all active lanes agree.
    pub uniform: bool,
}

/// Call, return or indirect branch of machine code, which has no frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// Kind.
    pub kind: JumpKind,
    /// Target.
    pub target: JumpTarget,
}

/// Kind of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpKind {
    /// CALL: control comes back to the next instruction.
    Call,
    /// RET
    Return,
    /// BRX, BRXU, JMX
    Branch,
}

/// Target of a jump.
#[derive(Clone, Debug, PartialEq)]
pub enum JumpTarget {
    /// A fixed PC.
    Fixed(Pc),
    /// The address in a register, plus an offset.
    Register {
        /// Low word of the address in bytes.
        row: Row,
        /// Added to it, in bytes; the sum is an address in the kernel's code.
        offset: i64,
        /// One past the last PC of the code.
        end: Pc,
        /// PCs that the compiler lists; empty if it lists none.
        targets: Vec<Pc>,
    },
}

/// Callee of a call.
///
/// Numbers index [`Kernel::functions`](crate::kernel::Kernel::functions).
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A known function.
    Direct(u32),
    /// The function whose address is in a register.
    Indirect {
        /// Address, a 64-bit row.
        address: Row,
        /// All possible functions.
        targets: Vec<u32>,
    },
}

/// Bytes that a call or a return copies between frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Offset in the source frame, in bytes.
    pub from: u32,
    /// Offset in the destination frame, in bytes.
    pub to: u32,
    /// Number of bytes.
    pub bytes: u32,
}

/// `call`. The callee's frame follows the caller's in the lane's local memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Callee.
    pub callee: Callee,
    /// True for `.uni`, whose author guarantees one callee for all active lanes.
    pub uniform: bool,
    /// Copies from the caller's frame to the callee's.
    pub arguments: Vec<Copied>,
    /// Copies from the callee's frame to the caller's, on return.
    pub results: Vec<Copied>,
    /// 64-bit row of the frame pointer.
    pub frame_pointer: Row,
    /// Size of the caller's frame, in bytes.
    pub frame: u32,
    /// Row of the bytes that the caller has on top of its frame, if the kernel allocates any.
    pub top: Option<Row>,
    /// Registers live across the call that recursion through it may overwrite.
    pub saves: Vec<Register>,
}

/// Function of [`Stack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackFn {
    /// `stacksave`: returns the stack's end.
    Save,
    /// `stackrestore`: frees what lies beyond an end.
    Restore,
    /// `alloca`: extends the stack, and returns the new memory.
    Allocate {
        /// Alignment in bytes.
        align: u32,
    },
}

/// `alloca`, `stacksave` or `stackrestore`: memory on top of a function's frame in local memory.
///
/// It ends with its function. Addresses ascend; on a GPU they descend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stack {
    /// Function.
    pub f: StackFn,
    /// Address of the result; unused by `stackrestore`.
    pub d: Row,
    /// Size, or end to restore; unused by `stacksave`.
    pub a: Row,
    /// True if `d` and `a` are 64-bit rows.
    pub wide: bool,
    /// 64-bit row of the bytes on top of the frame.
    pub top: Row,
    /// 64-bit row of the frame pointer, if there are functions.
    pub frame_pointer: Option<Row>,
    /// Size of the function's frame, in bytes.
    pub frame: u32,
}

/// Access to a spill slot of a recursive function, in local memory.
///
/// It moves no value, because calls keep the saved registers ([`Call::saves`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spill {
    /// True for a restore before a return, false for a save at the beginning.
    pub restores: bool,
    /// Slot of the function, in words.
    pub word: u32,
    /// Number of slots per activation.
    pub words: u32,
    /// Number of saved convergence barriers; each is first moved to a register.
    pub barriers: u32,
}

impl fmt::Display for Spill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.restores { "restore register" } else { "save register" })
    }
}

impl Call {
    /// Returns the functions that the call may reach.
    pub fn callees(&self) -> &[u32] {
        match &self.callee {
            Callee::Direct(function) => std::slice::from_ref(function),
            Callee::Indirect { targets, .. } => targets,
        }
    }

    /// Returns true if the call may diverge: to different functions, or by its guard.
    pub(in crate::kernel) fn may_part(&self, guarded: bool) -> bool {
        guarded
            || matches!(&self.callee, Callee::Indirect { targets, .. } if targets.len() > 1)
                && !self.uniform
    }
}
