//! Instruction sequences of compiled kernels, compared with the meaning of their source.

use super::*;

/// Executes lines in order on many register files and compares with the source's meaning.
#[track_caller]
fn chain(lines: &str, expect: impl Fn(&Before<'_>) -> Out) {
    let mut rows = Rows::new(THREADS, UNIFORMS);
    let mut ops = Vec::new();
    for line in lines.lines().map(str::trim) {
        let text = text::parse(line).unwrap_or_else(|e| panic!("{line}: {e:?}"));
        let guard = text.guard;
        let native = element_wise(&mut Lowering::new(text, 0, &mut rows));
        let native = native.unwrap_or_else(|e| panic!("{line}: {e:?}"));
        ops.push((guard, Op::Native(Box::new(native))));
    }
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..100 {
        let mut before = RegisterFile::new(&rows.registers);
        random.fill(&mut before);
        let mut after = before.clone();
        for (guard, op) in &ops {
            let lanes = guard.map_or(u32::MAX, |guard| {
                let bits = after.predicates[usize::from(guard.number)];
                if guard.negated { !bits } else { bits }
            });
            execute(op, LaneMask(lanes), &mut after);
        }
        for lane in 0..32 {
            for (register, value) in cells(expect(&Before { file: &before, lane })) {
                assert_eq!(after.get(register, lane as u32), value.into(), "{lines}");
            }
        }
    }
}

#[test]
fn saturating_sums() {
    chain(
        "IADD3 R0, R2, R5, RZ
         PLOP3.LUT P0, PT, R2.reuse.SIGN, R5.reuse.SIGN, R0.reuse.SIGN, 0x2, 0x0
         PLOP3.LUT P1, PT, R2.SIGN, R5.SIGN, R0.SIGN, 0x40, 0x0
         SEL R0, R0, 0x7fffffff, !P0
         SEL R9, R0, 0x80000000, !P1",
        |l| R(9, (l.r(2) as i32).saturating_add(l.r(5) as i32) as u32),
    );
    chain(
        "IADD3 R0, R2, -R5, RZ
         PLOP3.LUT P0, PT, R2.reuse.SIGN, R5.reuse.SIGN, R0.reuse.SIGN, 0x8, 0x0
         PLOP3.LUT P1, PT, R2.SIGN, R5.SIGN, R0.SIGN, 0x10, 0x0
         SEL R0, R0, 0x7fffffff, !P0
         SEL R9, R0, 0x80000000, !P1",
        |l| R(9, (l.r(2) as i32).saturating_sub(l.r(5) as i32) as u32),
    );
}

#[test]
fn products_of_64_bits() {
    // __umul64hi, __mul64hi
    chain(
        "IMAD.WIDE.U32 R6, R3, R4, RZ
         IMAD.WIDE.U32 R8, P0, R2, R5, R6
         IMAD.WIDE.U32 R6, R2, R4, RZ
         IADD3.X R11, RZ, RZ, RZ, P0, !PT
         MOV R10, R9
         IADD3 RZ, P0, R7, R8, RZ
         IMAD.WIDE.U32.X R8, R3, R5, R10, P0",
        |l| W(8, ((u128::from(l.w(2)) * u128::from(l.w(4))) >> 64) as u64),
    );
    chain(
        "IMAD.WIDE.U32 R6, R3, R4, RZ
         ISETP.LT.AND P1, PT, R5, RZ, PT
         IMAD.WIDE.U32 R8, P0, R2, R5, R6
         IMAD.WIDE.U32 R6, R2, R4, RZ
         IMAD.X R11, RZ, RZ, RZ, P0
         IADD3 RZ, P0, R7, R8, RZ
         IMAD.MOV.U32 R10, RZ, RZ, R9
         IMAD.WIDE.U32.X R6, R3, R5, R10, P0
         IADD3 R9, P0, -R2, R6, RZ
         IADD3.X R11, ~R3, R7.reuse, RZ, P0, !PT
         SEL R9, R9, R6, P1
         SEL R11, R11, R7, P1
         IADD3 R4, P0, -R4, R9, RZ
         ISETP.LT.AND P1, PT, R3, RZ, PT
         IMAD.X R2, R11, 0x1, ~R5, P0
         SEL R4, R4, R9, P1
         SEL R5, R2, R11, P1",
        |l| {
            let product = i128::from(l.w(2) as i64) * i128::from(l.w(4) as i64);
            W(4, (product >> 64) as u64)
        },
    );
}

#[test]
fn shifts_of_128_bits() {
    // The count is below 128.
    chain(
        "LOP3.LUT R9, R9, 0x7f, RZ, 0xc0, !PT
         IADD3 R11, -R9.reuse, 0x40, RZ
         ISETP.GT.AND P0, PT, R9, 0x3f, PT
         SHF.R.U64 R15, R4, R9, R5
         SHF.L.U32 R0, R6.reuse, R11.reuse, RZ
         SHF.L.U64.HI R10, R6.reuse, R11, R7
         VIADD R11, R9, 0xffffffc0
         LOP3.LUT R4, R15, R0, RZ, 0xfc, !PT
         SHF.R.U32.HI R17, RZ, R9.reuse, R5
         SHF.R.U64 R0, R6, R9, R7
         SHF.R.U32.HI R9, RZ, R9, R7.reuse
         LOP3.LUT R5, R17, R10, RZ, 0xfc, !PT
         @P0 SHF.R.U64 R4, R6, R11.reuse, R7.reuse
         IMAD.MOV.U32 R6, RZ, RZ, R0
         @P0 SHF.R.U32.HI R5, RZ, R11, R7
         IMAD.MOV.U32 R7, RZ, RZ, R9",
        |l| {
            let all = u128::from(l.w(6)) << 64 | u128::from(l.w(4));
            W(4, (all >> (l.r(9) & 127)) as u64)
        },
    );
}

#[test]
fn divisions_by_constants() {
    // (x >> 31) - y, x / 7
    chain("LEA.HI.SX32 R9, R2, -R5, 0x1", |l| {
        R(9, ((l.r(2) as i32 >> 31) as u32).wrapping_sub(l.r(5)))
    });
    chain(
        "IMAD.MOV.U32 R4, RZ, RZ, RZ
         IMAD.HI R4, R5, -0x6db6db6d, R4
         SHF.R.U32.HI R5, RZ, 0x1f, R4
         LEA.HI.SX32 R5, R4, R5, 0x1e",
        |l| R(5, (l.r(5) as i32 / 7) as u32),
    );
}

#[test]
fn addresses() {
    // x * 8 + c in 64 bits, and p + 2 * (int) i with a carry.
    chain(
        "LEA R4, P0, R2, R4, 0x3
         LEA.HI.X R5, R2, R5, R3, 0x3, P0",
        |l| W(4, (l.w(2) << 3).wrapping_add(l.w(4))),
    );
    chain(
        "LEA R8, P0, R4, UR10, 0x1
         LEA.HI.X.SX32 R9, R4, UR11, 0x1, P0",
        |l| {
            let base = u64::from(l.u(11)) << 32 | u64::from(l.u(10));
            W(8, base.wrapping_add(((l.r(4) as i32 as i64) << 1) as u64))
        },
    );
}

#[test]
fn differences_of_64_bits() {
    // c - a * 8, c - (a << 5) - b, (int) c - (int) a * 8, a / 16
    chain(
        "SHF.L.U64.HI R9, R2.reuse, 0x3, R3
         LEA R8, P0, -R2, R4, 0x3
         IADD3.X R9, R5, ~R9, RZ, P0, !PT",
        |l| W(8, l.w(4).wrapping_sub(l.w(2) << 3)),
    );
    chain(
        "LEA R11, P0, R2, R4, 0x5
         LEA.HI.X R15, R2, R5, R3, 0x5, P0
         IADD3 R10, P0, R6, -R11, RZ
         IADD3.X R11, R7, ~R15, RZ, P0, !PT",
        |l| W(10, l.w(6).wrapping_sub(l.w(2) << 5).wrapping_sub(l.w(4))),
    );
    chain(
        "SHF.R.S64 R9, RZ, 0x1d, R2.reuse
         SHF.R.S32.HI R13, RZ, 0x1d, R2
         IADD3 R8, P0, R4, -R9, RZ
         LEA.HI.X.SX32 R9, R4, ~R13, 0x1, P0",
        |l| {
            let [a, c] = [l.r(2), l.r(4)].map(|word| i64::from(word as i32));
            W(8, (c - a * 8) as u64)
        },
    );
    chain(
        "SHF.R.S32.HI R7, RZ, 0x1f, R3
         LEA.HI R6, P0, R7, R2, RZ, 0x4
         IMAD.X R7, RZ, RZ, R3, P0
         SHF.R.S64 R6, R6, 0x4, R7.reuse
         SHF.R.S32.HI R7, RZ, 0x4, R7",
        |l| W(6, (l.w(2) as i64 / 16) as u64),
    );
}

#[test]
fn simd_functions() {
    // __vaddss2, __vadd4, __vcmpgtu4, __vavgu4
    chain(
        "PRMT R10, R2, 0xbb99, RZ
         VIADD.16x2 R0, R2, R5
         LOP3.LUT R8, R0, R5, R2, 0x18, !PT
         PRMT R9, R8, 0xbb99, RZ
         LOP3.LUT R10, R9, 0x7fff7fff, R10, 0x60, !PT
         LOP3.LUT R9, R10, R0, R9, 0xf4, !PT",
        |l| {
            let half = |at: u32| {
                let [a, b] = [l.r(2), l.r(5)].map(|word| (word >> at) as i16);
                u32::from(a.saturating_add(b) as u16) << at
            };
            R(9, half(0) | half(16))
        },
    );
    let bytes = |l: &Before<'_>, f: fn(u8, u8) -> u8| {
        let (a, b) = (l.r(2).to_le_bytes(), l.r(5).to_le_bytes());
        u32::from_le_bytes([0, 1, 2, 3].map(|i| f(a[i], b[i])))
    };
    chain(
        "LOP3.LUT R0, R2, 0x7f7f7f7f, RZ, 0xc0, !PT
         LOP3.LUT R9, R5, 0x7f7f7f7f, RZ, 0xc0, !PT
         LOP3.LUT R8, R5, 0x80808080, R2, 0x48, !PT
         IADD3 R9, R0, R9, RZ
         LOP3.LUT R9, R9, R8, RZ, 0x3c, !PT",
        |l| R(9, bytes(l, u8::wrapping_add)),
    );
    chain(
        "LOP3.LUT R0, R2, 0x7f7f7f7f, RZ, 0xc0, !PT
         LOP3.LUT R9, R5, 0x7f7f7f7f, RZ, 0xc, !PT
         IADD3 R0, R0, R9, RZ
         LOP3.LUT R0, R2, R5, R0, 0xb2, !PT
         PRMT R9, R0, 0xba98, RZ",
        |l| R(9, bytes(l, |a, b| if a > b { 0xff } else { 0 })),
    );
    chain(
        "LOP3.LUT R8, R5.reuse, 0xfefefefe, R2, 0x48, !PT
         LOP3.LUT R0, R5, R2, RZ, 0xfc, !PT
         SHF.R.U32.HI R9, RZ, 0x1, R8
         IADD3 R9, R0, -R9, RZ",
        |l| R(9, bytes(l, |a, b| (u16::from(a) + u16::from(b)).div_ceil(2) as u8)),
    );
}

