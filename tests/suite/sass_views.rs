//! Views and verdicts of machine code: they name CUDA lines, PTX lines and addresses.

use serde_json::Value;

use crate::cli::{Ended, good, refused, simt_sim};

const EVEN_ODD: &str = "programs/sass/even_odd.sass";
const INTERLEAVED: &str = "programs/sass/reduce_interleaved.sass";
const SMALL: [&str; 2] = ["--set", "n=4096"];

fn json(arguments: &[&str]) -> Value {
    let out = good(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{arguments:?}: {e}"))
}

/// Asserts that each of `words` is in `text`.
fn has(text: &str, words: &[&str]) {
    // Messages wrap at the width of the terminal.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in\n{text}"));
}

/// Programs with one fault each: exit code, words of standard error and output.
#[test]
fn faults_of_machine_code_are_named_at_their_cuda_lines() {
    let faults: [(&str, i32, &[&str]); 8] = [
        (
            "barrier_count",
            3,
            &[
                "DEADLOCK: the one live warp on sm0 is deadlocked",
                "waiting at barrier 1: 32 of 64 threads have arrived",
                "cu:11 ptx:34 /*0060*/ @!P0 BAR.SYNC.DEFER_BLOCKING 0x1, 0x40",
                "ok finish == deadlock",
            ],
        ),
        (
            "barrier_after_exit",
            0,
            &[
                "warning[barrier-after-exit]",
                "block 0 warp 1 lanes 8-31 exited here (barrier_after_exit.cu:12, 0x0080)",
                "(barrier_after_exit.cu:13, 0x0090)",
            ],
        ),
        (
            "spin",
            3,
            &["LIVELOCK", "cu:11 ptx:33 /*0030*/ LDG.E.STRONG.SYS", "ok finish == livelock"],
        ),
        (
            "warp_lock",
            3,
            &["LIVELOCK", "lanes 1-31 (0xfffffffe): repeating", "/*00a0*/ WARPSYNC.ALL"],
        ),
        (
            "past_end",
            5,
            &[
                "error[out-of-bounds]: out of bounds: `out[64]`, one past the end",
                "block 0 warp 1 lane 31 (past_end.cu:10, 0x0060)",
                "FAULT: out of bounds",
            ],
        ),
        (
            "odd_address",
            5,
            &[
                "error[misaligned]: misaligned: 4-byte global access",
                "at `out[1] byte 2`",
                "block 0 warp 0 lane 1 (odd_address.cu:10, 0x0070)",
            ],
        ),
        (
            "unset_shared",
            7,
            &[
                "error[unset-shared]: uninitialized read of shared memory: `shared[0x100]` (8 times)",
                "reads (unset_shared.cu:12, 0x00b0)",
            ],
        ),
        (
            "warp_race",
            7,
            &[
                "error[race-shared]: data race on `shared[0x4]`: unsynchronized read and write",
                "block 0 warp 0 lane 1 writes (warp_race.cu:10, 0x0090)",
                "block 0 warp 0 lane 0 reads (warp_race.cu:11, 0x00a0)",
                "__syncwarp()",
            ],
        ),
    ];
    for (name, code, words) in faults {
        let ended = simt_sim(&["run", &format!("tests/sass/{name}.sass"), "--checks"]);
        let Ended { code: got, out, err, .. } = ended;
        assert_eq!(got, code, "{name}\n{err}{out}");
        has(&(err + &out), words);
    }
}

/// Asynchronous copies, barrier objects of both layouts, generic addresses by both conventions and
/// of several memories at once, lanes that NOP keeps together, functions outside of the kernels,
/// atomics that end in a loop for shared memory, IMNMX and RED, and WARPSYNC for lanes that wait at
/// a BSYNC; shuffles and votes whose masks ptxas omits; textures and surfaces whose objects are in
/// constants, in uniform registers, in thread registers, and found by a loop of R2UR; sums that
/// compare signs of registers and of constants.
#[test]
fn small_machine_code_leaves_what_it_expects() {
    for name in [
        "async_copies",
        "async_copies_80",
        "atomic_doubles",
        "barrier_bytes",
        "barrier_objects",
        "barrier_objects_80",
        "branch_together",
        "dynamic_size",
        "extremes_80",
        "formatted",
        "formatted_75",
        "generic_addresses",
        "generic_addresses_80",
        "generic_constants",
        "generic_places",
        "generic_swaps",
        "images",
        "images_75",
        "images_80",
        "last_block",
        "count_writers",
        "linked",
        "linked_debug",
        "mask_without_own_lane",
        "parameters_75",
        "pointed",
        "pointed_debug",
        "saturated_sums",
        "saturated_sums_80",
        "shared_size",
        "twice",
        "warp_exchange",
        "warp_sync_in_branch",
    ] {
        let Ended { code, out, err, .. } = simt_sim(&["run", &format!("tests/sass/{name}.sass")]);
        assert_eq!(code, 0, "{name}\n{err}{out}");
        has(&out, &["ok out["]);
    }
}

/// Correct kernels of machine code have no finding: no register counts as uninitialized.
#[test]
fn correct_machine_code_has_no_findings() {
    for name in ["even_odd", "reduce_interleaved", "reduce_shuffle", "shared_halving"] {
        let file = format!("programs/sass/{name}.sass");
        let found = json(&["run", &file, "--checks", "--set", "n=4096"]);
        assert_eq!(found["checks"]["findings"], Value::Array(Vec::new()), "{name}");
    }
}

/// Nor have generic accesses to several memories at once, lanes that NOP, which stands for
/// `__syncwarp()`, keeps together, and the store by which the last block resets its counter.
#[test]
fn lanes_that_other_means_than_barriers_order_have_no_findings() {
    for name in ["generic_places", "warp_exchange", "last_block", "count_writers"] {
        for timing in ["cycles", "off"] {
            let file = format!("tests/sass/{name}.sass");
            let found = json(&["run", &file, "--checks", "--timing", timing]);
            assert_eq!(found["checks"]["findings"], Value::Array(Vec::new()), "{name} {timing}");
        }
    }
}

#[test]
fn instructions_carry_address_and_both_lines() {
    let found = json(&[&["run", EVEN_ODD], &SMALL[..]].concat());
    assert_eq!(found["machine_code"], "sm_90");
    assert!(found["metrics"]["ptx_inst_executed"].is_null());
    let trust = found["trust"]["inst_executed"].as_str().expect("a label");
    assert!(!trust.contains("compiler"), "{trust}");
    let rows = found["instructions"].as_array().expect("a list");
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row["machine"]["address"], format!("0x{:04x}", 16 * i));
    }
    assert_eq!(rows[0]["origin"]["file"], "even_odd.cu");
    let (cuda, ptx) = (&rows[0]["origin"]["line"], &rows[0]["machine"]["ptx_line"]);
    let text = rows[0]["text"].as_str().expect("a text");
    assert_eq!(text, format!("cu:{cuda} ptx:{ptx} /*0000*/ LDC R1, c[0x0][0x28]"));
    let timeline = good(&[&["timeline", EVEN_ODD, "--width", "120"], &SMALL[..]].concat());
    has(&timeline, &[text, "cu: CUDA line; ptx: PTX line"]);
    let annotated = good(&[&["run", EVEN_ODD, "--annotate"], &SMALL[..]].concat());
    has(&annotated, &[&format!("| ptx:{ptx} /*0000*/ LDC R1")]);
}

