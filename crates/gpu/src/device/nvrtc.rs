//! CUDA C++ to PTX with NVIDIA's run-time compiler, loaded on demand.
//!
//! Source: NVRTC documentation, "Basic Usage". The kernels of this repository are `extern "C"` to
//! keep their names.

use super::super::DeviceError;
use super::super::text::OLDEST_TARGET;
use cudarc::nvrtc::safe::{CompileError, CompileOptions, compile_ptx_with_opts};
use cudarc::nvrtc::sys;

/// See [`super::super::compile_cuda`].
pub(in super::super) fn compile(
    name: &str,
    source: &str,
    headers: &[String],
) -> Result<String, DeviceError> {
    // SAFETY: it only tries to load the library. The bindings would panic at their first call
    // without it.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::NoCompiler);
    }
    let step = "compiling the CUDA source";
    let refused = |reason: String, log: String| DeviceError::Refused { step, reason, log };
    if source.contains('\0') || name.contains('\0') {
        return Err(refused("the text contains a NUL byte".to_string(), String::new()));
    }
    let options = CompileOptions {
        options: vec![
            format!("--gpu-architecture=compute_{OLDEST_TARGET}"),
            "--device-int128".to_string(),
        ],
        include_paths: headers.to_vec(),
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
