//! Forms of machine instructions that the listings of this repository have: opcode and modifiers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use simt_core::Program;

use crate::unseen::outputs_differ;

/// Kernels whose outputs an H200 left.
const RECORDED: [&str; 2] = ["programs/unseen/mend", "programs/unseen/held"];
/// Other listings.
const OTHERS: [&str; 2] = ["programs/sass", "tests/sass"];
const PAGE: &str = "docs/reference/machine-forms.md";

fn listings(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect(folder).map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "sass")).collect();
    files.sort();
    files
}

/// Returns the forms of a listing: mnemonics with their modifiers.
fn forms(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).expect("a listing");
    let program = Program::parse(&path.to_string_lossy(), &text);
    let insts = program.kernels.iter().flat_map(|kernel| &kernel.insts);
    let form = |text: &str| {
        let words = text.split_whitespace();
        let mnemonic = words.into_iter().find(|word| !word.starts_with('@'));
        mnemonic.unwrap_or_default().trim_end_matches(';').to_owned()
    };
    insts.filter_map(|i| text.get(i.span.start as usize..i.span.end as usize)).map(form).collect()
}

#[derive(Default)]
struct Seen {
    /// Recorded kernels that have the form and leave the GPU's output bit by bit.
    equal: u32,
    /// Recorded kernels that have the form and differ.
    differ: u32,
    /// Other listings that have the form.
    others: u32,
}

fn page() -> String {
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    for folder in RECORDED {
        for path in listings(folder) {
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let differs = outputs_differ(name);
            for form in forms(&path) {
                let row = seen.entry(form).or_default();
                *(if differs { &mut row.differ } else { &mut row.equal }) += 1;
            }
        }
    }
    for path in OTHERS.into_iter().flat_map(listings) {
        for form in forms(&path) {
            seen.entry(form).or_default().others += 1;
        }
    }
    let tested = seen.values().filter(|row| row.equal > 0).count();
    let mut page = format!(
        "# Forms of machine instructions\n\n\
         Opcodes with their modifiers as the listings of this repository have them: {} forms.\n{tested} \
         of them are in kernels whose outputs equal an H200's bit by bit (`programs/unseen`).\nThe \
         others are in kernels that differ (approximations of MUFU), or in listings that were compared \
         with\ntheir PTX or with closed forms (`programs/sass`, `tests/sass`). `isa/sass.ron` has a \
         row for each\nopcode.\n\n\
         | form | recorded, equal | recorded, not equal | other listings |\n|---|--:|--:|--:|\n",
        seen.len(),
    );
    for (form, Seen { equal, differ, others }) in &seen {
        let _ = writeln!(page, "| `{form}` | {equal} | {differ} | {others} |");
    }
    page
}

/// `BLESS=1 cargo test --test suite forms` rewrites the page.
#[test]
fn the_page_of_machine_forms_is_up_to_date() {
    let expected = page();
    assert!(expected.lines().count() > 300, "{} lines", expected.lines().count());
    if std::env::var_os("BLESS").is_some_and(|v| v != "0") {
        fs::write(PAGE, &expected).expect("a writable page");
    }
    let page = fs::read_to_string(PAGE).unwrap_or_default().replace("\r\n", "\n");
    assert!(page == expected, "{PAGE} is out of date: run `BLESS=1 cargo test --test suite forms`");
}