/// The same kernel as PTX and as machine code, by CUDA line.
#[test]
fn ptx_and_machine_code_are_compared_by_cuda_line() {
    let found =
        json(&["compare", "programs/cuda/reduce_interleaved.ptx", INTERLEAVED, "--set", "n=65536"]);
    assert!(found["parting"].is_null());
    let lines = found["lines"].as_array().expect("a list");
    let sum = |key: &str, side: usize| -> u64 {
        lines.iter().filter_map(|line| line[key][side].as_u64()).sum()
    };
    let figure = |name: &str| {
        let figures = found["figures"].as_array().expect("a list");
        figures.iter().find(|f| f["metric"] == name).expect("a figure").clone()
    };
    assert_eq!(sum("executed", 1), figure("inst_executed")["b"].as_u64().expect("a count"));
    // 5 divergent branches in each of 128 blocks (closed form), all of them on one line.
    let divergent: Vec<_> =
        lines.iter().filter(|line| line["divergent"][1].as_u64() > Some(0)).collect();
    assert_eq!(divergent.len(), 1);
    assert_eq!(divergent[0]["divergent"], serde_json::json!([640, 640]));
    let two = good(&["compare", INTERLEAVED, EVEN_ODD, "--set", "n=4096"]);
    has(&two, &["First difference"]);
}

