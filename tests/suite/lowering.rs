//! Machine instructions against an H200's counters, published figures, and the disassembly of
//! ptxas's code for the same kernels.

use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::ptxas;
use simt_core::spec::Lowering;
use simt_core::spec::Target;
use simt_core::{Job, Program};
use simt_report::metrics::Value;
use simt_report::simulate::{Simulation, simulate};

use crate::support::{launch, machine, options};

fn program(path: &str) -> Program {
    let path = format!("programs/{path}");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    Program::parse(&path, &text)
}

/// Runs a program in `blocks` blocks of 512. Figures per warp do not depend on the number of
/// blocks.
fn run(path: &str, preset: &str, blocks: i64, lowering: Lowering) -> Simulation {
    let program = program(path);
    let spec = machine(preset).lowered(lowering);
    let set = vec![("n".to_string(), (512 * blocks).to_string())];
    let (kernel, launch) = launch(&program, &Overrides { set, ..Overrides::default() })
        .unwrap_or_else(|e| panic!("{e}"));
    let options = options(spec.modes[0], SideOrder::Fewer, 10_000_000);
    simulate(Job::new(&program, kernel, launch, &spec, options.clone()), &())
        .unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn metric(done: &Simulation, name: &str) -> f64 {
    done.run.metric(name).map(Value::as_f64).unwrap_or_else(|| panic!("no {name}"))
}

/// Panics unless `simulated` is within `percent` of `measured`.
fn close(what: &str, simulated: f64, measured: f64, percent: f64) {
    let error = 100.0 * (simulated - measured) / measured;
    assert!(
        error.abs() <= percent,
        "{what}: {simulated:.2}, measured {measured:.2}: {error:+.1} %"
    );
}

/// Blocks of each run.
const BLOCKS: i64 = 64;

/// Kernel, `inst_per_warp`, average active lanes, counted on an H200 (block 512; the same at 2^9
/// and 2^24 integers).
const MEASURED: [(&str, f64, f64); 8] = [
    ("cuda/reduce_neighbored.ptx", 292.88, 28.08),
    ("cuda/reduce_neighbored_less.ptx", 116.37, 31.35),
    ("cuda/reduce_interleaved.ptx", 98.12, 31.31),
    ("reduce_neighbored.ir", 292.88, 28.08),
    ("reduce_neighbored_less.ir", 116.37, 31.35),
    ("reduce_interleaved.ir", 98.12, 31.31),
    // The textbook's pair, without our test of the index.
    ("cuda/shared_doubling.ptx", 272.50, 31.94),
    ("cuda/shared_halving.ptx", 111.50, 31.86),
];

#[test]
fn instructions_per_warp_as_on_an_h200() {
    for (path, per_warp, lanes) in MEASURED {
        let done = run(path, "h200", BLOCKS, Lowering::Hardware);
        close(path, metric(&done, "inst_per_warp"), per_warp, 2.0);
        close(path, metric(&done, "average_active_lanes"), lanes, 2.0);
    }
    let done = run("cuda/even_odd.ptx", "h200", BLOCKS, Lowering::Hardware);
    close("even_odd", metric(&done, "inst_per_warp"), 25.0, 5.0);
}

#[test]
fn instructions_per_warp_as_published_for_fermi() {
    for (path, per_warp) in [
        ("cuda/reduce_neighbored.ptx", 295.5625),
        ("cuda/reduce_neighbored_less.ptx", 115.31),
        ("reduce_neighbored.ir", 295.5625),
        ("reduce_neighbored_less.ir", 115.31),
    ] {
        let done = run(path, "fermi", BLOCKS, Lowering::Hardware);
        close(path, metric(&done, "inst_per_warp"), per_warp, 10.0);
    }
}

#[test]
fn what_ptxas_predicates_does_not_branch() {
    // File, branches in a block of 16 warps, divergent ones, as counted on the H200.
    for (path, branches, divergent) in [
        ("cuda/reduce_neighbored.ptx", 304, 95),
        ("cuda/reduce_neighbored_less.ptx", 304, 5),
        ("cuda/reduce_interleaved.ptx", 304, 5),
        ("cuda/shared_doubling.ptx", 160, 0),
        ("cuda/shared_halving.ptx", 160, 0),
        ("cuda/even_odd.ptx", 0, 0),
    ] {
        let done = run(path, "h200", BLOCKS, Lowering::Hardware);
        let blocks = BLOCKS as f64;
        assert_eq!(metric(&done, "conditional_branches"), branches as f64 * blocks, "{path}");
        assert_eq!(metric(&done, "divergent_branch"), divergent as f64 * blocks, "{path}");
    }
    // The guard of a predicated body counts: the H200 had 19.80 of 32 lanes.
    let done = run("cuda/shared_halving.ptx", "h200", BLOCKS, Lowering::Hardware);
    close("lanes with an effect", metric(&done, "average_pred_on_lanes"), 19.80, 2.0);
}

/// Kernel, and the instructions that `cuobjdump -sass` lists for sm_80 and sm_90 when ptxas 13.0
/// compiles our .ptx (without padding and the final jump to itself).
const DISASSEMBLED: [(&str, u64, u64); 15] = [
    ("even_odd", 21, 25),
    ("even_odd_aligned", 26, 30),
    ("reduce_interleaved", 36, 37),
    ("reduce_neighbored", 54, 55),
    ("reduce_neighbored_less", 38, 39),
    ("reduce_shuffle", 50, 56),
    ("reduce_unroll2", 44, 45),
    ("reduce_unroll4", 51, 52),
    ("reduce_unroll8", 70, 70),
    ("reduce_unroll_complete", 106, 108),
    ("reduce_unroll_last_warp", 98, 98),
    ("shared_doubling", 54, 58),
    ("shared_doubling_race", 52, 56),
    ("shared_halving", 34, 41),
    ("shared_halving_race", 32, 39),
];

#[test]
fn kernels_have_as_many_instructions_as_their_disassembly() {
    for (name, on_ampere, on_h200) in DISASSEMBLED {
        let program = program(&format!("cuda/{name}.ptx"));
        for (preset, listed) in [("ampere", on_ampere), ("h200", on_h200)] {
            let spec = machine(preset);
            let code =
                ptxas::compile(&program.kernels[0], &Target::new(&spec, true), spec.modes[0]);
            let joins = code.ops().iter().filter(|op| op.source.is_none()).count() as u64;
            close(
                &format!("{name} on {preset}"),
                (code.static_count() + joins) as f64,
                listed as f64,
                14.0,
            );
        }
    }
}

#[test]
fn as_written_every_instruction_is_one_issue() {
    for path in ["cuda/reduce_neighbored.ptx", "cuda/shared_halving.ptx", "reduce_interleaved.ir"] {
        let [written, lowered] =
            [Lowering::AsWritten, Lowering::Hardware].map(|how| run(path, "h200", 4, how));
        assert_eq!(
            metric(&written, "inst_executed"),
            metric(&written, "ptx_inst_executed"),
            "{path}"
        );
        assert_ne!(metric(&lowered, "inst_executed"), metric(&written, "inst_executed"), "{path}");
        for same in ["gld_requests", "gld_transactions", "gst_requests", "barriers"] {
            assert_eq!(metric(&written, same), metric(&lowered, same), "{path}: {same}");
        }
        for done in [&written, &lowered] {
            assert!(done.run.expectations.iter().all(|e| e.passed), "{path}");
        }
    }
}

/// A square of 1 + 2^-10, less 1 + 2^-9: the machine rounds once, as ptxas's HFMA2 does.
const FUSED: &str = "
//! grid   = 1
//! block  = 1
//! buffer out: u16[2]
//! arg    0 = out
.entry fused(.param .u64 p) {
    .reg .b16 %a, %b, %t;
    .reg .b64 %out;
    ld.param.u64 %out, [p];
    mov.b16 %a, 0x3c01;
    mov.b16 %b, 0xbc02;
    mul.f16 %t, %a, %a;
    add.f16 %t, %t, %b;
    st.global.b16 [%out], %t;
    mul.rn.f16 %t, %a, %a;
    add.f16 %t, %t, %b;
    st.global.b16 [%out+2], %t;
    ret;
}";

#[test]
fn the_machine_fuses_products_and_sums_of_halves() {
    let program = Program::parse("fused.ptx", FUSED);
    for (preset, lowering, expected) in [
        ("h200", Lowering::Hardware, [0x10, 0]),
        ("turing", Lowering::Hardware, [0x10, 0]),
        ("h200", Lowering::AsWritten, [0, 0]),
    ] {
        let spec = machine(preset).lowered(lowering);
        let (kernel, launch) =
            launch(&program, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
        let options = options(spec.modes[0], SideOrder::Fewer, 10_000);
        let done = simulate(Job::new(&program, kernel, launch, &spec, options), &())
            .unwrap_or_else(|e| panic!("{e}"));
        let word = done.launch.buffers[0].words[0];
        assert_eq!([word & 0xffff, word >> 16], expected, "{preset}, {lowering:?}");
    }
}
