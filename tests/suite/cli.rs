//! The command line: the binary, its exit codes, its output streams, and its behaviour on any
//! argument or file.

mod files;
mod options;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

const DIAMOND: &str = "programs/small/diamond.ir";
const PATHS: &str = "programs/small/paths_k.ir";
const REDUCTION: &str = "programs/reduce_interleaved.ir";

/// Outcome of the binary: exit code, standard output, standard error.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) command: String,
}

pub(crate) fn simt_sim(arguments: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    let Output { status, stdout, stderr } = command
        .args(arguments)
        .env("COLUMNS", "100")
        .env_remove("NO_COLOR")
        .output()
        .expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    let (out, err, command) = (text(stdout), text(stderr), arguments.join(" "));
    assert!(!err.contains("panicked"), "{command}: {err}");
    let code = status.code().unwrap_or_else(|| panic!("{command}: ended by a signal; {err}"));
    Ended { code, out, err, command }
}

/// Runs the binary and expects success.
pub(crate) fn good(arguments: &[&str]) -> String {
    let ended = simt_sim(arguments);
    assert_eq!(ended.code, 0, "{}\n{}{}", ended.command, ended.out, ended.err);
    ended.out
}

/// Runs the binary and expects exit code 2, an empty standard output, and these words on standard
/// error.
pub(crate) fn refused(arguments: &[&str], words: &[&str]) {
    let Ended { code, out, err, command } = simt_sim(arguments);
    assert_eq!((code, out.as_str()), (2, ""), "{command}\n{err}");
    assert!(err.starts_with("error"), "{command}: {err}");
    for word in words {
        assert!(err.contains(word), "{command}: `{word}` is not in\n{err}");
    }
}

fn json(arguments: &[&str]) -> Value {
    let out = good(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{arguments:?}: {e}"))
}

/// Writes a file for one test.
fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cli");
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    let path = folder.join(name);
    fs::write(&path, content).expect("a temporary file");
    path.display().to_string()
}

const WRONG: &str =
    "//! grid = 1\n//! block = 32\n//! buffer out: u32[1] = fill(0)\n//! expect out == 1\n
.visible .entry k() { ret; }\n";
const TRAP: &str = "//! grid = 1\n//! block = 32\n.visible .entry k() { trap; }\n";

#[test]
fn every_exit_code_has_a_case() {
    let wrong = file("wrong.ir", WRONG);
    let trap = file("trap.ir", TRAP);
    for (code, arguments) in [
        (0, vec!["run", DIAMOND]),
        (1, vec!["run", &wrong]),
        (2, vec!["run", "nowhere.ir"]),
        (3, vec!["run", "programs/small/spin_lock.ir", "--mode", "pre-volta"]),
        (3, vec!["run", "programs/small/barrier_one_arm.ir", "--mode", "volta"]),
        (3, vec!["run", "programs/small/spin_lock.ir", "--no-yield"]),
        (4, vec!["run", DIAMOND, "--max-cycles", "100"]),
        (4, vec!["run", DIAMOND, "--max-cycles", "0"]),
        (5, vec!["run", &trap]),
        (0, vec!["check", DIAMOND, PATHS]),
        (2, vec!["check", DIAMOND, "nowhere.ir"]),
        (0, vec!["--help"]),
        (0, vec!["--version"]),
        (2, vec!["no-such-command"]),
        (2, vec![]),
    ] {
        let ended = simt_sim(&arguments);
        assert_eq!(ended.code, code, "{}\n{}{}", ended.command, ended.out, ended.err);
        if code != 2 && arguments[0] == "run" {
            let quiet = simt_sim(&[arguments.as_slice(), &["--quiet"]].concat());
            assert_eq!(
                (quiet.code, quiet.out.as_str(), quiet.err.as_str()),
                (code, "", ""),
                "{}",
                quiet.command
            );
        }
    }
}

#[test]
fn reports_say_what_went_wrong() {
    let wrong = file("wrong_said.ir", WRONG);
    let trap = file("trap_said.ir", TRAP);
    let livelock = ["run", "programs/small/spin_lock.ir", "--mode", "pre-volta"];
    for (arguments, words) in [
        (&["run", &wrong][..], &["FAILED", "out == 1", "expected 1", "found 0"][..]),
        (&["run", &trap], &["trap", "lane 0"]),
        (&livelock, &["LIVELOCK", "lanes 1-31", "lane 0"]),
        (&["run", "programs/small/barrier_one_arm.ir"], &["DEADLOCK"]),
        (&["run", DIAMOND, "--max-cycles", "100"], &["100 cycles", "--max-cycles"]),
        // Before the first block has started, too.
        (&["run", DIAMOND, "--max-cycles", "7"], &["after 7 cycles", "\n  7 cycles = "]),
    ] {
        let ended = simt_sim(arguments);
        for word in words {
            assert!(
                ended.out.contains(word),
                "{}: `{word}` is not in\n{}",
                ended.command,
                ended.out
            );
        }
    }
}

