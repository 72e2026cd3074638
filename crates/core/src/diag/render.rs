//! Renders diagnostics with source excerpts, in the style of rustc.
//!
//! Text from a user's file or file name must not reach the terminal as a command: control
//! characters and marks that reorder text are replaced first, without changing any column.

use super::{Diagnostic, Severity, Span, line_column};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// Maximum excerpt in bytes; a longer one is narrowed to the first label.
const MOST_EXCERPT: usize = 256 * 1024;
/// Maximum line shown, in bytes.
///
/// A longer line is generated code and slow to draw, so only its number is shown.
const MOST_LINE: usize = 16 * 1024;

/// Source text with its display name.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name as given by the user.
    pub name: &'a str,
    /// Complete text.
    pub text: &'a str,
}

/// Renders the diagnostics, separated by blank lines; empty if there are none.
///
/// With `color`, the text contains ANSI escapes for a terminal.
pub fn render(diagnostics: &[Diagnostic], source: Source<'_>, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let name = harmless(source.name, false);
    let mut out = String::new();
    for diagnostic in diagnostics {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&render_one(&renderer, diagnostic, &name, source.text));
        out.push('\n');
    }
    out
}

fn render_one(renderer: &Renderer, diagnostic: &Diagnostic, name: &str, text: &str) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(
        level.primary_title(harmless(&diagnostic.message, true)).id(diagnostic.code),
    );
    let spans: Vec<Span> = diagnostic.labels.iter().map(|l| inside(text, l.span)).collect();
    match (spans.first(), excerpt(text, &spans)) {
        (Some(_), Some((window, shown))) => {
            let lines = text.get(window.start as usize..window.end as usize).unwrap_or_default();
            let mut snippet = Snippet::source(harmless(lines, true))
                .path(name.to_owned())
                .line_start(line_column(text, window.start).0 as usize);
            for (i, (span, label)) in spans.iter().zip(&diagnostic.labels).take(shown).enumerate() {
                let kind = if i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let range =
                    (span.start - window.start) as usize..(span.end - window.start) as usize;
                let label = (!label.text.is_empty()).then(|| harmless(&label.text, false));
                snippet = snippet.annotation(kind.span(range).label(label));
            }
            group = group.element(snippet);
        }
        (Some(first), None) => {
            let (line, column) = line_column(text, first.start);
            let origin =
                Origin::path(name.to_owned()).line(line as usize).char_column(column as usize);
            group = group.element(origin);
        }
        (None, _) => group = group.element(Origin::path(name.to_owned())),
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(harmless(help, true)));
    }
    renderer.render(&[group])
}

/// Returns the lines to show and the number of labels in them.
///
/// `None` if they are too long.
fn excerpt(text: &str, spans: &[Span]) -> Option<(Span, usize)> {
    let lines = |span: Span| {
        let before = text.get(..span.start as usize).unwrap_or_default();
        let after = text.get(span.end as usize..).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        // Includes the line break, so that a CRLF stays whole.
        let end = span.end as usize + after.find('\n').map_or(after.len(), |n| n + 1);
        Span::new(start, end)
    };
    let first = *spans.first()?;
    let short = |window: Span| {
        let shown = text.get(window.start as usize..window.end as usize).unwrap_or_default();
        shown.len() <= MOST_EXCERPT && shown.split('\n').all(|line| line.len() <= MOST_LINE)
    };
    let all = lines(spans.iter().fold(first, |all, &s| all.to(s)));
    if short(all) {
        return Some((all, spans.len()));
    }
    let window = lines(first);
    short(window).then_some((window, 1))
}

