//! Bytes of memory, simulated or of the process, moved and filled.

use super::pointer::{self, is_plausible};
use crate::error::Error;
use crate::memory::AddressSpace;

/// Returns the memory at an address, which has `bytes` bytes.
///
/// Simulated memory is checked; memory of the process must only be plausible.
fn place(memory: &mut AddressSpace, address: u64, bytes: u64) -> Result<*mut u8, Error> {
    if AddressSpace::is_device(address) {
        return memory.device_bytes(address, bytes).map(<[u8]>::as_mut_ptr);
    }
    memory.check(address, bytes)?;
    Ok(std::ptr::with_exposed_provenance_mut(address as usize))
}

/// Returns true if all bytes of a range could be memory of the process.
pub(crate) fn are_plausible(address: u64, bytes: u64) -> bool {
    let last = address.checked_add(bytes.saturating_sub(1));
    is_plausible(address) && last.is_some_and(is_plausible)
}

/// Copies bytes between two places.
///
/// # Errors
/// If one of them is no memory.
pub(crate) fn copy(memory: &mut AddressSpace, to: u64, from: u64, bytes: u64) -> Result<(), Error> {
    let source = place(memory, from, bytes)?.cast_const();
    let target = place(memory, to, bytes)?;
    memory.written(to, bytes);
    // SAFETY: device memory was checked and is only reached through the locked driver; the caller
    // promises as much memory of the process. `place` returns plain pointers, so no reference is
    // alive.
    unsafe { pointer::copy(target, source, bytes as usize) };
    Ok(())
}

/// Fills bytes of memory that the driver knows with a value of `element` bytes.
///
/// # Errors
/// If they are no such memory.
pub(crate) fn fill(
    memory: &mut AddressSpace,
    address: u64,
    bytes: u64,
    element: u32,
    value: u32,
) -> Result<(), Error> {
    if !memory.knows(address) {
        return Err(Error::INVALID_VALUE);
    }
    let target = place(memory, address, bytes)?;
    memory.written(address, bytes);
    // SAFETY: the range lies in an allocation that the driver knows, and the driver is locked.
    let target = unsafe { std::slice::from_raw_parts_mut(target, bytes as usize) };
    match (element, value.to_le_bytes()) {
        (1, [a, ..]) => target.fill(a),
        (2, [a, b, ..]) => target.chunks_exact_mut(2).for_each(|c| c.copy_from_slice(&[a, b])),
        (_, all) => target.chunks_exact_mut(4).for_each(|c| c.copy_from_slice(&all)),
    }
    Ok(())
}
