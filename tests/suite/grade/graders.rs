//! Scripts that run the grader elsewhere: Gradescope's, called as Gradescope does, and GitHub
//! Classroom's workflow, whose steps run here one after the other as on a runner.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{REDUCTION, SMALL, assignment, folder, notice};

#[test]
fn the_gradescope_autograder_writes_results_whatever_is_handed_in() {
    let folder = folder("autograder");
    assignment(&folder.join("source"), SMALL);
    let submission = folder.join("submission");
    let run = |handed: Option<&str>| -> Value {
        let _ = fs::remove_dir_all(&submission);
        fs::create_dir_all(&submission).expect("a folder");
        if let Some(file) = handed {
            fs::copy(file, submission.join("kernel.ir")).expect("a copy");
        }
        let mut script = Command::new("bash");
        script.arg("docs/grading/gradescope/run_autograder").env("AUTOGRADER", &folder);
        let output = script.env("SIMT_SIM", env!("CARGO_BIN_EXE_simt-sim")).output().expect("bash");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(folder.join("results/results.json")).expect("results");
        serde_json::from_str(&text).expect("JSON")
    };
    let total = |json: &Value| {
        json["tests"]
            .as_array()
            .expect("tests")
            .iter()
            .filter_map(|t| t["score"].as_f64())
            .sum::<f64>()
    };
    assert_eq!(total(&run(Some(&format!("{REDUCTION}/reference.ir")))), 4.0);
    assert_eq!(total(&run(Some("tests/hostile/quits_early.ir"))), 0.0);
    assert_eq!(total(&run(None)), 0.0);
    fs::remove_file(folder.join("source/assignment/assignment.ron")).expect("removed");
    assert_eq!(run(None)["score"], 0);
}

#[test]
fn the_gradescope_image_is_not_built_with_a_wrong_reference() {
    let folder = folder("setup");
    let source = folder.join("source");
    let builds = |text: &str| {
        assignment(&source, text);
        let mut script = Command::new("bash");
        script.arg("docs/grading/gradescope/setup.sh").env("AUTOGRADER", &folder);
        script.output().expect("bash")
    };
    fs::create_dir_all(&source).expect("a folder");
    let binary = env!("CARGO_BIN_EXE_simt-sim");
    std::os::unix::fs::symlink(binary, source.join("simt-sim")).expect("a link");
    let right = builds(SMALL);
    assert!(right.status.success(), "{}", String::from_utf8_lossy(&right.stderr));
    let wrong = builds(&SMALL.replace("\"n\": 1000", "\"n\": 0"));
    assert!(!wrong.status.success(), "{}", String::from_utf8_lossy(&wrong.stdout));
}

const WORKFLOW: &str = "docs/grading/classroom/classroom.yml";

/// Returns the scripts of a workflow: the blocks after `run: |`, without indentation.
fn scripts(workflow: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut within: Option<usize> = None;
    for line in workflow.lines() {
        let indent = line.len() - line.trim_start().len();
        match within {
            Some(outer) if line.trim().is_empty() || indent > outer => {
                let script = found.last_mut().expect("a block has begun");
                *script += line.get(outer + 2..).unwrap_or_default();
                script.push('\n');
            }
            _ => {
                within = line.trim_start().starts_with("run: |").then_some(indent);
                if within.is_some() {
                    found.push(String::new());
                }
            }
        }
    }
    found
}

/// Runs the workflow's scripts in a student's repository; returns the reporter's input, the
/// summary, and true if every step succeeded.
fn classroom(folder: &Path, kernel: Option<&str>) -> (Option<Value>, String, bool) {
    let (repository, temp) = (folder.join("repository"), folder.join("temp"));
    for at in [&repository, &temp] {
        let _ = fs::remove_dir_all(at);
        fs::create_dir_all(at).expect("a folder");
    }
    if let Some(file) = kernel {
        fs::copy(file, repository.join("kernel.ir")).expect("a copy");
    }
    let (outputs, summary) = (folder.join("outputs"), folder.join("summary"));
    for file in [&outputs, &summary] {
        fs::write(file, "").expect("a file");
    }
    let url = |path: &Path| format!("file://{}", fs::canonicalize(path).expect("a path").display());
    let mut fine = true;
    for script in scripts(&fs::read_to_string(WORKFLOW).expect("the workflow")) {
        let mut bash = Command::new("bash");
        // Called as by runners: https://docs.github.com/actions/reference/workflow-syntax
        // (`shell`).
        bash.args(["-e", "-c", &script]).current_dir(&repository).env("RUNNER_TEMP", &temp);
        bash.env("GITHUB_OUTPUT", &outputs).env("GITHUB_STEP_SUMMARY", &summary);
        bash.env("SIMT_SIM_URL", url(Path::new(env!("CARGO_BIN_EXE_simt-sim"))));
        bash.env("ASSIGNMENT_URL", url(&folder.join("assignment.tar.gz")));
        fine = fine && bash.output().expect("bash").status.success();
    }
    let text = fs::read_to_string(&outputs).expect("outputs");
    let encoded = text.trim().strip_prefix("result=").unwrap_or_default().to_owned();
    fs::write(folder.join("encoded"), encoded).expect("a file");
    let decoded = Command::new("base64")
        .arg("-d")
        .arg(folder.join("encoded"))
        .output()
        .expect("base64")
        .stdout;
    (serde_json::from_slice(&decoded).ok(), fs::read_to_string(summary).expect("a summary"), fine)
}

