//! Loads of parameters and constants at a fixed address: one read for all lanes.

use super::{element, put, read, sign_extend};
use crate::base::LaneMask;
use crate::exec::memory::{ParamBlock, Words};
use crate::exec::{MemoryAccess, RegisterFile};
use crate::isa::Space;
use crate::kernel::{AddressBase, Load, Op};

/// Loads parameters at a fixed address. Returns `None` and does nothing if the instruction is
/// another, or a fault.
pub fn load_parameters(
    op: &Op,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    params: &[u8],
) -> Option<MemoryAccess> {
    let Op::Load(op) = op else { return None };
    let is_fixed = op.address.base == AddressBase::Zero && op.access.space == Space::Param;
    if !is_fixed || op.uniform || lanes.is_empty() {
        return None;
    }
    let address = op.address.offset as u64;
    let access = read(op, Space::Param, lanes, false);
    let bytes = u64::from(access.bytes);
    let last = (params.len() as u64).checked_sub(bytes)?;
    if address > last || !address.is_multiple_of(bytes) {
        return None;
    }
    broadcast(&ParamBlock(params), op, lanes, address, registers);
    Some(access)
}

/// Loads the elements at an address into the registers of `lanes`.
pub(super) fn broadcast(
    memory: &impl Words,
    op: &Load,
    lanes: LaneMask,
    address: u64,
    registers: &mut RegisterFile,
) {
    let access = op.access;
    for (i, d) in op.d.iter().enumerate().take(access.count.into()) {
        let Some(d) = *d else { continue };
        let address = address.wrapping_add(u64::from(access.ty.bytes()) * i as u64);
        let bits = access.ty.bits();
        let value = element(memory, 0, address, bits);
        let value = if access.ty.is_signed() { sign_extend(value, bits) } else { value };
        put(registers, d, access.wide, lanes, |_| value);
    }
}
