//! Kernels that the simulator was not built on: their outputs equal the GPU's, the measured errors
//! equal those in crates/report/evidence (`h200.ron` of PTX, `h200-sass.ron` of machine code), and
//! every label holds for nine of ten kernels of the half that only measures errors.
//!
//! `BLESS=1 cargo test --test suite unseen -- --ignored` rewrites the evidence; labels change with
//! the next build.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;
use simt_report::evidence::{ALL_STATES, CodeKind, Errors, Evidence, Standing};
use simt_report::metrics;
use simt_report::profile::Held;

fn file(code: CodeKind) -> &'static str {
    match code {
        CodeKind::Ptx => "crates/report/evidence/h200.ron",
        CodeKind::Sass => "crates/report/evidence/h200-sass.ron",
    }
}

fn simt_sim(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .args(args)
        .env_remove("COLUMNS")
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs of both halves by kind of code: the evidence, and the comparisons by kernel. A process for
/// each kind, side by side: one takes a single core, and every test here waits for them.
static RUN: LazyLock<BTreeMap<String, (Evidence, Vec<Value>)>> = LazyLock::new(|| {
    let start = |code: CodeKind| {
        Command::new(env!("CARGO_BIN_EXE_simt-sim"))
            .args(["crosscheck", "--unseen", "--format", "json", "--code", code.name()])
            .env_remove("COLUMNS")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs")
    };
    let mut runs = BTreeMap::new();
    for started in CodeKind::ALL.map(start) {
        let output = started.wait_with_output().expect("its output");
        // 1 if an output differs: the tests say which may.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        let of_kind: BTreeMap<String, _> =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}"));
        runs.extend(of_kind);
    }
    runs
});

fn found(code: CodeKind) -> &'static (Evidence, Vec<Value>) {
    &RUN[code.name()]
}

/// Each kernel of machine code with its recorded counters and the simulator's.
pub(crate) fn counters_of_machine_code() -> Vec<(&'static str, Vec<Held>)> {
    let row = |row: &'static Value| {
        let counters = row["held"].as_array().expect("counters").iter().map(counter).collect();
        (row["kernel"].as_str().expect("a name"), counters)
    };
    found(CodeKind::Sass).1.iter().map(row).collect()
}

#[test]
#[ignore = "long: 69 kernels in both modes"]
fn long_the_evidence_is_what_a_run_finds() {
    for code in CodeKind::ALL {
        let (text, file) = (found(code).0.to_text().expect("text"), file(code));
        if std::env::var_os("BLESS").is_some() {
            fs::write(file, &text).expect("the evidence is written");
        }
        assert!(
            fs::read_to_string(file).is_ok_and(|old| old == text),
            "BLESS=1 writes {file} anew"
        );
    }
}

#[test]
#[ignore = "long: 69 kernels in both modes"]
fn long_outputs_are_the_gpus_in_both_modes() {
    let (_, rows) = found(CodeKind::Ptx);
    assert!(rows.len() >= 69, "{} kernels", rows.len());
    for row in rows {
        for mode in row["outputs"].as_array().expect("modes") {
            assert_eq!(
                (&mode[1], &mode[2]),
                (&"ok".into(), &true.into()),
                "{}: {mode}",
                row["kernel"]
            );
        }
    }
}

#[test]
#[ignore = "long: 258 kernels"]
fn long_outputs_of_machine_code_are_the_gpus() {
    let (_, rows) = found(CodeKind::Sass);
    assert!(rows.len() >= 258, "{} kernels", rows.len());
    for row in rows {
        let (name, mode) = (row["kernel"].as_str().expect("a name"), &row["outputs"][0]);
        assert!(mode[2] == true, "{name}: {mode}");
    }
}

/// Held kernels and their states whose share of the warps' time is further off than eight points.
const FURTHER: [(&str, &str); 5] = [
    ("convolve_constant", "long_scoreboard"),
    ("convolve_constant", "mio_throttle"),
    ("reduce_template", "no_instruction"),
    ("sig_fir_half", "short_scoreboard"),
    ("sort_heap", "long_scoreboard"),
];

