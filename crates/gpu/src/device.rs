//! Driver calls: compile, allocate, launch, wait, read back.
//!
//! The only module (with `images` in it) that may use `unsafe`: every driver call is foreign. The
//! values below own their handles and release them on drop; only after a kernel that does not end
//! are they left to the end of the process, because the driver would wait for it.

#![expect(unsafe_code, reason = "the driver's interface is C")]

mod images;

use super::{DeviceError, DeviceFinish, DeviceRun, Image};
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use images::Images;
use simt_core::isa::Sem;
use simt_core::kernel::Kernel;
use simt_core::launch::{Buffer, Launch};
use std::borrow::Cow;
use std::ffi::{CString, c_uint, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::time::{Duration, Instant};

/// Bytes kept of the compiler's log.
const LOG_BYTES: usize = 16 << 10;
/// Polling interval of a running kernel.
const PAUSE: Duration = Duration::from_micros(200);

/// Bytes of stack per thread for a kernel that calls functions.
const STACK_BYTES: usize = 32 << 10;

/// Returns true if a kernel of PTX calls functions. (Machine code keeps the driver's limit, which
/// the simulator has, too.)
fn calls(kernel: &Kernel) -> bool {
    kernel.insts.iter().any(|inst| kernel.row(inst).is_some_and(|row| row.sem == Sem::Call))
}

/// See [`super::run_reading`].
pub(super) fn run(
    image: Image<'_>,
    kernel: &Kernel,
    launch: &Launch,
    limit: Duration,
    variables: &[&str],
) -> Result<DeviceRun, DeviceError> {
    let device = Device::first()?;
    let module = Compiled::new(image)?;
    if calls(kernel) {
        // Recursion needs more than the driver's default of one kilobyte. A device with less memory
        // keeps its limit.
        let _ = result::ctx::set_limit(sys::CUlimit_enum::CU_LIMIT_STACK_SIZE, STACK_BYTES);
    }
    let function = module.function(&kernel.symbol)?;
    if let Ok(bytes @ 1..) = i32::try_from(launch.dynamic_shared) {
        let attribute =
            sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: `function` belongs to `module`, which is alive.
        unsafe { result::function::set_function_attribute(function, attribute, bytes) }
            .map_err(refused("requesting dynamic shared memory"))?;
    }
    let place =
        |buffer: &Buffer| match kernel.variables.iter().find(|v| v.address == buffer.address) {
            Some(variable) if buffer.mapped => module.filled(&variable.name, buffer),
            _ => Allocation::of(&buffer.words),
        };
    let memory = launch.buffers.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let images = Images::of(launch, &memory)?;
    let mut params = relocate(kernel, launch, &memory, &images);
    let (start, end) = (Stamp::new()?, Stamp::new()?);
    start.record()?;
    start_kernel(function, kernel, launch, &mut params)?;
    end.record()?;
    let finish = wait(&end, limit);
    let mut done = DeviceRun {
        gpu: device.name.clone(),
        driver: device.driver.clone(),
        finish,
        micros: None,
        buffers: Vec::new(),
        variables: Vec::new(),
    };
    if done.finish == DeviceFinish::Ok {
        // SAFETY: both events exist and have happened.
        let elapsed = unsafe { result::event::elapsed(start.0, end.0) };
        done.micros = elapsed.ok().map(|ms| ms * 1000.0);
        images.give_back(&memory)?;
        done.buffers = memory.iter().map(Allocation::read).collect::<Result<_, _>>()?;
        done.variables =
            variables.iter().map(|name| module.variable(name)).collect::<Result<_, _>>()?;
    } else {
        // Releasing would wait for the kernel, or fail after its fault; the end of the process
        // releases everything.
        std::mem::forget((device, module, memory, images, start, end));
    }
    Ok(done)
}

/// Wraps an error of the driver.
fn refused(step: &'static str) -> impl Fn(DriverError) -> DeviceError {
    move |e| DeviceError::Refused { step, reason: words(&e), log: String::new() }
}

fn words(error: &DriverError) -> String {
    match (error.error_name(), error.error_string()) {
        (Ok(name), Ok(text)) => format!("{} ({})", text.to_string_lossy(), name.to_string_lossy()),
        _ => format!("error {}", error.0 as u32),
    }
}

/// The first device, with its primary context current.
pub(super) struct Device {
    handle: sys::CUdevice,
    name: String,
    driver: String,
}

impl Device {
    pub(super) fn first() -> Result<Device, DeviceError> {
        // SAFETY: it only tries to load the library. The bindings would panic at their first call
        // without it.
        if !unsafe { sys::is_culib_present() } {
            return Err(DeviceError::NoDriver);
        }
        let absent = |e: DriverError| DeviceError::NoDevice(words(&e));
        result::init().map_err(absent)?;
        let handle = result::device::get(0).map_err(absent)?;
        let name = result::device::get_name(handle).map_err(absent)?;
        // SAFETY: the handle came from the driver.
        let context = unsafe { result::primary_ctx::retain(handle) }.map_err(absent)?;
        // SAFETY: the context was just retained.
        unsafe { result::ctx::set_current(context) }.map_err(absent)?;
        Ok(Device { handle, name, driver: driver_version() })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: retained once in `first`. An error here cannot be reported.
        let _ = unsafe { result::primary_ctx::release(self.handle) };
    }
}

/// Driver version, such as `580.159.04, CUDA 13.0`, as far as known.
fn driver_version() -> String {
    let mut version = 0;
    // SAFETY: the pointer is valid for the call.
    let cuda = match unsafe { sys::cuDriverGetVersion(&mut version) }.result() {
        Ok(()) => format!("CUDA {}.{}", version / 1000, version % 1000 / 10),
        Err(_) => "CUDA version unknown".to_string(),
    };
    match std::fs::read_to_string("/sys/module/nvidia/version") {
        Ok(kernel) => format!("{}, {cuda}", kernel.trim()),
        Err(_) => cuda,
    }
}

/// A compiled and loaded module.
struct Compiled(sys::CUmodule);

impl Compiled {
    fn new(image: Image<'_>) -> Result<Compiled, DeviceError> {
        let (step, image) = match image {
            Image::Cubin(bytes) => ("loading the machine code", Cow::Borrowed(bytes)),
            Image::Ptx(text) => {
                let step = "compiling the program";
                let text = CString::new(text).map_err(|_| DeviceError::Refused {
                    step,
                    reason: "the text contains a NUL byte".to_string(),
                    log: String::new(),
                })?;
                (step, Cow::Owned(text.into_bytes_with_nul()))
            }
        };
        let mut log = vec![0u8; LOG_BYTES];
        let mut options = [
            sys::CUjit_option_enum::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option_enum::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        // The driver takes numbers in place of pointers, by value.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), without_provenance_mut(LOG_BYTES)];
        let mut module = null_mut();
        // SAFETY: a text ends with NUL, a cubin has its own length; there are two options with
        // their values; the log has the stated length.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                image.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        loaded.result().map_err(|e| {
            let end = log.iter().position(|b| *b == 0).unwrap_or(log.len());
            let log = String::from_utf8_lossy(&log[..end]).trim().to_string();
            DeviceError::Refused { step, reason: words(&e), log }
        })?;
        Ok(Compiled(module))
    }

    fn function(&self, name: &str) -> Result<sys::CUfunction, DeviceError> {
        let found = CString::new(name).unwrap_or_default();
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(self.0, found) }
            .map_err(refused("looking for the kernel"))
    }

    /// Copies a buffer to the variable that it fills.
    fn filled(&self, name: &str, buffer: &Buffer) -> Result<Allocation, DeviceError> {
        let found = CString::new(name).unwrap_or_default();
        // SAFETY: the module is loaded.
        let (address, size) = unsafe { result::module::get_global(self.0, found) }
            .map_err(refused("looking for a variable"))?;
        let bytes: Vec<u8> = buffer.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let bytes = &bytes[..bytes.len().min(size)];
        // SAFETY: the variable has at least as many bytes.
        unsafe { result::memcpy_htod_sync(address, bytes) }
            .map_err(refused("copying a buffer to the device"))?;
        Ok(Allocation { address, bytes: bytes.len(), is_variable: true })
    }

    /// Complete words of a `.global` variable.
    fn variable(&self, name: &str) -> Result<Vec<u32>, DeviceError> {
        let found = CString::new(name).unwrap_or_default();
        // SAFETY: the module is loaded.
        let (address, bytes) = unsafe { result::module::get_global(self.0, found) }
            .map_err(refused("looking for a variable"))?;
        let mut words = vec![0u32; bytes / 4];
        // SAFETY: the variable is at least as large as the words.
        unsafe { result::memcpy_dtoh_sync(&mut words, address) }
            .map_err(refused("reading a variable"))?;
        Ok(words)
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: loaded once in `new`.
        let _ = unsafe { result::module::unload(self.0) };
    }
}

