//! The launch of a program: grid, block, arguments, buffers and expected results.
//!
//! Directives stand in `//!` comment lines at the head of the program file, so that the file still
//! loads on a real GPU. The command line can override each value. See `docs/directives.md`.
//!
//! [`plan`] parses the lines and finds every syntax error. [`Plan::resolve`] evaluates them for a
//! checked kernel and finds every semantic error. [`judge`] compares the memory after a run with
//! the expectations.

mod argument;
mod arithmetic;
mod column;
mod directive;
mod element;
mod expect;
mod expression;
mod fill;
mod image;
mod inspect;
mod lines;
mod plan;
mod reference;
mod resolve;
mod shape;
mod tensor;
mod term;
mod token;
mod typed;
mod unset;
mod variable;
mod window;

#[cfg(test)]
mod tests;

pub use directive::{FINISHES, MODES, plan};
pub use expect::{Expectation, Verdict, judge};
pub use fill::{Files, Origin, Wanted};
pub use inspect::Inspected;
pub use plan::{Plan, Relation};
pub use term::MemoryView;
pub use typed::{extent, setting};
pub use unset::UnsetWords;

use crate::exec::{Heap, Lent, SegmentImage};
use crate::kernel::StaticVariable;
use crate::kernel::layout::WORKSPACE;

/// A launch ready to run: every expression evaluated, every buffer filled.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Title of the file, for reports.
    pub title: Option<String>,
    /// Blocks in x, y, z; each at least 1.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z; each at least 1.
    pub block: [u32; 3],
    /// The parameter block, laid out by `Kernel::params`.
    pub params: Vec<u8>,
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// Bytes of a thread's stack for recursive calls, if below the hardware's maximum.
    pub stack: Option<u32>,
    /// True for a cooperative launch: all blocks are resident at once, and `grid.sync()` works.
    pub cooperative: bool,
    /// 32-bit registers per thread as allocated by a compiler, if the file gives them.
    pub registers: Option<u32>,
    /// Buffers in device memory, ascending by address, without overlap.
    pub buffers: Vec<Buffer>,
    /// Where the module's variables are.
    pub variables: Variables,
    /// Heap of the device, as earlier launches left it.
    ///
    /// `None` is an empty heap of CUDA's default size, if the kernel calls `malloc` or `free`.
    pub heap: Option<Heap>,
    /// Memory beside the buffers that kernels can reach.
    pub spare: Spare,
    /// Conditions that must hold after the run.
    pub expectations: Vec<Expectation>,
    /// Values of the named constants, for the report.
    pub constants: Vec<(String, i64)>,
}

/// Device memory that belongs to no buffer, and that kernels can reach.
///
/// A GPU maps whole pages, so an access beside an allocation may meet no bound.
#[derive(Clone, Debug, Default)]
pub struct Spare {
    /// Pieces, without overlap with each other and with buffers.
    pub pieces: Vec<SegmentImage>,
    /// Lowest address in them that the run accessed.
    pub accessed: Option<u64>,
}

/// Place of a module's variables during a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variables {
    /// Memory of the launch, with the initial bytes; its content ends with the launch.
    ///
    /// A buffer inside a variable gives that variable its content, and receives it after the run.
    #[default]
    Fresh,
    /// [`Launch::buffers`], which have a buffer for each of [`crate::exec::variable_segments`].
    ///
    /// Their content lives as long as the caller keeps it.
    InBuffers,
}

/// An allocation in device memory.
#[derive(Debug)]
pub struct Buffer {
    /// Name in the directives.
    pub name: String,
    /// Address in device memory.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Bytes that kernels can access: `bytes`, or more where memory ends later than the buffer.
    /// `words` has these, rounded up to whole words.
    pub reach: u64,
    /// Element type, for printing and comparing.
    pub element: crate::isa::Type,
    /// Content, little-endian.
    pub words: Vec<u32>,
    /// Content that kernels share with its owner; `words` is then empty.
    pub lent: Option<Lent>,
    /// Unwritten words, if they are recorded. A run records its writes there.
    pub unset: Option<UnsetWords>,
    /// True if an argument names the buffer, so that the kernel can address it.
    /// Other buffers hold expected values, which no kernel may access.
    pub mapped: bool,
    /// True if kernels may write to it. False for constants.
    pub writable: bool,
}

impl Buffer {
    /// Returns a copy of the content.
    pub fn content(&self) -> Vec<u32> {
        self.lent.as_ref().map_or_else(|| self.words.clone(), Lent::copy)
    }
}

/// A clone has a content of its own: nothing of it is lent.
impl Clone for Buffer {
    fn clone(&self) -> Buffer {
        Buffer {
            name: self.name.clone(),
            words: self.content(),
            lent: None,
            unset: self.unset.clone(),
            ..*self
        }
    }
}

impl Launch {
    /// Returns the launch with the content that it had when it was cloned as `before`.
    pub(crate) fn reset(self, before: Launch) -> Launch {
        let mut launch = before;
        for (buffer, now) in launch.buffers.iter_mut().zip(self.buffers) {
            if let Some(lent) = now.lent {
                lent.overwrite(&std::mem::take(&mut buffer.words));
                buffer.lent = Some(lent);
            }
        }
        launch
    }

    /// Returns the buffers in the kernel's address space, ascending by address.
    pub fn mapped(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers.iter().filter(|buffer| buffer.mapped)
    }

    /// Returns the address of the grid's workspace; 0 unless the launch is cooperative.
    pub fn workspace(&self) -> u64 {
        if self.cooperative { WORKSPACE } else { 0 }
    }

    /// Gives the launch the memory that an earlier one of the same program left.
    ///
    /// Buffers keep their names and addresses; the content of others stays.
    pub fn follow(&mut self, earlier: Launch) {
        let mut left = earlier.buffers;
        for buffer in &mut self.buffers {
            let same = |b: &&mut Buffer| b.address == buffer.address && b.name == buffer.name;
            if let Some(before) = left.iter_mut().find(same) {
                buffer.words = std::mem::take(&mut before.words);
            }
        }
        self.heap = earlier.heap;
    }

    /// Returns the variables whose memory the launch makes.
    pub fn fresh<'v>(&self, variables: &'v [StaticVariable]) -> &'v [StaticVariable] {
        if self.variables == Variables::Fresh { variables } else { &[] }
    }
}

impl Buffer {
    /// Returns the element at `index` as text for a report; elements past the end are zero.
    pub fn element_text(&self, index: u64) -> String {
        element::show(self.bits(index), self.element)
    }

    /// Returns the element at `index` as a number; elements past the end are zero.
    pub fn number(&self, index: u64) -> String {
        element::number(self.bits(index), self.element)
    }

    fn bits(&self, index: u64) -> u64 {
        let word =
            |i: u64| usize::try_from(i).ok().and_then(|i| self.words.get(i)).copied().unwrap_or(0);
        element::bits(&word, self.element, index)
    }
}

/// Changes made by the command line.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--set NAME=VALUE`: constants and their new expressions. The last one of a name wins.
    pub set: Vec<(String, String)>,
    /// `--grid X,Y,Z`
    pub grid: Option<[u32; 3]>,
    /// `--block X,Y,Z`
    pub block: Option<[u32; 3]>,
    /// Maximum bytes of all buffers together, if below 16 GiB.
    pub most_buffer_bytes: Option<u64>,
    /// Maximum bytes of host memory for buffer contents and expected values.
    /// The default is 2 GiB.
    pub most_memory: Option<u64>,
}
