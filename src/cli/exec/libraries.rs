//! The libraries that a program gets in place of NVIDIA's.
//!
//! They are kept in the user's cache folder, in a folder named by their content, because writing
//! them takes longer than starting a program. A kept folder is used only if the user alone could
//! have changed it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use simt_cudart::image::{self, REDIRECTING};

use crate::cli::Failure;

/// Our driver, and the digest of its bytes.
const DRIVER: (&[u8], u64) = simt_embed::shared_library!("simt_cuda");
/// File name by which programs load the driver.
const DRIVER_NAME: &str = "libcuda.so.1";
/// Our runtime, without a name, and the digest of its bytes.
const RUNTIME: (&[u8], u64) = simt_embed::shared_library!("simt_cudart");
/// File names by which programs of CUDA 13, 12 and 11 load the runtime, and that of the one which
/// serves files that bring NVIDIA's along.
const RUNTIME_NAMES: [&str; 4] =
    ["libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", REDIRECTING];
/// File name by which a linker finds the driver, and some programs load it.
const LINK_NAME: &str = "libcuda.so";

/// Variable that lists the libraries which the system loads before those of a program.
const PRELOADED: &str = "LD_PRELOAD";

/// Start of the names of kept folders.
const KEPT: &str = "libraries-";
/// Age at which a kept folder of another version may be removed: programs that began with it may
/// load it later.
const OLD: Duration = Duration::from_secs(24 * 3600);
/// Folders of other versions that stay all the same.
const MOST_KEPT: usize = 3;

/// Variable with the options of AddressSanitizer.
const SANITIZER: &str = "ASAN_OPTIONS";

