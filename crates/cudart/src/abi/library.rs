//! Libraries that a program loads itself, and the description of texels.

use super::context::current;
use super::{Out, Text, api};
use crate::registry::Handle;

api! {
    cudaLibraryLoadData(
        library: Out<Handle>, code: usize, jit_names: usize, jit_values: usize, jit_count: u32,
        names: usize, values: usize, count: u32,
    ) {
        let mut made = 0;
        current()?.cuLibraryLoadData(
            &raw mut made, code, jit_names, jit_values, jit_count, names, values, count,
        )?;
        library.set(made)
    }

    cudaLibraryLoadFromFile(
        library: Out<Handle>, path: Text, jit_names: usize, jit_values: usize, jit_count: u32,
        names: usize, values: usize, count: u32,
    ) {
        let (path, mut made) = (path.get()?, 0);
        current()?.cuLibraryLoadFromFile(
            &raw mut made, path.as_ptr(), jit_names, jit_values, jit_count, names, values, count,
        )?;
        library.set(made)
    }

    cudaLibraryUnload(library: Handle) {
        current()?.cuLibraryUnload(library)
    }

    cudaLibraryGetKernel(kernel: Out<Handle>, library: Handle, name: Text) {
        let (name, mut found) = (name.get()?, 0);
        current()?.cuLibraryGetKernel(&raw mut found, library, name.as_ptr())?;
        super::register::give(found);
        kernel.set(found)
    }

    cudaLibraryGetKernelCount(count: Out<u32>, library: Handle) {
        let mut found = 0;
        current()?.cuLibraryGetKernelCount(&raw mut found, library)?;
        count.set(found)
    }

    cudaLibraryEnumerateKernels(kernels: *mut Handle, count: u32, library: Handle) {
        current()?.cuLibraryEnumerateKernels(kernels, count, library)
    }

    cudaLibraryGetGlobal(address: Out<usize>, bytes: Out<usize>, library: Handle, name: Text) {
        let (name, mut at, mut size) = (name.get()?, 0, 0);
        current()?.cuLibraryGetGlobal(&raw mut at, &raw mut size, library, name.as_ptr())?;
        address.set_if_wanted(at as usize);
        bytes.set_if_wanted(size);
        Ok(())
    }

    cudaLibraryGetManaged(address: Out<usize>, bytes: Out<usize>, library: Handle, name: Text) {
        let (name, mut at, mut size) = (name.get()?, 0, 0);
        current()?.cuLibraryGetManaged(&raw mut at, &raw mut size, library, name.as_ptr())?;
        address.set_if_wanted(at as usize);
        bytes.set_if_wanted(size);
        Ok(())
    }
}

/// `cudaChannelFormatDesc`: bits of the four components and their kind.
#[repr(C)]
struct Channels {
    bits: [i32; 4],
    kind: u32,
}

#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: u32) -> Channels {
    Channels { bits: [x, y, z, w], kind }
}
