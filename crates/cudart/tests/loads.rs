//! Loads the built library as programs of CUDA 11, 12 and 13 do, above a driver that only records;
//! and before programs that have a runtime of their own.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use simt_cudart::{image, linked, names, props::Version};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// The shared library that cargo built beside this test.
fn library() -> Vec<u8> {
    let mut folder = env::current_exe().expect("path of the test");
    folder.pop();
    let names = ["libsimt_cudart.so", "../libsimt_cudart.so"];
    let path = names.iter().map(|name| folder.join(name)).find(|path| path.exists());
    fs::read(path.expect("cargo builds the shared library first")).expect("the shared library")
}

/// Compiles a C file below `tests/`; false if the computer has no C compiler.
fn compile(source: &str, to: &Path, options: &[&str]) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let mut cc = Command::new("cc");
    cc.arg("-w").arg("-o").arg(to).arg(source).args(options);
    match cc.output() {
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{words}");
            true
        }
        Err(error) => {
            eprintln!("skipped: found no C compiler `cc` ({error})");
            false
        }
    }
}

/// Returns the output of the program with one version of the library.
fn expected(version: &str) -> String {
    let (properties, attributes, pointer, number) = match version {
        "libcudart.so.11.0" => (728, 56, 24, 11_080),
        // The old name keeps the old layout in CUDA 12.
        "libcudart.so.12" => (728, 144, 24, 12_080),
        _ => (1008, 144, 88, 13_000),
    };
    // Errors of a wrong launch shape, of a kernel that is none, and of rows beyond their pitch.
    let [shape, unknown, wide] = if number < 13_000 { [9, 98, 12] } else { [1, 400, 1] };
    format!(
        "pop 0, then 52
retain
load wrapper
launch 99: 4 2 1, 64 1 1, 16 bytes, stream 0, argument 42
launch 0
managed 1
launch 99: 4 2 1, 64 1 1, 0 bytes, stream 2, argument 42
own stream 0
large {shape} empty {shape} unknown {unknown} absent 98
other thread: 0
peek 98 last 98 last 0
query 600 last 0
to the device: 16
symbol 0 beyond 1 wild 13 direction 21
to the host: 8
back 0 3 4
null 1 zero 0 1
3D: from type 1 at 4,1,0 pitch 64 to type 2 pitch 32 height 2, 16 x 2 x 2
box 0
wide {wide}
set at 1000 pitch 64 to 7: 16 x 2
set at 1128 pitch 64 to 7: 16 x 2
slices 0
properties 0: fake 75.76, {properties} bytes
second layout: clock 13, 1032 bytes
attributes 0: 101 100 104, {attributes} bytes
pointer 0: type 0, {pointer} bytes
version {number}
part of kind 2: 24 bytes, first
part of kind 2: 24 bytes, second
load linked
launch 99: 4 2 1, 64 1 1, 0 bytes, stream 0, argument 42
linked 0
missing 801 801
launch 98: 4 2 1, 64 1 1, 0 bytes, stream 0, argument 42
fault 700 last 700 0
reset
reset 0 last 0 malloc retain
0
cudaErrorInvalidConfiguration: invalid configuration argument
"
    )
}

#[test]
fn a_program_of_each_version_finds_its_symbols_and_layouts() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cudart");
    fs::create_dir_all(&folder).expect("a temporary folder");
    let program = folder.join("program");
    let driver = folder.join("libcuda.so.1");
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"];
    if !compile("driver.c", &driver, &shared)
        || !compile("program.c", &program, &["-ldl", "-lpthread"])
    {
        return;
    }
    for version in ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"] {
        let mut bytes = library();
        image::name(&mut bytes, version).expect("a library with room for its name");
        fs::write(folder.join(version), bytes).expect("a temporary file");
        let mut child = Command::new(&program)
            .arg(version)
            .env("LD_LIBRARY_PATH", &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("standard input");
        stdin.write_all(names::ENTRY_POINTS.as_bytes()).expect("the program reads");
        drop(stdin);
        let output = child.wait_with_output().expect("the program ends");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected(version), "{version}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "simt-sim: cudaMallocMipmappedArray returns cudaErrorNotSupported: mipmapped arrays \
             are not simulated\n"
        );
    }
}

/// Compiles `brings.c` with a runtime of a major version of CUDA.
fn bring(cuda: u32, to: &Path, options: &[&str]) -> bool {
    let cuda = format!("-DCUDA={cuda}");
    compile("brings.c", to, &[&[cuda.as_str(), "-O1", "-ldl"], options].concat())
}

