//! Modules: an image that a program loads, to kernels by name.

mod large;

use std::sync::Arc;

use large::Large;
use simt_core::Program;
use simt_core::code::Code;
use simt_core::diag::{self, Source};
use simt_core::kernel::layout::Bases;
use simt_core::kernel::{Kernel, StaticVariable};
use simt_core::machine::Options;
use simt_core::spec::{Machine, Mode, Target};
use simt_core::{exec, ptxas, sass};

use crate::abi::legacy::Settings;
use crate::error::Error;
use crate::fatbin::{self, Taken};
use crate::link;
use crate::memory::AddressSpace;
use crate::state::Driver;
use crate::table::Handle;

/// Largest PTX text, in bytes.
const MOST_TEXT: usize = 64 << 20;

/// Reason why a module cannot be loaded.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) error: Error,
    /// Explanation, complete lines.
    pub(crate) message: String,
}

impl Refusal {
    fn new(error: Error, message: impl std::fmt::Display) -> Refusal {
        Refusal { error, message: format!("error: {message}\n") }
    }
}

/// A loaded module.
pub(crate) struct Module {
    /// Its variables, and its kernels unless it is `large`.
    pub(crate) program: Arc<Program>,
    /// Machine code whose kernels are listed when a program asks for them.
    large: Option<Large>,
    /// Context that loaded it; 0 for a library, which belongs to all.
    pub(crate) context: Handle,
    /// Addresses of the segments of its variables.
    pub(crate) variables: Vec<u64>,
    /// Handles of the kernels that a program asked for, by their place in the module.
    pub(crate) functions: Vec<(usize, Handle)>,
}

/// A kernel that a program asked for.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) module: Handle,
    /// Program that has it.
    pub(crate) program: Arc<Program>,
    /// Index in [`Program::kernels`].
    pub(crate) kernel: usize,
    /// Dynamic shared memory that a launch may ask for, in bytes, once set.
    pub(crate) most_dynamic: Option<u32>,
    /// Settings of launches that pass none.
    pub(crate) settings: Settings,
    /// Code compiled for the device's machine and mode.
    pub(crate) code: Option<Arc<Code>>,
}

/// Number and addresses of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    pub(crate) number: u64,
    pub(crate) bases: Bases,
}

/// Program of an image, and the machine code of kernels that are listed later.
type Read = (Program, Option<Large>);

/// Reads an image to a program for a device of an architecture that takes a kind of code.
fn read(image: &[u8], (arch, taken): (u32, Taken), about: &About) -> Result<Read, Refusal> {
    let magic = image.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes));
    if magic == Some(fatbin::MAGIC) {
        let code = fatbin::choose(image, arch, taken).map_err(|e| {
            let error = match e {
                fatbin::FatbinError::NoCode(_) => Error::NO_BINARY_FOR_GPU,
                fatbin::FatbinError::Damaged(_) => Error::INVALID_IMAGE,
            };
            Refusal::new(error, e)
        })?;
        return match code {
            fatbin::Code::Ptx(text) => Ok((of_text(&text, about)?, None)),
            fatbin::Code::Cubin(image) => large::of_cubin(&image, arch, about),
        };
    }
    if simt_cubin::is_elf(image) {
        return large::of_cubin(image, arch, about);
    }
    Ok((of_text(image, about)?, None))
}

/// Marks of PTX and of listings of machine code: text without any of them is no image.
const IMAGES: [&str; 3] = [".version", ".entry", "//@"];

/// Reads PTX, or a listing of machine code with its facts.
fn of_text(text: &[u8], about: &About) -> Result<Program, Refusal> {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let text = &text[..end];
    if text.len() > MOST_TEXT {
        let message = format!("the PTX has {end} bytes; the limit is {MOST_TEXT}");
        return Err(Refusal::new(Error::INVALID_PTX, message));
    }
    let none =
        || Refusal::new(Error::INVALID_IMAGE, "the image is no PTX, no cubin and no fat binary");
    let text = std::str::from_utf8(text).map_err(|_| none())?;
    if !IMAGES.iter().any(|mark| text.contains(mark)) {
        return Err(none());
    }
    let program = match link::parts(text) {
        Some(parts) => {
            // The runtime gives the files of a program no names.
            let names: Vec<String> =
                parts.iter().map(|(_, text)| name(text, about.number)).collect();
            let named = parts.iter().zip(&names).map(|(&(given, text), found)| {
                (if given.is_empty() { found.as_str() } else { given }, text)
            });
            link::program(&named.collect::<Vec<_>>(), about.bases)
        }
        None => link::program(&[(&name(text, about.number), text)], about.bases),
    };
    if program.kernels.is_empty() && !program.is_sound() {
        return Err(Refusal { error: Error::INVALID_PTX, message: findings(&program, None) });
    }
    Ok(program)
}

/// Returns a name for reports, whose line numbers are those of the PTX: after the source file that
/// it names, or a number.
fn name(text: &str, number: u64) -> String {
    let file = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix(".file"))
        .find_map(|rest| rest.split('"').nth(1))
        .and_then(|path| path.rsplit(['/', '\\']).next());
    let file = file.filter(|file| !file.is_empty() && file.len() < 200);
    file.map_or_else(|| format!("module {number}"), |file| format!("PTX of {file}"))
}

