//! Facts of a module that the listing does not show: sizes, parameters, constants, source lines.
//!
//! They come from the ELF sections of a cubin and stand as RON in the `//@` lines of a `.sass`
//! file.

mod check;
mod hex;
mod write;

use serde::Deserialize;

use crate::diag::{Diagnostic, Span, closest};

pub use write::write;

/// Start of a line of facts.
pub const MARK: &str = "//@";

/// Facts of one cubin.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "Module", deny_unknown_fields)]
pub struct ModuleFacts {
    /// Architecture number: 90 for sm_90.
    pub arch: u32,
    /// Entry kernels in the order of the listing.
    pub kernels: Vec<KernelFacts>,
    /// Variables in global memory (`.nv.global`, `.nv.global.init`) and in constant bank 3.
    #[serde(default)]
    pub variables: Vec<VariableFacts>,
    /// Constant banks that all kernels share, other than bank 3 (bank 4: addresses of variables).
    #[serde(default)]
    pub banks: Vec<BankFacts>,
    /// Own constant banks of kernels that were left out, whose addresses lie before those of the
    /// others.
    #[serde(default)]
    pub banks_before: u32,
    /// Functions with a code section of their own, which linkers leave for the driver to place.
    #[serde(default)]
    pub functions: Vec<FunctionFacts>,
}

impl ModuleFacts {
    /// Returns the facts of the kernel at a place, or of none, whose data have the same addresses
    /// as in the whole module.
    pub fn part(&self, place: Option<usize>) -> ModuleFacts {
        let end = place.unwrap_or(0).min(self.kernels.len());
        let kernel = place.and_then(|place| self.kernels.get(place));
        ModuleFacts {
            arch: self.arch,
            kernels: kernel.cloned().into_iter().collect(),
            variables: self.variables.clone(),
            banks: self.banks.clone(),
            banks_before: self.banks_before + own_banks(&self.kernels[..end]),
            functions: self.functions.clone(),
        }
    }

    /// Returns true if it has variables or constant banks beside those of its kernels.
    pub(super) fn has_data(&self) -> bool {
        !self.variables.is_empty() || !self.banks.is_empty()
    }

    /// Returns the number of constant banks that its kernels have for themselves.
    pub fn own_banks(&self) -> u32 {
        own_banks(&self.kernels)
    }
}

fn own_banks(kernels: &[KernelFacts]) -> u32 {
    kernels.iter().map(|kernel| kernel.banks.len() as u32).sum()
}

/// Facts of one function outside of the kernels.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "Function", deny_unknown_fields)]
pub struct FunctionFacts {
    /// Name, mangled as in the listing.
    pub name: String,
    /// Size of the code in bytes; 0 if unknown.
    #[serde(default)]
    pub code: u32,
    /// Addresses in its instructions, as [`KernelFacts::relocations`].
    #[serde(default)]
    pub relocations: Vec<RelocationFacts>,
    /// Targets of indirect branches, as [`KernelFacts::indirect`].
    #[serde(default)]
    pub indirect: Vec<(u32, Vec<u32>)>,
    /// Name of the CUDA source file, without its folder.
    #[serde(default)]
    pub source: Option<String>,
    /// Source line by address, as [`KernelFacts::lines`].
    #[serde(default)]
    pub lines: Vec<(u32, u32)>,
    /// PTX line by address, as [`KernelFacts::ptx_lines`].
    #[serde(default)]
    pub ptx_lines: Vec<(u32, u32)>,
}

/// Address that the driver writes into an instruction: byte offset of the instruction, part of the
/// address, name of the variable or function, addend.
pub type RelocationFacts = (u32, AddressPart, String, u64);

/// Part of an address that an instruction holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum AddressPart {
    /// Lower half, as 32-bit immediate (relocation type 56).
    Low,
    /// Upper half, as 32-bit immediate (relocation type 57).
    High,
    /// Target of CALL.ABS (relocation type 75).
    Call,
}

