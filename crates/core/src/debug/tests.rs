//! Every path to a position leads to the same view.

use super::*;
use crate::Program;
use crate::base::BlockId;
use crate::divergence::SideOrder;
use crate::kernel::Kernel;
use crate::launch::{Launch, Overrides};
use crate::machine::{Options, Timing};
use crate::ptxas;
use crate::spec::{Lowering, Machine, Target};

const FIRST: Focus = Focus { block: BlockId(0), warp: 0 };

/// Calls `check` with a debugger at the start of a program's run.
fn with(name: &str, set: &[(&str, &str)], machine: &str, check: impl FnOnce(Debugger<'_>)) {
    let text =
        std::fs::read_to_string(format!("../../{name}")).expect("a program of the repository");
    let program = Program::parse(name, &text);
    let (kernel, launch) = launch(&program, set);
    let spec = Machine::parse(Machine::preset_text(machine).expect("a preset")).expect("sound");
    let spec = spec.lowered(Lowering::AsWritten);
    let order = SideOrder::Fewer;
    let options = Options {
        mode: spec.modes[0],
        order,
        yields: true,
        max_cycles: 10_000_000,
        max_issues: u64::MAX,
        timing: Timing::Cycles,
    };
    let code = ptxas::compile(kernel, &Target::new(&spec, true), options.mode);
    open(&code, launch, &spec, &options, BlockId(0), check).expect("fits");
}

fn launch<'p>(program: &'p Program, set: &[(&str, &str)]) -> (&'p Kernel, Launch) {
    let kernel = program.kernel(None).expect("one kernel");
    let set = set.iter().map(|&(name, value)| (name.to_string(), value.to_string())).collect();
    let overrides = Overrides { set, ..Overrides::default() };
    let launch = program
        .launch(kernel, &overrides, &|_, _| Err("no files".into()))
        .expect("sound directives");
    (kernel, launch)
}

/// Returns everything visible at a position.
fn seen(debugger: &Debugger<'_>) -> String {
    format!("{:?}", debugger.view(FIRST))
}

const REDUCTION: (&str, &[(&str, &str)]) = ("programs/reduce_neighbored.ir", &[("n", "65536")]);

#[test]
fn any_place_looks_the_same_from_both_sides() {
    for (name, set, machine) in [
        (REDUCTION.0, REDUCTION.1, "h200"),
        (REDUCTION.0, REDUCTION.1, "fermi"),
        ("programs/small/spin_lock_done.ir", &[], "h200"), // its SMs run interleaved
        ("programs/small/shared_reduction.ir", &[], "teaching"),
    ] {
        with(name, set, machine, |mut debugger| {
            let mut forward = vec![seen(&debugger)];
            while debugger.forward(Goal::AnyIssue, FIRST, u64::MAX) == Reached::Goal
                && forward.len() < 9000
            {
                let steps = forward.len();
                forward.push(if steps < 40 || steps % 501 == 0 {
                    seen(&debugger)
                } else {
                    String::new()
                });
            }
            let end = forward.len() as u64 - 1;
            assert!(end > 25, "{name}: {end} steps");
            // Pseudo-random walk.
            let mut at = end;
            for i in 0..60_u64 {
                at = (at * 7919 + i * 104_729) % end;
                let target = if i % 2 == 0 { at / 501 * 501 } else { at % 40 };
                debugger.seek(target);
                assert_eq!(debugger.steps(), target);
                assert!(
                    seen(&debugger) == forward[target as usize],
                    "{name} on {machine}: step {target}"
                );
            }
        });
    }
}

#[test]
fn back_stops_where_forward_stopped() {
    for machine in ["h200", "fermi"] {
        for goal in [Goal::Issue, Goal::Divergence, Goal::Join, Goal::Barrier, Goal::Line(61)] {
            with(REDUCTION.0, REDUCTION.1, machine, |mut debugger| {
                let mut places = vec![0];
                while places.len() < 12 && debugger.forward(goal, FIRST, 1 << 20) == Reached::Goal {
                    places.push(debugger.steps());
                }
                assert!(
                    places.len() >= 5,
                    "{goal:?} is met {} times on {machine}",
                    places.len() - 1
                );
                let last = places[places.len() - 1]; // the search may have run on to the end
                debugger.seek(last);
                debugger.back(goal, FIRST, places.len() as u64 - 2);
                assert_eq!(debugger.steps(), places[1], "{goal:?} on {machine}, several times");
                debugger.seek(last);
                while let Some(place) = places.pop() {
                    assert_eq!(debugger.steps(), place, "{goal:?} on {machine}");
                    let reached = debugger.back(goal, FIRST, 1);
                    assert_eq!(
                        reached == Reached::End,
                        places.len() <= 1,
                        "{goal:?} from {place} on {machine}"
                    );
                }
            });
        }
    }
}

