//! Copies of bytes, to and from memory and the variables of a module.

use super::context::{self, current, device};
use super::copy3d::Copy3d;
use super::driver::Driver;
use super::memory::{Place, place};
use super::register::variable;
use super::{Out, api};
use crate::errors::{Error, Result};
use crate::registry::Handle;

/// Direction that a caller asks for (`cudaMemcpyKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    Default,
}

impl Kind {
    /// Returns the direction with a number.
    ///
    /// # Errors
    /// Returns `cudaErrorInvalidMemcpyDirection` for other numbers.
    pub(super) fn of(number: u32) -> Result<Kind> {
        Ok(match number {
            0 => Kind::HostToHost,
            1 => Kind::HostToDevice,
            2 => Kind::DeviceToHost,
            3 => Kind::DeviceToDevice,
            4 => Kind::Default,
            _ => return Err(Error::INVALID_DIRECTION),
        })
    }
}

/// Direction of a copy: which ends are device addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Direction {
    pub(super) to_device: bool,
    pub(super) from_device: bool,
}

/// Returns the direction of a copy.
///
/// The caller's word makes an end a device address; the driver refuses one that is none. An end
/// that should be in the host but is in a device is copied from there: addresses are unified.
pub(super) fn resolve(driver: &Driver, to: usize, from: usize, kind: Kind) -> Direction {
    let on_device = |pointer| place(driver, pointer).is_device();
    Direction {
        to_device: matches!(kind, Kind::HostToDevice | Kind::DeviceToDevice) || on_device(to),
        from_device: matches!(kind, Kind::DeviceToHost | Kind::DeviceToDevice) || on_device(from),
    }
}

/// Copies bytes; with a stream, in its order.
fn copy(to: usize, from: usize, bytes: usize, kind: u32, stream: Option<Handle>) -> Result<()> {
    let driver = current()?;
    let kind = Kind::of(kind)?;
    if bytes == 0 {
        return Ok(());
    }
    if to == 0 || from == 0 {
        return Err(Error::INVALID_VALUE);
    }
    let direction = resolve(driver, to, from, kind);
    let (on, of) = (to as u64, from as u64);
    match (direction.from_device, direction.to_device, stream.map(context::stream)) {
        (false, true, None) => driver.cuMemcpyHtoD_v2(on, from, bytes),
        (true, false, None) => driver.cuMemcpyDtoH_v2(to, of, bytes),
        (true, true, None) => driver.cuMemcpyDtoD_v2(on, of, bytes),
        (false, true, Some(stream)) => driver.cuMemcpyHtoDAsync_v2(on, from, bytes, stream),
        (true, false, Some(stream)) => driver.cuMemcpyDtoHAsync_v2(to, of, bytes, stream),
        (true, true, Some(stream)) => driver.cuMemcpyDtoDAsync_v2(on, of, bytes, stream),
        // The driver knows addresses that were its own once, and refuses them.
        (false, false, None) => driver.cuMemcpy(on, of, bytes),
        (false, false, Some(stream)) => driver.cuMemcpyAsync(on, of, bytes, stream),
    }
}

/// Copies between devices: within one it is a copy, between two an error.
fn peer(to: (usize, i32), from: (usize, i32), bytes: usize, stream: Option<Handle>) -> Result<()> {
    context::with_device(to.1)?;
    context::with_device(from.1)?;
    if to.1 != from.1 || to.1 != device()? {
        return Err(Error::PEER_UNSUPPORTED);
    }
    copy(to.0, from.0, bytes, 3, stream)
}

/// Returns the address of bytes in a variable.
fn inside(symbol: usize, bytes: usize, offset: usize) -> Result<usize> {
    let (address, size) = variable(symbol)?;
    if offset.checked_add(bytes).is_none_or(|end| end > size) {
        return Err(Error::INVALID_VALUE);
    }
    Ok(address + offset)
}

/// Returns the address and the direction of a copy to a variable.
pub(super) fn to_symbol(
    symbol: usize,
    from: usize,
    bytes: usize,
    offset: usize,
    kind: u32,
) -> Result<(usize, u32)> {
    if !matches!(Kind::of(kind)?, Kind::HostToDevice | Kind::DeviceToDevice | Kind::Default) {
        return Err(Error::INVALID_DIRECTION);
    }
    let to = inside(symbol, bytes, offset)?;
    let from_device = kind == 3 || place(current()?, from) == Place::Device;
    Ok((to, if from_device { 3 } else { 1 }))
}

