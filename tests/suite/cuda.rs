//! nvcc's output for the CUDA sources in `programs/cuda`: it matches its source, runs by itself,
//! and behaves like the same kernels written by hand.

use std::fs;
use std::path::{Path, PathBuf};

use simt_core::divergence::SideOrder;
use simt_core::kernel::Op;
use simt_core::launch::Overrides;
use simt_core::spec::{Lowering, Mode};
use simt_core::{Job, Program};
use simt_report::Branch;
use simt_report::simulate::{Simulation, simulate};

use super::support::{MODES, launch, machine, options};

mod observed;
mod square_wave;

const FOLDER: &str = "programs/cuda";
/// Elements of a run: 32 blocks of 512.
const N: u64 = 1 << 14;
const BLOCKS: u64 = 32;

/// Returns the files of the folder with an extension.
fn files(extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(FOLDER).expect("the folder").flatten().map(|e| e.path());
    let mut found: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns a program and its run on [`N`] elements, on the mode's default machine, as written:
/// every branch of the text is a branch. (For machine code see `lowering.rs`.)
fn run(path: &Path, mode: Mode) -> (Program, Simulation) {
    let program = Program::parse(&path.display().to_string(), &read(path));
    let small = Overrides { set: vec![("n".to_string(), N.to_string())], ..Overrides::default() };
    let (kernel, launch) = launch(&program, &small).unwrap_or_else(|e| panic!("{e}"));
    let spec = machine(mode.default_machine()).lowered(Lowering::AsWritten);
    let options = options(mode, SideOrder::Fewer, 100_000_000);
    let done = simulate(Job::new(&program, kernel, launch, &spec, options.clone()), &())
        .expect("the block fits");
    (program, done)
}

#[test]
fn each_source_has_its_ptx_with_the_same_directives() {
    let directives = |text: &str| -> Vec<String> {
        text.lines().filter(|l| l.starts_with("//!")).map(str::to_string).collect()
    };
    let stems =
        |extension| files(extension).iter().map(|p| p.with_extension("")).collect::<Vec<_>>();
    assert_eq!(stems("cu"), stems("ptx"));
    for source in files("cu") {
        let (source_text, ptx) = (read(&source), read(&source.with_extension("ptx")));
        let said = directives(&source_text);
        assert!(said.len() > 6, "{}: {said:?}", source.display());
        assert_eq!(said, directives(&ptx), "{}: run programs/cuda/build.sh", source.display());
        for line in ptx.lines().filter(|l| l.trim_start().starts_with(".file")) {
            assert!(!line.contains('/'), "{}: a path of one machine: {line}", source.display());
        }
    }
}

/// Splits the branches of a run into those that only jump to the kernel's end, and the others.
fn returns_and_others<'r>(
    program: &Program,
    done: &'r Simulation,
) -> (Vec<&'r Branch>, Vec<&'r Branch>) {
    let insts = &program.kernel(None).expect("one kernel").insts;
    done.run.branches.iter().partition(|branch| {
        match branch.instruction.map(|i| &insts[i as usize].op) {
            Some(Op::Branch { target, .. }) => matches!(insts[target.index()].op, Op::Exit),
            other => panic!("no branch: {other:?}"),
        }
    })
}

fn divergent(branches: &[&Branch]) -> u64 {
    branches.iter().map(|b| b.divergent).sum()
}

fn executed(branches: &[&Branch]) -> u64 {
    branches.iter().map(|b| b.executed).sum()
}

/// Hand-written kernels return by a predicated `ret`; nvcc branches to a plain one. Nothing else
/// differs.
#[test]
fn nvcc_and_the_twins_by_hand_agree() {
    // Divergent warps of a block of 16 warps in nine steps: see the header comments of the
    // hand-written kernels.
    for (name, a_block) in
        [("reduce_neighbored", 95), ("reduce_neighbored_less", 5), ("reduce_interleaved", 5)]
    {
        for mode in MODES {
            let title = format!("{name} [{}]", mode.name());
            let (_, by_hand) = run(&Path::new("programs").join(name).with_extension("ir"), mode);
            let (program, by_nvcc) = run(&Path::new(FOLDER).join(name).with_extension("ptx"), mode);
            for metric in ["gld_requests", "gld_transactions", "gst_requests", "gst_transactions"] {
                let (ours, theirs) = (by_hand.run.metric(metric), by_nvcc.run.metric(metric));
                assert!(ours.is_some(), "{title}: {metric}");
                assert_eq!(ours, theirs, "{title}: {metric}");
            }
            let (returns, others) = returns_and_others(&program, &by_nvcc);
            // Sixteen warps, each: the guard, and in nine steps the `if` and the loop branch.
            assert_eq!(executed(&others), 304 * BLOCKS, "{title}");
            assert_eq!(
                executed(&by_hand.run.branches.iter().collect::<Vec<_>>()),
                304 * BLOCKS,
                "{title}"
            );
            assert_eq!(divergent(&others), a_block * BLOCKS, "{title}");
            assert_eq!(
                divergent(&by_hand.run.branches.iter().collect::<Vec<_>>()),
                a_block * BLOCKS,
                "{title}"
            );
            // `if (idx >= n) return;` splits no warp, `if (tid == 0)` at the end one per block.
            assert_eq!(returns.len(), 2, "{title}");
            assert_eq!(divergent(&returns), BLOCKS, "{title}");
        }
    }
}

