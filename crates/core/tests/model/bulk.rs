//! Bulk copies and reductions: `cp.async.bulk`, `cp.reduce.async.bulk`, their groups and waits.

use simt_core::Program;
use simt_core::exec::FaultKind;
use simt_core::machine::Finish;

use super::copies::{outputs, program, run_volta};

/// One thread of a block goes on. Word `i` of the input is `i + 1`.
const ALONE: &str = "
    bar.sync 0;
    setp.ne.u32 %p1, %t, 0;
    @%p1 exit;
    mbarrier.init.shared.b64 [bar], 1;";
const WAIT: &str = "
Wait:
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra Wait;";
/// A copy to shared memory, and the wait for it.
fn loaded(operands: &str, bytes: u32) -> String {
    format!(
        "{ALONE}
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes};
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes {operands}, {bytes}, [bar];{WAIT}"
    )
}

fn fault(body: &str) -> FaultKind {
    match run_volta(body).finish {
        Finish::Fault(report) => report.fault.kind,
        other => panic!("{other:?}\n{body}"),
    }
}

#[test]
fn a_copy_is_in_shared_memory_when_its_bytes_have_arrived() {
    let store = "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [data+2032];
    st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};";
    let body = format!("{}\n{store}", loaded("[data+16], [%in+64]", 2032));
    assert_eq!(outputs(&program(&body))[..4], [521, 522, 523, 524]);
    // The bytes are counted once, so a second phase needs its own.
    let missing = format!(
        "{}
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
Again:
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 1;
    @!%p2 bra Again;",
        loaded("[data], [%in]", 16)
    );
    let finish = run_volta(&missing).finish;
    assert!(matches!(finish, Finish::Livelock(_)), "{finish:?}");
}

#[test]
fn each_lane_starts_a_copy_of_its_own() {
    let body = "
    setp.eq.u32 %p1, %t, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 40;
    bar.sync 0;
    and.b32 %r1, %t, 3;
    shl.b32 %r1, %r1, 4;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r1;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], %r1, [bar];
Wait:
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra Wait;
    cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 64;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;";
    let expected = |i: u32| if i % 16 / 4 < i / 16 % 4 { i + 1 } else { 0xee };
    assert_eq!(outputs(&program(body)), (0..640).map(expected).collect::<Vec<u32>>());
}

#[test]
fn reductions_combine_elements() {
    for (form, old, b, new) in [
        ("add.u32", [7, 8, 9, u32::MAX], [1, 2, 3, 4], [8, 10, 12, 3]),
        ("min.s32", [1, 2, u32::MAX, 4], [3, u32::MAX, 0, 4], [1, u32::MAX, u32::MAX, 4]),
        ("max.u64", [1, 2, 9, 0], [3, 1, 0, 1], [1, 2, 0, 1]),
        ("inc.u32", [3, 4, 5, 0], [4, 4, 4, 4], [4, 0, 0, 1]),
        ("xor.b64", [1, 2, 3, 4], [4, 4, 4, 4], [5, 6, 7, 0]),
        ("add.u64", [u32::MAX, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 2]),
        ("add.f32", [0x3f80_0000, 1, 0, 0], [0x4000_0000, 1, 0, 0], [0x4040_0000, 2, 0, 0]),
        ("add.noftz.f16", [0x3c00_0001, 0, 0, 0], [0x3c00_0001, 0, 0, 0], [0x4000_0002, 0, 0, 0]),
        ("max.bf16", [0x3f80_4000, 0, 0, 0], [0x4000_3f80, 0, 0, 0], [0x4000_4000, 0, 0, 0]),
    ] {
        let [old, b] = [old, b].map(|words| words.map(|word: u32| word.to_string()).join(", "));
        let body = format!(
            "{ALONE}
    st.global.v4.u32 [%out], {{{old}}};
    st.shared.v4.u32 [data], {{{b}}};
    cp.reduce.async.bulk.global.shared::cta.bulk_group.{form} [%out], [data], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;"
        );
        let alone = program(&body).replace("grid = 2", "grid = 1");
        assert_eq!(outputs(&alone)[..4], new, "{form}");
    }
}

#[test]
fn waits_take_the_time_of_the_copies() {
    let cycles = |body: &str| run_volta(body).observer.finish().elapsed_cycles;
    let start = |bytes: u32| {
        format!("cp.async.bulk.global.shared::cta.bulk_group [%out], [data], {bytes};\n")
    };
    let commit = "cp.async.bulk.commit_group;\n";
    let wait = |groups: u32| format!("cp.async.bulk.wait_group {groups};\n");
    let of = |parts: &[&str]| cycles(&format!("{ALONE}{}", parts.concat()));
    let (large, small) = (start(2048), start(16));
    let all = of(&[&large, commit, &small, commit, &wait(0)]);
    let none = of(&[&large, commit, &small, commit, &wait(2)]);
    let uncommitted = of(&[&large, &small, &wait(0)]);
    assert!(all > none + 60, "{all} {none}");
    assert!(uncommitted < none + 10, "{uncommitted} {none}");
    let [short, long] = [16, 2048].map(|bytes| cycles(&loaded("[data], [%in]", bytes)));
    assert!(long > short && short > 300, "{short} {long}");
}

#[test]
fn misuse_is_a_fault() {
    use FaultKind::{BadCopySize, Misaligned, OutOfBounds};
    assert!(matches!(fault(&loaded("[data+8], [%in]", 16)), Misaligned { bytes: 16, .. }));
    assert!(matches!(fault(&loaded("[data], [%in+4]", 16)), Misaligned { bytes: 16, .. }));
    assert!(matches!(fault(&loaded("[data], [%in]", 24)), BadCopySize { bytes: 24 }));
    assert!(matches!(fault(&loaded("[data], [%in]", 4096)), OutOfBounds { bytes: 4096, .. }));
    assert!(matches!(fault(&loaded("[data+2048], [%in]", 1024)), OutOfBounds { .. }));
    let object = loaded("[data], [%in]", 16).replace("16, [bar]", "16, [data+4]");
    assert!(matches!(fault(&object), Misaligned { bytes: 8, .. }));
}

#[test]
fn other_forms_have_reasons() {
    for (mnemonic, reason) in [
        ("cp.async.bulk.tensor.3d.shared::cluster.global.im2col", "copy of a tensor's tile"),
        ("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", "clusters"),
        ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask", "this form of a bulk copy"),
    ] {
        let program = Program::parse("k.ir", &program(&format!("{mnemonic} [%out], [data], 16;")));
        let found = program.findings.iter().any(|finding| finding.message.contains(reason));
        assert!(found, "{mnemonic}: {:?}", program.findings);
    }
}
