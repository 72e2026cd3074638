//! Constant banks of machine code at the start of a launch.
//!
//! Bank 0 has the launch's shape, the initial stack pointer and the parameters. Operands in
//! constant banks have rows of their own, which are filled once per launch.

use crate::exec::GlobalMemory;
use crate::kernel::layout::{LOCAL_WINDOW, PARAMETERS, RAISED, SHARED_WINDOW};
use crate::kernel::{BankRow, Kernel, NativeKernel, Registers};
use crate::launch::Launch;

/// Offsets in bank 0: block and grid dimensions, shared and local window, stack pointer.
const BLOCK: usize = 0x0;
const GRID: usize = 0xc;
const SHARED: usize = 0x18;
const LOCAL: usize = 0x20;
/// Generic address of the user's constants, before sm_90 and since.
const CONSTANTS: usize = 0x50;
const CONSTANTS_90: usize = 0xd0;
const STACK: usize = 0x28;
/// Bytes of dynamic shared memory (`%dynamic_smem_size`).
const DYNAMIC: usize = 0x2c;

/// Returns constant bank 0, or the parameter block of PTX.
pub(super) fn bank_zero(kernel: &Kernel, launch: &Launch) -> Vec<u8> {
    let Some(native) = &kernel.native else { return launch.params.clone() };
    let mut bank = vec![0; (native.params_at as usize).max(DYNAMIC + 4)];
    let mut put = |at: usize, value: u32| {
        if let Some(place) = bank.get_mut(at..at + 4) {
            place.copy_from_slice(&value.to_le_bytes());
        }
    };
    for axis in 0..3 {
        put(BLOCK + 4 * axis, launch.block[axis]);
        put(GRID + 4 * axis, launch.grid[axis]);
    }
    for (at, window) in [(SHARED, SHARED_WINDOW), (LOCAL, LOCAL_WINDOW)] {
        put(at, window as u32);
        put(at + 4, (window >> 32) as u32);
    }
    // User constants: bank 3.
    if let Some((_, base)) = native.banks.iter().find(|(bank, _)| *bank == 3) {
        let at = if native.arch >= 90 { CONSTANTS_90 } else { CONSTANTS };
        put(at, (base + RAISED) as u32);
        put(at + 4, ((base + RAISED) >> 32) as u32);
    }
    // Before sm_90 the bank's own address, of which the parameters are a part.
    let parameters = match native.arch {
        90.. => PARAMETERS,
        _ => PARAMETERS.wrapping_sub(native.params_at.into()),
    };
    let at = native.parameters_pointer() as usize;
    put(at, parameters as u32);
    put(at + 4, (parameters >> 32) as u32);
    let workspace = launch.workspace();
    let at = native.workspace_at() as usize;
    put(at, (workspace >> 32) as u32);
    put(at + 4, workspace as u32);
    put(DYNAMIC, launch.dynamic_shared);
    put(STACK, native.stack_of(launch.stack));
    bank.extend_from_slice(&launch.params);
    bank
}

/// Returns the register rows of a kernel with the values of its constant banks.
pub(super) fn registers(kernel: &Kernel, launch: &Launch, memory: &GlobalMemory) -> Registers {
    let mut registers = kernel.registers.clone();
    let Some(native) = &kernel.native else { return registers };
    let bank = bank_zero(kernel, launch);
    for at in &native.constants {
        registers.narrow_constants.push((at.row, value(at, native, &bank, memory)));
    }
    registers
}

fn value(at: &BankRow, native: &NativeKernel, zero: &[u8], memory: &GlobalMemory) -> u32 {
    let aligned = at.offset & !3;
    let word = if at.bank == 0 {
        let bytes = (0..4).map(|i| zero.get(aligned as usize + i).copied().unwrap_or(0));
        bytes.rev().fold(0, |word, byte| word << 8 | u32::from(byte))
    } else {
        let base = native.banks.iter().find(|(bank, _)| *bank == at.bank);
        let mut word = [0];
        if let Some((_, base)) = base {
            memory.read(base + u64::from(aligned), &mut word);
        }
        word[0]
    };
    let word = word >> (8 * (at.offset & 3));
    match (at.bytes, at.signed) {
        (1, false) => word & 0xff,
        (1, true) => word as u8 as i8 as u32,
        (2, false) => word & 0xffff,
        (2, true) => word as u16 as i16 as u32,
        _ => word,
    }
}
