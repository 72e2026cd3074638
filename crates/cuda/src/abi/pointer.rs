//! Pointers of callers, checked before use.
//!
//! They arrive as numbers. A pointer that cannot be one of the process (null, the first page, an
//! address of the simulated memory, not canonical) is refused; of others the caller promises, by
//! the contract of the C interface, that they point to what the call describes.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr;

use crate::error::Error;
use crate::memory::DEVICE_END;

/// First address of the simulated windows; they end at [`DEVICE_END`].
pub(crate) const WINDOWS: u64 = 0x0100_0000_0000;
/// Addresses below are never mapped.
const FIRST_PAGE: u64 = 4096;
/// Addresses from here on belong to the system.
const USER_END: u64 = 1 << 56;
/// Longest text of a caller that is read, in bytes.
const MOST_TEXT: usize = 1 << 16;

/// Returns true if a process could have memory at an address.
pub(crate) fn is_plausible(address: u64) -> bool {
    (FIRST_PAGE..WINDOWS).contains(&address) || (DEVICE_END..USER_END).contains(&address)
}

fn plausible(address: usize) -> Result<usize, Error> {
    if is_plausible(address as u64) { Ok(address) } else { Err(Error::INVALID_VALUE) }
}

/// Place for a result.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Out<T>(usize, PhantomData<T>);

impl<T: Copy> Out<T> {
    pub(crate) fn is_null(self) -> bool {
        self.0 == 0
    }

    /// Makes a pointer of a number.
    pub(crate) const fn at_address(address: usize) -> Out<T> {
        Out(address, PhantomData)
    }

    /// Refuses a pointer that nothing can be written to.
    pub(crate) fn check(self) -> Result<(), Error> {
        plausible(self.0).map(|_| ())
    }

    /// Writes the result.
    pub(crate) fn set(self, value: T) -> Result<(), Error> {
        self.set_at(0, value)
    }

    /// Writes the result unless the pointer is null.
    pub(crate) fn set_if(self, value: T) -> Result<(), Error> {
        if self.is_null() { Ok(()) } else { self.set(value) }
    }

    /// Writes an element of a list.
    pub(crate) fn set_at(self, index: usize, value: T) -> Result<(), Error> {
        let place = ptr::with_exposed_provenance_mut::<T>(plausible(self.0)?);
        // SAFETY: the caller passed the address of so many values of the type, which it may not
        // use during the call; alignment is not assumed.
        unsafe { place.wrapping_add(index).write_unaligned(value) };
        Ok(())
    }
}

impl Out<u8> {
    /// Writes a text with its final zero, cut to `size` bytes.
    pub(crate) fn set_text(self, text: &[u8], size: usize) -> Result<(), Error> {
        if size == 0 {
            return Err(Error::INVALID_VALUE);
        }
        for (i, byte) in text.iter().take(size - 1).chain([&0]).enumerate() {
            self.set_at(i, *byte)?;
        }
        Ok(())
    }
}

/// Values to read.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct In<T>(usize, PhantomData<T>);

impl<T: Copy> In<T> {
    pub(crate) fn is_null(self) -> bool {
        self.0 == 0
    }

    /// Makes a pointer of a number.
    pub(crate) const fn at_address(address: usize) -> In<T> {
        In(address, PhantomData)
    }

    pub(crate) fn get(self) -> Result<T, Error> {
        self.at(0)
    }

    /// Reads an element of a list.
    pub(crate) fn at(self, index: usize) -> Result<T, Error> {
        let place = ptr::with_exposed_provenance::<T>(plausible(self.0)?);
        // SAFETY: the caller passed the address of so many values of the type; every bit pattern
        // of the types used is a value; alignment is not assumed.
        Ok(unsafe { place.wrapping_add(index).read_unaligned() })
    }
}

impl<T: Copy> In<T> {
    /// Writes where the caller passed a value and expects another.
    pub(crate) fn overwrite(self, value: T) -> Result<(), Error> {
        Out::at_address(self.0).set(value)
    }
}

impl In<usize> {
    /// Returns the place of an element of a list.
    pub(crate) fn slot(self, index: usize) -> In<usize> {
        In::at_address(self.0.wrapping_add(index * size_of::<usize>()))
    }
}

impl In<u8> {
    /// Reads a text that ends with zero.
    pub(crate) fn text(self) -> Result<String, Error> {
        let place = ptr::with_exposed_provenance::<std::ffi::c_char>(plausible(self.0)?);
        // SAFETY: the caller passed a text that ends with zero.
        let text = unsafe { CStr::from_ptr(place) }.to_bytes();
        let text = text.get(..MOST_TEXT).unwrap_or(text);
        String::from_utf8(text.to_vec()).map_err(|_| Error::INVALID_VALUE)
    }

    /// Reads bytes.
    pub(crate) fn bytes(self, count: usize) -> Result<Vec<u8>, Error> {
        let place = ptr::with_exposed_provenance::<u8>(plausible(self.0)?);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(count).map_err(|_| Error::OUT_OF_MEMORY)?;
        bytes.resize(count, 0);
        // SAFETY: the caller passed the address of so many bytes; the copy is ours alone.
        unsafe { ptr::copy_nonoverlapping(place, bytes.as_mut_ptr(), count) };
        Ok(bytes)
    }

    /// Reads the bytes before the final zero.
    pub(crate) fn until_zero(self) -> Result<Vec<u8>, Error> {
        let place = ptr::with_exposed_provenance::<std::ffi::c_char>(plausible(self.0)?);
        // SAFETY: the caller passed a text that ends with zero.
        Ok(unsafe { CStr::from_ptr(place) }.to_bytes().to_vec())
    }
}

/// Copies bytes between two places, which may overlap.
///
/// # Safety
/// Both places have `bytes` bytes, and no Rust reference to them is alive.
pub(super) unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { ptr::copy(from, to, bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wild_pointers_are_refused() {
        let out = |address| Out::<u32>(address, PhantomData).set(1);
        for address in [0, 4, 4095, 0x0700_0000_0000, 0x0100_0000_0000, usize::MAX - 7] {
            assert_eq!(out(address), Err(Error::INVALID_VALUE), "{address:#x}");
        }
        let mut value = 0_u32;
        assert_eq!(out((&raw mut value).expose_provenance()), Ok(()));
        assert_eq!(value, 1);
    }
}
