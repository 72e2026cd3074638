//! What a run needs beside the program: grid, block, arguments, buffers, and what must come out.
//!
//! All of it stands in `//!` comment lines at the head of the program's own file, so that the file still loads on a real
//! GPU; the command line can override each value. See `docs/directives.md`.
//!
//! Two steps: [`plan`] parses the lines and finds every mistake of form; [`Plan::resolve`] evaluates them for a checked
//! kernel and finds every mistake of meaning. [`judge`] holds the expectations against the memory a run left behind.

mod argument;
mod arithmetic;
mod directive;
mod element;
mod expect;
mod expression;
mod fill;
mod plan;
mod reference;
mod resolve;
mod term;
mod token;
mod typed;
mod window;

#[cfg(test)]
mod tests;

pub use directive::{FINISHES, MODES, plan};
pub use expect::{Expectation, Verdict, judge};
pub use fill::Files;
pub use plan::{Plan, Relation};
pub use term::MemoryView;
pub use typed::{extent, setting};

/// A launch ready to run: every expression evaluated, every buffer filled.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// What the file calls itself, for reports.
    pub title: Option<String>,
    /// Blocks in x, y, z; each at least 1.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z; each at least 1.
    pub block: [u32; 3],
    /// The parameter block, laid out as `Kernel::params` says.
    pub params: Vec<u8>,
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// Bytes of a thread's stack for recursive calls, if it is limited below what the hardware can address.
    pub stack: Option<u32>,
    /// 32-bit registers a thread as a compiler has allocated them, if the file says.
    pub registers: Option<u32>,
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
    /// Whether it is in the kernel's address space: an argument names it. Others hold expected values, which no kernel may reach.
    pub mapped: bool,
}

impl Launch {
    /// The buffers in the kernel's address space, ascending by address.
    pub fn mapped(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers.iter().filter(|buffer| buffer.mapped)
    }
}

impl Buffer {
    /// The element at `index` as text; that of one past the end is a zero.
    pub fn element_text(&self, index: u64) -> String {
        let word = |i: u64| usize::try_from(i).ok().and_then(|i| self.words.get(i)).copied().unwrap_or(0);
        element::show(element::bits(&word, self.element, index), self.element)
    }
}

/// What the command line changes.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--set NAME=VALUE`: constants and the expressions they get instead; the last one of a name counts.
    pub set: Vec<(String, String)>,
    /// `--grid X,Y,Z`
    pub grid: Option<[u32; 3]>,
    /// `--block X,Y,Z`
    pub block: Option<[u32; 3]>,
    /// The most bytes that all buffers may have together, where that is less than 16 GiB.
    pub most_buffer_bytes: Option<u64>,
    /// The most bytes of this computer's memory that contents of buffers and expected values may take; 2 GiB unless
    /// given.
    pub most_memory: Option<u64>,
}
