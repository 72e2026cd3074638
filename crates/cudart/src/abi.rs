//! Exported entry points, with the C interface of `cuda_runtime_api.h`.
//!
//! Each entry point runs its body through [`context::answer`], which notes an error as the thread's
//! last. Pointers of the caller are wrapped at once ([`Out`], [`In`], [`Text`]): null is an error,
//! a wild pointer is the caller's own, as with NVIDIA's library.

#![expect(unsafe_code, reason = "the interface is C")]
#![expect(clippy::too_many_arguments, reason = "the interface has them")]
#![expect(non_snake_case, reason = "names of the CUDA runtime and driver API")]

mod array;
mod capture;
mod context;
mod copy;
mod copy3d;
mod device;
mod driver;
mod func;
mod graph;
mod ipc;
mod launch;
mod library;
mod memory;
mod missing;
mod node;
mod own;
mod pool;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod redirect;
mod reference;
mod register;
mod stream;
mod texture;

use crate::errors::{Error, Result};
use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_char};

/// Defines entry points: `name(arguments) { body }`, or `name [per_thread_name] (arguments) { .. }`
/// where the same call has a variant for the per-thread default stream.
///
/// A body ends in `Result<()>`.
macro_rules! api {
    () => {};
    ($name:ident [$per_thread:ident] $arguments:tt $body:block $($rest:tt)*) => {
        $crate::abi::api!($name $arguments $body);
        $crate::abi::per_thread!($per_thread $name $arguments);
        $crate::abi::api!($($rest)*);
    };
    ($name:ident ($($argument:ident: $type:ty),* $(,)?) $body:block $($rest:tt)*) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> u32 {
            $crate::abi::context::answer(stringify!($name), || $body)
        }
        $crate::abi::api!($($rest)*);
    };
}

/// Defines the variant of an entry point for the per-thread default stream.
macro_rules! per_thread {
    ($per_thread:ident $name:ident ($($argument:ident: $type:ty),* $(,)?)) => {
        #[unsafe(no_mangle)]
        extern "C" fn $per_thread($($argument: $type),*) -> u32 {
            $crate::abi::context::per_thread(|| $name($($argument),*))
        }
    };
}

/// Defines entry points that the driver has under another name, with the same arguments.
macro_rules! forward {
    ($($name:ident = $function:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> u32 {
            $crate::abi::context::answer(stringify!($name), || {
                $crate::abi::context::current()?.$function($($argument),*)
            })
        }
    )*};
}

use {api, forward, per_thread};

/// Pointer to a value that a call returns.
#[repr(transparent)]
struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T: Copy> Out<T> {
    /// Stores the value.
    ///
    /// # Errors
    /// Returns `cudaErrorInvalidValue` for a null pointer.
    fn set(self, value: T) -> Result<()> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the C interface promises null or room for a value; alignment is not relied on.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Stores the value unless the pointer is null.
    fn set_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: as in `set`.
            unsafe { self.0.write_unaligned(value) };
        }
    }
}

impl Out<u8> {
    /// Stores bytes from the pointer on.
    ///
    /// # Errors
    /// Returns `cudaErrorInvalidValue` for a null pointer.
    fn set_bytes(self, bytes: &[u8]) -> Result<()> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the caller's structure has this many bytes in its version of CUDA.
        unsafe { self.0.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }
}

/// Pointer to a value that a call takes.
#[repr(transparent)]
struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// Reads the value.
    ///
    /// # Errors
    /// Returns `cudaErrorInvalidValue` for a null pointer.
    fn get(&self) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the C interface promises null or a value; alignment is not relied on.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

/// Zero-terminated text of the caller.
#[repr(transparent)]
struct Text(*const c_char);

impl Text {
    /// Copies the text.
    ///
    /// # Errors
    /// Returns `cudaErrorInvalidValue` for a null pointer.
    fn get(&self) -> Result<CString> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the C interface promises null or zero-terminated text.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_owned())
    }
}

/// Extent or position of a grid or block.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

/// Bytes that [`crate::image::name`] fills in a copy of the library's file.
#[repr(transparent)]
struct Room(UnsafeCell<[u64; 192]>);

// SAFETY: no code of the process reads or writes the bytes but the loader, before threads exist.
unsafe impl Sync for Room {}

/// Writable, because the loader relocates the dynamic section in place.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data")]
static simt_room: Room = Room(UnsafeCell::new([1; 192]));
