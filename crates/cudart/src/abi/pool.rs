//! Memory pools of the driver.

use super::context::{self, current, with_device};
use super::{In, Out, api};
use crate::registry::Handle;
use std::ffi::c_void;

/// `cudaMemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Properties([u64; 11]);

api! {
    cudaDeviceGetDefaultMemPool(pool: Out<Handle>, device: i32) {
        let mut found = 0;
        with_device(device)?.cuDeviceGetDefaultMemPool(&raw mut found, device)?;
        pool.set(found)
    }

    cudaDeviceGetMemPool(pool: Out<Handle>, device: i32) {
        let mut found = 0;
        with_device(device)?.cuDeviceGetMemPool(&raw mut found, device)?;
        pool.set(found)
    }

    cudaDeviceSetMemPool(device: i32, pool: Handle) {
        with_device(device)?.cuDeviceSetMemPool(device, pool)
    }

    cudaMemPoolCreate(pool: Out<Handle>, properties: In<Properties>) {
        let (properties, mut made) = (properties.get()?, 0);
        current()?.cuMemPoolCreate(&raw mut made, (&raw const properties).cast())?;
        pool.set(made)
    }

    cudaMemPoolDestroy(pool: Handle) {
        current()?.cuMemPoolDestroy(pool)
    }

    cudaMemPoolTrimTo(pool: Handle, bytes: usize) {
        current()?.cuMemPoolTrimTo(pool, bytes)
    }

    cudaMemPoolSetAttribute(pool: Handle, attribute: u32, value: *mut c_void) {
        current()?.cuMemPoolSetAttribute(pool, attribute, value)
    }

    cudaMemPoolGetAttribute(pool: Handle, attribute: u32, value: *mut c_void) {
        current()?.cuMemPoolGetAttribute(pool, attribute, value)
    }

    cudaMallocFromPoolAsync [cudaMallocFromPoolAsync_ptsz] (
        pointer: Out<usize>, bytes: usize, pool: Handle, stream: Handle,
    ) {
        let driver = current()?;
        let mut made = 0;
        if bytes > 0 {
            let stream = context::stream(stream);
            driver.cuMemAllocFromPoolAsync(&raw mut made, bytes, pool, stream)?;
        }
        pointer.set(made as usize)
    }
}
