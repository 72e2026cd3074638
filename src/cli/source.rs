//! Reading programs and machine files, with every finding rendered.

use std::path::Path;

use simt_core::diag::{self, Diagnostic, Severity, Source};
use simt_core::{NoKernel, Program};

use super::{Failure, output, reading};

/// The largest program text read, in bytes. Compilers emit a few megabytes at most; a byte of text takes some 40 of memory.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Reads a program and analyses it as far as it goes; findings are kept, not reported.
pub(crate) fn read(path: &Path) -> Result<Program, Failure> {
    let (name, text) = read_text(path)?;
    Ok(Program::parse(&name, &text))
}

/// Reads a program that has no error; warnings are printed unless `quiet`.
pub(crate) fn read_sound(path: &Path, quiet: bool) -> Result<Program, Failure> {
    let program = read(path)?;
    if !program.is_sound() {
        return Err(Failure(render(&program, &program.findings)));
    }
    if !quiet {
        output::error(&render(&program, &program.findings));
    }
    Ok(program)
}

/// Reads a program of which the chosen kernel can be run, whatever is wrong with others; warnings are printed unless
/// `quiet`.
pub(crate) fn read_runnable(path: &Path, kernel: Option<&str>, quiet: bool) -> Result<Program, Failure> {
    let program = read(path)?;
    match program.kernel(kernel) {
        Ok(_) => {}
        Err(NoKernel::Several { .. } | NoKernel::Unknown { .. }) if !program.kernels.is_empty() => {}
        Err(_) if !program.is_sound() => {
            return Err(Failure(render(&program, program.findings_against(kernel)) + &those_that_run(&program)));
        }
        Err(_) => {}
    }
    if !quiet {
        let warnings: Vec<Diagnostic> =
            program.findings.iter().filter(|found| found.severity != Severity::Error).cloned().collect();
        output::error(&render(&program, &warnings));
    }
    Ok(program)
}

/// The kernels that can be run, where another cannot.
fn those_that_run(program: &Program) -> String {
    let names: Vec<String> = program.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect();
    if names.is_empty() { String::new() } else { format!("These kernels can be run: {}.\n", names.join(", ")) }
}

/// Findings about a program for standard error, with source excerpts and a word on where more is said.
pub(crate) fn render(program: &Program, findings: &[Diagnostic]) -> String {
    excerpts(program, findings, output::color_err()) + &further(findings)
}

/// Where more is said about the worst of the findings.
pub(crate) fn further(findings: &[Diagnostic]) -> String {
    let worst = findings.iter().min_by_key(|finding| finding.severity);
    worst.map(|worst| format!("`simt-sim explain {}` says more.\n", worst.code)).unwrap_or_default()
}

/// Findings about a program, with source excerpts.
pub(crate) fn excerpts(program: &Program, findings: &[Diagnostic], color: bool) -> String {
    diag::render(findings, Source { name: &program.name, text: &program.text }, color)
}

/// A file's name as given, and its text.
pub(crate) fn read_text(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    let fail = |e: &dyn std::fmt::Display| Failure::new(format!("cannot read `{name}`: {e}"));
    let bytes = reading::regular(path, MAX_BYTES, "the limit of a text is").map_err(|e| fail(&e))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(e) => Err(fail(&format!("byte {} is not UTF-8 text", e.utf8_error().valid_up_to()))),
    }
}
