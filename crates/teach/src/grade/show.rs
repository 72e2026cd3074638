//! Output formats of a grade. All text in a [`super::Graded`] is already printable; each format
//! adds its own escapes.

mod classroom;
mod csv;
mod gradescope;
mod junit;
mod markdown;
mod terminal;

pub use classroom::classroom;
pub use csv::csv;
pub use gradescope::gradescope;
pub use junit::junit;
pub use markdown::markdown;
pub use terminal::{line, terminal};

use super::graded::Mark;
use super::judge::number;

/// Formats points: `3 / 4`.
fn points(points: f64, max: f64) -> String {
    format!("{} / {}", number(points), number(max))
}

/// Lines below the title of a mark: name and text.
fn lines(mark: &Mark) -> Vec<(&'static str, String)> {
    let mut lines = vec![("measured", mark.measured.clone())];
    lines.extend(mark.details.iter().map(|detail| ("", detail.clone())));
    if !mark.wanted.is_empty() {
        lines.push(("required", mark.wanted.clone()));
    }
    if !mark.hint.is_empty() {
        lines.push(("hint", mark.hint.clone()));
    }
    lines.push(("trust", format!("{} ({})", mark.trust, mark.trust_page)));
    lines
}

/// Formats those lines as text.
fn body(mark: &Mark) -> String {
    lines(mark)
        .iter()
        .map(|(name, text)| format!("{name:<9} {}\n", text.replace('\n', "\n          ")))
        .collect()
}
