//! Constant banks of machine code at the start of a launch.
//!
//! Bank 0 has the launch's shape, the initial stack pointer and the parameters. Operands in
//! constant banks have rows of their own, which are filled once per launch.

use crate::exec::{GlobalMemory, block_shared_bytes};
use crate::kernel::layout::{
    LOCAL_WINDOW, PARAMETERS, RAISED, RESERVED_SHARED, RESERVED_SHARED_END, SHARED_WINDOW,
};
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
/// Number of SMs (`%nsmid`).
const SMS: usize = 0x10c;
/// Since sm_90: end of the shared memory that the system uses, 1 in a cooperative launch, bytes
/// that the system reserves, and those with the block's (`%aggr_smem_size`).
const RESERVED_END: usize = 0x68;
const COOPERATIVE: usize = 0x110;
const RESERVED: usize = 0x114;
const AGGREGATE: usize = 0x13c;
/// Since sm_90: blocks of a cluster by axis, their reciprocals as floats, clusters of the grid by
/// axis, blocks of a cluster.
const CLUSTER: usize = 0x144;
const RECIPROCALS: usize = 0x150;
const CLUSTERS: usize = 0x15c;
const CLUSTER_BLOCKS: usize = 0x188;
/// Since sm_90: generic address of the end of the parameters.
const PARAMETERS_END: usize = 0x1a0;

/// Returns constant bank 0, or the parameter block of PTX.
///
/// The machine has `sms` SMs. Words that neither the compiler nor a special register of PTX names
/// are 0.
pub(super) fn bank_zero(kernel: &Kernel, launch: &Launch, sms: u32) -> Vec<u8> {
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
    put(SMS, sms);
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
        90.. => kernel.parameters_address(),
        _ => PARAMETERS,
    };
    let at = native.parameters_pointer() as usize;
    put(at, parameters as u32);
    put(at + 4, (parameters >> 32) as u32);
    if native.arch >= 90 {
        let end = parameters + launch.params.len() as u64;
        put(PARAMETERS_END, end as u32);
        put(PARAMETERS_END + 4, (end >> 32) as u32);
        put(RESERVED_END, RESERVED_SHARED_END);
        put(COOPERATIVE, (launch.workspace() != 0).into());
        put(RESERVED, RESERVED_SHARED);
        let shared = block_shared_bytes(kernel.shared_bytes, launch.dynamic_shared);
        put(AGGREGATE, native.reserved_shared.saturating_add(shared));
        // A block is a cluster of its own.
        for axis in 0..3 {
            put(CLUSTER + 4 * axis, 1);
            put(RECIPROCALS + 4 * axis, 1_f32.to_bits());
            put(CLUSTERS + 4 * axis, launch.grid[axis]);
        }
        put(CLUSTER_BLOCKS, 1);
    }
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
pub(super) fn registers(
    kernel: &Kernel,
    launch: &Launch,
    sms: u32,
    memory: &GlobalMemory,
) -> Registers {
    let mut registers = kernel.registers.clone();
    let Some(native) = &kernel.native else { return registers };
    let bank = bank_zero(kernel, launch, sms);
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
