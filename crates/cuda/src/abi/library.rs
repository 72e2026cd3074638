//! Libraries: modules that belong to no context. Their kernels have the handles of functions.

use super::module::{Logs, file, image};
use super::pointer::{In, Out};
use super::{entry_points, refuse};
use crate::error::Error;
use crate::module::Refusal;
use crate::state::driver;
use crate::table::Handle;

entry_points! {
    fn cuLibraryLoadData(
        library: Out<Handle>, code: usize,
        options: In<u32>, values: In<usize>, count: u32,
        _library_options: usize, _library_values: usize, _library_count: u32,
    ) {
        let logs = Logs::read(count, options, values)?;
        let mut driver = driver()?;
        library.check()?;
        match driver.load(&image(code)?, 0) {
            Ok(loaded) => library.set(loaded),
            Err(Refusal { error, message }) => {
                logs.tell(&message)?;
                Err(error)
            }
        }
    }

    fn cuLibraryLoadFromFile(
        library: Out<Handle>, name: In<u8>,
        _options: usize, _values: usize, _count: u32,
        _library_options: usize, _library_values: usize, _library_count: u32,
    ) {
        let mut driver = driver()?;
        library.check()?;
        let loaded = driver.load(&file(name)?, 0).map_err(refuse)?;
        library.set(loaded)
    }

    fn cuLibraryUnload(library: Handle) {
        driver()?.unload(library)
    }

    fn cuLibraryGetKernel(kernel: Out<Handle>, library: Handle, name: In<u8>) {
        let mut driver = driver()?;
        kernel.check()?;
        let found = driver.function(library, &name.text()?).map_err(refuse)?;
        kernel.set(found)
    }

    fn cuLibraryGetKernelCount(count: Out<u32>, library: Handle) {
        let kernels = driver()?.modules.get(library)?.count();
        count.set(kernels as u32)
    }

    fn cuLibraryEnumerateKernels(kernels: Out<Handle>, count: u32, library: Handle) {
        let mut driver = driver()?;
        let there = driver.modules.get(library)?.count();
        for i in 0..there.min(count as usize) {
            let handle = driver.function_at(library, i).map_err(refuse)?;
            kernels.set_at(i, handle)?;
        }
        Ok(())
    }

    fn cuLibraryGetModule(module: Out<Handle>, library: Handle) {
        driver()?.modules.get(library)?;
        module.set(library)
    }

    fn cuLibraryGetGlobal(address: Out<u64>, bytes: Out<usize>, library: Handle, name: In<u8>) {
        let (at, size) = driver()?.variable(library, &name.text()?)?;
        address.set_if(at)?;
        bytes.set_if(size as usize)
    }

    fn cuLibraryGetManaged(address: Out<u64>, bytes: Out<usize>, library: Handle, name: In<u8>) {
        let mut driver = driver()?;
        let (at, size) = driver.variable(library, &name.text()?)?;
        driver.memory.manage(at)?;
        address.set_if(at)?;
        bytes.set_if(size as usize)
    }

    fn cuLibraryGetUnifiedFunction(_function: Out<u64>, library: Handle, _name: In<u8>) {
        driver()?.modules.get(library)?;
        Err(Error::NOT_FOUND)
    }

    fn cuKernelGetFunction(function: Out<Handle>, kernel: Handle) {
        driver()?.functions.get(kernel)?;
        function.set(kernel)
    }

    fn cuKernelGetLibrary(library: Out<Handle>, kernel: Handle) {
        let module = driver()?.functions.get(kernel)?.module;
        library.set(module)
    }
}
