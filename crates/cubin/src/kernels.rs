//! Kernels: sizes, parameters, constants and functions.

use simt_core::sass::facts::{FunctionFacts, KernelFacts, ParameterFacts};

use crate::CubinError;
use crate::attributes::{self, Attribute, code};
use crate::image::{Image, SymbolKind, small};
use crate::{data, lines};

/// Start of the names of code sections.
pub(crate) const TEXT: &str = ".text.";
/// Architecture from which on the shared section includes the part reserved for the system.
const RESERVING: u32 = 90;
/// Bytes of shared memory that the system reserves at address 0.
const RESERVED: u32 = 1024;

/// Returns the facts of the functions that have a code section of their own.
pub(crate) fn functions(image: &Image<'_>) -> Result<Vec<FunctionFacts>, CubinError> {
    let tables = lines::Tables::read(image)?;
    let mut functions = Vec::new();
    for (index, section) in image.sections.iter().enumerate() {
        let Some(name) = section.name.strip_prefix(TEXT) else { continue };
        if image.symbols_of(SymbolKind::Entry).any(|(.., place, _)| place == index) {
            continue;
        }
        if !data::banks_of_kernel(image, name)?.is_empty() {
            return Err(CubinError::Unsupported(format!(
                "function `{name}` has a constant bank of its own; make it `static` or \
                 `__forceinline__`"
            )));
        }
        let lines = tables.of(index, section.size);
        let mut function = FunctionFacts {
            name: name.to_owned(),
            code: small(section.size, "the size of the code")?,
            relocations: data::relocations(image, section)?,
            source: lines.source,
            lines: lines.cuda,
            ptx_lines: lines.ptx,
            ..FunctionFacts::default()
        };
        for a in &attributes_of(image, name)? {
            if a.code == code::INDIRECT_BRANCH_TARGETS {
                indirect(a, &mut function.indirect)?;
            }
        }
        functions.push(function);
    }
    Ok(functions)
}

/// Returns the facts of all kernels, in the order of their sections.
pub(crate) fn all(image: &Image<'_>) -> Result<Vec<KernelFacts>, CubinError> {
    let common = match image.section(".nv.info") {
        Some(section) => attributes::parse(section.data)?,
        None => Vec::new(),
    };
    let mut entries: Vec<_> = image.symbols_of(SymbolKind::Entry).collect();
    entries.sort_by_key(|&(_, symbol, section, _)| (section, symbol.value));
    if entries.is_empty() {
        return Err(CubinError::Unsupported("the cubin has no kernel".to_owned()));
    }
    let tables = lines::Tables::read(image)?;
    let mut kernels = Vec::new();
    for (index, symbol, section, code) in entries {
        let mut kernel = KernelFacts { name: symbol.name.to_owned(), ..KernelFacts::default() };
        sizes(image, index, code, &common, &mut kernel)?;
        own_attributes(image, &mut kernel)?;
        kernel.banks = data::banks_of_kernel(image, &kernel.name)?;
        kernel.relocations = data::relocations(image, code)?;
        for (_, function, place, _) in image.symbols_of(SymbolKind::Function) {
            if place == section {
                let end = function.value.checked_add(function.size).filter(|&e| e <= code.size);
                let end = end.ok_or_else(|| {
                    CubinError::damaged(format!("function `{}` leaves its kernel", function.name))
                })?;
                let start = small(function.value, "the address of a function")?;
                let end = small(end, "the end of a function")?;
                kernel.functions.push((function.name.to_owned(), start, end));
            }
        }
        kernel.functions.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
        let lines = tables.of(section, code.size);
        kernel.source = lines.source;
        kernel.lines = lines.cuda;
        kernel.ptx_lines = lines.ptx;
        kernels.push(kernel);
    }
    Ok(kernels)
}

