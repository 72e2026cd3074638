//! Listings kept in the process and in the user's cache folder.
//!
//! A file of the folder has a line that names the disassembler and the sizes, the image, and its
//! listing. It serves only if the whole image is the same, so equal digests do no harm. A file that
//! cannot be read or written costs time, and nothing else.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Variable with the folder; empty: nothing is kept on disk.
const FOLDER: &str = "SIMT_SIM_CACHE";
/// Size of the folder from which on the oldest files are removed, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Listings kept in the process, in bytes.
const MOST_KEPT: usize = 256 << 20;
/// Version of the format.
const FORMAT: &str = "simt-sim listing 1";

/// Image and listing by the line that identifies them.
type Kept = BTreeMap<(String, Vec<u8>), Arc<str>>;

static KEPT: Mutex<(usize, Kept)> = Mutex::new((0, Kept::new()));

/// Returns the listing of an image, made by `make` unless it is kept.
///
/// `by` identifies the disassembler and its options.
///
/// # Errors
/// Those of `make`.
pub(crate) fn kept<E>(
    image: &[u8],
    by: &str,
    make: impl FnOnce() -> Result<String, E>,
) -> Result<String, E> {
    let key = (by.to_owned(), image.to_vec());
    let known = |listings: &Kept| listings.get(&key).map(|listing| listing.to_string());
    if let Some(listing) = known(&KEPT.lock().unwrap_or_else(PoisonError::into_inner).1) {
        return Ok(listing);
    }
    let folder = user_folder();
    let stored = folder.as_deref().and_then(|folder| read(folder, image, by));
    let listing = match stored {
        Some(listing) => listing,
        None => {
            let listing = make()?;
            if let Some(folder) = &folder {
                let _ = write(folder, image, by, &listing);
            }
            listing
        }
    };
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let size = image.len() + listing.len();
    if kept.0 + size <= MOST_KEPT {
        kept.0 += size;
        kept.1.insert(key, listing.as_str().into());
    }
    Ok(listing)
}

/// Describes a program by its path, size and time of change, which differ between versions.
pub(crate) fn identity(program: &Path) -> String {
    let meta = fs::metadata(program);
    let size = meta.as_ref().map_or(0, fs::Metadata::len);
    let changed = meta.and_then(|meta| meta.modified()).ok();
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{} {size} {}", program.display(), changed.as_nanos())
}

/// Returns the user's cache folder for what can be made again. It may not exist; `None`: nothing is
/// kept on disk.
pub fn user_folder() -> Option<PathBuf> {
    folder(|name| std::env::var_os(name))
}

/// Returns the folder, which may not exist. `get` reads a variable of the environment.
fn folder(get: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    if let Some(named) = get(FOLDER) {
        return (!named.is_empty()).then(|| PathBuf::from(named));
    }
    let named = |name| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
    Some(caches.join("simt-sim"))
}

fn head(image: &[u8], by: &str, listing: usize) -> String {
    let by: String = by.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    format!("{FORMAT} {} {listing} {by}\n", image.len())
}

/// Returns the file of an image, named by a digest (FNV-1a).
fn file(folder: &Path, image: &[u8], by: &str) -> PathBuf {
    let digest =
        by.bytes().chain(image.iter().copied()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    folder.join(format!("{digest:016x}.listing"))
}

fn read(folder: &Path, image: &[u8], by: &str) -> Option<String> {
    let bytes = fs::read(file(folder, image, by)).ok()?;
    let end = bytes.iter().position(|byte| *byte == b'\n')? + 1;
    let (line, rest) = bytes.split_at(end);
    let (own, listing) = rest.split_at_checked(image.len())?;
    let is_same = line == head(image, by, listing.len()).as_bytes() && own == image;
    is_same.then(|| String::from_utf8(listing.to_vec()).ok()).flatten()
}

/// Writes a file under another name first, so that nobody reads half of it.
fn write(folder: &Path, image: &[u8], by: &str, listing: &str) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(head(image, by, listing.len()).as_bytes())?;
    new.write_all(image)?;
    new.write_all(listing.as_bytes())?;
    new.persist(file(folder, image, by)).map_err(|e| e.error)?;
    trim(folder, MOST_BYTES);
    Ok(())
}

