//! Fat binaries: containers of PTX and cubins, plain or compressed.
//!
//! A fat binary has a header (magic, version, size) and entries; an entry has a header of its own
//! (kind, sizes, architecture, flags) and a payload, which may be compressed by LZ4 or Zstandard.

use std::io::Read;

/// First bytes of a fat binary.
pub(crate) const MAGIC: u32 = 0xba55_ed50;
/// First bytes of the wrapper that host programs hold; its address of the fat binary is at 8.
pub(crate) const WRAPPER: u32 = 0x4662_43b1;
/// Size of the header in bytes.
pub(crate) const HEADER: usize = 16;
/// Largest fat binary, and largest content of an entry, in bytes.
pub(crate) const MOST: u64 = 256 << 20;

/// First bytes of a Zstandard frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Size of the fields of an entry's header that are read, in bytes.
const ENTRY: usize = 64;
/// Kinds of entries.
const PTX: u16 = 1;
const CUBIN: u16 = 2;
/// Bits of an entry's flags: compressed, by LZ4, by Zstandard.
const COMPRESSED: u64 = 0x1000 | 0x2000 | 0x8000;

/// Code of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// PTX as text, without the final zero.
    Ptx(Vec<u8>),
    /// Machine code.
    Cubin(Vec<u8>),
}

/// Reason why a fat binary cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FatbinError {
    /// A structure is damaged.
    #[error("the fat binary is damaged: {0}")]
    Damaged(&'static str),
    /// No entry is for the device.
    #[error(
        "the fat binary has no code for compute capability {}.{}; compile for it, or embed PTX: \
         -gencode arch=compute_75,code=compute_75",
        .0 / 10,
        .0 % 10
    )]
    NoCode(u32),
}

/// An entry, not yet decompressed.
struct Entry<'d> {
    kind: u16,
    arch: u32,
    flags: u64,
    /// Size of the content in bytes, if it is compressed.
    uncompressed: u64,
    payload: &'d [u8],
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], FatbinError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or(FatbinError::Damaged("it is cut"))
}

/// Returns the size of a fat binary with its header, from its first [`HEADER`] bytes.
pub(crate) fn size(header: &[u8]) -> Result<u64, FatbinError> {
    let length = u16::from_le_bytes(number(header, 6)?);
    let content = u64::from_le_bytes(number(header, 8)?);
    let size = content.checked_add(length.into()).filter(|size| *size <= MOST);
    size.ok_or(FatbinError::Damaged("its size is out of range"))
}

/// Kind of code that a device takes of a fat binary which has both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// PTX, whose reports name registers and lines of the source.
    Ptx,
    /// Machine code, whose figures are an H200's.
    Machine,
}

/// Returns the code that a device of an architecture runs: of the kind that it takes, if there is
/// one, and of the highest architecture that it has.
pub(crate) fn choose(bytes: &[u8], arch: u32, taken: Taken) -> Result<Code, FatbinError> {
    let length = u16::from_le_bytes(number(bytes, 6)?).into();
    let end = usize::try_from(size(bytes)?).map_err(|_| FatbinError::Damaged("its size"))?;
    let mut rest =
        bytes.get(length..end.min(bytes.len())).ok_or(FatbinError::Damaged("its header is cut"))?;
    let mut best: Option<Entry<'_>> = None;
    let rank = |entry: &Entry<'_>| ((entry.kind == PTX) == (taken == Taken::Ptx), entry.arch);
    while rest.len() >= ENTRY {
        let header = u32::from_le_bytes(number(rest, 4)?) as usize;
        let bytes = u64::from_le_bytes(number(rest, 8)?);
        let compressed = u32::from_le_bytes(number(rest, 16)?) as usize;
        let end = usize::try_from(bytes).ok().and_then(|bytes| header.checked_add(bytes));
        let end = end.filter(|end| *end <= rest.len() && header >= ENTRY);
        let end = end.ok_or(FatbinError::Damaged("an entry is cut"))?;
        let payload = &rest[header..end];
        let entry = Entry {
            kind: u16::from_le_bytes(number(rest, 0)?),
            arch: u32::from_le_bytes(number(rest, 28)?),
            flags: u64::from_le_bytes(number(rest, 40)?),
            uncompressed: u64::from_le_bytes(number(rest, 56)?),
            payload: if compressed == 0 {
                payload
            } else {
                payload.get(..compressed).unwrap_or(payload)
            },
        };
        if suits(&entry, arch) && best.as_ref().is_none_or(|best| rank(&entry) > rank(best)) {
            best = Some(entry);
        }
        rest = &rest[end..];
    }
    let entry = best.ok_or(FatbinError::NoCode(arch))?;
    let mut content = entry.content()?;
    Ok(if entry.kind == PTX {
        let text = content.iter().position(|byte| *byte == 0).unwrap_or(content.len());
        content.truncate(text);
        Code::Ptx(content)
    } else {
        Code::Cubin(content)
    })
}

