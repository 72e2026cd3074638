//! Diagnostics as values: a message, source locations and a help line.
//!
//! Rendering is in [`render`].
//!
//! Every stage that reads user text returns its result *and* all its diagnostics. Only the CLI
//! prints.

pub mod codes;
mod render;

pub use render::{Source, printable, render};

/// Byte range `start..end` of one source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the range `start..end`.
    pub const fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// Returns the smallest range that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Severity of a diagnostic. Errors prevent a run; warnings do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program cannot run.
    Error,
    /// The program can run, but probably does not do what its author intends.
    Warning,
    /// Additional information on other diagnostics.
    Note,
}

/// Labelled source range of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Source range.
    pub span: Span,
    /// Short label; may be empty.
    pub text: String,
}

/// Error, warning or note about a user's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Stable kebab-case code, e.g. `unknown-instruction`; [`codes`] lists all.
    pub code: &'static str,
    /// Message: one sentence in lower case, without a full stop.
    pub message: String,
    /// Source locations: the error itself first, then its causes.
    pub labels: Vec<Label>,
    /// Fix, as an imperative.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates an error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: vec![Label { span, text: String::new() }],
            help: None,
        }
    }

    /// Creates a warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Sets the text of the first label.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(first) = self.labels.first_mut() {
            first.text = text.into();
        }
        self
    }

    /// Adds a secondary label.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Sets the help line.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// Returns the line and column of a byte offset, both from 1.
///
/// The column counts characters.
///
/// An offset past the end gives the position after the last character. An offset inside a character
/// gives that character.
pub fn line_column(text: &str, offset: u32) -> (u32, u32) {
    let mut end = text.len().min(offset as usize);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = text.get(..end).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    let line = before.bytes().filter(|&b| b == b'\n').count();
    let column = before.get(line_start..).unwrap_or_default().chars().count();
    // Both fit, because a text has at most 4 GiB.
    let one_based = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
    (one_based(line), one_based(column))
}

/// Maximum number of diagnostics shown for one file.
const MOST_FINDINGS: usize = 100;

/// Keeps the first 100 diagnostics, and appends a note with the number of the rest.
///
/// Errors take precedence over warnings.
pub fn first_of_many(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if findings.len() <= MOST_FINDINGS {
        return findings;
    }
    let place = |d: &Diagnostic| d.labels.first().map(|l| l.span);
    findings.sort_by_key(|d| d.severity);
    let rest = findings.split_off(MOST_FINDINGS);
    findings.sort_by_key(|d| (place(d), d.severity));
    let at = rest.iter().filter_map(place).min().unwrap_or_default();
    let message = format!("{} more diagnostics not shown", rest.len());
    let note = Diagnostic::error("too-many-errors", at, message);
    findings.push(Diagnostic { severity: Severity::Note, ..note }.help("fix these first"));
    findings
}

/// Returns true if any of the diagnostics is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Maximum number of candidates compared; handwritten programs have fewer names.
const MOST_CANDIDATES: usize = 2000;

/// Returns the candidate closest to `word`, if `word` can be a misspelling of it.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let limit = (length / 3).max(1);
    candidates
        .into_iter()
        .take(MOST_CANDIDATES)
        // The distance is at least the difference in length; this keeps very long words cheap.
        .filter(|c| c.chars().count().abs_diff(length) <= limit)
        .map(|c| (edit_distance(word, c), c))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// Returns the optimal string alignment distance of two words.
///
/// It counts insertions, deletions, substitutions and transpositions.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // rows[i][j]: distance between the first i characters of `a` and the first j of `b`.
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
