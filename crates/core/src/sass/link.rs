//! A kernel and the functions outside of it, as one code.
//!
//! A driver places the functions of a module anywhere and writes their addresses into instructions
//! and variables. Here the code of every kernel is followed by all functions, at the same addresses
//! in each kernel, so that a pointer in memory means the same function everywhere.

use super::data::{Places, address_of};
use super::facts::{AddressPart, KernelFacts, ModuleFacts, RelocationFacts};
use super::listing::{Function, Line};
use super::text::{Operand, Text};
use crate::diag::{Diagnostic, Span};
use crate::isa::Opcode;
use crate::kernel::INSTRUCTION_BYTES;

/// Way out of a listing that was edited or cut.
pub(super) const AGAIN: &str = "make the file again with `simt-sim import K.cubin -o K.sass`";
/// Alignment of functions in bytes.
const ALIGNMENT: u32 = 128;
/// Filling between functions: an instruction that stops the program.
const FILLING: (&str, u128) = ("BPT.TRAP 0x1", 0x000f_ea00_0030_0000_0000_0004_0000_795c);
/// Maximum bytes of code of one kernel with its functions.
const MOST_BYTES: u32 = 16_000_000;

/// Code of a kernel with the functions that follow it.
pub(super) struct Linked<'a> {
    /// All instructions; the name is the kernel's.
    pub(super) function: Function<'a>,
    /// Facts of the kernel; its tables also hold those of the functions.
    pub(super) facts: KernelFacts,
    /// First address of the kernel and of each function, ascending.
    starts: Vec<u32>,
}

impl Linked<'_> {
    /// Returns the first address of the kernel or function that an instruction belongs to.
    ///
    /// Addresses in the text of an instruction count from there.
    pub(super) fn start(&self, address: u32) -> u32 {
        let after = self.starts.partition_point(|&start| start <= address);
        after.checked_sub(1).and_then(|i| self.starts.get(i)).copied().unwrap_or(0)
    }
}

/// Puts the functions of a module behind a kernel.
///
/// # Errors
/// Returns an error if the listing lacks a function, or if the code is too large.
pub(super) fn link<'a>(
    kernel: &Function<'a>,
    facts: &KernelFacts,
    module: &ModuleFacts,
    listed: &[Function<'a>],
) -> Result<Linked<'a>, Diagnostic> {
    belongs(kernel, facts.code, module)?;
    let mut linked = Linked { function: kernel.clone(), facts: facts.clone(), starts: vec![0] };
    if module.functions.is_empty() {
        return Ok(linked);
    }
    let too_large = || {
        let message = format!("the kernel and its functions have more than {MOST_BYTES} bytes");
        Diagnostic::error("too-large", kernel.span, message)
    };
    let longest = module.kernels.iter().filter_map(|k| listed.iter().find(|f| f.name == k.name));
    let mut start = longest.map(size).max().unwrap_or(0);
    for outside in &module.functions {
        start = start.checked_next_multiple_of(ALIGNMENT).unwrap_or(u32::MAX);
        let function = listed.iter().find(|f| f.name == outside.name).ok_or_else(|| {
            let message = format!("the listing has no function `{}`", outside.name);
            Diagnostic::error("listing", kernel.span, message).help(AGAIN)
        })?;
        belongs(function, outside.code, module)?;
        let end = start.saturating_add(size(function));
        if end > MOST_BYTES {
            return Err(too_large());
        }
        fill(&mut linked.function, start, kernel.span);
        let moved = |line: &Line<'a>| Line { address: line.address + start, ..line.clone() };
        linked.function.lines.extend(function.lines.iter().map(moved));
        linked.starts.push(start);
        let to = &mut linked.facts;
        to.functions.push((outside.name.clone(), start, end));
        let shifted = |(at, part, name, addend): &RelocationFacts| {
            (at.saturating_add(start), *part, name.clone(), *addend)
        };
        to.relocations.extend(outside.relocations.iter().map(shifted));
        to.indirect.extend(outside.indirect.iter().map(|(at, targets)| {
            let targets = targets.iter().map(|target| target.saturating_add(start)).collect();
            (at.saturating_add(start), targets)
        }));
        append(&mut to.ptx_lines, &outside.ptx_lines, start);
        // A kernel has lines of one file.
        let same = outside.source == to.source;
        append(&mut to.lines, if same { &outside.lines } else { &[] }, start);
        start = end;
    }
    if linked.facts.code != 0 {
        linked.facts.code = size(&linked.function);
    }
    Ok(linked)
}

