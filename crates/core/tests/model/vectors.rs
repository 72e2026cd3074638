//! Atomics on vectors, and accesses with cache hints.

use simt_core::exec::FaultKind;
use simt_core::machine::Finish;

use super::copies::{outputs, program, run_volta};

/// Returns the first words of a thread's output, after a program around `body`.
fn words(body: &str, thread: usize, count: usize) -> Vec<u32> {
    outputs(&program(body))[thread * 16..][..count].to_vec()
}

/// Returns two 16-bit values in one word.
const fn pair(high: u32, low: u32) -> u32 {
    high << 16 | low
}

/// Both blocks add 1, 2, 3, 4 times the thread's number to the four words of a thread.
#[test]
fn each_element_is_added() {
    let body = "
    .reg .f32 %f<9>;
    cvt.rn.f32.u32 %f1, %t;
    add.f32 %f2, %f1, %f1;
    add.f32 %f3, %f2, %f1;
    add.f32 %f4, %f2, %f2;
    ";
    let expected = |t: f32| [1.0, 2.0, 3.0, 4.0].map(|by| (2.0 * by * t).to_bits()).to_vec();
    for add in [
        "red.global.add.v4.f32 [%out], {%f1, %f2, %f3, %f4};",
        "atom.global.v4.f32.add {%f5, %f6, _, %f7}, [%out], {%f1, %f2, %f3, %f4};",
        "red.add.v2.f32 [%out], {%f1, %f2};
         red.relaxed.gpu.global.add.L2::cache_hint.v2.f32 [%out+8], {%f3, %f4}, %rd1;",
        // Results replace operands of the same instruction.
        "atom.global.add.v4.f32 {%f2, %f3, %f4, %f1}, [%out], {%f1, %f2, %f3, %f4};",
    ] {
        assert_eq!(words(&format!("{body}{add}"), 7, 4), expected(7.0), "{add}");
    }
}

#[test]
fn results_are_the_values_before() {
    // The second update of a thread finds what the first one left.
    let body = "
    .reg .f32 %f<9>;
    .reg .b64 %own;
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 exit;
    add.u64 %own, %out, 32;
    mov.f32 %f1, 0f3f800000;
    mov.f32 %f2, 0f40000000;
    atom.global.add.v2.f32 {%f3, %f4}, [%own], {%f1, %f2};
    atom.global.add.v2.f32 {%f3, %f4}, [%own], {%f1, %f2};
    st.global.v2.f32 [%out], {%f3, %f4};";
    assert_eq!(words(body, 3, 2), [1f32.to_bits(), 2f32.to_bits()]);
}

#[test]
fn halves_have_sums_and_extremes() {
    let body = "
    .reg .b16 %h<9>;
    mov.b32 {%h1, %h2}, 0x40003c00;
    mov.b32 {%h3, %h4}, 0xbc004200;
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 exit;
    ";
    // 1, 2, 3, -1 in half precision, added to zeros and compared with them.
    for (update, expected) in [
        (
            "red.global.add.noftz.v4.f16 [%out], {%h1, %h2, %h3, %h4};",
            [pair(0x4000, 0x3c00), pair(0xbc00, 0x4200)],
        ),
        ("red.global.min.noftz.v4.f16 [%out], {%h1, %h2, %h3, %h4};", [0, pair(0xbc00, 0)]),
        (
            "red.global.max.noftz.v4.f16 [%out], {%h1, %h2, %h3, %h4};",
            [pair(0x4000, 0x3c00), pair(0, 0x4200)],
        ),
        (
            "mov.u32 %r2, 0x40003c00; mov.u32 %r3, 0xbc004200;
            red.global.add.noftz.v2.f16x2 [%out], {%r2, %r3};",
            [pair(0x4000, 0x3c00), pair(0xbc00, 0x4200)],
        ),
        (
            "mov.u32 %r2, 0x40003f80; mov.u32 %r3, 0xbf804040;
            red.global.max.noftz.v2.bf16x2 [%out], {%r2, %r3};",
            [pair(0x4000, 0x3f80), pair(0, 0x4040)],
        ),
    ] {
        assert_eq!(words(&format!("{body}{update}"), 5, 2), expected, "{update}");
    }
}

#[test]
fn a_vector_must_be_aligned_as_a_whole() {
    let finish = run_volta(
        "red.global.add.v4.f32 [%out+8], {0f0, 0f0, 0f0, 0f0};"
            .replace("0f0", "0f00000000")
            .as_str(),
    )
    .finish;
    let Finish::Fault(report) = finish else { panic!("{finish:?}") };
    assert!(matches!(report.fault.kind, FaultKind::Misaligned { bytes: 16, .. }), "{report:?}");
}

#[test]
fn policies_change_no_result() {
    let body = "
    createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;
    createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd2;
    createpolicy.range.global.L2::evict_last.b64 %rd3, [%in], 0x1000, 0x2000;
    createpolicy.cvt.L2.b64 %rd4, %rd1;
    ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v2.u32 {%r1, %r2}, [%in], %rd1;
    ld.acquire.gpu.global.L2::cache_hint.u32 %r3, [%in+8], %rd2;
    st.global.L2::cache_hint.v2.u32 [%out], {%r1, %r2}, %rd3;
    atom.global.L2::cache_hint.exch.b32 %r4, [%out+8], %r3, %rd4;";
    assert_eq!(words(body, 2, 3), [33, 34, 35]);
}
