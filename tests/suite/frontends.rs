//! One kernel by six front ends (`programs/frontends`): its results, its counts in both modes, and
//! the PTX as a product of `build.sh`. A test whose compiler is missing says so and passes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use simt_core::checks::Checks;
use simt_core::launch::Overrides;
use simt_core::machine::Finish;
use simt_core::spec::{Lowering, Mode};
use simt_core::{Job, Program, oracle};
use simt_report::simulate::{CheckedSimulation, simulate_checked};
use simt_toolkit::Tool;

use super::exec::{notice, python};
use super::support::{MODES, launch, machine, options, rendered};

const FOLDER: &str = "programs/frontends";
const PAGE: &str = "docs/frontends.md";
/// Front ends in the order of the page's table.
const FRONT_ENDS: [&str; 6] = ["nvcc", "nvrtc", "clang", "rustc", "numba", "triton"];
const MAX_CYCLES: u64 = 10_000_000;
/// Blocks of a run: 2^14 elements, 256 threads.
const BLOCKS: u64 = 64;

fn ptx(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name).join("sum.ptx")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn program(name: &str) -> Program {
    let path = ptx(name);
    Program::parse(&path.display().to_string(), &read(&path))
}

/// Runs a program in a mode on the mode's default machine, as written, with all checks.
fn run(program: &Program, mode: Mode) -> CheckedSimulation {
    let (kernel, launch) = launch(program, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    let spec = machine(mode.default_machine()).lowered(Lowering::AsWritten);
    let options = options(mode, spec.side_order(), MAX_CYCLES);
    let job = Job::new(program, kernel, launch, &spec, options);
    simulate_checked(job, &(), Checks::ALL).expect("the block fits")
}

fn metric(run: &CheckedSimulation, name: &str) -> f64 {
    run.simulation.run.metric(name).unwrap_or_else(|| panic!("no metric `{name}`")).as_f64()
}

/// A count with commas.
fn grouped(value: f64) -> String {
    let digits = format!("{value}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Row of the page's table.
fn row(name: &str, run: &CheckedSimulation) -> String {
    format!(
        "| {name} | {} | {} | {} | {:.2} % | {} |",
        metric(run, "inst_per_warp"),
        grouped(metric(run, "conditional_branches")),
        grouped(metric(run, "divergent_branch")),
        metric(run, "warp_execution_efficiency"),
        grouped(metric(run, "shared_load_transactions")),
    )
}

#[test]
fn every_front_end_sums_right_in_both_modes_with_the_counts_of_the_page() {
    let mut rows = Vec::new();
    for name in FRONT_ENDS {
        let program = program(name);
        assert!(program.findings.is_empty(), "{}", rendered(&program, &program.findings));
        let (kernel, launch) = launch(&program, &Overrides::default()).expect("a launch");
        let expected = oracle::run(kernel, &launch, MAX_CYCLES).expect("the oracle runs");
        for mode in MODES {
            let at = format!("{name}, {}", mode.name());
            let run = run(&program, mode);
            let done = &run.simulation;
            assert!(matches!(done.finish, Finish::Ok), "{at}: {:?}", done.finish);
            let held: Vec<_> = done.run.expectations.iter().filter(|e| e.passed).collect();
            assert_eq!((held.len(), done.run.expectations.len()), (2, 2), "{at}");
            for (buffer, wanted) in done.launch.buffers.iter().zip(&expected.buffers) {
                let found: Vec<_> = (0..wanted.len()).map(|i| buffer.words.get(i)).collect();
                let wanted: Vec<_> = (0..wanted.len()).map(|i| wanted.get(i)).collect();
                assert_eq!(found, wanted, "{at}: {} and the oracle's", buffer.name);
            }
            // Steps 1 to 16 divide each of eight warps; steps 32, 64 and 128 divide 4, 2 and 1;
            // thread 0 alone writes. A tile of Triton has no branch.
            let a_block = if name == "triton" { 0 } else { 5 * 8 + 4 + 2 + 1 + 1 };
            assert_eq!(metric(&run, "divergent_branch"), (a_block * BLOCKS) as f64, "{at}");
            let codes: Vec<_> = run.findings.iter().map(|f| f.code).collect();
            // All lanes of a warp write its sum to the same word.
            let known: &[&str] = if name == "triton" { &["race-same-value"] } else { &[] };
            assert_eq!(codes, known, "{at}: {}", rendered(&program, &run.findings));
            rows.push(row(name, &run));
        }
    }
    let (stack, independent): (Vec<_>, Vec<_>) =
        rows.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).unzip();
    assert_eq!(stack, independent, "the counts of both modes");
    let table = stack.join("\n");
    let page = read(Path::new(PAGE));
    assert!(page.contains(&table), "{PAGE} has another table; these are the rows:\n{table}");
}

/// Returns a command, unless its program is missing or does not print `word`.
fn answers(command: &str, arguments: &[&str], word: &str) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    String::from_utf8_lossy(&output.stdout).contains(word).then(|| command.to_string())
}

/// Variable of `build.sh` and the tool it names for a front end; none, said so, if it is missing.
fn tool(name: &str) -> Option<(&'static str, String)> {
    let shown = |path: PathBuf| path.display().to_string();
    let found = match name {
        "nvcc" => Tool::Nvcc.find().map(|path| ("NVCC", shown(path))),
        "clang" => ["clang-14", "clang"]
            .into_iter()
            .find_map(|clang| answers(clang, &["--print-targets"], "nvptx64"))
            .map(|clang| ("CLANG", clang)),
        "rustc" => {
            let toolchain = std::env::var("RUST_NIGHTLY").unwrap_or("nightly".to_string());
            let chosen = format!("+{toolchain}");
            let installed = Command::new("rustc").args([&chosen, "--print", "sysroot"]).output();
            let root = installed.ok().filter(|output| output.status.success());
            let root = root.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string());
            root.filter(|root| Path::new(root).join("lib/rustlib/src/rust/library/core").is_dir())
                .map(|_| ("RUST_NIGHTLY", toolchain))
        }
        "nvrtc" => python(&["cuda.bindings.nvrtc"]).map(|path| ("PYTHON", shown(path))),
        "numba" => python(&["numba", "numba_cuda"]).map(|path| ("PYTHON", shown(path))),
        _ => python(&["triton"]).map(|path| ("PYTHON", shown(path))),
    };
    if found.is_none() {
        notice(&format!("{name}: its compiler is not installed; {PAGE} says how"));
    }
    found
}

