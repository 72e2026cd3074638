//! Start, versions, names of errors, and the addresses of all functions.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{LazyLock, Mutex, Once, PoisonError};

use super::pointer::{In, Out};
use super::{caller, entry_points};
use crate::error::{self, Error};
use crate::state;

/// Version of the driver: CUDA 13.0.
const VERSION: i32 = 13_000;
/// Flags of `cuGetProcAddress`: legacy stream, stream per thread.
const FLAGS: u64 = 3;

/// A function of the interface.
struct Entry {
    name: &'static str,
    /// Version that introduced it.
    version: i32,
    symbol: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/entries.rs"));

// The generated table names every symbol.
use super::arrays::*;
use super::capture::*;
use super::context::*;
use super::copy::*;
use super::device::*;
use super::executables::*;
use super::functions::*;
use super::graphs::*;
use super::ipc::*;
use super::launch::*;
use super::legacy::*;
use super::library::*;
use super::links::*;
use super::logs::*;
use super::memory::*;
use super::module::*;
use super::nodes::*;
use super::objects::*;
use super::occupancy::*;
use super::pools::*;
use super::set::*;
use super::streams::*;
use super::tensor_maps::*;
use super::textures::*;

/// Reports a function that is not simulated, once for each name.
fn missing(symbol: &'static str) -> u32 {
    static REPORTED: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !reported.contains(&symbol) {
        reported.push(symbol);
        crate::say(&format!("simt-sim: {symbol} is not simulated (CUDA_ERROR_NOT_SUPPORTED)\n"));
    }
    Error::NOT_SUPPORTED.0
}

/// Finds the function that a name means to programs of a version.
fn find(name: &str, version: i32) -> Option<&'static Entry> {
    let name = name.strip_suffix("_ptsz").or(name.strip_suffix("_ptds")).unwrap_or(name);
    let known = ENTRIES.iter().filter(|e| e.name == name && e.version <= version);
    // A symbol with its version in the name stands for itself.
    known.max_by_key(|e| e.version).or_else(|| {
        ENTRIES.iter().find(|e| e.symbol == name && e.symbol != e.name && e.version <= version)
    })
}

fn resolve(symbol: In<u8>, pfn: Out<usize>, version: i32, flags: u64) -> Result<bool, Error> {
    let name = symbol.text()?;
    pfn.check()?;
    if flags & !FLAGS != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let address = find(&name, version.min(VERSION)).and_then(|entry| address(entry.symbol));
    pfn.set(address.unwrap_or(0))?;
    Ok(address.is_some())
}

/// Starts of the file names of NVIDIA's libraries of kernels, which have a runtime of their own.
const KERNELS: [&str; 7] =
    ["libcublas", "libcudnn", "libcufft", "libcusolver", "libcusparse", "libnccl", "libnpp"];
/// Starts of those of libraries that ask for undocumented tables and work without them.
const WORK_WITHOUT: [&str; 2] = ["libnvJitLink", "libnvrtc"];

/// Returns the warning about a library that asks for undocumented tables, as NVIDIA's runtime does;
/// `None` for one that works without them.
fn warning(file: &str) -> Option<String> {
    let name = file.rsplit('/').next().unwrap_or_default();
    let is_of = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    if is_of(&WORK_WITHOUT) {
        return None;
    }
    let file = simt_core::diag::printable(file);
    if is_of(&KERNELS) {
        return Some(format!(
            "simt-sim: warning: `{file}` is a library of NVIDIA's that runs on NVIDIA's driver only; \
             its calls fail\nhelp: docs/driver.md, *CuPy and PyTorch*, says what runs instead\n"
        ));
    }
    Some(format!(
        "simt-sim: warning: `{file}` has NVIDIA's CUDA runtime in it, which runs on NVIDIA's driver \
         only; its calls fail\nhelp: `simt-sim exec` redirects them in files whose symbols are not \
         stripped; or link it with `nvcc -cudart shared`\n"
    ))
}

/// Name and description of a result as C strings.
type Texts = (CString, CString);

