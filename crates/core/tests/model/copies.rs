//! Asynchronous copies: `cp.async`, its groups and waits.

use simt_core::event::{AccessWay, MemoryKind};
use simt_core::exec::FaultKind;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Finish, Options, Outcome};
use simt_core::observe::{Counts, Totals, TrafficTotals};
use simt_core::spec::{Lowering, Machine, Mode};
use simt_core::{Job, Program, oracle};

use super::support::MODES;

/// Threads of a block; each has 16 words in each buffer and in shared memory.
const THREADS: u32 = 40;

/// Returns a program around `body`.
///
/// `%in` and `%out` are the thread's addresses in global memory, `%s` that in shared memory. Word
/// `i` of the input is `i + 1`; the thread's words in shared memory are all `0xee` at the start.
pub(super) fn program(body: &str) -> String {
    let words = THREADS * 16;
    let fill: String = (0..16).map(|i| format!("st.shared.u32 [%s+{}], 0xee;\n", 4 * i)).collect();
    format!(
        "//! grid = 2
//! block = {THREADS}
//! buffer in: u32[{words}] = (i + 1) for i
//! buffer out: u32[{words}]
//! arg in = in
//! arg out = out
.shared .align 16 .b8 data[{bytes}];
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p<5>;
    .reg .b32 %r<9>, %t, %s;
    .reg .b64 %rd<9>, %in, %out;
    mov.u32 %t, %tid.x;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mad.wide.u32 %in, %t, 64, %in;
    mad.wide.u32 %out, %t, 64, %out;
    mov.u32 %s, data;
    mad.lo.u32 %s, %t, 64, %s;
    {fill}
    {body}
    ret;
}}
",
        bytes = 4 * words
    )
}

fn parsed(text: &str) -> Program {
    let program = Program::parse("k.ir", text);
    assert!(program.is_sound(), "{:?}\n{text}", program.findings);
    program
}

fn launch(program: &Program) -> Launch {
    let kernel = program.kernel(None).expect("one kernel");
    let none = |_: &str, _| Err("no files".to_owned());
    program.launch(kernel, &Overrides::default(), &none).expect("sound directives")
}

fn run(program: &Program, machine: &Machine, mode: Mode) -> Outcome<Counts> {
    let kernel = program.kernel(None).expect("one kernel");
    let options = Options::of(machine, mode);
    Job::new(program, kernel, launch(program), machine, options).count(&()).expect("fits")
}

/// Returns the output of the oracle, after comparing it with runs in both modes.
pub(super) fn outputs(text: &str) -> Vec<u32> {
    let program = parsed(text);
    let kernel = program.kernel(None).expect("one kernel");
    let expected = oracle::run(kernel, &launch(&program), 1 << 24).expect("it ends").buffers;
    for preset in ["teaching", "h200", "fermi"] {
        let machine = Machine::preset(preset).expect("a preset");
        for mode in MODES.into_iter().filter(|mode| machine.modes.contains(mode)) {
            for lowering in [Lowering::AsWritten, Lowering::Hardware] {
                let outcome = run(&program, &machine.lowered(lowering), mode);
                assert!(matches!(outcome.finish, Finish::Ok), "{preset}: {:?}", outcome.finish);
                for (buffer, expected) in outcome.launch.buffers.iter().zip(&expected) {
                    assert_eq!(
                        &buffer.words,
                        expected,
                        "{preset}, {}: {}",
                        mode.name(),
                        buffer.name
                    );
                }
            }
        }
    }
    expected.into_iter().nth(1).expect("two buffers")
}

/// Runs a program around `body` on `h200` in volta mode.
pub(super) fn run_volta(body: &str) -> Outcome<Counts> {
    run_text(&program(body))
}

/// Runs a program on `h200` in volta mode.
pub(super) fn run_text(text: &str) -> Outcome<Counts> {
    run(&parsed(text), &Machine::preset("h200").expect("a preset"), Mode::Volta)
}

/// Returns the words of one thread, with `loads` words read from shared memory after `body`.
fn words_of(thread: u32, body: &str, loads: u32) -> Vec<u32> {
    let store: String = (0..loads)
        .map(|i| format!("ld.shared.u32 %r1, [%s+{0}];\nst.global.u32 [%out+{0}], %r1;\n", 4 * i))
        .collect();
    let all = outputs(&program(&format!("{body}\n{store}")));
    all[(thread * 16) as usize..][..loads as usize].to_vec()
}

