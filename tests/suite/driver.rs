//! `simt-sim exec` and our CUDA driver, from the command line.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// Adds two vectors with Python's standard library; the argument is the number of blocks.
const PROGRAM: &str = "tests/exec/vector_add.py";

/// Folder where libraries of builds are kept; the user's is not for those of tests.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("exec-cache")
}

fn exec(arguments: &[&str]) -> Output {
    exec_in(&cache(), arguments)
}

/// Runs `exec` with a cache folder; with an empty path there is none.
fn exec_in(cache: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    command.arg("exec").args(arguments).env("COLUMNS", "100").env("SIMT_SIM_CACHE", cache);
    command.output().expect("the binary starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the name of Python, or says that there is none.
#[expect(clippy::print_stderr, reason = "the only way for a test to say that it was skipped")]
fn python() -> Option<&'static str> {
    let there = Command::new("python3").arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("skipped: found no python3");
    }
    there.then_some("python3")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn the_program_decides_output_and_exit_code() {
    let done = exec(&["--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!(done.status.code(), Some(7));
    assert_eq!(text(&done.stdout), "out\n");
    assert_eq!(text(&done.stderr), "err\nsimt-sim: the program launched no kernel\n");
    let place = |cache: &Path| {
        let shown = "echo $LD_LIBRARY_PATH; ls -L ${LD_LIBRARY_PATH%%:*}";
        let quiet = exec_in(cache, &["-q", "sh", "-c", shown]);
        assert_eq!(text(&quiet.stderr), "");
        let stdout = text(&quiet.stdout);
        assert!(stdout.contains("libcuda.so.1\n"), "{stdout}");
        PathBuf::from(stdout.split([':', '\n']).next().expect("a folder"))
    };
    let joined = exec(&["-q", "-j1", "sh", "-c", "echo $SIMT_SIM_JOBS $0", "-x", "-j2"]);
    assert_eq!(text(&joined.stdout), "1 -x\n", "{}", text(&joined.stderr));
    let temporary = place(Path::new(""));
    assert!(!temporary.exists(), "{} is removed after the run", temporary.display());
    let kept = place(&cache());
    assert!(kept.starts_with(cache()) && kept.exists(), "{} is kept", kept.display());
    assert_eq!(place(&cache()), kept, "it serves the next run");
    assert_eq!(exec(&["-q", "sh", "-c", "kill -9 $$"]).status.code(), Some(137));
    let mut others = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    others.args(["exec", "-q", "sh", "-c", "echo $LD_PRELOAD $ASAN_OPTIONS"]);
    others.env("LD_PRELOAD", "libm.so.6").env("ASAN_OPTIONS", "verbosity=0");
    let others = text(&others.env("SIMT_SIM_CACHE", cache()).output().expect("output").stdout);
    let kept = "/libsimt_static.so:libm.so.6 verbosity=0:verify_asan_link_order=0\n";
    assert!(others.ends_with(kept), "{others}");
    let with_blank = folder("with blank");
    let other = exec_in(&with_blank, &["-q", "sh", "-c", "echo $LD_PRELOAD"]);
    assert_eq!([&other.stdout[..], &other.stderr], [&b"libsimt_static.so\n"[..], b""]);
    let folder = folder("terminated");
    let mut terminated = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    terminated.args(["exec", "sh", "-c", "kill -TERM $PPID; exec sleep 10"]).env("TMPDIR", &folder);
    let terminated = terminated.output().expect("the binary starts");
    assert_eq!(terminated.status.code(), Some(143), "the program gets it");
    assert_eq!(text(&terminated.stderr), "simt-sim: the program launched no kernel\n");
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0, "nothing is left");
    let interrupted = exec(&["sh", "-c", "kill -INT $PPID; sleep 0.2; exit 5"]);
    assert_eq!(interrupted.status.code(), Some(5), "an interrupt is for the program");
    let absent = exec(&["--", "./no-such-program"]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(text(&absent.stderr).starts_with("error: cannot start `./no-such-program`"));
    let wrong = exec(&["--metrics", "inst_per_wrap", "--", "true"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("inst_per_wrap"));
}

#[test]
fn every_launch_is_a_row() {
    let Some(python) = python() else { return };
    let done = exec(&["--metrics", "warps_launched,gld_efficiency", "--", python, PROGRAM, "4"]);
    assert_eq!(text(&done.stdout), "right\n", "{}", text(&done.stderr));
    let rows = text(&done.stderr);
    let row: Vec<&str> = rows.lines().last().expect("a row").split_whitespace().collect();
    assert_eq!(row[..5], ["1", "add", "PTX", "4", "256"], "{rows}");
    assert_eq!(row[row.len() - 2..], ["32", "100.00"], "{rows}");
    let folder = folder("rows");
    let file = folder.join("launches.csv");
    let name = file.to_str().expect("a name");
    exec(&["--csv", "-o", name, "--machine", "fermi", "--", python, PROGRAM, "2"]);
    let csv = fs::read_to_string(&file).expect("the rows");
    assert!(csv.starts_with("\"ID\",\"Process ID\",\"Kernel Name\""), "{csv}");
    assert!(
        csv.contains("\"add\",\"(256, 1, 1)\",\"(2, 1, 1)\",\"gpu__time_duration.sum\""),
        "{csv}"
    );
    let json = exec(&["--json", "-o", "/dev/stdout", "--", python, PROGRAM, "1"]);
    let line = text(&json.stdout).lines().last().expect("a line").to_owned();
    let launch: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(launch["finish"], "ok");
    assert_eq!(launch["run"]["schema"], "simt-sim/run/1");
    assert_eq!(launch["run"]["grid"], serde_json::json!([1, 1, 1]));
}

#[test]
fn each_machine_of_a_list_is_a_gpu() {
    let Some(python) = python() else { return };
    let count = "import ctypes; cuda = ctypes.CDLL('libcuda.so.1'); n = ctypes.c_int(); \
                 cuda.cuInit(0); cuda.cuDeviceGetCount(ctypes.byref(n)); \
                 name = ctypes.create_string_buffer(99); \
                 cuda.cuDeviceGetName(name, 99, n.value - 1); print(n.value, name.value.decode())";
    let done = exec(&["-q", "--machine", "h200, ampere", "--", python, "-c", count]);
    assert_eq!(text(&done.stdout), "2 simt-sim ampere\n", "{}", text(&done.stderr));
    let wrong = exec(&["--machine", "h200,ampel", "--", "true"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("there is no machine `ampel`"), "{}", text(&wrong.stderr));
    let mixed = exec(&["--machine", "h200,fermi", "--mode", "volta", "--", "true"]);
    assert!(text(&mixed.stderr).contains("that machine's mode is pre-volta"));
}

#[test]
fn the_same_launch_has_the_figures_of_run() {
    let Some(python) = python() else { return };
    let text_of = fs::read_to_string(PROGRAM).expect(PROGRAM);
    let ptx = text_of.split("b\"\"\"").nth(1).and_then(|rest| rest.split("\"\"\"").next());
    let directives = "//! grid = 4\n//! block = 256\n//! buffer a: f32[1024] = iota\n\
                      //! buffer b: f32[1024] = iota\n//! buffer c: f32[1024]\n\
                      //! arg a = a\n//! arg b = b\n//! arg c = c\n";
    let file = folder("run").join("add.ptx");
    fs::write(&file, format!("{directives}{}", ptx.expect("the PTX"))).expect("a file");
    let metrics = "launch_cycles,inst_executed,gld_transactions,dram_read_transactions";
    let run = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .args(["run", file.to_str().expect("a name"), "--metrics", metrics])
        .output()
        .expect("the binary starts");
    let csv = exec(&[
        "--metrics",
        metrics,
        "--csv",
        "-q",
        "-o",
        "/dev/stdout",
        "--",
        python,
        PROGRAM,
        "4",
    ]);
    let csv = text(&csv.stdout);
    for line in text(&run.stdout).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, value, ..] = words[..] else { panic!("{line}") };
        let row = csv.lines().find(|row| row.contains(&format!("\"{name}\""))).expect(name);
        assert!(row.ends_with(&format!("\"{value}\"")), "{row}\nrun: {line}");
    }
}

#[test]
fn a_fault_is_cudas_error_and_ours_in_words() {
    let Some(python) = python() else { return };
    let done = exec(&["--", python, PROGRAM, "4", "fault"]);
    assert_eq!(done.status.code(), Some(1));
    let words = text(&done.stderr);
    assert!(words.contains("cuMemcpyDtoH_v2: CUDA_ERROR_ILLEGAL_ADDRESS"), "{words}");
    assert!(words.contains("FAULT: out of bounds:"), "{words}");
    assert!(words.contains("st.global.f32 [%p], %x;"), "{words}");
    assert_eq!(words.matches("FAULT").count(), 1, "{words}");
    // A program may hide its standard error, as pytest does; the explanation comes after it.
    let hidden =
        exec(&["-q", "--", "sh", "-c", &format!("{python} {PROGRAM} 4 fault 2>/dev/null")]);
    let words = text(&hidden.stderr);
    assert!(words.contains("FAULT: out of bounds:"), "{words}");
    assert!(!words.contains("cuMemcpyDtoH_v2"), "{words}");
    let blocking = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .args(["exec", "--", python, PROGRAM, "4", "fault"])
        .env("SIMT_SIM_CACHE", cache())
        .env("CUDA_LAUNCH_BLOCKING", "1")
        .output()
        .expect("the binary starts");
    let words = text(&blocking.stderr);
    assert!(words.contains("cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS"), "{words}");
}

#[test]
fn a_program_that_ends_without_waiting_has_its_rows() {
    let Some(python) = python() else { return };
    let done = exec(&["--", python, PROGRAM, "64", "leave"]);
    let rows = text(&done.stderr);
    assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(0), ""), "{rows}");
    let row: Vec<&str> = rows.lines().last().expect("a row").split_whitespace().collect();
    assert_eq!(row[..5], ["1", "add", "PTX", "64", "256"], "{rows}");
}

#[test]
fn launches_have_pages_and_pictures() {
    let Some(python) = python() else { return };
    let folder = folder("views");
    let place = |name: &str| folder.join(name).display().to_string();
    let (pages, svg, png) = (place("pages"), place("lanes.svg"), place("roof.png"));
    let plots = [format!("timeline={svg}"), format!("roofline={png}")];
    let done = exec(&[
        "--html", &pages, "--plot", &plots[0], "--plot", &plots[1], "--", python, PROGRAM, "2",
    ]);
    assert_eq!(text(&done.stdout), "right\n", "{}", text(&done.stderr));
    let index = fs::read_to_string(Path::new(&pages).join("index.html")).expect("an index");
    let link = index.split("href=\"").nth(1).and_then(|rest| rest.split('"').next());
    let page = fs::read_to_string(Path::new(&pages).join(link.expect("a link"))).expect("a page");
    assert!(page.contains("<h1>add</h1>"), "the page of the launch");
    assert!(fs::read_to_string(svg).expect("a picture").starts_with("<svg"));
    assert!(fs::read(png).expect("a picture").starts_with(b"\x89PNG"));
}

#[test]
fn a_picture_of_no_launch_is_an_error() {
    let Some(python) = python() else { return };
    let file = folder("no-launch").join("lanes.svg").display().to_string();
    let plot = format!("timeline={file}");
    let done = exec(&["--plot", &plot, "--launch", "3", "--", python, PROGRAM, "2"]);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("shows no launch 3: the program made one launch, number 1"), "{said}");
    assert!(!Path::new(&file).exists());
}