/// Facts of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "Kernel", deny_unknown_fields)]
pub struct KernelFacts {
    /// Name, mangled as in the listing.
    pub name: String,
    /// Size of the code in bytes; 0 if unknown.
    #[serde(default)]
    pub code: u32,
    /// Registers per thread (EIATTR_REGCOUNT).
    pub registers: u32,
    /// Static shared memory in bytes, without the reserved part.
    #[serde(default)]
    pub shared: u32,
    /// Shared memory that the system reserves below the kernel's own, in bytes (1,024 on sm_90).
    #[serde(default)]
    pub reserved_shared: u32,
    /// Local memory per thread in bytes: the stack that c[0x0][0x28] points to the end of
    /// (EIATTR_MIN_STACK_SIZE, or EIATTR_FRAME_SIZE of the kernel if that is larger).
    #[serde(default)]
    pub stack: u32,
    /// Block barriers used (EIATTR_NUM_BARRIERS).
    #[serde(default)]
    pub barriers: u32,
    /// Offset of the first parameter in constant bank 0 (EIATTR_PARAM_CBANK; 0x210 on sm_90).
    pub params_at: u32,
    /// Parameters in order.
    #[serde(default)]
    pub params: Vec<ParameterFacts>,
    /// Constant banks other than 0 that only this kernel has (bank 2: jump tables).
    #[serde(default)]
    pub banks: Vec<BankFacts>,
    /// Targets of indirect branches (EIATTR_INDIRECT_BRANCH_TARGETS): address of the branch, and
    /// addresses of its targets.
    #[serde(default)]
    pub indirect: Vec<(u32, Vec<u32>)>,
    /// Addresses in its instructions that the driver writes.
    #[serde(default)]
    pub relocations: Vec<RelocationFacts>,
    /// Functions inside the kernel's code, ascending: name, first address, end address.
    #[serde(default)]
    pub functions: Vec<(String, u32, u32)>,
    /// Required block shape (EIATTR_REQNTID) or maximum one (EIATTR_MAX_THREADS); true if required.
    #[serde(default)]
    pub block_limit: Option<([u32; 3], bool)>,
    /// Shape of a cluster in blocks (EIATTR_CTA_PER_CLUSTER).
    #[serde(default)]
    pub cluster: Option<[u32; 3]>,
    /// Name of the CUDA source file, without its folder.
    #[serde(default)]
    pub source: Option<String>,
    /// Source line by address, ascending: each line holds from its address on (`.debug_line`).
    #[serde(default)]
    pub lines: Vec<(u32, u32)>,
    /// PTX line by address, as `lines` (`.nv_debug_line_sass`).
    #[serde(default)]
    pub ptx_lines: Vec<(u32, u32)>,
}

/// Facts of one parameter (EIATTR_KPARAM_INFO).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "Parameter", deny_unknown_fields)]
pub struct ParameterFacts {
    /// Byte offset from the first parameter.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// Contents of one constant bank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "Bank", deny_unknown_fields)]
pub struct BankFacts {
    /// Bank number.
    pub bank: u8,
    /// Contents; in the file hexadecimal digits, two a byte, with blanks anywhere.
    #[serde(deserialize_with = "hex::read")]
    pub bytes: Vec<u8>,
    /// 64-bit addresses in the bank: byte offset, name of the variable, addend.
    #[serde(default)]
    pub addresses: Vec<(u32, String, u64)>,
}

/// A variable of the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "Variable", deny_unknown_fields)]
pub struct VariableFacts {
    /// Name, mangled.
    pub name: String,
    /// True for constant bank 3, false for global memory.
    #[serde(default)]
    pub constant: bool,
    /// Byte offset in its section; `.nv.global.init` precedes `.nv.global`.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Initial contents as in [`BankFacts::bytes`]; the rest of the variable is zero.
    #[serde(default, deserialize_with = "hex::read")]
    pub bytes: Vec<u8>,
    /// 64-bit addresses in the variable: byte offset, name, addend.
    #[serde(default)]
    pub addresses: Vec<(u32, String, u64)>,
}

/// Text of the `//@` lines, and the place of each line in the file.
struct Facts {
    text: String,
    /// Start of a line in `text`, and in the file.
    lines: Vec<(usize, usize)>,
}

impl Facts {
    fn of(file: &str) -> Facts {
        let mut facts = Facts { text: String::new(), lines: Vec::new() };
        let mut start = 0;
        for line in file.split_inclusive('\n') {
            if let Some(body) = line.trim_start().strip_prefix(MARK) {
                facts.lines.push((facts.text.len(), start + line.len() - body.len()));
                facts.text.push_str(body);
            }
            start += line.len();
        }
        facts
    }