#[test]
fn json_has_the_promised_keys() {
    let run = json(&["run", REDUCTION, "--set", "n=4096"]);
    for key in [
        "program",
        "kernel",
        "mode",
        "machine",
        "finish",
        "cycles",
        "metrics",
        "branches",
        "expectations",
    ] {
        assert!(!run[key].is_null(), "no `{key}`");
    }
    assert_eq!(run["schema"], "simt-sim/run/1");
    assert_eq!((&run["kernel"], &run["finish"]), (&"reduceInterleaved".into(), &"ok".into()));
    assert!(run["cycles"].as_u64().is_some_and(|c| c > 0));
    for name in [
        "inst_executed",
        "divergent_branch",
        "conditional_branches",
        "gld_requests",
        "gld_transactions",
        "gst_requests",
        "gst_transactions",
        "l1_hit_sectors",
    ] {
        assert!(run["metrics"][name].is_u64(), "{name} is {}", run["metrics"][name]);
    }
    assert!(run["metrics"]["inst_per_warp"].is_number());
    assert_eq!(run["metrics"]["divergent_branch"], 8 * 5);
    let lines: Vec<_> = run["branches"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|b| b["divergent"].as_u64())
        .collect();
    assert_eq!(lines, [Some(0), Some(8 * 5), Some(0)]);
    let passed =
        run["expectations"].as_array().expect("a list").iter().all(|e| e["passed"] == true);
    assert!(passed, "{}", run["expectations"]);
}

#[test]
fn chosen_metrics_come_alone_in_the_order_asked_for() {
    let out = good(&[
        "run",
        DIAMOND,
        "--metrics",
        "divergent_branch,inst_executed",
        "--metrics",
        "conditional_branches",
    ]);
    let figures: Vec<&str> = out.lines().filter_map(|line| line.split("  # ").next()).collect();
    assert_eq!(
        figures,
        ["divergent_branch 1 branch", "inst_executed 26 inst", "conditional_branches 1 branch"]
    );
    assert!(out.lines().all(|line| line.contains("  # compiler count; ")), "{out}");
    let time = good(&["run", DIAMOND, "--metrics", "cycles", "--machine", "fermi"]);
    assert!(time.contains("  # model estimate; not measured with this machine file"), "{time}");
    let ncu = good(&["run", DIAMOND, "--metrics", "smsp__inst_executed.sum"]);
    assert!(ncu.starts_with("smsp__inst_executed.sum 26 inst  # "), "{ncu}");
    let run = json(&["run", DIAMOND, "--metrics", "divergent_branch,smsp__inst_executed.sum"]);
    assert_eq!(run["metrics"], serde_json::json!({"inst_executed": 26, "divergent_branch": 1}));
    refused(&["run", DIAMOND, "--metrics", "ipcc"], &["`ipcc`", "did you mean `ipc`"]);
    for nvidias in ["branch", "branches", "smsp__sass_branch_targets.sum"] {
        let out = good(&["run", DIAMOND, "--metrics", nvidias]);
        assert!(out.starts_with(&format!("{nvidias} n/a  # machine code only")), "{out}");
        assert!(out.contains("use `conditional_branches`: NVIDIA's count includes"), "{out}");
    }
    refused(&["run", DIAMOND, "--metrics", "nonsense"], &["`nonsense`", "simt-sim metrics"]);
    refused(&["run", DIAMOND, "--metrics", ""], &["unknown metric"]);
    // Told before the program is even read.
    refused(&["run", "nowhere.ir", "--metrics", "ipcc"], &["did you mean `ipc`"]);
}

#[test]
fn machine_code_runs_on_a_machine_of_its_generation() {
    for (arch, machine) in [("sm_75", "turing"), ("sm_86", "ampere"), ("sm_89", "ada")] {
        let path = format!("programs/sass/{arch}/switch_dense.sass");
        assert_eq!(json(&["run", &path])["machine"], machine);
        let named = simt_sim(&["run", &path, "--machine", "h200", "--metrics", "inst_executed"]);
        assert_eq!(named.code, 0, "{}", named.err);
        assert!(named.err.contains(&format!("machine code of {arch}")), "{}", named.err);
        assert!(named.out.contains(&format!("machine code of {arch} was not measured")));
    }
    assert_eq!(json(&["run", "programs/sass/switch_dense.sass"])["machine"], "h200");
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_an_error_and_a_closed_pipe_is_none() {
    use std::process::Stdio;
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has /dev/full");
    let binary = || Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    let ended = binary().args(["run", DIAMOND]).stdout(full).output().expect("the binary starts");
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("cannot write the output"));

    // More than a pipe's buffer, so that writing hits the closed end.
    let mut child = binary()
        .arg("isa")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("the binary ends");
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &[][..]));
}

