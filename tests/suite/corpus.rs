//! Programs that are wrong: what the user is told, word for word, and that nothing a user can write makes the simulator panic.
//!
//! Beside each `tests/bad/**/NAME.ir` stands `NAME.stderr` with its findings as they are rendered. `BLESS=1 cargo test --test
//! suite corpus` rewrites them; read the difference before you commit it.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{TestCaseError, TestRunner};
use simt_sim::diag::Diagnostic;
use simt_sim::launch::Overrides;
use simt_sim::pipeline::Program;
use simt_sim::text;

use super::support;

/// Everything that is found about a text, its directives evaluated included.
fn findings(program: &Program) -> Vec<Diagnostic> {
    let mut findings = program.findings.clone();
    if program.is_sound() {
        let no_files = |path: &str| Err(format!("there is no file `{path}`"));
        match program.kernel(None) {
            Ok(kernel) => {
                let launched = program.launch(kernel, &Overrides::default(), &no_files);
                findings.extend(launched.err().unwrap_or_default());
            }
            Err(e) => findings.push(Diagnostic::error("no-kernel", Default::default(), e.to_string())),
        }
    }
    findings
}

#[test]
fn bad_programs_are_told_what_is_wrong() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v != "0");
    let files = support::programs("tests/bad");
    assert!(!files.is_empty(), "tests/bad holds no .ir file");
    let mut wrong = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a readable file");
        // Paths are shown relative to the repository and with `/`, wherever it lies.
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
        "\n{}\n{} of the corpus differ; if what is found now is right: BLESS=1 cargo test --test suite corpus",
        wrong.join("\n"),
        wrong.len()
    );
}

#[test]
fn every_blessed_file_has_its_program() {
    let folder_of = |p: &Path| p.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut folders: Vec<_> = support::programs("tests/bad").iter().map(|p| folder_of(p)).collect();
    folders.dedup();
    for entry in folders.iter().flat_map(|f| fs::read_dir(f).expect("a readable folder")).flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "stderr") {
            assert!(path.with_extension("ir").exists(), "{} belongs to no program", path.display());
        }
    }
}

/// A change to a text.
#[derive(Clone, Debug)]
enum Edit {
    /// Takes out the words `at..at + count`.
    Delete(Index, usize),
    /// Repeats the words `at..at + count`.
    Repeat(Index, usize),
    /// Puts a word of the same or another program in place of one.
    Replace(Index, Index),
    /// Puts a word there that no program has.
    Insert(Index, &'static str),
    /// Takes out bytes in the middle of words.
    Cut(Index, usize),
    /// Ends the text there.
    Truncate(Index),
}

/// Words at the edges of what the language allows.
const EDGES: &[&str] = &[
    "0x",
    "0xffffffffffffffffff",
    "-9223372036854775808",
    "18446744073709551615",
    "4294967296",
    "1e999",
    "0f7fc0000",
    "nan",
    "%",
    "%r",
    "%r<4294967295>",
    "%tid",
    "%tid.w",
    "_",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "@",
    "@!",
    "!",
    "|",
    ";",
    ",",
    ":",
    "/*",
    "*/",
    "//",
    "//!",
    "\"",
    "\\",
    "\0",
    "é",
    "𝄞",
    ".reg",
    ".reg .pred",
    ".shared .align 3 .b8",
    ".entry",
    ".func",
    ".v4",
    ".param",
    "bra",
    "ret;",
    "bar.sync 99;",
    "call",
    "add.u32",
    "ld.global.v4.u32",
    "setp.lt.and.u32",
    "+",
    "-",
    "<<",
    ">>",
    "%%",
    "?",
    "..",
    "for i",
    "fill",
    "random(",
    "expect",
    "buffer x: u32[",
    "const",
    "block",
    "grid = (0, 0, 0)",
    ".loc 1 4294967295 0",
    ".version 99.99",
    ".target sm_0",
    ".address_size 7",
    ".maxntid 0",
    ".pragma",
];

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        (at(), 1usize..8).prop_map(|(i, n)| Edit::Delete(i, n)),
        (at(), 1usize..8).prop_map(|(i, n)| Edit::Repeat(i, n)),
        (at(), at()).prop_map(|(i, j)| Edit::Replace(i, j)),
        (at(), select(EDGES)).prop_map(|(i, w)| Edit::Insert(i, w)),
        (at(), 1usize..4).prop_map(|(i, n)| Edit::Cut(i, n)),
        at().prop_map(Edit::Truncate),
    ]
}

