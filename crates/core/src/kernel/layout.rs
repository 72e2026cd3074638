//! Layout of the 64-bit generic address space.
//!
//! The windows are far apart and 0 is never valid, so that accesses through wild pointers fault.
//! Real GPUs have other addresses, which programs can observe only by printing pointers.

use std::ops::RangeInclusive;

/// Base of the shared window; added to an offset in the block's shared memory.
pub const SHARED_WINDOW: u64 = 0x0100_0000_0000;
/// Base of the local window; added to an offset in the lane's local memory.
pub const LOCAL_WINDOW: u64 = 0x0200_0000_0000;
/// Size of the shared window and of the local window, in bytes.
pub const WINDOW_BYTES: u64 = 0x0100_0000;
/// Bytes at the start of shared memory that the system reserves, as on sm_90.
pub const RESERVED_SHARED: u32 = 1 << 10;
/// End of those that it uses (`%reserved_smem_offset_end` of an H200).
pub const RESERVED_SHARED_END: u32 = 0x120;
/// Its name among the variables of a kernel that uses it.
pub const RESERVED_NAME: &str = "reserved";
/// Offsets in constant bank 0 of places in it, since sm_90.
pub const RESERVED_PLACES: RangeInclusive<i64> = 0x68..=0x74;
/// First address of `.const` variables.
pub const CONST_BASE: u64 = 0x0300_0000_0000;
/// Distance from the address of a constant to its generic address in machine code.
///
/// Machine code takes constants for the highest addresses.
pub const RAISED: u64 = 1 << 60;
/// First address of `.global` variables.
pub const GLOBAL_BASE: u64 = 0x0400_0000_0000;
/// Minimum alignment of a `.global` variable.
///
/// The driver of an H200 places each one so, in the order of their declarations, for PTX and for
/// machine code (driver of CUDA 13, 2026-12-01).
pub const VARIABLE_ALIGN: u64 = 256;
/// First address of the buffers of a launch, each aligned to [`BUFFER_ALIGN`].
pub const BUFFER_BASE: u64 = 0x0700_0000_0000;
/// Alignment of buffers, and minimum gap of unmapped bytes between them.
pub const BUFFER_ALIGN: u64 = 512;
/// First address of device functions.
///
/// They have addresses in steps of 16, in the order of their first declarations. No memory is
/// mapped there.
pub const FUNCTION_BASE: u64 = 0x0600_0000_0000;
/// First address of the heap of `malloc`.
pub const HEAP_BASE: u64 = 0x0680_0000_0000;
/// Address of the workspace of a cooperative launch, which holds the barrier of its grid.
pub const WORKSPACE: u64 = 0x06c0_0000_0000;
/// Size of the workspace in bytes. It is zero at the start of a launch.
pub const WORKSPACE_BYTES: u64 = 64;
/// Generic address of the parameters of PTX and of the constant bank that machine code has them in,
/// for kernels that ask for it.
pub const PARAMETERS: u64 = 0x06d0_0000_0000;
/// Address of the table of textures and surfaces.
pub const IMAGE_TABLE: u64 = 0x06e0_0000_0000;
/// Limit of the objects of textures and surfaces.
pub const IMAGES: u64 = 1 << 20;
/// First addresses of the constants, variables and functions of one module.
///
/// The default suits a single module. A driver that holds several modules gives each module
/// addresses of its own, in the ranges named below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bases {
    /// First address of `.const` variables and constant banks: [`CONST_BASE`] to [`GLOBAL_BASE`].
    pub constant: u64,
    /// First address of `.global` variables: [`GLOBAL_BASE`] to [`FUNCTION_BASE`].
    pub global: u64,
    /// First address of device functions: [`FUNCTION_BASE`] to [`HEAP_BASE`].
    pub function: u64,
}

/// Alignment of [`Bases`] in bytes, and the largest alignment of a variable.
pub const BASE_ALIGN: u64 = 1 << 20;

impl Default for Bases {
    fn default() -> Bases {
        Bases { constant: CONST_BASE, global: GLOBAL_BASE, function: FUNCTION_BASE }
    }
}

impl Bases {
    /// Returns the nearest valid bases: aligned to [`BASE_ALIGN`], each with 4 GiB left in its
    /// range.
    pub(crate) fn clamped(self) -> Bases {
        let within = |base: u64, first: u64, end: u64| {
            base.clamp(first, end - (1 << 32)) & !(BASE_ALIGN - 1)
        };
        Bases {
            constant: within(self.constant, CONST_BASE, GLOBAL_BASE),
            global: within(self.global, GLOBAL_BASE, FUNCTION_BASE),
            function: within(self.function, FUNCTION_BASE, HEAP_BASE),
        }
    }
}

/// Maximum local memory of a thread with its stack, in bytes (CUDA's limit).
pub const LOCAL_LIMIT: u64 = 512 << 10;
/// Maximum call depth of a thread.
///
/// Hardware has no such limit. It ends an infinite recursion early, for frames of any size.
pub const DEPTH_LIMIT: usize = 4096;
/// Bytes that a call takes of a limited stack in addition to the callee's frame.
///
/// For the return address and alignment.
pub const CALL_BYTES: u64 = 16;
