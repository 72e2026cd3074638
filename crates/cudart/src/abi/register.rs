//! Registration of a program's fat binaries, kernels and variables at its start, and their lookup.

use super::context::{self, answer, current, lock};
use super::driver::Driver;
use super::{Dim3, In, Out, Text, api};
use crate::errors::{Error, Result};
use crate::props::Version;
use crate::registry::{Handle, Reference, Registry};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;

/// Variable of the environment that asks for machine code where there is PTX, too.
const MACHINE_CODE: &str = "SIMT_SIM_SASS";

/// Everything that the programs of the process registered.
static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());

/// `__fatBinC_Wrapper_t`: what a program registers.
#[repr(C)]
#[derive(Clone, Copy)]
struct Wrapper {
    magic: u32,
    version: u32,
    fat_binary: usize,
    /// In version 2 the address of a list of fat binaries that ends in null.
    parts: usize,
}

impl Wrapper {
    const MAGIC: u32 = 0x4662_43b1;
    /// Version of programs whose files were compiled apart (`-rdc=true`).
    const OF_PARTS: u32 = 2;
    /// Most files of a program.
    const MOST_PARTS: usize = 1 << 16;
    /// `CU_JIT_INPUT_FATBINARY`.
    const FAT_BINARY: u32 = 2;
}

/// Loads a fat binary by the address of its wrapper.
fn load(driver: &Driver, image: usize) -> Result<Handle> {
    let wrapper = In(image as *const Wrapper).get()?;
    if wrapper.magic != Wrapper::MAGIC || wrapper.version != Wrapper::OF_PARTS {
        return load_image(driver, image);
    }
    // The wrapper's own fat binary has the machine code that nvcc linked, if it linked any.
    let linked = || load_image(driver, image);
    let parts = || load_parts(driver, wrapper.parts);
    match std::env::var_os(MACHINE_CODE) {
        Some(_) => linked().or_else(|_| parts()),
        None => parts().or_else(|error| linked().map_err(|_| error)),
    }
}

fn load_image(driver: &Driver, image: usize) -> Result<Handle> {
    let mut library = 0;
    driver.cuLibraryLoadData(&raw mut library, image, 0, 0, 0, 0, 0, 0)?;
    Ok(library)
}

/// Links the fat binaries of a program's files and loads the result.
fn load_parts(driver: &Driver, parts: usize) -> Result<Handle> {
    let mut link = 0;
    driver.cuLinkCreate_v2(0, 0, 0, &raw mut link)?;
    let library = linked(driver, link, parts);
    driver.cuLinkDestroy(link)?;
    library
}

fn linked(driver: &Driver, link: Handle, parts: usize) -> Result<Handle> {
    for index in 0..Wrapper::MOST_PARTS {
        let part = In((parts + index * size_of::<usize>()) as *const usize).get()?;
        if part == 0 {
            break;
        }
        // A fat binary has the size of its header at 6, that of its content at 8.
        let size = In((part + 8) as *const u64).get()? as usize;
        let header = In((part + 6) as *const u16).get()?;
        let size = size.checked_add(header.into()).ok_or(Error::INVALID_VALUE)?;
        driver.cuLinkAddData_v2(link, Wrapper::FAT_BINARY, part, size, 0, 0, 0, 0)?;
    }
    let (mut image, mut size) = (0, 0);
    driver.cuLinkComplete(link, &raw mut image, &raw mut size)?;
    load_image(driver, image)
}

/// Returns the library of a module.
fn library(registry: &mut Registry, driver: &Driver, module: usize) -> Result<Handle> {
    registry.library(module, |image| load(driver, image)).unwrap_or(Err(Error::INVALID_VALUE))
}

