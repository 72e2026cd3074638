//! Video instructions, against values by hand from the PTX manual.

use super::copies::{outputs, program};

/// Returns the result of an instruction on `%r2`, `%r3` and `%r4`.
fn result(inst: &str, [a, b, c]: [u32; 3]) -> u32 {
    let body = format!(
        "mov.u32 %r2, {a};\nmov.u32 %r3, {b};\nmov.u32 %r4, {c};\n{inst}\nst.global.u32 [%out], %r1;"
    );
    outputs(&program(&body))[0]
}

#[test]
fn scalar_instructions_select_clamp_and_combine() {
    const A: u32 = 0x80ff_7f01;
    const B: u32 = 0xfffe_0280;
    const C: u32 = 0x1122_3344;
    for (inst, expected) in [
        ("vadd.u32.u32.u32 %r1, %r2, %r3;", 0x80fd_8181),
        // As an H200, against the manual.
        ("vadd.u32.u32.u32.sat %r1, %r2, %r3;", 0x80fd_8181),
        // -1 (byte 2 of a) + 0x280
        ("vadd.s32.s32.s32 %r1, %r2.b2, %r3.h0;", 0x27f),
        // 0x7f01 + -2, clamped to 8 bits and put in byte 1 of c
        ("vadd.s32.s32.s32.sat %r1.b1, %r2.h0, %r3.h1, %r4;", 0x1122_7f44),
        ("vadd.u32.u32.u32.add %r1, %r2.b0, %r3.b0, %r4;", 0x1122_33c5),
        ("vsub.s32.u32.u32 %r1, %r2.b0, %r3.b0;", 0xffff_ff81),
        ("vsub.u32.u32.u32.sat %r1, %r2.b0, %r3.b0;", 0),
        ("vabsdiff.u32.s32.s32 %r1, %r2.b3, %r3.b1;", 130),
        ("vmin.s32.s32.u32.max %r1, %r2.b2, %r3.b2, %r4;", C),
        ("vmax.u32.u32.u32.min %r1, %r2.b2, %r3.b1, %r4;", 0xff),
        ("vshl.u32.u32.u32.clamp %r1, %r2, %r4.b3;", 0xfe02_0000),
        ("vshl.u32.u32.u32.wrap %r1, %r2, %r3.b0;", A),
        ("vshl.u32.u32.u32.clamp %r1, %r2, %r3.b0;", 0),
        ("vshr.s32.s32.u32.clamp %r1, %r2, %r3.b0;", 0xffff_ffff),
        ("vshr.u32.u32.u32.wrap.add %r1, %r2, %r3.b1, %r4;", 0x3162_1304),
        // -1 * 0x80 + c
        ("vmad.s32.s32.u32 %r1, %r2.b2, %r3.b0, %r4;", 0x1122_32c4),
        ("vmad.s32.s32.u32.shr7 %r1, %r2.b2, %r3.b0, %r4;", 0x0022_4465),
        ("vmad.u32.u32.u32.po %r1, %r2.b0, %r3.b0, %r4;", 0x1122_33c5),
        ("vmad.s32.s32.s32.sat %r1, %r2, %r3.h0, %r4;", 0x8000_0000),
        ("vset.s32.u32.lt %r1, %r2.b2, %r3.b2;", 1),
        ("vset.u32.u32.ge.add %r1, %r2.b2, %r3.b2, %r4;", C + 1),
        ("vset.u32.u32.eq %r1.h1, %r2.b0, %r3.b0, %r4;", 0x3344),
    ] {
        let found = result(inst, [A, B, C]);
        assert_eq!(found, expected, "{inst}: {found:#x}, not {expected:#x}");
    }
}

#[test]
fn simd_instructions_work_on_each_part() {
    const A: u32 = 0x8001_7fff;
    const B: u32 = 0xffff_0001;
    const C: u32 = 0x1122_3344;
    for (inst, expected) in [
        ("vadd2.s32.s32.s32 %r1, %r2, %r3, %r4;", 0x8000_8000),
        ("vadd2.s32.s32.s32.sat %r1, %r2, %r3, %r4;", 0x8000_7fff),
        ("vadd2.u32.u32.u32.sat %r1, %r2, %r3, %r4;", 0xffff_8000),
        // 0x18000 + 0x8000 + c
        ("vadd2.u32.u32.u32.add %r1, %r2, %r3, %r4;", 0x1124_3344),
        ("vadd2.u32.u32.u32 %r1.h0, %r2, %r3, %r4;", 0x1122_8000),
        // Lower parts: 3 and 1, upper parts: 0 and 2, of the halves of {b, a}.
        ("vsub2.u32.u32.u32 %r1, %r2.h03, %r3.h21, %r4;", 0x7ffe_7ffe),
        ("vavrg2.s32.s32.s32 %r1, %r2, %r3, %r4;", 0xc000_4000),
        ("vabsdiff2.u32.s32.s32 %r1, %r2, %r3, %r4;", 0x7ffe_7ffe),
        ("vmin2.s32.s32.s32 %r1, %r2, %r3, %r4;", 0x8001_0001),
        ("vmax2.u32.u32.u32 %r1, %r2, %r3, %r4;", 0xffff_7fff),
        ("vabsdiff4.s32.u32.u32.sat %r1, %r2, %r3, %r4;", 0x7f7f_7f7f),
        ("vset2.s32.s32.lt %r1, %r2, %r3, %r4;", 0x0001_0000),
        ("vset2.s32.s32.ne.add %r1, %r2, %r3, %r4;", C + 2),
        ("vadd4.u32.u32.u32 %r1, %r2, %r3, %r4;", 0x7f00_7f00),
        ("vadd4.s32.s32.s32.sat %r1, %r2, %r3, %r4;", 0x8000_7f00),
        ("vsub4.u32.u32.u32.sat %r1, %r2, %r3, %r4;", 0x0000_7ffe),
        ("vavrg4.u32.u32.u32 %r1, %r2, %r3, %r4;", 0xc080_4080),
        ("vmin4.u32.u32.u32.add %r1, %r2, %r3, %r4;", C + 0x82),
        ("vmax4.s32.s32.s32 %r1.b20, %r2, %r3, %r4;", 0x1101_3301),
        ("vset4.u32.u32.gt %r1, %r2.b3210, %r3.b4567, %r4;", 0x0101_0000),
    ] {
        let found = result(inst, [A, B, C]);
        assert_eq!(found, expected, "{inst}: {found:#x}, not {expected:#x}");
    }
}
