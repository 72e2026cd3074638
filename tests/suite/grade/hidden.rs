//! Students see only the name of a hidden input, and whether it passes. `tests/hidden` has an
//! assignment with a secret, and submissions that try to reveal it: by the address of a fault, a
//! race, a count, the time, a hang, an index, a result.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{folder, grade};

const FORMS: [&str; 6] = ["text", "json", "gradescope", "classroom", "junit", "md"];
const SUBMISSIONS: &str = "tests/hidden/submissions";
/// Two keys and sizes of the hidden input. Every submission passes or fails alike on both; no
/// output may differ.
const SECRETS: [(u32, u32); 2] = [(91_357, 96), (771_743, 72)];

/// Writes the assignment with a secret.
fn assignment(at: &Path, (key, size): (u32, u32)) -> String {
    fs::create_dir_all(at).expect("a folder");
    let text = fs::read_to_string("tests/hidden/assignment.ron").expect("a file");
    fs::write(
        at.join("assignment.ron"),
        text.replace("KEY", &key.to_string()).replace("SIZE", &size.to_string()),
    )
    .expect("a file");
    fs::copy("tests/hidden/reference.ir", at.join("reference.ir")).expect("a copy");
    fs::write(at.join("statement.md"), "Add one.").expect("a file");
    at.display().to_string()
}

/// All that is said of a submission, or of all of them: by form, exit code, standard output,
/// standard error, and files.
fn said(assignment: &str) -> Vec<(String, String)> {
    let mut said = Vec::new();
    for file in fs::read_dir(SUBMISSIONS).expect("submissions").flatten().map(|file| file.path()) {
        let name = file.display().to_string();
        // The others are made of the same values for one submission and for all.
        for form in ["text", "gradescope", "classroom"] {
            let told = grade(&[assignment, &name, "--format", form]);
            said.push((format!("{name} {form}"), format!("{told:?}")));
        }
    }
    for form in ["text", "json", "csv", "junit", "md"] {
        let told = format!("{:?}", grade(&[assignment, "--all", SUBMISSIONS, "--format", form]));
        said.push((format!("all {form}"), told));
    }
    said.sort();
    said
}

#[test]
#[ignore = "long: every format of every submission"]
fn long_a_hidden_input_tells_its_name_and_whether_it_passes() {
    let at = folder("secrets");
    let [one, other] = SECRETS.map(|secret| {
        let assignment = assignment(&at.join(secret.0.to_string()), secret);
        said(&assignment)
    });
    assert!(one.len() > 3 * 18);
    for ((what, one), (_, other)) in one.iter().zip(&other) {
        for secret in SECRETS.iter().flat_map(|&(key, _)| spellings(key)) {
            assert!(
                !one.contains(&secret) && !other.contains(&secret),
                "{what} tells {secret}: {one}"
            );
        }
        assert_eq!(one, other, "{what} depends on the secret");
    }
    // The failing input is still named.
    let told = &one
        .iter()
        .find(|(what, _)| what.ends_with("fault_address.ir classroom"))
        .expect("it was graded")
        .1;
    assert!(told.contains("secret on h200: fails (a hidden input)"), "{told}");
}

/// Returns the possible spellings of a number and of values derived from it.
fn spellings(key: u32) -> Vec<String> {
    let grouped = |n: u32| format!("{},{:03}", n / 1000, n % 1000);
    [key, key + 1, 4 * key, 4 * key + 1]
        .into_iter()
        .flat_map(|n| [n.to_string(), grouped(n), format!("0x{n:x}")])
        .chain([format!("room+{}", 4 * (key & 1023))])
        .collect()
}

#[test]
fn lecturers_may_see_all_of_it() {
    let at = folder("shown");
    let assignment = assignment(&at.join("assignment"), SECRETS[0]);
    let file = format!("{SUBMISSIONS}/fault_address.ir");
    let address = format!("0x{:x}", SECRETS[0].0);
    for form in FORMS {
        let (code, out, _) = grade(&[&assignment, &file, "--format", form, "--show-hidden"]);
        assert_eq!(code, i32::from(!matches!(form, "gradescope" | "classroom")), "{form}");
        assert!(out.contains(&address), "{form}: {out}");
        let plain = grade(&[&assignment, &file, "--format", form]).1;
        assert!(!plain.contains(&address), "{form}: {plain}");
        if form == "json" {
            let score =
                |text: &str| serde_json::from_str::<Value>(text).expect("JSON")["score"].clone();
            assert_eq!(score(&out), score(&plain), "points do not depend on who reads them");
        }
    }
    let out = grade(&[&assignment, &file, "--format", "gradescope", "--show-hidden"]).1;
    let json: Value = serde_json::from_str(&out).expect("JSON");
    for test in json["tests"].as_array().expect("tests") {
        assert_eq!(test.to_string().contains(&address), test["visibility"] == "hidden", "{test:#}");
    }
    assert!(!json["output"].to_string().contains(&address));
}

#[test]
fn expected_values_lie_where_no_kernel_reaches() {
    let at = folder("reach");
    let assignment = assignment(&at.join("assignment"), SECRETS[0]);
    let (code, out, _) =
        grade(&[&assignment, &format!("{SUBMISSIONS}/copies_expected.ir"), "--format", "json"]);
    let json: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &json["criteria"][0]["points"]), (1, &0.0.into()), "{out}");
    // Also in a separate run, in both modes, and on the oracle.
    for mode in ["pre-volta", "volta"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
        let done =
            command.args(["run", "tests/hidden/expected_values.ir", "--mode", mode]).output();
        let out = String::from_utf8(done.expect("the binary starts").stdout).expect("text");
        assert!(out.contains("FAULT") && !out.contains("`want`"), "{out}");
    }
    let text = fs::read_to_string("tests/hidden/expected_values.ir").expect("a program");
    let program = simt_core::Program::parse("expected_values.ir", &text);
    let (kernel, launch) = crate::support::launch(&program, &Default::default()).expect("a launch");
    assert!(simt_core::oracle::run(kernel, &launch, 10_000).is_err());
}

#[test]
fn an_assignment_cannot_put_a_hidden_figure_on_a_leaderboard() {
    let at = folder("leaderboard");
    let assignment = assignment(&at, SECRETS[0]);
    let text = fs::read_to_string(at.join("assignment.ron")).expect("a file");
    fs::write(at.join("assignment.ron"), text.replace("case: \"open\"", "case: \"secret\""))
        .expect("a file");
    let (code, _, err) = grade(&[&assignment, "tests/hidden/reference.ir"]);
    assert_eq!(code, 2);
    assert!(err.contains("`secret` is hidden"), "{err}");
}

#[test]
fn a_broken_reference_does_not_tell_the_hidden_input() {
    let at = folder("broken");
    let assignment = assignment(&at, SECRETS[0]);
    let text = fs::read_to_string(at.join("reference.ir")).expect("a file");
    let wrong = text
        .replace("add.u32 %r3, %r3, 1;", "setp.eq.u32 %p2, %r3, 5;\n    @%p2 add.u32 %r3, %r3, 1;");
    fs::write(at.join("reference.ir"), wrong).expect("a file");
    let (code, out, err) = grade(&[&assignment, "tests/hidden/reference.ir"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("secret on h200") && !err.contains(&SECRETS[0].0.to_string()), "{err}");
    let (_, _, err) = grade(&[&assignment, "tests/hidden/reference.ir", "--show-hidden"]);
    assert!(err.contains(&SECRETS[0].0.to_string()), "{err}");
}
