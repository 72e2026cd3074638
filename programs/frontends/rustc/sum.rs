// Sum of each block's elements by pairs of neighbours in shared memory, in Rust.
//
// Shared memory that a launch sizes is the only kind that the language has (1 KiB here).
//
//! title  Sum of a block by neighboured pairs (rustc)
//! const  n = 1 << 14
//! const  block = 256
//! grid   = ceil_div(n, block)
//! block  = block
//! shared = 4 * block
//! buffer in: u32[n] = iota
//! buffer out: u32[ceil_div(n, block)] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
//! expect out[b] == block * block * b + block * (block - 1) / 2 for b in 0..n / block
//! expect sum(out) == n * (n - 1) / 2

#![no_std]
#![feature(abi_ptx, stdarch_nvptx, core_intrinsics, gpu_intrinsics, gpu_launch_sized_workgroup_mem)]
#![expect(internal_features)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _syncthreads, _thread_idx_x};
use core::intrinsics::gpu::gpu_launch_sized_workgroup_mem;

/// # Safety
/// `input` has `n` elements, `out` one for each block, and a block 4 bytes of
/// shared memory for each thread.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sum(input: *const u32, out: *mut u32, n: u32) {
    unsafe {
        let sums = gpu_launch_sized_workgroup_mem::<u32>();
        let t = _thread_idx_x();
        let i = _block_idx_x() * _block_dim_x() + t;
        let sum = sums.add(t as usize);
        *sum = if i < n { *input.add(i as usize) } else { 0 };

        let mut stride = 1;
        while stride < _block_dim_x() {
            _syncthreads();
            if t % (2 * stride) == 0 {
                *sum += *sum.add(stride as usize);
            }
            stride *= 2;
        }
        if t == 0 {
            *out.add(_block_idx_x() as usize) = *sum;
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
