//! Soname and symbol versions of the shared library.
//!
//! A program asks its loader for `cudaMalloc@libcudart.so.13`, so the library must define a version
//! of that name. The linker of a Rust library cannot: rustc gives it an anonymous version script,
//! which linkers refuse beside a named one. [`name`] writes soname and version into the finished
//! file instead, so that one file serves every major version of CUDA. Nothing moves: the version
//! definition and a longer dynamic section go into room that the library keeps free ([`ROOM`]).

/// Soname that the build gives the library; names that replace it are at most as long.
pub const BUILT_SONAME: &str = "libcudart.so.XX.Y";

/// File name by which the library redirects the calls of runtimes that other files bring along.
pub const REDIRECTING: &str = "libsimt_static.so";

/// Symbol whose bytes are free for the version definition and the dynamic section.
pub const ROOM: &str = "simt_room";

/// Reason why an image cannot be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// The bytes are not a 64-bit little-endian ELF file, or are cut.
    NotElf,
    /// The file lacks a part that a build of this crate has.
    Lacks(&'static str),
    /// The name is longer than the soname that the build gave.
    TooLong,
}

impl std::fmt::Display for NameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NameError::NotElf => f.write_str("expected a 64-bit little-endian ELF file"),
            NameError::Lacks(part) => write!(f, "the library has no {part}"),
            NameError::TooLong => {
                write!(f, "a soname may have at most {} bytes", BUILT_SONAME.len())
            }
        }
    }
}

impl std::error::Error for NameError {}

type Result<T> = std::result::Result<T, NameError>;

/// Types of sections (System V ABI, and GNU's for versions).
mod section {
    pub(super) const DYNAMIC: u32 = 6;
    pub(super) const DYNAMIC_SYMBOLS: u32 = 11;
    pub(super) const VERSIONS_NEEDED: u32 = 0x6fff_fffe;
    pub(super) const SYMBOL_VERSIONS: u32 = 0x6fff_ffff;
}

/// Types of segments.
mod segment {
    pub(super) const LOAD: u32 = 1;
    pub(super) const DYNAMIC: u32 = 2;
}

/// Tags of dynamic entries.
mod tag {
    pub(super) const VERSION_DEFINITIONS: u64 = 0x6fff_fffc;
    pub(super) const VERSION_DEFINITION_COUNT: u64 = 0x6fff_fffd;
}

/// Bytes of an ELF file, read in place; each read is checked against the end.
#[derive(Clone, Copy)]
struct Elf<'a>(&'a [u8]);

impl<'a> Elf<'a> {
    fn bytes(self, at: u64, length: u64) -> Result<&'a [u8]> {
        let (from, length) = (usize::try_from(at), usize::try_from(length));
        let (Ok(from), Ok(length)) = (from, length) else { return Err(NameError::NotElf) };
        let end = from.checked_add(length).ok_or(NameError::NotElf)?;
        self.0.get(from..end).ok_or(NameError::NotElf)
    }

    fn number(self, at: u64, length: u64) -> Result<u64> {
        let bytes = self.bytes(at, length)?;
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn u16(self, at: u64) -> Result<u16> {
        Ok(self.number(at, 2)? as u16)
    }

    fn u32(self, at: u64) -> Result<u32> {
        Ok(self.number(at, 4)? as u32)
    }

    fn u64(self, at: u64) -> Result<u64> {
        self.number(at, 8)
    }

    /// Returns the file offsets of a table of headers: its start, a header's size, their number.
    fn headers(self, start: u64, size: u64, count: u64) -> Result<Vec<u64>> {
        let (start, size) = (self.u64(start)?, u64::from(self.u16(size)?));
        (0..u64::from(self.u16(count)?)).map(|i| add(start, i * size)).collect()
    }

    fn segments(self) -> Result<Vec<u64>> {
        self.headers(32, 54, 56)
    }

    fn sections(self) -> Result<Vec<u64>> {
        self.headers(40, 58, 60)
    }

    /// Returns the first section of a type.
    fn section(self, wanted: u32) -> Result<Option<Section>> {
        for header in self.sections()? {
            if self.u32(add(header, 4)?)? == wanted {
                return self.section_at(header).map(Some);
            }
        }
        Ok(None)
    }

    fn section_at(self, header: u64) -> Result<Section> {
        let (offset, size) = (self.u64(add(header, 24)?)?, self.u64(add(header, 32)?)?);
        self.bytes(offset, size)?;
        Ok(Section { header, offset, size, link: self.u32(add(header, 40)?)? })
    }
}

