//! Reading files: regular ones, and no more of them than is wanted. A device or a pipe may never end, or hold what others
//! wait for.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The content of a regular file of at most `most` bytes; `bound` says in words what gives that limit.
pub(crate) fn regular(path: &Path, most: u64, bound: &str) -> Result<Vec<u8>, String> {
    // Before it is opened: a pipe nobody writes to would be waited for.
    if !fs::metadata(path).map_err(|e| e.to_string())?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let file = File::open(path).map_err(|e| e.to_string())?;
    let size = file.metadata().map_err(|e| e.to_string())?.len();
    if size > most {
        return Err(format!("it has {size} bytes; {bound} {most}"));
    }
    // What calls itself empty is not read: files of /proc do, and one of them takes the kernel's messages away.
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// Reads what directives name: files beside a program.
pub(crate) fn beside(folder: &Path) -> impl Fn(&str, u64) -> Result<Vec<u8>, String> {
    move |name, most| regular(&folder.join(name), most, "the elements take")
}