/// Returns the driver's kernel for a host stub, or for a kernel that this library gave out.
///
/// # Errors
/// Returns `cudaErrorInvalidDeviceFunction` for other addresses (`cudaErrorInvalidResourceHandle`
/// since CUDA 13) and for kernels that the module lacks, else the error of loading the module.
pub(super) fn kernel(stub: usize) -> Result<Handle> {
    let driver = current()?;
    let mut registry = lock(&REGISTRY);
    let Some(entry) = registry.kernel(stub).cloned() else {
        let given = stub != 0 && registry.has_kernel(stub);
        return match context::version() {
            _ if given => Ok(stub),
            Version::V13 if stub != 0 => Err(Error::INVALID_HANDLE),
            _ => Err(Error::INVALID_DEVICE_FUNCTION),
        };
    };
    if let Some(kernel) = entry.kernel() {
        return Ok(kernel);
    }
    let module = registry.module_of(&entry);
    let library = library(&mut registry, driver, module)?;
    let mut kernel = 0;
    let name = entry.name().as_ptr();
    driver.cuLibraryGetKernel(&raw mut kernel, library, name).map_err(|error| match error {
        Error::SYMBOL_NOT_FOUND => Error::INVALID_DEVICE_FUNCTION,
        other => other,
    })?;
    registry.set_kernel(stub, kernel);
    drop(registry);
    set_managed()?;
    Ok(kernel)
}

/// Returns the host stub of a kernel of the driver, or the kernel if it has none.
pub(super) fn stub(kernel: Handle) -> usize {
    lock(&REGISTRY).stub(kernel).unwrap_or(kernel)
}

/// Returns address and bytes of the variable with a shadow.
///
/// # Errors
/// Returns `cudaErrorInvalidSymbol` for other addresses and for variables that the module lacks,
/// else the error of loading the module.
pub(super) fn variable(shadow: usize) -> Result<(usize, usize)> {
    let driver = current()?;
    set_managed()?;
    let mut registry = lock(&REGISTRY);
    let entry = registry.variable(shadow).cloned().ok_or(Error::INVALID_SYMBOL)?;
    let module = registry.module_of(&entry);
    let library = library(&mut registry, driver, module)?;
    let (mut address, mut bytes) = (0, 0);
    let name = entry.name().as_ptr();
    let found = driver.cuLibraryGetGlobal(&raw mut address, &raw mut bytes, library, name);
    let found = match found {
        Err(Error::SYMBOL_NOT_FOUND) => {
            driver.cuLibraryGetManaged(&raw mut address, &raw mut bytes, library, name)
        }
        found => found,
    };
    found.map_err(|error| match error {
        Error::SYMBOL_NOT_FOUND => Error::INVALID_SYMBOL,
        other => other,
    })?;
    Ok((address as usize, bytes))
}

/// Sets the program's pointers to its managed variables, once each.
///
/// # Errors
/// Returns the error of the first module that cannot be loaded or variable that cannot be found.
fn set_managed() -> Result<()> {
    let mut registry = lock(&REGISTRY);
    let managed = registry.take_managed();
    if managed.is_empty() {
        return Ok(());
    }
    let driver = current()?;
    for variable in managed {
        let library = library(&mut registry, driver, variable.module)?;
        let (mut address, mut bytes) = (0, 0);
        let name = variable.name.as_ptr();
        driver.cuLibraryGetManaged(&raw mut address, &raw mut bytes, library, name)?;
        Out(variable.pointer as *mut usize).set(address as usize)?;
        // Programs name the variable by its pointer, or by what it points to.
        registry.add_variable(variable.module, variable.pointer, variable.name.clone());
        registry.add_variable(variable.module, address as usize, variable.name);
    }
    Ok(())
}

