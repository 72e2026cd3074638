//! Cycles of machine code in larger grids than those of the labels.
//!
//! `crates/report/evidence/larger.csv` has, for the kernels of the set *held* with [`TIMES`] as
//! many blocks and elements, the cycles of an H200 and of the simulator; written by
//! `BLESS=1 cargo test --test suite larger -- --ignored`.

use super::super::profile::Held;
use super::{CodeKind, Errors, Fingerprint, known};

/// Blocks of the kernels, in those of the labels' grids.
pub const TIMES: u32 = 4;

/// Blocks of an SM up to which a grid is like those of the labels.
const SMALL: u64 = 3;

const TABLE: &str = include_str!("../../evidence/larger.csv");

/// Returns the kernels with the measured and the simulated cycles.
pub fn larger_grids() -> Vec<(&'static str, Held)> {
    let row = |line: &'static str| {
        let mut fields = line.split(',');
        let kernel = fields.next()?;
        let [measured, simulated] = [fields.next()?, fields.next()?].map(|f| f.parse().ok());
        let (name, unit) = ("sm__cycles_active.max".to_owned(), "cycle");
        let (measured, simulated) = (measured?, simulated?);
        Some((kernel, Held { name, unit, simulated, measured, rounding: 0.5 }))
    };
    TABLE.lines().filter_map(row).collect()
}

/// Returns the errors of all of these kernels.
pub fn larger_errors() -> Option<Errors> {
    Errors::of(larger_grids().iter().map(|(_, held)| held))
}

/// Returns a sentence for a run of machine code of more `blocks` than those of the labels' grids on
/// a GPU of `sms`.
pub fn note_of_larger(run: &Fingerprint, blocks: u64, sms: u32) -> Option<String> {
    let evidence = known(CodeKind::Sass)?;
    let measured = &evidence.fingerprint;
    let has_labels = (run.code, &run.whole) == (CodeKind::Sass, &measured.whole);
    if !has_labels || run.unmeasured.is_some() || blocks <= SMALL * u64::from(sms) {
        return None;
    }
    let errors = larger_errors()?;
    let (step, within) = errors.within?;
    Some(format!(
        "Labels of time are of grids of two blocks an SM. With {TIMES} times as many, cycles are \
         within {step} % on {within} of {} unseen kernels ({}).",
        errors.kernels,
        evidence.gpu()
    ))
}
