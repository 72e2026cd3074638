use super::*;
use crate::observe::samples;
use crate::report::Run;
use crate::report::run::tests::{sample, stuck};

#[test]
fn show() {
    eprintln!("{}", text(&Run::build(sample(samples::neighbored)), Style::default()));
    eprintln!("{}", text(&Run::build(stuck()), Style { width: 70, color: false }));
}
