//! The errors on kernels that nothing was built on, as a page to read.

use super::Style;
use super::layout::Page;
use crate::evidence::{CHOSEN, Evidence, HEADER, KERNELS, by_basis, kernel_row};

/// Evidence as a page; `all` shows every metric, and what came of each kernel.
pub fn evidence(found: &Evidence, all: bool, style: Style) -> String {
    let mut page = Page::new(style);
    let (mend, held) = found.kernels;
    let about = format!(
        "{} simulated; measured: {}. {mend} kernels that the model may be corrected with (mend), {held} that only state \
         the error (held).",
        found.machine,
        found.measured_on()
    );
    page.paragraph(&about, "", "  ");
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
