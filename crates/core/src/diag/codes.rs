//! Register of diagnostic codes: meaning, fix and a minimal sample.
//!
//! `simt-sim explain CODE` prints an entry. Tests check that every code in the sources is
//! registered, and that every sample raises its code.

mod check;
mod launch;
mod run;
mod text;

/// A diagnostic code with its explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Stable kebab-case name, as in `error[unknown-name]`.
    pub name: &'static str,
    /// Stage that reports it.
    pub stage: Stage,
    /// Explanation of the error.
    pub meaning: &'static str,
    /// Fix, as an imperative.
    pub remedy: &'static str,
    /// Smallest text that raises it.
    pub sample: Sample,
}

/// Stage that reports a diagnostic, in processing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Lexer and parser.
    Text,
    /// Names, types, the instruction set, control flow.
    Check,
    /// Directives, arguments, options and machine files.
    Launch,
    /// Behaviour of the program during a run.
    Run,
}

impl Stage {
    /// Heading of the stage in `simt-sim explain --list`.
    pub const fn title(self) -> &'static str {
        match self {
            Stage::Text => "Diagnostics: syntax",
            Stage::Check => "Diagnostics: program",
            Stage::Launch => "Diagnostics: launch",
            Stage::Run => "Diagnostics: run",
        }
    }
}

/// Sample that raises a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Statements of a kernel that declares `%p<4>`, `%r<8>`, `%rd<8>` and `%f<8>`.
    Body(&'static str),
    /// Directives of a kernel with the parameters `out` and `n`.
    ///
    /// Missing ones take valid defaults.
    Directives(&'static str),
    /// A whole file.
    File(&'static str),
    /// A command that raises it during a run.
    Run(&'static str),
    /// No sample, with the reason as a sentence.
    None(&'static str),
}

/// Valid directives for the kernel of [`Sample::Directives`].
const DIRECTIVES: [&str; 5] = [
    "//! grid = 1",
    "//! block = 32",
    "//! buffer out: u32[32]",
    "//! arg out = out",
    "//! arg n = 4",
];

impl Sample {
    /// Sample text without the surrounding kernel; `None` if there is no text.
    pub const fn excerpt(&self) -> Option<&'static str> {
        match self {
            Sample::Body(text) | Sample::Directives(text) | Sample::File(text) => Some(text),
            Sample::Run(_) | Sample::None(_) => None,
        }
    }

    /// Complete source file that contains the sample.
    pub fn file(&self) -> Option<String> {
        match self {
            Sample::Run(_) | Sample::None(_) => None,
            Sample::File(text) => Some((*text).to_owned()),
            Sample::Body(text) => Some(format!(
                ".entry k(.param .u64 out, .param .u32 n)\n{{\n.reg .pred %p<4>;\n\
                 .reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n\
                 .reg .f32 %f<8>;\n{text}\nret;\n}}\n"
            )),
            Sample::Directives(text) => {
                let said: Vec<_> = text.lines().map(key).collect();
                let mut file = (*text).to_owned() + "\n";
                for line in DIRECTIVES.iter().filter(|line| !said.contains(&key(line))) {
                    file += line;
                    file.push('\n');
                }
                Some(file + ".entry k(.param .u64 out, .param .u32 n)\n{\nret;\n}\n")
            }
        }
    }
}

/// Key of a directive line, e.g. `grid` or `buffer out`.
fn key(line: &str) -> &str {
    let line = line.trim_start_matches("//!").trim();
    line.split(['=', ':']).next().unwrap_or_default().trim()
}

/// Returns every code, by stage and name.
pub fn all() -> impl Iterator<Item = &'static Code> {
    [text::CODES, check::CODES, launch::CODES, run::CODES].into_iter().flatten()
}

/// Finds a code by name.
pub fn find(name: &str) -> Option<&'static Code> {
    all().find(|code| code.name == name)
}
