//! Questions answered by typing a line.

use simt_core::debug::{RegisterView, parse_value};

/// A question.
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
    /// Registers to show.
    Registers,
    /// A block and a warp to show.
    Warp,
}

impl Ask {
    /// Text before the answer.
    pub(crate) const fn question(self) -> &'static str {
        match self {
            Ask::Line => "run to line:",
            Ask::LineBack => "back to line:",
            Ask::Cycle => "go to cycle:",
            Ask::Edit => "change a register, as in %x 5 42 (register, lane or all, value):",
            Ask::Registers => "registers to show, as in %x %p (empty: registers in use first):",
            Ask::Warp => "show warp, as in 3 (of this block) or 7 3 (block 7):",
        }
    }
}

/// A question and the text typed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) ask: Ask,
    pub(crate) text: String,
}

/// A register to change: its index, the lane (all if `None`) and the new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) register: usize,
    pub(crate) lane: Option<u32>,
    pub(crate) bits: u64,
}

/// Splits a text at blanks and commas.
pub(crate) fn words(text: &str) -> Vec<&str> {
    text.split([' ', ',']).filter(|word| !word.is_empty()).collect()
}

/// Parses `%x 5 42`.
pub(crate) fn change(text: &str, registers: &[RegisterView]) -> Result<Change, String> {
    let words = words(text);
    let [name, lane, value] = words[..] else {
        return Err("expected a register, a lane and a value, as in %x 5 42".to_string());
    };
    let register = find(name, registers).ok_or_else(|| format!("no register `{name}`"))?;
    let found = &registers[register];
    let lane = match lane {
        "all" => None,
        number => Some(
            number
                .parse()
                .ok()
                .filter(|&lane: &u32| (lane as usize) < found.values.len())
                .ok_or_else(|| {
                    format!(
                        "expected a lane from 0 to {}, or all, found `{number}`",
                        found.values.len().saturating_sub(1)
                    )
                })?,
        ),
    };
    let bits = parse_value(value, found.ty).map_err(|bad| bad.to_string())?;
    Ok(Change { register, lane, bits })
}

/// Finds a register by name; the `%` is optional.
pub(crate) fn find(name: &str, registers: &[RegisterView]) -> Option<usize> {
    registers.iter().position(|r| r.name == name || r.name.strip_prefix('%') == Some(name))
}
