//! Reading of programs and machine files, and rendering of their findings.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use simt_core::diag::{self, Diagnostic, Severity, Source};
use simt_core::{NoKernel, Program};

use super::args::SassChoice;
use super::{Failure, compile, import, output, reading};

/// Largest program text, in bytes. Compilers emit a few megabytes; analysis takes about 40 bytes a
/// byte.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Name of standard input among the program files, and in reports.
const INPUT: (&str, &str) = ("-", "<stdin>");

/// Returns true if a program file is standard input.
pub(crate) fn is_input(path: &Path) -> bool {
    path == Path::new(INPUT.0)
}

/// Reads a program, which may be standard input, and keeps its findings.
pub(crate) fn read(path: &Path, sass: &SassChoice) -> Result<Program, Failure> {
    if compile::is_cuda(path) {
        return compile::program(path, sass);
    }
    if let Some(option) = sass.option() {
        return Err(not_compiled(option, path));
    }
    let (name, text) = if is_input(path) { read_input()? } else { read_program(path)? };
    Ok(Program::parse(&name, &text))
}

/// Refuses options of compilation if there is nothing to compile among `files`.
pub(crate) fn has_compiled(files: &[PathBuf], sass: &SassChoice) -> Result<(), Failure> {
    match (sass.option(), files.first()) {
        (Some(option), Some(first)) if !files.iter().any(|file| compile::is_cuda(file)) => {
            Err(not_compiled(option, first))
        }
        _ => Ok(()),
    }
}

fn not_compiled(option: &str, path: &Path) -> Failure {
    Failure::new(format!(
        "{option} says how to compile CUDA C++, but `{}` is no .cu file\n\
         help: leave the option out, or name the .cu file",
        path.display()
    ))
}

/// Returns a program's name as given, and its text: a file's own, or that of machine code.
fn read_program(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    let fail = |e: &dyn std::fmt::Display| Failure::new(format!("cannot read `{name}`: {e}"));
    let is_cubin = path.extension().is_some_and(|extension| extension == "cubin");
    let most = if is_cubin { simt_cubin::MAX_BYTES } else { MAX_BYTES };
    let bytes = reading::regular(path, most, BOUND).map_err(|e| fail(&e))?;
    if is_cubin || simt_cubin::is_elf(&bytes) {
        return Ok((name, import::of_image(path, &bytes, None, None)?));
    }
    let text = utf8(bytes).map_err(|e| fail(&e))?;
    Ok((name, text))
}

/// Name and text of standard input. Read once, since several runs may share a program.
fn read_input() -> Result<(String, String), Failure> {
    static READ: OnceLock<Result<String, String>> = OnceLock::new();
    let read = READ.get_or_init(|| reading::input(MAX_BYTES, BOUND).and_then(utf8));
    let fail = |e: &String| Failure::new(format!("cannot read `{}`: {e}", INPUT.1));
    read.as_ref().map(|text| (INPUT.1.to_owned(), text.clone())).map_err(fail)
}

/// Reads a program without errors; prints its warnings unless `quiet`.
pub(crate) fn read_sound(path: &Path, quiet: bool) -> Result<Program, Failure> {
    let program = read(path, &SassChoice::default())?;
    if !program.is_sound() {
        return Err(Failure(render(&program, &program.findings)));
    }
    if !quiet {
        output::error(&render(&program, &program.findings));
    }
    Ok(program)
}

/// Reads a program whose chosen kernel can be run, whatever the errors of others. Prints warnings
/// unless `quiet`.
pub(crate) fn read_runnable(
    path: &Path,
    sass: &SassChoice,
    kernel: Option<&str>,
    quiet: bool,
) -> Result<Program, Failure> {
    let program = read(path, sass)?;
    match program.kernel(kernel) {
        Ok(_) => {}
        Err(NoKernel::Several { .. } | NoKernel::Unknown { .. }) if !program.kernels.is_empty() => {
        }
        Err(_) if !program.is_sound() => {
            return Err(Failure(
                render(&program, program.findings_against(kernel)) + &those_that_run(&program),
            ));
        }
        Err(_) => {}
    }
    if !quiet {
        let warnings: Vec<Diagnostic> = program
            .findings
            .iter()
            .filter(|found| found.severity != Severity::Error)
            .cloned()
            .collect();
        output::error(&render(&program, &warnings));
    }
    Ok(program)
}

/// Names the kernels that can run, when the chosen one cannot.
fn those_that_run(program: &Program) -> String {
    let names: Vec<String> =
        program.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("These kernels can be run: {}.\n", names.join(", "))
    }
}

/// Renders findings for standard error, with source excerpts and the next command.
pub(crate) fn render(program: &Program, findings: &[Diagnostic]) -> String {
    excerpts(program, findings, output::color_err()) + &further(findings)
}

/// Points to the `explain` page of the most severe finding.
pub(crate) fn further(findings: &[Diagnostic]) -> String {
    let worst = findings.iter().min_by_key(|finding| finding.severity);
    worst
        .map(|worst| format!("Learn more with `simt-sim explain {}`.\n", worst.code))
        .unwrap_or_default()
}

/// Renders findings with source excerpts.
pub(crate) fn excerpts(program: &Program, findings: &[Diagnostic], color: bool) -> String {
    diag::render(findings, Source { name: &program.name, text: &program.text }, color)
}

/// Words for [`MAX_BYTES`] in errors.
const BOUND: &str = "the limit of a text is";

/// Returns a file's name as given, and its text.
pub(crate) fn read_text(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    let fail = |e: &dyn std::fmt::Display| Failure::new(format!("cannot read `{name}`: {e}"));
    let text = reading::regular(path, MAX_BYTES, BOUND).and_then(utf8).map_err(|e| fail(&e))?;
    Ok((name, text))
}

/// Returns the text of bytes.
pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    const SAVE: &str = "save it as UTF-8";
    // UTF-16 with its mark, or the zeros of ASCII letters without one.
    if let [0xff, 0xfe, ..]
    | [0xfe, 0xff, ..]
    | [0, 1..=255, 0, 1..=255, ..]
    | [1..=255, 0, 1..=255, 0, ..] = bytes.as_slice()
    {
        return Err(format!("it is UTF-16 text; {SAVE}"));
    }
    String::from_utf8(bytes).map_err(|e| {
        let bytes = e.as_bytes();
        let at = e.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&bytes[..at]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        format!("line {line}, column {column} is not UTF-8 text; {SAVE}")
    })
}
