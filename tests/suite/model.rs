//! Time and traffic of a GPU beyond a program's own instructions, on minimal programs.

use simt_core::Job;
use simt_core::Program;
use simt_core::launch::Overrides;
use simt_core::spec::{Lowering, Machine, Mode};
use simt_report::metrics::Value;
use simt_report::simulate::{Simulation, simulate};

use crate::support::{changed, launch, machine, options};

/// Runs a program on a machine and checks its expectations.
fn run_on(spec: &Machine, mode: Mode, path: &str) -> Simulation {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    run_text(spec, mode, path, &text)
}

/// Runs a changed text and checks its expectations.
fn run_text(spec: &Machine, mode: Mode, path: &str, text: &str) -> Simulation {
    let program = Program::parse(path, text);
    let (kernel, launch) =
        launch(&program, &Overrides::default()).unwrap_or_else(|e| panic!("{path}: {e}"));
    let done = simulate(
        Job::new(&program, kernel, launch, spec, options(mode, spec.side_order(), 10_000_000)),
        &(),
    )
    .unwrap_or_else(|e| panic!("{path}: {e}"));
    assert!(done.run.expectations.iter().all(|e| e.passed), "{path}: a wrong result");
    done
}

/// Runs a program on a preset, in the preset's first mode.
fn run(preset: &str, path: &str) -> Simulation {
    let spec = machine(preset);
    run_on(&spec, spec.modes[0], path)
}

fn metric(done: &Simulation, name: &str) -> f64 {
    done.run.metric(name).map(Value::as_f64).unwrap_or_else(|| panic!("no {name}"))
}

/// Returns the cycles that warps spent in a state.
fn stalled(done: &Simulation, state: &str) -> u64 {
    done.run.stalls.get(&state).copied().unwrap_or_else(|| panic!("no state {state}"))
}

const LAUNCH: &str = "tests/regressions/launch_is_no_stall.ir";

#[test]
fn a_warp_that_is_not_launched_is_in_no_state() {
    for (preset, admission) in [("fermi", 20), ("h200", 20)] {
        let done = run(preset, LAUNCH);
        // Each warp is alone on its scheduler, whose slots are lost until the launch.
        let skew = u64::from(machine(preset).warp_start);
        assert_eq!(done.run.slots.lost.get(&"launch"), Some(&(2 * admission + skew)), "{preset}");
        let at_once = changed(&machine(preset), |m| (m.block_start, m.warp_start) = (0, 0));
        let at_once = run_on(&at_once, at_once.modes[0], LAUNCH);
        assert!(done.run.cycles > at_once.run.cycles, "{preset}");
        let waits = [&done, &at_once].map(|done| stalled(done, "wait"));
        assert_eq!(waits[0], waits[1], "{preset}: the launch is no part of `wait`");
        let states: u64 = done.run.stalls.0.iter().map(|(_, cycles)| cycles).sum();
        let resident = metric(&done, "active_warps") as u64;
        assert_eq!(states + done.run.slots.used, resident, "{preset}: each cycle has one state");
    }
    let done = run("teaching", LAUNCH);
    assert_eq!(done.run.slots.lost.get(&"launch"), Some(&0));
    assert_eq!(stalled(&done, "no_instruction"), 0);
}

#[test]
fn the_first_warps_of_an_sm_wait_for_their_code() {
    let spec = machine("h200");
    let cache = spec.instruction_cache.expect("the H200's instruction cache");
    let done = run("h200", LAUNCH);
    let skew = u64::from(spec.warp_start);
    assert_eq!(
        stalled(&done, "no_instruction"),
        2 * u64::from(cache.latency) - skew,
        "the second warp finds the line on its way"
    );
    assert_eq!(stalled(&done, "imc_miss"), 2 * u64::from(spec.cold_start + spec.cold_constants));
    // The code fits into the first line; without a cache model, a machine is faster by that line's
    // latency.
    let warm = run_on(&changed(&spec, |m| m.instruction_cache = None), Mode::Volta, LAUNCH);
    let longer = done.run.cycles - warm.run.cycles;
    assert!(longer.abs_diff(u64::from(cache.latency)) <= skew, "{longer}");
    assert_eq!(stalled(&warm, "no_instruction"), 0);
    // As written, lines of machine code are unknown: the first instruction fetches all.
    let written = run_on(&spec.lowered(Lowering::AsWritten), Mode::Volta, LAUNCH);
    assert_eq!(stalled(&written, "no_instruction"), 2 * u64::from(cache.latency) - skew);
}

