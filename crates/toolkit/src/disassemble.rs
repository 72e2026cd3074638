//! Listings of cubins by NVIDIA's disassembler.

use std::ffi::OsString;
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
    let disassembler = match given {
        Some(program) => {
            let stem = program.file_stem().unwrap_or_default().to_string_lossy();
            let alone = stem.contains(Tool::Nvdisasm.name());
            Disassembler { program: program.to_owned(), alone }
        }
        None => Disassembler::find()?,
    };
    let by = format!("sm_{arch} {}", cache::identity(&disassembler.program));
    cache::kept(image, &by, || disassembler.call(image, arch, None))
}

/// Returns a listing of an image that has one of its functions, and maybe others.
///
/// Arguments are those of [`listing`]; `code` is the function's machine code, by which the listing
/// is kept.
///
/// # Errors
/// As [`listing`].
pub fn listing_of(
    (name, code): (&str, &[u8]),
    image: &[u8],
    arch: u32,
) -> Result<String, ListingError> {
    let disassembler = Disassembler::find()?;
    let by = format!("sm_{arch} {name} {}", cache::identity(&disassembler.program));
    cache::kept(code, &by, || disassembler.call(image, arch, Some(name)))
}

/// A program that lists machine code.
struct Disassembler {
    program: PathBuf,
    /// True for nvdisasm, false for cuobjdump, which calls it.
    alone: bool,
}

impl Disassembler {
    fn find() -> Result<Disassembler, ListingError> {
        let nvdisasm = Tool::Nvdisasm.find();
        match (Tool::Cuobjdump.find().filter(|_| nvdisasm.is_some()), nvdisasm) {
            (Some(program), _) => Ok(Disassembler { program, alone: false }),
            (None, Some(program)) => Ok(Disassembler { program, alone: true }),
            (None, None) => Err(ListingError::Missing),
        }
    }

    /// Lists an image, or one function of it where the program can choose by name.
    fn call(
        &self,
        image: &[u8],
        arch: u32,
        function: Option<&str>,
    ) -> Result<String, ListingError> {
        let Disassembler { program, alone } = self;
        let folder = tempfile::tempdir().map_err(ListingError::Temporary)?;
        let file = folder.path().join("program.cubin");
        std::fs::write(&file, image).map_err(ListingError::Temporary)?;
        let mut arguments: Vec<OsString> = match (alone, function) {
            (true, _) => vec!["-pb".into(), "-hex".into(), "-novliw".into()],
            (false, None) => vec!["-sass".into()],
            (false, Some(name)) => vec!["-sass".into(), "-fun".into(), name.into()],
        };
        arguments.push(file.into_os_string());
        let called = call(program, &arguments, folder.path());
        let called =
            called.map_err(|error| ListingError::Call { program: program.clone(), error })?;
        let text = String::from_utf8(called.out);
        let text = text.map_err(|_| ListingError::NoText(program.clone()))?;
        let head =
            if text.contains(CODE_FOR) { String::new() } else { format!("\t{CODE_FOR}{arch}\n") };
        Ok(head + &text)
    }
}