#[test]
fn a_process_can_load_the_driver_by_itself() {
    let Some(python) = python() else { return };
    let folder = folder("place");
    let place = folder.join("libraries");
    let there = place.to_str().expect("a name");
    assert!(exec(&["--place", there]).status.success());
    assert!(exec(&["--place", there]).status.success(), "twice");
    let code = format!(
        "import ctypes; s = ctypes.CDLL('{there}/libcuda.so.1'); import sys; \
         sys.argv = ['p', '1']; exec(open('{PROGRAM}').read()); \
         s.simtReportLast.restype = ctypes.c_char_p; import json; \
         print(s.simtLaunchCount(), json.loads(s.simtReportLast())['kernel'])"
    );
    let done = Command::new(python).args(["-c", &code]).output().expect("python starts");
    assert_eq!(text(&done.stdout), "right\n1 add\n", "{}", text(&done.stderr));
}

#[test]
fn a_program_that_cannot_be_served_is_named_at_once() {
    let folder = folder("static");
    for (loader, help) in [(true, "nvcc -cudart shared"), (false, "without `-static`")] {
        let file = folder.join("program");
        fs::write(&file, program_with_device_code(loader)).expect("a file");
        let done = exec(&["--", file.to_str().expect("a name")]);
        assert_eq!(done.status.code(), Some(2));
        assert!(text(&done.stderr).contains(help), "{}", text(&done.stderr));
    }
}

