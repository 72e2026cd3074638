//! Programs whose lanes wait for each other: which terminate, which hang, and that hangs are
//! proved.

use simt_core::Program;
use simt_core::divergence::SideOrder;
use simt_core::machine::{Finish, Options};
use simt_core::spec::Mode;
use simt_report::simulate::Simulation;

use super::{MAX_CYCLES, assert_expected, program, run_with, usual};
use crate::support::{machine, options, rendered};

fn run(program: &Program, mode: Mode, order: SideOrder, yields: bool) -> Simulation {
    let spec = machine(mode.default_machine());
    run_with(program, &spec, &Options { yields, ..options(mode, order, MAX_CYCLES) }, &[])
}

/// Returns the source lines of the lanes that a hang names.
fn stuck(done: &Simulation) -> Vec<(u32, Vec<u32>)> {
    match &done.finish {
        Finish::Livelock(hang) | Finish::Deadlock(hang) => {
            hang.lanes.iter().map(|s| (s.lanes.0, s.lines.clone())).collect()
        }
        other => panic!("{}: {other:?}", done.run.program),
    }
}

#[test]
fn the_naive_spin_lock_needs_yields() {
    let program = program("small/spin_lock.ir");
    let spec = machine("h200");
    let usual = usual(&spec, Mode::Volta);
    let done = run_with(&program, &spec, &usual, &[]);
    assert_expected(&done);
    let done = run_with(&program, &spec, &Options { yields: false, ..usual }, &[]);
    assert_eq!(done.finish.name(), "livelock");
}

#[test]
fn a_livelock_names_the_winner_and_the_losers() {
    let program = program("small/spin_lock.ir");
    let line = |what: &str| {
        program.text.lines().position(|l| l.contains(what)).map_or(0, |i| i as u32 + 1)
    };
    let (spin, behind) = (line("atom.global.cas.b32"), line("// the critical section"));
    for (mode, yields) in [(Mode::PreVolta, true), (Mode::Volta, false)] {
        let done = run(&program, mode, SideOrder::Fewer, yields);
        assert_eq!(done.finish.name(), "livelock");
        let found = stuck(&done);
        let lanes: Vec<u32> = found.iter().map(|f| f.0).collect();
        assert_eq!(lanes, [0xffff_fffe, 1], "{}", mode.name());
        let (first, last) =
            (found[0].1.first().copied().unwrap_or(0), found[0].1.last().copied().unwrap_or(0));
        assert!(
            (first..=last).contains(&spin),
            "the losers spin at line {spin}, not {:?}",
            found[0].1
        );
        assert!(
            found[1].1.contains(&behind),
            "the winner waits at line {behind}, not {:?}",
            found[1].1
        );
    }
}

#[test]
fn a_flag_wait_depends_on_the_order_before_volta_only() {
    let program = program("small/flag_wait.ir");
    for (order, before, unyielding) in [
        (SideOrder::FallThrough, "ok", "ok"),
        (SideOrder::Fewer, "ok", "ok"),
        (SideOrder::Taken, "livelock", "livelock"),
        (SideOrder::More, "livelock", "livelock"),
    ] {
        assert_eq!(run(&program, Mode::PreVolta, order, true).finish.name(), before, "{order:?}");
        assert_eq!(run(&program, Mode::Volta, order, true).finish.name(), "ok", "{order:?}");
        // Without a YIELD a group keeps the warp until it blocks.
        assert_eq!(run(&program, Mode::Volta, order, false).finish.name(), unyielding, "{order:?}");
    }
}

/// A wait on non-volatile shared memory: compilers put no YIELD there.
const PLAIN_WAIT: &str = "
.visible .entry plain_wait()
{
    .shared .align 4 .b32 flag;
    .reg .pred  %produce, %unset;
    .reg .u32   %lane, %bit, %at, %value;
    mov.u32         %lane, %tid.x;
    mov.u32         %at, flag;
    mov.u32         %value, 0;
    st.shared.u32   [%at], %value;
    and.b32         %bit, %lane, 1;
    setp.eq.u32     %produce, %bit, 0;
    @%produce bra   Produce;
Wait:
    ld.shared.u32   %value, [%at];
    setp.eq.u32     %unset, %value, 0;
    @%unset bra     Wait;
    bra             Join;
Produce:
    mov.u32         %value, 1;
    st.shared.u32   [%at], %value;
Join:
    st.shared.u32   [%at], %value;
    ret;
}
";

#[test]
fn a_wait_that_is_not_volatile_hangs_or_not_with_the_order_in_both_modes() {
    let text = format!("//! grid = 1\n//! block = 32\n{PLAIN_WAIT}");
    let program = Program::parse("plain_wait.ir", &text);
    assert!(program.is_sound(), "{}", rendered(&program, &program.findings));
    for mode in [Mode::PreVolta, Mode::Volta] {
        assert_eq!(
            run(&program, mode, SideOrder::Taken, true).finish.name(),
            "ok",
            "{}",
            mode.name()
        );
        assert_eq!(
            run(&program, mode, SideOrder::FallThrough, true).finish.name(),
            "livelock",
            "{}",
            mode.name()
        );
    }
}

#[test]
fn verdicts_do_not_depend_on_the_order() {
    for (name, before, since) in [
        ("spin_lock", "livelock", "ok"),
        ("two_locks", "livelock", "ok"),
        ("spin_lock_done", "ok", "ok"),
        ("hoisted_load", "livelock", "livelock"),
        ("barrier_one_arm", "ok", "deadlock"),
        ("barrier_both_arms", "ok", "ok"),
        ("barrier_after_exit", "ok", "ok"),
        ("barrier_count_exits", "ok", "ok"),
        ("shuffle_partial", "ok", "ok"),
        ("shuffle_after_exit", "ok", "ok"),
    ] {
        let program = program(&format!("small/{name}.ir"));
        for order in
            [SideOrder::Taken, SideOrder::FallThrough, SideOrder::More, SideOrder::Random(9)]
        {
            for (mode, expected) in [(Mode::PreVolta, before), (Mode::Volta, since)] {
                let done = run(&program, mode, order, true);
                assert_eq!(done.finish.name(), expected, "{name}, {}, {order:?}", mode.name());
            }
        }
    }
}

/// Odd threads wait at a barrier for 64 threads; then the even ones of both warps exit.
const EXIT_BEHIND_ARRIVALS: &str = "
.visible .entry exit_behind_arrivals()
{
    .reg .pred  %even;
    .reg .u32   %t, %bit;
    mov.u32     %t, %tid.x;
    and.b32     %bit, %t, 1;
    setp.eq.u32 %even, %bit, 0;
    @%even bra  End;
    bar.sync    1, 64;
End:
    ret;
}
";

#[test]
fn lanes_that_end_count_at_a_counted_barrier_whether_before_or_after_the_others_arrive() {
    // The reconvergence point is the exit itself, so no lane waits there.
    let text = format!("//! grid = 1\n//! block = 64\n{EXIT_BEHIND_ARRIVALS}")
        .replace("End:\n    ret;", "    ret;\nEnd:\n    ret;");
    let program = Program::parse("exit_behind_arrivals.ir", &text);
    assert!(program.is_sound(), "{}", rendered(&program, &program.findings));
    for mode in [Mode::PreVolta, Mode::Volta] {
        for order in [SideOrder::FallThrough, SideOrder::Taken] {
            assert_eq!(
                run(&program, mode, order, true).finish.name(),
                "ok",
                "{}, {order:?}",
                mode.name()
            );
        }
    }
}
