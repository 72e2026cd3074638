//! Diagnostics as values: what is wrong, where, and how to mend it. Rendering is in [`render`].
//!
//! Every stage that reads user text returns its result *and* all its diagnostics; nothing prints below the CLI.

pub mod codes;
mod render;

pub use render::{Source, printable, render};

/// A byte range `start..end` of one source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// The smallest range that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// How bad it is. Errors stop a run; warnings do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program cannot be run.
    Error,
    /// The program can be run, and probably does not do what its author thinks.
    Warning,
    /// Background to another diagnostic.
    Note,
}

/// A source range with a few words on its part in the diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What stands there, in a few words; may be empty.
    pub text: String,
}

/// One finding about a user's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable kebab-case name of the kind of finding, e.g. `unknown-instruction`; [`codes`] has all of them.
    pub code: &'static str,
    /// One sentence without a full stop: what is wrong.
    pub message: String,
    /// Where: the first label is the fault itself, further ones are its causes.
    pub labels: Vec<Label>,
    /// How to mend it, as an instruction to the reader.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: vec![Label { span, text: String::new() }],
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// The same diagnostic with words at its first label.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(first) = self.labels.first_mut() {
            first.text = text.into();
        }
        self
    }

    /// The same diagnostic with a second place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// The same diagnostic with a way to mend it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// The line and column of a byte offset, both counted from 1; the column counts characters.
///
/// Offsets past the end give the place behind the last character; offsets inside a character give that character.
pub fn line_column(text: &str, offset: u32) -> (u32, u32) {
    let mut end = text.len().min(offset as usize);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = text.get(..end).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    let line = before.bytes().filter(|&b| b == b'\n').count();
    let column = before.get(line_start..).unwrap_or_default().chars().count();
    // Texts are at most 4 GiB, so both fit; saturating costs nothing.
    let one_based = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
    (one_based(line), one_based(column))
}

/// More findings than this about one file help nobody.
const MOST_FINDINGS: usize = 100;

/// The findings as they are shown: of very many the first, errors before all others, and a note that says how many follow.
pub fn first_of_many(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if findings.len() <= MOST_FINDINGS {
        return findings;
    }
    let place = |d: &Diagnostic| d.labels.first().map(|l| l.span);
    findings.sort_by_key(|d| d.severity);
    let rest = findings.split_off(MOST_FINDINGS);
    findings.sort_by_key(|d| (place(d), d.severity));
    let at = rest.iter().filter_map(place).min().unwrap_or_default();
    let note = Diagnostic::error("too-many-errors", at, format!("{} further findings follow", rest.len()));
    findings.push(Diagnostic { severity: Severity::Note, ..note }.help("mend the first ones and try again"));
    findings
}

/// Whether any of the diagnostics is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Candidates that are looked at: more names than this stand in no text that anybody has written by hand.
const MOST_CANDIDATES: usize = 2000;

/// The candidate closest to `word` in edit distance, if it is close enough to be a plausible slip.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let limit = (length / 3).max(1);
    candidates
        .into_iter()
        .take(MOST_CANDIDATES)
        // Lengths further apart than the limit cannot come within it; this keeps monstrous words cheap.
        .filter(|c| c.chars().count().abs_diff(length) <= limit)
        .map(|c| (edit_distance(word, c), c))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// The least number of characters inserted, left out, replaced, or swapped with their neighbour (optimal string
/// alignment): swapped letters are the commonest slip.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // rows[i][j]: from the first i characters of `a` to the first j of `b`.
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let swap = if swapped { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                replaced.min(swap).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_column_count_from_one_and_stay_inside() {
        for (text, offset, expected) in [
            ("", 0, (1, 1)),
            ("", 9, (1, 1)),
            ("ab\ncd", 0, (1, 1)),
            ("ab\ncd", 2, (1, 3)),
            ("ab\ncd", 3, (2, 1)),
            ("ab\ncd", 99, (2, 3)),
            ("ab\n", 3, (2, 1)),
            ("é\té", 2, (1, 2)),
            ("é\té", 1, (1, 1)),
            ("a\r\nb", 3, (2, 1)),
        ] {
            assert_eq!(line_column(text, offset), expected, "{text:?} at {offset}");
        }
    }

    #[test]
    fn closest_finds_slips_and_nothing_else() {
        let words = ["version", "target", "entry", "u32"];
        for (word, expected) in [
            ("vershion", Some("version")),
            ("entri", Some("entry")),
            ("u23", Some("u32")),
            ("u3", Some("u32")),
            ("u54", None),
            ("shared", None),
        ] {
            assert_eq!(closest(word, words), expected, "{word}");
        }
    }
}
