//! Reader of cubins: the facts of a module's kernels, from the sections of its ELF image.
//!
//! A cubin is an ELF file of machine `EM_CUDA` that ptxas writes. Its listing comes from NVIDIA's
//! disassembler; [`join`] makes a `.sass` text of the listing and the facts.

mod attributes;
mod code;
mod data;
mod error;
mod image;
mod join;
mod kernels;
mod lines;
mod runtime;

use simt_core::sass::facts::ModuleFacts;

pub use code::{code, has_code, part};
pub use error::CubinError;
pub use join::join;

/// Largest image that [`facts`] reads, in bytes.
pub const MAX_BYTES: u64 = 32 << 20;

/// Returns true if bytes begin like a cubin or another ELF file.
pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(image::MAGIC)
}

/// Returns the facts of a cubin; kernels are in the order of their sections.
///
/// # Errors
/// Returns an error if the bytes are no cubin, are damaged, or use what the simulator cannot load:
/// relocatable code, unknown relocations, symbols that neither the cubin nor the system defines.
pub fn facts(bytes: &[u8]) -> Result<ModuleFacts, CubinError> {
    let image = image::Image::read(bytes)?;
    let (variables, banks) = data::module(&image)?;
    let kernels = kernels::all(&image)?;
    let functions = kernels::functions(&image)?;
    let mut module =
        ModuleFacts { arch: image.arch, kernels, variables, banks, banks_before: 0, functions };
    runtime::add(&mut module)?;
    Ok(module)
}

#[cfg(test)]
mod tests;
