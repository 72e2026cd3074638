//! Machine code (SASS): a listing with encodings, and the facts of its kernels, to [`Code`].
//!
//! A `.sass` file holds the unchanged text of `cuobjdump -sass`, `//!` directives, and in `//@`
//! lines the facts that the listing does not show ([`facts`]). The compiler's decisions (branches,
//! convergence barriers, stalls, dependence counters) are read, never guessed.
//!
//! [`Code`]: crate::code::Code

mod control;
pub mod facts;
mod lower;
mod text;