/// The line of a file that names the compiler's version.
fn version(text: &str) -> &str {
    text.lines().nth(1).expect("a second line")
}

/// Rebuilds a file and compares it with the committed one, byte by byte.
fn rebuilds(name: &str) {
    let Some((variable, tool)) = tool(name) else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("frontends");
    let output = Command::new(Path::new(FOLDER).join("build.sh"))
        .arg("-o")
        .args([folder.as_os_str(), name.as_ref()])
        .env(variable, tool)
        .output()
        .expect("the script starts");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let (built, held) = (read(&folder.join(format!("{name}.ptx"))), read(&ptx(name)));
    if version(&built) == version(&held) {
        assert_eq!(built, held, "{name}: {FOLDER}/build.sh {name} writes it anew");
    } else {
        let (ours, theirs) = (version(&built), version(&held));
        notice(&format!("{name}: this is {ours}; the file was made by {theirs}"));
    }
}

#[test]
fn nvcc_rebuilds_its_ptx() {
    rebuilds("nvcc");
}

#[test]
fn nvrtc_rebuilds_its_ptx() {
    rebuilds("nvrtc");
}

#[test]
fn clang_rebuilds_its_ptx() {
    rebuilds("clang");
}

#[test]
fn rustc_rebuilds_its_ptx() {
    rebuilds("rustc");
}

#[test]
fn numba_rebuilds_its_ptx() {
    rebuilds("numba");
}

#[test]
fn triton_rebuilds_its_ptx() {
    rebuilds("triton");
}
