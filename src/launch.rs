//! What a run needs beside the program: grid, block, arguments, buffers, and what must come out.
//!
//! All of it stands in `//!` comment lines at the head of the program's own file, so that the file still loads on a real
//! GPU; the command line can override each value. See `docs/directives.md`.

/// A launch ready to run: every expression evaluated, every buffer filled.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks in x, y, z; each at least 1.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z; each at least 1.
    pub block: [u32; 3],
    /// The parameter block, laid out as `Kernel::params` says.
    pub params: Vec<u8>,
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// Buffers in device memory, ascending by address, without overlap.
    pub buffers: Vec<Buffer>,
    /// What must hold afterwards.
    pub expectations: Vec<Expectation>,
    /// The named constants in force, for the report.
    pub constants: Vec<(String, i64)>,
}

/// An allocation in device memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name in the directives.
    pub name: String,
    /// Its address.
    pub address: u64,
    /// Its size in bytes; `words` is rounded up to whole words.
    pub bytes: u64,
    /// The element type, for printing and comparing.
    pub element: crate::isa::Type,
    /// Its content, little-endian.
    pub words: Vec<u32>,
}

/// What a run must produce.
#[derive(Clone, Debug)]
pub struct Expectation {}
