//! Positions of errors in machine files, and suggestions.

use crate::diag::{Diagnostic, Span, closest};

pub(super) fn find_field(text: &str, field: &str) -> Span {
    match text.find(&format!("{field}:")) {
        Some(at) => Span::new(at, at + field.len()),
        None => Span::new(0, 0),
    }
}

pub(super) fn ron_diagnostic(error: &ron::error::SpannedError, text: &str) -> Diagnostic {
    let at = offset_of(text, error.span.start.line, error.span.start.col);
    let end = offset_of(text, error.span.end.line, error.span.end.col).max(at);
    let message = error.code.to_string();
    let diagnostic = Diagnostic::error("bad-machine", Span::new(at, end), message);
    match &error.code {
        ron::Error::NoSuchStructField { expected, found, .. } => {
            match closest(found, expected.iter().copied()) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic.help("see docs/machines.md for every field"),
            }
        }
        ron::Error::MissingStructField { field, .. } => diagnostic.help(format!(
            "add `{field}: ..`, or start from a preset: `simt-sim machine teaching`"
        )),
        ron::Error::NoSuchEnumVariant { expected, found, .. } => {
            match closest(found, expected.iter().copied()) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic.help(format!("use one of {}", expected.join(", "))),
            }
        }
        _ => diagnostic,
    }
}

/// Returns the byte offset of a 1-based line and column, clamped to the text.
///
/// The column counts characters.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = &text[start.min(text.len())..];
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(i, _)| i)
}