#[test]
fn machine_code_refuses_what_only_ptx_has() {
    let no_stack = ["machine code of sm_90 has barrier registers", "run the kernel's .ptx"];
    refused(&["run", EVEN_ODD, "--mode", "pre-volta"], &no_stack);
    refused(&["timeline", EVEN_ODD, "--machine", "fermi"], &no_stack);
    refused(&["compare", EVEN_ODD, "--mode", "pre-volta,volta"], &no_stack);
    refused(&["plot", "stack", EVEN_ODD, "--mode", "pre-volta"], &no_stack);
    refused(&["run", EVEN_ODD, "--warp-size", "16"], &["compiled for warps of 32 lanes"]);
    for option in [["--lowering", "as-written"], ["--lowering", "hardware"]] {
        refused(&[&["run", EVEN_ODD], &option[..]].concat(), &["says how to compile PTX"]);
    }
    refused(&["run", EVEN_ODD, "--no-yield"], &["--no-yield says how to compile PTX"]);
    refused(&["print", EVEN_ODD], &["is machine code, which has no PTX to print"]);
    let swept = simt_sim(&["sweep", EVEN_ODD, "-P", "n=1024", "-P", "mode=pre-volta,volta"]);
    has(&(swept.err + &swept.out), &["no reconvergence stack", "1024 volta ok"]);
}

#[test]
fn sides_run_in_any_order_with_the_same_result() {
    for order in ["taken", "fall-through", "more", "random:7"] {
        good(&["run", INTERLEAVED, "--set", "n=4096", "--its-order", order, "--quiet"]);
    }
    let checked = good(&["run", INTERLEAVED, "--set", "n=4096", "--checks", "--schedules", "3"]);
    has(&checked, &["3 adversarial schedules gave the same result"]);
}

#[test]
fn check_counts_the_instructions_and_lists_all_that_is_missing() {
    let text = std::fs::read_to_string(INTERLEAVED).expect("a readable file");
    let all = text.lines().filter(|line| line.contains("*/") && line.contains(';')).count();
    has(
        &good(&["check", INTERLEAVED]),
        &[&format!("{all} of {all} machine instructions supported"), "may diverge"],
    );
    let folder = std::env::temp_dir().join(format!("simt-sim-missing-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("missing.sass");
    let broken = text.replace("IMAD.WIDE.U32", "IMAD.FOO").replace("BAR.SYNC", "STAS");
    std::fs::write(&file, &broken).expect("a written file");
    let ended = simt_sim(&["check", &file.display().to_string()]);
    let times = broken.matches("IMAD.FOO").count();
    std::fs::remove_dir_all(&folder).expect("a removed folder");
    assert_eq!(ended.code, 2);
    has(
        &ended.out,
        &[
            &format!("{} of {all} machine instructions supported", all - times - 1),
            "`STAS` is not supported: clusters and distributed shared memory are not modelled (line ",
            "`.FOO` of `IMAD` is not supported (lines ",
        ],
    );
}

/// Every picture and every export of a kernel with branches, barriers and shared memory.
#[test]
fn pictures_and_exports_of_machine_code() {
    let file = "programs/sass/shared_doubling.sass";
    for kind in [
        "timeline", "masks", "lanes", "stack", "schedule", "stalls", "ipc", "banks", "sectors",
        "cfg", "roofline",
    ] {
        let svg = good(&[&["plot", kind, file], &SMALL[..]].concat());
        assert!(svg.contains("</svg>"), "{kind}");
    }
    has(&good(&["cfg", file]), &["bb0: 0x0-", "(cu:"]);
    for format in ["perfetto", "kanata", "trace"] {
        has(&good(&[&["export", format, file], &SMALL[..]].concat()), &["/*0000*/ LDC R1"]);
    }
}
