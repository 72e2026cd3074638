//! Variables and constant banks.

use simt_core::kernel::SystemFn;
use simt_core::kernel::layout::VARIABLE_ALIGN;
use simt_core::sass::facts::{AddressPart, BankFacts, RelocationFacts, VariableFacts};

use crate::image::{
    ADDRESS_64, ADDRESS_CALL, ADDRESS_HIGH, ADDRESS_LOW, DESCRIPTOR, FUNCTION_64, GENERIC_64,
    Image, Section, Symbol, SymbolKind, small,
};
use crate::{CubinError, runtime};

/// Bank of the user's `__constant__` variables.
const USER: u8 = 3;
/// Sections of variables in global memory: initialized and zero.
const INITIALIZED: &str = ".nv.global.init";
const ZERO: &str = ".nv.global";

/// Returns the variables, and the banks that all kernels share.
pub(crate) fn module(
    image: &Image<'_>,
) -> Result<(Vec<VariableFacts>, Vec<BankFacts>), CubinError> {
    let mut constant = Vec::new();
    let mut global = Vec::new();
    let mut banks = Vec::new();
    for (index, section) in image.sections.iter().enumerate() {
        let bank = bank_number(section.name).filter(|(_, kernel)| kernel.is_none());
        match (section.name, bank) {
            (INITIALIZED | ZERO, _) => variables_of(image, index, section, false, &mut global)?,
            (_, Some((USER, _))) => variables_of(image, index, section, true, &mut constant)?,
            (_, Some((number, _))) => banks.push(bank_of(image, number, section)?),
            _ => {}
        }
    }
    global.sort_by_key(|&(symbol, _)| symbol);
    let mut variables: Vec<VariableFacts> = constant.into_iter().map(|(_, v)| v).collect();
    let mut end = 0;
    for (_, mut variable) in global {
        variable.offset = place(&mut end, &variable)?;
        variables.push(variable);
    }
    Ok((variables, banks))
}

/// Returns the offset of the next variable in global memory, and moves `end` past it.
pub(crate) fn place(end: &mut u64, variable: &VariableFacts) -> Result<u32, CubinError> {
    let offset = end.next_multiple_of(VARIABLE_ALIGN);
    *end = offset + u64::from(variable.size);
    small(offset, &format!("the offset of `{}`", variable.name))
}

/// Returns the banks of one kernel, other than bank 0, which holds its parameters.
pub(crate) fn banks_of_kernel(
    image: &Image<'_>,
    kernel: &str,
) -> Result<Vec<BankFacts>, CubinError> {
    let mut banks = Vec::new();
    for section in &image.sections {
        if let Some((number, Some(owner))) = bank_number(section.name)
            && owner == kernel
            && number != 0
        {
            banks.push(bank_of(image, number, section)?);
        }
    }
    Ok(banks)
}

/// Splits `.nv.constant2.NAME` into 2 and NAME.
fn bank_number(section: &str) -> Option<(u8, Option<&str>)> {
    let rest = section.strip_prefix(".nv.constant")?;
    let (number, kernel) = match rest.split_once('.') {
        Some((number, kernel)) => (number, Some(kernel)),
        None => (rest, None),
    };
    Some((number.parse().ok()?, kernel))
}

fn bank_of(image: &Image<'_>, number: u8, section: &Section<'_>) -> Result<BankFacts, CubinError> {
    let addresses = addresses(image, section, 0, section.size)?;
    Ok(BankFacts { bank: number, bytes: section.data.to_vec(), addresses })
}