/// A section: file offset of its header, file offset and bytes of its content, linked section.
#[derive(Clone, Copy)]
struct Section {
    header: u64,
    offset: u64,
    size: u64,
    link: u32,
}

fn add(a: u64, b: u64) -> Result<u64> {
    a.checked_add(b).ok_or(NameError::NotElf)
}

/// Hash of a symbol or version name (System V ABI).
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0u32, |hash, &byte| {
        let hash = (hash << 4).wrapping_add(u32::from(byte));
        (hash ^ (hash & 0xf000_0000) >> 24) & 0x0fff_ffff
    })
}

/// Places in the file, found before the first change. Offsets are in bytes from its start.
struct Places {
    /// The soname's text, and its offset in the dynamic strings.
    soname: (u64, u32),
    /// Entries of the version table that belong to symbols of the library.
    defined: Vec<u64>,
    /// First version index that is free.
    version: u16,
    /// Offset, address and size of the room.
    room: (u64, u64, u64),
    /// Dynamic entries before the terminating one: tag and value.
    dynamic: Vec<(u64, u64)>,
    /// Program header of the dynamic section.
    segment: u64,
    /// Section header of the dynamic section.
    section: u64,
}

/// Gives a build of the library a soname and makes it the version of all its symbols.
///
/// The image serves as `libcudart.so.13` after `name(&mut image, "libcudart.so.13")`.
///
/// # Errors
/// Returns an error if the bytes are not a build of this crate's shared library, or the name is too
/// long. The image is unchanged then.
pub fn name(image: &mut [u8], soname: &str) -> Result<()> {
    if soname.len() > BUILT_SONAME.len() {
        return Err(NameError::TooLong);
    }
    let places = places(Elf(image))?;
    let (room, address, size) = places.room;
    let mut content = definition(&places, soname);
    let at = content.len() as u64;
    let more = [(tag::VERSION_DEFINITIONS, address), (tag::VERSION_DEFINITION_COUNT, 2), (0, 0)];
    for (tag, value) in places.dynamic.iter().copied().chain(more) {
        content.extend(tag.to_le_bytes());
        content.extend(value.to_le_bytes());
    }
    if content.len() as u64 > size {
        return Err(NameError::Lacks("room for its dynamic section"));
    }
    let length = content.len() as u64 - at;
    let mut text = soname.as_bytes().to_vec();
    text.resize(BUILT_SONAME.len(), 0);

    let mut named = image.to_vec();
    put(&mut named, places.soname.0, &text)?;
    for &entry in &places.defined {
        put(&mut named, entry, &places.version.to_le_bytes())?;
    }
    put(&mut named, room, &content)?;
    let (offset, address) = (room + at, address + at);
    // Offset, virtual and physical address, bytes in the file and in memory.
    for (field, value) in [(8, offset), (16, address), (24, address), (32, length), (40, length)] {
        put(&mut named, places.segment + field, &value.to_le_bytes())?;
    }
    for (field, value) in [(16, address), (24, offset), (32, length)] {
        put(&mut named, places.section + field, &value.to_le_bytes())?;
    }
    image.copy_from_slice(&named);
    Ok(())
}

/// Overwrites bytes of an image.
fn put(image: &mut [u8], at: u64, bytes: &[u8]) -> Result<()> {
    let at = usize::try_from(at).map_err(|_| NameError::NotElf)?;
    let place = at.checked_add(bytes.len()).and_then(|end| image.get_mut(at..end));
    place.ok_or(NameError::NotElf)?.copy_from_slice(bytes);
    Ok(())
}

