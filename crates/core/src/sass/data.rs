//! Addresses and contents of a module's variables and constant banks.

use super::facts::{BankFacts, KernelFacts, ModuleFacts, VariableFacts};
use crate::diag::{Diagnostic, Span};
use crate::isa::Space;
use crate::kernel::layout::Bases;
use crate::kernel::{StaticVariable, SystemFn};

/// Maximum bytes of a module's variables and constant banks.
const MOST_DATA: u64 = 256 << 20;
/// Maximum number of constant banks of a module's kernels.
pub(super) const MOST_BANKS: usize = 4000;
/// Distance of two constant banks in the address space.
const BANK_BYTES: u64 = 1 << 20;

/// Addresses of a kernel's data.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) bases: Bases,
    /// Number of the kernel's first own constant bank among those of the module.
    pub(super) first_bank: u64,
}

/// Variables of a module, and the addresses of its constant banks.
pub(super) struct Data {
    pub(super) variables: Vec<StaticVariable>,
    pub(super) banks: Vec<(u8, u64)>,
}

/// Checks the bytes of a module's variables and of a kernel's constant banks.
///
/// # Errors
/// Returns an error at `span` if they are too large.
pub(super) fn check_size(
    module: &ModuleFacts,
    kernel: &KernelFacts,
    span: Span,
) -> Result<(), Diagnostic> {
    let banks = module.banks.iter().chain(&kernel.banks);
    let banks = banks.map(|bank| bank.bytes.len() as u64);
    let variables = module.variables.iter().map(|v| u64::from(v.size));
    if banks.chain(variables).sum::<u64>() <= MOST_DATA {
        return Ok(());
    }
    let message = format!("variables and constant banks have more than {MOST_DATA} bytes");
    Err(Diagnostic::error("too-large", span, message))
}

/// Returns the variables and constant banks of a module without kernels.
///
/// # Errors
/// As [`check_size`].
pub(super) fn alone(module: &ModuleFacts, bases: Bases) -> Result<Vec<StaticVariable>, Diagnostic> {
    let none = KernelFacts::default();
    check_size(module, &none, Span::new(0, 0))?;
    Ok(place(module, &none, Places { bases, first_bank: 0 }).variables)
}

/// Returns the address of a variable or function as a kernel sees it.
///
/// Addresses of functions are offsets in the kernel's code.
pub(super) fn address_of(
    module: &ModuleFacts,
    kernel: &KernelFacts,
    places: Places,
    name: &str,
) -> Option<u64> {
    let variable = module.variables.iter().find(|v| v.name == name);
    let variable = variable.map(|variable| address(variable, places));
    let function = kernel.functions.iter().find(|(known, ..)| known == name);
    let function = function.map(|(_, start, _)| u64::from(*start));
    let itself = || (kernel.name == name).then_some(0);
    let system = || SystemFn::named(name).map(|f| f.native_address().into());
    variable.or(function).or_else(itself).or_else(system)
}

fn address(variable: &VariableFacts, places: Places) -> u64 {
    let Places { bases, .. } = places;
    let base = if variable.constant { bases.constant } else { bases.global };
    base + u64::from(variable.offset)
}

/// Places the module's variables and the kernel's constant banks.
///
/// Kernels have banks of one number with different contents, so each bank has its own address.
pub(super) fn place(module: &ModuleFacts, kernel: &KernelFacts, places: Places) -> Data {
    let Places { bases, first_bank } = places;
    let mut banks: Vec<(u8, u64)> = vec![(3, bases.constant)];
    let contents: Vec<&BankFacts> = module.banks.iter().chain(&kernel.banks).collect();
    let numbers = (1..=module.banks.len() as u64).chain(first_bank..);
    for (at, bank) in numbers.zip(&contents) {
        banks.push((bank.bank, bases.constant + at * BANK_BYTES));
    }
    let of = |name: &str| address_of(module, kernel, places, name).unwrap_or(0);
    let with_addresses = |bytes: &[u8], addresses: &[(u32, String, u64)]| {
        let mut bytes = bytes.to_vec();
        for (at, name, addend) in addresses {
            let (at, value) = (*at as usize, of(name).wrapping_add(*addend));
            if bytes.len() < at + 8 {
                bytes.resize(at + 8, 0);
            }
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        bytes
    };
    let mut variables: Vec<StaticVariable> = Vec::new();
    for variable in &module.variables {
        let mut bytes = with_addresses(&variable.bytes, &variable.addresses);
        bytes.resize(variable.size as usize, 0);
        let space = if variable.constant { Space::Const } else { Space::Global };
        let name = variable.name.clone();
        let address = address(variable, places);
        variables.push(StaticVariable { name, space, address, bytes });
    }
    for (bank, (number, address)) in contents.iter().zip(&banks[1..]) {
        let name = format!("c[0x{number:x}]");
        let bytes = with_addresses(&bank.bytes, &bank.addresses);
        variables.push(StaticVariable { name, space: Space::Const, address: *address, bytes });
    }
    Data { variables, banks }
}
