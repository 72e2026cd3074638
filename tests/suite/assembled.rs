//! The truth programs as machine code: what NVIDIA's assembler makes of every form of instruction
//! leaves what an H200 left.
//!
//! ```sh
//! cargo test --release --test suite -- --ignored assembled
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use simt_core::Program;
use simt_gpu::Observation;
use simt_toolkit::{Tool, call, listing};

use crate::observations::{FOLDER, TRUTH, left};
use crate::support;

/// Returns the cubin that the assembler makes of PTX for an architecture.
fn assembled(ptx: &str, arch: u32) -> Result<Vec<u8>, String> {
    let ptxas = Tool::Nvcc.find().ok_or("CUDA's compiler is missing")?.with_file_name("ptxas");
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let [source, cubin] = ["program.ptx", "program.cubin"].map(|name| folder.path().join(name));
    fs::write(&source, ptx).map_err(|e| e.to_string())?;
    let arch = format!("-arch=sm_{arch}");
    let words = [arch.into(), "-o".into(), cubin.clone().into(), source.into()];
    call(&ptxas, &words as &[OsString], folder.path()).map_err(|e| e.to_string())?;
    fs::read(cubin).map_err(|e| e.to_string())
}

/// Returns a cubin as `.sass` text, with the directives of the PTX `text`.
fn listed(text: &str, image: &[u8]) -> Result<String, String> {
    let facts = simt_cubin::facts(image).map_err(|e| e.to_string())?;
    let listing = listing(image, facts.arch, None).map_err(|e| e.to_string())?;
    simt_cubin::join(&by_place(text), facts, &listing).map_err(|e| e.to_string())
}

/// Returns PTX as `.sass` text for sm_90, with the directives of `text`.
pub(crate) fn machine_code(text: &str, ptx: &str) -> Result<String, String> {
    listed(text, &assembled(ptx, 90)?)
}

/// Returns the text with arguments by their places, as machine code does not know their names, and
/// bytes of an argument in words, as it does not know its elements.
fn by_place(text: &str) -> String {
    let program = Program::parse("program.ptx", text);
    let params = program.kernels.first().map(|kernel| kernel.params.as_slice());
    let named: BTreeMap<&str, (usize, bool)> = params
        .unwrap_or_default()
        .iter()
        .enumerate()
        .map(|(place, p)| (p.name.as_str(), (place, p.ty.bits() == 8)))
        .collect();
    let line = |line: &str| {
        let argument = line.strip_prefix("//! arg ").and_then(|rest| rest.split_once(" = "));
        match argument.and_then(|(name, value)| Some((named.get(name)?, value))) {
            Some(((place, true), value)) => format!("//! arg {place} = {}\n", in_words(value)),
            Some(((place, false), value)) => format!("//! arg {place} = {value}\n"),
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// Returns a list of bytes as one of 64-bit words.
fn in_words(list: &str) -> String {
    let bytes = list.trim_matches(['[', ']']).split(", ").filter_map(|byte| byte.parse().ok());
    let bytes: Vec<u8> = bytes.collect();
    let word = |word: &[u8]| word.iter().rev().fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
    format!("{:?}", bytes.chunks(8).map(word).collect::<Vec<_>>())
}

/// Returns how many truth programs the assembler takes for an architecture, all of which leave what
/// an H200 left on `machine`.
fn equal(arch: u32, machine: &str) -> usize {
    let one = |path: &std::path::PathBuf| -> Result<bool, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
        let file = Path::new(FOLDER).join(format!("{name}.ron"));
        let observation = fs::read_to_string(file).map_err(|e| e.to_string())?;
        let observation = Observation::parse(&observation).map_err(|e| e.to_string())?;
        let ptx = text.replacen(".target sm_90", &format!(".target sm_{arch}"), 1);
        let image = match assembled(&ptx, arch) {
            Ok(image) => image,
            // Some of its instructions need a younger one.
            Err(_) if arch < 90 => return Ok(false),
            Err(why) => return Err(format!("{name}: {why}")),
        };
        let code = listed(&text, &image).map_err(|e| format!("{name}: {e}"))?;
        let program = Program::parse("program.sass", &code);
        if !program.is_sound() {
            return Err(format!("{name}: {}", support::rendered(&program, &program.findings)));
        }
        left(&program, &text, machine, &observation).map_err(|e| format!("{name}: {e}"))?;
        Ok(true)
    };
    let results: Vec<_> = support::files(TRUTH, &["ptx"]).par_iter().map(one).collect();
    let wrong: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    results.into_iter().filter(|result| *result == Ok(true)).count()
}

#[test]
#[ignore = "needs CUDA's compiler"]
fn truth_programs_as_machine_code_leave_what_the_gpu_left() {
    let programs = support::files(TRUTH, &["ptx"]).len();
    assert_eq!(equal(90, "h200"), programs);
}

#[test]
#[ignore = "needs CUDA's compiler"]
fn code_for_older_architectures_leaves_what_the_gpu_left() {
    let counts = [(75, "turing"), (80, "ampere"), (86, "ampere"), (89, "ada")];
    assert_eq!(counts.map(|(arch, machine)| equal(arch, machine)), [24, 24, 25, 25]);
}