/// Divergent branches, load requests and sectors of a block of 16 warps, derived by hand. A tree of
/// pairs half a block apart has five steps that split a warp, 20 working warps, two loads each: 40
/// requests of 132 sectors; then thread 0 reads the sum, and its branch splits a warp once more.
#[test]
fn each_kernel_counts_what_its_source_says() {
    let table = [
        // Neighbours: 16, 16, 16, 16, 16, 8, 4, 2, 1 split warps; in shared memory, one global load
        // per warp.
        ("shared_doubling", 1, [95 + 1, 16, 64]),
        ("shared_doubling_race", 1, [95 + 1, 16, 64]),
        ("shared_halving", 1, [5 + 1, 16, 64]),
        ("shared_halving_race", 1, [5 + 1, 16, 64]),
        // 2, 4, 8 loads per warp, then the tree.
        ("reduce_unroll2", 2, [5 + 1, 32 + 40 + 1, 128 + 132 + 1]),
        ("reduce_unroll4", 4, [5 + 1, 64 + 40 + 1, 256 + 132 + 1]),
        ("reduce_unroll8", 8, [5 + 1, 128 + 40 + 1, 512 + 132 + 1]),
        // Three steps with 14 warps, then one warp's six pairs of loads; pairs 4, 2 and 1 apart
        // touch a fifth sector.
        ("reduce_unroll_last_warp", 8, [1, 128 + 28 + 12 + 1, 512 + 112 + 51 + 1]),
        ("reduce_unroll_complete", 8, [1, 128 + 28 + 12 + 1, 512 + 112 + 51 + 1]),
        // Lane 0 of each warp; in the first warp, the lanes with a sum to read, and lane 0.
        ("reduce_shuffle", 1, [16 + 2, 16, 64]),
        ("reduce_atomic", 1, [16 + 2, 16, 64]),
    ];
    for (name, of_data, a_block) in table {
        for mode in MODES {
            let (_, done) = run(&Path::new(FOLDER).join(name).with_extension("ptx"), mode);
            let metric = |name| done.run.metric(name).map_or(f64::NAN, |v| v.as_f64()) as u64;
            let found = ["divergent_branch", "gld_requests", "gld_transactions"].map(metric);
            assert_eq!(found, a_block.map(|n| n * BLOCKS / of_data), "{name} [{}]", mode.name());
        }
    }
}

#[test]
fn a_race_ends() {
    for name in ["shared_doubling_race", "shared_halving_race"] {
        for mode in MODES {
            let (_, done) = run(&Path::new(FOLDER).join(name).with_extension("ptx"), mode);
            assert!(done.run.passed(), "{name} [{}]: {:?}", mode.name(), done.run.expectations);
        }
    }
}

#[test]
fn renumbered_threads_do_not_diverge() {
    for mode in MODES {
        let mut figures = Vec::new();
        for name in ["even_odd", "even_odd_aligned"] {
            let (_, done) = run(&Path::new(FOLDER).join(name).with_extension("ptx"), mode);
            let metric = |name| done.run.metric(name).map_or(f64::NAN, |v| v.as_f64());
            figures.push(["divergent_branch", "gld_transactions"].map(metric));
        }
        // 512 warps, two loads each of 4 sectors; every other word needs twice as many.
        assert_eq!(figures, [[512.0, 4096.0], [0.0, 8192.0]], "{}", mode.name());
    }
}

#[test]
fn reports_name_the_line_of_the_source() {
    let source = read(&Path::new(FOLDER).join("reduce_neighbored.cu"));
    let line = source.lines().position(|l| l.contains("tid % (2 * stride)")).expect("the line") + 1;
    let (_, done) = run(&Path::new(FOLDER).join("reduce_neighbored.ptx"), Mode::Volta);
    let split = done.run.branches.iter().max_by_key(|b| b.divergent).expect("a branch");
    assert!(split.text.starts_with(&format!("reduce_neighbored.cu:{line}  @%p")), "{}", split.text);
}