/// Returns true if a device of an architecture can run an entry.
fn suits(entry: &Entry<'_>, arch: u32) -> bool {
    match entry.kind {
        PTX => entry.arch <= arch,
        CUBIN => entry.arch / 10 == arch / 10 && entry.arch <= arch,
        _ => false,
    }
}

impl Entry<'_> {
    fn content(&self) -> Result<Vec<u8>, FatbinError> {
        if self.flags & COMPRESSED == 0 {
            return Ok(self.payload.to_vec());
        }
        let size = usize::try_from(self.uncompressed).ok().filter(|size| *size as u64 <= MOST);
        let size = size.ok_or(FatbinError::Damaged("the size of an entry is out of range"))?;
        if self.payload.starts_with(&ZSTD) {
            let bad = || FatbinError::Damaged("its Zstandard data");
            let reader =
                ruzstd::decoding::StreamingDecoder::new(self.payload).map_err(|_| bad())?;
            let mut content = Vec::new();
            reader.take(size as u64).read_to_end(&mut content).map_err(|_| bad())?;
            return if content.len() == size { Ok(content) } else { Err(bad()) };
        }
        lz4_flex::block::decompress(self.payload, size)
            .map_err(|_| FatbinError::Damaged("its LZ4 data"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: u16, arch: u32, flags: u64, plain: usize, payload: &[u8]) -> Vec<u8> {
        let padded = payload.len().next_multiple_of(8);
        let mut bytes = vec![0; ENTRY];
        bytes[..2].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&(ENTRY as u32).to_le_bytes());
        bytes[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        if flags & COMPRESSED != 0 {
            bytes[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        }
        bytes[28..32].copy_from_slice(&arch.to_le_bytes());
        bytes[40..48].copy_from_slice(&flags.to_le_bytes());
        bytes[56..64].copy_from_slice(&(plain as u64).to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes.resize(ENTRY + padded, 0);
        bytes
    }

    fn fatbin(entries: &[Vec<u8>]) -> Vec<u8> {
        let content = entries.concat();
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        bytes.extend_from_slice(&[1, 0, 16, 0]);
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&content);
        bytes
    }

    #[test]
    fn ptx_goes_before_machine_code() {
        let all = fatbin(&[
            entry(CUBIN, 90, 0x11, 0, b"cubin of sm_90.."),
            entry(PTX, 75, 0x11, 0, b"old\0"),
            entry(PTX, 80, 0x11, 0, b"new\0"),
            entry(PTX, 100, 0x11, 0, b"newer than the device\0"),
        ]);
        assert_eq!(choose(&all, 90, Taken::Ptx), Ok(Code::Ptx(b"new".to_vec())));
        let machine = Code::Cubin(b"cubin of sm_90..".to_vec());
        assert_eq!(choose(&all, 90, Taken::Machine), Ok(machine));
        assert_eq!(choose(&all, 80, Taken::Machine), Ok(Code::Ptx(b"new".to_vec())), "it has none");
        assert_eq!(choose(&all, 75, Taken::Ptx), Ok(Code::Ptx(b"old".to_vec())));
        assert_eq!(choose(&all, 70, Taken::Ptx), Err(FatbinError::NoCode(70)));
        let machine = fatbin(&[entry(CUBIN, 80, 0x11, 0, b"cubin of sm_80..")]);
        assert_eq!(choose(&machine, 86, Taken::Ptx), Ok(Code::Cubin(b"cubin of sm_80..".to_vec())));
        assert_eq!(choose(&machine, 90, Taken::Ptx), Err(FatbinError::NoCode(90)));
    }

    #[test]
    fn compressed_entries_are_read() {
        let text = b"ld.global.u32 ld.global.u32 ld.global.u32 ld.global.u32\0".repeat(9);
        let packed = lz4_flex::block::compress(&text);
        let lz4 = fatbin(&[entry(PTX, 75, 0x2011, text.len(), &packed)]);
        assert_eq!(choose(&lz4, 90, Taken::Ptx), Ok(Code::Ptx(text[..55].to_vec())));
        let zstd = ruzstd::encoding::compress_to_vec(
            &text[..],
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        let zstd = fatbin(&[entry(PTX, 75, 0x8011, text.len(), &zstd)]);
        assert_eq!(choose(&zstd, 90, Taken::Ptx), Ok(Code::Ptx(text[..55].to_vec())));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let text = b"some text that is long enough to be compressed, compressed, compressed";
        let packed = lz4_flex::block::compress(text);
        let whole = fatbin(&[
            entry(PTX, 75, 0x2011, text.len(), &packed),
            entry(CUBIN, 90, 0x11, 0, b"cubin"),
        ]);
        for cut in 0..whole.len() {
            let _ = choose(&whole[..cut], 90, Taken::Ptx); // no panic
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut wrong = whole.clone();
                wrong[at] ^= 1 << bit;
                let _ = choose(&wrong, 90, Taken::Ptx);
            }
        }
        assert!(choose(&whole[..20], 90, Taken::Ptx).is_err());
    }
}
