//! Which instructions a submission has, and patterns that name some of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::submission::Submission;
use simt_core::isa::{Class, Isa};

/// Instructions by mnemonic (`atom`, `bar.sync`: the words before the first dots, in order), class (`class:IntDiv`, as machine files
/// write it) or state space (`space:shared`).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Pattern {
    /// The first words of the mnemonic.
    Mnemonic(String),
    /// What a machine prices.
    Class(Class),
    /// A word of the mnemonic that names a state space.
    Space(String),
}

/// The spaces that a mnemonic can name.
const SPACES: [&str; 5] = ["global", "shared", "local", "const", "param"];

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Pattern, String> {
        match text.split_once(':') {
            Some(("class", name)) => {
                let class = Class::ALL.iter().find(|class| class.name() == name);
                class
                    .map(|class| Pattern::Class(*class))
                    .ok_or_else(|| format!("there is no instruction class `{name}`"))
            }
            Some(("space", name)) if SPACES.contains(&name) => Ok(Pattern::Space(name.to_owned())),
            Some(("space", name)) => Err(format!("there is no space `{name}`; one of {}", SPACES.join(", "))),
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
    /// The mnemonic as written.
    pub mnemonic: String,
    /// Its class.
    pub class: Class,
    /// Its line in the text, from 1.
    pub line: u32,
    /// Where a reader finds it.
    pub place: String,
    /// Whether some run of an open input has executed it.
    pub executed: bool,
    /// Whether some run of a hidden input has.
    pub executed_hidden: bool,
}

impl Pattern {
    /// Whether `used` is one of those meant.
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

/// The instructions of a kernel and of the functions it may call, as its text has them.
pub(super) fn used(submission: &Submission) -> Vec<Used> {
    let (kernel, text) = (submission.kernel(), submission.program.text.as_str());
    let mnemonic = |inst: &simt_core::kernel::Inst| {
        let text = text.get(inst.span.start as usize..inst.span.end as usize).unwrap_or_default();
        let words = text.split_whitespace().map(|word| word.trim_end_matches(';'));
        let first = words
            .skip_while(|word| word.starts_with('@'))
            .find(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
        let form = || Isa::ptx().rows().get(usize::from(inst.form)).map_or("?", |form| form.opcode.as_str());
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
