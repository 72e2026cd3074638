//! Comma-separated values (RFC 4180).
//! Fields may be quoted, with doubled quotes and line breaks inside.

use super::Unreadable;

/// A row and its first line number.
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) fields: Vec<String>,
}

/// Splits a text into rows; `first` is the number of its first line. Empty lines are skipped.
pub(super) fn rows(text: &str, first: usize) -> Result<Vec<Row>, Unreadable> {
    let mut rows = Vec::new();
    let (mut line, mut begun) = (first, first);
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut quoted: Option<usize> = None;
    let mut chars = text.chars().peekable();
    loop {
        match (chars.next(), quoted) {
            (None, Some(line)) => {
                return Err(Unreadable { line, reason: "unclosed quote".to_string() });
            }
            (Some('"'), Some(_)) if chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            (Some('"'), Some(_)) => quoted = None,
            (Some('"'), None) if field.trim().is_empty() => {
                field.clear();
                quoted = Some(line);
            }
            (Some(c), Some(_)) => {
                line += usize::from(c == '\n');
                field.push(c);
            }
            (Some(','), None) => fields.push(std::mem::take(&mut field)),
            (end @ (None | Some('\n')), None) => {
                let last = std::mem::take(&mut field);
                fields.push(last.strip_suffix('\r').map_or(last.clone(), str::to_string));
                let whole = std::mem::take(&mut fields);
                if whole.iter().any(|f| !f.trim().is_empty()) {
                    rows.push(Row { line: begun, fields: whole });
                }
                line += 1;
                begun = line;
                if end.is_none() {
                    return Ok(rows);
                }
            }
            (Some(c), None) => field.push(c),
        }
    }
}
