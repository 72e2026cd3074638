//! Counts of single instructions and of folded patterns.

use super::*;
use crate::kernel::check;
use crate::ptx;
use crate::spec::Machine;

/// Returns the counts of a body's instructions on a preset.
fn counts_on(preset: &str, body: &str) -> Vec<u32> {
    let source = format!(
        ".func (.param .b32 r) f(.param .b32 x) {{ .reg .b32 %r1; ld.param.b32 %r1, [x]; st.param.b32 [r], %r1; ret; }}
.entry k(.param .u64 out, .param .u32 n) {{ .param .b32 a, b; .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 tile[64];\n{body}\n}}\n"
    );
    let (module, faults) = ptx::parse(&source);
    assert!(faults.is_empty(), "{faults:?}");
    let (kernels, found) = check(&module, &source);
    let kernel = kernels.first().unwrap_or_else(|| panic!("{found:?}"));
    let text = Machine::preset_text(preset).expect("a preset");
    let spec = Machine::parse(text).expect("a sound file");
    counts(kernel, &Target::new(&spec, true), spec.code.as_ref().expect("a machine with code"))
}

#[test]
fn neighbours_ride_along() {
    for (preset, body, expected) in [
        ("h200", "rem.u32 %r2, %r1, %r3; st.shared.u32 [tile], %r2; ret;", vec![17, 1, 1]),
        (
            "h200",
            "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; st.global.u32 [%rd2], %r1; ret;",
            vec![1, 0, 1, 1],
        ),
        (
            "ampere",
            "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; st.global.u32 [%rd2], %r1; ret;",
            vec![0, 0, 1, 1],
        ),
        // IMAD.WIDE; before Volta two multiply-adds.
        (
            "h200",
            "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd2, %rd3, %rd1; st.global.u32 [%rd2], %r1; ret;",
            vec![0, 1, 1, 1],
        ),
        (
            "fermi",
            "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd2, %rd3, %rd1; st.global.u32 [%rd2], %r1; ret;",
            vec![0, 2, 1, 1],
        ),
        ("h200", "add.u64 %rd2, %rd3, %rd1; st.global.u32 [%rd2], %r1; ret;", vec![2, 1, 1]),
        ("h200", "add.u64 %rd2, %rd3, 16; st.global.u32 [%rd2], %r1; ret;", vec![0, 1, 1]),
        (
            "h200",
            "shl.b32 %r2, %r1, 2; add.u32 %r3, %r2, %r4; st.shared.u32 [%r3], %r1; ret;",
            vec![0, 1, 1, 1],
        ),
        // IADD3 takes three operands, not four.
        (
            "h200",
            "add.u32 %r2, %r1, %r1; add.u32 %r3, %r2, %r4; add.u32 %r5, %r3, %r4; st.shared.u32 [tile], %r5; ret;",
            vec![0, 1, 1, 1, 1],
        ),
        (
            "fermi",
            "add.u32 %r2, %r1, %r1; add.u32 %r3, %r2, %r4; st.shared.u32 [tile], %r3; ret;",
            vec![1, 1, 1, 1],
        ),
        // Arguments and results of a call are in registers; the function is `ld.param`, `st.param`,
        // `ret`.
        (
            "h200",
            "st.param.b32 [a], %r1; call (b), f, (a); ld.param.b32 %r2, [b]; st.shared.u32 [tile], %r2; ret;",
            vec![0, 1, 0, 1, 1, 0, 0, 1],
        ),
        // A loop variable keeps its moves.
        (
            "h200",
            "mov.u32 %r2, 1; L: mov.u32 %r3, %r2; add.u32 %r2, %r3, %r1; setp.lt.u32 %p1, %r2, 9; @%p1 bra L; ret;",
            vec![1, 1, 1, 1, 1, 1],
        ),
    ] {
        assert_eq!(counts_on(preset, body), expected, "{preset}: {body}");
    }
}