/// Device memory that holds a buffer's words.
struct Allocation {
    address: sys::CUdeviceptr,
    bytes: usize,
    /// True if the memory belongs to the module.
    is_variable: bool,
}

impl Allocation {
    fn of(words: &[u32]) -> Result<Allocation, DeviceError> {
        // SAFETY: the size is not 0, because every buffer has an element.
        let address = unsafe { result::malloc_sync(size_of_val(words).max(4)) }
            .map_err(refused("allocating memory"))?;
        let allocation = Allocation { address, bytes: size_of_val(words), is_variable: false };
        // SAFETY: the allocation is as large as the words.
        unsafe { result::memcpy_htod_sync(address, words) }
            .map_err(refused("copying a buffer to the device"))?;
        Ok(allocation)
    }

    fn read(&self) -> Result<Vec<u32>, DeviceError> {
        let mut bytes = vec![0u8; self.bytes];
        // SAFETY: the allocation has as many bytes.
        unsafe { result::memcpy_dtoh_sync(&mut bytes, self.address) }
            .map_err(refused("copying a buffer from the device"))?;
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &b| word << 8 | u32::from(b));
        Ok(bytes.chunks(4).map(word).collect())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if !self.is_variable {
            // SAFETY: allocated once in `of`.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// An event on the default stream.
struct Stamp(sys::CUevent);

impl Stamp {
    fn new() -> Result<Stamp, DeviceError> {
        let flags = sys::CUevent_flags_enum::CU_EVENT_DEFAULT;
        result::event::create(flags).map(Stamp).map_err(refused("creating an event"))
    }

    fn record(&self) -> Result<(), DeviceError> {
        // SAFETY: the event exists; null is the default stream.
        unsafe { result::event::record(self.0, null_mut()) }.map_err(refused("recording an event"))
    }
}

impl Drop for Stamp {
    fn drop(&mut self) {
        // SAFETY: created once in `new`.
        let _ = unsafe { result::event::destroy(self.0) };
    }
}

/// Builds the parameter block with device addresses. An address in a buffer of the launch (or one
/// past its end) becomes the address in the device's buffer. Buffers have such high addresses that
/// no other number looks like one. In a launch with textures, a parameter of 64 bits with the
/// number of an object becomes the device's object.
fn relocate(kernel: &Kernel, launch: &Launch, memory: &[Allocation], images: &Images) -> Vec<u8> {
    let mut params = launch.params.clone();
    for parameter in &kernel.params {
        for place in (parameter.offset..parameter.offset + parameter.bytes).step_by(8) {
            let place = place as usize;
            let Some(bytes) = params.get_mut(place..place + 8) else { continue };
            let value = bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
            let found = launch.buffers.iter().zip(memory).find_map(|(buffer, there)| {
                let offset =
                    value.checked_sub(buffer.address).filter(|offset| *offset <= buffer.bytes)?;
                Some(there.address.wrapping_add(offset))
            });
            let object = || images.object(value).filter(|_| parameter.bytes == 8);
            if let Some(address) = found.or_else(object) {
                bytes.copy_from_slice(&address.to_le_bytes());
            }
        }
    }
    params
}

fn start_kernel(
    function: sys::CUfunction,
    kernel: &Kernel,
    launch: &Launch,
    params: &mut [u8],
) -> Result<(), DeviceError> {
    let (bytes, block) = (params.len(), params.as_mut_ptr());
    let places = kernel.params.iter().filter(|p| ((p.offset + p.bytes) as usize) <= bytes);
    let mut places: Vec<*mut c_void> =
        places.map(|p| block.wrapping_add(p.offset as usize).cast()).collect();
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
    let (shared, stream, places) = (launch.dynamic_shared, null_mut(), places.as_mut_ptr());
    // SAFETY: `function` is alive; there is a pointer to the bytes of each parameter that the
    // kernel declares, which are copied by the call.
    unsafe {
        if launch.cooperative {
            sys::cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, shared, stream, places)
        } else {
            let none = null_mut();
            sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, places, none)
        }
    }
    .result()
    .map_err(refused("launching the kernel"))
}

/// Waits for an event until `limit`.
fn wait(end: &Stamp, limit: Duration) -> DeviceFinish {
    let began = Instant::now();
    loop {
        // SAFETY: the event exists.
        match unsafe { result::event::query(end.0) } {
            Ok(()) => return DeviceFinish::Ok,
            Err(DriverError(sys::cudaError_enum::CUDA_ERROR_NOT_READY))
                if began.elapsed() < limit =>
            {
                std::thread::sleep(PAUSE);
            }
            Err(DriverError(sys::cudaError_enum::CUDA_ERROR_NOT_READY)) => {
                return DeviceFinish::Timeout;
            }
            Err(e) => return DeviceFinish::Fault(words(&e)),
        }
    }
}