/// Names and descriptions that were asked for.
static TEXTS: LazyLock<BTreeMap<u32, Texts>> = LazyLock::new(|| {
    let all = (0..1000).filter_map(|number| Some((number, error::name(number)?)));
    let texts = all.filter_map(|(number, name)| {
        let text = CString::new(error::text(number)?).ok()?;
        Some((number, (CString::new(name).ok()?, text)))
    });
    texts.collect()
});

fn text_of(number: u32, out: Out<usize>, choose: fn(&Texts) -> &CString) -> Result<(), Error> {
    out.check()?;
    match TEXTS.get(&number) {
        Some(texts) => out.set(choose(texts).as_ptr().expose_provenance()),
        None => {
            out.set(0)?;
            Err(Error::INVALID_VALUE)
        }
    }
}

entry_points! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        state::initialize()
    }

    fn cuDriverGetVersion(version: Out<i32>) {
        version.set(VERSION)
    }

    fn cuGetErrorName(error: u32, name: Out<usize>) {
        text_of(error, name, |(name, _)| name)
    }

    fn cuGetErrorString(error: u32, text: Out<usize>) {
        text_of(error, text, |(_, text)| text)
    }

    fn cuGetProcAddress(symbol: In<u8>, pfn: Out<usize>, version: i32, flags: u64) {
        if resolve(symbol, pfn, version, flags)? { Ok(()) } else { Err(Error::NOT_FOUND) }
    }

    fn cuGetProcAddress_v2(
        symbol: In<u8>, pfn: Out<usize>, version: i32, flags: u64, status: Out<u32>,
    ) {
        let found = resolve(symbol, pfn, version, flags)?;
        if status.is_null() {
            return if found { Ok(()) } else { Err(Error::NOT_FOUND) };
        }
        status.set(match found {
            true => 0, // CU_GET_PROC_ADDRESS_SUCCESS
            false if find(&symbol.text()?, VERSION).is_some() => 2, // VERSION_NOT_SUFFICIENT
            false => 1, // SYMBOL_NOT_FOUND
        })
    }

    fn cuGetExportTable(table: Out<usize>, _id: usize) {
        // Undocumented tables; clients that can do without them go on.
        static WARNED: Once = Once::new();
        if !WARNED.is_completed()
            && let Some(warning) = caller::file().and_then(|file| warning(&file))
        {
            WARNED.call_once(|| crate::say(&warning));
        }
        table.set(0)?;
        Err(Error::NOT_FOUND)
    }

    fn cuProfilerStart() {
        Ok(())
    }

    fn cuProfilerStop() {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_version_choose_a_function() {
        let symbol = |name, version| find(name, version).map(|entry| entry.symbol);
        assert_eq!(symbol("cuMemAlloc", 13_000), Some("cuMemAlloc_v2"));
        assert_eq!(symbol("cuMemAlloc", 3000), Some("cuMemAlloc"));
        assert_eq!(symbol("cuCtxGetDevice", 12_090), Some("cuCtxGetDevice"));
        assert_eq!(symbol("cuCtxGetDevice", 13_000), Some("cuCtxGetDevice_v2"));
        assert_eq!(symbol("cuMemcpyHtoD_v2", 13_000), Some("cuMemcpyHtoD_v2"));
        assert_eq!(symbol("cuMemcpyHtoD_ptds", 13_000), Some("cuMemcpyHtoD_v2"));
        assert_eq!(symbol("cuNothing", 13_000), None);
    }

    #[test]
    fn libraries_that_work_without_tables_cause_no_warning() {
        assert_eq!(warning("/a/libnvrtc.so.13"), None);
        assert_eq!(warning("/a/libnvJitLink.so.13"), None);
        assert!(warning("/a/program").is_some_and(|warning| warning.contains("`/a/program`")));
        let kernels = warning("/a/libcublasLt.so.13");
        assert!(kernels.is_some_and(|warning| warning.contains("a library of NVIDIA's")));
    }

    #[test]
    fn every_entry_has_an_address() {
        assert!(ENTRIES.len() > 500);
        for entry in ENTRIES {
            assert!(address(entry.symbol).is_some(), "{}", entry.symbol);
        }
        assert_ne!(address("cuTexObjectCreate"), address("cuInit"));
    }
}
