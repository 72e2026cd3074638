//! The text of the measured errors on unseen kernels.

use super::Style;
use super::layout::Page;
use crate::evidence::{CHOSEN, Evidence, HEADER, KERNELS, by_basis, kernel_row};

/// Prints evidence; `all` shows every metric and a table of kernels.
pub fn evidence(found: &Evidence, all: bool, style: Style) -> String {
    let mut page = Page::new(style);
    let (mend, held) = found.kernels;
    let about = format!(
        "{}: {} simulated; measured on {}. The model may be corrected with {mend} kernels (mend); \
         {held} only state its error (held). {}",
        found.fingerprint.code.title(),
        found.machine,
        found.measured_on(),
        found.exceptions()
    );
    page.paragraph(about.trim_end(), "", "  ");
    for (basis, rows) in by_basis(found, (!all).then_some(&CHOSEN)) {
        page.heading(basis.title());
        page.table(&HEADER, rows, &[0], None);
    }
    if all {
        page.heading("Kernels");
        page.table(&KERNELS, found.each.iter().map(kernel_row).collect(), &[0, 1, 2], None);
    }
    page.finish()
}
