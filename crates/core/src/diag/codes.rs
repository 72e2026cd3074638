//! The register of diagnostic codes: each kind of finding once, with its meaning, the way to mend it and the smallest
//! text that shows it. `simt-sim explain CODE` prints it; tests hold every code in the sources, and every sample, to it.

mod check;
mod launch;
mod run;
mod text;

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its stable kebab-case name, as in `error[unknown-name]`.
    pub name: &'static str,
    /// Who finds it.
    pub stage: Stage,
    /// What is wrong, and why that matters.
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// The smallest text that shows it.
    pub sample: Sample,
}

/// Where a finding is made, in the order of the way of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Characters, words and grammar.
    Text,
    /// Names, types, the instruction set, control flow.
    Check,
    /// Directives, arguments, options and machine files.
    Launch,
    /// What the program does.
    Run,
}

impl Stage {
    /// The stage's heading.
    pub const fn title(self) -> &'static str {
        match self {
            Stage::Text => "Findings about the text",
            Stage::Check => "Findings about the program",
            Stage::Launch => "Findings about the launch",
            Stage::Run => "Findings about a run",
        }
    }
}

/// A text that shows a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Statements of a kernel that declares `%p<4>`, `%r<8>`, `%rd<8>` and `%f<8>`.
    Body(&'static str),
    /// Directives of a kernel with the parameters `out` and `n`; what they do not say is sound.
    Directives(&'static str),
    /// A whole file.
    File(&'static str),
    /// The command that shows it: it takes a run.
    Run(&'static str),
    /// None: the reason why, as a sentence.
    None(&'static str),
}

/// Sound directives for the kernel that `Sample::Directives` belongs to.
const DIRECTIVES: [&str; 5] =
    ["//! grid = 1", "//! block = 32", "//! buffer out: u32[32]", "//! arg out = out", "//! arg n = 4"];

impl Sample {
    /// The excerpt that is worth reading.
    pub const fn excerpt(&self) -> Option<&'static str> {
        match self {
            Sample::Body(text) | Sample::Directives(text) | Sample::File(text) => Some(text),
            Sample::Run(_) | Sample::None(_) => None,
        }
    }

    /// A whole file with the excerpt in it.
    pub fn file(&self) -> Option<String> {
        match self {
            Sample::Run(_) | Sample::None(_) => None,
            Sample::File(text) => Some((*text).to_owned()),
            Sample::Body(text) => Some(format!(
                ".entry k(.param .u64 out, .param .u32 n)\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n\
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

/// What a directive line is about: `grid`, `buffer out`.
fn key(line: &str) -> &str {
    let line = line.trim_start_matches("//!").trim();
    line.split(['=', ':']).next().unwrap_or_default().trim()
}

/// Every code, by stage and name.
pub fn all() -> impl Iterator<Item = &'static Code> {
    [text::CODES, check::CODES, launch::CODES, run::CODES].into_iter().flatten()
}

/// The code called `name`.
pub fn find(name: &str) -> Option<&'static Code> {
    all().find(|code| code.name == name)
}