/// Removes the oldest files of a folder until the others have at most `most` bytes.
fn trim(folder: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let ours = |path: &Path| path.extension() == Some(OsStr::new("listing"));
    let mut files: Vec<(SystemTime, PathBuf, u64)> = entries
        .flatten()
        .filter(|entry| ours(&entry.path()))
        .filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            Some((meta.modified().ok()?, entry.path(), meta.len()))
        })
        .collect();
    files.sort();
    let mut size: u64 = files.iter().map(|(.., bytes)| bytes).sum();
    for (_, path, bytes) in files {
        if size <= most {
            return;
        }
        let _ = fs::remove_file(path); // another process may have removed it
        size -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_found_by_its_image_and_disassembler() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("new");
        write(&folder, b"image\n", "nvdisasm 1", "code\n").expect("written");
        assert_eq!(read(&folder, b"image\n", "nvdisasm 1").as_deref(), Some("code\n"));
        assert_eq!(read(&folder, b"image", "nvdisasm 1"), None);
        assert_eq!(read(&folder, b"image\n", "nvdisasm 2"), None);
        // A file of another image with the same digest, a cut one, and one that is no text.
        let file = file(&folder, b"image\n", "nvdisasm 1");
        let good = fs::read(&file).expect("a file");
        for bad in [
            [&head(b"imagd\n", "nvdisasm 1", 5).into_bytes()[..], b"imagd\ncode\n"].concat(),
            good[..good.len() - 1].to_vec(),
            [&good[..good.len() - 1], b"\xff"].concat(),
            Vec::new(),
        ] {
            fs::write(&file, &bad).expect("written");
            assert_eq!(read(&folder, b"image\n", "nvdisasm 1"), None, "{bad:?}");
        }
    }

    #[test]
    fn a_listing_is_made_once_in_a_process() {
        let made = |text: &str| kept(b"once", "test", || Ok::<_, ()>(text.to_owned()));
        assert_eq!(made("first"), Ok("first".to_owned()));
        assert_eq!(made("second"), Ok("first".to_owned()));
        assert_eq!(kept(b"failing", "test", || Err::<String, _>("why")), Err("why"));
    }

    #[test]
    fn the_oldest_listings_go_first() {
        let folder = tempfile::tempdir().expect("a folder");
        for (i, name) in ["a.listing", "b.listing", "c.listing", "other"].iter().enumerate() {
            let path = folder.path().join(name);
            fs::write(&path, [0; 10]).expect("written");
            let file = fs::File::options().append(true).open(&path).expect("a file");
            let time = UNIX_EPOCH + std::time::Duration::from_secs(i as u64);
            file.set_modified(time).expect("a time");
        }
        trim(folder.path(), 20);
        let left = ["a.listing", "b.listing", "c.listing", "other"];
        let left = left.map(|name| folder.path().join(name).is_file());
        assert_eq!(left, [false, true, true, true]);
    }

    #[test]
    fn the_folder_follows_the_environment() {
        let of = |pairs: &'static [(&str, &str)]| {
            folder(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("HOME", "/h")]), Some("/h/.cache/simt-sim".into()));
        assert_eq!(of(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]), Some("/c/simt-sim".into()));
        assert_eq!(
            of(&[("HOME", "/h"), ("XDG_CACHE_HOME", "c")]),
            Some("/h/.cache/simt-sim".into())
        );
        assert_eq!(of(&[("HOME", "/h"), (FOLDER, "")]), None);
        assert_eq!(of(&[("HOME", "/h"), (FOLDER, "/d")]), Some("/d".into()));
    }
}
