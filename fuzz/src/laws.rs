//! Invariants of findings and of texts for a terminal.

use simt_core::diag::{self, Diagnostic, Source, Span, codes};

/// Checks that every finding has a registered code and a span within the text, and renders.
pub(crate) fn findings(found: &[Diagnostic], text: &str) {
    let inside = |span: Span| {
        let (start, end) = (span.start as usize, span.end as usize);
        start <= end && text.is_char_boundary(start) && text.is_char_boundary(end)
    };
    for finding in found {
        assert!(codes::find(finding.code).is_some(), "no such code: {finding:?}");
        assert!(
            finding.labels.iter().all(|label| inside(label.span)),
            "outside the text: {finding:?}"
        );
    }
    let source = Source { name: "fuzz.ir", text };
    harmless(&diag::render(found, source, false));
}

/// Checks that a text without colours has no control characters.
pub(crate) fn harmless(shown: &str) {
    let commands = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    assert!(!shown.contains(commands), "control characters in {shown:?}");
}