fn totals(text: &str, preset: &str) -> Totals {
    let machine = Machine::preset(preset).expect("a preset");
    run(&parsed(text), &machine, Mode::Volta).observer.finish()
}

#[test]
fn a_copy_is_visible_after_the_wait_and_not_before() {
    let copy = "cp.async.ca.shared.global [%s], [%in], 4;\ncp.async.commit_group;\n";
    assert_eq!(words_of(3, copy, 1), [0xee], "without a wait");
    for wait in ["cp.async.wait_group 0;", "cp.async.wait_all;"] {
        assert_eq!(words_of(3, &format!("{copy}{wait}"), 2), [49, 0xee], "{wait}");
    }
    let open = "cp.async.ca.shared.global [%s], [%in], 4;\n";
    assert_eq!(words_of(3, &format!("{open}cp.async.wait_group 0;"), 1), [0xee], "in no group");
    assert_eq!(words_of(3, &format!("{open}cp.async.wait_all;"), 1), [49]);
}

#[test]
fn a_wait_leaves_the_latest_groups_out() {
    let copies: String = (0..4)
        .map(|i| {
            format!(
                "cp.async.ca.shared::cta.global [%s+{0}], [%in+{0}], 4;\ncp.async.commit_group;\n",
                4 * i
            )
        })
        .collect();
    for left in 0..6u32 {
        let expected: Vec<u32> = (0..4).map(|i| if i + left < 4 { i + 1 } else { 0xee }).collect();
        assert_eq!(words_of(0, &format!("{copies}cp.async.wait_group {left};"), 4), expected);
    }
    // An empty group counts.
    let empty = format!("{copies}cp.async.commit_group;\ncp.async.wait_group 1;");
    assert_eq!(words_of(0, &empty, 4), [1, 2, 3, 4]);
}

#[test]
fn lanes_have_groups_of_their_own() {
    // Odd threads commit once more, so that their wait for all but one group includes the copy.
    let body = "
    cp.async.ca.shared.global [%s], [%in], 4;
    cp.async.commit_group;
    and.b32 %r1, %t, 1;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 bra Odd;
    bra Both;
Odd:
    cp.async.commit_group;
Both:
    cp.async.wait_group 1;";
    assert_eq!(words_of(6, body, 1), [0xee]);
    assert_eq!(words_of(7, body, 1), [7 * 16 + 1]);
}

#[test]
fn sizes_and_zeros() {
    let waits = |copy: &str| format!("{copy}\ncp.async.wait_all;");
    let of = |copy: &str| words_of(1, &waits(copy), 5);
    assert_eq!(of("cp.async.ca.shared.global [%s], [%in], 8;"), [17, 18, 0xee, 0xee, 0xee]);
    for cache in ["ca", "cg"] {
        let copy = format!("cp.async.{cache}.shared.global.L2::128B [%s], [%in], 16;");
        assert_eq!(of(&copy), [17, 18, 19, 20, 0xee]);
    }
    assert_eq!(of("cp.async.cg.shared.global [%s], [%in], 16, 8;"), [17, 18, 0, 0, 0xee]);
    assert_eq!(of("cp.async.cg.shared.global [%s], [%in], 16, 0;"), [0, 0, 0, 0, 0xee]);
    // One byte of the second word.
    let bytes =
        "add.u64 %in, %in, 0;\nmov.u32 %r1, 5;\ncp.async.ca.shared.global [%s], [%in], 8, %r1;";
    assert_eq!(of(bytes), [17, 18, 0xee, 0xee, 0xee]);
    // A source that is not read may be anywhere.
    let nowhere =
        "mov.u64 %in, 0;\nmov.u32 %r1, 0;\ncp.async.ca.shared.global [%s], [%in], 4, %r1;";
    assert_eq!(of(nowhere), [0, 0xee, 0xee, 0xee, 0xee]);
    let ignored = "setp.eq.u32 %p1, %t, 1;\ncp.async.ca.shared.global [%s], [%in], 4, %p1;";
    assert_eq!(of(ignored), [0, 0xee, 0xee, 0xee, 0xee]);
    let policy = "setp.ne.u32 %p1, %t, 1;\nmov.u64 %rd1, 0;
        cp.async.ca.shared.global.L2::cache_hint [%s], [%in], 4, %p1, %rd1;";
    assert_eq!(of(policy), [17, 0xee, 0xee, 0xee, 0xee]);
}

