//! Programs of several launches, and data in and out of files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::Finish;
use simt_core::{Job, Program, oracle};
use simt_report::simulate::simulate;

use super::cli::{good, simt_sim};
use super::support::{self, MODES, machine, options};

const FOLDER: &str = "programs/several";
const SUM: &str = "programs/several/sum_two_pass.ir";
const SCAN: &str = "programs/several/scan_two_pass.ir";
const MAX_CYCLES: u64 = 50_000_000;

/// Creates an empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("launches").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

/// Every launch leaves what the oracle leaves, in both modes.
#[test]
fn each_launch_leaves_what_the_oracle_leaves() {
    let files = support::programs(FOLDER);
    assert!(files.len() >= 3, "{files:?}");
    for path in files {
        let text = fs::read_to_string(&path).expect("a program");
        let program = Program::parse(shown(&path), &text);
        assert!(program.findings.is_empty(), "{}", support::rendered(&program, &program.findings));
        for mode in MODES {
            let spec = machine(mode.default_machine());
            let mut left: Option<Launch> = None;
            for index in 0..program.plan.launches() {
                let at = format!("{} [{}] launch {index}", program.name, mode.name());
                let kernel = program.kernel_at(index, None).expect("a kernel");
                let no_files = |_: &str, _| Err("no files".to_owned());
                let mut launch = program
                    .launch_at(index, kernel, &Overrides::default(), &no_files)
                    .unwrap_or_else(|found| panic!("{}", support::rendered(&program, &found)));
                if let Some(before) = left {
                    launch.follow(before);
                }
                let expected = oracle::run(kernel, &launch, 1 << 30).expect("the oracle runs");
                let options = options(mode, spec.side_order(), MAX_CYCLES);
                let done = simulate(Job::new(&program, kernel, launch, &spec, options), &())
                    .expect("it fits");
                assert!(matches!(done.finish, Finish::Ok), "{at}: {:?}", done.finish);
                for claim in &done.run.expectations {
                    assert!(claim.passed, "{at}: {}: {}", claim.text, claim.detail);
                }
                for (buffer, words) in done.launch.buffers.iter().zip(&expected.buffers) {
                    assert!(buffer.words == *words, "{at}: {}", buffer.name);
                }
                left = Some(done.launch);
            }
        }
    }
}

