//! Recorded results of programs on a GPU, compared with the simulator: every buffer bit by bit. Of
//! machine code the GPU ran the cubin of the listing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use simt_core::Job;
use simt_core::Program;
use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::spec::Mode;
use simt_gpu::crosscheck::Subject;
use simt_gpu::{DeviceFinish, GeneratedRecord, GeneratedSummary, Observation, Tolerance};
use simt_report::simulate::simulate;
use simt_report::validation::Known;

use super::support::{self, launch, machine, options};

/// Records of the bundled programs.
const BUNDLED: &str = "crates/gpu/observations/h200";
/// Programs of the core's tests (`truth`).
pub(super) const TRUTH: &str = "tests/truth";
/// Listings of machine code.
const LISTINGS: [&str; 2] = ["programs/sass", "tests/sass"];
/// Records of programs that only tests run.
pub(super) const FOLDER: &str = "tests/observations/h200";

/// Returns the programs whose result PTX leaves open, or that the simulator stops where a GPU
/// continues, with the reason.
fn known() -> Known {
    let text = fs::read_to_string(Path::new(BUNDLED).join("known.ron")).expect("the file");
    Known::parse(&text).unwrap_or_else(|e| panic!("known.ron: {e}"))
}

/// Returns program files by the name of their observation; for a `.cu`, nvcc's `.ptx`.
fn programs() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let ptx = ["programs", "programs/small", "programs/calibrate", "programs/cuda", TRUTH];
    for folder in ptx.iter().chain(&LISTINGS) {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
            if let Some(name) = path.file_name().and_then(|n| n.to_str())
                && [".ir", ".ptx", ".sass"].iter().any(|extension| name.ends_with(extension))
            {
                if name.ends_with(".ptx") && path.with_extension("cu").exists() {
                    found.insert(name.replace(".ptx", ".cu"), path.clone());
                }
                found.insert(name.to_string(), path);
            }
        }
    }
    found
}

/// Describes the difference between an observation and a run, if any. `cuda`: the observation is of
/// the `.cu` next to it.
fn difference(path: &Path, cuda: bool, observation: &Observation) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let program = Program::parse(&path.display().to_string(), &text);
    let source = if cuda {
        fs::read_to_string(path.with_extension("cu")).map_err(|e| e.to_string())?
    } else {
        text
    };
    left(&program, &source, "h200", observation)
}

/// Describes the difference between an observation of `source` and a run of the program on a
/// machine, if any.
pub(super) fn left(
    program: &Program,
    source: &str,
    on: &str,
    observation: &Observation,
) -> Result<(), String> {
    let known: Vec<&str> = program.plan.constants().collect();
    let constants = observation.constants.iter().filter(|(name, _)| known.contains(&name.as_str()));
    let set = constants.map(|(name, value)| (name.clone(), value.to_string())).collect();
    let (kernel, before) = launch(program, &Overrides { set, ..Overrides::default() })?;
    let options = options(Mode::Volta, SideOrder::Fewer, 100_000_000);
    let done = simulate(Job::new(program, kernel, before.clone(), &machine(on), options), &())
        .map_err(|e| e.to_string())?;
    let ends: &[&str] = match observation.finish {
        DeviceFinish::Ok => &["ok"],
        DeviceFinish::Timeout => &["deadlock", "livelock"],
        DeviceFinish::Fault(_) => &["fault"],
    };
    if !ends.contains(&done.finish.name()) {
        return Err(format!(
            "the GPU ended {:?}, the simulator {}",
            observation.finish,
            done.finish.name()
        ));
    }
    if observation.finish != DeviceFinish::Ok {
        return Ok(());
    }
    let held = observation
        .compare(source, &before, &done.launch, Tolerance::default())
        .map_err(|e| e.to_string())?;
    let differing: Vec<String> =
        held.buffers.iter().filter(|b| !b.agrees()).map(|b| format!("  {b:x?}")).collect();
    if differing.is_empty() { Ok(()) } else { Err(differing.join("\n")) }
}

