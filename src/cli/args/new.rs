//! Arguments of `new`.

use std::path::PathBuf;

use clap::ValueEnum;

/// Makes a program or an assignment to start from: it runs, and its comments say what each line is for. Nothing that exists is
/// overwritten.
#[derive(clap::Args, Debug)]
pub(crate) struct NewArgs {
    /// What to make
    #[arg(value_enum)]
    pub(crate) kind: NewKind,
    /// Its name: small letters, digits, - and _, beginning with a letter
    pub(crate) name: String,
    /// The folder to make it in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewKind {
    /// A kernel with its directives, NAME.ir
    Program,
    /// A folder NAME with statement, starter, reference, criteria and a wrong answer
    Assignment,
}
