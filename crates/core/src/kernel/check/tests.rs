//! Tests of the checker on source text.

use super::{check, support};
use crate::diag::{Diagnostic, Severity};
use crate::isa::Isa;
use crate::kernel::Kernel;
use crate::ptx;

mod accepts;
mod rejects;

/// Parses and checks; the text must parse.
fn checked(source: &str) -> (Vec<Kernel>, Vec<Diagnostic>) {
    let (module, faults) = ptx::parse(source);
    assert!(faults.is_empty(), "does not parse: {faults:?}\n{source}");
    check(&module, source)
}

/// Returns a kernel around `body`, with registers of every kind.
fn around(body: &str) -> String {
    format!(
        ".entry k(.param .u64 out, .param .u32 n) {{\n\
         .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n\
         .reg .f32 %f<9>; .reg .f64 %d<9>; .shared .align 8 .b8 tile[64];\n{body}\n}}\n"
    )
}

/// Checks a kernel around `body`, which must have no errors; ignores warnings.
fn kernel(body: &str) -> Kernel {
    let source = around(body);
    let (mut kernels, found) = checked(&source);
    let errors: Vec<_> = found.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}\n{source}");
    kernels.pop().expect("one kernel")
}

const FORMS: &str = include_str!("../../../../../tests/forms.ir");

#[test]
fn every_row_of_the_isa_has_an_accepted_example() {
    let (kernels, found) = checked(FORMS);
    let errors: Vec<String> =
        found.iter().filter(|d| d.severity == Severity::Error).map(at).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let used: Vec<u16> = kernels[0].insts.iter().map(|inst| inst.form).collect();
    for (i, row) in Isa::ptx().rows().iter().enumerate() {
        assert!(used.contains(&(i as u16)), "tests/forms.ir has no `{}`", row.syntax);
    }
}

/// Formats a diagnostic with the source text under its label.
fn at(d: &Diagnostic) -> String {
    let span = d.labels[0].span;
    let text = FORMS.get(span.start as usize..span.end as usize).unwrap_or("?");
    format!("{}: {} at `{text}`", d.code, d.message)
}

#[test]
fn no_operand_in_the_wrong_place_brings_the_checker_down() {
    const ODD: &[&str] = &[
        "_",
        "%r1",
        "%rd1",
        "%f1",
        "%d1",
        "%p1",
        "%h1",
        "!%p1",
        "%r1|%p1",
        "%p1|%p2",
        "%clock",
        "%clock64",
        "%gridid",
        "%tid.x",
        "WARP_SZ",
        "7",
        "-1",
        "99999999999",
        "1.5",
        "0f3F800000",
        "[%rd1]",
        "[tile]",
        "[n]",
        "[7]",
        "tile",
        "tile+4",
        "n",
        "k",
        "{%r1, %r2}",
        "{%r1, _}",
        "{%h1, %h2, %h3, %h1}",
        "{%rd1, 1}",
        "{}",
    ];
    let (kernels, _) = checked(FORMS);
    let mut seen = Vec::new();
    for inst in &kernels[0].insts {
        let written = FORMS.get(inst.span.start as usize..inst.span.end as usize).unwrap_or("");
        let Some((mnemonic, operands)) = written.trim_end_matches(';').split_once(' ') else {
            continue;
        };
        if seen.contains(&inst.form) || written.contains(['{', '@']) {
            continue;
        }
        seen.push(inst.form);
        let operands: Vec<&str> = operands.split(',').collect();
        for (i, odd) in (0..operands.len()).flat_map(|i| ODD.iter().map(move |odd| (i, *odd))) {
            let mut operands = operands.clone();
            operands[i] = odd;
            let source = around(&format!("{mnemonic} {};", operands.join(",")));
            let (module, faults) = ptx::parse(&source);
            let (kernels, found) = check(&module, &source);
            let sound = found.iter().all(|d| d.severity != Severity::Error);
            assert!(!faults.is_empty() || sound == (kernels.len() == 1), "{source}");
        }
    }
    assert!(seen.len() > 150, "only {} forms", seen.len());
}

#[test]
fn all_that_nvcc_writes_is_accepted() {
    let (_, found) = checked(include_str!("../../ptx/tests/nvcc.ptx"));
    // The file is an excerpt, so some registers are never written.
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    let messages: Vec<&str> = errors.map(|d| d.message.as_str()).collect();
    assert!(messages.is_empty(), "{messages:?}");
}

#[test]
fn support_counts_instructions_with_a_form() {
    let (module, _) = ptx::parse(".entry k() { add.u32 %r1, %r1, 1; wmma.foo %r1; { ret; } }");
    assert_eq!(support(&module), (2, 3));
}