#[test]
fn the_simulator_does_what_the_gpu_did() {
    let (programs, known) = (programs(), known());
    for open in &known.programs {
        assert!(programs.contains_key(&open.name), "known.ron: there is no program {}", open.name);
    }
    let (mut wrong, mut held) = (Vec::new(), 0);
    let mut files: Vec<PathBuf> = [BUNDLED, FOLDER]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("observations").flatten())
        .map(|e| e.path())
        .collect();
    files.sort();
    for file in files {
        let name = file.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_string();
        // The folder also holds other kinds of measurements.
        let Some(name) = name
            .strip_suffix(".ptx.ron")
            .map(|n| format!("{n}.ptx"))
            .or_else(|| name.strip_suffix(".ir.ron").map(|n| format!("{n}.ir")))
            .or_else(|| name.strip_suffix(".sass.ron").map(|n| format!("{n}.sass")))
            .or_else(|| name.strip_suffix(".cu.ron").map(|n| format!("{n}.cu")))
        // compiled by NVRTC
        else {
            continue;
        };
        let observation = Observation::parse(&fs::read_to_string(&file).expect("readable"));
        let observation = observation.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let Some(path) = programs.get(&name) else {
            wrong.push(format!("{}: there is no such program", file.display()));
            continue;
        };
        match (
            difference(path, name.ends_with(".cu"), &observation),
            known.program(&name).is_some(),
        ) {
            (Err(e), false) => wrong.push(format!("{}: {e}", path.display())),
            (_, true) => {}
            (Ok(()), false) => held += 1,
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(held > 150, "only {held} observations were held against");
}

#[test]
fn every_truth_program_was_recorded() {
    for path in support::files(TRUTH, &["ptx"]) {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        assert!(
            Path::new(FOLDER).join(format!("{name}.ron")).exists(),
            "{name}: record it with `simt-sim crosscheck --record`"
        );
    }
}

/// Only the counts of generated programs are bundled.
#[test]
fn the_bundled_summary_counts_the_generated_programs() {
    let summary = |name: &str| {
        let text =
            fs::read_to_string(Path::new(FOLDER).join(format!("{name}.ron"))).expect("a record");
        GeneratedSummary::new(name, &GeneratedRecord::parse(&text).expect("a record"))
    };
    let text = GeneratedSummary::to_text(&["random", "random_calls"].map(summary)).expect("text");
    let file = Path::new(BUNDLED).join("generated.ron");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &text).expect("the summary is written");
    }
    assert_eq!(fs::read_to_string(&file).expect("the summary"), text, "BLESS=1 writes it anew");
}

/// Runs `crosscheck` in a folder. Returns its exit code, its output and its errors.
fn crosscheck(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let binary = std::process::Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .arg("crosscheck")
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (binary.status.code(), text(&binary.stdout), text(&binary.stderr))
}

#[test]
fn machine_code_is_compared_with_what_its_cubin_did() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cubin");
    let _ = fs::remove_dir_all(&folder); // an earlier run's
    fs::create_dir_all(&folder).expect("a folder");
    fs::copy("programs/sass/reduce_grid.sass", folder.join("reduce_grid.sass")).expect("a copy");
    let (code, out, _) = crosscheck(&folder, &["reduce_grid.sass"]);
    assert!(code == Some(0) && out.starts_with("reduce_grid.sass: agree"), "{out}");
    let (code, _, errors) = crosscheck(&folder, &["--divergence", "reduce_grid.sass"]);
    assert!(code == Some(2) && errors.contains("is machine code"), "{errors}");
    fs::write(folder.join("reduce_grid.cubin"), "\x7fELF").expect("a file");
    let (code, _, errors) = crosscheck(&folder, &["reduce_grid.sass"]);
    let expected = "`reduce_grid.cubin` does not hold the code of `reduce_grid.sass`";
    assert!(code == Some(2) && errors.contains(expected), "{errors}");
}

#[test]
fn machine_code_of_a_source_has_the_record_of_its_listing() {
    let read = |path: &str| fs::read_to_string(path).expect(path);
    let source = read("programs/cuda/reduce_grid.cu");
    let code = read("programs/sass/reduce_grid.sass");
    let program = Program::of_cuda("reduce_grid.cu", &source, &code, "nvcc");
    let kernel = program.kernel(None).expect("a kernel");
    let (overrides, files) = (Overrides::default(), &|_: &str, _| Err(String::new()));
    let subject = Subject { program: &program, kernel, cubin: None, overrides, files };
    assert_eq!(subject.record_name(), "reduce_grid.sass.ron");
}

/// Everything that `crosscheck` compares with is compiled in.
#[test]
fn an_installed_binary_compares_anywhere() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("anywhere");
    fs::create_dir_all(&folder).expect("a folder");
    fs::copy("programs/small/diamond.ir", folder.join("diamond.ir")).expect("a copy");
    for (args, begins) in [
        (&["diamond.ir"][..], "diamond.ir: agree"),
        (&["--divergence", "diamond.ir"], "diamond.ir: equal"),
        (&["--suite", "--page"], "# "),
    ] {
        let (code, out, _) = crosscheck(&folder, args);
        assert!(code == Some(0) && out.starts_with(begins), "{args:?}: {out}");
    }
}
