//! Making text from a submission safe to print: names and source lines may carry terminal escapes or reorder what a reader sees.

/// Text without control characters, bidirectional overrides and other invisible marks; each is shown as its code. Line breaks and
/// tabs stay. Longer text than `limit` bytes is cut. Words that begin with `::` or `##[` are parted: at the start of a line of a job's log
/// they are commands to the runner (`::notice ..::` is how points reach GitHub Classroom), and lines are broken between any words.
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
            '#' if before.is_whitespace() && rest.clone().take(2).eq(['#', '[']) => out.push_str("# "),
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// The same in one line of at most 120 bytes: for names.
pub fn one_line(text: &str) -> String {
    plain(text, 120).replace(['\n', '\t'], " ")
}

/// Marks that change the order or presence of what stands around them (Unicode TR 36, "Bidirectional Text Spoofing").
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Text of ours without its colours.
pub fn without_colour(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    out + rest
}
