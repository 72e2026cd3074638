//! Programs of the CUDA toolkit: where they are, and calls within limits.
//!
//! [`listing`] is the text of `cuobjdump -sass` for a cubin. Messages of the programs are bytes as
//! printed; whoever shows them makes them printable.

mod cache;
mod disassemble;
pub mod watch;

pub use cache::user_folder;
pub use disassemble::{DISASSEMBLER, ListingError, listing, listing_of};

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use watch::{Bounds, Ended};

/// Longest time of a call.
const TIME: Duration = Duration::from_secs(300);
/// Memory of a call with its children, in MiB.
const MEMORY: u64 = 8 << 10;
/// Bytes of temporary files of a call.
const FILES: u64 = 1 << 30;
/// Bytes of standard output of a call. A listing has some twelve bytes for each of its cubin.
const OUTPUT: u64 = 512 << 20;

/// A program of the toolkit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Compiler.
    Nvcc,
    /// Lister of code, which calls nvdisasm.
    Cuobjdump,
    /// Disassembler.
    Nvdisasm,
}

impl Tool {
    /// File name without the suffix of executables.
    pub const fn name(self) -> &'static str {
        match self {
            Tool::Nvcc => "nvcc",
            Tool::Cuobjdump => "cuobjdump",
            Tool::Nvdisasm => "nvdisasm",
        }
    }

    /// Finds the program.
    pub fn find(self) -> Option<PathBuf> {
        let name = format!("{}{EXE_SUFFIX}", self.name());
        folders().into_iter().map(|folder| folder.join(&name)).find(|path| path.is_file())
    }
}

/// Returns the folders that may hold the toolkit's programs, the preferred ones first.
fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut folders: Vec<PathBuf> =
        variable("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    for root in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable) {
        folders.push(Path::new(&root).join("bin"));
    }
    for environment in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable) {
        folders.extend(packages(Path::new(&environment)));
    }
    let program = std::env::args_os().next();
    if let Some(environment) = program.as_ref().and_then(|program| environment_of(program.as_ref()))
    {
        folders.extend(packages(environment));
    }
    folders.push(PathBuf::from("/usr/local/cuda/bin"));
    folders
}

/// Returns the Python environment of an interpreter, which may be called by its path without
/// activating the environment.
fn environment_of(interpreter: &Path) -> Option<&Path> {
    let environment = interpreter.parent()?.parent()?;
    environment.join("pyvenv.cfg").is_file().then_some(environment)
}

/// Returns the `bin` folders of NVIDIA's packages in a Python environment, newest toolkit first.
fn packages(environment: &Path) -> Vec<PathBuf> {
    let mut sites = vec![environment.join("Lib")];
    sites.extend(entries(&environment.join("lib"), "python3"));
    let owners = sites.iter().map(|site| site.join("site-packages/nvidia"));
    let mut found: Vec<PathBuf> = owners.flat_map(|owner| entries(&owner, "")).collect();
    found.sort();
    found.reverse();
    found.into_iter().map(|package| package.join("bin")).collect()
}

/// Returns the include folders of the toolkits.
pub fn headers() -> Vec<PathBuf> {
    let beside = roots().into_iter().map(|root| root.join("include"));
    beside.filter(|folder| folder.join("cuda_runtime.h").is_file()).collect()
}

/// Finds the library of the run-time compiler, which the system's search does not find in a Python
/// environment.
pub fn nvrtc() -> Option<PathBuf> {
    let libraries = roots().into_iter().flat_map(|root| [root.join("lib64"), root.join("lib")]);
    let mut found = libraries.flat_map(|folder| entries(&folder, "libnvrtc.so"));
    found.find(|path| path.is_file())
}

/// Returns the folders that hold a toolkit's `bin`.
fn roots() -> Vec<PathBuf> {
    folders().iter().filter_map(|folder| folder.parent().map(Path::to_owned)).collect()
}

/// Returns the entries of a folder whose names begin with a prefix.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let named = entries.flatten().filter(|e| e.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

/// Output of a call that succeeded.
#[derive(Clone, Debug)]
pub struct Output {
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub errors: Vec<u8>,
}

/// Reason why a call fails.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The program cannot be started or watched.
    #[error(transparent)]
    Start(#[from] std::io::Error),
    /// The program exceeded a limit and was killed.
    #[error("{0}")]
    Over(String),
    /// The program reported errors: its messages.
    #[error("reports errors")]
    Reports(Vec<u8>),
}

/// Calls a program in a temporary folder. Programs beside it and of the toolkit are on its `PATH`.
///
/// # Errors
/// Fails if the program cannot be started, exceeds a limit, or reports errors.
pub fn call(program: &Path, arguments: &[OsString], temporary: &Path) -> Result<Output, CallError> {
    let mut path: Vec<PathBuf> = program.parent().map(Path::to_owned).into_iter().collect();
    path.extend(folders());
    // A folder whose name cannot stand in a list is left out.
    path.retain(|folder| std::env::join_paths([folder]).is_ok());
    let mut command = Command::new(program);
    command.args(arguments).env("TMPDIR", temporary);
    if let Ok(path) = std::env::join_paths(path) {
        command.env("PATH", path);
    }
    let bounds =
        Bounds { time: TIME, memory_mib: MEMORY, output: OUTPUT, folder: Some((temporary, FILES)) };
    match bounds.run(&mut command)? {
        Ended::Over(limit) => Err(CallError::Over(limit)),
        Ended::Itself { success: true, out, errors } => Ok(Output { out, errors }),
        Ended::Itself { out, errors, .. } => Err(CallError::Reports([errors, out].concat())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_an_environment() {
        let environment = tempfile::tempdir().expect("a folder");
        for toolkit in ["cu12", "cu13"] {
            let bin = format!("lib/python3.11/site-packages/nvidia/{toolkit}/bin");
            fs::create_dir_all(environment.path().join(bin)).expect("a folder");
        }
        let found = packages(environment.path());
        let ends: Vec<_> = found.iter().map(|path| path.ends_with("cu13/bin")).collect();
        assert_eq!(ends, [true, false], "{found:?}");
        let interpreter = environment.path().join("bin/python");
        assert_eq!(environment_of(&interpreter), None);
        fs::write(environment.path().join("pyvenv.cfg"), "").expect("a file");
        assert_eq!(environment_of(&interpreter), Some(environment.path()));
    }
}