/// Returns the variables that make the system load a library of a folder before all others.
pub(super) fn preload(folder: &Path) -> [(&'static str, OsString); 2] {
    let library = folder.join(REDIRECTING).into_os_string();
    // The system takes a blank for the end of a name. It finds a name alone in the folders in which
    // it searches, of which this is the first.
    let has_blank = library.to_string_lossy().contains(' ');
    let library = if has_blank { REDIRECTING.into() } else { library };
    // AddressSanitizer refuses to start if another library comes first, unless this option is set.
    let meant = "verify_asan_link_order=0".into();
    let given = |variable| std::env::var_os(variable).filter(|given| !given.is_empty());
    let list = |parts: [Option<OsString>; 2]| {
        parts.into_iter().flatten().collect::<Vec<_>>().join(OsStr::new(":"))
    };
    [
        (PRELOADED, list([Some(library), given(PRELOADED)])),
        (SANITIZER, list([given(SANITIZER), Some(meant)])),
    ]
}

/// Returns a folder with the libraries: the kept one, or else `temporary`, to which it writes them.
pub(super) fn provide(temporary: &Path) -> Result<PathBuf, Failure> {
    if let Some(folder) = kept(simt_toolkit::user_folder()) {
        return Ok(folder);
    }
    place(temporary)?;
    Ok(temporary.to_owned())
}

/// Writes the libraries to a folder.
pub(super) fn place(folder: &Path) -> Result<(), Failure> {
    if !cfg!(target_os = "linux") {
        return Err(Failure::new("exec needs Linux: programs of other systems load other drivers"));
    }
    let failed = |e| Failure::new(format!("cannot write to `{}`: {e}", folder.display()));
    fs::write(folder.join(DRIVER_NAME), DRIVER.0).map_err(failed)?;
    #[cfg(unix)]
    {
        let link = folder.join(LINK_NAME);
        let _ = fs::remove_file(&link); // of an earlier call
        std::os::unix::fs::symlink(DRIVER_NAME, link).map_err(failed)?;
    }
    for name in RUNTIME_NAMES {
        let mut runtime = RUNTIME.0.to_vec();
        image::name(&mut runtime, name).map_err(Failure::new)?;
        fs::write(folder.join(name), runtime).map_err(failed)?;
    }
    Ok(())
}

/// Returns the kept folder with the libraries, which it makes first; `None` if there cannot be one.
fn kept(cache: Option<PathBuf>) -> Option<PathBuf> {
    let cache = std::path::absolute(cache?).ok()?;
    std::env::join_paths([&cache]).ok()?; // no name with a colon in a search path
    let folder = cache.join(format!("{KEPT}{:016x}", DRIVER.1 ^ RUNTIME.1.rotate_left(32)));
    if private::is_sound(&cache, &folder) {
        return Some(folder);
    }
    private::create(&cache).ok()?;
    if !private::is_own_folder(&cache) {
        return None;
    }
    remove_old(&cache);
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(&cache).ok()?;
    place(new.path()).ok()?;
    for name in RUNTIME_NAMES.iter().chain([&DRIVER_NAME, &"."]) {
        private::restrict(&new.path().join(name)).ok()?;
    }
    // Another process may have been first; what does not serve makes room.
    if fs::rename(new.path(), &folder).is_err() && !private::is_sound(&cache, &folder) {
        fs::remove_dir_all(&folder).ok()?;
        fs::rename(new.path(), &folder).ok()?;
    }
    private::is_sound(&cache, &folder).then_some(folder)
}

/// Removes old folders of other versions but the newest few.
fn remove_old(cache: &Path) {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten();
    let ours = entries.filter(|e| e.file_name().to_str().is_some_and(|n| n.starts_with(KEPT)));
    let made = |entry: &fs::DirEntry| entry.metadata().and_then(|meta| meta.modified()).ok();
    let mut folders: Vec<(SystemTime, PathBuf)> =
        ours.filter_map(|entry| Some((made(&entry)?, entry.path()))).collect();
    folders.sort();
    folders.truncate(folders.len().saturating_sub(MOST_KEPT));
    for (made, folder) in folders {
        if SystemTime::now().duration_since(made).is_ok_and(|age| age > OLD) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Ownership and rights of kept files.
#[cfg(unix)]
mod private {
    use std::fs::{self, DirBuilder, Metadata, Permissions};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
    use std::path::Path;

    use super::{DRIVER, DRIVER_NAME, RUNTIME, RUNTIME_NAMES};

    /// Rights of others to write.
    const OTHERS_WRITE: u32 = 0o022;

    /// Returns true if a kept folder is whole and the user alone could change it.
    pub(super) fn is_sound(cache: &Path, folder: &Path) -> bool {
        let is_own_file = |name: &str, bytes: usize| {
            let found = fs::symlink_metadata(folder.join(name));
            found.is_ok_and(|m| m.is_file() && is_own(&m) && m.len() == bytes as u64)
        };
        is_own_folder(cache)
            && is_own_folder(folder)
            && is_own_file(DRIVER_NAME, DRIVER.0.len())
            && RUNTIME_NAMES.iter().all(|name| is_own_file(name, RUNTIME.0.len()))
    }

    /// Returns true if a folder is the user's and the user alone may add files to it.
    pub(super) fn is_own_folder(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && is_own(&meta))
    }

    fn is_own(meta: &Metadata) -> bool {
        // The owner of a process's entry is the user whose rights it has.
        let user = fs::metadata("/proc/self").map(|own| own.uid());
        user.is_ok_and(|user| meta.uid() == user) && meta.permissions().mode() & OTHERS_WRITE == 0
    }

    /// Creates a folder that others cannot read or write.
    pub(super) fn create(path: &Path) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    /// Takes from others the right to write.
    pub(super) fn restrict(path: &Path) -> std::io::Result<()> {
        fs::set_permissions(path, Permissions::from_mode(0o755))
    }
}

/// Systems without owners of files: nothing is kept.
#[cfg(not(unix))]
mod private {
    use std::path::Path;

    pub(super) fn is_sound(_cache: &Path, _folder: &Path) -> bool {
        false
    }

    pub(super) fn is_own_folder(_path: &Path) -> bool {
        false
    }

    pub(super) fn create(_path: &Path) -> std::io::Result<()> {
        Ok(())
    }

    pub(super) fn restrict(_path: &Path) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    #[test]
    fn old_versions_are_removed_but_the_newest() {
        let cache = tempfile::tempdir().expect("a folder");
        for days in 0..6_u64 {
            let folder = cache.path().join(format!("{KEPT}{days}"));
            fs::create_dir(&folder).expect("a folder");
            let made = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
            fs::File::open(&folder).and_then(|f| f.set_modified(made)).expect("a time");
        }
        fs::create_dir(cache.path().join("other")).expect("a folder");
        remove_old(cache.path());
        let mut left: Vec<_> = fs::read_dir(cache.path())
            .expect("a folder")
            .flatten()
            .map(|e| e.file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["libraries-0", "libraries-1", "libraries-2", "other"]);
    }

    #[test]
    fn kept_libraries_serve_only_if_they_are_whole_and_the_users_own() {
        let temporary = tempfile::tempdir().expect("a folder");
        let cache = temporary.path().join("cache");
        let made = kept(Some(cache.clone())).expect("a folder");
        let driver = made.join(DRIVER_NAME);
        let written = || fs::metadata(&driver).and_then(|m| m.modified()).expect("a time");
        let first = written();
        assert_eq!(fs::read(&driver).expect("a file"), DRIVER.0);
        assert_eq!(kept(Some(cache.clone())), Some(made.clone()));
        assert_eq!(written(), first, "the kept files serve");

        fs::write(&driver, &DRIVER.0[..100]).expect("cut");
        assert_eq!(kept(Some(cache.clone())), Some(made.clone()));
        assert_eq!(fs::read(&driver).expect("a file"), DRIVER.0, "a cut file is replaced");
        set_mode(&made.join(RUNTIME_NAMES[1]), 0o775);
        assert_eq!(kept(Some(cache.clone())), Some(made.clone()));
        let mode = fs::metadata(made.join(RUNTIME_NAMES[1])).expect("a file").permissions().mode();
        assert_eq!(mode & 0o022, 0, "a file that others may write is replaced");

        let left: Vec<_> = fs::read_dir(&cache).expect("a folder").flatten().collect();
        assert_eq!(left.len(), 1, "nothing else is left: {left:?}");
        set_mode(&cache, 0o777);
        assert_eq!(kept(Some(cache)), None, "a folder that others may write keeps nothing");
        assert_eq!(kept(None), None);
        assert_eq!(kept(Some(temporary.path().join("a:b"))), None, "not for a search path");
    }
}