#[test]
fn bit_fields() {
    // __ffsll
    chain(
        "IADD3 R5, P0, RZ, -R2, RZ
         IMAD.X R7, RZ, RZ, ~R3, P0
         LOP3.LUT R0, R3, R7, RZ, 0xc0, !PT
         ISETP.NE.U32.AND P0, PT, R0, RZ, PT
         @!P0 LOP3.LUT R0, R2, R5, RZ, 0xc0, !PT
         FLO.U32 R0, R0
         IADD3 R4, -R0.reuse, 0x1f, RZ
         IADD3 R5, -R0, 0x3f, RZ
         @P0 IMAD.MOV R5, RZ, RZ, R4
         IADD3 R4, P0, -R5, 0x40, RZ
         IMAD.X R5, RZ, RZ, -0x1, P0",
        |l| W(4, if l.w(2) == 0 { 0 } else { u64::from(l.w(2).trailing_zeros()) + 1 }),
    );
    // bfi.b32 with a length of 8
    chain(
        "IMAD.MOV.U32 R13, RZ, RZ, 0x8
         PRMT R0, R13, 0x7604, R6
         PRMT R13, RZ, 0x4, R0.reuse
         PRMT R0, RZ, 0x5, R0
         BMSK R15, R13, R0
         SHF.L.U32 R13, R2, R13, RZ
         LOP3.LUT R9, R13, R15, R4, 0xe2, !PT",
        |l| {
            let at = l.r(6) & 0xff;
            let field = 0xff_u32.checked_shl(at).unwrap_or(0);
            R(9, l.r(4) & !field | l.r(2).checked_shl(at).unwrap_or(0) & field)
        },
    );
}