/// Clamps the span to the text and moves it to character boundaries.
fn inside(text: &str, span: Span) -> Span {
    let boundary = |offset: u32| {
        let mut offset = text.len().min(offset as usize);
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let start = boundary(span.start);
    Span::new(start, boundary(span.end).max(start))
}

/// Replaces control characters and hidden marks in one line of user text.
pub fn printable(text: &str) -> String {
    harmless(text, false)
}

/// Replaces every character that a terminal would interpret or that hides text.
///
/// A replacement has as many bytes as the original, so that spans stay valid. Line breaks are kept
/// if `lines`; the renderer expands tabs.
fn harmless(text: &str, lines: bool) -> String {
    text.char_indices()
        .map(|(at, c)| match c {
            '\n' if lines => c,
            '\t' => c,
            // Part of a CRLF; alone it would move the cursor.
            '\r' if lines && text.as_bytes().get(at + 1) == Some(&b'\n') => c,
            // ASCII: one byte.
            c if c.is_ascii_control() => '?',
            // U+0080..U+009F: two bytes; some of them start terminal commands.
            c if c.is_control() => '\u{b7}',
            // Marks that reorder, join or hide text, and line separators: three bytes.
            '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(diagnostic: Diagnostic, name: &str, text: &str) -> String {
        render(&[diagnostic], Source { name, text }, false)
    }

    #[test]
    fn a_diagnostic_reads_like_one_of_rustc() {
        let text = "ret\nexit;\n";
        let error = Diagnostic::error("missing-semicolon", Span::new(3, 3), "expected `;`")
            .label("missing here")
            .also(Span::new(4, 8), "before this")
            .help("end it with `;`");
        #[rustfmt::skip]
        let expected = [
            "error[missing-semicolon]: expected `;`",
            " --> a.ir:1:4",
            "  |",
            "1 | ret",
            "  |    ^ missing here",
            "2 | exit;",
            "  | ---- before this",
            "  |",
            "  = help: end it with `;`",
        ];
        assert_eq!(plain(error, "a.ir", text).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn several_are_parted_by_a_blank_line_and_none_is_empty() {
        let one = Diagnostic::warning("w", Span::new(0, 1), "one");
        let text = render(&[one.clone(), one], Source { name: "a", text: "x" }, false);
        assert_eq!(text.matches("\n\nwarning[w]: one\n").count(), 1);
        assert!(text.ends_with("^\n"), "{text:?}");
        assert_eq!(render(&[], Source { name: "a", text: "x" }, false), "");
    }

    #[test]
    fn odd_places_do_not_panic_and_name_their_line() {
        let long = "x".repeat(300) + "y";
        let huge = "x".repeat(MOST_LINE + 1);
        for (text, span, place) in [
            ("", Span::new(0, 0), "a.ir:1:1"),
            ("", Span::new(5, 9), "a.ir:1:1"),
            ("ret", Span::new(3, 3), "a.ir:1:4"),
            ("ret\n", Span::new(4, 4), "a.ir:2:1"),
            ("a\r\nbc\r\n", Span::new(3, 5), "a.ir:2:1"),
            ("\tret\n", Span::new(1, 4), "a.ir:1:2"),
            ("éé", Span::new(1, 3), "a.ir:1:1"),
            ("a\nb\nc", Span::new(5, 1), "a.ir:3:2"),
            (long.as_str(), Span::new(300, 301), "a.ir:1:301"),
            (huge.as_str(), Span::new(7, 8), "a.ir:1:8"),
        ] {
            let shown = plain(Diagnostic::error("e", span, "m"), "a.ir", text);
            assert!(shown.contains(place), "{text:.20?} {span:?}\n{shown}");
            assert!(shown.lines().all(|l| l.chars().count() <= 160), "{shown}");
        }
    }

    #[test]
    fn crlf_and_tabs_show_as_the_line_itself() {
        let shown = plain(Diagnostic::error("e", Span::new(4, 9), "m"), "a", "a;\r\n\texit;\r\n");
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines[3..5], ["2 |     exit;", "  | ^^^^^^^^"], "{shown}");
    }

    #[test]
    fn nothing_in_a_file_reaches_the_terminal_as_a_command() {
        let text = "mov \u{1b}[31m \u{9b}2J \u{202e} \u{7} \u{8} a\rb \u{200b}\n";
        let error = Diagnostic::error("e", Span::new(0, 30), "bad \u{1b}[0m \u{9b}")
            .label("\u{1b}]0;x\u{7}")
            .also(Span::new(4, 5), "two\nlines")
            .help("no \u{1b}c\nsecond line");
        let shown = plain(error, "evil\u{1b}[2J\n\u{9b}.ir", text);
        let bad = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{200b}');
        assert!(!shown.contains(bad), "{shown:?}");
        assert!(shown.contains("second line"));
        assert!(shown.contains("evil?[2J?\u{b7}.ir:1:1"), "the name stays on its line: {shown}");
    }

    #[test]
    fn color_is_only_there_when_asked_for() {
        let error = Diagnostic::error("e", Span::new(0, 1), "m");
        assert!(render(&[error], Source { name: "a", text: "x" }, true).contains('\u{1b}'));
    }
}
