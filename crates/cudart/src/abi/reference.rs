//! References to textures and surfaces, which programs of CUDA 11 bind.
//!
//! A program describes a texture reference by a `textureReference`; a call that binds it passes the
//! description on to the driver.

use super::array::Channels;
use super::context::current;
use super::driver::Driver;
use super::register::reference;
use super::texture::{NORMALIZED_COORDINATES, READ_AS_INTEGER, SRGB};
use super::{In, Out, api};
use crate::errors::{Error, Result};
use crate::registry::Handle;

/// `cudaErrorInvalidTexture`, `cudaErrorInvalidTextureBinding` and `cudaErrorInvalidSurface`.
const INVALID_TEXTURE: Error = Error(18);
const INVALID_BINDING: Error = Error(19);
const INVALID_SURFACE: Error = Error(37);

/// Start of `textureReference`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Description {
    normalized_coordinates: i32,
    filter: u32,
    modes: [u32; 3],
    channels: Channels,
    srgb: i32,
}

/// Returns the driver's reference of a program's texture.
fn texture(host: usize) -> Result<(Handle, bool)> {
    reference(host, false)?.ok_or(INVALID_TEXTURE)
}

/// Unbinds a texture and passes its description on.
fn describe(driver: &Driver, host: usize, channels: &In<Channels>) -> Result<(Handle, (u32, u32))> {
    let (handle, normalizes) = texture(host)?;
    let given = In(host as *const Description).get()?;
    let format = if channels.0.is_null() { given.channels } else { channels.get()? }.format()?;
    let flag = |holds: bool, flag: u32| if holds { flag } else { 0 };
    // The properties of a texture are checked with what is bound to it.
    unbind(driver, handle)?;
    driver.cuTexRefSetFormat(handle, format.0, format.1 as i32)?;
    for (axis, mode) in (0..).zip(given.modes) {
        driver.cuTexRefSetAddressMode(handle, axis, mode)?;
    }
    driver.cuTexRefSetFilterMode(handle, given.filter)?;
    let flags = flag(!normalizes, READ_AS_INTEGER)
        | flag(given.normalized_coordinates != 0, NORMALIZED_COORDINATES)
        | flag(given.srgb != 0, SRGB);
    driver.cuTexRefSetFlags(handle, flags)?;
    Ok((handle, format))
}

fn unbind(driver: &Driver, handle: Handle) -> Result<()> {
    driver.cuTexRefSetArray(handle, 0, 0)
}

/// Returns the bytes from an address to the end of its allocation, at most `bytes`.
fn reachable(driver: &Driver, address: u64, bytes: usize) -> Result<usize> {
    let (mut base, mut size) = (0, 0);
    let found = driver.cuMemGetAddressRange_v2(&raw mut base, &raw mut size, address);
    found.map_err(|_| Error::INVALID_VALUE)?;
    let left = (base + size as u64).saturating_sub(address);
    Ok(bytes.min(usize::try_from(left).unwrap_or(usize::MAX)))
}

api! {
    cudaBindTexture(
        offset: Out<usize>, host: usize, address: u64, channels: In<Channels>, bytes: usize,
    ) {
        let driver = current()?;
        let (handle, _) = describe(driver, host, &channels)?;
        let bytes = reachable(driver, address, bytes)?;
        let mut start = 0;
        driver.cuTexRefSetAddress_v2(&raw mut start, handle, address, bytes)?;
        offset.set_if_wanted(start);
        Ok(())
    }

    cudaBindTexture2D(
        offset: Out<usize>, host: usize, address: u64, channels: In<Channels>, width: usize,
        height: usize, pitch: usize,
    ) {
        let driver = current()?;
        let (handle, (format, count)) = describe(driver, host, &channels)?;
        let format = u64::from(count) << 32 | u64::from(format);
        let descriptor = [width as u64, height as u64, format];
        driver.cuTexRefSetAddress2D_v3(handle, &raw const descriptor, address, pitch)?;
        offset.set_if_wanted(0);
        Ok(())
    }

    cudaBindTextureToArray(host: usize, array: Handle, channels: In<Channels>) {
        let driver = current()?;
        let (handle, _) = describe(driver, host, &channels)?;
        if array == 0 {
            return Err(Error::INVALID_VALUE);
        }
        driver.cuTexRefSetArray(handle, array, 1)
    }

    cudaUnbindTexture(host: usize) {
        let driver = current()?;
        unbind(driver, texture(host)?.0)
    }

    cudaGetTextureAlignmentOffset(offset: Out<usize>, host: usize) {
        // Memory is bound where it begins, whatever its alignment.
        texture(host).map_err(|_| INVALID_BINDING)?;
        offset.set(0)
    }

    cudaGetTextureReference(found: Out<usize>, symbol: usize) {
        texture(symbol)?;
        found.set(symbol)
    }

    cudaBindSurfaceToArray(host: usize, array: Handle, _channels: In<Channels>) {
        let driver = current()?;
        let (handle, _) = reference(host, true)?.ok_or(INVALID_SURFACE)?;
        if array == 0 {
            return Err(Error::INVALID_VALUE);
        }
        driver.cuSurfRefSetArray(handle, array, 0)
    }

    cudaGetSurfaceReference(found: Out<usize>, symbol: usize) {
        reference(symbol, true)?.ok_or(INVALID_SURFACE)?;
        found.set(symbol)
    }
}