/// A folder with the driver that records and the library that redirects; `None` without a compiler.
fn redirecting(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a temporary folder");
    let driver = folder.join("libcuda.so.1");
    if !compile("driver.c", &driver, &["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"]) {
        return None;
    }
    let mut bytes = library();
    image::name(&mut bytes, image::REDIRECTING).expect("a library with room for its name");
    fs::write(folder.join(image::REDIRECTING), bytes).expect("a temporary file");
    Some(folder)
}

/// Runs a program with the library that redirects loaded first. Returns both outputs.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> [String; 2] {
    let output = Command::new(folder.join(program))
        .args(arguments)
        .current_dir(folder)
        .env("LD_LIBRARY_PATH", folder)
        .env("LD_PRELOAD", folder.join(image::REDIRECTING))
        .output()
        .expect("the program starts");
    [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn calls_of_a_runtime_in_a_program_are_redirected() {
    let Some(folder) = redirecting("redirect") else { return };
    let answers = |who: &str, number: u32| {
        format!(
            "{who}: malloc 0, version 0 {number}, devices 0 1, last 0, out of memory, user 999\n"
        )
    };
    let library = ["-DLIBRARY", "-shared", "-fPIC"];
    for (cuda, number) in [(11, 11_080), (12, 12_080), (13, 13_000)] {
        let (program, plugin) = (format!("program{cuda}"), format!("./plugin{cuda}.so"));
        bring(cuda, &folder.join(&program), &[]);
        bring(cuda, &folder.join(&plugin), &library);
        // A library comes before its constructor runs, again after it was closed.
        let [out, errors] = run(&folder, &program, &[&plugin, &plugin]);
        let of_library = format!("registered 1\n{}found 5, closed 0\n", answers("library", number));
        let of_program = answers("program", number);
        assert_eq!(out, format!("retain\n{of_program}{of_library}{of_library}"), "{errors}");
        assert_eq!(errors, "", "{cuda}");
    }
    // Libraries that a program needs are loaded with it; it has no runtime.
    bring(13, &folder.join("libneeded.so"), &library);
    let needs = ["-xc", "-", "-L", ".", "-lneeded"];
    let mut cc = Command::new("cc");
    let cc = cc.args(["-o", "needs"]).args(needs).current_dir(&folder).stdin(Stdio::piped());
    let mut child = cc.spawn().expect("the compiler");
    let source = b"int work(void); int main(void) { return work() - 5; }";
    child.stdin.take().expect("standard input").write_all(source).expect("the compiler reads");
    assert!(child.wait().expect("the compiler").success());
    let [out, errors] = run(&folder, "needs", &[]);
    assert_eq!(out, format!("registered 1\nretain\n{}", answers("library", 13_000)), "{errors}");
    // One process serves one version.
    let [out, errors] = run(&folder, "program12", &["./plugin13.so"]);
    assert!(out.contains("library: malloc 999"), "{out}");
    assert!(errors.contains("`./plugin13.so` has another version of CUDA's runtime"), "{errors}");
    // A file without symbols keeps its runtime.
    bring(13, &folder.join("stripped"), &["-s"]);
    let [out, errors] = run(&folder, "stripped", &[]);
    assert!(out.starts_with("program: malloc 999") && errors.is_empty(), "{out}{errors}");
}

#[test]
fn a_runtime_in_a_file_is_found_by_its_symbols() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("linked");
    fs::create_dir_all(&folder).expect("a temporary folder");
    let own = folder.join("own.so");
    fs::write(&own, library()).expect("a temporary file");
    let own = linked::runtime(&own).expect("this library is one");
    assert!(own.is_ours && own.entries.len() > 400);
    let program = folder.join("program");
    for (cuda, version) in [(11, Version::V11), (12, Version::V12), (13, Version::V13)] {
        if !bring(cuda, &program, &[]) {
            return;
        }
        let found = linked::runtime(&program).expect("a runtime");
        assert!(!found.is_ours && found.version == version);
        let malloc = found.entries.iter().find(|entry| entry.name == "cudaMalloc");
        assert!(malloc.is_some_and(|entry| entry.address % 16 == 0 && entry.room >= 16));
    }
    bring(13, &program, &["-s"]);
    assert_eq!(linked::runtime(&program), None, "stripped");
    assert_eq!(linked::runtime(Path::new("/")), None);
    fs::write(&program, b"\x7fELF\x02\x01\x01 and no more").expect("a temporary file");
    assert_eq!(linked::runtime(&program), None);
    let bytes = library();
    for cut in (0..bytes.len()).step_by(bytes.len() / 50) {
        fs::write(&program, &bytes[..cut]).expect("a temporary file");
        linked::runtime(&program);
    }
}
