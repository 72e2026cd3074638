//! Laws of time: sums, linear growth, conflict costs. Slopes as measured on an H200.

use simt_core::Job;
use simt_core::base::{BlockId, WarpId};
use simt_core::event::{Event, Observer};
use simt_core::spec::Mode;

use super::{assert_expected, count, program, run_as_written, run_on, run_with, set, usual};
use crate::support::{MODES, changed, launch, machine};

#[test]
fn k_paths_take_k_times_as_long() {
    let program = program("small/paths_k.ir");
    for preset in ["fermi", "h200"] {
        // As written: a back end would merge every two additions of the chain into one IADD3.
        let time = |k| {
            let done = run_as_written(&program, preset, &[("k", k)]);
            assert_expected(&done);
            done.run.cycles
        };
        let times: Vec<u64> = (1..=32).map(time).collect();
        // Each further path adds the same time: its chain and its test.
        let step = times[2] - times[1];
        for k in 3..=32 {
            assert_eq!(times[k - 1] - times[k - 2], step, "{preset}, path {k}: {times:?}");
        }
        // 64 dependent additions at 4 cycles and a loop around them; the H200 took 272 for the
        // additions.
        assert!(preset != "h200" || (272..600).contains(&step), "{preset}: {step} cycles a path");
    }
}

#[test]
fn a_side_that_waits_for_memory_does_not_let_the_other_run() {
    let program = program("small/memory_sides.ir");
    for mode in MODES {
        let preset = mode.default_machine();
        let time = |even, odd| {
            let done = run_on(&program, preset, &[("even", even), ("odd", odd)]);
            assert_expected(&done);
            done.run.cycles
        };
        let (none, left, right, both) = (time(0, 0), time(64, 0), time(0, 64), time(64, 64));
        assert!(left > none + 64 * 100, "{preset}: hops wait for memory ({none}, {left})");
        let (sum, both) = ((left - none) + (right - none), both - none);
        assert!(
            both.abs_diff(sum) <= sum / 100,
            "{preset}: {both} for both sides, {sum} for one after the other"
        );
    }
}

#[test]
fn bank_conflicts_cost_two_cycles_a_further_pass_on_an_h200() {
    let program = program("small/shared_conflicts.ir");
    let loads = 64;
    let run = |stride| {
        let done = run_on(&program, "h200", &[("stride", stride), ("loads", loads)]);
        assert_expected(&done);
        (
            done.run.cycles,
            count(&done, "shared_load_transactions"),
            count(&done, "shared_ld_bank_conflict"),
        )
    };
    let (free, passes, conflicts) = run(1);
    assert_eq!((passes, conflicts), (loads as u64, 0));
    for (stride, ways) in
        [(2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1), (31, 1), (48, 16), (0, 1)]
    {
        let (cycles, passes, conflicts) = run(stride);
        let loads = loads as u64;
        assert_eq!((passes, conflicts), (ways * loads, (ways - 1) * loads), "stride {stride}");
        // Few passes end while the loop still waits for its branch; from eight on, the loads
        // dominate.
        let (first, _, _) = run(8);
        let extra = cycles as i64 - first as i64 - (2 * (ways as i64 - 8)) * loads as i64;
        assert!(
            ways < 8 || (-4..=64).contains(&extra),
            "stride {stride}: {cycles} cycles against {first}, {ways} ways"
        );
        assert!(
            (free..=first).contains(&cycles) || ways > 8,
            "stride {stride}: {cycles} cycles, {free} without conflict"
        );
    }
}

#[test]
fn the_modes_issue_the_same_instructions_on_structured_programs() {
    for name in [
        "activemask_arms",
        "barrier_after_exit",
        "barrier_count",
        "break",
        "diamond",
        "early_return",
        "early_return_nested",
        "for_tid",
        "loop_trips",
        "memory_sides",
        "nested",
        "nested_four",
        "paths_k",
        "picture",
        "shared_conflicts",
        "shuffle_reduction",
        "side_order",
        "switch",
        "vector_add",
        "warp_sync_reduction",
    ] {
        let program = program(&format!("small/{name}.ir"));
        let spec = machine("teaching");
        let spec = changed(&spec, |m| (m.warp_size, m.max_threads, m.max_warps) = (32, 1024, 32));
        let counts = MODES.map(|mode: Mode| {
            let done = run_with(&program, &spec, &usual(&spec, mode), &[]);
            [
                "inst_executed",
                "ptx_inst_executed",
                "conditional_branches",
                "divergent_branch",
                "thread_inst_executed",
            ]
            .map(|metric| count(&done, metric))
        });
        assert_eq!(counts[0], counts[1], "{name}");
    }
}

/// Instructions that warp 0 issues between its arrival at a barrier and the last warp's.
#[derive(Default)]
struct Ahead {
    waits: bool,
    issued: u32,
}

impl Observer for Ahead {
    fn on(&mut self, event: Event) {
        match event {
            Event::Barrier { warp: WarpId(0), .. } => self.waits = true,
            Event::BarrierOpen { .. } => self.waits = false,
            Event::Issue { warp: WarpId(0), slots, .. } if self.waits => self.issued += slots,
            _ => {}
        }
    }

    fn merge(&mut self, _: Ahead) {}
}

#[test]
fn an_h200_goes_ahead_of_a_barrier_with_its_products_and_no_further() {
    let program = program("small/ahead_of_barrier.ir");
    for (preset, products) in [("h200", 3), ("volta", 0)] {
        assert_expected(&run_on(&program, preset, &[]));
        let spec = machine(preset);
        let options = usual(&spec, Mode::Volta);
        let (kernel, launch) = launch(&program, &set(&[])).unwrap_or_else(|e| panic!("{e}"));
        let seen =
            Job::new(&program, kernel, launch, &spec, options).watch(BlockId(0), Ahead::default);
        let seen = seen.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(seen.observer.issued, products, "{preset}");
    }
}