#[test]
fn large_graphs_are_written_but_not_drawn() {
    let sides: String = (0..400)
        .map(|i| format!("setp.eq.u32 %p, %r, {i};\n@%p bra L{i};\nadd.u32 %r, %r, 1;\nL{i}:\n"))
        .collect();
    let path = file(
        "graph.ir",
        format!(
            ".visible .entry k() {{ .reg .pred %p; .reg .u32 %r; mov.u32 %r, %tid.x;\n{sides} ret; }}\n"
        ),
    );
    assert!(good(&["cfg", &path]).starts_with("digraph"));
    refused(&["cfg", &path, "--svg"], &["basic blocks", "--dot"]);
}

#[test]
fn listings_are_not_empty_and_help_names_the_exit_codes() {
    assert!(good(&["--help"]).contains("Exit codes: 0 ok; 1 an expectation failed"));
    assert!(good(&["metrics"]).contains("smsp__inst_executed.sum"));
    assert!(good(&["isa"]).contains("shfl.sync"));
    let machines = good(&["machine"]);
    for name in
        ["teaching", "fermi", "kepler", "pascal", "volta", "turing", "ampere", "ada", "h200"]
    {
        assert!(machines.contains(name), "{machines}");
    }
    assert!(good(&["check", DIAMOND]).contains("0 errors"));
    assert!(good(&["cfg", DIAMOND]).starts_with("digraph"));
    let svg = good(&["cfg", DIAMOND, "--svg"]);
    assert!(svg.contains("<svg"));
    let drawn = file("graph.svg", "");
    good(&["cfg", DIAMOND, "-o", &drawn]);
    assert_eq!(fs::read_to_string(&drawn).unwrap(), svg);
    refused(&["cfg", DIAMOND, "--dot", "-o", &drawn], &["--dot contradicts"]);
    refused(&["cfg", DIAMOND, "-o", "graph.png"], &["not as PNG", "end the file in .svg"]);
    let printed = file("printed.ptx", good(&["print", DIAMOND]));
    assert!(good(&["check", &printed]).contains("0 errors"));
}

#[test]
fn windows_are_checked_and_views_keep_their_width() {
    for (arguments, words) in [
        (&["--warp", "1"][..], &["--warp 1", "the warps 0 to 0"][..]),
        (&["--warp", "3..1"], &["--warp 3..1"]),
        (&["--warp", "first"], &["a range as in 0..3, or all"]),
        (&["--warp", "4294967295"], &["--warp 4294967295"]),
        (&["--block-id", "7"], &["--block-id 7", "blocks 0 to 0"]),
        (&["--from", "9", "--to", "9"], &["the window is empty"]),
    ] {
        refused(&[&["timeline", DIAMOND], arguments].concat(), words);
        refused(&[&["plot", "masks", DIAMOND], arguments].concat(), words);
    }
    refused(&["plot", "lanes", DIAMOND, "-o", "picture.gif"], &["ends in .svg, .png or .csv"]);
    for command in ["run", "timeline", "ask", "import", "compare"] {
        refused(&[command, DIAMOND, "-o", "picture.png"], &["`simt-sim plot`"]);
    }
    refused(&["run", DIAMOND, "--annotate", "--metrics", "ipc"], &["cannot be used with"]);
    for view in [
        &["timeline", DIAMOND][..],
        &["timeline", DIAMOND, "--lanes"],
        &["run", DIAMOND, "--annotate"],
    ] {
        let out = good(view);
        assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
        assert!(!out.contains('\x1b'), "{out}");
    }
    let narrow = good(&["timeline", DIAMOND, "--axis", "cycle", "--width", "64"]);
    assert!(narrow.lines().all(|line| line.chars().count() <= 64), "{narrow}");
    assert!(good(&["plot", "stack", DIAMOND]).starts_with("<svg "));
}

/// Returns the commands that `--help` lists.
fn commands() -> Vec<String> {
    let help = good(&["--help"]);
    let list = help.lines().skip_while(|l| *l != "See:").take_while(|l| *l != "Options:");
    let names = list.filter_map(|l| l.strip_prefix("  "));
    names
        .filter_map(|l| l.split_whitespace().next())
        .filter(|n| *n != "help")
        .map(str::to_string)
        .collect()
}

#[test]
fn every_command_has_a_manual_page_and_is_completed() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("man");
    good(&["man", "--dir", &folder.display().to_string()]);
    let script = good(&["completions", "bash"]);
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    for command in &commands {
        let page =
            fs::read_to_string(folder.join(format!("simt-sim-{command}.1"))).expect("a page");
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH OPTIONS"), "{command}\n{page}");
        assert!(
            script.contains(&format!("simt__sim__subcmd__{command}")),
            "{command} is not completed"
        );
    }
    assert!(good(&["man"]).contains("simt\\-sim"));
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(good(&["completions", shell]).contains("simt-sim"), "{shell}");
    }
    let bash = Command::new("bash").args(["-n", "-c", &script]).output();
    if let Ok(done) = bash {
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}