/// Returns the address and the direction of a copy from a variable.
pub(super) fn from_symbol(
    to: usize,
    symbol: usize,
    bytes: usize,
    offset: usize,
    kind: u32,
) -> Result<(usize, u32)> {
    if !matches!(Kind::of(kind)?, Kind::DeviceToHost | Kind::DeviceToDevice | Kind::Default) {
        return Err(Error::INVALID_DIRECTION);
    }
    let from = inside(symbol, bytes, offset)?;
    let to_device = kind == 3 || place(current()?, to) == Place::Device;
    Ok((from, if to_device { 3 } else { 2 }))
}

/// Returns a copy of bytes as the driver's nodes have it.
pub(super) fn line(to: usize, from: usize, bytes: usize, kind: u32) -> Result<Copy3d> {
    let kind = Kind::of(kind)?;
    if to == 0 || from == 0 {
        return Err(Error::INVALID_VALUE);
    }
    Ok(Copy3d::line(to, from, bytes, resolve(current()?, to, from, kind)))
}

api! {
    cudaMemcpy [cudaMemcpy_ptds] (to: usize, from: usize, bytes: usize, kind: u32) {
        copy(to, from, bytes, kind, None)
    }

    cudaMemcpyAsync [cudaMemcpyAsync_ptsz] (
        to: usize, from: usize, bytes: usize, kind: u32, stream: Handle,
    ) {
        copy(to, from, bytes, kind, Some(stream))
    }

    // The attributes are hints; addresses say where memory is.
    cudaMemcpyWithAttributesAsync [cudaMemcpyWithAttributesAsync_ptsz] (
        to: usize, from: usize, bytes: usize, _attributes: usize, stream: Handle,
    ) {
        copy(to, from, bytes, Kind::Default as u32, Some(stream))
    }

    cudaMemcpyPeer(to: usize, to_device: i32, from: usize, from_device: i32, bytes: usize) {
        peer((to, to_device), (from, from_device), bytes, None)
    }

    cudaMemcpyPeerAsync(
        to: usize, to_device: i32, from: usize, from_device: i32, bytes: usize, stream: Handle,
    ) {
        peer((to, to_device), (from, from_device), bytes, Some(stream))
    }

    cudaMemcpyToSymbol [cudaMemcpyToSymbol_ptds] (
        symbol: usize, from: usize, bytes: usize, offset: usize, kind: u32,
    ) {
        let (to, kind) = to_symbol(symbol, from, bytes, offset, kind)?;
        copy(to, from, bytes, kind, None)
    }

    cudaMemcpyToSymbolAsync [cudaMemcpyToSymbolAsync_ptsz] (
        symbol: usize, from: usize, bytes: usize, offset: usize, kind: u32, stream: Handle,
    ) {
        let (to, kind) = to_symbol(symbol, from, bytes, offset, kind)?;
        copy(to, from, bytes, kind, Some(stream))
    }

    cudaMemcpyFromSymbol [cudaMemcpyFromSymbol_ptds] (
        to: usize, symbol: usize, bytes: usize, offset: usize, kind: u32,
    ) {
        let (from, kind) = from_symbol(to, symbol, bytes, offset, kind)?;
        copy(to, from, bytes, kind, None)
    }

    cudaMemcpyFromSymbolAsync [cudaMemcpyFromSymbolAsync_ptsz] (
        to: usize, symbol: usize, bytes: usize, offset: usize, kind: u32, stream: Handle,
    ) {
        let (from, kind) = from_symbol(to, symbol, bytes, offset, kind)?;
        copy(to, from, bytes, kind, Some(stream))
    }

    cudaGetSymbolAddress(address: Out<usize>, symbol: usize) {
        address.set(variable(symbol)?.0)
    }

    cudaGetSymbolSize(bytes: Out<usize>, symbol: usize) {
        bytes.set(variable(symbol)?.1)
    }
}