/// On the half that only states the error, stall reasons of machine code have their share of the
/// warps' time.
#[test]
#[ignore = "long: 258 kernels"]
fn long_stall_shares_of_machine_code_are_within_eight_points() {
    let (evidence, rows) = found(CodeKind::Sass);
    let all = evidence.states.iter().find(|errors| errors.state == ALL_STATES);
    let held = all.and_then(|errors| errors.held.as_ref()).expect("errors of held kernels");
    assert_eq!(held.kernels, evidence.kernels.1, "every held kernel has states");
    assert!(held.mean <= 1.1, "{} points", held.mean);
    let mut wrong = String::new();
    for row in rows.iter().filter(|row| row["mend"] == false) {
        let name = row["kernel"].as_str().expect("a name");
        for state in row["states"].as_array().expect("states") {
            let [simulated, measured] =
                ["simulated", "measured"].map(|of| state[of].as_f64().expect(of));
            let of = state["state"].as_str().expect("a state");
            let is_far = (simulated - measured).abs() > 8.0;
            if is_far != FURTHER.contains(&(name, of)) {
                wrong += &format!("{name} {of}: {simulated} %, GPU {measured} %\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// On the half that only states the error, the cycles of the slowest SM are within ten percent.
#[test]
#[ignore = "long: 258 kernels"]
fn long_cycles_of_machine_code_are_within_ten_percent() {
    let (evidence, _) = found(CodeKind::Sass);
    let errors = evidence.metrics.iter().find(|errors| errors.metric == "elapsed_cycles");
    let errors = errors.and_then(|errors| errors.held.as_ref());
    let mean = errors.expect("errors of held kernels").mean;
    assert!(mean <= 7.0, "{mean} %");
}

/// Returns a recorded counter and the simulator's, without their unit.
fn counter(held: &Value) -> Held {
    let figure = |name: &str| held[name].as_f64().expect(name);
    let [simulated, measured, rounding] = ["simulated", "measured", "rounding"].map(figure);
    let name = held["name"].as_str().expect("a name").to_owned();
    Held { name, unit: "", simulated, measured, rounding }
}

/// Returns true if a recorded counter equals the simulator's, and their difference in percent.
fn apart(held: &Value) -> (bool, f64) {
    let held = counter(held);
    let difference = (held.simulated - held.measured).abs();
    let exact = held.is_exact();
    (exact, if exact { 0.0 } else { 100.0 * difference / held.measured.abs() })
}

/// Parsed from the text of each label, and recomputed from the recorded data.
#[test]
#[ignore = "long: 69 kernels in both modes"]
fn long_every_label_holds_for_nine_of_ten_held_kernels() {
    CodeKind::ALL.into_iter().for_each(labels_hold);
}

fn labels_hold(code: CodeKind) {
    let (found, rows) = found(code);
    let held: Vec<&Value> = rows.iter().filter(|row| row["mend"] == false).collect();
    assert!(held.len() >= 20, "{} kernels only state the error", held.len());
    let mut labelled = 0;
    for metric in metrics::all() {
        let label = Standing::by(Some(found), metric).evidence();
        if label == "not measured on unseen code" {
            continue;
        }
        let ncu = metric.ncu.unwrap_or_default();
        let same =
            |h: &&Value| h["name"] == ncu || h["name"] == ncu.replace(".pct", ".ratio").as_str();
        let figures = held.iter().filter_map(|row| row["held"].as_array()?.iter().find(same));
        let occurs = |h: &&Value| h["simulated"] != 0.0 || h["measured"] != 0.0;
        let figures: Vec<(bool, f64)> = figures.filter(occurs).map(apart).collect();
        let numbers: Vec<f64> =
            label.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let (holds, says) = match numbers.as_slice() {
            [says, of] if label.starts_with("exact ") => {
                assert_eq!(*of as usize, figures.len(), "{}: {label}", metric.name);
                (figures.iter().filter(|(exact, _)| *exact).count(), *says)
            }
            [step, says, of] => {
                assert_eq!(*of as usize, figures.len(), "{}: {label}", metric.name);
                let inside = figures.iter().filter(|(_, percent)| percent <= step).count();
                (if label.starts_with("within ") { inside } else { figures.len() - inside }, *says)
            }
            _ => panic!("{}: {label}", metric.name),
        };
        assert_eq!(holds, says as usize, "{}: {label}", metric.name);
        let enough = 10 * holds >= 9 * figures.len();
        // A metric labelled unreliable is off by more than the last step in more than one kernel of
        // ten.
        let unreliable = label.starts_with("unreliable: ") && 10 * holds > figures.len();
        assert!(enough || unreliable, "{}: {label}", metric.name);
        labelled += 1;
    }
    assert!(labelled >= 30, "only {labelled} metrics have a label");
    assert_eq!(Errors::STEPS.last(), Some(&50));
}

/// A label depends on a machine file's contents, not on its name.
#[test]
fn another_machine_file_has_no_label_of_time() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unseen");
    fs::create_dir_all(&folder).expect("a folder");
    let h200 = fs::read_to_string("isa/machines/h200.ron").expect("the machine");
    let at = h200.find("dram_latency: ").expect("a latency");
    let end = at + h200[at..].find(',').expect("a comma");
    let slow = format!("{}dram_latency: 60000{}", &h200[..at], &h200[end..]);
    let labels = |name: &str, text: &str, more: &[&str]| {
        let file = folder.join(name);
        fs::write(&file, text).expect("a machine");
        let machine = file.display().to_string();
        let asked = [
            "run",
            "programs/small/diamond.ir",
            "--metrics",
            "elapsed_cycles,gld_transactions,inst_executed",
        ];
        let out = simt_sim(&[&asked[..], &["--machine", &machine], more].concat());
        let label = |line: &str| {
            line.split_once("  # ").map(|(_, label)| label.to_owned()).expect("a label")
        };
        out.lines().map(label).collect::<Vec<String>>()
    };
    let own = labels("h200.ron", &h200, &[]);
    assert!(own.iter().all(|label| label.contains("unseen kernels (H200)")), "{own:?}");
    let renamed = labels("mine.ron", &h200.replace("name: \"h200\"", "name: \"mine\""), &[]);
    assert_eq!(renamed, own);
    let slower = labels("h200.ron", &slow, &[]);
    assert_eq!(slower[0], "model estimate; not measured with this machine file");
    assert_eq!(slower[1..], own[1..], "counts depend on no latency");
    let written = labels("h200.ron", &h200, &["--lowering", "as-written"]);
    assert!(
        written.iter().all(|label| label.ends_with("; not measured with this machine file")),
        "{written:?}"
    );
}
