//! `simt-sim compare` from the command line.

use serde_json::Value;

use crate::cli::{good, refused};

const NEIGHBORED: &str = "programs/reduce_neighbored.ir";
const INTERLEAVED: &str = "programs/reduce_interleaved.ir";

fn json(arguments: &[&str]) -> Value {
    let out = good(&[&["compare"], arguments, &["--format", "json"]].concat());
    serde_json::from_str(&out).expect("JSON")
}

fn figure<'a>(found: &'a Value, metric: &str) -> &'a Value {
    let figures = found["figures"].as_array().expect("a list");
    figures.iter().find(|f| f["metric"] == metric).unwrap_or_else(|| panic!("no {metric}"))
}

/// 128 blocks of 512 threads: 95 and 5 divergent branches per block (closed form:
/// 16,16,16,16,16,8,4,2,1 and 1,1,1,1,1).
#[test]
fn two_programs() {
    let found = json(&[NEIGHBORED, INTERLEAVED, "--set", "n=65536"]);
    let divergent = figure(&found, "divergent_branch");
    assert_eq!((&divergent["a"], &divergent["b"]), (&Value::from(95 * 128), &Value::from(5 * 128)));
    assert_eq!(found["a"]["passed"], Value::Bool(true));
    let closing = found["closing"].as_str().expect("a sentence");
    assert!(closing.contains("(90 of 95 per block)"), "{closing}");
    assert_eq!(found["branches"], Value::Array(Vec::new()));
    // The kernels' first lines are equal, the first step of the loop is not.
    let parting = &found["parting"];
    assert!(parting["a"]["text"].as_str().expect("a text").contains("%stride"), "{parting}");
}

/// Both modes count the same branches and instructions; a tie lets the sides run in another order.
#[test]
fn two_modes() {
    let found = json(&[
        NEIGHBORED,
        "--set",
        "n=4096",
        "--set",
        "block=128",
        "--machine",
        "teaching",
        "--mode",
        "pre-volta,volta",
    ]);
    for metric in ["inst_executed", "conditional_branches", "divergent_branch", "gld_transactions"]
    {
        assert_eq!(figure(&found, metric)["ratio"], Value::from(1.0), "{metric}");
    }
    assert!(found["branches"].as_array().is_some_and(|b| b.len() == 3));
    let page = good(&["compare", "programs/small/spin_lock.ir", "--mode", "pre-volta,volta"]);
    assert!(page.contains("pre-volta: livelock; volta: finished."), "{page}");
}

#[test]
fn two_settings_and_two_machines() {
    let found = json(&[
        INTERLEAVED,
        "--machine",
        "teaching",
        "--set",
        "block=128",
        "--set",
        "n=max(1024, 512),2048",
    ]);
    assert_eq!([&found["a"]["name"], &found["b"]["name"]], ["n = 1024", "n = 2048"]);
    assert_eq!(figure(&found, "warps_launched")["ratio"], Value::from(2.0));
    let found = json(&[INTERLEAVED, "--set", "n=1024", "--machine", "volta,h200"]);
    assert_eq!([&found["a"]["name"], &found["b"]["name"]], ["volta", "h200"]);
}

#[test]
fn a_quiet_comparison_prints_json_only() {
    let pair = ["compare", NEIGHBORED, INTERLEAVED, "--set", "n=4096", "--quiet"];
    assert_eq!(good(&pair), "");
    let found = good(&[&pair[..], &["--format", "json"]].concat());
    assert!(found.starts_with('{'), "{found}");
    let file = format!("{}/comparison.json", env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(good(&[&pair[..], &["--format", "json", "-o", &file]].concat()), "");
    assert_eq!(std::fs::read_to_string(file).expect("a file"), found);
    let run = ["run", NEIGHBORED, "--set", "n=4096"];
    let json = good(&[&run[..], &["--format", "json"]].concat());
    assert_eq!(good(&[&run[..], &["--format", "json", "-q"]].concat()), json);
    assert_eq!(good(&[&run[..], &["-q"]].concat()), "");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    refused(&["compare", NEIGHBORED], &["expected two runs, found one", "--mode pre-volta,volta"]);
    refused(&["compare", NEIGHBORED, "--set", "n=1,2,3"], &["--set n", "3 times"]);
    refused(&["compare", NEIGHBORED, "--machine", "a,b,c"], &["--machine is given 3 times"]);
}
