//! Questions that are answered by typing a line.

use simt_core::debug::{RegisterView, parse_value};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A source line to run to.
    Line,
    /// A source line to go back to.
    LineBack,
    /// A cycle to go to.
    Cycle,
    /// A register, a lane and a value.
    Edit,
    /// The registers to show.
    Registers,
    /// A block and a warp to look at.
    Warp,
}

impl Ask {
    /// What the screen says in front of the answer.
    pub(crate) const fn question(self) -> &'static str {
        match self {
            Ask::Line => "run to line:",
            Ask::LineBack => "back to line:",
            Ask::Cycle => "go to cycle:",
            Ask::Edit => "change a register, as in %x 5 42 (register, lane or all, value):",
            Ask::Registers => "registers to show, as in %x %p (empty: those in use first):",
            Ask::Warp => "look at warp, as in 3 (of this block) or 7 3 (block 7):",
        }
    }
}

/// A question and what has been typed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) ask: Ask,
    pub(crate) text: String,
}

/// A register to change: its place in the list, the lanes (all if `None`), and what to put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) register: usize,
    pub(crate) lane: Option<u32>,
    pub(crate) bits: u64,
}

/// What stands between blanks and commas.
pub(crate) fn words(text: &str) -> Vec<&str> {
    text.split([' ', ',']).filter(|word| !word.is_empty()).collect()
}

/// Reads `%x 5 42`.
pub(crate) fn change(text: &str, registers: &[RegisterView]) -> Result<Change, String> {
    let words = words(text);
    let [name, lane, value] = words[..] else {
        return Err("write a register, a lane and a value, as in %x 5 42".to_string());
    };
    let register = find(name, registers).ok_or_else(|| format!("there is no register `{name}`"))?;
    let found = &registers[register];
    let lane =
        match lane {
            "all" => None,
            number => Some(number.parse().ok().filter(|&lane: &u32| (lane as usize) < found.values.len()).ok_or_else(
                || format!("`{number}` is no lane: 0 to {}, or all", found.values.len().saturating_sub(1)),
            )?),
        };
    let bits = parse_value(value, found.ty).map_err(|bad| bad.to_string())?;
    Ok(Change { register, lane, bits })
}

/// The register of that name; the `%` may be left out.
pub(crate) fn find(name: &str, registers: &[RegisterView]) -> Option<usize> {
    registers.iter().position(|r| r.name == name || r.name.strip_prefix('%') == Some(name))
}