#[test]
fn the_classroom_workflow_reports_the_points_of_the_bands() {
    let folder = folder("classroom");
    // Two of three points for twice the divergence of the reference: impossible with command
    // graders.
    let text = SMALL.replace(
        "points: 1, rule: Metric(name: \"divergent_branch\", than: Reference)",
        "points: 3, rule: Metric(name: \"divergent_branch\", than: Reference), \
         bands: [(at_most: 1, points: 3), (at_most: 100, points: 2)]",
    );
    assignment(&folder, &text);
    let tar = |name: &str| {
        let mut tar = Command::new("tar");
        let status =
            tar.current_dir(&folder).args(["-czf", name, "assignment"]).status().expect("tar");
        assert!(status.success());
    };
    tar("assignment.tar.gz");
    let points = |result: &Value| -> (String, f64, f64) {
        // Summed as by the reporter.
        let tests = result["tests"].as_array().expect("tests").iter();
        let sum = tests.map(|test| test["score"].as_f64().expect("points")).sum();
        (
            result["status"].as_str().expect("a status").to_owned(),
            sum,
            result["max_score"].as_f64().expect("points"),
        )
    };
    for (file, status, score) in [("reference.ir", "pass", 6.0), ("starter.ir", "fail", 5.0)] {
        let (result, summary, fine) = classroom(&folder, Some(&format!("{REDUCTION}/{file}")));
        let result = result.unwrap_or_else(|| panic!("{file}: no result"));
        assert_eq!(points(&result), (status.to_owned(), score, 6.0), "{result:#}");
        assert!(fine && summary.contains(&format!("**{score} / 6 points**")), "{file}: {summary}");
    }
    let (result, _, fine) = classroom(&folder, None);
    assert_eq!((points(&result.expect("a result")).1, fine), (0.0, true), "nothing was handed in");

    // A broken assignment is the teacher's fault: the job fails, and no points are reported.
    fs::write(folder.join("assignment/assignment.ron"), "(").expect("a file");
    tar("assignment.tar.gz");
    let (result, _, fine) = classroom(&folder, Some(&format!("{REDUCTION}/reference.ir")));
    assert!(result.is_none() && !fine);
}

/// Checks the workflow with a YAML parser, if Python has one: it is valid, and the steps'
/// references exist.
#[test]
fn the_classroom_workflow_is_yaml() {
    let check = "import sys
try: import yaml
except ImportError: sys.exit(77)
flow = yaml.safe_load(open(sys.argv[1]))
steps = flow['jobs']['grade']['steps']
assert set(flow) == {'name', True, 'permissions', 'jobs'}, list(flow)
assert all(('run' in s) != ('uses' in s) for s in steps)
assert any(s.get('id') == 'grade' for s in steps)
reporter = steps[-1]
assert reporter['env'] == {'GRADE_RESULTS': '${{ steps.grade.outputs.result }}'} and reporter['with'] == {'runners': 'grade'}
print('\\0'.join(s['run'] for s in steps if 'run' in s), end='')
";
    let Ok(python) = Command::new("python3").args(["-c", check, WORKFLOW]).output() else {
        notice("skipped: there is no python3");
        return;
    };
    if python.status.code() == Some(77) {
        notice("skipped: python3 has no yaml");
        return;
    }
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
    let theirs = String::from_utf8(python.stdout).expect("UTF-8");
    assert_eq!(
        theirs.split('\0').collect::<Vec<_>>(),
        scripts(&fs::read_to_string(WORKFLOW).expect("the workflow"))
    );
}
