//! Calls, and branches through a table.

use super::{Register, Row};
use crate::base::Pc;

/// `brx.idx index, targets`
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// The index, a narrow row.
    pub index: Row,
    /// Where the lanes go, by index; as [`Op::Branch`](super::Op::Branch)'s target.
    pub targets: Vec<Pc>,
    /// `.uni`: the author promises that all active lanes agree.
    pub uniform: bool,
}

/// Which function a call is for. Numbers index [`Kernel::functions`](crate::kernel::Kernel::functions).
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// This one.
    Direct(u32),
    /// The one among `targets` whose address a register holds.
    Indirect {
        /// The address, a 64-bit row.
        address: Row,
        /// All functions that it may be.
        targets: Vec<u32>,
    },
}

/// Bytes that a call or a return copies from one frame to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Offset in the frame they come from.
    pub from: u32,
    /// Offset in the frame they go to.
    pub to: u32,
    /// How many.
    pub bytes: u32,
}

/// `call`. The callee's frame lies behind the caller's in the lane's local memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub callee: Callee,
    /// `.uni`: the author promises that all active lanes call the same function.
    pub uniform: bool,
    /// From the caller's frame to the callee's.
    pub arguments: Vec<Copied>,
    /// From the callee's frame to the caller's, on return.
    pub results: Vec<Copied>,
    /// The 64-bit row that holds where each lane's frame begins.
    pub frame_pointer: Row,
    /// Size of the caller's frame.
    pub frame: u32,
    /// Registers of the caller that it reads later and that a recursion through this call may overwrite.
    pub saves: Vec<Register>,
}

/// An access to the place in local memory where a recursive function keeps a register that its caller needs. The value is
/// not moved: calls keep it ([`Call::saves`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Before a return, not at the beginning.
    pub restores: bool,
    /// Which of the function's places, in words.
    pub word: u32,
    /// How many places an activation has.
    pub words: u32,
    /// Convergence barriers among what is saved: each is moved to a register of its own first.
    pub barriers: u32,
}

impl Call {
    /// The functions that it may be for.
    pub fn callees(&self) -> &[u32] {
        match &self.callee {
            Callee::Direct(function) => std::slice::from_ref(function),
            Callee::Indirect { targets, .. } => targets,
        }
    }

    /// Whether lanes that execute the call together may go different ways at it: to different functions, or past it.
    pub(in crate::kernel) fn may_part(&self, guarded: bool) -> bool {
        guarded || matches!(&self.callee, Callee::Indirect { targets, .. } if targets.len() > 1) && !self.uniform
    }
}