/// Adds the variables of a section, each with the number of its symbol.
///
/// Symbols are in the order of the declarations.
fn variables_of(
    image: &Image<'_>,
    index: usize,
    section: &Section<'_>,
    constant: bool,
    into: &mut Vec<(usize, VariableFacts)>,
) -> Result<(), CubinError> {
    let mut objects: Vec<(usize, &Symbol<'_>)> = image
        .symbols_of(SymbolKind::Object)
        .filter(|&(_, _, place, _)| place == index)
        .map(|(number, symbol, ..)| (number, symbol))
        .collect();
    objects.sort_by_key(|(_, symbol)| (symbol.value, symbol.size));
    // Bytes without a symbol, such as string literals, get a name of their own.
    let mut at = 0;
    for (number, symbol) in objects {
        let end = symbol.value.checked_add(symbol.size).filter(|&end| end <= section.size);
        let end = end.ok_or_else(|| {
            CubinError::damaged(format!("variable `{}` leaves its section", symbol.name))
        })?;
        if symbol.value > at {
            nameless(image, section, constant, at..symbol.value, into)?;
        }
        let place = symbol.value..end;
        into.push((number, variable(image, section, constant, symbol.name.to_owned(), place)?));
        at = at.max(end);
    }
    nameless(image, section, constant, at..section.size, into)
}

/// Adds the bytes between two variables as another one, unless they are zero.
///
/// It follows all that have a symbol.
fn nameless(
    image: &Image<'_>,
    section: &Section<'_>,
    constant: bool,
    place: std::ops::Range<u64>,
    into: &mut Vec<(usize, VariableFacts)>,
) -> Result<(), CubinError> {
    let name = nameless_name(section, place.start);
    let variable = variable(image, section, constant, name, place)?;
    if !variable.bytes.is_empty() || !variable.addresses.is_empty() {
        into.push((usize::MAX, variable));
    }
    Ok(())
}

fn nameless_name(section: &Section<'_>, at: u64) -> String {
    format!("{}+{at:#x}", section.name)
}

/// Returns a variable at its offset in a section.
fn variable(
    image: &Image<'_>,
    section: &Section<'_>,
    constant: bool,
    name: String,
    place: std::ops::Range<u64>,
) -> Result<VariableFacts, CubinError> {
    let addresses = addresses(image, section, place.start, place.end)?;
    let range = |end: u64| Some(usize::try_from(place.start).ok()?..usize::try_from(end).ok()?);
    let held = place.end.min(section.data.len() as u64);
    let mut bytes = range(held).and_then(|range| section.data.get(range)).unwrap_or_default();
    while let Some((0, rest)) = bytes.split_last() {
        bytes = rest;
    }
    Ok(VariableFacts {
        offset: small(place.start, &format!("the offset of `{name}`"))?,
        size: small(place.end - place.start, &format!("the size of `{name}`"))?,
        name,
        constant,
        bytes: bytes.to_vec(),
        addresses,
    })
}

/// Returns the addresses that the driver writes into bytes `from..to` of a section.
fn addresses(
    image: &Image<'_>,
    section: &Section<'_>,
    from: u64,
    to: u64,
) -> Result<Vec<(u32, String, u64)>, CubinError> {
    let mut found = Vec::new();
    for relocation in section.relocations.iter().filter(|r| (from..to).contains(&r.offset)) {
        let symbol = image.target(relocation)?;
        let is_address = match relocation.kind {
            ADDRESS_64 => true,
            // Generic addresses of variables in global memory are their addresses.
            GENERIC_64 => symbol.section.is_some_and(|i| is_global(image, i)),
            FUNCTION_64 => matches!(symbol.kind, SymbolKind::Function | SymbolKind::Entry),
            _ => false,
        };
        if !is_address {
            return Err(unsupported(relocation.kind, symbol, section));
        }
        let addend = match relocation.addend {
            Some(addend) => addend,
            None => in_place(section, relocation.offset)?,
        };
        let (name, addend) = owner(image, symbol, addend)?;
        found.push((small(relocation.offset - from, "an offset")?, name, addend));
    }
    found.sort();
    Ok(found)
}

/// Returns the addresses that the driver writes into the instructions of a code section.
pub(crate) fn relocations(
    image: &Image<'_>,
    section: &Section<'_>,
) -> Result<Vec<RelocationFacts>, CubinError> {
    let mut found = Vec::new();
    for relocation in &section.relocations {
        let symbol = image.target(relocation)?;
        let part = match relocation.kind {
            ADDRESS_LOW => AddressPart::Low,
            ADDRESS_HIGH => AddressPart::High,
            ADDRESS_CALL => AddressPart::Call,
            kind => return Err(unsupported(kind, symbol, section)),
        };
        let (name, addend) = owner(image, symbol, relocation.addend.unwrap_or(0))?;
        found.push((small(relocation.offset, "an offset")?, part, name, addend));
    }
    found.sort_by_key(|a| a.0);
    Ok(found)
}

/// Returns true if a section holds variables in global memory.
fn is_global(image: &Image<'_>, section: usize) -> bool {
    image.sections.get(section).is_some_and(|s| matches!(s.name, INITIALIZED | ZERO))
}

fn unsupported(kind: u32, symbol: &Symbol<'_>, section: &Section<'_>) -> CubinError {
    if symbol.kind == SymbolKind::Entry {
        return CubinError::Unsupported(format!(
            "the address of kernel `{}` (relocation type {kind}) is not supported: the simulator has \
             no device-side launch (dynamic parallelism); launch the kernel from the host",
            symbol.name
        ));
    }
    let (symbol, section) = (symbol.name, section.name);
    if kind == DESCRIPTOR {
        return CubinError::Unsupported(format!(
            "section `{section}` reads a property from the descriptor of a texture or surface \
             (relocation type {kind} of `{symbol}`), which CUDA's driver does not run either; ask \
             for the width, height or depth, and pass other properties as arguments"
        ));
    }
    CubinError::Unsupported(format!(
        "relocation type {kind} of `{symbol}` in section `{section}` is not supported"
    ))
}

fn in_place(section: &Section<'_>, offset: u64) -> Result<i64, CubinError> {
    let start = usize::try_from(offset).ok();
    let bytes = start.and_then(|start| section.data.get(start..start.checked_add(8)?));
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok()).map(i64::from_le_bytes);
    bytes.ok_or_else(|| CubinError::damaged("a relocation leaves its section"))
}

/// Returns the variable or function that a symbol and an addend point into, and the rest.
fn owner(image: &Image<'_>, symbol: &Symbol<'_>, addend: i64) -> Result<(String, u64), CubinError> {
    let unknown = || {
        let name = symbol.name;
        CubinError::Unsupported(format!("an address of `{name}` is needed, which has no memory"))
    };
    match symbol.kind {
        SymbolKind::Object | SymbolKind::Function | SymbolKind::Entry
            if symbol.section.is_some() =>
        {
            let addend = u64::try_from(addend).map_err(|_| unknown())?;
            Ok((symbol.name.to_owned(), addend))
        }
        _ if symbol.section.is_none()
            && (SystemFn::named(symbol.name).is_some() || runtime::defines(symbol.name)) =>
        {
            Ok((symbol.name.to_owned(), 0))
        }
        SymbolKind::Section => {
            let place = u64::try_from(addend).map_err(|_| unknown())?;
            let index = symbol.section.ok_or_else(unknown)?;
            let holds = |s: &Symbol<'_>| (s.value..s.value.saturating_add(s.size)).contains(&place);
            let found = image
                .symbols_of(SymbolKind::Object)
                .find(|&(_, s, section, _)| section == index && holds(s));
            let (_, found, ..) = found.ok_or_else(unknown)?;
            Ok((found.name.to_owned(), place - found.value))
        }
        _ => Err(unknown()),
    }
}
