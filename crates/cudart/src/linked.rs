//! NVIDIA's CUDA runtime in other files: nvcc links it into programs and libraries by default.
//!
//! That runtime works with NVIDIA's driver only, which it calls through undocumented tables. Its
//! entry points are those of the shared runtime, so calls can be redirected there if the symbol
//! table of the file is intact.

use crate::image::ROOM;
use crate::props::Version;
use object::LittleEndian as LE;
use object::elf::{
    FileHeader64, SHN_UNDEF, SHT_DYNSYM, SHT_STRTAB, SHT_SYMTAB, STT_FUNC, SectionType, Sym64,
};
use object::read::ReadCache;
use object::read::elf::{FileHeader as _, SectionHeader as _, SectionTable, Sym as _};
use std::fs::File;
use std::path::Path;

/// Functions that every version of the runtime has.
const MARKS: [&str; 4] =
    ["__cudaRegisterFatBinary", "cudaGetErrorString", "cudaLaunchKernel", "cudaMalloc"];

/// Alignment of the runtime's functions, in bytes.
const ALIGNMENT: u64 = 16;

/// A runtime in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Version of its interface.
    pub version: Version,
    /// True if it is a build of this crate.
    pub is_ours: bool,
    /// Its functions with the names of entry points, in the order of the file.
    pub entries: Vec<Entry>,
}

/// A function of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name, as in `cuda_runtime_api.h`.
    pub name: String,
    /// Address, relative to that at which the file is loaded.
    pub address: u64,
    /// Bytes from there on that belong to no other function.
    pub room: u64,
}

type Data<'a> = &'a ReadCache<File>;

/// Finds the runtime in a program or shared library; `None` if there is none, or its symbols have
/// been stripped.
pub fn runtime(file: &Path) -> Option<Runtime> {
    let data = ReadCache::new(File::open(file).ok()?);
    let header = FileHeader64::<LE>::parse(&data).ok()?;
    let sections = header.sections(LE, &data).ok()?;
    [SHT_SYMTAB, SHT_DYNSYM].into_iter().find_map(|table| in_table(&sections, table, &data))
}

/// Finds the runtime in the first table of symbols of a type.
fn in_table<'a>(
    sections: &SectionTable<'a, FileHeader64<LE>, Data<'a>>,
    table: SectionType,
    data: Data<'a>,
) -> Option<Runtime> {
    let section = sections.iter().find(|section| section.sh_type(LE) == table)?;
    let strings = sections.iter().nth(section.sh_link(LE) as usize)?;
    let strings = strings.data(LE, data).ok().filter(|_| strings.sh_type(LE) == SHT_STRTAB)?;
    let name_at = |at: usize| strings.get(at..)?.split(|&byte| byte == 0).next();
    // Most files have no such name: their symbols need not be read.
    let mark = format!("\0{}\0", MARKS[0]);
    memchr::memmem::find(strings, mark.as_bytes())?;

    let symbols: &[Sym64<LE>] = section.data_as_array(LE, data).ok()?;
    let (mut entries, mut is_ours) = (Vec::new(), false);
    for symbol in symbols.iter().filter(|symbol| symbol.st_shndx(LE) != SHN_UNDEF) {
        let name = name_at(symbol.st_name(LE) as usize).unwrap_or_default();
        is_ours |= name == ROOM.as_bytes();
        let is_entry = [&b"cuda"[..], b"__cuda"].iter().any(|start| name.starts_with(start));
        let (address, size) = (symbol.st_value(LE), symbol.st_size(LE));
        // Without a size it is a jump to a runtime that is loaded, not the function itself.
        if is_entry && symbol.st_type() == STT_FUNC && size > 0 {
            let name = String::from_utf8_lossy(name).into_owned();
            // The runtime's functions are aligned: no other one begins before the next multiple.
            let is_aligned = address.is_multiple_of(ALIGNMENT);
            let room = if is_aligned { size.next_multiple_of(ALIGNMENT) } else { size };
            entries.push(Entry { name, address, room });
        }
    }
    let has = |name: &str| entries.iter().any(|entry| entry.name == name);
    if !MARKS.iter().all(|mark| has(mark)) {
        return None;
    }
    let version = match (has("cudaGetDeviceProperties_v2"), has("cudaLibraryLoadData")) {
        (true, _) => Version::V12,
        (false, true) => Version::V13,
        (false, false) => Version::V11,
    };
    Some(Runtime { version, is_ours, entries })
}
