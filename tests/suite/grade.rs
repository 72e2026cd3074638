//! `simt-sim grade` for teachers and students: the bundled assignments, and every output format.
//! `hostile` has malicious submissions, `hidden` those that try to reveal a hidden input, `nvcc`
//! those in CUDA C++, `graders` the scripts for Gradescope and GitHub Classroom.

mod graders;
mod hidden;
mod hostile;
mod nvcc;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const REDUCTION: &str = "programs/assignments/fix-the-reduction";

/// A quick assignment about the reduction: one small case, a Volta machine.
pub(crate) const SMALL: &str = r#"(
    title: "Small", kernel: "reduce", starter: "starter.ir", reference: "reference.ir", machines: ["h200"],
    choices: { "block": [256, 512] },
    cases: [(name: "ragged", set: { "n": 1000 })],
    criteria: [
        (id: "results", title: "Right", points: 2, rule: Results()),
        (id: "checks", title: "Clean", points: 1, rule: Checks()),
        (id: "divergence", title: "Whole warps", points: 1, rule: Metric(name: "divergent_branch", than: Reference)),
    ],
    leaderboard: [(name: "cycles", metric: "elapsed_cycles", case: "ragged", machine: "h200")],
    limits: (seconds: 20),
)"#;

fn grade(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    let Output { status, stdout, stderr } = command
        .arg("grade")
        .args(arguments)
        .env("COLUMNS", "100")
        .output()
        .expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

/// Reports why a test skipped a part.
#[expect(clippy::print_stderr, reason = "the only way for a test to say that it was skipped")]
fn notice(text: &str) {
    eprintln!("{text}");
}

/// Creates an empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("grade").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Writes an assignment with the programs of the reduction.
fn assignment(folder: &Path, text: &str) -> String {
    let at = folder.join("assignment");
    fs::create_dir_all(&at).expect("a folder");
    for file in ["starter.ir", "reference.ir", "statement.md"] {
        fs::copy(Path::new(REDUCTION).join(file), at.join(file)).expect("a copy");
    }
    fs::write(at.join("assignment.ron"), text).expect("a file");
    at.display().to_string()
}

fn points(json: &Value) -> Vec<(String, f64)> {
    let marks = json["criteria"].as_array().expect("criteria").iter();
    marks
        .map(|m| {
            (m["id"].as_str().expect("an id").to_owned(), m["points"].as_f64().expect("points"))
        })
        .collect()
}

#[test]
#[ignore = "long: 2^20 elements"]
fn long_the_reduction_gives_each_answer_what_it_deserves() {
    for (file, wanted) in [
        ("reference.ir", [6.0, 3.0, 4.0, 4.0, 1.0, 1.0, 1.0]),
        ("starter.ir", [6.0, 3.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        ("wrong/neighbored_less.ir", [6.0, 3.0, 4.0, 0.0, 1.0, 1.0, 0.0]),
        ("wrong/no_barrier.ir", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("wrong/no_guard.ir", [0.0, 0.0, 4.0, 0.0, 1.0, 1.0, 0.0]),
    ] {
        let (code, out, err) =
            grade(&[REDUCTION, &format!("{REDUCTION}/{file}"), "--format", "json"]);
        let json: Value =
            serde_json::from_str(&out).unwrap_or_else(|e| panic!("{file}: {e}\n{err}"));
        let given: Vec<f64> = points(&json).into_iter().map(|(_, points)| points).collect();
        assert_eq!(given, wanted, "{file}: {out}");
        assert_eq!(json["score"].as_f64(), Some(wanted.iter().sum()), "{file}");
        assert_eq!(
            (code, json["schema"].as_str()),
            (i32::from(file != "reference.ir"), Some("simt-sim/grade/1")),
            "{file}"
        );
    }
}

#[test]
#[ignore = "long: 2^20 elements"]
fn long_one_criterion_has_an_exit_code_of_its_own() {
    let starter = format!("{REDUCTION}/starter.ir");
    for (id, code) in [("results", 0), ("divergence", 1), ("nonsense", 2)] {
        assert_eq!(grade(&[REDUCTION, &starter, "--only", id]).0, code, "{id}");
    }
}

#[test]
fn every_form_has_what_its_reader_needs() {
    let folder = folder("forms");
    let (assignment, starter) = (assignment(&folder, SMALL), format!("{REDUCTION}/starter.ir"));
    let form = |name: &str| grade(&[&assignment, &starter, "--format", name]);

    let (code, out, _) = form("gradescope");
    let json: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(code, 0, "a grader needs the file also when points are missing");
    assert_eq!(json["output_format"], "ansi");
    assert!(
        json["output"].as_str().is_some_and(|text| text.contains("\u{1b}[")),
        "the lane map has colours"
    );
    assert_eq!(
        (&json["tests"][0]["score"], &json["tests"][0]["max_score"]),
        (&2.0.into(), &2.0.into())
    );
    assert_eq!(
        (&json["tests"][0]["status"], &json["tests"][2]["status"]),
        (&"passed".into(), &"failed".into())
    );
    assert_eq!(
        (&json["tests"][0]["visibility"], &json["tests"][2]["number"]),
        (&"visible".into(), &"3".into())
    );
    assert_eq!(
        (&json["leaderboard"][0]["name"], &json["leaderboard"][0]["order"]),
        (&"cycles".into(), &"asc".into())
    );
    // Names of the specification; unknown ones would be ignored silently.
    let known = [
        "output",
        "output_format",
        "test_output_format",
        "visibility",
        "stdout_visibility",
        "tests",
        "leaderboard",
        "extra_data",
    ];
    assert!(
        json.as_object().expect("an object").keys().all(|key| known.contains(&key.as_str())),
        "{json}"
    );

    let (code, out, _) = form("junit");
    assert_eq!(
        (code, out.matches("<testcase ").count(), out.matches("<failure ").count()),
        (1, 3, 1)
    );
    assert!(!out.contains('\u{1b}') && out.contains("tests=\"3\" failures=\"1\""), "{out}");
    assert_eq!(out.matches("<testcase ").count(), out.matches("</testcase>").count());

    assert!(form("md").1.contains("| Right | 2 / 2 |"));
    let table = form("text").1;
    for words in [
        "measured",
        "required",
        "compiler count",
        "The branch that diverged most often",
        "#.#.#.#.",
    ] {
        assert!(table.contains(words), "`{words}` is not in\n{table}");
    }
    let out = folder.join("results.json");
    assert_eq!(
        grade(&[
            &assignment,
            &starter,
            "--format",
            "gradescope",
            "--output",
            &out.display().to_string()
        ])
        .0,
        0
    );
    assert_eq!(fs::read_to_string(out).expect("a file"), form("gradescope").1);
}

#[test]
fn a_student_chooses_what_is_left_to_choose_and_nothing_else() {
    let folder = folder("choices");
    let assignment = assignment(&folder, SMALL);
    let reference = fs::read_to_string(format!("{REDUCTION}/reference.ir")).expect("the reference");
    for (line, score, noted) in [
        ("//! const block = 256", 3.0, false), // more blocks, more warps with lanes on both sides
        ("//! const block = 64", 4.0, true),
        ("//! const block = 1 << 8", 4.0, true),
        ("//! const n = 1", 4.0, false),
        ("//! expect out == 1", 4.0, false),
        ("//! nonsense", 4.0, false),
    ] {
        let directives_gone: String =
            reference.lines().filter(|l| !l.starts_with("//!")).map(|l| format!("{l}\n")).collect();
        let file = folder.join("kernel.ir");
        fs::write(&file, format!("{line}\n{directives_gone}")).expect("a file");
        let out = grade(&[&assignment, &file.display().to_string(), "--format", "json"]).1;
        let json: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(json["score"].as_f64(), Some(score), "{line}: {out}");
        assert_eq!(!json["notes"].as_array().expect("notes").is_empty(), noted, "{line}: {out}");
    }
}

#[test]
fn a_class_is_graded_the_same_side_by_side() {
    let folder = folder("class");
    let assignment = assignment(&folder, SMALL);
    let wrong = format!("{REDUCTION}/wrong");
    let one = grade(&[&assignment, "--all", &wrong, "--jobs", "1"]);
    assert_eq!(one.0, 0);
    assert_eq!(one.1.lines().count(), 3);
    assert_eq!(one, grade(&[&assignment, "--all", &wrong, "--jobs", "3"]));
}

#[test]
fn what_is_wrong_with_an_assignment_is_said() {
    for (from, to, words) in [
        ("\"h200\"]", "\"h300\"]", "did you mean `h200`?"),
        ("\"h200\"]", "\"h200:64\"]", "a warp has 2 to 32 lanes"),
        ("\"h200\"]", "\"h200:pre-volta\"]", "h200 has no mode `pre-volta`"),
        ("divergent_branch", "divergent_brunch", "did you mean `divergent_branch`?"),
        ("\"reduce\"", "\"reduced\"", "has no kernel `reduced`"),
        ("\"n\": 1000", "\"m\": 1000", "no constant `m`"),
        ("rule: Results()", "rule: Results(cases: [\"even\"])", "unknown case `even`"),
        ("rule: Checks()", "rule: Checks(kinds: [\"rices\"])", "unknown check `rices`"),
        (
            "rule: Checks()",
            "rule: Instructions(forbid: [\"class:Foo\"])",
            "unknown instruction class `Foo`",
        ),
        (
            "points: 1, rule: Checks()",
            "points: 1, rule: Checks(), bands: [(at_most: 1, points: 2)]",
            "0 to 1 points",
        ),
        ("id: \"checks\"", "id: \"results\"", "two criterion entries are named `results`"),
        ("\"starter.ir\"", "\"nowhere.ir\"", "cannot read"),
        ("kernel:", "colonel:", "colonel"),
        ("\"n\": 1000", "\"n\": 0", "reference"),
    ] {
        let folder = folder("faults");
        assert!(SMALL.contains(from), "{from}");
        let assignment = assignment(&folder, &SMALL.replacen(from, to, 1));
        let (code, out, err) = grade(&[&assignment, &format!("{REDUCTION}/starter.ir")]);
        assert_eq!((code, out.as_str()), (2, ""), "{to}: {err}");
        assert!(err.contains(words), "{to}: {err}");
    }
}

#[test]
fn files_that_are_no_submission_are_named() {
    let folder = folder("others");
    let (assignment, all) = (assignment(&folder, SMALL), folder.join("handed-in"));
    fs::create_dir_all(&all).expect("a folder");
    for name in ["a.ir", "b.txt", "c.IR", "kernel.cpp", ".hidden", "orphan.answers.ron"] {
        fs::copy(format!("{REDUCTION}/reference.ir"), all.join(name)).expect("a copy");
    }
    fs::write(all.join("a.answers.ron"), "{}").expect("a file");
    let (code, out, err) = grade(&[&assignment, "--all", &all.display().to_string()]);
    assert_eq!((code, out.lines().count()), (0, 1), "{out}");
    for name in ["b.txt", "c.IR", "kernel.cpp", "orphan.answers.ron"] {
        assert!(
            err.contains(&format!("`{name}` was not graded: expected an .ir, .ptx or .cu file")),
            "{err}"
        );
    }
    assert_eq!(err.lines().count(), 4, "{err}");
}

#[test]
fn reasons_stand_whole_in_a_table() {
    let folder = folder("reasons");
    let (assignment, all) = (assignment(&folder, SMALL), folder.join("handed-in"));
    fs::create_dir_all(&all).expect("a folder");
    fs::write(
        all.join("wrong.ir"),
        ".visible .entry reduce()\n{\n    add.u33 %r1, \"a,b\", 2;\n    ret;\n}\n",
    )
    .expect("a file");
    let csv = folder.join("grades.csv");
    let to = ["--format", "csv", "-o", &csv.display().to_string()];
    let (code, ..) =
        grade(&[&[assignment.as_str(), "--all", &all.display().to_string()], &to[..]].concat());
    assert_eq!(code, 0);
    let records = records(&fs::read_to_string(csv).expect("a table"));
    assert_eq!(records.len(), 2, "{records:?}");
    assert!(records.iter().all(|record| record.len() == records[0].len()), "{records:?}");
    let json: Value = serde_json::from_str(
        &grade(&[&assignment, &all.join("wrong.ir").display().to_string(), "--format", "json"]).1,
    )
    .expect("JSON");
    let why = json["failed"]["why"].as_str().expect("a reason");
    assert!(why.lines().count() > 3 && records[1][3].ends_with(why), "{records:?}\n{why}");
}

/// Parses the records of a CSV text (RFC 4180).
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) =
        (Vec::new(), Vec::new(), String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => field.extend(rest.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            c => field.push(c),
        }
    }
    assert!(!quoted && record.is_empty() && field.is_empty(), "{text}");
    records
}

#[test]
fn an_answer_to_no_question_is_named() {
    let folder = folder("answers");
    let file = folder.join("kernel.ir");
    fs::copy("programs/assignments/read-a-lane-map/starter.ir", &file).expect("a copy");
    let list = grade(&["programs/assignments/read-a-lane-map", "--list"]).1;
    let question = "two-blocks";
    assert!(list.contains(question), "{list}");
    let answers = format!("{{ \"{question}\": 1, \"{question}x\": 2, \"quite another\": 3 }}");
    fs::write(folder.join("kernel.answers.ron"), answers).expect("a file");
    for form in ["text", "json", "gradescope", "classroom", "junit", "md"] {
        let out = grade(&[
            "programs/assignments/read-a-lane-map",
            &file.display().to_string(),
            "--format",
            form,
        ])
        .1;
        let out = out.replace(['\\', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains("did you mean") && out.contains("quite another"), "{form}: {out}");
    }
}

/// Every statement asks for `answers.ron` beside `kernel.ir`.
#[test]
fn answers_beside_a_lone_file_count() {
    let folder = folder("lone-answers");
    let lanes = "programs/assignments/read-a-lane-map";
    let file = folder.join("kernel.ir");
    fs::copy(format!("{lanes}/starter.ir"), &file).expect("a copy");
    let measured = |arguments: &[&str]| {
        let json = grade(&[&[lanes], arguments, &["--format", "json"]].concat()).1;
        let json: Value = serde_json::from_str(&json).expect("JSON");
        let json = json.get(0).unwrap_or(&json).clone();
        let marks = json["criteria"].as_array().expect("criteria").clone();
        let mark = marks.into_iter().find(|mark| mark["id"] == "two-blocks").expect("a question");
        (mark["measured"].as_str().expect("words").to_owned(), json["notes"].to_string())
    };
    let answers = |name: &str, number: &str| {
        fs::write(folder.join(name), format!("{{ \"two-blocks\": {number} }}")).expect("a file");
    };
    let alone = file.display().to_string();
    answers("answers.ron", "77");
    assert!(measured(&[&alone]).0.starts_with("your prediction: 77"));
    let class = measured(&["--all", &folder.display().to_string()]);
    assert_eq!(class.0, "no answer", "a folder of many has no common answers");
    answers("kernel.answers.ron", "78");
    assert!(measured(&[&alone]).0.starts_with("your prediction: 78"), "its own come first");
    answers("kernel.answers.ron", "NaN");
    let (measured, notes) = measured(&[&alone]);
    assert_eq!(measured, "no answer");
    assert!(notes.contains("expected a number for `two-blocks`, found NaN"), "{notes}");
}

#[test]
fn a_submission_that_does_not_exist_is_a_wrong_argument() {
    let folder = folder("absent");
    let assignment = assignment(&folder, SMALL);
    let absent = folder.join("nosuch.ir").display().to_string();
    let (code, out, err) = grade(&[&assignment, &absent]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("cannot read") && err.contains("nosuch.ir"), "{err}");
}

#[test]
fn a_class_learns_the_first_error_of_each() {
    let folder = folder("first-errors");
    let (assignment, all) = (assignment(&folder, SMALL), folder.join("handed-in"));
    fs::create_dir_all(&all).expect("a folder");
    let reference = fs::read_to_string(format!("{REDUCTION}/reference.ir")).expect("the reference");
    let utf16: Vec<u8> = reference.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16_marked = [&[0xff, 0xfe][..], &utf16].concat();
    let latin = b"// \xc3\xa4\n// f\xfcr\n";
    let wrong = b".visible .entry reduce()\n{\n    add.u33 %r1, %r2, 2;\n    ret;\n}\n";
    for (name, bytes) in [
        ("a-wrong.ir", wrong.as_slice()),
        ("b-utf16.ir", &utf16),
        ("c-utf16-marked.ir", &utf16_marked),
        ("d-latin.ir", latin),
    ] {
        fs::write(all.join(name), bytes).expect("a file");
    }
    let (code, out, _) = grade(&[&assignment, "--all", &all.display().to_string()]);
    assert_eq!(code, 0);
    let said = [
        ("it does not pass the checks: error[", "(a-wrong.ir:3:5)"),
        ("it is UTF-16 text; save it as UTF-8", ""),
        ("it is UTF-16 text; save it as UTF-8", ""),
        ("line 2, column 5 is not UTF-8 text; save it as UTF-8", ""),
    ];
    assert_eq!(out.lines().count(), said.len(), "{out}");
    for (line, (words, place)) in out.lines().zip(said) {
        assert!(line.contains(words) && line.ends_with(place), "{line}");
    }
}
