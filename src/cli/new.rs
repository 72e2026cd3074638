//! `simt-sim new`: programs and assignments to start from, made whole or not at all.
//!
//! The templates lie in `new/`; three words in them stand for what differs: `KERNEL`, `TITLE`, and `FOLDER` or `FILE` or `NAME` where a
//! command is shown.

use std::fs;
use std::path::Path;

use simt_core::Program;

use super::args::{NewArgs, NewKind};
use super::{Exit, Failure, output};

/// The longest name.
const MOST_LETTERS: usize = 40;

const PROGRAM: &str = include_str!("new/program.ir");
/// The files of an assignment, by name.
const ASSIGNMENT: [(&str, &str); 6] = [
    ("assignment.ron", include_str!("new/assignment/assignment.ron")),
    ("statement.md", include_str!("new/assignment/statement.md")),
    ("starter.ir", include_str!("new/assignment/starter.ir")),
    ("reference.ir", include_str!("new/assignment/reference.ir")),
    ("reference.answers.ron", include_str!("new/assignment/reference.answers.ron")),
    ("wrong/no_bounds.ir", include_str!("new/assignment/wrong/no_bounds.ir")),
];

/// Makes what is asked for.
pub(crate) fn new(args: &NewArgs) -> Result<Exit, Failure> {
    let name = Name::new(&args.name)?;
    let (files, at) = match args.kind {
        NewKind::Program => (vec![("", PROGRAM)], args.dir.join(format!("{}.ir", name.0))),
        NewKind::Assignment => (ASSIGNMENT.to_vec(), args.dir.join(name.0)),
    };
    let files: Vec<(&str, String)> = files.into_iter().map(|(file, text)| (file, name.fill(text))).collect();
    for (_, text) in files.iter().filter(|(file, _)| file.is_empty() || file.ends_with(".ir")) {
        name.check(text)?;
    }
    if !args.dir.is_dir() {
        return Err(Failure::new(format!("`{}` is no folder", args.dir.display())));
    }
    if fs::symlink_metadata(&at).is_ok() {
        return Err(Failure::new(format!(
            "`{}` exists already\nhelp: choose another name, or another folder with --dir; nothing is overwritten",
            at.display()
        )));
    }
    match files.as_slice() {
        [(_, text)] if args.kind == NewKind::Program => output::write_file(&at, text.as_bytes())?,
        files => output::write_folder(&at, files)?,
    }
    output::print(&told(&files, &at, args.kind))?;
    Ok(Exit::Ok)
}

/// A name that is fit for a file, and as `-` becomes `_`, for a kernel.
struct Name<'a>(&'a str);

impl<'a> Name<'a> {
    fn new(name: &'a str) -> Result<Name<'a>, Failure> {
        let sound = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(sound) && name.len() <= MOST_LETTERS {
            return Ok(Name(name));
        }
        let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
        Err(Failure::new(format!(
            "`{shown}` is no good name\nhelp: at most {MOST_LETTERS} small letters, digits, - and _, beginning with a letter, as in \
             `last-warp`; --dir DIR says where"
        )))
    }

    fn kernel(&self) -> String {
        self.0.replace('-', "_")
    }

    fn fill(&self, template: &str) -> String {
        let mut title = self.0.replace(['-', '_'], " ");
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let words =
            [("FOLDER", self.0), ("FILE", self.0), ("NAME", self.0), ("TITLE", &title), ("KERNEL", &self.kernel())];
        words.iter().fold(template.to_owned(), |text, (word, value)| text.replace(word, value))
    }

    /// Refuses a name with which the text is no program: a word that the language keeps for itself.
    fn check(&self, text: &str) -> Result<(), Failure> {
        let program = Program::parse(self.0, text);
        match program.findings.iter().find(|_| !program.is_sound()) {
            None => Ok(()),
            Some(found) => Err(Failure::new(format!("no kernel can be called `{}`: {}", self.kernel(), found.message))),
        }
    }
}

/// What was made, and what to do with it.
fn told(files: &[(&str, String)], at: &Path, kind: NewKind) -> String {
    let at = at.display();
    match kind {
        NewKind::Program => format!(
            "made {at}\n\nnext:\n  simt-sim check {at}\n  simt-sim run {at} --mode pre-volta\n  simt-sim run {at} --mode volta\n  \
             simt-sim timeline {at}\n"
        ),
        NewKind::Assignment => {
            let names: String = files.iter().map(|(file, _)| format!("  {at}/{file}\n")).collect();
            format!(
                "made\n{names}\nnext:\n  simt-sim grade {at} {at}/reference.ir\n  simt-sim grade {at} {at}/starter.ir\n  simt-sim grade {at} \
                 --all {at}/wrong\n  simt-sim quiz {at}\n"
            )
        }
    }
}
