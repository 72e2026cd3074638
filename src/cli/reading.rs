//! Bounded reading of regular files and of standard input. A device or pipe may never end, or
//! belong to others.

use std::fs::{self, File};
use std::io::{Read, stdin};
use std::path::Path;

use simt_core::diag::Diagnostic;
use simt_core::launch::{Launch, Origin, Overrides, Wanted};
use simt_core::oracle;

use super::args::SassChoice;
use super::{Failure, data, source};

/// Instructions that a reference program may execute.
const MOST_STEPS: u64 = 1 << 32;

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

/// Reads files that directives name, beside a program, and runs reference programs there.
pub(crate) fn beside(folder: &Path) -> impl Fn(&str, Wanted) -> Result<Vec<u8>, String> {
    move |name, wanted| {
        let path = folder.join(name);
        match &wanted.from {
            Origin::Data => elements(&path, &wanted),
            Origin::Result { buffer, constants } => result(&path, buffer, constants),
        }
    }
}

/// Reads elements in the format of the file's extension.
fn elements(path: &Path, wanted: &Wanted) -> Result<Vec<u8>, String> {
    let most = data::Format::of(path).most(wanted);
    data::decode(path, regular(path, most, "the elements take")?, wanted)
}

/// Runs a program by the scalar oracle and returns the bytes that it leaves in a buffer.
///
/// Constants of the same name have the values of `constants`.
fn result(path: &Path, buffer: &str, constants: &[(String, i64)]) -> Result<Vec<u8>, String> {
    let program = source::read(path, &SassChoice::default()).map_err(|Failure(text)| text)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = |name: &str, wanted: Wanted| match wanted.from {
        Origin::Data => elements(&folder.join(name), &wanted),
        Origin::Result { .. } => Err("a reference program has no reference itself".to_owned()),
    };
    let is_known = |name: &str| program.plan.constants().any(|known| known == name);
    let set = constants.iter().filter(|(name, _)| is_known(name));
    let overrides = Overrides {
        set: set.map(|(name, value)| (name.clone(), value.to_string())).collect(),
        ..Overrides::default()
    };
    let mut left: Option<Launch> = None;
    for index in 0..program.plan.launches() {
        let kernel = program.kernel_at(index, None).map_err(|why| why.to_string())?;
        let mut launch = program.launch_at(index, kernel, &overrides, &files).map_err(first)?;
        if let Some(before) = left {
            launch.follow(before);
        }
        let done = oracle::run(kernel, &launch, MOST_STEPS).map_err(|why| why.to_string())?;
        for (buffer, words) in launch.buffers.iter_mut().zip(done.buffers) {
            buffer.words = words;
        }
        left = Some(launch);
    }
    let buffers = left.map(|launch| launch.buffers).unwrap_or_default();
    let found = buffers.into_iter().find(|found| found.name == buffer);
    let found = found.ok_or_else(|| format!("it has no buffer `{buffer}`"))?;
    let length = usize::try_from(found.bytes).unwrap_or(usize::MAX);
    Ok(found.words.iter().flat_map(|word| word.to_le_bytes()).take(length).collect())
}

/// Returns the message of the first finding.
fn first(found: Vec<Diagnostic>) -> String {
    found.into_iter().next().map_or_else(String::new, |first| first.message)
}