#[test]
fn a_run_reports_every_launch() {
    let out = good(&["run", SUM, "--mode", "volta"]);
    for words in [
        "Launch 1 of 2: sum\n",
        "grid 256 x block 256",
        "Launch 2 of 2: sum\n",
        "grid 1 x block 256",
        "ok      out[0] == sum(in)",
        "2 launches: ",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
    let json: Value =
        serde_json::from_str(&good(&["run", SCAN, "--format", "json"])).expect("JSON");
    assert_eq!(json["schema"], "simt-sim/series/1");
    let launches = json["launches"].as_array().expect("launches");
    let kernels: Vec<_> = launches.iter().map(|run| run["kernel"].as_str()).collect();
    assert_eq!(kernels, [Some("scan"), Some("scan"), Some("add_before")]);
    assert_eq!(launches[1]["grid"], serde_json::json!([1, 1, 1]));
    let chosen: Value =
        serde_json::from_str(&good(&["run", SCAN, "--launch", "3", "--format", "json"]))
            .expect("JSON");
    // Cycles and counts of a launch are the same, whether it is reported alone or with others.
    assert_eq!(chosen, launches[2]);
}

#[test]
fn views_take_one_launch() {
    for (command, number) in [(&["timeline", SCAN][..], "2"), (&["export", "trace", SCAN], "3")] {
        let ended = simt_sim(command);
        assert_eq!(ended.code, 2, "{}", ended.err);
        assert!(ended.err.contains("has 3 launches\nhelp: choose one with --launch N"));
        assert!(!good(&[command, &["--launch", number]].concat()).is_empty());
    }
    let ended = simt_sim(&["run", SCAN, "--launch", "4"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains(
        "--launch 4: the launches of `programs/several/scan_two_pass.ir` have the numbers 1 to 3"
    ));
    let ended = simt_sim(&["run", SCAN, "--grid", "4"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("--grid is for one launch"), "{}", ended.err);
    let checked = good(&["check", SCAN, "--run"]);
    assert!(checked.contains("launch 3 of 3: add_before"), "{checked}");
    assert_eq!(checked.matches("finished, 1 of 1 expectation held").count(), 3, "{checked}");
}

/// Variables of the module and failing launches.
#[test]
fn variables_outlive_a_launch_and_a_fault_ends_the_series() {
    let folder = folder("variables");
    let path = folder.join("count.ir");
    let text = |bad: &str| {
        format!(
            "//! buffer out: u32[1]\n\
             //! launch add\n//! grid = 4\n//! block = 32\n//! arg p = out\n\
             //! launch add\n//! grid = 1\n//! block = 32\n//! arg p = {bad}\n\
             //! launch read\n//! grid = 1\n//! block = 1\n//! arg p = out\n\
             //! expect out[0] == 5 * 32 + 100\n\
             .global .u32 count = 100;\n\
             .visible .entry add(.param .u64 p)\n{{\n.reg .b64 %p;\n.reg .b32 %x;\n\
             ld.param.u64 %p, [p];\nld.global.u32 %x, [%p];\n\
             red.global.add.u32 [count], 1;\nret;\n}}\n\
             .visible .entry read(.param .u64 p)\n{{\n.reg .b64 %p;\n.reg .b32 %x;\n\
             ld.param.u64 %p, [p];\nld.global.u32 %x, [count];\nst.global.u32 [%p], %x;\n\
             ret;\n}}\n"
        )
    };
    fs::write(&path, text("out")).expect("a file");
    let out = good(&["run", shown(&path), "--show", "out[0]"]);
    assert!(out.ends_with("out[0] = 260\n"), "{out}");
    fs::write(&path, text("0")).expect("a file");
    let ended = simt_sim(&["run", shown(&path)]);
    assert_eq!(ended.code, 5, "{}", ended.err);
    assert!(ended.out.contains("Launch 2 of 3") && !ended.out.contains("Launch 3 of 3"));
    let ended = simt_sim(&["timeline", shown(&path), "--launch", "3"]);
    assert!(ended.err.contains("launch 2 ends in fault"), "{}", ended.err);
}

/// Copies `in` to `out`; `fill` is the sequence of `in`.
fn copy(ty: &str, bits: u32, fill: &str, claim: &str) -> String {
    format!(
        "//! const n = 6\n//! grid = 1\n//! block = n\n//! buffer in: {ty}[n] = {fill}\n\
         //! buffer out: {ty}[n]\n//! arg in = in\n//! arg out = out\n//! expect {claim}\n\
         .entry copy(.param .u64 in, .param .u64 out)\n{{\n.reg .b64 %in, %out, %at, %x;\n\
         .reg .b32 %t;\nmov.u32 %t, %tid.x;\nmul.wide.u32 %at, %t, {};\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nadd.u64 %in, %in, %at;\n\
         add.u64 %out, %out, %at;\nld.global.b{bits} %x, [%in];\n\
         st.global.b{bits} [%out], %x;\nret;\n}}\n",
        bits / 8
    )
}

#[test]
fn buffers_go_out_to_files_and_come_back() {
    let folder = folder("files");
    let cases = [
        ("u8", 8, "(i * 51) for i", "[0, 51, 102, 153, 204, 255]"),
        ("s16", 16, "(i * 100 - 300) for i", "[-300, -200, -100, 0, 100, 200]"),
        ("u32", 32, "random(7, 0..1000000)", "in"),
        ("s64", 64, "(i - 3) * (1 << 50) for i", "in"),
        ("f32", 32, "sqrt(i) for i", "sqrt(i) for i"),
        ("f64", 64, "exp(i) for i", "in"),
    ];
    for (ty, bits, fill, expected) in cases {
        let (first, second) = (folder.join(format!("{ty}.ir")), folder.join(format!("{ty}2.ir")));
        fs::write(&first, copy(ty, bits, fill, &format!("out == {expected}"))).expect("a file");
        let hash = |path: &Path| good(&["run", "-q", shown(path), "--show", "hash(out)"]);
        for extension in ["npy", "txt", "bin"] {
            let name = format!("{ty}.{extension}");
            let saved = format!("out={}", shown(&folder.join(&name)));
            good(&["run", "-q", shown(&first), "--save", &saved]);
            let fill = format!("file(\"{name}\")");
            fs::write(&second, copy(ty, bits, &fill, "out == in")).expect("a file");
            assert_eq!(hash(&first), hash(&second), "{name}");
        }
    }
    let npy = fs::read(folder.join("s16.npy")).expect("the file");
    assert_eq!(&npy[..8], b"\x93NUMPY\x01\x00");
    assert_eq!((npy.len() - 12) % 64, 0, "elements begin at a multiple of 64 bytes");
    let header = String::from_utf8_lossy(&npy[10..npy.len() - 12]).into_owned();
    let words = "{'descr': '<i2', 'fortran_order': False, 'shape': (6,), }";
    assert!(header.starts_with(words) && header.ends_with('\n'), "{header}");
    assert_eq!(fs::read(folder.join("u8.bin")).expect("a file"), [0, 51, 102, 153, 204, 255]);
    let text = fs::read_to_string(folder.join("s16.txt")).expect("a file");
    assert_eq!(text, "-300\n-200\n-100\n0\n100\n200\n");
}

#[test]
fn data_that_does_not_fit_is_refused() {
    let folder = folder("refused");
    let program = folder.join("copy.ir");
    let header = |words: &str| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((words.len() as u16).to_le_bytes());
        bytes.extend(words.as_bytes());
        bytes
    };
    let npy = |words: &str| {
        let mut bytes = header(words);
        bytes.extend([0; 24]);
        bytes
    };
    let cases: [(&str, Vec<u8>, &str); 10] = [
        ("a.npy", b"none".to_vec(), "it is no .npy file"),
        ("b.npy", b"\x93NUMPY\x09\x00".to_vec(), "version is not 1, 2 or 3"),
        ("c.npy", b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "ends within its header"),
        ("d.npy", npy("{'descr': '<f4', 'shape': (6,)}"), "`<f4`, those of the buffer `<u4`"),
        ("e.npy", npy("{'descr': '>u4', 'shape': (6,)}"), "`>u4`, those of the buffer `<u4`"),
        ("f.npy", npy("{'descr': '<u4', 'shape': (7,)}"), "does not match its 24 bytes"),
        ("g.npy", npy("{'descr': '<u4', 'fortran_order': True, 'shape': (2, 3)}"), "Fortran"),
        ("h.npy", npy("{'descr': [('a', '<u4')]}"), "not numbers of one type"),
        ("i.txt", b"1 2 3\n4 5 x\n".to_vec(), "line 2: `x` is no u32"),
        ("j.txt", b"1, 2, 3 # 9\n4; 5".to_vec(), "expected 6 elements, found 5"),
    ];
    for (name, bytes, reason) in cases {
        fs::write(folder.join(name), bytes).expect("a file");
        let text = copy("u32", 32, &format!("file(\"{name}\")"), "out == in");
        fs::write(&program, text).expect("a file");
        let ended = simt_sim(&["run", shown(&program)]);
        assert_eq!(ended.code, 2, "{name}");
        assert!(ended.err.contains(reason), "{name}: {}", ended.err);
    }
    let cases: [(&[&str], &str); 4] = [
        (&["--show", "gone[0]"], "--show gone[0]: unknown name `gone`"),
        (&["--show", "out[9]"], "index 9 is out of bounds"),
        (&["--save", "gone=x.npy"], "--save gone: no buffer has this name"),
        (&["--save", "out"], "write BUFFER=FILE"),
    ];
    fs::write(&program, copy("u32", 32, "iota", "out == in")).expect("a file");
    for (options, reason) in cases {
        let ended = simt_sim(&[&["run", shown(&program)], options].concat());
        assert_eq!(ended.code, 2, "{options:?}");
        assert!(ended.err.contains(reason), "{options:?}: {}", ended.err);
    }
}

#[test]
fn a_reference_program_gives_expected_values() {
    let folder = folder("reference");
    let (program, reference) = (folder.join("own.ir"), folder.join("reference.ir"));
    fs::write(&reference, copy("u32", 32, "(i * i) for i", "finish == ok")).expect("a file");
    let claim = "out == result(\"reference.ir\", out)";
    let own = |fill: &str| fs::write(&program, copy("u32", 32, fill, claim)).expect("a file");
    own("(i * i) for i");
    let out = good(&["run", shown(&program)]);
    assert!(out.contains(&format!("ok      {claim}")), "{out}");
    // Constants of the program replace those of the reference.
    good(&["run", shown(&program), "--set", "n=5"]);
    own("(i * i + i / 5) for i");
    let ended = simt_sim(&["run", shown(&program)]);
    assert_eq!(ended.code, 1);
    assert!(ended.out.contains("out[5]: expected 25, found 26"), "{}", ended.out);
    fs::write(&reference, copy("u32", 32, "iota", claim)).expect("a file");
    let ended = simt_sim(&["run", shown(&program)]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("has no reference itself"), "{}", ended.err);
    fs::remove_file(&reference).expect("removed");
    let ended = simt_sim(&["run", shown(&program)]);
    assert!(ended.err.contains("cannot run `reference.ir`"), "{}", ended.err);
    // A series is a reference, too.
    fs::copy(SUM, &reference).expect("a copy");
    let text = fs::read_to_string("programs/several/sum_atomic.ir").expect("a program");
    let claim = "//! expect out == result(\"reference.ir\", out)";
    fs::write(&program, text.replace("//! expect out[0] == sum(in)", claim)).expect("a file");
    good(&["run", shown(&program)]);
}