/// Notes a name of a module; a null name is ignored.
fn note(name: &Text, add: impl FnOnce(&mut Registry, &CStr)) {
    if let Ok(name) = name.get() {
        add(&mut lock(&REGISTRY), &name);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(wrapper: usize) -> usize {
    lock(&REGISTRY).add(wrapper)
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_module: usize) {}

/// Forgets a module. Its library stays: a kernel may still run when a process ends.
#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(module: usize) {
    lock(&REGISTRY).remove(module);
}

#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(_module: usize) -> c_char {
    c_char::from(answer("__cudaInitModule", set_managed) == 0)
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFunction(
    module: usize,
    stub: usize,
    _device_stub: *const c_char,
    name: Text,
    _thread_limit: i32,
    _thread: In<Dim3>,
    _block: In<Dim3>,
    _block_shape: In<Dim3>,
    _grid_shape: In<Dim3>,
    _warp: *const i32,
) {
    note(&name, |registry, name| registry.add_kernel(module, stub, name.to_owned()));
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterVar(
    module: usize,
    shadow: usize,
    _device_address: *const c_char,
    name: Text,
    _external: i32,
    _bytes: usize,
    _constant: i32,
    _global: i32,
) {
    note(&name, |registry, name| registry.add_variable(module, shadow, name.to_owned()));
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterHostVar(module: usize, name: Text, shadow: usize, _bytes: usize) {
    note(&name, |registry, name| registry.add_variable(module, shadow, name.to_owned()));
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterManagedVar(
    module: usize,
    pointer: usize,
    _device_address: *const c_char,
    name: Text,
    _external: i32,
    _bytes: usize,
    _constant: i32,
    _global: i32,
) {
    note(&name, |registry, name| registry.add_managed(module, pointer, name.to_owned()));
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterTexture(
    module: usize,
    reference: usize,
    _device_address: *const *const c_void,
    name: Text,
    _dimensions: i32,
    normalizes: i32,
    _external: i32,
) {
    note_reference(module, reference, &name, normalizes != 0);
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterSurface(
    module: usize,
    reference: usize,
    _device_address: *const *const c_void,
    name: Text,
    _dimensions: i32,
    _external: i32,
) {
    note_reference(module, reference, &name, false);
}

fn note_reference(module: usize, host: usize, name: &Text, normalizes: bool) {
    note(name, |registry, name| {
        let name = name.to_owned();
        registry.add_reference(host, Reference { module, name, normalizes, handle: None });
    });
}

/// Returns the driver's reference for a program's description, and true if it reads integers as
/// floats; `None` if the program has no such reference.
///
/// # Errors
/// Returns the error of loading the module.
pub(super) fn reference(host: usize, surface: bool) -> Result<Option<(Handle, bool)>> {
    let driver = current()?;
    let mut registry = lock(&REGISTRY);
    let Some(entry) = registry.reference(host).cloned() else { return Ok(None) };
    if let Some(handle) = entry.handle {
        return Ok(Some((handle, entry.normalizes)));
    }
    let library = library(&mut registry, driver, entry.module)?;
    let (mut module, mut handle) = (0, 0);
    driver.cuLibraryGetModule(&raw mut module, library)?;
    let name = entry.name.as_ptr();
    let found = match surface {
        true => driver.cuModuleGetSurfRef(&raw mut handle, module, name),
        false => driver.cuModuleGetTexRef(&raw mut handle, module, name),
    };
    match found {
        Err(Error::SYMBOL_NOT_FOUND) => return Ok(None),
        found => found?,
    }
    registry.set_reference(host, handle);
    Ok(Some((handle, entry.normalizes)))
}

/// Takes the table of a program's unified functions, which none of ours reads.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterUnifiedTable(_module: usize, _table: *const c_void) {}

api! {
    __cudaGetKernel(found: Out<Handle>, stub: usize) {
        found.set(kernel(stub)?)
    }

    cudaGetKernel(found: Out<Handle>, stub: usize) {
        found.set(kernel(stub)?)
    }

    cudaGetFuncBySymbol(function: Out<Handle>, stub: usize) {
        let kernel = kernel(stub)?;
        let mut found = 0;
        current()?.cuKernelGetFunction(&raw mut found, kernel)?;
        function.set(found)
    }
}

/// Notes a kernel that a program looked up itself, so that launches take it.
pub(super) fn give(kernel: Handle) {
    lock(&REGISTRY).add_given(kernel);
}

/// Returns the kernel of a launch: the handle, or the reason why the stub has none.
pub(super) fn launched(kernel: Handle) -> Result<Handle> {
    match (kernel, context::last_error()) {
        (0, 0) => Err(Error::INVALID_DEVICE_FUNCTION),
        (0, reason) => Err(Error(reason)),
        _ => Ok(kernel),
    }
}
