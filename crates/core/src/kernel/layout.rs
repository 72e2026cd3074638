//! Where things are in the 64-bit generic address space.
//!
//! The windows are far apart and 0 is never valid, so that a wild pointer is caught rather than served.
//! Real GPUs place their windows elsewhere; programs cannot tell, except by printing addresses.

/// Shared memory: generic address = this + offset in the block's shared memory.
pub const SHARED_WINDOW: u64 = 0x0100_0000_0000;
/// Local memory: generic address = this + offset in the lane's local memory.
pub const LOCAL_WINDOW: u64 = 0x0200_0000_0000;
/// Size of the shared and of the local window.
pub const WINDOW_BYTES: u64 = 0x0100_0000;
/// `.const` variables, at absolute addresses from here.
pub const CONST_BASE: u64 = 0x0300_0000_0000;
/// `.global` variables, at absolute addresses from here.
pub const GLOBAL_BASE: u64 = 0x0400_0000_0000;
/// Buffers of a launch, at absolute addresses from here, each aligned to [`BUFFER_ALIGN`].
pub const BUFFER_BASE: u64 = 0x0700_0000_0000;
/// Alignment of buffers, and least distance of unmapped bytes between two of them.
pub const BUFFER_ALIGN: u64 = 512;
/// Addresses of device functions, from here in steps of 16, in the order of their first declarations. No memory is there.
pub const FUNCTION_BASE: u64 = 0x0600_0000_0000;
/// Local memory that a thread may use, its stack of frames included: CUDA's limit. A call that needs more is a fault.
pub const LOCAL_LIMIT: u64 = 512 << 10;
/// How many calls deep a thread may be. Hardware has no such limit; here it ends a recursion that has no end while the memory and
/// the time that it takes are still small, whatever its frames.
pub const DEPTH_LIMIT: usize = 4096;
/// What a call takes of a stack that is limited, beside the callee's frame: the return address, and what alignment adds.
pub const CALL_BYTES: u64 = 16;