/// Checks that a function and its facts come from one cubin.
fn belongs(function: &Function<'_>, code: u32, module: &ModuleFacts) -> Result<(), Diagnostic> {
    let found = function.lines.len() as u64 * INSTRUCTION_BYTES;
    let message = if function.arch != 0 && function.arch != module.arch {
        format!("the listing is for sm_{}, its facts for sm_{}", function.arch, module.arch)
    } else if code != 0 && u64::from(code) != found {
        let name = function.name;
        format!("expected {} bytes of code of `{name}`, found {found}", code)
    } else {
        return Ok(());
    };
    Err(Diagnostic::error("listing", function.span, message).help(AGAIN))
}

/// Returns the bytes of a function's code.
fn size(function: &Function<'_>) -> u32 {
    u32::try_from(function.lines.len() as u64 * INSTRUCTION_BYTES).unwrap_or(u32::MAX)
}

/// Fills the code up to an address.
fn fill(function: &mut Function<'_>, to: u32, span: Span) {
    let (text, encoding) = FILLING;
    let number = function.lines.first().map_or(0, |line| line.number);
    while size(function) < to {
        let address = size(function);
        function.lines.push(Line { address, text, span, number, encoding });
    }
}

/// Adds a table of lines by address; code before it that has none gets line 0.
fn append(table: &mut Vec<(u32, u32)>, more: &[(u32, u32)], start: u32) {
    if table.is_empty() && more.is_empty() {
        return;
    }
    if more.first().is_none_or(|(at, _)| *at != 0) {
        table.push((start, 0));
    }
    table.extend(more.iter().map(|(at, line)| (at.saturating_add(start), *line)));
}

/// Writes the addresses that the driver completes into the texts of instructions.
pub(super) fn relocate(
    linked: &Linked<'_>,
    module: &ModuleFacts,
    places: Places,
    texts: &mut [Option<(Text<'_>, &'static Opcode)>],
    errors: &mut Vec<Diagnostic>,
) {
    let Linked { function, facts, .. } = linked;
    for (at, part, name, addend) in &facts.relocations {
        let place = (u64::from(*at) / INSTRUCTION_BYTES) as usize;
        let span = function.lines.get(place).map_or(function.span, |line| line.span);
        let mut error = |message| {
            errors.push(Diagnostic::error("bad-facts", span, message).help(AGAIN));
        };
        let Some(address) = address_of(module, facts, places, name) else {
            error(format!("the module has no variable or function `{name}`"));
            continue;
        };
        let text = match texts.get_mut(place) {
            Some(Some((text, _))) => text,
            // A text that cannot be read is an error already.
            Some(None) => continue,
            None => {
                error(format!("the kernel has no instruction at {at:#x}"));
                continue;
            }
        };
        let start = linked.start(*at);
        if !write(text, *part, address.wrapping_add(*addend), start) {
            error(format!("`{}` holds no address of `{name}`", text.name));
        }
    }
}

/// Writes a part of an address into the operands of an instruction; `start` as
/// [`Linked::start`] returns it. Returns false if the instruction holds no address.
fn write(text: &mut Text<'_>, part: AddressPart, address: u64, start: u32) -> bool {
    let value = match part {
        AddressPart::Low => i64::from(address as u32),
        AddressPart::High => i64::from((address >> 32) as u32),
        AddressPart::Call => (address as i64).wrapping_sub(start.into()),
    };
    let mut found = false;
    for operand in &mut text.operands {
        if let Operand::Integer(held) = operand {
            // One field of an instruction holds an immediate.
            if std::mem::replace(&mut found, true) {
                return false;
            }
            *held = value;
        }
    }
    found
}

#[cfg(test)]
mod tests;
