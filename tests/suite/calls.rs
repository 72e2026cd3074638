//! Faults of calls, and calls with locks, barriers and exits: minimal programs with expectations
//! derived by hand.

use simt_core::Job;
use simt_core::Program;
use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::spec::Mode;
use simt_report::simulate::{Simulation, simulate};

use crate::support::{MODES, launch, machine, options};

/// Returns a module with the buffer `out` at `%out`, a word per thread; `%t` is the thread's
/// number.
fn program(threads: u32, functions: &str, body: &str) -> Program {
    let text = format!(
        "//! grid = 1
//! block = {threads}
//! buffer out: u32[{threads}] = fill(0)
//! arg out = out
{functions}
.entry k(.param .u64 out)
{{
    .reg .pred %p, %q;
    .reg .u32 %t, %x, %y;
    .reg .u64 %base, %out, %f;
    .param .u32 a, r;
    .param .u64 l;
    mov.u32 %t, %tid.x;
    ld.param.u64 %base, [out];
    mad.wide.u32 %out, %t, 4, %base;
{body}
    ret;
}}
"
    );
    Program::parse("calls", &text)
}

fn run(program: &Program, mode: Mode) -> Simulation {
    let (kernel, launch) = launch(program, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    let spec = machine(mode.default_machine());
    simulate(
        Job::new(program, kernel, launch, &spec, options(mode, SideOrder::Fewer, 100_000_000)),
        &(),
    )
    .expect("it fits")
}

fn out(done: &Simulation) -> &[u32] {
    &done.launch.buffers[0].words
}

/// `inc(a) = a + 1`
const INC: &str = ".func (.param .u32 r) inc(.param .u32 a)
{ .reg .u32 %a; ld.param.u32 %a, [a]; add.u32 %a, %a, 1; st.param.u32 [r], %a; ret; }";

/// Message, source line text, and lane of a fault.
#[test]
fn what_has_no_meaning_is_a_fault() {
    let proto =
        "proto: .callprototype (.param .u32 _) _ (.param .u32 _);\n    st.param.u32 [a], %t;\n";
    let cases = [
        (
            "a null pointer",
            INC,
            format!("mov.u64 %f, 0;\n{proto}    call (r), %f, (a), proto;"),
            (0, "call (r), %f, (a), proto;", "0x0 is not the address of a function"),
        ),
        (
            "a pointer into a function, from lane 5 on",
            INC,
            format!(
                "setp.ge.u32 %p, %t, 5;\n    mov.u64 %f, inc;\n    @%p add.u64 %f, %f, 4;\n{proto}    call (r), %f, (a), proto;"
            ),
            (5, "call (r), %f, (a), proto;", "is not the address of a function"),
        ),
        (
            "lanes that do not agree on a call.uni",
            ".func one(); .func two(); .func one() { ret; } .func two() { ret; }",
            "proto: .callprototype _ ();\n    setp.ge.u32 %p, %t, 9;\n    mov.u64 %f, one;\n    @%p mov.u64 %f, two;\n    call.uni %f, proto;"
                .to_string(),
            (9, "call.uni %f, proto;", ".uni requires"),
        ),
        (
            "an index behind the table",
            "",
            "table: .branchtargets A, B, C;\n    brx.idx %t, table;\nA:\nB:\nC:".to_string(),
            (3, "brx.idx %t, table;", "index 3 is out of range: the branch table has 3 targets"),
        ),
        (
            "a recursion without end",
            ".func down()\n{\n    call.uni down;\n    ret;\n}",
            "call.uni down;".to_string(),
            (0, "call.uni down;", "stack overflow at call depth 4,096: limit 4,096 calls"),
        ),
        (
            // The kernel has 16 bytes: of 64 KiB frames, eight exceed 512 KiB.
            "frames that do not fit",
            ".func wide()
{
    .local .align 4 .b8 room[65536];
    call.uni wide;
    ret;
}",
            "call.uni wide;".to_string(),
            (0, "call.uni wide;", "stack overflow at call depth 7: limit 524,288 bytes"),
        ),
        (
            "one lane that recurses without end",
            ".func down(.param .u32 a)
{
    .reg .pred %p; .reg .u32 %a; .param .u32 b;
    ld.param.u32 %a, [a];
    setp.ne.u32 %p, %a, 7;
    @%p ret;
    st.param.u32 [b], %a;
    call down, (b);
    ret;
}",
            "st.param.u32 [a], %t;\n    call down, (a);".to_string(),
            (7, "call down, (b);", "stack overflow at call depth 4,096: limit 4,096 calls"),
        ),
    ];
    for (what, functions, body, (lane, line, message)) in cases {
        let program = program(32, functions, &body);
        for mode in MODES {
            let done = run(&program, mode);
            assert_eq!(done.finish.name(), "fault", "{what}, {}", mode.name());
            let verdict = done.run.verdict.as_ref().expect("a fault has a verdict");
            assert!(verdict.message.contains(message), "{what}: {}", verdict.message);
            let at = &verdict.lanes[0];
            assert_eq!(
                (at.lanes.as_str(), at.text.as_str()),
                (lane.to_string().as_str(), line),
                "{what}"
            );
        }
    }
}

/// Only lanes whose guard is true need a valid target.
#[test]
fn lanes_that_do_not_call_or_branch_may_hold_anything() {
    let body = "setp.lt.u32 %p, %t, 3;
    mov.u32 %x, 9;
table: .branchtargets A, B, C;
    @%p brx.idx %t, table;
    bra End;
A:  add.u32 %x, %x, 1;
B:  add.u32 %x, %x, 1;
C:  add.u32 %x, %x, 1;
End:
    mov.u64 %f, 0;
    @%p mov.u64 %f, inc;
    st.param.u32 [a], %x;
    st.param.u32 [r], 50;
proto: .callprototype (.param .u32 _) _ (.param .u32 _);
    @%p call (r), %f, (a), proto;
    ld.param.u32 %x, [r];
    activemask.b32 %y;
    setp.ne.u32 %q, %y, 0xffffffff;
    @%q trap;
    st.global.u32 [%out], %x;";
    let program = program(32, INC, body);
    for mode in MODES {
        let done = run(&program, mode);
        assert_eq!(done.finish.name(), "ok", "{}", mode.name());
        let expected: Vec<u32> =
            (0..32).map(|t| [13, 12, 11].get(t).copied().unwrap_or(50)).collect();
        assert_eq!(out(&done), expected, "{}", mode.name());
    }
}

/// A lock taken in one function and released in another. The losers yield inside the function, the
/// winner leaves it alone.
#[test]
fn a_spin_lock_in_a_function_needs_independent_scheduling() {
    let functions = ".global .u32 lock = 0;
.func take(.param .u64 l)
{
    .reg .pred %busy; .reg .u32 %old; .reg .u64 %l;
    ld.param.u64 %l, [l];
Spin:
    atom.global.cas.b32 %old, [%l], 0, 1;
    setp.ne.u32 %busy, %old, 0;
    @%busy bra Spin;
    ret;
}
.func give(.param .u64 l)
{
    .reg .u32 %old; .reg .u64 %l;
    ld.param.u64 %l, [l];
    atom.global.exch.b32 %old, [%l], 0;
    ret;
}";
    let body = "mov.u64 %f, lock;
    st.param.u64 [l], %f;
    call take, (l);
    ld.volatile.global.u32 %x, [%base];
    add.u32 %x, %x, 1;
    st.volatile.global.u32 [%base], %x;
    call give, (l);";
    let program = program(32, functions, body);
    let before = run(&program, Mode::PreVolta);
    assert_eq!(before.finish.name(), "livelock");
    let lanes = &before.run.verdict.as_ref().expect("a verdict").lanes;
    assert!(lanes.iter().any(|l| l.text == "atom.global.cas.b32 %old, [%l], 0, 1;"), "{lanes:?}");
    let now = run(&program, Mode::Volta);
    assert_eq!((now.finish.name(), out(&now)[0]), ("ok", 32));
}

/// `meet` publishes the thread's number, waits, and returns the number published by the thread at
/// the other end of the block.
const MEET: &str = ".shared .u32 here[64];
.func (.param .u32 r) meet(.param .u32 a)
{
    .reg .u32 %a, %at;
    ld.param.u32 %a, [a];
    mov.u32 %at, here;
    mad.lo.u32 %at, %a, 4, %at;
    st.shared.u32 [%at], %a;
    bar.sync 0;
    sub.u32 %a, 63, %a;
    mov.u32 %at, here;
    mad.lo.u32 %at, %a, 4, %at;
    ld.shared.u32 %a, [%at];
    st.param.u32 [r], %a;
    ret;
}";

#[test]
fn a_barrier_in_a_function_is_one_barrier() {
    let call = "st.param.u32 [a], %t;\n    call (r), meet, (a);\n    ld.param.u32 %x, [r];\n    st.global.u32 [%out], %x;";
    let mirrored: Vec<u32> = (0..64).rev().collect();
    for mode in MODES {
        let done = run(&program(64, MEET, call), mode);
        assert_eq!(
            (done.finish.name(), out(&done)),
            ("ok", &mirrored[..]),
            "all call it, {}",
            mode.name()
        );
    }
    // Called by the even lanes only: before Volta warps arrive as a whole; since Volta the others
    // have exited, or wait.
    let skip = |odd: &str| {
        format!("and.b32 %x, %t, 1;\n    setp.eq.u32 %p, %x, 1;\n    @%p bra {odd};\n{call}\n")
    };
    let waits = program(64, MEET, &format!("{}Skip:\n    bar.warp.sync 0xffffffff;", skip("Skip")));
    assert_eq!(run(&waits, Mode::PreVolta).finish.name(), "ok");
    let stuck = run(&waits, Mode::Volta);
    assert_eq!(stuck.finish.name(), "deadlock");
    let lanes = &stuck.run.verdict.as_ref().expect("a verdict").lanes;
    assert!(lanes.iter().any(|l| l.text == "bar.sync 0;"), "{lanes:?}");
    let ended = run(&program(64, MEET, &format!("{}Skip:", skip("Skip"))), Mode::Volta);
    assert_eq!(ended.finish.name(), "ok");
}

/// Lanes 0 to 15 call, and the even ones exit in the function. The others and lanes 16 to 31
/// reconverge after the branch.
#[test]
fn lanes_that_end_in_a_function_are_not_waited_for() {
    let functions = ".func leave(.param .u32 a)
{
    .reg .pred %p; .reg .u32 %a;
    ld.param.u32 %a, [a];
    and.b32 %a, %a, 1;
    setp.eq.u32 %p, %a, 0;
    @%p exit;
    ret;
}";
    let body = "setp.ge.u32 %p, %t, 16;
    @%p bra Join;
    st.param.u32 [a], %t;
    call leave, (a);
Join:
    activemask.b32 %x;
    st.global.u32 [%out], %x;";
    let program = program(32, functions, body);
    for mode in MODES {
        let done = run(&program, mode);
        let expected: Vec<u32> =
            (0..32).map(|t| if t < 16 && t % 2 == 0 { 0 } else { 0xffff_aaaa }).collect();
        assert_eq!((done.finish.name(), out(&done)), ("ok", &expected[..]), "{}", mode.name());
    }
}

#[test]
fn a_call_that_can_be_for_nothing_is_warned_of() {
    let program =
        program(32, INC, "mov.u64 %f, 0;\nproto: .callprototype _ ();\n    call %f, proto;");
    assert!(
        program.is_sound() && program.findings.iter().any(|d| d.code == "nothing-to-call"),
        "{:?}",
        program.findings
    );
}

#[test]
fn reports_name_the_function() {
    let program = program(
        64,
        MEET,
        "st.param.u32 [a], %t;\n    setp.lt.u32 %p, %t, 9;\n    @%p call (r), meet, (a);\n    bar.warp.sync 0xffffffff;",
    );
    let done = run(&program, Mode::Volta);
    let states: Vec<&str> =
        done.run.verdict.iter().flat_map(|v| &v.lanes).map(|l| l.state.as_str()).collect();
    assert!(states.iter().any(|s| s.ends_with(", in function meet")), "{states:?}");
    assert!(states.iter().any(|s| s.contains("waiting") && !s.contains("function")), "{states:?}");
    let kernel = &program.kernels[0];
    let dot = simt_report::cfg::dot(kernel, &simt_report::cfg::texts(&program, kernel));
    for piece in ["subgraph cluster_0 { label=\"function meet\"; bb", "label=\"function meet, bb"] {
        assert!(dot.contains(piece), "{piece}\n{dot}");
    }
}

#[test]
fn an_alias_is_the_function() {
    let module =
        format!(".weak .func (.param .u32 r) other(.param .u32 a);\n.alias other, inc;\n{INC}");
    let body = "mov.u64 %base, other; mov.u64 %f, inc; setp.ne.u64 %p, %base, %f; @%p trap;
    st.param.u32 [a], %t;
    call (r), other, (a);
    ld.param.u32 %x, [r];
    st.global.u32 [%out], %x;";
    let done = run(&program(32, &module, body), Mode::Volta);
    assert_eq!((done.finish.name(), out(&done)), ("ok", &(1..=32).collect::<Vec<u32>>()[..]));
    for (alias, code) in [
        (".alias other, nobody;", "unknown-name"),
        (".func other();\n.alias other, inc;", "function-mismatch"),
        (".func other() { ret; }\n.alias other, inc;", "duplicate-kernel"),
    ] {
        let wrong = program(32, &format!("{alias}\n{INC}"), "");
        assert!(wrong.findings.iter().any(|d| d.code == code), "{alias}: {:?}", wrong.findings);
    }
}
