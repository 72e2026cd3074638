//! The CUDA runtime API (`libcudart.so`), on top of the driver API.
//!
//! A program that nvcc links with `-cudart shared` finds its kernels, launches and copies here;
//! this crate forwards them to the `libcuda.so.1` of the process and knows no kernel, memory or
//! time itself. Any driver with the C interface of `cuda.h` serves.
//!
//! - [`linked`] finds NVIDIA's runtime in other files, whose calls `abi` redirects to its own.
//! - [`image`] gives the built library the soname and symbol version that a program asks for.
//! - [`errors`], [`props`], [`names`] and [`registry`] hold what needs no pointer of a caller.
//! - `abi` exports the entry points. Only it uses `unsafe`.
//!
//! Not simulated, and refused with `cudaErrorNotSupported` and a line on standard error: mipmapped
//! arrays and graphics interoperability.

#[cfg(target_os = "linux")]
mod abi;
pub mod errors;
pub mod image;
pub mod linked;
pub mod names;
pub mod props;
pub mod registry;
