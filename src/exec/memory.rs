//! The three kinds of data memory.

/// Device memory and constants.
pub struct GlobalMemory {}
/// The shared memory of one block.
pub struct SharedMemory {}
/// The local memory of one warp.
pub struct LocalMemory {}
