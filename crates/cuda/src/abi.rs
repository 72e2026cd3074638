//! The C interface: one function for each entry point, and all `unsafe` code of the crate.
//!
//! Arguments arrive as numbers and as the checked pointers of [`pointer`]; what a call means is in
//! the rooms outside of this folder. A panic, which would be a bug, ends as
//! `CUDA_ERROR_UNKNOWN`.

#![expect(unsafe_code, reason = "the interface is C: exported names, pointers of callers")]

mod arrays;
pub(crate) mod bytes;
mod caller;
mod capture;
mod context;
mod copy;
mod device;
mod executables;
mod exit;
mod functions;
mod graphs;
pub(crate) mod host;
mod ipc;
mod launch;
pub(crate) mod legacy;
mod library;
mod links;
mod logs;
mod memory;
mod module;
mod node_params;
mod nodes;
mod objects;
mod occupancy;
mod ours;
pub(crate) mod output;
pub(crate) mod pointer;
mod pools;
mod resolve;
mod set;
mod streams;
mod tensor_maps;
mod textures;

pub(crate) use context::HEAP;
pub(crate) use exit::at_exit;
pub(crate) use module::Logs;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crate::error::{self, Error};
use crate::failed;
use crate::module::Refusal;

/// Defines entry points. A body returns `Ok` or the error that the caller gets.
macro_rules! entry_points {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            // SAFETY: the name is one of the CUDA driver's interface, which this library stands
            // in for; no other item of the crate has it.
            #[unsafe(no_mangle)]
            pub(super) extern "C" fn $name($($arg: $ty),*) -> u32 {
                $crate::abi::call(stringify!($name), || -> Result<(), $crate::error::Error> {
                    $body
                })
            }
        )*
    };
}
use entry_points;

/// Runs the body of an entry point and returns the number of its result.
fn call(name: &'static str, body: impl FnOnce() -> Result<(), Error>) -> u32 {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        crate::say(&format!("simt-sim: {name} failed; this is a bug of simt-sim\n"));
        Err(Error::UNKNOWN)
    });
    let code = result.err().map_or(0, |error| error.0);
    failed::report(name, code);
    if traces() {
        let shown = error::name(code).unwrap_or("?");
        crate::say(&format!("simt-sim: {name}: {shown}\n"));
    }
    code
}

/// Returns true if every call is logged.
fn traces() -> bool {
    static TRACES: OnceLock<bool> = OnceLock::new();
    *TRACES.get_or_init(|| std::env::var_os("SIMT_SIM_TRACE").is_some_and(|v| !v.is_empty()))
}

/// Shows why an image or a kernel is refused, and returns the code.
fn refuse(refusal: Refusal) -> Error {
    crate::say(&refusal.message);
    refusal.error
}
