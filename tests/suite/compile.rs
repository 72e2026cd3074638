//! CUDA C++ sources: lines, names and findings are those of the source. Most tests use the PTX in
//! `programs/cuda`, so they need no compiler.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use simt_core::checks::Checks;
use simt_core::launch::Overrides;
use simt_core::spec::Mode;
use simt_core::{Job, NoKernel, Program};
use simt_report::simulate::{simulate, simulate_checked};

use super::support::{launch, machine, options};

const NVCC: &str = "nvcc -arch=compute_75";

/// Returns the name, the source and the PTX of each program in `programs/cuda`.
fn pairs() -> Vec<(String, String, String)> {
    let entries = fs::read_dir("programs/cuda").expect("the folder").flatten();
    let mut sources: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    sources.sort();
    let read = |path: &Path| fs::read_to_string(path).expect("a text");
    let pair = |path: PathBuf| {
        (path.display().to_string(), read(&path), read(&path.with_extension("ptx")))
    };
    sources.into_iter().map(pair).collect()
}

#[test]
fn instructions_have_the_lines_of_their_source() {
    let mut known = 0;
    for (name, source, ptx) in pairs() {
        let (made, plain) =
            (Program::of_cuda(&name, &source, &ptx, NVCC), Program::parse("k", &ptx));
        assert!(made.is_sound(), "{name}: {:?}", made.findings);
        let locations = plain.locations();
        for (kernel, written) in made.kernels.iter().zip(&plain.kernels) {
            for (inst, before) in kernel.insts.iter().zip(&written.insts) {
                assert_eq!(inst.op, before.op, "{name}");
                let line = source.lines().nth(inst.line as usize - 1).expect("a line");
                let span = &source[inst.span.start as usize..inst.span.end as usize];
                assert_eq!(line.trim(), span, "{name}: line {}", inst.line);
                let text = &ptx[before.span.start as usize..before.span.end as usize];
                assert_eq!(made.instruction(inst), text, "{name}");
                if let Some(at) = locations.at(before.span.end - 1) {
                    known += usize::from(name.ends_with(at.file) && inst.line == at.line);
                }
            }
        }
    }
    assert!(known > 2_000, "{known} instructions with a line of their own");
}

#[test]
fn a_source_runs_as_its_ptx() {
    let (name, source, ptx) =
        pairs().into_iter().find(|(name, ..)| name.ends_with("shared_doubling.cu")).expect("it");
    let small = Overrides { set: vec![("n".into(), "4096".into())], ..Overrides::default() };
    let spec = machine(Mode::Volta.default_machine());
    let run = |program: &Program| {
        let (kernel, launch) = launch(program, &small).unwrap_or_else(|e| panic!("{e}"));
        let options = options(Mode::Volta, spec.side_order(), 1 << 30);
        simulate(Job::new(program, kernel, launch, &spec, options), &()).expect("it fits").run
    };
    let made = run(&Program::of_cuda(&name, &source, &ptx, NVCC));
    let plain = run(&Program::parse("k.ptx", &ptx));
    assert!(made.passed() && plain.passed());
    assert_eq!((made.cycles, &made.metrics), (plain.cycles, &plain.metrics));
    let branch = made.branches.first().expect("a branch");
    let line = source.lines().nth(branch.line as usize - 1).expect("a line");
    assert!(line.trim().starts_with("for ("), "{line}");
    assert!(branch.text.starts_with("ptx:") && branch.text.contains("bra"), "{}", branch.text);
    assert!(made.notes.iter().any(|note| note == "Compiled by nvcc -arch=compute_75."));
}

/// Source of a race in an unrolled loop, and PTX as nvcc makes it: two copies of line 4.
const RACE: [&str; 2] = [
    "//! grid = 1\n//! block = 64\n__global__ void f() { __shared__ int s[64];\n  \
     for (int i = 0; i < 2; i++) s[0] += threadIdx.x;\n}\n",
    ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry _Z1fv()\n{\n.reg .b32 %r<6>;\n\
     .shared .align 4 .b8 _ZZ1fvE1s[256];\n.loc 1 4 3\nmov.u32 %r1, %tid.x;\n\
     ld.shared.u32 %r2, [_ZZ1fvE1s];\nadd.u32 %r3, %r2, %r1;\nst.shared.u32 [_ZZ1fvE1s], %r3;\n\
     ld.shared.u32 %r4, [_ZZ1fvE1s];\nadd.u32 %r5, %r4, %r1;\nst.shared.u32 [_ZZ1fvE1s], %r5;\n\
     .loc 1 5 1\nret;\n}\n.file 1 \"f.cu\"\n",
];

