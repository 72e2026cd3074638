//! Executables that cannot reach our libraries: some with NVIDIA's static runtime.

use std::path::Path;

use object::LittleEndian as LE;
use object::elf::{DT_NEEDED, FileHeader64, PT_INTERP};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, SectionHeader as _};

use simt_cudart::linked;

use crate::cli::reading;

/// Largest executable that is looked into, in bytes.
const MOST_BYTES: u64 = 1 << 30;
/// Sections in which nvcc embeds device code.
const DEVICE_CODE: [&[u8]; 2] = [b".nv_fatbin", b".nvFatBinSegment"];

/// Returns a word on an executable that has NVIDIA's runtime in it and cannot be served.
///
/// That runtime works with NVIDIA's driver only. [`libraries::preload`](super::libraries::preload)
/// redirects its calls, which needs the system's loader and the symbols of the file.
pub(super) fn warning(file: &Path) -> Option<String> {
    let bytes = reading::regular(file, MOST_BYTES, "the limit is").ok()?;
    if !statically_linked(&bytes)? {
        return None;
    }
    let (reason, help) = if !has_loader(&bytes)? {
        ("the system loads no library into it", "link it without `-static`")
    } else if linked::runtime(file).is_none() {
        let help =
            "keep the symbols (no `strip`, no `-s`), or compile it with `nvcc -cudart shared`";
        ("its symbols are stripped", help)
    } else {
        return None;
    };
    Some(format!(
        "`{}` has NVIDIA's CUDA runtime linked statically, which runs on NVIDIA's driver only, and \
         {reason}\nhelp: {help}",
        file.display()
    ))
}

/// Returns true if the system's loader starts a program, with its libraries.
fn has_loader(bytes: &[u8]) -> Option<bool> {
    let header = FileHeader64::<LE>::parse(bytes).ok()?;
    let segments = header.program_headers(LE, bytes).ok()?;
    Some(segments.iter().any(|segment| segment.p_type(LE) == PT_INTERP))
}

/// Returns true if a program has device code, but needs neither a runtime nor a driver library.
fn statically_linked(bytes: &[u8]) -> Option<bool> {
    let header = FileHeader64::<LE>::parse(bytes).ok()?;
    let sections = header.sections(LE, bytes).ok()?;
    let has_code = sections
        .iter()
        .any(|section| sections.section_name(LE, section).is_ok_and(|n| DEVICE_CODE.contains(&n)));
    if !has_code {
        return Some(false);
    }
    for section in sections.iter() {
        let Some((entries, link)) = section.dynamic(LE, bytes).ok()? else { continue };
        let strings = sections.strings(LE, bytes, link).ok()?;
        for entry in entries.iter().filter(|entry| entry.d_tag(LE) == DT_NEEDED) {
            let name = entry.string(LE, strings).unwrap_or_default();
            if name.starts_with(b"libcudart.so") || name.starts_with(b"libcuda.so") {
                return Some(false);
            }
        }
    }
    Some(true)
}
