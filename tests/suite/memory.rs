//! Registers of 128 bits, memory on the stack, bulk copies and tiles, in PTX and in machine code;
//! generic accesses to two memories.

use std::fs;

use serde_json::Value;

use super::cli::{Ended, good, refused, simt_sim};

#[test]
fn quads_and_stacks_leave_what_they_expect() {
    for name in ["quads", "stack", "parameters", "bulk_copies", "tiles"] {
        for mode in ["volta", "pre-volta"] {
            let program = format!("tests/memory/{name}.ir");
            let report = good(&["run", &program, "--mode", mode, "--checks"]);
            assert!(report.contains("ok ") && !report.contains("FAIL"), "{program}\n{report}");
        }
        let report = good(&["run", &format!("tests/sass/{name}.sass"), "--checks"]);
        assert!(report.contains("ok ") && !report.contains("FAIL"), "{name}\n{report}");
    }
}

/// Writes a program with some text replaced.
fn changed(name: &str, number: usize, old: &str, new: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory");
    fs::create_dir_all(&folder).expect("a folder");
    let text = fs::read_to_string(format!("tests/memory/{name}.ir")).expect("a program");
    assert!(text.contains(old), "{name}: {old}");
    let path = folder.join(format!("{name}{number}.ir"));
    fs::write(&path, text.replace(old, new)).expect("a writable folder");
    path.to_string_lossy().into_owned()
}

#[test]
fn misuse_has_an_error_at_its_place() {
    let errors = [
        ("quads", "mov.b128 %q1, {%rd7, %rd6};", "add.u64 %rd6, %q0, 1;", "`%q0` has 128 bits"),
        ("quads", "st.global.b128 [%rd2], %q1;", "st.global.v2.b128 [%rd2], %q1;", "`.v2`"),
        (
            "quads",
            "ld.global.b128 %q0, [%rd1];",
            "ld.global.b64 %q0, [%rd1];",
            "`%q0` has 128 bits",
        ),
        ("stack", "alloca.u64 %rd5, %rd4, 16;", "alloca.u64 %rd5, %rd4, 12;", "power of two"),
    ];
    for (i, (name, old, new, words)) in errors.into_iter().enumerate() {
        let path = changed(name, i, old, new);
        refused(&["run", &path], &[words, new.split(' ').next().unwrap_or_default()]);
    }
}

#[test]
fn too_much_and_misaligned_memory_are_faults() {
    let faults = [
        ("stack", "mad.lo.u32 %r2, %r1, 4, 4;", "mov.u32 %r2, 0xfffffff0;", "stack overflow"),
        ("stack", "mul.wide.u32 %rd4, %r2, 4;", "mov.u64 %rd4, -1;", "stack overflow"),
        ("quads", "[%rd2 + 16], %q2", "[%rd2 + 8], %q2", "misaligned"),
    ];
    for (i, (name, old, new, words)) in faults.into_iter().enumerate() {
        for mode in ["volta", "pre-volta"] {
            let path = changed(name, 10 + i, old, new);
            let Ended { code, out, err, .. } = simt_sim(&["run", &path, "--mode", mode]);
            assert!(code != 0 && (err + &out).contains(words), "{name} {new}: {code}");
        }
    }
}

/// Returns what a kernel's accesses count in each memory, without what time decides.
fn traffic(options: &[&str]) -> Vec<[Value; 7]> {
    let run = ["run", "tests/memory/generic.ir", "--checks", "--format", "json"];
    let out = good(&[&run[..], options].concat());
    let report: Value = serde_json::from_str(&out).expect("a report");
    let held = report["expectations"].as_array().expect("a list");
    assert!(!held.is_empty() && report["checks"]["findings"] == Value::Array(Vec::new()), "{out}");
    const KEYS: [&str; 7] = [
        "memory",
        "way",
        "requests",
        "requested_bytes",
        "sectors",
        "wavefronts",
        "ideal_wavefronts",
    ];
    let rows = report["memory"].as_array().expect("a list");
    rows.iter().map(|row| KEYS.map(|key| row[key].clone())).collect()
}

/// As on an H200: a mix of shared and global memory counts what both parts count alone.
#[test]
fn an_access_to_two_memories_counts_as_one_to_each() {
    for mode in ["volta", "pre-volta"] {
        for timing in ["cycles", "off"] {
            let of = |kernel| traffic(&["--mode", mode, "--timing", timing, "--kernel", kernel]);
            let mixed = of("mixed");
            assert!(mixed.len() > 5, "{mixed:?}");
            assert_eq!(mixed, of("apart"), "{mode} {timing}");
        }
    }
}
