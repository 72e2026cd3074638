//! `simt-sim import`, and programs that are cubins or CUDA sources: made into a `.sass` text.

use std::path::Path;

use simt_core::arguments_by_position;
use simt_cubin::CubinError;
use simt_teach::grade::plain;
use simt_toolkit::{self as toolkit, CallError, ListingError, Tool};

use super::args::ImportArgs;
use super::compile::{COMPILER, is_cuda, missing, nvcc_output};
use super::source::{MAX_BYTES, read_text};
use super::{Exit, Failure, output, reading};

/// Words for the limit of an image in errors.
const BOUND: &str = "the limit of a cubin is";
/// Bytes of a program's messages that are shown.
const MOST_MESSAGES: usize = 4000;

/// Writes the `.sass` text of a cubin or of a CUDA source.
pub(crate) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let disassembler = args.disassembler.as_deref();
    let directives = match &args.directives {
        Some(file) => Some(read_text(file)?.1),
        None => None,
    };
    let text = if is_cuda(&args.file) {
        compiled(&args.file, &args.arch, directives, disassembler)?
    } else {
        of_image(&args.file, &read_image(&args.file)?, directives, disassembler)?
    };
    output::deliver(args.output.as_deref(), &text)?;
    Ok(Exit::Ok)
}

/// Reads a cubin.
pub(crate) fn read_image(path: &Path) -> Result<Vec<u8>, Failure> {
    reading::regular(path, simt_cubin::MAX_BYTES, BOUND)
        .map_err(|e| Failure::new(format!("cannot read `{}`: {e}", path.display())))
}

/// Compiles a CUDA source and returns its `.sass` text. Directives are its own unless given.
pub(crate) fn compiled(
    path: &Path,
    arch: &str,
    directives: Option<String>,
    disassembler: Option<&Path>,
) -> Result<String, Failure> {
    let (_, source) = read_text(path)?;
    let image = compiled_image(path, arch)?;
    of_image(path, &image, Some(directives.unwrap_or(source)), disassembler)
}

/// Compiles a CUDA source to a cubin.
pub(crate) fn compiled_image(path: &Path, arch: &str) -> Result<Vec<u8>, Failure> {
    let nvcc = Tool::Nvcc.find().ok_or_else(|| missing("nvcc", COMPILER))?;
    let words = ["-cubin", "-O3", "-lineinfo", "-arch", arch];
    nvcc_output(&nvcc, path, &words, "program.cubin", |file| {
        reading::regular(file, simt_cubin::MAX_BYTES, BOUND)
    })
}

/// Returns the `.sass` text of a cubin. Directives are those of the `.cu` beside it unless given.
pub(crate) fn of_image(
    path: &Path,
    image: &[u8],
    directives: Option<String>,
    disassembler: Option<&Path>,
) -> Result<String, Failure> {
    let fail = |e: CubinError| Failure::new(format!("cannot import `{}`: {e}", path.display()));
    let facts = simt_cubin::facts(image).map_err(fail)?;
    let listing = listing(image, facts.arch, disassembler)?;
    let directives = match directives {
        Some(text) => text,
        None => beside(path),
    };
    let directives = arguments_by_position(&directives);
    let text = simt_cubin::join(&directives, facts, &listing).map_err(fail)?;
    if text.len() as u64 > MAX_BYTES {
        let (length, name) = (text.len(), path.display());
        return Err(Failure::new(format!(
            "the text of `{name}` has {length} bytes; the limit of a text is {MAX_BYTES}"
        )));
    }
    Ok(text)
}

/// Returns the text of the CUDA source beside a cubin; empty if there is none.
fn beside(path: &Path) -> String {
    let file = path.with_extension("cu");
    if file == path { String::new() } else { read_text(&file).map(|(_, t)| t).unwrap_or_default() }
}

/// Returns the listing of an image as `cuobjdump -sass` prints it.
fn listing(image: &[u8], arch: u32, given: Option<&Path>) -> Result<String, Failure> {
    toolkit::listing(image, arch, given).map_err(|e| match e {
        ListingError::Call { program, error } => failed(&program, &error),
        other => Failure::new(other),
    })
}

/// Returns the failure of a call with the program's messages.
pub(crate) fn failed(program: &Path, error: &CallError) -> Failure {
    let name = program.display();
    match error {
        CallError::Reports(messages) => {
            Failure::new(format!("`{name}`: {error}\n{}", shown(messages).trim_end()))
        }
        other => Failure::new(format!("`{name}`: {other}")),
    }
}

pub(crate) fn shown(messages: &[u8]) -> String {
    plain(&String::from_utf8_lossy(messages), MOST_MESSAGES)
}

pub(crate) fn folder() -> Result<tempfile::TempDir, Failure> {
    tempfile::tempdir().map_err(|e| Failure::new(format!("cannot create a temporary folder: {e}")))
}
