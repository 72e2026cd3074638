//! Sanitising text from a submission: names and source lines may contain terminal escapes or
//! reorder what a reader sees.

/// Escapes control characters, bidirectional overrides and invisible marks. Keeps line breaks and
/// tabs, and cuts text at `limit` bytes. Splits words that begin with `::` or `##[`: at the start
/// of a line of a job log they are commands to the runner (`::notice ..::` is how points reach
/// GitHub Classroom), and a report may wrap between any two words.
pub fn plain(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if out.len() + 4 > limit {
            out.push_str(" [cut]");
            break;
        }
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_invisible(c) => out.extend(c.escape_unicode()),
            ':' if before.is_whitespace() && rest.peek() == Some(&':') => out.push_str(": "),
            '#' if before.is_whitespace() && rest.clone().take(2).eq(['#', '[']) => {
                out.push_str("# ")
            }
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// Sanitises a name: one line of at most 120 bytes.
pub fn one_line(text: &str) -> String {
    plain(text, 120).replace(['\n', '\t'], " ")
}

/// Returns true for marks that reorder or hide the text around them. Source: Unicode TR 36,
/// "Bidirectional Text Spoofing".
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Removes colours from our own text.
pub fn without_colour(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    out + rest
}
