//! Bounded reading of regular files and of standard input. A device or pipe may never end, or
//! belong to others.

use std::fs::{self, File};
use std::io::{Read, stdin};
use std::path::Path;

/// Reads a regular file of at most `most` bytes; errors name that limit as `bound`.
pub(crate) fn regular(path: &Path, most: u64, bound: &str) -> Result<Vec<u8>, String> {
    // Checked before opening, which would block on a pipe without a writer.
    if !fs::metadata(path).map_err(|e| e.to_string())?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let file = File::open(path).map_err(|e| e.to_string())?;
    let size = file.metadata().map_err(|e| e.to_string())?.len();
    if size > most {
        return Err(format!("it has {size} bytes; {bound} {most}"));
    }
    // Files of /proc have size 0 and are not read: reading one of them consumes kernel messages.
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// Reads at most `most` bytes of standard input; errors name that limit as `bound`.
pub(crate) fn input(most: u64, bound: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    stdin().lock().take(most + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it has more than {most} bytes; {bound} {most}"));
    }
    Ok(bytes)
}

/// Reads files that directives name, beside a program.
pub(crate) fn beside(folder: &Path) -> impl Fn(&str, u64) -> Result<Vec<u8>, String> {
    move |name, most| regular(&folder.join(name), most, "the elements take")
}
