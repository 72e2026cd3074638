//! Forms of machine instructions that the listings of this repository have: opcode and modifiers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use simt_core::launch::Overrides;
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_gpu::{DeviceFinish, Observation};
use simt_report::simulate::simulate;

use crate::support;

/// Kernels of which an H200 ran the cubin.
const RECORDED: [&str; 3] = ["programs/unseen/mend", "programs/unseen/held", FORMS];
/// Kernels with forms that no other recorded kernel has, and the digests of their outputs: an H200
/// (driver 580.159.04) ran each three times from the cubin that nvcc 13.0.88 made of the `.cu`.
const FORMS: &str = "tests/observations/h200/forms";
/// Other listings, and the results of those that an H200 ran; `observations` compares them.
const OTHERS: [&str; 2] = ["programs/sass", "tests/sass"];
const OBSERVATIONS: [&str; 2] = ["crates/gpu/observations/h200", "tests/observations/h200"];
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
    let texts = insts.filter_map(|i| text.get(i.span.start as usize..i.span.end as usize));
    // A name of a function is none.
    texts.map(form).filter(|form| form.starts_with(|c: char| c.is_ascii_uppercase())).collect()
}

#[derive(Default)]
struct Seen {
    /// Recorded kernels that have the form; they leave the GPU's output bit by bit.
    recorded: u32,
    /// Other listings that have the form.
    others: u32,
}

fn page() -> String {
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    for folder in RECORDED {
        for path in listings(folder) {
            for form in forms(&path) {
                seen.entry(form).or_default().recorded += 1;
            }
        }
    }
    for path in OTHERS.into_iter().flat_map(listings) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let observed = OBSERVATIONS.iter().any(|folder| {
            fs::read_to_string(format!("{folder}/{name}.ron"))
                .is_ok_and(|text| Observation::parse(&text).expect(name).finish == DeviceFinish::Ok)
        });
        for form in forms(&path) {
            let row = seen.entry(form).or_default();
            *(if observed { &mut row.recorded } else { &mut row.others }) += 1;
        }
    }
    let tested = seen.values().filter(|row| row.recorded > 0).count();
    let mut page = format!(
        "# Forms of machine instructions\n\n\
         Opcodes with their modifiers as the listings of this repository have them: {} forms.\n{tested} \
         of them are in kernels whose outputs equal an H200's bit by bit (`programs/unseen`,\n\
         `programs/sass`, `tests/sass`, `tests/observations/h200/forms`). The others are in listings that\n\
         were compared with their PTX or with closed forms, as those of older architectures.\n\
         `isa/sass.ron` has a row for each opcode.\n\n\
         | form | recorded | other listings |\n|---|--:|--:|\n",
        seen.len(),
    );
    for (form, Seen { recorded, others }) in &seen {
        let _ = writeln!(page, "| `{form}` | {recorded} | {others} |");
    }
    page
}

#[test]
fn forms_leave_the_outputs_of_an_h200() {
    let recorded = fs::read_to_string(format!("{FORMS}/outputs.txt")).expect("the outputs");
    let machine = support::machine("h200");
    let mut compared = 0;
    for path in listings(FORMS) {
        let text = fs::read_to_string(&path).expect("a listing");
        let program = Program::parse(&path.to_string_lossy(), &text);
        let (kernel, launch) = support::launch(&program, &Overrides::default()).expect("a launch");
        let options = support::options(Mode::Volta, machine.side_order(), 1_000_000);
        let done = simulate(Job::new(&program, kernel, launch, &machine, options), &())
            .unwrap_or_else(|e| panic!("{}: {e}", program.name));
        let out = done.launch.buffers.iter().find(|buffer| buffer.name == "out").expect("out");
        let line = recorded.lines().find(|line| line.contains(&format!("OUT {} ", kernel.name)));
        let expected = format!("fnv={:016x}", support::hash(&out.words));
        let line = line.unwrap_or_else(|| panic!("{} is not recorded", kernel.name));
        assert!(line.contains(&expected), "{}: {expected}, on the H200 {line}", kernel.name);
        compared += 1;
    }
    assert_eq!(compared, recorded.lines().count());
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