#[test]
fn copies_of_an_unrolled_line_are_one_finding() {
    let spec = machine(Mode::Volta.default_machine());
    let findings = |program: &Program| {
        let (kernel, launch) =
            launch(program, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
        let options = options(Mode::Volta, spec.side_order(), 1 << 30);
        let job = Job::new(program, kernel, launch, &spec, options);
        simulate_checked(job, &(), Checks::ALL).expect("it fits").findings
    };
    let made = Program::of_cuda("f.cu", RACE[0], RACE[1], NVCC);
    let races: Vec<_> =
        findings(&made).into_iter().filter(|found| found.code == "race-shared").collect();
    assert_eq!(races.len(), 1, "{races:?}");
    assert!(races[0].message.starts_with("data race on `s`"), "{}", races[0].message);
    let label = races[0].labels[0].span;
    let text = &RACE[0][label.start as usize..label.end as usize];
    assert_eq!(text, "for (int i = 0; i < 2; i++) s[0] += threadIdx.x;");
    let plain = format!("//! grid = 1\n//! block = 64\n{}", RACE[1]);
    assert!(findings(&Program::parse("f.ptx", &plain)).len() > 1, "the copies differ in PTX");
}

#[test]
fn kernels_answer_to_the_names_of_their_source() {
    let entry = |symbol: &str| format!(".entry {symbol}() {{ ret; }}\n");
    let ptx = ["_Z3sumILi64EEvv", "_Z3sumILi128EEvv", "_Z4scanv", "plain"].map(entry).concat();
    let program = Program::parse("k.ptx", &format!("//! kernel sum< 64 >\n{ptx}"));
    assert!(program.is_sound(), "{:?}", program.findings);
    let name = |wanted: Option<&str>| program.kernel(wanted).map(|kernel| kernel.name.as_str());
    assert_eq!(name(None), Ok("sum<64>"));
    assert_eq!(name(Some("sum<128>")), Ok("sum<128>"));
    assert_eq!(name(Some("_Z3sumILi128EEvv")), Ok("sum<128>"));
    assert_eq!(name(Some("scan")), Ok("scan"));
    assert!(matches!(name(Some("sum")), Err(NoKernel::Several { .. })));
    assert!(matches!(name(Some("su")), Err(NoKernel::Unknown { .. })));
    let overloads = Program::parse("k.ptx", &["_Z1fPi", "_Z1fPf"].map(entry).concat());
    let names: Vec<_> = overloads.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["f(int*)", "f(float*)"]);
}

#[test]
fn a_source_without_a_kernel_is_told_to_declare_one_in_cuda() {
    let program = Program::of_cuda("k.cu", "int main() {}\n", ".version 7.5\n", NVCC);
    let why = program.kernel(None).expect_err("no kernel").to_string();
    assert!(why.ends_with("declare one with `__global__ void name( .. ) { .. }`"), "{why}");
}

#[test]
fn an_error_of_compiled_code_points_at_the_source() {
    let ptx = RACE[1].replace("add.u32 %r3, %r2, %r1;", "barrier.cluster.arrive;");
    let program = Program::of_cuda("f.cu", RACE[0], &ptx, NVCC);
    let error = program.findings.first().expect("an error");
    let span = error.labels[0].span;
    assert!(RACE[0][span.start as usize..span.end as usize].starts_with("for ("), "{error:?}");
    let words = "compiled to `barrier.cluster.arrive;` (ptx:11)";
    assert!(error.labels[0].text.ends_with(words), "{error:?}");
    // Documentation comments after the first line of code are no directives.
    let documented = format!("{}//! Adds numbers.\nint g();\n", RACE[0]);
    assert!(Program::of_cuda("f.cu", &documented, RACE[1], NVCC).is_sound());
}

/// Runs the binary with a folder as `CUDA_HOME` and nothing else that could hold a compiler.
fn with_cuda_home(home: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let ended = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .args(arguments)
        .env("COLUMNS", "100")
        .env("PATH", "/bin:/usr/bin")
        .env("CUDA_HOME", home)
        .env_remove("VIRTUAL_ENV")
        .env_remove("CONDA_PREFIX")
        .output()
        .expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (ended.status.code(), text(ended.stdout), text(ended.stderr))
}

#[test]
fn commands_compile_a_source_with_nvcc() {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("compile");
    fs::create_dir_all(home.join("bin")).expect("a folder");
    let ptx = Path::new("programs/cuda/shared_doubling.ptx").canonicalize().expect("a path");
    // Stands in for nvcc: checks the options and writes the PTX to the file after `-o`.
    let script = format!(
        "#!/bin/sh\n[ \"$1 $2 $3 $4 $5\" = '-ptx -lineinfo -arch compute_80 -o' ] || exit 1\n\
         cp '{}' \"$6\"\n",
        ptx.display()
    );
    let nvcc = home.join("bin/nvcc");
    fs::write(&nvcc, script).expect("a script");
    fs::set_permissions(&nvcc, fs::Permissions::from_mode(0o755)).expect("an executable");
    let source = "programs/cuda/shared_doubling.cu";
    let options = [source, "--arch", "sm_80", "--set", "n=4096"];
    let (code, out, err) = with_cuda_home(&home, &[&["run"], &options[..]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("note: Compiled by nvcc -arch=compute_80."), "{out}");
    let (code, out, err) = with_cuda_home(&home, &[&["timeline"], &options[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(" ptx:"), "{out}");
    // A CUDA line is several instructions: the stepper names the last and the next.
    let step = ["step", "--size", "100x30", "--script", "n"];
    let (code, out, err) = with_cuda_home(&home, &[&step, &options[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("source: shared_doubling.cu, next: ptx:"), "{out}");
    assert!(out.contains(", `ptx:"), "{out}");
    let (code, out, _) = with_cuda_home(&home, &["run", source]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "nvcc's failure is an error");
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn without_a_compiler_the_error_names_the_package() {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no-compiler");
    let (code, out, err) = with_cuda_home(&home, &["run", "programs/cuda/square_wave.cu"]);
    if code == Some(0) {
        eprintln!("skipped: this system has a compiler outside of any package");
        return;
    }
    assert_eq!((code, out.as_str()), (Some(2), ""));
    let words = ["cannot find nvcc and NVRTC", "pip install nvidia-cuda-nvcc", "nvidia-cuda-nvrtc"];
    words.iter().for_each(|word| assert!(err.contains(word), "{err}"));
}