#[test]
fn what_acquires_beyond_the_block_empties_l1() {
    const PATH: &str = "tests/regressions/fence_empties_l1.ir";
    let text = std::fs::read_to_string(PATH).expect("the program");
    let hits = |preset: &str, lowering: Lowering, code: &str| {
        let spec = machine(preset).lowered(lowering);
        metric(
            &run_text(&spec, spec.modes[0], PATH, &text.replace("membar.gl;", code)),
            "l1_hit_sectors",
        ) as u64
    };
    // Places where ptxas 13.0 puts CCTL.IVALL for sm_75 and sm_90; the first load misses, the
    // second hits its four sectors or not.
    for (code, found) in [
        ("membar.gl;", 0),
        ("membar.sys;", 0),
        ("membar.cta;", 4),
        ("fence.acq_rel.gpu;", 0),
        ("fence.acq_rel.sys;", 0),
        ("fence.acq_rel.cluster;", 0),
        ("fence.sc.gpu;", 0),
        ("fence.sc.cta;", 4),
        ("fence.acq_rel.cta;", 4),
        ("ld.acquire.gpu.global.u32 %x, [%o];", 0),
        ("ld.acquire.sys.global.u32 %x, [%o];", 0),
        ("ld.acquire.cta.global.u32 %x, [%o];", 4),
        ("ld.relaxed.gpu.global.u32 %x, [%o];", 4),
        ("ld.volatile.global.u32 %x, [%o];", 4),
        ("atom.acquire.gpu.global.add.u32 %x, [%o], 0;", 0),
        ("atom.acq_rel.sys.global.add.u32 %x, [%o], 0;", 0),
        ("atom.acquire.cta.global.add.u32 %x, [%o], 0;", 4),
        ("atom.release.gpu.global.add.u32 %x, [%o], 0;", 4),
        ("atom.global.add.u32 %x, [%o], 0;", 4),
        ("@%none membar.gl;", 4),
    ] {
        assert_eq!(hits("h200", Lowering::Hardware, code), found, "{code}");
        assert_eq!(hits("h200", Lowering::AsWritten, code), 4, "as written: {code}");
    }
    assert_eq!(hits("fermi", Lowering::Hardware, "membar.gl;"), 4, "before Volta");
}

#[test]
fn recursive_functions_save_registers_as_ptxas_has_them() {
    const PATH: &str = "tests/regressions/recursion_saves_registers.ir";
    let text = std::fs::read_to_string(PATH).expect("the program");
    let spec = machine("h200");
    // `which`, activations, and the STL (and as many LDL) of each in ptxas 13.0's code for sm_90.
    for (which, activations, saved) in [(0, 5, 5), (1, 4, 3), (2, 4, 6), (3, 15, 8)] {
        let text = text.replace("which = 0", &format!("which = {which}"));
        let of = |spec: &Machine, mode: Mode| {
            let done = run_text(spec, mode, PATH, &text);
            let kind = |way: &str| {
                done.run
                    .memory
                    .iter()
                    .find(|m| m.memory == "local" && m.way == way)
                    .map_or(0, |m| m.requests)
            };
            (kind("store"), kind("load"), metric(&done, "ptx_inst_executed"))
        };
        let (stores, loads, instructions) = of(&spec, Mode::Volta);
        assert_eq!((stores, loads), (activations * saved, activations * saved), "function {which}");
        let written = spec.lowered(Lowering::AsWritten);
        let (stores, loads, as_many) = of(&written, Mode::Volta);
        assert_eq!((stores, loads), (0, 0), "function {which} as written");
        assert_eq!(instructions, as_many, "function {which}: none of them is in the program");
        // Before Volta no convergence barrier occupies a register.
        assert_eq!(
            of(&machine("pascal"), Mode::PreVolta).0,
            activations * (saved - 1),
            "function {which} on pascal"
        );
    }
}

#[test]
fn an_early_return_is_predicated_with_its_stores() {
    let done = run("h200", "tests/regressions/early_return_with_a_store.ir");
    let (branches, lanes) =
        (metric(&done, "conditional_branches"), metric(&done, "average_pred_on_lanes"));
    assert_eq!(branches, 0.0, "ptxas 13.0 for sm_90: @P0 STG, @P0 EXIT");
    assert!(lanes < 32.0);
    let written = machine("h200").lowered(Lowering::AsWritten);
    assert_eq!(
        metric(
            &run_on(&written, Mode::Volta, "tests/regressions/early_return_with_a_store.ir"),
            "conditional_branches"
        ),
        1.0
    );
}
