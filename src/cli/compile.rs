//! CUDA C++ sources: compilation to PTX or to machine code.

use std::ffi::OsString;
use std::path::Path;

use simt_core::Program;
use simt_gpu::{CudaOptions, DeviceError, compile_cuda};
use simt_toolkit::{self as toolkit, Tool};

use super::args::SassChoice;
use super::source::{MAX_BYTES, read_text, utf8};
use super::{Failure, import, output, reading};

/// Packages with nvcc.
pub(crate) const COMPILER: &str = "pip install nvidia-cuda-nvcc nvidia-cuda-cccl";
/// Package with the run-time compiler.
const RUNTIME_COMPILER: &str = "pip install nvidia-cuda-nvrtc";

/// Returns true if a file is a CUDA source by its name.
pub(crate) fn is_cuda(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "cu")
}

/// Compiles a CUDA source to a program whose lines are those of the source.
pub(crate) fn program(path: &Path, choice: &SassChoice) -> Result<Program, Failure> {
    let (name, source) = read_text(path)?;
    let arch = choice.arch();
    let (code, by) = if choice.sass {
        let code = import::compiled(path, arch, Some(String::new()), None)?;
        (code, format!("nvcc -O3 -arch={arch}"))
    } else {
        ptx(path, &source, &arch.replace("sm_", "compute_"))?
    };
    Ok(Program::of_cuda(&name, &source, &code, &by))
}

/// Help for sources that NVRTC cannot compile.
const HOST_CODE: &str = "help: NVRTC compiles device code only; put host code between `#ifndef \
                         __CUDACC_RTC__` and `#endif`";

/// Compiles a source to PTX; also returns the compiler and its architecture.
fn ptx(path: &Path, source: &str, arch: &str) -> Result<(String, String), Failure> {
    if let Some(nvcc) = Tool::Nvcc.find() {
        let words = ["-ptx", "-lineinfo", "-arch", arch];
        let code = nvcc_output(&nvcc, path, &words, "program.ptx", |file| {
            reading::regular(file, MAX_BYTES, "the limit of a text is").and_then(utf8)
        })?;
        return Ok((code, format!("nvcc -arch={arch}")));
    }
    let folder = path.parent().unwrap_or(Path::new(".")).display().to_string();
    let mut headers = vec![if folder.is_empty() { ".".to_owned() } else { folder }];
    headers.extend(toolkit::headers().iter().map(|folder| folder.display().to_string()));
    let options = CudaOptions {
        headers,
        arch: Some(arch.to_owned()),
        lines: true,
        library: toolkit::nvrtc(),
    };
    match compile_cuda(&path.display().to_string(), source, &options) {
        Ok(code) => Ok((code, format!("NVRTC --gpu-architecture={arch}"))),
        Err(DeviceError::NoCompiler) => {
            Err(missing("nvcc and NVRTC", &format!("{COMPILER}` or `{RUNTIME_COMPILER}")))
        }
        Err(error) => {
            let error = error.to_string();
            let host = source.contains("main") || error.contains("cannot open source file");
            let help = if host {
                format!("\n{HOST_CODE}, or install nvcc: `{COMPILER}`")
            } else {
                String::new()
            };
            let path = path.display();
            Err(Failure::new(format!("cannot compile `{path}` with NVRTC: {error}{help}")))
        }
    }
}

/// Calls nvcc for a source in a temporary folder, and reads the file that it writes.
pub(crate) fn nvcc_output<T>(
    nvcc: &Path,
    path: &Path,
    words: &[&str],
    file: &str,
    read: impl FnOnce(&Path) -> Result<T, String>,
) -> Result<T, Failure> {
    let folder = import::folder()?;
    let made = folder.path().join(file);
    let fail = |e: &dyn std::fmt::Display| {
        Failure::new(format!("cannot compile `{}`: {e}", path.display()))
    };
    // An absolute path cannot be mistaken for an option.
    let source = std::path::absolute(path).map_err(|e| fail(&e))?;
    let mut arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    arguments.extend(["-o".into(), made.clone().into_os_string(), source.into_os_string()]);
    let called = toolkit::call(nvcc, &arguments, folder.path());
    output::error(&import::shown(&called.map_err(|e| import::failed(nvcc, &e))?.errors));
    read(&made).map_err(|e| fail(&e))
}

/// Returns the failure for programs of the toolkit that are not found.
pub(crate) fn missing(programs: &str, install: &str) -> Failure {
    Failure::new(format!(
        "cannot find {programs}\nhelp: install the CUDA toolkit, or run `{install}` in the active \
         Python environment"
    ))
}
