//! Arguments as typed: lists of `sweep -P`, and tips for refused arguments.

use std::ffi::{OsStr, OsString};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Error};
use simt_core::diag::closest;

use super::args::Args;

/// Refused arguments with a tip: command, argument, tip.
const TIPS: [(&str, &str, &str); 9] = [
    ("timeline", "--data", "write `--format csv`"),
    ("plot", "--data", "write `--format csv`"),
    ("sweep", "--data", "write `--format csv`"),
    ("grade", "--csv", "write `--all DIR --format csv --output FILE`"),
    ("export", "csv", "write `simt-sim timeline FILE --warp all --format csv`"),
    ("grade", "--out", "write `--output FILE`"),
    (
        "sweep",
        "--out",
        "write `--results FILE.jsonl` for the records, `--output FILE` for the table",
    ),
    ("sweep", "-L", "write `-P NAME=VALUE,VALUE`"),
    ("man", "--out", "write `--dir DIR`"),
];

/// Moves each `-P NAME=VALUES` of a sweep to `--list`. An option of clap cannot take one value here
/// and three there.
pub(crate) fn lists(typed: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut typed: Vec<OsString> = typed.into_iter().collect();
    if typed.get(1).is_none_or(|command| command != "sweep") {
        return typed;
    }
    let is_list = |value: &OsStr| value.to_str().is_some_and(|value| value.contains('='));
    for at in 2..typed.len().saturating_sub(1) {
        if (typed[at] == "-P" || typed[at] == "--scan") && is_list(&typed[at + 1]) {
            typed[at] = "--list".into();
        }
    }
    typed
}

/// Adds a tip to clap's error if `command` spells the argument otherwise.
pub(crate) fn with_tip(mut error: Error, command: Option<&OsStr>) -> Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && error.get(ContextKind::SuggestedSubcommand).is_none()
    {
        // clap finds no transposed letters in short words.
        let command = Args::command();
        let names = command.get_subcommands().map(clap::Command::get_name);
        if let Some(near) = closest(word, names) {
            let near = ContextValue::Strings(vec![near.to_owned()]);
            error.insert(ContextKind::SuggestedSubcommand, near);
        }
    }
    let typed = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (argument, value) = (typed(ContextKind::InvalidArg), typed(ContextKind::InvalidValue));
    let tip = TIPS.iter().find(|&&(of, old, _)| {
        command.is_some_and(|command| command == of)
            && (argument == Some(old) || value == Some(old))
    });
    if let Some((_, _, tip)) = tip {
        error.remove(ContextKind::SuggestedArg);
        let tips = vec![StyledStr::from(*tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lists_of_a_sweep_move() {
        let moved = |line: &str| {
            let words = lists(line.split(' ').map(OsString::from));
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            moved("simt-sim sweep -P k=1,2 -P n 1 8 f.ir"),
            "simt-sim sweep --list k=1,2 -P n 1 8 f.ir"
        );
        assert_eq!(moved("simt-sim sweep f.ir --scan k=1"), "simt-sim sweep f.ir --list k=1");
        for same in ["simt-sim sweep f.ir -P", "simt-sim run -P k=1", "simt-sim"] {
            assert_eq!(moved(same), same);
        }
    }
}
