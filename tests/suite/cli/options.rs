//! Options of a run: machine, constants, shapes, side order and number of jobs.

use super::{DIAMOND, PATHS, REDUCTION, file, good, json, refused, simt_sim};

#[test]
fn the_mode_picks_the_machine_and_the_machine_the_mode() {
    for (options, mode, machine) in [
        (&[][..], "volta", "h200"),
        (&["--mode", "pre-volta"], "pre-volta", "fermi"),
        (&["--mode", "volta"], "volta", "h200"),
        (&["--machine", "kepler"], "pre-volta", "kepler"),
        (&["--machine", "ampere"], "volta", "ampere"),
        (&["--machine", "ampere", "--mode", "volta"], "volta", "ampere"),
        (&["--machine", "teaching", "--mode", "volta", "--warp-size", "32"], "volta", "teaching"),
        (
            &["--machine", "teaching", "--mode", "pre-volta", "--warp-size", "32"],
            "pre-volta",
            "teaching",
        ),
    ] {
        let run = json(&[&["run", DIAMOND], options].concat());
        assert_eq!((&run["mode"], &run["machine"]), (&mode.into(), &machine.into()), "{options:?}");
    }
    refused(
        &["run", DIAMOND, "--mode", "volta", "--machine", "fermi"],
        &["--mode volta contradicts --machine fermi", "pre-volta", "help:"],
    );
    refused(
        &["run", DIAMOND, "--mode", "pre-volta", "--machine", "h200"],
        &["contradicts", "h200"],
    );
}

#[test]
fn constants_and_shapes_can_be_changed() {
    let run = json(&[
        "run",
        REDUCTION,
        "--set",
        "n=1 << 12",
        "--set",
        "block=256",
        "--machine",
        "ampere",
    ]);
    assert_eq!(
        (&run["grid"], &run["block"]),
        (&serde_json::json!([16, 1, 1]), &serde_json::json!([256, 1, 1]))
    );
    assert_eq!((&run["constants"]["n"], &run["constants"]["block"]), (&4096.into(), &256.into()));
    let run = json(&["run", "programs/small/for_tid.ir", "--grid", "2,3,4"]);
    assert_eq!(run["grid"], serde_json::json!([2, 3, 4]));
    let run = json(&["run", "programs/small/for_tid.ir", "--block", "32x1"]);
    assert_eq!(run["block"], serde_json::json!([32, 1, 1]));

    refused(&["run", PATHS, "--set", "K=2"], &["unknown constant `K`", "did you mean `k`"]);
    refused(&["run", PATHS, "--set", "k"], &["--set NAME=VALUE"]);
    refused(&["run", PATHS, "--set", "k="], &["--set k="]);
    refused(&["run", PATHS, "--set", "k=0"], &["division by zero"]);
    refused(&["run", PATHS, "--set", "k=1/0"], &["division by zero"]);
    refused(&["run", PATHS, "--set", "k=99999999999999999999"], &["64 bits"]);
    refused(&["run", REDUCTION, "--set", "n=99999999999999999999"], &["64 bits"]);
    refused(&["run", REDUCTION, "--set", "n=0"], &["grid size of 1 to", "found 0"]);
    refused(&["run", REDUCTION, "--set", "n=-512"], &["grid size of 1 to", "found -1"]);
    refused(&["run", REDUCTION, "--set", "n=1<<60"], &["16 GiB"]);
    refused(&["run", REDUCTION, "--set", "block=1025"], &["1 to 1024"]);
    refused(&["run", REDUCTION, "--set", "block=0"], &["division by zero"]);
}

#[test]
fn shapes_that_no_gpu_takes() {
    for (option, value, words) in [
        ("--grid", "4294967295,4294967295", "1 to 2147483647"),
        ("--grid", "2147483647,65535,65535", "exceed the limit of"),
        ("--grid", "4294967296", "positive numbers"),
        ("--grid", "0", "positive numbers"),
        ("--grid", "1,,1", "positive numbers"),
        ("--grid", "1,2,3,4", "positive numbers"),
        ("--grid", "", "positive numbers"),
        ("--grid", "many", "positive numbers"),
        ("--block", "0", "positive numbers"),
        ("--block", "1025", "1 to 1024"),
        ("--block", "1024,2", "1024"),
        ("--block", "4294967295,4294967295,4294967295", "1 to 1024"),
        ("--warp-size", "1", "2 to 32 lanes"),
        ("--warp-size", "33", "2 to 32 lanes"),
        ("--its-order", "sideways", "fall-through"),
        ("--its-order", "random:x", "random:SEED"),
        ("--its-order", "random:99999999999999999999", "random:SEED"),
        ("--kernel", "other", "no kernel `other`; it has diamond"),
        ("--max-cycles", "-1", "--max-cycles"),
        ("--jobs", "some", "--jobs"),
        ("--format", "xml", "json"),
        ("--mode", "fermi", "pre-volta"),
    ] {
        refused(&["run", DIAMOND, &format!("{option}={value}")], &[words]);
    }
    // A block larger than its data is the program's fault, not a wrong argument.
    assert_eq!(simt_sim(&["run", DIAMOND, "--block", "1024"]).code, 5);
    // Many blocks need neither much memory nor a long start.
    assert_eq!(
        simt_sim(&["run", DIAMOND, "--grid", "67108863", "--max-cycles", "500", "-q"]).code,
        4
    );
}

