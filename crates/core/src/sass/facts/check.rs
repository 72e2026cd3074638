//! Values that no module has.

use super::{BankFacts, FunctionFacts, KernelFacts, ModuleFacts, RelocationFacts, VariableFacts};

/// Size of a constant bank in bytes.
const BANK: u64 = 64 << 10;
/// Largest stack of a thread in bytes (compute capability 5.0 and later).
const STACK: u32 = 512 << 10;
/// Most registers of a thread.
const REGISTERS: u32 = 255;
/// Most block barriers.
const BARRIERS: u32 = 16;
/// Bytes of a machine instruction since Volta.
const INSTRUCTION: u32 = 16;

/// An impossible value.
pub(super) struct Fault {
    /// Name of the kernel or variable, if it belongs to one.
    owner: Option<String>,
    /// Field that holds it.
    field: &'static str,
    /// Message of the diagnostic.
    pub(super) message: String,
}

impl Fault {
    /// Returns the byte range of the field's name in the text of the facts.
    pub(super) fn place(&self, text: &str) -> (usize, usize) {
        let owner = self.owner.as_ref().and_then(|name| text.find(&format!("{name:?}")));
        let from = owner.unwrap_or(0);
        let rest = text.get(from..).unwrap_or_default();
        match rest.find(&format!("{}:", self.field)) {
            Some(at) => (from + at, from + at + self.field.len()),
            None => (from, from),
        }
    }
}

/// Checks what the types cannot say.
pub(super) fn check(module: &ModuleFacts) -> Result<(), Fault> {
    for (i, kernel) in module.kernels.iter().enumerate() {
        let fault = |(field, message)| Fault { owner: Some(kernel.name.clone()), field, message };
        if module.kernels.iter().take(i).any(|other| other.name == kernel.name) {
            return Err(fault(("name", format!("kernel `{}` stands here twice", kernel.name))));
        }
        check_kernel(kernel).map_err(fault)?;
    }
    for (i, function) in module.functions.iter().enumerate() {
        let fault = |(field, message)| Fault { owner: Some(function.name.clone()), field, message };
        let known = |other: &&FunctionFacts| other.name == function.name;
        let is_kernel = module.kernels.iter().any(|kernel| kernel.name == function.name);
        if is_kernel || module.functions.iter().take(i).any(|other| known(&other)) {
            return Err(fault(("name", format!("function `{}` stands here twice", function.name))));
        }
        check_function(function).map_err(fault)?;
    }
    for variable in &module.variables {
        let fault = |(field, message)| Fault { owner: Some(variable.name.clone()), field, message };
        check_variable(variable).map_err(fault)?;
    }
    check_banks(&module.banks).map_err(|(field, message)| Fault { owner: None, field, message })
}

type Checked = Result<(), (&'static str, String)>;

fn at_most(field: &'static str, what: &str, value: u64, most: u64) -> Checked {
    if value <= most {
        return Ok(());
    }
    Err((field, format!("{value} {what}: at most {most} are possible")))
}

fn check_kernel(k: &KernelFacts) -> Checked {
    at_most("registers", "registers", k.registers.into(), REGISTERS.into())?;
    aligned("code", k.code)?;
    at_most("stack", "bytes of stack", k.stack.into(), STACK.into())?;
    at_most("barriers", "barriers", k.barriers.into(), BARRIERS.into())?;
    at_most("shared", "bytes of shared memory", k.shared.into(), 1 << 20)?;
    at_most("reserved_shared", "reserved bytes", k.reserved_shared.into(), 1 << 16)?;
    for p in &k.params {
        let end = u64::from(k.params_at) + u64::from(p.offset) + u64::from(p.bytes);
        at_most("params", "bytes up to the end of a parameter in bank 0", end, BANK)?;
    }
    at_most("params_at", "bytes before the first parameter", k.params_at.into(), BANK)?;
    check_banks(&k.banks)?;
    check_targets(&k.indirect, &k.relocations)?;
    for (name, start, end) in &k.functions {
        aligned("functions", *start)?;
        if start > end {
            return Err(("functions", format!("function `{name}` ends before it begins")));
        }
    }
    check_lines("lines", &k.lines)?;
    check_lines("ptx_lines", &k.ptx_lines)?;
    if k.cluster.is_some_and(|shape| shape.contains(&0)) {
        return Err(("cluster", "a cluster has at least one block in each dimension".to_owned()));
    }
    match k.block_limit {
        Some(([x, y, z], _)) if [x, y, z].contains(&0) => {
            Err(("block_limit", "a block has at least one thread in each dimension".to_owned()))
        }
        _ => Ok(()),
    }
}

fn check_function(f: &FunctionFacts) -> Checked {
    aligned("code", f.code)?;
    check_targets(&f.indirect, &f.relocations)?;
    check_lines("lines", &f.lines)?;
    check_lines("ptx_lines", &f.ptx_lines)
}

fn check_targets(indirect: &[(u32, Vec<u32>)], relocations: &[RelocationFacts]) -> Checked {
    for (from, targets) in indirect {
        for at in std::iter::once(from).chain(targets) {
            aligned("indirect", *at)?;
        }
    }
    relocations.iter().try_for_each(|(at, ..)| aligned("relocations", *at))
}

fn check_lines(field: &'static str, table: &[(u32, u32)]) -> Checked {
    let descends = |pair: &&[(u32, u32)]| matches!(pair, [a, b] if a.0 >= b.0);
    match table.windows(2).find(descends) {
        Some([_, (at, _)]) => Err((field, format!("expected ascending addresses, found {at:#x}"))),
        _ => Ok(()),
    }
}

fn aligned(field: &'static str, address: u32) -> Checked {
    if address.is_multiple_of(INSTRUCTION) {
        return Ok(());
    }
    Err((field, format!("no instruction is at {address:#x}: expected a multiple of 16")))
}

fn check_banks(banks: &[BankFacts]) -> Checked {
    for bank in banks {
        at_most("bank", "as a bank's number", bank.bank.into(), 31)?;
        at_most("bytes", "bytes in a constant bank", bank.bytes.len() as u64, BANK)?;
        check_addresses(&bank.addresses, bank.bytes.len() as u64)?;
    }
    Ok(())
}

fn check_variable(v: &VariableFacts) -> Checked {
    at_most("bytes", "initial bytes", v.bytes.len() as u64, v.size.into())?;
    let end = u64::from(v.offset) + u64::from(v.size);
    if v.constant {
        at_most("size", "bytes up to the variable's end in bank 3", end, BANK)?;
    }
    at_most("size", "bytes up to the variable's end", end, u32::MAX.into())?;
    check_addresses(&v.addresses, v.size.into())
}

fn check_addresses(addresses: &[(u32, String, u64)], size: u64) -> Checked {
    let end = addresses.iter().map(|(at, ..)| u64::from(*at) + 8).max().unwrap_or(0);
    at_most("addresses", "bytes up to the end of an address", end, size)
}