    /// Returns the place in the file of a byte range of the facts.
    fn span(&self, start: usize, end: usize) -> Span {
        let place = |at: usize| {
            let line = self.lines.partition_point(|&(in_facts, _)| in_facts <= at);
            line.checked_sub(1)
                .and_then(|i| self.lines.get(i))
                .map_or(0, |&(in_facts, in_file)| in_file + (at - in_facts))
        };
        Span::new(place(start), place(end.max(start)))
    }

    /// Returns the byte offset of a 1-based line and column; the column counts characters.
    fn offset(&self, line: usize, column: usize) -> usize {
        let start = line.checked_sub(1).and_then(|i| self.lines.get(i));
        let start = start.map_or(self.text.len(), |&(in_facts, _)| in_facts);
        let rest = self.text.get(start..).unwrap_or_default();
        let within = rest.char_indices().nth(column.saturating_sub(1));
        start + within.map_or(rest.len(), |(i, _)| i)
    }

    fn diagnostic(&self, error: &ron::error::SpannedError) -> Diagnostic {
        let start = self.offset(error.span.start.line, error.span.start.col);
        let end = self.offset(error.span.end.line, error.span.end.col);
        let found = Diagnostic::error("bad-facts", self.span(start, end), error.code.to_string());
        match &error.code {
            ron::Error::NoSuchStructField { expected, found: name, .. } => {
                match closest(name, expected.iter().copied()) {
                    Some(near) => found.help(format!("did you mean `{near}`?")),
                    None => found.help(format!("use one of {}", expected.join(", "))),
                }
            }
            ron::Error::MissingStructField { field, .. } => {
                found.help(format!("add `{field}: ..`, or repeat `simt-sim import`"))
            }
            _ => found.help(AGAIN),
        }
    }
}

/// Way out of facts that were edited or cut.
const AGAIN: &str = "make the file again with `simt-sim import K.cubin -o K.sass`";

/// Returns true if a line belongs to the facts.
pub fn is_facts(line: &str) -> bool {
    line.trim_start().starts_with(MARK)
}

/// Reads the facts in the `//@` lines of a `.sass` file.
///
/// # Errors
/// Returns the first error, with its place in the file: no facts, a syntax error, an unknown or
/// missing field, or an impossible value.
pub fn read(text: &str) -> Result<ModuleFacts, Diagnostic> {
    let facts = Facts::of(text);
    if facts.lines.is_empty() {
        let first = text.find(['\r', '\n']).unwrap_or(text.len());
        let message = "expected the facts of the module in `//@` lines, found none";
        return Err(Diagnostic::error("missing-facts", Span::new(0, first), message).help(AGAIN));
    }
    let options = ron::Options::default()
        .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
        .with_recursion_limit(16);
    let module: ModuleFacts = options.from_str(&facts.text).map_err(|e| facts.diagnostic(&e))?;
    check::check(&module).map_err(|fault| {
        let (start, end) = fault.place(&facts.text);
        Diagnostic::error("bad-facts", facts.span(start, end), fault.message).help(AGAIN)
    })?;
    Ok(module)
}

#[cfg(test)]
mod tests;
