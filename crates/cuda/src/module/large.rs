//! Machine code, listed as a whole if there is little, else kernel by kernel as a program asks.
//!
//! A library may hold megabytes of code for each of its files, of which a program launches a few
//! kernels; NVIDIA's disassembler lists one in less than half a second, and all of them in many.

use simt_core::Program;
use simt_core::kernel::layout::{BASE_ALIGN, Bases};
use simt_core::sass::facts::{KernelFacts, ModuleFacts};

use super::{About, Refusal, findings};
use crate::error::Error;

/// Bytes of machine code from which on kernels are listed one by one.
const MANY: u64 = 256 << 10;

/// Machine code of a module whose kernels are listed one by one.
pub(super) struct Large {
    image: Vec<u8>,
    facts: ModuleFacts,
    about: About,
}

/// Reads a cubin for a device of an architecture.
pub(super) fn of_cubin(image: &[u8], arch: u32, about: &About) -> Result<super::Read, Refusal> {
    let facts = simt_cubin::facts(image).map_err(bad)?;
    if facts.arch / 10 != arch / 10 || facts.arch > arch {
        let message = format!("the cubin is for sm_{}, the device is sm_{arch}", facts.arch);
        return Err(Refusal::new(Error::NO_BINARY_FOR_GPU, message));
    }
    let code: u64 = facts.kernels.iter().map(|kernel| u64::from(kernel.code)).sum();
    // Functions with a section of their own may be called by any kernel.
    if code > MANY && facts.kernels.len() > 1 && facts.functions.is_empty() {
        let listing = format!("\tcode for sm_{}\n", facts.arch);
        let program = program(facts.part(None), &listing, about)?;
        return Ok((program, Some(Large { image: image.to_vec(), facts, about: *about })));
    }
    let listing = simt_toolkit::listing(image, facts.arch, None)
        .map_err(|e| Refusal::new(Error::INVALID_IMAGE, e))?;
    let program = program(facts, &listing, about)?;
    if program.kernels.is_empty() && !program.is_sound() {
        return Err(Refusal { error: Error::INVALID_IMAGE, message: findings(&program, None) });
    }
    Ok((program, None))
}

impl Large {
    /// Returns the number of its kernels.
    pub(super) fn count(&self) -> usize {
        self.facts.kernels.len()
    }

    /// Returns the place of a kernel by its symbol.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.facts.kernels.iter().position(|kernel| kernel.name == name)
    }

    /// Returns the bases of the next module, given those after its variables.
    pub(super) fn bases_after(&self, bases: Bases) -> Bases {
        Bases { constant: bases.constant + u64::from(self.facts.own_banks()) * BASE_ALIGN, ..bases }
    }

    /// Returns a program that has the kernel at a place, and no other.
    pub(super) fn kernel(&self, place: usize) -> Result<Program, Refusal> {
        let unknown = Refusal { error: Error::NOT_FOUND, message: String::new() };
        let KernelFacts { name, .. } = self.facts.kernels.get(place).ok_or(unknown)?;
        let code = simt_cubin::code(&self.image, name).map_err(bad)?;
        let listing = simt_toolkit::listing_of((name, code), &self.image, self.facts.arch)
            .map_err(|e| Refusal::new(Error::INVALID_IMAGE, e))?;
        let listing = simt_cubin::part(&listing, name);
        let program = program(self.facts.part(Some(place)), &listing, &self.about)?;
        if program.kernels.is_empty() {
            return Err(Refusal { error: Error::INVALID_IMAGE, message: findings(&program, None) });
        }
        Ok(program)
    }
}

/// Makes a program of facts and a listing.
fn program(facts: ModuleFacts, listing: &str, about: &About) -> Result<Program, Refusal> {
    let text = simt_cubin::join("", facts, listing).map_err(bad)?;
    Ok(Program::parse_at(&format!("module {}", about.number), &text, about.bases))
}

fn bad(error: simt_cubin::CubinError) -> Refusal {
    Refusal::new(Error::INVALID_IMAGE, error)
}
