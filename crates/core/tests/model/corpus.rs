//! Incorrect programs and the exact text of their diagnostics.
//!
//! Beside each `tests/bad/**/NAME.ir` or `.sass` stands `NAME.stderr` with its findings as they are
//! rendered. `BLESS=1 cargo test -p simt-core corpus` rewrites them; read the difference before you
//! commit it.

use std::fs;
use std::path::Path;

use simt_core::Program;
use simt_core::diag::Diagnostic;
use simt_core::launch::Overrides;

use super::support;

/// Kinds of incorrect programs.
const KINDS: [&str; 2] = ["ir", "sass"];

/// Returns all findings of a text, including those of its evaluated directives.
fn findings(program: &Program) -> Vec<Diagnostic> {
    let mut findings = program.findings.clone();
    if program.is_sound() {
        let no_files = |path: &str, _| Err(format!("there is no file `{path}`"));
        match program.kernel(None) {
            Ok(kernel) => {
                let launched = program.launch(kernel, &Overrides::default(), &no_files);
                findings.extend(launched.err().unwrap_or_default());
            }
            Err(e) => {
                findings.push(Diagnostic::error("no-kernel", Default::default(), e.to_string()))
            }
        }
    }
    findings
}

#[test]
fn bad_programs_are_told_what_is_wrong() {
    super::enter_repository();
    let bless = std::env::var_os("BLESS").is_some_and(|v| v != "0");
    let files = support::files("tests/bad", &KINDS);
    assert!(!files.is_empty(), "tests/bad holds no program");
    let mut wrong = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a readable file");
        // Paths are shown relative to the repository and with `/` on every host.
        let program = Program::parse(&path.display().to_string().replace('\\', "/"), &text);
        let findings = findings(&program);
        let found = support::rendered(&program, &findings);
        if findings.is_empty() {
            wrong.push(format!("{}: nothing is found wrong with it", program.name));
            continue;
        }
        let blessed = path.with_extension("stderr");
        if bless {
            fs::write(&blessed, &found).expect("a writable file");
            continue;
        }
        let expected = fs::read_to_string(&blessed).unwrap_or_default().replace("\r\n", "\n");
        if expected != found {
            wrong.push(format!("{}\n--- expected\n{expected}--- found\n{found}", program.name));
        }
    }
    assert!(
        wrong.is_empty(),
        "\n{}\n{} of the corpus differ; if what is found now is right: BLESS=1 cargo test -p simt-core corpus",
        wrong.join("\n"),
        wrong.len()
    );
}

#[test]
fn every_blessed_file_has_its_program() {
    super::enter_repository();
    let folder_of = |p: &Path| p.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut folders: Vec<_> =
        support::files("tests/bad", &KINDS).iter().map(|p| folder_of(p)).collect();
    folders.dedup();
    for entry in folders.iter().flat_map(|f| fs::read_dir(f).expect("a readable folder")).flatten()
    {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "stderr") {
            let exists = KINDS.iter().any(|kind| path.with_extension(kind).exists());
            assert!(exists, "{} belongs to no program", path.display());
        }
    }
}