#[test]
fn side_orders_by_name() {
    let program = "programs/small/side_order.ir";
    for order in ["fewer", "more", "taken", "fall-through", "fallthrough", "random", "random:7"] {
        let ended = simt_sim(&["run", program, "--its-order", order, "--mode", "pre-volta"]);
        assert_eq!(ended.code, 0, "{order}: {}", ended.out);
    }
    // In this mode the program expects the H200's order.
    for (order, code) in [("fewer", 0), ("taken", 0), ("fall-through", 1), ("more", 1)] {
        assert_eq!(simt_sim(&["run", program, "--its-order", order]).code, code, "{order}");
        assert_eq!(simt_sim(&["run", program, "--side-order", order, "-q"]).code, code, "{order}");
    }
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    for mode in ["pre-volta", "volta"] {
        let with = |jobs| {
            good(&[
                "run", REDUCTION, "--set", "n=1<<16", "--mode", mode, "--format", "json", "--jobs",
                jobs,
            ])
        };
        let one = with("1");
        for jobs in ["1", "2", "0", "100000", "18446744073709551615"] {
            assert!(with(jobs) == one, "{mode}: --jobs {jobs} gives another report");
        }
    }
}

#[test]
fn what_is_typed_wrongly_says_how_to_write_it() {
    let ptx = "programs/cuda/even_odd.ptx";
    refused(&["run", ptx, "--sass"], &["--sass says how to compile CUDA C++", ptx, ".cu"]);
    refused(&["run", ptx, "--arch", "sm_90"], &["--arch says how to compile CUDA C++"]);
    refused(&["compare", ptx, PATHS, "--sass"], &["--sass says how to compile CUDA C++"]);
    refused(&["check", ptx, "--sass"], &["--sass says how to compile CUDA C++"]);
    refused(&["cfg", DIAMOND, "-o", "x.jpg"], &[".svg or .dot", "ends in .jpg"]);
    for option in ["--grid", "--block"] {
        refused(&["run", DIAMOND, option, "-1"], &["-1: write one to three positive numbers"]);
    }
    refused(&["timeline", DIAMOND, "--width", "1"], &["--width 1: a line has at least 60"]);
    refused(&["run", DIAMOND, "--launch", "0"], &["has one launch, number 1"]);
    let two = "programs/several/sum_two_pass.ir";
    refused(&["run", two, "--launch", "3"], &["have the numbers 1 to 2"]);
    refused(&["rnu", DIAMOND], &["rnu", "'run'"]);
    let ended = simt_sim(&["run", DIAMOND, "-o", "nowhere/report.txt"]);
    assert_eq!(ended.code, 2, "{}", ended.err);
    assert!(ended.err.contains("cannot write `nowhere/report.txt`"), "{}", ended.err);
    assert!(!ended.err.contains(".part"), "a temporary name: {}", ended.err);
}

#[test]
fn files_without_a_kernel_are_errors() {
    let empty = file("empty.ir", "");
    let words = "has no kernel; declare one with `.entry";
    refused(&["run", &empty], &[words]);
    let checked = simt_sim(&["check", &empty]);
    assert_eq!(checked.code, 2, "{}", checked.err);
    assert!(checked.err.contains(words), "{}", checked.err);
    refused(
        &["run", &file("empty.sass", "")],
        &["has no kernel; write the file with `simt-sim im"],
    );
    refused(&["run", &file("empty.cubin", "")], &["empty.cubin", "expected a cubin"]);
    let equal = file("equal.ir", "//! kernel = k\n.visible .entry k() { ret; }\n");
    refused(
        &["run", &equal],
        &["expected a kernel name, found `=`", "equal.ir:1:12", "write `//! kernel NAME`"],
    );
}

#[test]
fn a_window_after_the_end_says_when_that_was() {
    let out = good(&["timeline", DIAMOND, "--from", "100000"]);
    assert!(out.contains("nothing issued in this window; the warp ended at cycle "), "{out}");
}

#[test]
fn lanes_that_wait_at_a_join_name_its_branch() {
    let ended = simt_sim(&["run", "programs/small/barrier_one_arm.ir", "--mode", "volta"]);
    let text = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("never arrive (B0 belongs to the branch on line "), "{}", ended.out);
}

#[test]
fn the_help_of_a_livelock_depends_on_who_waits() {
    let wait = |label: &str, at: &str| {
        format!(
            "{label}: ld.volatile.global.u32 %v, [{at}]; setp.eq.u32 %p, %v, 0; @%p bra {label};\n\
             ret;\n"
        )
    };
    let text = format!(
        "//! grid = 1\n//! block = 64\n//! buffer f: u32[2] = fill(0)\n//! arg f = f\n\
         .visible .entry k(.param .u64 f)\n{{\n.reg .pred %p; .reg .u32 %t, %v; .reg .u64 %f;\n\
         ld.param.u64 %f, [f]; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 32; @%p bra First;\n{}{}}}\n",
        wait("Second", "%f+4"),
        wait("First", "%f")
    );
    let ended = simt_sim(&["run", &file("two_warps_wait.ir", text)]);
    assert_eq!(ended.code, 3, "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("help: no warp that still runs makes the write"), "{}", ended.out);
    let ended = simt_sim(&["run", "programs/small/spin_lock.ir", "--mode", "pre-volta"]);
    assert!(ended.out.contains("help: move the write that the spinning lanes"), "{}", ended.out);
}

#[test]
fn the_time_that_rates_divide_by_is_in_the_report() {
    let run = json(&["run", DIAMOND]);
    let cycles = run["metrics"]["launch_cycles"].as_u64().expect("a number");
    let grouped = simt_report::numbers::grouped(cycles);
    let out = good(&["run", DIAMOND]);
    assert!(out.contains(&format!("The launch takes {grouped} cycles = ")), "{out}");
    let share = "sm__warps_active.avg.pct_of_peak_sustained_active [%]";
    assert!(out.contains(share), "a share here, a percentage there: {out}");
}
