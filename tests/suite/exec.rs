//! Whole programs under `exec`: CUDA C++ by nvcc, Python by Numba and Triton, Rust by cudarc.
//!
//! Each program's standard output stands beside it in `programs/exec/*.out`. A test whose tools are
//! missing says so and passes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use simt_toolkit::Tool;

const FOLDER: &str = "programs/exec";

/// Reports why a test skipped a part.
#[expect(clippy::print_stderr, reason = "the only way for a test to say that it was skipped")]
pub(crate) fn notice(text: &str) {
    eprintln!("skipped: {text}");
}

/// Creates an empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exec").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Command that runs a program under `exec`.
fn exec(options: &[&str], program: &[OsString]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    command.arg("exec").args(options).arg("--").args(program).env("COLUMNS", "100");
    // Libraries of each build are kept; the user's folder is not for those of tests.
    command.env("SIMT_SIM_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("exec-cache"));
    command
}

fn output(command: &mut Command) -> Output {
    command.output().expect("the binary starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compares standard output with the file beside a program.
fn compare(name: &str, output: &Output) {
    let path = Path::new(FOLDER).join(format!("{name}.out"));
    let printed = text(&output.stdout);
    if env::var_os("SIMT_BLESS").is_some() {
        fs::write(&path, &printed).expect("a file");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let words = text(&output.stderr);
    assert!(
        printed == expected,
        "{name} printed\n{printed}\nexpected\n{expected}\nstandard error\n{words}\n\
         SIMT_BLESS=1 writes {}",
        path.display()
    );
}

/// Names of the programs with an extension.
fn programs(extension: &str) -> Vec<String> {
    let entries = fs::read_dir(FOLDER).expect(FOLDER).flatten().map(|entry| entry.path());
    let found = entries.filter(|path| path.extension().is_some_and(|e| e == extension));
    let mut names: Vec<String> = found
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{FOLDER} has no .{extension}");
    names
}

/// Returns nvcc with the options that find the runtime library, or says what is missing.
fn nvcc(libraries: &Path) -> Option<(PathBuf, Vec<OsString>)> {
    let Some(nvcc) = Tool::Nvcc.find() else {
        notice("found no nvcc; install it: pip install nvidia-cuda-nvcc nvidia-cuda-cccl");
        return None;
    };
    // The pip packages have `lib/libcudart.so.13` without the name that linkers look for.
    let root = nvcc.parent()?.parent()?;
    let mut options = Vec::new();
    for lib in ["lib", "lib64"].map(|name| root.join(name)).into_iter().filter(|lib| lib.is_dir()) {
        let versioned = fs::read_dir(&lib).ok()?.flatten().map(|entry| entry.path());
        let mut runtime: Vec<PathBuf> = versioned
            .filter(|path| {
                path.file_name().is_some_and(|n| text_of(n).starts_with("libcudart.so."))
            })
            .collect();
        runtime.sort();
        if let Some(runtime) = runtime.first() {
            let target = libraries.join("libcudart.so");
            let _ = fs::remove_file(&target);
            #[cfg(unix)]
            std::os::unix::fs::symlink(runtime, &target).expect("a link");
        }
        options.push(joined("-L", &lib));
    }
    options.push(joined("-L", libraries));
    Some((nvcc, options))
}

fn text_of(name: &std::ffi::OsStr) -> String {
    name.to_string_lossy().into_owned()
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

/// Compiles a program by the line in its first comment, with further options.
fn compile(folder: &Path, name: &str, further: &[&str]) -> Option<PathBuf> {
    let (nvcc, libraries) = nvcc(folder)?;
    let source = Path::new(FOLDER).join(format!("{name}.cu"));
    let line = fs::read_to_string(&source).expect("a source");
    let line = line.lines().find_map(|l| l.strip_prefix("//   nvcc ")).expect("its build line");
    let program = folder.join(name);
    assert_eq!(line, format!("-o {name} {name}.cu"));
    let output = Command::new(&nvcc)
        .args(further)
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .args(libraries)
        .output()
        .expect("nvcc starts");
    assert!(output.status.success(), "{name}.cu\n{}", text(&output.stderr));
    Some(program)
}

/// Compiles a C program of `tests/exec`, which loads the runtime itself.
fn compile_c(name: &str) -> Option<PathBuf> {
    let program = folder(name).join(name);
    let mut cc = Command::new("cc");
    cc.args(["-w", "-O1", "-o"]).arg(&program);
    cc.arg(format!("tests/exec/{name}.c")).args(["-lpthread", "-ldl"]);
    match cc.output() {
        Err(_) => {
            notice("found no C compiler `cc`");
            None
        }
        Ok(output) => {
            assert!(output.status.success(), "{}", text(&output.stderr));
            Some(program)
        }
    }
}

fn runs_as_held(name: &str, status: i32) {
    let folder = folder(name);
    // A program that brings its runtime along, and one that loads it.
    for further in [&[][..], &["-arch=compute_75", "-cudart", "shared"]] {
        let Some(program) = compile(&folder, name, further) else { return };
        let output = output(&mut exec(&[], &[program.into()]));
        compare(name, &output);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
    }
}

/// The host writes to memory that a kernel waits for, and the other way round.
#[test]
fn a_kernel_and_the_host_answer_each_other() {
    let Some(program) = compile(&folder("persistent"), "persistent", &[]) else { return };
    for timing in ["cycles", "off"] {
        let output = output(&mut exec(&["--timing", timing], &[program.clone().into()]));
        compare("persistent", &output);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

/// Every program has a test below.
#[test]
fn every_program_is_run() {
    let tested = [
        "bfs",
        "device_query",
        "errors",
        "graphs",
        "hello",
        "histogram",
        "persistent",
        "reduce",
        "reduce_ladder",
        "streams",
        "textures",
        "transpose",
    ];
    assert_eq!(programs("cu"), tested);
    let tested = ["cupy_sums", "dot", "matmul", "reduce", "softmax", "tiles", "torch_fit", "warps"];
    assert_eq!(programs("py"), tested);
}

#[test]
fn twelve_thousand_mutated_calls_of_the_runtime_return() {
    let Some(program) = compile_c("mutated") else { return };
    let options = ["-q", "--machine", "teaching", "--warp-size", "32", "--max-cycles", "200000"];
    let output = output(&mut exec(&options, &[program.into()]));
    let (printed, words) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{printed}{words}");
    assert!(!words.contains("this is a bug"), "{words}");
    let numbers = printed.split_whitespace().filter_map(|word| word.parse::<u32>().ok());
    assert_eq!(numbers.sum::<u32>(), 12_000, "{printed}");
    assert!(printed.ends_with("then 0\n"), "{printed}");
}

#[test]
fn the_runtime_answers_mistakes_as_on_an_h200() {
    answers_as_recorded("answers");
}

#[test]
fn the_driver_answers_mistakes_as_on_an_h200() {
    answers_as_recorded("driver_answers");
}

/// The first half of the second array was copied; the third was first read, then written.
#[test]
fn reads_of_device_memory_that_nobody_wrote_are_found() {
    let Some(program) = compile_c("unset") else { return };
    let output = output(&mut exec(&["-q", "--checks"], &[program.into()]));
    let words = text(&output.stderr);
    let launches: Vec<&str> = words.split("launch ").skip(1).collect();
    let found = ["", "`allocation 2[32]` (32 times)", "`allocation 3[0]` (64 times)", "", ""];
    assert_eq!(launches.len(), found.len(), "{words}");
    for (launch, found) in launches.iter().zip(found) {
        let is_said = launch.contains("error[unset-global]");
        assert_eq!((is_said, launch.contains(found)), (!found.is_empty(), true), "{launch}");
    }
}

#[test]
fn the_driver_answers_frameworks_as_on_an_h200() {
    answers_as_recorded("launch_answers");
}

#[test]
fn the_driver_answers_about_pools_as_on_an_h200() {
    answers_as_recorded("pool_answers");
}

#[test]
fn the_driver_answers_about_graphs_as_on_an_h200() {
    answers_as_recorded("graph_answers");
}

#[test]
fn the_driver_answers_about_captures_as_on_an_h200() {
    answers_as_recorded("capture_answers");
}

#[test]
fn the_driver_makes_tensor_maps_and_tiles_are_those_of_an_h200() {
    answers_as_recorded("tensor_answers");
}

/// Codes of the runtime are printed where they are errors: the calls that a capture does not allow.
#[test]
fn the_runtime_makes_captures_changes_and_launches_graphs() {
    let Some(program) = compile_c("graphs") else { return };
    let output = output(&mut exec(&["-o", "/dev/null"], &[program.into()]));
    assert_eq!(
        text(&output.stdout),
        "types: 1 0 1 1 3
called, first 11
nodes: 11 12 13 14 15 16 17 18
changed, first 35
changed: 35 36 37 38 15 16 17 18
kernel 1, block 8, n 10
copy 1 1 32, kind 1
update 0
called, first 11
updated: 11 12 3 4 5 6 7 8
types: 1 0 1 1 3 5
called, first 101
clone: 101 102 103 104 105 106 107 108
status 1
types: 10 1 2 0 1 3 11
6 edges
captured, first 100
captured, first 100
captured: 100 100 103 104 105 106 107 108
cudaMalloc: 900
cudaStreamEndCapture: 901
"
    );
    assert_eq!(text(&output.stderr), "");
}

/// Compares what a C program prints with what it printed on an H200.
fn answers_as_recorded(name: &str) {
    let Some(program) = compile_c(name) else { return };
    let output = output(&mut exec(&["-q"], &[program.into()]));
    let recorded = fs::read_to_string(format!("tests/exec/{name}.txt")).expect("the record");
    assert_eq!(text(&output.stdout), recorded);
}

/// Values of the first texture are i * i for i from 1; of the second the means of four neighbours
/// (of rows 1 and 2), then row 2; of the third every second byte, which has 34 i + 17, over 255.
#[test]
fn references_of_cuda_11_are_bound() {
    let Some(program) = compile_c("references") else { return };
    let output = output(&mut exec(&["-q"], &[program.into()]));
    let words = text(&output.stderr);
    assert!(words.contains("sRGB in textures is not simulated; convert colours"), "{words}");
    assert_eq!(
        text(&output.stdout),
        "found 1
offset 0
offset 0
linear, pitched and ratios (0)
1 4 9 16 25 36 49 64
160 172.5 198.5 226.5 256.5 288.5 322.5 358.5
0.0666667 0.2 0.333333 0.466667 0.6 0.733333 0.866667 1
linear, array and half of the ratios (0)
1 4 9 16 25 36 49 64
256 289 324 361 400 441 484 529
0.0666667 0.2 0.333333 0.466667 0 0 0 0
cudaBindTexture: 18
cudaUnbindTexture: 18
cudaGetTextureReference: 18
cudaBindTexture: 1
cudaBindTextureToArray: 801
write 0
back 0
0 11 22 33 44 55 66 77
cudaBindSurfaceToArray: 37
found 1
cudaGetSurfaceReference: 37
"
    );
}

#[test]
fn a_search_by_levels_goes_on_until_a_level_is_empty() {
    runs_as_held("bfs", 0);
}

#[test]
fn a_device_query_prints_the_machine_file() {
    runs_as_held("device_query", 0);
}

#[test]
fn mistakes_get_the_errors_of_cuda() {
    runs_as_held("errors", 0);
}

#[test]
fn kernels_print_between_the_lines_of_the_host() {
    runs_as_held("hello", 0);
}

#[test]
fn variables_of_all_kinds_are_set_and_read() {
    runs_as_held("histogram", 0);
}

#[test]
fn a_reduction_equals_the_sum_of_the_host() {
    runs_as_held("reduce", 0);
}

#[test]
fn every_rung_of_the_ladder_of_reductions_is_right() {
    runs_as_held("reduce_ladder", 0);
}

#[test]
fn a_captured_graph_is_launched_and_updated() {
    runs_as_held("graphs", 0);
}

#[test]
fn streams_and_events_keep_their_order() {
    runs_as_held("streams", 0);
}

#[test]
fn textures_and_surfaces_give_what_the_host_computes() {
    runs_as_held("textures", 0);
}

#[test]
fn transposes_read_and_write_pitched_memory() {
    runs_as_held("transpose", 0);
}

/// Returns a Python that has the packages, or says what is missing.
pub(crate) fn python(packages: &[&str]) -> Option<PathBuf> {
    let chosen = env::var_os("SIMT_PYTHON").map(PathBuf::from);
    let active = env::var_os("VIRTUAL_ENV").map(|root| Path::new(&root).join("bin/python"));
    let candidates = chosen.into_iter().chain(active).chain([PathBuf::from("python3")]);
    let imports = packages.iter().map(|package| format!("import {package}\n")).collect::<String>();
    for python in candidates {
        let asked = Command::new(&python).arg("-c").arg(&imports).output();
        if asked.is_ok_and(|output| output.status.success()) {
            return Some(python);
        }
    }
    notice(&format!(
        "found no Python with {}; SIMT_PYTHON names one; \
         pip install --no-deps -r programs/exec/requirements.txt, or cupy-cuda13x, or torch",
        packages.join(" and ")
    ));
    None
}

fn python_runs_as_held(name: &str, packages: &[&str]) {
    let Some(python) = python(packages) else { return };
    let script = Path::new(FOLDER).join(format!("{name}.py"));
    let mut command = exec(&[], &[python.clone().into(), script.into()]);
    // The packages of a virtual environment are those of its Python.
    let root = python.ancestors().nth(2).filter(|root| root.join("pyvenv.cfg").is_file());
    if let Some(root) = root {
        command.env("VIRTUAL_ENV", root);
    }
    let output = output(&mut command);
    compare(&format!("{name}_py"), &output);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn numba_reduces() {
    python_runs_as_held("reduce", &["numba", "numba_cuda"]);
}

#[test]
fn numba_multiplies_matrices_through_shared_memory() {
    python_runs_as_held("matmul", &["numba", "numba_cuda"]);
}

#[test]
fn numba_shuffles_votes_and_adds_atomically() {
    python_runs_as_held("warps", &["numba", "numba_cuda"]);
}

#[test]
fn triton_computes_a_softmax_without_torch() {
    python_runs_as_held("softmax", &["triton", "numpy"]);
}

#[test]
fn triton_multiplies_matrices_by_warpgroups() {
    python_runs_as_held("dot", &["triton", "numpy"]);
}

#[test]
fn triton_copies_tiles_by_descriptors() {
    python_runs_as_held("tiles", &["triton", "numpy"]);
}

#[test]
fn cupy_adds_by_its_own_kernels_and_others() {
    python_runs_as_held("cupy_sums", &["cupy"]);
}

#[test]
fn pytorch_fits_a_line_with_a_kernel_by_triton() {
    python_runs_as_held("torch_fit", &["torch", "triton"]);
}

#[test]
fn rust_runs_by_cudarc() {
    let target = folder("saxpy");
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--locked", "--manifest-path", "programs/exec/saxpy/Cargo.toml"])
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .expect("cargo starts");
    if !built.status.success() {
        notice(&format!("cargo could not build programs/exec/saxpy\n{}", text(&built.stderr)));
        return;
    }
    let output = output(&mut exec(&[], &[target.join("debug/saxpy").into()]));
    compare("saxpy_rs", &output);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
