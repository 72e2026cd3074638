//! Device memory that several processes use.

use super::context::current;
use super::{Out, api};

/// `cudaIpcMemHandle_t`, which the driver fills and reads.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MemoryHandle([u64; 8]);

api! {
    cudaIpcGetMemHandle(handle: Out<MemoryHandle>, pointer: usize) {
        let mut made = MemoryHandle([0; 8]);
        current()?.cuIpcGetMemHandle(&raw mut made, pointer as u64)?;
        handle.set(made)
    }

    cudaIpcOpenMemHandle(pointer: Out<usize>, handle: MemoryHandle, flags: u32) {
        let mut opened = 0;
        current()?.cuIpcOpenMemHandle_v2(&raw mut opened, handle, flags)?;
        pointer.set(opened as usize)
    }

    cudaIpcCloseMemHandle(pointer: usize) {
        current()?.cuIpcCloseMemHandle(pointer as u64)
    }
}