#[test]
fn cycles_go_by_one_by_one() {
    with(REDUCTION.0, REDUCTION.1, "h200", |mut debugger| {
        let mut forward = Vec::new();
        for cycle in 0..700 {
            debugger.seek_cycle(cycle);
            assert_eq!(debugger.clock(), cycle);
            assert!(debugger.view(FIRST).last.is_none_or(|last| last.cycle < cycle));
            forward.push(seen(&debugger));
        }
        assert!(debugger.steps() > 20);
        for cycle in (0..700).rev().step_by(13) {
            debugger.seek_cycle(cycle);
            assert!(seen(&debugger) == forward[cycle as usize], "cycle {cycle}");
        }
    });
}

/// Sets the register `name` of lane 3 of warp 0.
fn set(debugger: &mut Debugger<'_>, name: &str, bits: u64) {
    let warp = debugger.view(FIRST).warp.expect("resident");
    let register = warp.registers.iter().find(|r| r.name == name).expect("a register").register;
    assert!(debugger.edit(Edit { focus: FIRST, lane: 3, register, bits }));
}

fn lane_3(debugger: &Debugger<'_>, name: &str) -> u64 {
    let warp = debugger.view(FIRST).warp.expect("resident");
    warp.registers.iter().find(|r| r.name == name).expect("a register").values[3]
}

#[test]
fn a_change_is_part_of_the_history() {
    with(REDUCTION.0, REDUCTION.1, "h200", |mut debugger| {
        debugger.forward(Goal::Divergence, FIRST, 1 << 20);
        let here = debugger.steps();
        debugger.seek(here + 600);
        let unchanged = seen(&debugger);
        debugger.seek(here);
        let was = lane_3(&debugger, "%t");
        set(&mut debugger, "%t", 4000);
        debugger.seek(here + 600);
        let changed = seen(&debugger);
        assert!(changed != unchanged, "another value leads elsewhere");
        debugger.seek(here - 1);
        assert_eq!(lane_3(&debugger, "%t"), was, "before the change");
        debugger.seek(here);
        assert_eq!(lane_3(&debugger, "%t"), 4000, "at the change");
        debugger.seek(here + 600);
        assert!(seen(&debugger) == changed, "the change is replayed");
        assert!(debugger.undo_edit());
        assert!(seen(&debugger) == unchanged, "the change is taken back");
        assert!(!debugger.undo_edit());
    });
}

#[test]
fn the_most_divergent_branch_is_found() {
    with("programs/small/nested.ir", &[], "h200", |mut debugger| {
        debugger.seek(7);
        let before = seen(&debugger);
        let (counts, complete) = debugger.survey();
        assert!(complete && counts[0].divergent >= counts[1].divergent, "{counts:?}");
        let first = counts[0];
        assert!(seen(&debugger) == before, "a survey stays where it is");
        let (count, focus) = debugger.to_most_divergent().expect("branches diverge");
        assert_eq!(count, first);
        let last = debugger.view(focus).last.expect("a step");
        assert!(last.pc == first.pc && last.diverges());
    });
    with("programs/small/vector_add.ir", &[], "h200", |mut debugger| {
        assert!(debugger.to_most_divergent().is_none());
        assert_eq!(debugger.steps(), 0);
    });
}

#[test]
fn the_end_of_a_run_is_said() {
    for (name, machine, finish) in [
        ("programs/small/diamond.ir", "h200", "ok"),
        ("programs/small/spin_lock.ir", "fermi", "livelock"),
        ("programs/small/barrier_one_arm.ir", "h200", "deadlock"),
    ] {
        with(name, &[], machine, |mut debugger| {
            debugger.seek(1 << 20);
            assert_eq!(debugger.view(FIRST).finish, Some(finish), "{name} on {machine}");
            debugger.back(Goal::AnyIssue, FIRST, 1);
            assert_eq!(debugger.view(FIRST).finish, None, "{name} on {machine}: before its end");
        });
    }
}

#[test]
fn banks_and_sectors_of_an_access() {
    with("programs/small/shared_conflicts.ir", &[], "h200", |mut debugger| {
        let mut found = Vec::new();
        while debugger.forward(Goal::Issue, FIRST, 1 << 20) == Reached::Goal {
            let Some(warp) = debugger.view(FIRST).warp else { break };
            if let Some(((_, access), pattern)) = warp.access.zip(warp.pattern) {
                match pattern {
                    Pattern::Banks(load) => {
                        assert_eq!(
                            load.iter().max(),
                            Some(&access.traffic.wavefronts),
                            "{access:?}"
                        );
                        found.push(access.traffic.wavefronts);
                    }
                    Pattern::Sectors(rows) => {
                        let sectors = rows
                            .iter()
                            .flat_map(|row| row.lanes)
                            .filter(|&lanes| lanes > 0)
                            .count();
                        assert_eq!(sectors as u32, access.traffic.sectors, "{access:?}");
                    }
                    Pattern::Other => {}
                }
            }
        }
        assert!(found.iter().any(|&passes| passes > 1), "{found:?}");
    });
}