#[test]
fn a_copy_checks_both_addresses() {
    let fault = |body: &str| {
        let text = program(body);
        let outcome = run(&parsed(&text), &Machine::preset("h200").expect("a preset"), Mode::Volta);
        match outcome.finish {
            Finish::Fault(report) => report.fault.kind,
            other => panic!("{other:?}"),
        }
    };
    let faults = |copy| (fault(copy), copy);
    use simt_core::isa::Space::{Global, Shared};
    assert!(matches!(
        faults("mov.u32 %s, 100000;\ncp.async.ca.shared.global [%s], [%in], 4;").0,
        FaultKind::OutOfBounds { space: Shared, address: 100_000, bytes: 4 }
    ));
    assert!(matches!(
        faults("cp.async.cg.shared.global [%s+8], [%in], 16;").0,
        FaultKind::Misaligned { space: Shared, bytes: 16, .. }
    ));
    assert!(matches!(
        faults("cp.async.cg.shared.global [%s], [%in+4], 16;").0,
        FaultKind::Misaligned { space: Global, bytes: 16, .. }
    ));
    assert!(matches!(
        faults("cp.async.ca.shared.global [%s], [%in+4000], 4;").0,
        FaultKind::OutOfBounds { space: Global, bytes: 4, .. }
    ));
}

#[test]
fn wrong_copies_are_errors() {
    for (copy, expected) in [
        ("cp.async.cg.shared.global [%s], [%in], 4;", "copies 16 bytes, not 4"),
        ("cp.async.ca.shared.global [%s], [%in], 12;", "copies 4, 8 or 16 bytes, not 12"),
        ("cp.async.wait_group -1;", "-1 is no number of groups"),
        ("cp.async.ca.shared.global [%s], [%in], 4, %q;", "`%q` is not declared"),
        ("cp.async.ca.shared.global [bar], [%t], 4;", "expected 64-bit global address"),
    ] {
        let program = Program::parse("k.ir", &program(copy));
        let messages: Vec<&str> = program.findings.iter().map(|d| d.message.as_str()).collect();
        assert!(messages.iter().any(|m| m.contains(expected)), "{copy}: {messages:?}");
    }
}

#[test]
fn work_between_copy_and_wait_hides_the_latency() {
    let work = "mul.lo.u32 %r1, %r1, 3;\n".repeat(60);
    let copy = "cp.async.ca.shared.global [%s], [%in], 4;\n";
    let cycles = |body: String| totals(&program(&body), "h200").elapsed_cycles;
    let (alone, hidden, after) = (
        cycles(format!("{copy}cp.async.wait_all;")),
        cycles(format!("{copy}{work}cp.async.wait_all;")),
        cycles(format!("{copy}cp.async.wait_all;\n{work}")),
    );
    assert!(alone < after && hidden < after, "{alone} {hidden} {after}");
    let unwaited = cycles(copy.to_owned());
    assert!(unwaited + 200 < alone, "without a wait, a copy stalls no warp: {unwaited}");
    assert!(hidden < alone + 60, "the work runs while the data come: {alone}, {hidden}");
}

#[test]
fn a_copy_counts_as_global_load_and_apart_from_shared_stores() {
    let before = totals(&program(""), "h200");
    let after =
        totals(&program("cp.async.cg.shared.global [%s], [%in], 16;\ncp.async.wait_all;"), "h200");
    // Two blocks of two warps; 40 lanes of a block, each in sectors of its own.
    let new = |memory: MemoryKind, way: AccessWay, count: fn(&TrafficTotals) -> u64| {
        let of = |totals: &Totals| count(&totals.traffic[memory as usize][way as usize]);
        of(&after) - of(&before)
    };
    assert_eq!(new(MemoryKind::Global, AccessWay::Load, |t| t.requests), 4);
    assert_eq!(new(MemoryKind::Global, AccessWay::Load, |t| t.sectors), 80);
    assert_eq!(new(MemoryKind::Shared, AccessWay::Store, |t| t.requests), 0);
    assert_eq!(after.shared_copies.requests - before.shared_copies.requests, 4);
}
