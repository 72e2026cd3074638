//! Functions that CUDA's runtime system gives every kernel: `vprintf`, `__assertfail`, `malloc`,
//! `free`.

use super::Row;

/// Function of CUDA's runtime system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SystemFn {
    /// `vprintf(format, arguments)`: formats a text for the host.
    Print,
    /// `__assertfail(message, file, line, function, char size)`: a failed `assert`.
    AssertFail,
    /// `malloc(bytes)`: allocates from the heap of the device.
    Malloc,
    /// `free(address)`
    Free,
}

impl SystemFn {
    /// All functions in declaration order.
    pub const ALL: [SystemFn; 4] =
        [SystemFn::Print, SystemFn::AssertFail, SystemFn::Malloc, SystemFn::Free];
    /// First address of these functions in machine code, beyond any code; each has 16 bytes.
    const NATIVE: u32 = 0xffff_f000;

    /// Returns the function's name in PTX and in a cubin.
    pub const fn name(self) -> &'static str {
        match self {
            SystemFn::Print => "vprintf",
            SystemFn::AssertFail => "__assertfail",
            SystemFn::Malloc => "malloc",
            SystemFn::Free => "free",
        }
    }

    /// Returns the function of a name.
    pub fn named(name: &str) -> Option<SystemFn> {
        SystemFn::ALL.into_iter().find(|function| function.name() == name)
    }

    /// Returns the sizes of the parameters in bytes.
    pub const fn parameters(self) -> &'static [u8] {
        match self {
            SystemFn::Print => &[8, 8],
            SystemFn::AssertFail => &[8, 8, 4, 8, 8],
            SystemFn::Malloc | SystemFn::Free => &[8],
        }
    }

    /// Returns the size of the result in bytes; 0 without a result.
    pub const fn result(self) -> u8 {
        match self {
            SystemFn::Print => 4,
            SystemFn::Malloc => 8,
            SystemFn::AssertFail | SystemFn::Free => 0,
        }
    }

    /// Returns true if the function uses the heap of the device.
    pub const fn uses_heap(self) -> bool {
        matches!(self, SystemFn::Malloc | SystemFn::Free)
    }

    /// Returns the address that stands for the function in machine code.
    pub const fn native_address(self) -> u32 {
        SystemFn::NATIVE + 16 * self as u32
    }

    /// Returns the function of an address of machine code.
    pub fn at_native_address(address: u32) -> Option<SystemFn> {
        SystemFn::ALL.into_iter().find(|function| function.native_address() == address)
    }
}

/// Call of a function of the runtime system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// Function.
    pub function: SystemFn,
    /// Offsets of the arguments in the caller's frame, in bytes.
    pub arguments: Vec<u32>,
    /// Offset of the result in the caller's frame; `None` if it is not used.
    pub result: Option<u32>,
    /// 64-bit row of the frame pointer.
    pub frame_pointer: Row,
}
