//! Device memory and events that several processes use.

use super::context::current;
use super::{Out, api};
use crate::registry::Handle;

/// `cudaIpcMemHandle_t` or `cudaIpcEventHandle_t`, which the driver fills and reads.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct SharedHandle([u64; 8]);

api! {
    cudaIpcGetEventHandle(handle: Out<SharedHandle>, event: Handle) {
        let mut made = SharedHandle([0; 8]);
        current()?.cuIpcGetEventHandle(&raw mut made, event)?;
        handle.set(made)
    }

    cudaIpcOpenEventHandle(event: Out<Handle>, handle: SharedHandle) {
        let mut opened = 0;
        current()?.cuIpcOpenEventHandle(&raw mut opened, handle)?;
        event.set(opened)
    }

    cudaIpcGetMemHandle(handle: Out<SharedHandle>, pointer: usize) {
        let mut made = SharedHandle([0; 8]);
        current()?.cuIpcGetMemHandle(&raw mut made, pointer as u64)?;
        handle.set(made)
    }

    cudaIpcOpenMemHandle(pointer: Out<usize>, handle: SharedHandle, flags: u32) {
        let mut opened = 0;
        current()?.cuIpcOpenMemHandle_v2(&raw mut opened, handle, flags)?;
        pointer.set(opened as usize)
    }

    cudaIpcCloseMemHandle(pointer: usize) {
        current()?.cuIpcCloseMemHandle(pointer as u64)
    }
}
