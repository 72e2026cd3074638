//! Attributes of kernels, and occupancy.

use super::context::{current, device, version};
use super::register::kernel;
use super::{Out, api};
use crate::errors::Result;
use std::ffi::c_char;

/// Attributes of a kernel in the order of `cudaFuncAttributes`: three as `size_t`, then `int`s.
///
/// The driver numbers: 1 shared, 2 constant and 3 local bytes, 0 threads of a block, 4 registers, 5
/// PTX and 6 binary version, 7 cache mode, 8 dynamic shared bytes, 9 carveout, 10 to 15 cluster
/// (sizes, then scheduling policy and non-portable size, which the structure swaps).
const SIZES: [u32; 3] = [1, 2, 3];
const NUMBERS: [u32; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];

fn active_blocks(
    blocks: Out<i32>,
    stub: usize,
    threads: i32,
    shared: usize,
    flags: u32,
) -> Result<()> {
    let kernel = kernel(stub)?;
    let mut found = 0;
    current()?.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &raw mut found,
        kernel,
        threads,
        shared,
        flags,
    )?;
    blocks.set(found)
}

api! {
    cudaFuncGetAttributes(attributes: Out<u8>, stub: usize) {
        let kernel = kernel(stub)?;
        let (driver, device) = (current()?, device()?);
        // An attribute that the driver does not know is 0.
        let value = |number| {
            let mut value = 0;
            _ = driver.cuKernelGetAttribute(&raw mut value, number, kernel, device);
            value
        };
        let mut bytes = Vec::new();
        for number in SIZES {
            bytes.extend(i64::from(value(number)).to_ne_bytes());
        }
        for number in NUMBERS {
            bytes.extend(value(number).to_ne_bytes());
        }
        bytes.resize(version().func_bytes(), 0);
        attributes.set_bytes(&bytes)
    }

    cudaFuncSetAttribute(stub: usize, attribute: u32, value: i32) {
        let kernel = kernel(stub)?;
        current()?.cuKernelSetAttribute(attribute, value, kernel, device()?)
    }

    cudaKernelSetAttributeForDevice(kernel: usize, attribute: u32, value: i32, device: i32) {
        current()?.cuKernelSetAttribute(attribute, value, kernel, device)
    }

    cudaFuncSetCacheConfig(stub: usize, _preference: u32) {
        kernel(stub).map(|_| ())
    }

    cudaFuncSetSharedMemConfig(stub: usize, _banks: u32) {
        kernel(stub).map(|_| ())
    }

    cudaFuncGetName(name: Out<*const c_char>, stub: usize) {
        let kernel = kernel(stub)?;
        let mut found = std::ptr::null();
        current()?.cuKernelGetName(&raw mut found, kernel)?;
        name.set(found)
    }

    cudaFuncGetParamInfo(stub: usize, index: usize, offset: Out<usize>, bytes: Out<usize>) {
        let kernel = kernel(stub)?;
        let (mut at, mut size) = (0, 0);
        current()?.cuKernelGetParamInfo(kernel, index, &raw mut at, &raw mut size)?;
        bytes.set_if_wanted(size);
        offset.set(at)
    }

    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<i32>, stub: usize, threads: i32, shared: usize,
    ) {
        active_blocks(blocks, stub, threads, shared, 0)
    }

    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>, stub: usize, threads: i32, shared: usize, flags: u32,
    ) {
        active_blocks(blocks, stub, threads, shared, flags)
    }

    cudaOccupancyAvailableDynamicSMemPerBlock(
        bytes: Out<usize>, stub: usize, blocks: i32, threads: i32,
    ) {
        let kernel = kernel(stub)?;
        let mut found = 0;
        current()?.cuOccupancyAvailableDynamicSMemPerBlock(
            &raw mut found, kernel, blocks, threads,
        )?;
        bytes.set(found)
    }
}
