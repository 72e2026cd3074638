//! File output: `--output`, `--html`, `--results`, `--record` and the like.
//!
//! A regular file is replaced whole or left unchanged: the bytes go to a temporary file in the same
//! folder, which is then renamed. A link stays a link, and its target is written. Everything else
//! (a device, a FIFO, a descriptor such as `/dev/stdout`) is written through.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::super::Failure;

/// Links followed before a path counts as a loop, as on Linux.
const MOST_LINKS: usize = 40;

/// Target of a path.
enum Target {
    /// A regular file, or none yet: the path after following all links.
    Regular(PathBuf),
    /// Standard output of this process.
    Output,
    /// Standard error of this process.
    Error,
    /// A device, a FIFO or a descriptor: opened by the path as given.
    Special,
}

impl Target {
    fn of(path: &Path) -> io::Result<Target> {
        let mut at = path.to_owned();
        for _ in 0..MOST_LINKS {
            match at.to_str() {
                Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => return Ok(Target::Output),
                Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => return Ok(Target::Error),
                // A link there is a descriptor; its content need not be a path.
                _ if at.starts_with("/proc") || at.starts_with("/dev/fd") => {
                    return Ok(Target::Special);
                }
                _ => {}
            }
            let meta = match fs::symlink_metadata(&at) {
                Ok(meta) => meta,
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Target::Regular(at)),
                Err(e) => return Err(e),
            };
            if meta.is_dir() {
                return Err(ErrorKind::IsADirectory.into());
            }
            if !meta.is_symlink() {
                return Ok(if meta.is_file() { Target::Regular(at) } else { Target::Special });
            }
            let next = fs::read_link(&at)?;
            at = at.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
        }
        Err(io::Error::other("too many links"))
    }
}

fn failed(path: &Path, e: &io::Error) -> Failure {
    Failure::new(format!("cannot write `{}`: {}", path.display(), bare(e)))
}

/// Returns an error without the name of a temporary file.
fn bare(e: &io::Error) -> String {
    let text = e.to_string();
    text.split_once(" at path \"").map_or(text.as_str(), |(why, _)| why).to_owned()
}

/// Writes a file.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let write = || match Target::of(path)? {
        Target::Regular(at) => replace(&at, bytes),
        Target::Output => all(&mut io::stdout().lock(), bytes),
        Target::Error => all(&mut io::stderr().lock(), bytes),
        Target::Special => all(&mut OpenOptions::new().write(true).open(path)?, bytes),
    };
    write().map_err(|e: io::Error| failed(path, &e))
}

/// Returns true if a path is written through, so it has no content to append to.
pub(crate) fn is_special(path: &Path) -> bool {
    Target::of(path).is_ok_and(|target| !matches!(target, Target::Regular(_)))
}

fn all(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)?;
    out.flush()
}

/// Creates or replaces a regular file.
fn replace(at: &Path, bytes: &[u8]) -> io::Result<()> {
    // A read-only file must not be replaced, even if its folder is writable.
    let known = match OpenOptions::new().write(true).open(at) {
        Ok(file) => Some(file.metadata()?.permissions()),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    let folder =
        at.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut part = match temporary().tempfile_in(folder) {
        Ok(part) => part,
        // In a read-only folder the file is written in place.
        Err(e)
            if known.is_some()
                && matches!(
                    e.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
                ) =>
        {
            return in_place(at, bytes);
        }
        Err(e) => return Err(e),
    };
    all(&mut part, bytes)?;
    if let Some(permissions) = known {
        part.as_file().set_permissions(permissions)?;
    }
    part.as_file().sync_all()?;
    match part.persist(at) {
        Ok(_) => Ok(()),
        // A file that is a mount point, as in a container, cannot be replaced.
        Err(e) if e.error.kind() == ErrorKind::ResourceBusy => in_place(at, bytes),
        Err(e) => Err(e.error),
    }
}

fn in_place(at: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(at)?;
    all(&mut file, bytes)?;
    file.sync_all()
}

/// A unique name, with the permissions of any new file.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".simt-sim-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    builder
}

/// Writes a new folder with files, by their paths in it: whole or not at all.
pub(crate) fn write_folder(at: &Path, files: &[(&str, String)]) -> Result<(), Failure> {
    let parent =
        at.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".simt-sim-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o777));
    let part = builder.tempdir_in(parent).map_err(|e| failed(at, &e))?;
    for (name, text) in files {
        let path = part.path().join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| failed(at, &e))?;
        }
        write_file(&path, text.as_bytes())?;
    }
    // After the rename, nothing is left for the temporary folder to remove.
    fs::rename(part.path(), at).map_err(|e| failed(at, &e))
}

/// A file that grows by one line at a time.
pub(crate) struct Appended {
    path: PathBuf,
    file: File,
}

impl Appended {
    /// Opens or creates a file.
    pub(crate) fn open(path: &Path) -> Result<Appended, Failure> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map_err(|e| failed(path, &e))?;
        Ok(Appended { path: path.to_owned(), file })
    }

    /// Appends text and flushes it.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        all(&mut self.file, text.as_bytes()).map_err(|e| failed(&self.path, &e))
    }
}
