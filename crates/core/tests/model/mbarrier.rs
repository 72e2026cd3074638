//! Barrier objects: `mbarrier`, and arrivals of asynchronous copies.

use simt_core::Program;
use simt_core::exec::FaultKind;
use simt_core::machine::Finish;

use super::copies::{outputs, program, run_volta};

/// One thread makes the object, all others wait for it.
const INIT: &str = "
    setp.eq.u32 %p1, %t, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 40;
    bar.sync 0;";

/// Returns the first word of each thread of a block.
fn firsts(body: &str) -> Vec<u32> {
    outputs(&program(body)).chunks(16).map(|words| words[0]).collect()
}

/// Each thread writes a word, and reads that of its mirror thread after `arrive_and_wait`.
fn mirrored(arrive_and_wait: &str) -> Vec<u32> {
    firsts(&format!(
        "{INIT}
    add.u32 %r1, %t, 100;
    st.shared.u32 [%s], %r1;
    {arrive_and_wait}
    sub.u32 %r2, 39, %t;
    mov.u32 %r3, data;
    mad.lo.u32 %r2, %r2, 64, %r3;
    ld.shared.u32 %r1, [%r2];
    st.global.u32 [%out], %r1;"
    ))
}

#[test]
fn threads_wait_for_all_arrivals() {
    let expected: Vec<u32> = (0..40).map(|t| 139 - t).collect();
    for (arrive, wait) in [
        (
            "mbarrier.arrive.shared.b64 %rd1, [bar];",
            "mbarrier.test_wait.shared.b64 %p2, [bar], %rd1;",
        ),
        (
            "mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [bar], 1;",
            "mbarrier.try_wait.acquire.cta.shared::cta.b64 %p2, [bar], %rd1, 100;",
        ),
        (
            "mbarrier.arrive.shared.b64 _, [bar];",
            "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;",
        ),
        (
            "mov.u64 %rd2, bar;\ncvta.shared.u64 %rd2, %rd2;\nmbarrier.arrive.b64 %rd1, [%rd2];",
            "mbarrier.try_wait.parity.b64 %p2, [%rd2], 0;",
        ),
        (
            "setp.ne.u32 %p3, %t, 7;\n@%p3 mbarrier.arrive.shared.b64 _, [bar];
             @!%p3 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
             @!%p3 mbarrier.complete_tx.shared.b64 [bar], 16;",
            "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;",
        ),
    ] {
        let body = format!("{arrive}\nWait:\n{wait}\n@!%p2 bra Wait;");
        assert_eq!(mirrored(&body), expected, "{arrive} {wait}");
    }
}

#[test]
fn phases_follow_each_other() {
    // Each round doubles the mirror thread's word of the round before.
    let body = format!(
        "{INIT}
    mov.u32 %r4, 0;
    sub.u32 %r2, 39, %t;
    mov.u32 %r3, data;
    mad.lo.u32 %r2, %r2, 64, %r3;
    add.u32 %r1, %t, 1;
Round:
    st.shared.u32 [%s], %r1;
    mbarrier.arrive.shared.b64 %rd1, [bar];
First:
    mbarrier.try_wait.shared.b64 %p2, [bar], %rd1;
    @!%p2 bra First;
    ld.shared.u32 %r1, [%r2];
    shl.b32 %r1, %r1, 1;
    mbarrier.arrive.shared.b64 %rd1, [bar];
Second:
    mbarrier.try_wait.shared.b64 %p2, [bar], %rd1;
    @!%p2 bra Second;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p3, %r4, 3;
    @%p3 bra Round;
    st.global.u32 [%out], %r1;"
    );
    assert_eq!(firsts(&body), (0..40).map(|t| (40 - t) * 8).collect::<Vec<u32>>());
}

#[test]
fn states_tell_the_pending_arrivals() {
    let body = "
    setp.ne.u32 %p1, %t, 0;
    @%p1 exit;
    mbarrier.init.shared.b64 [bar], 5;
    mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 2;
    mbarrier.arrive_drop.shared.b64 %rd2, [bar];
    mbarrier.arrive.shared.b64 %rd3, [bar], 2;
    mbarrier.arrive.shared.b64 %rd4, [bar];
    mbarrier.pending_count.b64 %r1, %rd1;
    mbarrier.pending_count.b64 %r2, %rd2;
    mbarrier.pending_count.b64 %r3, %rd3;
    mbarrier.pending_count.b64 %r4, %rd4;
    mbarrier.test_wait.shared.b64 %p2, [bar], %rd3;
    mbarrier.test_wait.shared.b64 %p3, [bar], %rd4;
    selp.u32 %r5, 1, 0, %p2;
    selp.u32 %r6, 1, 0, %p3;
    st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
    st.global.v2.u32 [%out+16], {%r5, %r6};
    mbarrier.inval.shared.b64 [bar];";
    // The next phase expects one arrival less.
    assert_eq!(outputs(&program(body))[..6], [5, 3, 2, 4, 1, 0]);
}

#[test]
fn copies_arrive_when_their_data_are_there() {
    let expected: Vec<u32> = (0..40).map(|t| (39 - t) * 16 + 1).collect();
    let read = "
    sub.u32 %r2, 39, %t;
    mov.u32 %r3, data;
    mad.lo.u32 %r2, %r2, 64, %r3;
    ld.shared.u32 %r1, [%r2];
    st.global.u32 [%out], %r1;";
    let copy = "cp.async.ca.shared.global [%s], [%in], 4;";
    let wait = "Wait:\nmbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra Wait;";
    for arrive in [
        "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];",
        "cp.async.mbarrier.arrive.shared.b64 [bar];\nmbarrier.arrive.shared.b64 _, [bar];",
    ] {
        let body = format!("{INIT}\n{copy}\n{arrive}\n{wait}\n{read}");
        assert_eq!(firsts(&body), expected, "{arrive}");
    }
    // The phase lasts as long as the copies.
    let cycles = |body: &str| {
        let outcome = run_volta(&format!("{INIT}\n{body}\n{wait}"));
        outcome.observer.finish().elapsed_cycles
    };
    let alone = cycles("mbarrier.arrive.shared.b64 _, [bar];");
    let copied = cycles(&format!("{copy}\ncp.async.mbarrier.arrive.noinc.shared.b64 [bar];"));
    assert!(copied > alone + 300, "{alone} {copied}");
}

#[test]
fn misuse_is_a_fault_and_a_missing_arrival_a_hang() {
    let fault = |body: &str| match run_volta(body).finish {
        Finish::Fault(report) => report.fault.kind,
        other => panic!("{other:?}"),
    };
    assert!(matches!(
        fault("mbarrier.init.shared.b64 [bar], 0;"),
        FaultKind::BadArrivalCount { count: 0 }
    ));
    assert!(matches!(
        fault("mbarrier.arrive.shared.b64 _, [bar];"),
        FaultKind::TooManyArrivals { .. }
    ));
    assert!(matches!(
        fault("mbarrier.init.shared.b64 [data+4], 1;"),
        FaultKind::Misaligned { bytes: 8, .. }
    ));
    assert!(matches!(
        fault("mbarrier.init.b64 [%out], 1;"),
        FaultKind::OutOfBounds { bytes: 8, .. }
    ));
    let hang = format!(
        "{INIT}\nWait:\nmbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra Wait;"
    );
    let finish = run_volta(&hang).finish;
    assert!(matches!(finish, Finish::Livelock(_)), "{finish:?}");
}

#[test]
fn clusters_are_named_in_errors() {
    let text = program("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [bar];");
    let program = Program::parse("k.ir", &text);
    assert!(!program.is_sound());
}