/// The text as words, numbers, single signs and runs of blanks.
fn words(text: &str) -> Vec<&str> {
    let kind = |c: char| {
        if c.is_alphanumeric() || "_%$".contains(c) {
            0
        } else if c.is_whitespace() {
            1
        } else {
            2
        }
    };
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same = |c: char| kind(c) == kind(first) && kind(c) < 2;
        let end = if kind(first) == 2 { first.len_utf8() } else { rest.find(|c| !same(c)).unwrap_or(rest.len()) };
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

/// The text after an edit; `other` lends words.
fn edited(text: &str, other: &str, edit: &Edit) -> String {
    let mut parts = words(text);
    if parts.is_empty() {
        return EDGES[0].to_string();
    }
    match edit {
        Edit::Delete(at, n) => {
            let at = at.index(parts.len());
            parts.drain(at..(at + n).min(parts.len()));
        }
        Edit::Repeat(at, n) => {
            let at = at.index(parts.len());
            let again = parts[at..(at + n).min(parts.len())].to_vec();
            parts.splice(at..at, again);
        }
        Edit::Replace(at, from) => {
            let lent = words(other);
            let at = at.index(parts.len());
            parts[at] = if lent.is_empty() { "" } else { lent[from.index(lent.len())] };
        }
        Edit::Insert(at, word) => {
            let at = at.index(parts.len());
            parts.insert(at, word);
        }
        Edit::Cut(at, n) => {
            let bytes = text.as_bytes();
            let at = at.index(bytes.len());
            let kept = [&bytes[..at], &bytes[(at + n).min(bytes.len())..]].concat();
            return String::from_utf8_lossy(&kept).into_owned();
        }
        Edit::Truncate(at) => parts.truncate(at.index(parts.len())),
    }
    parts.concat()
}

/// Goes the whole way to a launch and renders what is found on it.
fn survive(name: &str, text: &str) {
    let program = Program::parse(name, text);
    let _ = support::rendered(&program, &program.findings);
    let _ = text::print(&program.module);
    // What was taken in is not always sound, and may ask for gigabytes: only small launches are evaluated.
    if is_modest(text) {
        for kernel in &program.kernels {
            let set = vec![("n".to_string(), "256".to_string()), ("block".to_string(), "64".to_string())];
            let set = set.into_iter().filter(|(name, _)| program.plan.constants().any(|c| c == name)).collect();
            let overrides = Overrides { set, ..Overrides::default() };
            let launched = program.launch(kernel, &overrides, &|_| Ok(vec![1, 2, 3, 4]));
            let _ = launched.map_err(|found| support::rendered(&program, &found));
        }
    }
}

/// Whether the numbers in the directives are so small that no product of three of them needs much memory.
fn is_modest(text: &str) -> bool {
    let directives = text.lines().filter(|l| l.contains("//!") && !l.contains("const")).collect::<Vec<_>>().join(" ");
    let numbers = words(&directives).into_iter().filter(|w| w.starts_with(|c: char| c.is_ascii_digit()));
    numbers.into_iter().all(|w| w.parse::<u64>().is_ok_and(|n| n <= 512)) && !directives.contains("<<")
}

#[test]
fn no_text_makes_the_way_to_a_launch_panic() {
    let files = [support::programs("programs"), support::programs("tests/bad")].concat();
    let texts: Vec<String> = files.iter().map(|p| fs::read_to_string(p).expect("a readable file")).collect();
    assert!(!texts.is_empty(), "no programs to mutate");
    let cases = (any::<Index>(), any::<Index>(), proptest::collection::vec(edit(), 1..6));
    let mut runner = TestRunner::new(support::cases(3000));
    let result = runner.run(&cases, |(one, other, edits)| {
        let (one, other) = (one.index(texts.len()), other.index(texts.len()));
        let text = edits.iter().fold(texts[one].clone(), |text, e| edited(&text, &texts[other], e));
        std::panic::catch_unwind(|| survive("mutated.ir", &text))
            .map_err(|_| TestCaseError::fail(format!("a panic on this text:\n{text}")))
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
