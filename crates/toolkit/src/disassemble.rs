//! Listings of cubins by NVIDIA's disassembler.

use std::path::{Path, PathBuf};

use crate::{CallError, Tool, cache, call};

/// Packages with the disassembler.
pub const DISASSEMBLER: &str = "pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm";
/// Line of `cuobjdump -sass` that nvdisasm does not print.
const CODE_FOR: &str = "code for sm_";

/// Reason why there is no listing.
#[derive(Debug, thiserror::Error)]
pub enum ListingError {
    /// The disassembler is not installed.
    #[error(
        "cannot find cuobjdump and nvdisasm\nhelp: install the CUDA toolkit, or run \
         `{DISASSEMBLER}` in the active Python environment"
    )]
    Missing,
    /// A temporary file cannot be written.
    #[error("cannot write a temporary file: {0}")]
    Temporary(std::io::Error),
    /// The disassembler fails.
    #[error("`{}`: {error}", .program.display())]
    Call {
        /// Program that was called.
        program: PathBuf,
        /// Its failure.
        error: CallError,
    },
    /// The disassembler printed something else than text.
    #[error("`{}` printed no text", .0.display())]
    NoText(PathBuf),
}

/// Returns the listing of an image as `cuobjdump -sass` prints it.
///
/// `arch` is the architecture of the image, as in 90; `given` is the disassembler to call instead
/// of the one that is found. A listing is kept in the process and in the user's cache folder
/// (`SIMT_SIM_CACHE`, or `simt-sim` in `XDG_CACHE_HOME` or `~/.cache`).
///
/// # Errors
/// Fails if the disassembler is missing or reports errors.
pub fn listing(image: &[u8], arch: u32, given: Option<&Path>) -> Result<String, ListingError> {
    let nvdisasm = || Tool::Nvdisasm.find();
    let (program, alone) = match given {
        Some(program) => {
            let stem = program.file_stem().unwrap_or_default().to_string_lossy();
            (program.to_owned(), stem.contains(Tool::Nvdisasm.name()))
        }
        // cuobjdump calls nvdisasm.
        None => match (Tool::Cuobjdump.find().filter(|_| nvdisasm().is_some()), nvdisasm()) {
            (Some(program), _) => (program, false),
            (None, Some(program)) => (program, true),
            (None, None) => return Err(ListingError::Missing),
        },
    };
    let by = format!("sm_{arch} {}", cache::identity(&program));
    cache::kept(image, &by, || called(image, arch, &program, alone))
}

/// Calls the disassembler: cuobjdump, or nvdisasm `alone`.
fn called(image: &[u8], arch: u32, program: &Path, alone: bool) -> Result<String, ListingError> {
    let folder = tempfile::tempdir().map_err(ListingError::Temporary)?;
    let file = folder.path().join("program.cubin");
    std::fs::write(&file, image).map_err(ListingError::Temporary)?;
    let file = file.into_os_string();
    let arguments = match alone {
        true => vec![file, "-pb".into(), "-hex".into(), "-novliw".into()],
        false => vec!["-sass".into(), file],
    };
    let called = call(program, &arguments, folder.path());
    let called =
        called.map_err(|error| ListingError::Call { program: program.to_owned(), error })?;
    let text = String::from_utf8(called.out);
    let text = text.map_err(|_| ListingError::NoText(program.to_owned()))?;
    let head =
        if text.contains(CODE_FOR) { String::new() } else { format!("\t{CODE_FOR}{arch}\n") };
    Ok(head + &text)
}