/// Fills in registers, stack and shared memory.
fn sizes(
    image: &Image<'_>,
    symbol: usize,
    code: &crate::image::Section<'_>,
    common: &[Attribute<'_>],
    kernel: &mut KernelFacts,
) -> Result<(), CubinError> {
    // Before sm_90 the register count also stands in the upper byte of the section's `sh_info`.
    kernel.registers = code.info >> 24;
    for attribute in common {
        let known = [code::REGCOUNT, code::FRAME_SIZE, code::MIN_STACK_SIZE];
        if !known.contains(&attribute.code) || attribute.word(0)? as usize != symbol {
            continue;
        }
        let value = attribute.word(1)?;
        match attribute.code {
            code::REGCOUNT => kernel.registers = value,
            // Recursion: the size is not known.
            _ if value == u32::MAX => {}
            _ => kernel.stack = kernel.stack.max(value),
        }
    }
    if kernel.registers == 0 {
        let name = &kernel.name;
        return Err(CubinError::damaged(format!("kernel `{name}` has no register count")));
    }
    kernel.code = small(code.size, "the size of the code")?;
    let shared = image.section(&format!(".nv.shared.{}", kernel.name));
    kernel.shared = small(shared.map_or(0, |section| section.size), "the shared memory")?;
    if image.arch >= RESERVING {
        kernel.reserved_shared = RESERVED;
        kernel.shared = kernel.shared.saturating_sub(RESERVED);
    }
    Ok(())
}

/// Returns the attributes of one kernel or function (`.nv.info.NAME`).
fn attributes_of<'d>(image: &Image<'d>, name: &str) -> Result<Vec<Attribute<'d>>, CubinError> {
    let section = image.section(&format!(".nv.info.{name}"));
    attributes::parse(section.map_or(&[][..], |section| section.data))
}

/// Relocations by which a driver writes objects of references to constant bank 0.
const REFERENCES: [(u32, &str); 3] = [
    (6, "is a texture reference, which is supported in PTX only; use a texture object"),
    (52, "is a surface reference, which is supported in PTX only; use a surface object"),
    (
        101,
        "is a sampler apart from textures, which CUDA's driver does not load; write `.target \
         texmode_unified` and no sampler",
    ),
];

/// Fills in what `.nv.info.NAME` and `.nv.constant0.NAME` say.
fn own_attributes(image: &Image<'_>, kernel: &mut KernelFacts) -> Result<(), CubinError> {
    let own = attributes_of(image, &kernel.name)?;
    let mut params: Vec<(u32, ParameterFacts)> = Vec::new();
    let mut params_at = None;
    let mut params_size = 0;
    for a in &own {
        match a.code {
            code::KPARAM_INFO | code::KPARAM_INFO_V2 => {
                let (place, packed) = (a.word(1)?, a.word(2)?);
                // The second version is that of kernels with more than 4,096 bytes of parameters.
                let bytes =
                    if a.code == code::KPARAM_INFO { packed >> 18 } else { packed & 0xffff };
                params.push((place & 0xffff, ParameterFacts { offset: place >> 16, bytes }));
            }
            code::PARAM_CBANK => params_at = Some(a.word(1)? & 0xffff),
            code::CBANK_PARAM_SIZE => params_size = u64::from(a.short),
            code::NUM_BARRIERS => kernel.barriers = u32::from(a.short & 0xff),
            code::MAX_THREADS | code::REQNTID => {
                let shape = [a.word(0)?, a.word(1)?, a.word(2)?];
                let required = a.code == code::REQNTID;
                if required || kernel.block_limit.is_none() {
                    kernel.block_limit = Some((shape, required));
                }
            }
            code::CTA_PER_CLUSTER => kernel.cluster = Some([a.word(0)?, a.word(1)?, a.word(2)?]),
            code::INDIRECT_BRANCH_TARGETS => indirect(a, &mut kernel.indirect)?,
            _ => {}
        }
    }
    params.sort_by_key(|(ordinal, _)| *ordinal);
    kernel.params = params.into_iter().map(|(_, parameter)| parameter).collect();
    let bank = image.section(&format!(".nv.constant0.{}", kernel.name));
    for relocation in bank.iter().flat_map(|bank| &bank.relocations) {
        let kind = relocation.kind;
        if let Some((_, what)) = REFERENCES.iter().find(|(reference, _)| *reference == kind) {
            let name = image.target(relocation)?.name;
            return Err(CubinError::Unsupported(format!(
                "`{name}` (relocation type {kind}) {what}"
            )));
        }
    }
    kernel.params_at = match params_at {
        Some(at) => at,
        None => {
            let size = bank.map_or(0, |section| section.size);
            small(size.saturating_sub(params_size), "the size of constant bank 0")?
        }
    };
    Ok(())
}

/// Reads a table of indirect branches: address, an unused word, count, targets.
fn indirect(a: &Attribute<'_>, into: &mut Vec<(u32, Vec<u32>)>) -> Result<(), CubinError> {
    let mut i = 0;
    while 4 * i < a.bytes.len() {
        let (from, count) = (a.word(i)?, a.word(i + 2)? as usize);
        i += 3;
        let mut targets = Vec::new();
        for _ in 0..count {
            targets.push(a.word(i)?);
            i += 1;
        }
        into.push((from, targets));
    }
    Ok(())
}
