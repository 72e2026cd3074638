//! The library and its functions.

use std::ffi::{CStr, c_char};
use std::path::PathBuf;

use libloading::Library;

/// Every function, called with as many numbers as the longest one takes; the rest is ignored.
pub(crate) type Function =
    unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;

/// The driver as a program sees it.
pub(crate) struct Driver(Library);

/// Returns the library that Cargo built for these tests.
pub(crate) fn path() -> PathBuf {
    let test = std::env::current_exe().expect("the test's path");
    test.parent().expect("a folder").join("libsimt_cuda.so")
}

impl Driver {
    /// Loads the library and starts the driver.
    pub(crate) fn load() -> Driver {
        // SAFETY: the library runs no code when it is loaded.
        let library = unsafe { Library::new(path()) }.expect("the library");
        let driver = Driver(library);
        assert_eq!(driver.call("cuInit", &[0]), 0);
        driver
    }

    /// Returns the library that the process has loaded and started.
    pub(crate) fn load_again() -> Driver {
        // SAFETY: as in `load`.
        Driver(unsafe { Library::new(path()) }.expect("the library"))
    }

    /// Calls a function with numbers and addresses.
    pub(crate) fn call(&self, name: &str, arguments: &[u64]) -> u32 {
        let function = self.function(name);
        let a = |i: usize| arguments.get(i).copied().unwrap_or(0);
        // SAFETY: a function reads no more arguments than it has; the tests pass addresses of
        // values that live during the call, or such as the driver has to refuse.
        unsafe {
            function(a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8), a(9), a(10), a(11))
        }
    }

    pub(crate) fn function(&self, name: &str) -> Function {
        // SAFETY: all functions of the interface have C's calling convention.
        let found = unsafe { self.0.get::<Function>(name.as_bytes()) };
        *found.unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Calls a function that must succeed, with a place for one result in front.
    pub(crate) fn make(&self, name: &str, arguments: &[u64]) -> u64 {
        let mut result = 0_u64;
        let mut all = vec![address(&mut result)];
        all.extend_from_slice(arguments);
        assert_eq!(self.call(name, &all), 0, "{name}");
        result
    }

    /// Makes a context and makes it current.
    pub(crate) fn context(&self) -> u64 {
        self.make("cuCtxCreate_v2", &[0, 0])
    }

    /// Loads a module and returns one of its functions.
    pub(crate) fn kernel(&self, ptx: &str, name: &str) -> u64 {
        let module = self.make("cuModuleLoadData", &[text(ptx).as_ptr() as u64]);
        self.make("cuModuleGetFunction", &[module, text(name).as_ptr() as u64])
    }

    /// Copies numbers to device memory of their own.
    pub(crate) fn upload(&self, numbers: &[u32]) -> u64 {
        let bytes = size_of_val(numbers) as u64;
        let at = self.make("cuMemAlloc_v2", &[bytes]);
        assert_eq!(self.call("cuMemcpyHtoD_v2", &[at, numbers.as_ptr() as u64, bytes]), 0);
        at
    }

    /// Copies numbers from device memory.
    pub(crate) fn download(&self, at: u64, count: usize) -> Vec<u32> {
        let mut numbers = vec![0_u32; count];
        let bytes = 4 * count as u64;
        let to = numbers.as_mut_ptr() as u64;
        assert_eq!(self.call("cuMemcpyDtoH_v2", &[to, at, bytes]), 0);
        numbers
    }

    /// Launches a kernel with 64-bit arguments.
    pub(crate) fn launch(&self, function: u64, blocks: u64, threads: u64, values: &[u64]) -> u32 {
        let places: Vec<u64> = values.iter().map(|value| (&raw const *value) as u64).collect();
        let params = places.as_ptr() as u64;
        self.call("cuLaunchKernel", &[function, blocks, 1, 1, threads, 1, 1, 0, 0, params, 0])
    }

    /// Launches a kernel as [`Driver::launch`] does, and waits for it.
    pub(crate) fn run(&self, function: u64, blocks: u64, threads: u64, values: &[u64]) -> u32 {
        match self.launch(function, blocks, threads, values) {
            0 => self.call("cuCtxSynchronize", &[]),
            refused => refused,
        }
    }

    /// Returns the name of a result.
    pub(crate) fn name_of(&self, error: u32) -> String {
        let mut at = 0_u64;
        assert_eq!(self.call("cuGetErrorName", &[error.into(), address(&mut at)]), 0);
        // SAFETY: the driver returned the address of a text that stays.
        unsafe { CStr::from_ptr(at as *const c_char) }.to_string_lossy().into_owned()
    }

    /// Returns the text at the address that a function without arguments returns.
    pub(crate) fn own_text(&self, name: &str) -> String {
        // SAFETY: the function takes nothing and returns a text or null.
        let at = unsafe {
            self.0.get::<unsafe extern "C" fn() -> *const c_char>(name.as_bytes()).expect(name)()
        };
        assert!(!at.is_null(), "{name}");
        // SAFETY: the text stays until the next call.
        unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
    }
}

/// Returns the address of a value as a number.
pub(crate) fn address<T>(value: &mut T) -> u64 {
    (&raw mut *value) as u64
}

/// Returns a text with the zero that ends it in C.
pub(crate) fn text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}
