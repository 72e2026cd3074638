//! Programs of the CUDA toolkit: where they are, and calls within limits.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use simt_teach::grade::plain;

use super::Failure;
use super::grade::watch::{Bounds, Ended};
use super::source::MAX_BYTES;

/// Longest time of a call.
const TIME: Duration = Duration::from_secs(300);
/// Memory of a call with its children, in MiB.
const MEMORY: u64 = 8 << 10;
/// Bytes of temporary files of a call.
const FILES: u64 = 1 << 30;
/// Bytes of a program's messages that are shown.
const MOST_MESSAGES: usize = 4000;

/// A program of the toolkit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Compiler.
    Nvcc,
    /// Lister of code, which calls nvdisasm.
    Cuobjdump,
    /// Disassembler.
    Nvdisasm,
}

impl Tool {
    /// File name without the suffix of executables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Tool::Nvcc => "nvcc",
            Tool::Cuobjdump => "cuobjdump",
            Tool::Nvdisasm => "nvdisasm",
        }
    }

    /// Finds the program.
    pub(crate) fn find(self) -> Option<PathBuf> {
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
    folders.push(PathBuf::from("/usr/local/cuda/bin"));
    folders
}

/// Returns the `bin` folders of NVIDIA's packages in a Python environment, newest toolkit first.
fn packages(environment: &Path) -> Vec<PathBuf> {
    let mut sites = vec![environment.join("Lib")];
    sites.extend(entries(&environment.join("lib"), "python3"));
    let owners = sites.iter().map(|site| site.join("site-packages").join("nvidia"));
    let mut found: Vec<PathBuf> = owners.flat_map(|owner| entries(&owner, "")).collect();
    found.sort();
    found.reverse();
    found.into_iter().map(|package| package.join("bin")).collect()
}

/// Returns the entries of a folder whose names begin with a prefix.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let named = entries.flatten().filter(|e| e.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

/// Output of a call that succeeded.
pub(crate) struct Output {
    /// Standard output.
    pub(crate) out: Vec<u8>,
    /// Standard error, printable.
    pub(crate) messages: String,
}

/// Calls a program in a temporary folder. Programs beside it and in [`folders`] are on its `PATH`.
pub(crate) fn call(
    program: &Path,
    arguments: &[OsString],
    temporary: &Path,
) -> Result<Output, Failure> {
    let mut path: Vec<PathBuf> = program.parent().map(Path::to_owned).into_iter().collect();
    path.extend(folders());
    // A folder whose name cannot stand in a list is left out.
    path.retain(|folder| std::env::join_paths([folder]).is_ok());
    let mut command = Command::new(program);
    command.args(arguments).env("TMPDIR", temporary);
    if let Ok(path) = std::env::join_paths(path) {
        command.env("PATH", path);
    }
    let bounds = Bounds {
        time: TIME,
        memory_mib: MEMORY,
        output: MAX_BYTES,
        folder: Some((temporary, FILES)),
    };
    let name = program.display();
    let fail = |why: &dyn std::fmt::Display| Failure::new(format!("`{name}`: {why}"));
    match bounds.run(&mut command).map_err(|e| fail(&e))? {
        Ended::Over(limit) => Err(fail(&limit)),
        Ended::Itself { success: true, out, errors } => {
            Ok(Output { out, messages: shown(&errors) })
        }
        Ended::Itself { out, errors, .. } => {
            Err(fail(&format!("reports errors\n{}", shown(&[errors, out].concat()).trim_end())))
        }
    }
}

fn shown(messages: &[u8]) -> String {
    plain(&String::from_utf8_lossy(messages), MOST_MESSAGES)
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
    }
}
