//! `simt-sim new`: programs and assignments from templates, whole or not at all.
//!
//! The templates are in `new/`. Placeholders in them: `KERNEL`, `TITLE`, and `FOLDER`, `FILE` or
//! `NAME` in commands.

use std::fs;
use std::path::Path;

use simt_core::Program;

use super::args::{NewArgs, NewKind};
use super::{Exit, Failure, output};

/// Longest name, in letters.
const MOST_LETTERS: usize = 40;

const PROGRAM: &str = include_str!("new/program.ir");
/// Files of an assignment, by path.
const ASSIGNMENT: [(&str, &str); 6] = [
    ("assignment.ron", include_str!("new/assignment/assignment.ron")),
    ("statement.md", include_str!("new/assignment/statement.md")),
    ("starter.ir", include_str!("new/assignment/starter.ir")),
    ("reference.ir", include_str!("new/assignment/reference.ir")),
    ("reference.answers.ron", include_str!("new/assignment/reference.answers.ron")),
    ("wrong/no_bounds.ir", include_str!("new/assignment/wrong/no_bounds.ir")),
];

/// Creates a program or an assignment.
pub(crate) fn new(args: &NewArgs) -> Result<Exit, Failure> {
    let name = Name::new(&args.name)?;
    let (files, at) = match args.kind {
        NewKind::Program => (vec![("", PROGRAM)], args.dir.join(format!("{}.ir", name.0))),
        NewKind::Assignment => (ASSIGNMENT.to_vec(), args.dir.join(name.0)),
    };
    let files: Vec<(&str, String)> =
        files.into_iter().map(|(file, text)| (file, name.fill(text))).collect();
    for (_, text) in files.iter().filter(|(file, _)| file.is_empty() || file.ends_with(".ir")) {
        name.check(text)?;
    }
    if !args.dir.is_dir() {
        return Err(Failure::new(format!("`{}` is not a folder", args.dir.display())));
    }
    if fs::symlink_metadata(&at).is_ok() {
        return Err(Failure::new(format!(
            "`{}` already exists\nhelp: choose another name, or another folder with --dir",
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

/// A name for a file and, with `_` for `-`, for a kernel.
struct Name<'a>(&'a str);

impl<'a> Name<'a> {
    fn new(name: &'a str) -> Result<Name<'a>, Failure> {
        let sound = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(sound)
            && name.len() <= MOST_LETTERS
        {
            return Ok(Name(name));
        }
        let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
        Err(Failure::new(format!(
            "invalid name `{shown}`\n\
             help: use at most {MOST_LETTERS} lower-case letters, digits, - and _, \
             beginning with a \
             letter, as in `last-warp`; choose the folder with --dir DIR"
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
        let words = [
            ("FOLDER", self.0),
            ("FILE", self.0),
            ("NAME", self.0),
            ("TITLE", &title),
            ("KERNEL", &self.kernel()),
        ];
        words.iter().fold(template.to_owned(), |text, (word, value)| text.replace(word, value))
    }

    /// Refuses a name with which the text is invalid: a reserved word.
    fn check(&self, text: &str) -> Result<(), Failure> {
        let program = Program::parse(self.0, text);
        match program.findings.iter().find(|_| !program.is_sound()) {
            None => Ok(()),
            Some(found) => Err(Failure::new(format!(
                "invalid kernel name `{}`: {}",
                self.kernel(),
                found.message
            ))),
        }
    }
}

/// Lists the files created and the next commands.
fn told(files: &[(&str, String)], at: &Path, kind: NewKind) -> String {
    let at = at.display();
    match kind {
        NewKind::Program => format!(
            "created {at}\n\nnext:\n  simt-sim check {at}\n  simt-sim run {at} --mode \
             pre-volta\n  simt-sim run {at} --mode volta\n  \
             simt-sim timeline {at}\n"
        ),
        NewKind::Assignment => {
            let names: String = files.iter().map(|(file, _)| format!("  {at}/{file}\n")).collect();
            format!(
                "created\n{names}\nnext:\n  simt-sim grade {at} {at}/reference.ir\n  \
                 simt-sim grade {at} {at}/starter.ir\n  simt-sim grade {at} \
                 --all {at}/wrong\n  simt-sim quiz {at}\n"
            )
        }
    }
}