/// An ELF file with a section `.nv_fatbin`, no symbols, and a loader or none.
fn program_with_device_code(loader: bool) -> Vec<u8> {
    let names = b"\0.nv_fatbin\0.shstrtab\0";
    let mut elf = vec![0_u8; 64 + 3 * 64 + 56];
    elf[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
    for (at, value) in [(16, 2_u16), (18, 62), (52, 64), (58, 64), (60, 3), (62, 2)] {
        elf[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    // One segment, after the sections: 3 names a loader, 1 loads bytes.
    for (at, value) in [(54, 56_u16), (56, 1), (256, if loader { 3 } else { 1 })] {
        elf[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    elf[20] = 1;
    elf[32..40].copy_from_slice(&256_u64.to_le_bytes());
    elf[40..48].copy_from_slice(&64_u64.to_le_bytes());
    let end = elf.len() as u64;
    for (index, name, kind, size) in [(1, 1_u32, 1_u32, 0), (2, 12, 3, names.len() as u64)] {
        let at = 64 + 64 * index;
        elf[at..at + 4].copy_from_slice(&name.to_le_bytes());
        elf[at + 4..at + 8].copy_from_slice(&kind.to_le_bytes());
        elf[at + 24..at + 32].copy_from_slice(&end.to_le_bytes());
        elf[at + 32..at + 40].copy_from_slice(&u64::to_le_bytes(size));
    }
    elf.extend_from_slice(names);
    elf
}

/// The driver bindings of `crosscheck` (cudarc) run against our driver.
#[cfg(feature = "cuda")]
#[test]
fn crosscheck_compares_with_our_own_driver() {
    let files =
        ["programs/small/nested.ir", "programs/small/spin_lock.ir", "programs/cuda/even_odd.ptx"];
    let mut arguments = vec!["-q", "--", env!("CARGO_BIN_EXE_simt-sim"), "crosscheck"];
    arguments.extend(files);
    let done = exec(&arguments);
    let stdout = text(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{stdout}{}", text(&done.stderr));
    for file in files {
        assert!(stdout.contains(&format!("{file}: agree")), "{stdout}");
    }
}
