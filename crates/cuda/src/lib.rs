//! A CUDA driver whose GPU is the simulator: the C interface of `libcuda.so.1`.
//!
//! A program loads this library in place of NVIDIA's driver and calls it as usual. Kernels run on
//! the cycle-level simulator of [`simt_core`]; device memory is memory of the process that only the
//! driver touches (`memory`).
//!
//! Modelled: devices (one for each machine file), contexts, modules (PTX, cubins, fat binaries),
//! memory and its copies, memory of other processes, launches that run while the host goes on,
//! streams and events in order, graphs and their capture, occupancy, arrays, textures and surfaces.
//! Not modelled: mipmapped arrays, launches of graphs by kernels, virtual memory management; their
//! functions report `CUDA_ERROR_NOT_SUPPORTED` and their name.
//!
//! All `unsafe` code is in `abi`. Every pointer of a caller is checked there before its use, and
//! handles are numbers looked up in tables, so a wild handle is an error, not a crash.

mod abi;
mod beside;
mod copy;
mod device;
mod error;
mod failed;
mod fatbin;
mod fill;
mod graph;
mod image;
mod launch;
mod link;
mod memory;
mod module;
mod operation;
mod options;
mod pool;
mod queue;
mod report;
mod running;
mod state;
mod stream;
mod table;
mod transfer;
mod views;

use std::io::Write as _;

/// Writes to standard error.
fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
