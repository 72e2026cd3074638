//! Arguments of `new`.

use std::path::PathBuf;

use clap::ValueEnum;

/// Create a program or an assignment from a template
///
/// Create a program or an assignment that runs and whose comments explain each line. Existing files
/// are never overwritten.
#[derive(clap::Args, Debug)]
pub(crate) struct NewArgs {
    /// The kind of template
    #[arg(value_enum)]
    pub(crate) kind: NewKind,
    /// The name: lower-case letters, digits, - and _, beginning with a letter
    pub(crate) name: String,
    /// Create it in this folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewKind {
    /// A kernel with its directives, NAME.ir
    Program,
    /// A folder NAME: statement, starter, reference, criteria and a wrong answer
    Assignment,
}
