//! Malicious submissions: none gets a point, reads the grader's data, or changes another one's
//! grade; and each is stopped by its intended limit. `tests/hostile` has those that are separate
//! files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{REDUCTION, SMALL, assignment, folder, grade};

const HEAD: &str =
    ".visible .entry reduce(.param .u64 g_idata, .param .u64 g_odata, .param .u32 n)\n{\n";

/// Expected messages for submissions that are stopped by a limit or unreadable.
const SAID: &[(&str, &str)] = &[
    ("endless_loop.ir", "repeated a state without a memory write"),
    ("counts_for_ever.ir", "cycle"),
    ("endless_recursion.ir", "limit 4,096 bytes besides one frame of each function"),
    ("huge_variable.ir", "the limit is 512 MiB"),
    ("huge_registers.ir", "MiB"),
    ("enormous.ir", "the limit is 512 KiB"),
    ("fifo.ir", "it is not a regular file"),
    ("link.ir", "it is a link"),
    ("linked_folder.ir", "it is a link"),
    ("holds_a_link", "it is a link"),
    ("empty_folder", "expected an .ir, .ptx or .cu file in the folder, found none"),
    ("several", "expected one program in the folder, found 2"),
    ("never_at_the_barrier.ir", "barrier"),
];

/// Writes submissions that cannot be files of this repository.
fn odd_ones(at: &Path, reference: &Path) {
    let write = |name: &str, text: String| fs::write(at.join(name), text).expect("a file");
    write(
        "deep_scopes.ir",
        format!("{HEAD}{}ret;{}\n}}\n", "{".repeat(100_000), "}".repeat(100_000)),
    );
    let deep = format!(
        "{HEAD}.reg .u32 %x;\nmov.u32 %x, {}1{};\nret;\n}}\n",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    write("deep_sum.ir", deep);
    write("enormous.ir", format!("// {}\n{HEAD}ret;\n}}\n", "x".repeat(1 << 20)));
    write("many_errors.ir", format!("{HEAD}{}}}\n", "nonsense %a;\n".repeat(10_000)));
    write("\u{1b}[2Jname\u{202e}.ir", format!("{HEAD}ret;\n}}\n"));
    write("=cmd().ir", format!("{HEAD}ret;\n}}\n"));
    write("::notice title=Autograding report::x.ir", format!("{HEAD}ret;\n}}\n"));
    let count = ".reg .u32 %x;\n.reg .u64 %a;\nld.param.u64 %a, [g_odata];\nL:\nadd.u32 %x, %x, 1;\nst.global.u32 [%a], %x;\nbra L;";
    write("counts_for_ever.ir", format!("{HEAD}{count}\n}}\n"));
    write("bad_answers.ir", format!("{HEAD}ret;\n}}\n"));
    write("bad_answers.answers.ron", "{".repeat(60_000));
    for name in ["empty_folder", "holds_a_link", "several", "folder.ir"] {
        fs::create_dir_all(at.join(name)).expect("a folder");
    }
    write("several/a.ir", format!("{HEAD}ret;\n}}\n"));
    write("several/b.ptx", format!("{HEAD}ret;\n}}\n"));
    write("folder.ir/kernel.ir", format!("{HEAD}ret;\n}}\n"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let solution = reference.join("reference.ir");
        symlink(&solution, at.join("link.ir")).expect("a link");
        symlink(&solution, at.join("holds_a_link/kernel.ir")).expect("a link");
        symlink(reference, at.join("linked_folder.ir")).expect("a link");
        assert!(Command::new("mkfifo").arg(at.join("fifo.ir")).status().expect("mkfifo").success());
    }
}

#[test]
fn hostile_submissions_harm_nobody() {
    let folder = folder("hostile");
    let (assignment, handed_in) = (assignment(&folder, SMALL), folder.join("handed-in"));
    fs::create_dir_all(&handed_in).expect("a folder");
    for file in fs::read_dir("tests/hostile").expect("hostile submissions").flatten() {
        fs::copy(file.path(), handed_in.join(file.file_name())).expect("a copy");
    }
    odd_ones(&handed_in, &fs::canonicalize(&assignment).expect("a path"));
    fs::copy(format!("{REDUCTION}/reference.ir"), handed_in.join("zz_honest.ir")).expect("a copy");

    let csv = folder.join("grades.csv");
    let (handed_in, csv) = (handed_in.display().to_string(), csv.display().to_string());
    let all = [assignment.as_str(), "--all", &handed_in];
    let (code, out, err) = grade(&[&all[..], &["--format", "json"]].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    let grades: Value = serde_json::from_str(&out).expect("JSON");
    let grades: BTreeMap<&str, &Value> = grades
        .as_array()
        .expect("a list")
        .iter()
        .map(|g| (g["submission"].as_str().expect("a name"), g))
        .collect();
    let answers = 1; // they belong to a submission
    assert_eq!(grades.len() + answers, fs::read_dir(&handed_in).expect("a folder").count());
    for (name, grade) in &grades {
        let honest = *name == "zz_honest.ir";
        assert_eq!(grade["score"].as_f64(), Some(if honest { 4.0 } else { 0.0 }), "{grade:#}");
        assert_ne!(grade["failed"]["kind"], "grader", "{grade:#}");
        let text = grade.to_string();
        assert!(!text.contains("root:") && (honest || !text.contains("folded onto")), "{grade:#}");
        // Nothing is stopped by the clock, which depends on the host.
        assert!(!text.contains("it took longer than"), "{grade:#}");
        assert!(text.len() < 100_000, "{name}");
        strings(grade, &|text| {
            let safe = |c: char| c == '\n' || c == '\t' || !(c.is_control() || c == '\u{202e}');
            assert!(text.chars().all(safe), "{name}: {text:?}");
            assert!(
                !text
                    .split_whitespace()
                    .any(|word| word.starts_with("::") || word.starts_with("##")),
                "{text:?}"
            );
        });
    }
    for (name, words) in
        SAID.iter().filter(|(name, _)| cfg!(unix) || !name.contains("link") && *name != "fifo.ir")
    {
        let grade = grades.get(name).unwrap_or_else(|| panic!("{name} was not graded"));
        assert!(grade.to_string().contains(words), "{name}: `{words}` is not in\n{grade:#}");
    }
    assert_eq!(grade(&[&all[..], &["--format", "csv", "-o", &csv]].concat()).0, 0);
    let table = fs::read_to_string(csv).expect("a table");
    assert_eq!(super::records(&table).len(), grades.len() + 1, "{table}");
    assert!(table.lines().all(|line| !line.starts_with('=')), "{table}");
}

fn strings(value: &Value, see: &dyn Fn(&str)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, see)),
        Value::Object(values) => values.values().for_each(|value| strings(value, see)),
        _ => {}
    }
}

/// Tests the last resorts, set low enough for an honest submission: the clock, and memory as
/// counted by the system.
#[test]
fn what_no_other_limit_catches_is_ended_from_outside() {
    for (limits, words) in [("(seconds: 0)", "it took longer than 0 s"), ("(cycles: 100)", "cycle")]
    {
        let folder = folder("last-resorts");
        let assignment = assignment(&folder, SMALL);
        let strict = SMALL.replace("(seconds: 20)", limits);
        let file = Path::new(&assignment).join("assignment.ron");
        fs::write(file, strict).expect("a file");
        let (code, out, err) = grade(&[&assignment, &format!("{REDUCTION}/reference.ir")]);
        // The reference itself exceeds it, so the assignment is at fault.
        assert_eq!((code, out.as_str()), (2, ""), "{limits}: {err}");
        assert!(err.contains("reference") && err.contains(words), "{limits}: {err}");
    }
}