/// Renders the findings against a kernel, or all.
fn findings(program: &Program, kernel: Option<&str>) -> String {
    let source = Source { name: &program.name, text: &program.text };
    diag::render(program.findings_against(kernel), source, false)
}

impl Module {
    /// Returns the architecture that its PTX names, such as 75 of `.target sm_75`.
    pub(crate) fn ptx_target(&self) -> Option<u32> {
        let target = &self.program.module.target.first()?.text;
        let digits = target.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
    }

    /// Returns the number of its kernels.
    pub(crate) fn count(&self) -> usize {
        self.large.as_ref().map_or(self.program.kernels.len(), Large::count)
    }

    /// Finds a kernel by its symbol.
    fn kernel(&self, name: &str) -> Result<usize, Refusal> {
        let program = &self.program;
        if let Some(large) = &self.large {
            let unknown = Refusal { error: Error::NOT_FOUND, message: String::new() };
            return large.place(name).ok_or(unknown);
        }
        let found = program.kernels.iter().position(|kernel| kernel.symbol == name);
        found.ok_or_else(|| {
            if program.refused.iter().any(|refused| refused.symbol == name) {
                let message = findings(program, Some(name));
                return Refusal { error: Error::INVALID_PTX, message };
            }
            Refusal { error: Error::NOT_FOUND, message: String::new() }
        })
    }
}

/// Compiles a kernel for a machine.
pub(crate) fn compile(kernel: &Kernel, machine: &Machine, options: &Options) -> Arc<Code> {
    Arc::new(sass::code(kernel).unwrap_or_else(|| {
        ptxas::compile(kernel, &Target::new(machine, options.yields), options.mode)
    }))
}

/// Makes memory hold the variables of a program but those that it `has`, whose addresses it adds.
fn hold(memory: &mut AddressSpace, program: &Program, has: &mut Vec<u64>) {
    for segment in exec::variable_segments(&program.variables) {
        let (address, bytes) = (segment.0, segment.1);
        if has.contains(&address) {
            continue;
        }
        let within = |v: &&StaticVariable| {
            (address..address + bytes).contains(&v.address) && !v.bytes.is_empty()
        };
        let names = program.variables.iter().filter(within).map(|v| v.name.as_str());
        let name = names.collect::<Vec<_>>().join(", ");
        has.push(address);
        memory.hold(segment, name);
    }
}

impl Driver {
    /// Loads an image for a context; 0 for a library, which belongs to all.
    pub(crate) fn load(&mut self, image: &[u8], context: Handle) -> Result<Handle, Refusal> {
        let device = self.contexts.get(context).map_or(0, |context| context.device);
        let device = self.devices.get(device);
        // Machine code runs in volta mode only.
        let taken = match device.map(|device| device.options.mode) {
            Some(Mode::Volta) if self.options.machine_code => Taken::Machine,
            _ => Taken::Ptx,
        };
        let arch = device.map_or(0, |device| device.arch);
        let about = About { number: self.loaded + 1, bases: self.bases };
        let (program, large) = read(image, (arch, taken), &about)?;
        self.loaded += 1;
        let after = program.bases_after(self.bases);
        self.bases = large.as_ref().map_or(after, |large| large.bases_after(after));
        let mut variables = Vec::new();
        hold(&mut self.memory, &program, &mut variables);
        let program = Arc::new(program);
        Ok(self.modules.add(Module { program, large, context, variables, functions: Vec::new() }))
    }

    /// Returns the handle of a kernel of a module.
    pub(crate) fn function(&mut self, module: Handle, name: &str) -> Result<Handle, Refusal> {
        let unknown = |error| Refusal { error, message: String::new() };
        let found = self.modules.get(module).map_err(unknown)?.kernel(name)?;
        self.function_at(module, found)
    }

    /// Returns the handle of a kernel by its place in the module.
    pub(crate) fn function_at(&mut self, module: Handle, place: usize) -> Result<Handle, Refusal> {
        let unknown = |error| Refusal { error, message: String::new() };
        let known = self.modules.get_mut(module).map_err(unknown)?;
        if let Some((_, handle)) = known.functions.iter().find(|(at, _)| *at == place) {
            return Ok(*handle);
        }
        let (program, kernel) = match &known.large {
            None => (Arc::clone(&known.program), place),
            Some(large) => {
                let program = large.kernel(place)?;
                hold(&mut self.memory, &program, &mut known.variables);
                (Arc::new(program), 0)
            }
        };
        let settings = Settings::default();
        let made = Function { module, program, kernel, most_dynamic: None, settings, code: None };
        let handle = self.functions.add(made);
        known.functions.push((place, handle));
        Ok(handle)
    }

    /// Returns address and size of a variable of a module.
    pub(crate) fn variable(&self, module: Handle, name: &str) -> Result<(u64, u64), Error> {
        let program = &self.modules.get(module)?.program;
        let found = program.variables.iter().find(|v| v.name == name).ok_or(Error::NOT_FOUND)?;
        Ok((found.address, found.bytes.len() as u64))
    }
}
