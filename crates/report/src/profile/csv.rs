//! Comma-separated values: quoted fields, doubled quotes, line breaks inside quotes (RFC 4180).

use super::Unreadable;

/// A row, and the line that it begins on.
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) fields: Vec<String>,
}

/// The rows of a text; `first` is the number of its first line. Empty lines are no rows.
pub(super) fn rows(text: &str, first: usize) -> Result<Vec<Row>, Unreadable> {
    let mut rows = Vec::new();
    let (mut line, mut begun) = (first, first);
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut quoted: Option<usize> = None;
    let mut chars = text.chars().peekable();
    loop {
        match (chars.next(), quoted) {
            (None, Some(line)) => {
                return Err(Unreadable { line, reason: "a quote is opened here and never closed".to_string() });
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
