//! Reading programs and machine files, with every finding rendered.

use std::path::Path;

use simt_sim::diag::{self, Diagnostic, Source, has_errors};
use simt_sim::kernel::{self, Kernel};
use simt_sim::text::{self, tree::Module};

use super::{Failure, output};

/// The largest program text read, in bytes. Compilers emit a few megabytes at most.
const MAX_BYTES: u64 = 64 << 20;

/// A file, read and analysed as far as it goes.
pub(crate) struct Program {
    /// The name as the user gave it.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
    /// What the text says.
    pub(crate) module: Module,
    /// The kernels that passed every check.
    pub(crate) kernels: Vec<Kernel>,
    /// Every finding, in order of place.
    pub(crate) findings: Vec<Diagnostic>,
}

impl Program {
    /// Reads and checks a program; findings are kept, not reported.
    pub(crate) fn read(path: &Path) -> Result<Program, Failure> {
        let (name, text) = read_text(path)?;
        let (module, mut findings) = text::parse(&text);
        let (kernels, more) = kernel::check(&module, &text);
        findings.extend(more);
        for kernel in &kernels {
            findings.extend(kernel::warnings(kernel));
        }
        findings.sort_by_key(|d| (d.labels.first().map(|l| l.span), d.severity));
        findings.dedup();
        Ok(Program { name, text, module, kernels, findings })
    }

    /// Reads a program that has no error; warnings are printed unless `quiet`.
    pub(crate) fn read_sound(path: &Path, quiet: bool) -> Result<Program, Failure> {
        let program = Program::read(path)?;
        if has_errors(&program.findings) {
            return Err(Failure(program.render(&program.findings)));
        }
        if !quiet {
            output::error(&program.render(&program.findings));
        }
        Ok(program)
    }

    /// Findings with source excerpts.
    pub(crate) fn render(&self, findings: &[Diagnostic]) -> String {
        diag::render(findings, Source { name: &self.name, text: &self.text }, output::color_err())
    }

    /// The kernel called `wanted`, or the only one.
    pub(crate) fn kernel(&self, wanted: Option<&str>) -> Result<&Kernel, Failure> {
        let names = || self.kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", ");
        match (wanted, self.kernels.as_slice()) {
            (_, []) => Err(Failure::new(format!("`{}` has no kernel; declare one with `.entry name ( .. )`", self.name))),
            (Some(wanted), kernels) => kernels.iter().find(|k| k.name == wanted).ok_or_else(|| {
                Failure::new(format!("`{}` has no kernel `{wanted}`; it has {}", self.name, names()))
            }),
            (None, [one]) => Ok(one),
            (None, _) => {
                Err(Failure::new(format!("`{}` has several kernels; choose one with --kernel: {}", self.name, names())))
            }
        }
    }
}

/// A file's name as given, and its text.
pub(crate) fn read_text(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    let fail = |e: &dyn std::fmt::Display| Failure::new(format!("cannot read `{name}`: {e}"));
    let meta = std::fs::metadata(path).map_err(|e| fail(&e))?;
    if !meta.is_file() {
        return Err(fail(&"it is not a regular file"));
    }
    if meta.len() > MAX_BYTES {
        return Err(fail(&format!("it has {} bytes; the limit is {MAX_BYTES}", meta.len())));
    }
    let bytes = std::fs::read(path).map_err(|e| fail(&e))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(e) => Err(fail(&format!("byte {} is not UTF-8 text", e.utf8_error().valid_up_to()))),
    }
}
