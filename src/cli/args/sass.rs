//! Arguments about machine code.

use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;

use super::super::compile::is_cuda;
use super::plot::text_file;

/// Architecture of machine code unless `--arch` says otherwise.
const ARCH: &str = "sm_90";
/// Architecture of PTX unless `--arch` says otherwise.
const VIRTUAL_ARCH: &str = "compute_75";

/// Compilation of a `.cu` file before a run.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct SassChoice {
    /// Run the machine code that nvcc -O3 makes of a .cu file [default: its PTX]
    #[arg(long)]
    pub(crate) sass: bool,
    /// Compile a .cu file for this architecture [default: compute_75, with --sass sm_90]
    #[arg(long, value_name = "ARCH", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) arch: Option<String>,
}

impl SassChoice {
    /// The choice for one of several files: none if it is not CUDA C++.
    pub(crate) fn of(&self, file: &Path) -> SassChoice {
        if is_cuda(file) { self.clone() } else { SassChoice::default() }
    }

    /// The option that was given, if any.
    pub(crate) fn option(&self) -> Option<&'static str> {
        self.sass.then_some("--sass").or(self.arch.as_ref().map(|_| "--arch"))
    }

    /// Architecture to compile for.
    pub(crate) fn arch(&self) -> &str {
        self.arch.as_deref().unwrap_or(if self.sass { ARCH } else { VIRTUAL_ARCH })
    }
}

/// Make a .sass file of a cubin: directives, facts of its kernels, listing
///
/// Make a .sass file of a cubin (`nvcc -cubin -arch=sm_90 -lineinfo k.cu`) or of a .cu file, which
/// nvcc compiles first. The listing is NVIDIA's: cuobjdump and nvdisasm are looked for on PATH, in
/// CUDA_HOME, in CUDA_PATH, and among the pip packages of the active environment.
#[derive(clap::Args, Debug)]
pub(crate) struct ImportArgs {
    /// The .cubin or .cu file
    pub(crate) file: PathBuf,
    /// Write the result to FILE instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = text_file())]
    pub(crate) output: Option<PathBuf>,
    /// Take the `//!` lines of this file [default: those of the .cu file beside the cubin]
    #[arg(long, value_name = "FILE")]
    pub(crate) directives: Option<PathBuf>,
    /// Call this cuobjdump or nvdisasm
    #[arg(long, value_name = "PATH")]
    pub(crate) disassembler: Option<PathBuf>,
    /// Compile a .cu file for this architecture
    #[arg(long, value_name = "ARCH", default_value = ARCH)]
    pub(crate) arch: String,
}
