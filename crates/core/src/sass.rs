//! Machine code (SASS): a listing with encodings, and the facts of its kernels, to [`Code`].
//!
//! A `.sass` file holds the unchanged text of `cuobjdump -sass`, `//!` directives, and in `//@`
//! lines the facts that the listing does not show ([`facts`]). The compiler's decisions (branches,
//! convergence barriers, stalls, dependence counters) are read, never guessed.
//!
//! [`Code`]: crate::code::Code

mod absent;
mod agree;
mod build;
mod control;
mod data;
pub mod facts;
mod link;
mod listing;
mod lower;
mod text;
mod uses;

use crate::code::Code;
use crate::kernel::layout::Bases;
use crate::kernel::{Checked, Kernel};

/// Returns true if the text is a listing of machine code.
pub fn is_listing(text: &str) -> bool {
    listing::is_listing(text)
}

/// Reads a listing with its facts to kernels, and collects every error.
pub fn read(text: &str) -> Checked {
    read_at(text, Bases::default())
}

/// As [`read`], with given addresses of the module's variables and constant banks.
pub fn read_at(text: &str, bases: Bases) -> Checked {
    build::read(text, bases.clamped())
}

/// Counts the instructions of a listing that can be executed, and all.
pub fn support(text: &str) -> (usize, usize) {
    build::support(text)
}

/// Returns the code of a kernel of machine code; `None` for a kernel of PTX.
pub fn code(kernel: &Kernel) -> Option<Code> {
    build::code(kernel)
}