/// Returns the version definitions: the file's own (flag 1) and the one of its symbols.
///
/// A definition has 20 bytes and 8 of its name. Both have the soname, as NVIDIA's library does.
fn definition(places: &Places, soname: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (flags, index, next) in [(1, 1, 28u32), (0, places.version, 0)] {
        for half in [1, flags, index, 1] {
            bytes.extend(half.to_le_bytes());
        }
        for word in [hash(soname.as_bytes()), 20, next, places.soname.1, 0] {
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes
}

/// Finds everything that [`name`] changes.
fn places(elf: Elf<'_>) -> Result<Places> {
    if elf.bytes(0, 6)? != b"\x7fELF\x02\x01" {
        return Err(NameError::NotElf);
    }
    let dynamic = elf.section(section::DYNAMIC)?.ok_or(NameError::Lacks("dynamic section"))?;
    let symbols = elf.section(section::DYNAMIC_SYMBOLS)?;
    let symbols = symbols.ok_or(NameError::Lacks("dynamic symbols"))?;
    let versions = elf.section(section::SYMBOL_VERSIONS)?;
    let versions = versions.ok_or(NameError::Lacks("table of symbol versions"))?;
    let strings = elf.sections()?.get(symbols.link as usize).copied();
    let strings = elf.section_at(strings.ok_or(NameError::NotElf)?)?;

    let text = elf.bytes(strings.offset, strings.size)?;
    let wanted = [b"\0", BUILT_SONAME.as_bytes(), b"\0"].concat();
    let soname = text.windows(wanted.len()).position(|bytes| bytes == wanted);
    let soname = soname.ok_or(NameError::Lacks("soname of this build"))? as u64 + 1;

    let (mut defined, mut room) = (Vec::new(), None);
    for index in 0..symbols.size / 24 {
        let symbol = symbols.offset + 24 * index;
        if elf.u16(symbol + 6)? == 0 {
            continue;
        }
        defined.push(add(versions.offset, 2 * index)?);
        let name = text.get(elf.u32(symbol)? as usize..).unwrap_or_default();
        if name.strip_prefix(ROOM.as_bytes()).is_some_and(|rest| rest.first() == Some(&0)) {
            room = Some((elf.u64(symbol + 8)?, elf.u64(symbol + 16)?));
        }
    }
    let (address, size) = room.ok_or(NameError::Lacks("room for versions"))?;
    let (mut room, mut segment) = (None, None);
    for header in elf.segments()? {
        let (offset, start) = (elf.u64(add(header, 8)?)?, elf.u64(add(header, 16)?)?);
        match elf.u32(header)? {
            segment::DYNAMIC => segment = Some(header),
            segment::LOAD
                if start <= address
                    && add(address - start, size)? <= elf.u64(add(header, 32)?)? =>
            {
                room = Some(add(offset, address - start)?);
            }
            _ => {}
        }
    }
    let room = room.ok_or(NameError::Lacks("room for versions"))?;
    elf.bytes(room, size)?;
    let mut entries = Vec::new();
    for entry in (0..dynamic.size / 16).map(|i| dynamic.offset + 16 * i) {
        match elf.u64(entry)? {
            0 => break,
            tag => entries.push((tag, elf.u64(entry + 8)?)),
        }
    }
    Ok(Places {
        soname: (strings.offset + soname, soname as u32),
        defined,
        version: free_version(elf)?,
        room: (room, address, size),
        dynamic: entries,
        segment: segment.ok_or(NameError::Lacks("dynamic segment"))?,
        section: dynamic.header,
    })
}

/// Returns the first index after those of the versions that the library needs of others.
fn free_version(elf: Elf<'_>) -> Result<u16> {
    let mut highest = 1;
    let Some(needs) = elf.section(section::VERSIONS_NEEDED)? else { return Ok(2) };
    let mut file = needs.offset;
    // A file's entry has its number of versions at 2, the first at 8, the next file at 12; a
    // version's has its index at 6 and the next version at 12.
    for _ in 0..needs.size / 16 {
        let mut version = add(file, elf.u32(add(file, 8)?)?.into())?;
        for _ in 0..elf.u16(file + 2)? {
            highest = highest.max(elf.u16(add(version, 6)?)? & 0x7fff);
            version = add(version, elf.u32(add(version, 12)?)?.into())?;
        }
        match elf.u32(add(file, 12)?)? {
            0 => break,
            next => file = add(file, next.into())?,
        }
    }
    Ok(highest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused_and_stay_as_they_are() {
        let mut text = b"no library".to_vec();
        assert_eq!(name(&mut text, "libcudart.so.13"), Err(NameError::NotElf));
        assert_eq!(text, b"no library");
        assert_eq!(name(&mut [], "libcudart.so.1234.56"), Err(NameError::TooLong));
        let mut own = std::fs::read("/proc/self/exe").unwrap_or_default();
        if !own.is_empty() {
            let before = own.clone();
            assert!(name(&mut own, "libcudart.so.13").is_err());
            assert!(own == before);
        }
    }
}
