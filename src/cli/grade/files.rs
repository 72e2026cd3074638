//! Files of assignments and submissions. Links in submissions are not followed, since they could
//! lead to the reference.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use simt_teach::grade::{self, Answers, Assignment, Limits, one_line};

use super::super::reading;
use super::super::source::{MAX_BYTES, read_text};
use super::Failure;

/// Reads the assignment in a folder.
pub(crate) fn assignment(folder: &Path) -> Result<Assignment, Failure> {
    let at = folder.join("assignment.ron");
    let (name, text) = read_text(&at).map_err(|Failure(why)| {
        Failure(format!("{why}help: name a folder with assignment.ron, as in docs/grading.md\n"))
    })?;
    let read = |file: &str| {
        let path = folder.join(file);
        let fail = |why: &dyn std::fmt::Display| format!("cannot read `{}`: {why}", path.display());
        let bytes = reading::regular(&path, MAX_BYTES, "the limit of a text is")
            .map_err(|why| fail(&why))?;
        String::from_utf8(bytes).map_err(|why| fail(&why))
    };
    let found = Assignment::load(&text, &read)
        .map_err(|faults| Failure::new(format!("{name}\n{faults}")))?;
    match folder.join(&found.spec.statement).is_file() {
        true => Ok(found),
        false => Err(Failure::new(format!("{name}: no file `{}`", found.spec.statement))),
    }
}

/// Files of one submission.
#[derive(Debug)]
pub(crate) struct Handed {
    /// File of the program.
    pub(crate) kernel: PathBuf,
    answers: PathBuf,
}

const KINDS: [&str; 3] = ["ir", "ptx", "cu"];
/// Largest file of answers, in bytes.
const MOST_ANSWERS: u64 = 64 << 10;

fn is_program(path: &Path) -> bool {
    path.extension().and_then(|e| e.to_str()).is_some_and(|e| KINDS.contains(&e))
}

impl Handed {
    /// Finds the program at a path: the file itself, or the only one in a folder.
    ///
    /// Answers to a file are in `NAME.answers.ron` beside it. A file that is graded `alone` may
    /// have them in `answers.ron`; in a folder of a class that would be everybody's.
    pub(crate) fn find(path: &Path, limits: &Limits, alone: bool) -> Result<Handed, String> {
        let meta = fs::symlink_metadata(path).map_err(|e| format!("it cannot be read: {e}"))?;
        let handed = if meta.is_dir() {
            let mut programs: Vec<PathBuf> = fs::read_dir(path)
                .map_err(|e| format!("it cannot be read: {e}"))?
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| is_program(path))
                .collect();
            programs.sort();
            match programs.as_slice() {
                [one] => Handed { kernel: one.clone(), answers: path.join("answers.ron") },
                [] => {
                    return Err(
                        "expected an .ir, .ptx or .cu file in the folder, found none".into()
                    );
                }
                several => {
                    return Err(format!(
                        "expected one program in the folder, found {}",
                        several.len()
                    ));
                }
            }
        } else {
            let (own, plain) =
                (path.with_extension("answers.ron"), path.with_file_name("answers.ron"));
            let is_plain = alone && fs::symlink_metadata(&own).is_err();
            Handed { kernel: path.to_owned(), answers: if is_plain { plain } else { own } }
        };
        regular(&handed.kernel, limits.file_kib << 10)?;
        Ok(handed)
    }

    /// Reads the answers beside the program; also returns notes on their faults.
    pub(crate) fn answers(&self, assignment: &Assignment) -> (Answers, Vec<String>) {
        if fs::symlink_metadata(&self.answers).is_err() {
            return Default::default(); // no answers
        }
        let text = regular(&self.answers, MOST_ANSWERS)
            .and_then(|()| fs::read_to_string(&self.answers).map_err(|e| e.to_string()));
        match text.and_then(|text| grade::answers(assignment, &text)) {
            Ok(read) => read,
            Err(why) => {
                let why = one_line(&why);
                (
                    Answers::new(),
                    vec![format!(
                        "answers.ron cannot be read ({why}); write {{ \"ID\": NUMBER, .. }}."
                    )],
                )
            }
        }
    }
}

/// Refuses anything but a regular file of at most `limit` bytes.
pub(crate) fn regular(path: &Path, limit: u64) -> Result<(), String> {
    let meta = fs::symlink_metadata(path).map_err(|e| format!("it cannot be read: {e}"))?;
    if meta.file_type().is_symlink() {
        return Err("it is a link; hand in the file itself".into());
    }
    if !meta.is_file() {
        return Err("it is not a regular file".into());
    }
    match meta.len() {
        len if len > limit => {
            Err(format!("the file has {len} bytes; the limit is {} KiB", limit >> 10))
        }
        _ => Ok(()),
    }
}

/// Submissions of a class: name and path of each.
type HandedIn = Vec<(String, PathBuf)>;

/// Finds the submissions of a class: each program and each folder, sorted by name. Also returns the
/// names of other files, except dot files and answers that belong to a program.
pub(crate) fn submissions(folder: &Path) -> Result<(HandedIn, Vec<String>), Failure> {
    let fail = |e: std::io::Error| Failure::new(format!("cannot read `{}`: {e}", folder.display()));
    let (mut found, mut others) = (HandedIn::new(), Vec::new());
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if is_program(&path) || path.is_dir() {
            found.push((name, path));
        } else {
            others.push(name);
        }
    }
    found.sort();
    others.sort();
    let answers = |(_, path): &(String, PathBuf)| {
        path.with_extension("answers.ron")
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let answers: BTreeSet<String> = found.iter().filter_map(answers).collect();
    others.retain(|name| !answers.contains(name));
    match found.is_empty() {
        true => Err(Failure::new(format!(
            "`{}` has no submissions: .ir, .ptx or .cu files, or folders",
            folder.display()
        ))),
        false => Ok((found, others.iter().map(|name| one_line(name)).collect())),
    }
}
