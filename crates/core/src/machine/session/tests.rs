//! Sessions equal runs, also after a restore.

use super::super::device::watch;
use super::*;
use crate::Program;
use crate::base::LaneMask;
use crate::divergence::SideOrder;
use crate::event::Observer;
use crate::launch::Overrides;
use crate::machine::Timing;
use crate::ptxas;
use crate::spec::{Lowering, Mode, Target};

/// Events of a run.
#[derive(Default)]
struct Tape(Vec<Event>);

impl Observer for Tape {
    fn on(&mut self, event: Event) {
        self.0.push(event);
    }
    fn merge(&mut self, other: Tape) {
        self.0.extend(other.0);
    }
}

fn issue(event: &Event) -> Option<(Cycle, SmId, WarpId, crate::base::Pc, LaneMask, LaneMask)> {
    match *event {
        Event::Issue { cycle, sm, warp, pc, active, lanes, .. } => {
            Some((cycle, sm, warp, pc, active, lanes))
        }
        _ => None,
    }
}

/// Calls `check` with a program's code, launch, machine and options.
fn with(
    name: &str,
    set: &[(&str, &str)],
    machine: &str,
    check: impl FnOnce(&Code, Launch, &Machine, &Options),
) {
    let text =
        std::fs::read_to_string(format!("../../{name}")).expect("a program of the repository");
    let program = Program::parse(name, &text);
    let kernel = program.kernel(None).expect("one kernel");
    let set = set.iter().map(|&(name, value)| (name.to_string(), value.to_string())).collect();
    let overrides = Overrides { set, ..Overrides::default() };
    let launch = program
        .launch(kernel, &overrides, &|_, _| Err("no files".into()))
        .expect("sound directives");
    let spec = Machine::parse(Machine::preset_text(machine).expect("a preset")).expect("sound");
    let spec = spec.lowered(Lowering::AsWritten);
    let mode = spec.modes[0];
    let options = Options {
        mode,
        order: SideOrder::Fewer,
        yields: true,
        max_cycles: 10_000_000,
        max_issues: u64::MAX,
        timing: Timing::Cycles,
    };
    let code = ptxas::compile(kernel, &Target::new(&spec, true), mode);
    check(&code, launch, &spec, &options);
}

/// Program, its constants, machine.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const PROGRAMS: [Case; 5] = [
    ("programs/reduce_neighbored.ir", &[("n", "2048"), ("block", "128")], "h200"),
    ("programs/reduce_neighbored.ir", &[("n", "2048"), ("block", "128")], "fermi"),
    ("programs/small/spin_lock_done.ir", &[], "h200"),
    ("programs/small/shared_reduction.ir", &[], "h200"),
    ("programs/small/nested.ir", &[], "teaching"),
];

#[test]
fn a_session_issues_what_a_run_issues() {
    for (name, set, machine) in PROGRAMS {
        with(name, set, machine, |kernel, launch, spec, options| {
            let watched = watch(kernel, launch.clone(), spec, options, BlockId(0), Tape::default)
                .expect("fits");
            let stepped = step_through(kernel, launch, spec, options, BlockId(0), |mut session| {
                let mut issues = Vec::new();
                while session.step(Cycle::MAX) {
                    let of_one = session.sms().nth(session.last_sm()) == Some(watched.sm);
                    issues.extend(session.events().iter().filter_map(issue).filter(|_| of_one));
                }
                assert_eq!(
                    session.finish().map(Finish::name),
                    watched.finish.as_ref().map(Finish::name),
                    "{name}"
                );
                issues
            });
            let whole: Vec<_> = watched.observer.0.iter().filter_map(issue).collect();
            assert!(whole.len() > 10, "{name}");
            assert_eq!(stepped.expect("fits"), whole, "{name} on {machine}");
        });
    }
}

#[test]
fn a_saved_state_goes_on_as_before() {
    for (name, set, machine) in PROGRAMS {
        with(name, set, machine, |kernel, launch, spec, options| {
            step_through(kernel, launch, spec, options, BlockId(0), |mut session| {
                let rest = |session: &mut Session<'_>| {
                    let mut events = Vec::new();
                    while session.step(Cycle::MAX) {
                        events.extend(session.events().to_vec());
                    }
                    let words: Vec<Vec<u32>> = session
                        .base
                        .iter()
                        .map(|s| session.global().words(s.0).expect("there").collect())
                        .collect();
                    (events, words)
                };
                let start = session.save();
                (0..23).for_each(|_| assert!(session.step(Cycle::MAX), "{name} ends early"));
                let middle = session.save();
                let first = rest(&mut session);
                session.restore(&middle);
                assert!(rest(&mut session) == first, "{name} on {machine}: from the middle");
                session.restore(&start);
                (0..23).for_each(|_| assert!(session.step(Cycle::MAX)));
                assert!(rest(&mut session) == first, "{name} on {machine}: from the start");
            })
            .expect("fits");
        });
    }
}

#[test]
fn nothing_is_issued_behind_the_limit() {
    with("programs/small/nested.ir", &[], "h200", |kernel, launch, spec, options| {
        step_through(kernel, launch, spec, options, BlockId(0), |mut session| {
            let (mut issued, mut cycles) = (0, Vec::new());
            for now in 0..2000 {
                while session.step(now) {
                    issued += 1;
                    cycles.extend(
                        session.events().iter().filter_map(issue).map(|i| (i.0, now)).take(1),
                    );
                }
            }
            assert!(issued > 20, "{issued}");
            assert!(cycles.iter().all(|(at, now)| at == now), "{cycles:?}");
        })
        .expect("fits");
    });
}

#[test]
fn a_changed_predicate_changes_the_branch() {
    with("programs/small/if_else.ir", &[], "fermi", |kernel, launch, spec, options| {
        assert_eq!(options.mode, Mode::PreVolta);
        step_through(kernel, launch, spec, options, BlockId(0), |mut session| {
            let steps = session.steps();
            let guard_of = |pc: crate::base::Pc| {
                steps[pc.index()].inst.guard.map(|g| (g.predicate, g.negated))
            };
            let (predicate, negated) = loop {
                assert!(session.step(Cycle::MAX), "a branch follows");
                let next = session.warps(0, 0).next().and_then(|w| w.control.active());
                let branch = next.filter(|(pc, _)| {
                    matches!(steps[pc.index()].inst.op, crate::kernel::Op::Branch { .. })
                });
                if let Some(found) = branch.and_then(|(pc, _)| guard_of(pc)) {
                    break found;
                }
            };
            for lane in 0..32 {
                assert!(session.set_register(
                    0,
                    WarpId(0),
                    lane,
                    Register::Predicate(predicate),
                    u64::from(!negated)
                ));
            }
            let taken = loop {
                assert!(session.step(Cycle::MAX), "the branch is issued");
                let branch = session.events().iter().find_map(|event| match *event {
                    Event::Branch { taken, active, .. } => Some((taken, active)),
                    _ => None,
                });
                if let Some(branch) = branch {
                    break branch;
                }
            };
            assert_eq!(taken.0, taken.1, "every lane branches");
        })
        .expect("fits");
    });
}
