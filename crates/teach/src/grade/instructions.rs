//! Instructions of a submission, and patterns that select them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::submission::Submission;
use simt_core::isa::Class;

/// A pattern that selects instructions. By mnemonic (`atom`, `bar.sync`: the leading dotted words,
/// in order), class (`class:IntDiv`, as in machine files) or state space (`space:shared`).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Pattern {
    /// Leading words of the mnemonic.
    Mnemonic(String),
    /// Instruction class of a machine file.
    Class(Class),
    /// Word of the mnemonic that names a state space.
    Space(String),
}

/// State spaces that a mnemonic can name.
const SPACES: [&str; 5] = ["global", "shared", "local", "const", "param"];

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Pattern, String> {
        match text.split_once(':') {
            Some(("class", name)) => {
                let class = Class::ALL.iter().find(|class| class.name() == name);
                class
                    .map(|class| Pattern::Class(*class))
                    .ok_or_else(|| format!("unknown instruction class `{name}`"))
            }
            Some(("space", name)) if SPACES.contains(&name) => Ok(Pattern::Space(name.to_owned())),
            Some(("space", name)) => {
                Err(format!("unknown state space `{name}`; expected one of {}", SPACES.join(", ")))
            }
            _ => Ok(Pattern::Mnemonic(text)),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Mnemonic(words) => f.write_str(words),
            Pattern::Class(class) => write!(f, "class {}", class.name()),
            Pattern::Space(space) => write!(f, "{space} memory"),
        }
    }
}

/// An instruction of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Mnemonic as written.
    pub mnemonic: String,
    /// Instruction class.
    pub class: Class,
    /// Line in the text, from 1.
    pub line: u32,
    /// Location shown to the reader.
    pub place: String,
    /// True if a run on an open input executed it.
    pub executed: bool,
    /// True if a run on a hidden input executed it.
    pub executed_hidden: bool,
}

impl Pattern {
    /// Returns true if the pattern selects `used`.
    pub fn matches(&self, used: &Used) -> bool {
        let words = || used.mnemonic.split('.');
        match self {
            Pattern::Class(class) => used.class == *class,
            Pattern::Space(space) => words().any(|word| word.split("::").next() == Some(space)),
            Pattern::Mnemonic(first) => {
                let mut words = words();
                first.split('.').all(|wanted| words.next() == Some(wanted))
            }
        }
    }
}

/// Instructions of a kernel and of the functions it may call, as written.
pub(super) fn used(submission: &Submission) -> Vec<Used> {
    let (kernel, text) = (submission.kernel(), submission.program.text.as_str());
    let mnemonic = |inst: &simt_core::kernel::Inst| {
        let text = text.get(inst.span.start as usize..inst.span.end as usize).unwrap_or_default();
        let words = text.split_whitespace().map(|word| word.trim_end_matches(';'));
        let first = words
            .skip_while(|word| word.starts_with('@'))
            .find(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
        let form = || kernel.row(inst).map_or("?", |form| form.opcode.as_str());
        first.unwrap_or_else(form).to_owned()
    };
    let lines = submission.lines();
    let of = |inst: &simt_core::kernel::Inst| Used {
        mnemonic: mnemonic(inst),
        class: inst.class,
        line: inst.line,
        place: lines.name(inst.span, inst.line),
        executed: false,
        executed_hidden: false,
    };
    kernel.insts.iter().map(of).collect()
}
