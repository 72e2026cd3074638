//! CUDA C++ to PTX with NVIDIA's run-time compiler, loaded on demand.
//!
//! Source: NVRTC documentation, "Basic Usage". It compiles device code only: a source with a `main`
//! needs nvcc.

#![expect(unsafe_code, reason = "the library is foreign")]

use std::path::PathBuf;

use super::DeviceError;
use super::text::OLDEST_TARGET;
use cudarc::nvrtc::safe::{CompileError, CompileOptions, compile_ptx_with_opts};
use cudarc::nvrtc::sys;

/// Beginning of the names of the library's builtins.
const BUILTINS: &str = "libnvrtc-builtins.so";

/// Options of a compilation.
#[derive(Clone, Debug, Default)]
pub struct CudaOptions {
    /// Include folders.
    pub headers: Vec<String>,
    /// Virtual architecture, such as `compute_75`, which is the default.
    pub arch: Option<String>,
    /// True to keep the lines of the source in the PTX.
    pub lines: bool,
    /// Library to load if the system's search finds none.
    pub library: Option<PathBuf>,
}

/// Compiles CUDA C++ to PTX with NVRTC.
///
/// # Errors
/// If there is no compiler, or it rejects the source.
pub fn compile_cuda(
    name: &str,
    source: &str,
    options: &CudaOptions,
) -> Result<String, DeviceError> {
    if !is_present(options) {
        return Err(DeviceError::NoCompiler);
    }
    let step = "compiling the CUDA source";
    let refused = |reason: String, log: String| DeviceError::Refused { step, reason, log };
    if source.contains('\0') || name.contains('\0') {
        return Err(refused("the text contains a NUL byte".to_string(), String::new()));
    }
    let arch = options.arch.clone().unwrap_or_else(|| format!("compute_{OLDEST_TARGET}"));
    let mut words = vec![format!("--gpu-architecture={arch}"), "--device-int128".to_string()];
    words.extend(options.lines.then(|| "--generate-line-info".to_string()));
    let options = CompileOptions {
        options: words,
        include_paths: options.headers.clone(),
        name: Some(name.to_string()),
        ..CompileOptions::default()
    };
    let compiled = compile_ptx_with_opts(source, options).map_err(|e| match e {
        CompileError::CompileError { nvrtc, log, .. } => {
            refused(nvrtc.to_string(), log.to_string_lossy().trim().to_string())
        }
        other => refused(other.to_string(), String::new()),
    })?;
    Ok(compiled.to_src())
}

/// Returns true if the library can be loaded. The bindings would panic at their first call without.
fn is_present(options: &CudaOptions) -> bool {
    // SAFETY: it only tries to load the library, whose initializers are NVIDIA's.
    if unsafe { sys::is_culib_present() } {
        return true;
    }
    let Some(path) = &options.library else { return false };
    // The library asks for its builtins by name.
    let folder = path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let is_builtins = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(BUILTINS))
    };
    for builtins in folder.into_iter().flatten().flatten().map(|e| e.path()).filter(is_builtins) {
        // SAFETY: as above. It is a part of the library.
        if let Ok(loaded) = unsafe { libloading::Library::new(builtins) } {
            std::mem::forget(loaded);
        }
    }
    // SAFETY: as above. A loaded library is found by its soname from then on.
    let Ok(library) = (unsafe { libloading::Library::new(path) }) else { return false };
    // Unloading would undo that.
    std::mem::forget(library);
    // SAFETY: as above.
    unsafe { sys::is_culib_present() }
}
