//! What holds for every finding and for every text that a terminal may show.

use simt_core::diag::{self, Diagnostic, Source, Span, codes};

/// Every finding has a code of the register and lies in the text; all can be shown.
pub(crate) fn findings(found: &[Diagnostic], text: &str) {
    let inside = |span: Span| {
        let (start, end) = (span.start as usize, span.end as usize);
        start <= end && text.is_char_boundary(start) && text.is_char_boundary(end)
    };
    for finding in found {
        assert!(codes::find(finding.code).is_some(), "no such code: {finding:?}");
        assert!(finding.labels.iter().all(|label| inside(label.span)), "outside the text: {finding:?}");
    }
    let source = Source { name: "fuzz.ir", text };
    harmless(&diag::render(found, source, false));
}

/// Nothing in a text without colours makes a terminal do anything.
pub(crate) fn harmless(shown: &str) {
    let commands = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    assert!(!shown.contains(commands), "a terminal would obey {shown:?}");
}
