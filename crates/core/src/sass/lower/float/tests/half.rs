//! Lines with 16-bit floats.

use super::{
    FTZ, Line, NEAR, SOME, Values, compare_results, execute, lowered, ptx, registers, values,
};
use crate::base::LaneMask;
use crate::isa::{Compare, FloatMode, Type};
use crate::kernel::{Convert, LaneFn, NativeFn, Part, Source};

/// Compares the result of a line with that of a PTX instruction on pairs.
fn same_as_ptx(line: Line, f: LaneFn, ty: Type) {
    let (native, _) = lowered(line);
    let sources = native.s;
    compare_results(line, [ty; 2], |raw| {
        let mut s = 0;
        let operands = raw.map(|raw| {
            s += 1;
            raw_pairs(raw, sources[s - 1])
        });
        ptx(f, ty, operands)
    });
}

/// Applies the part and the signs of a source to pairs, whose 32-bit signs have been applied.
fn raw_pairs(raw: Values, source: Source) -> Values {
    raw.map(|pair| {
        // Undo nothing for the high half: its sign is that of the word.
        let (mut low, high) = (pair & 0xffff, pair >> 16);
        low &= if source.absolute { 0x7fff } else { 0xffff };
        low ^= if source.negate { 0x8000 } else { 0 };
        match source.part {
            Part::H0 => low << 16 | low,
            Part::H1 => high << 16 | high,
            Part::H0Nh1 => (high ^ 0x8000) << 16 | low,
            _ => high << 16 | low,
        }
    })
}

const SAT: FloatMode = FloatMode { sat: true, ..NEAR };
const RELU: FloatMode = FloatMode { relu: true, ..NEAR };

#[test]
fn arithmetic_on_pairs_is_that_of_ptx() {
    use LaneFn::{FAdd, FMax, FMin, FMul, Fma, Set};
    let (f16, bf16) = (Type::F16x2, Type::BF16x2);
    let plain = |ftz, nan| (ftz, nan, false);
    let min = |(ftz, nan, xorsign)| FMin { ftz, nan, xorsign };
    let max = |(ftz, nan, xorsign)| FMax { ftz, nan, xorsign };
    let compare = Compare::Lt;
    for (line, f, ty) in [
        (
            ("HADD2 R7, |R2|, -RZ.H0_H0", 0xa000_00ff_0207_7230, 0x4f_ca00_0000_0200),
            FAdd(NEAR),
            f16,
        ),
        (("HADD2 R7, R2, 2.5, 1", 0x4100_3c00_0207_7430, 0x004f_ca00_0000_0000), FAdd(NEAR), f16),
        (
            ("HADD2 R0, R0.H0_H0, -R7.H1_H1", 0xb000_0007_0000_7230, 0x4f_ca00_0000_0800),
            FAdd(NEAR),
            f16,
        ),
        (("HADD2.SAT R0, R0, R7", 0x0000_0007_0000_7230, 0x4f_ca00_0000_2000), FAdd(SAT), f16),
        (
            ("HADD2.BF16_V2 R0, R0.H0_H0, R7.H0_H0", 0x2000_0007_0000_7230, 0x4f_ca00_0020_0800),
            FAdd(NEAR),
            bf16,
        ),
        (
            ("HMUL2 R7, R0.H0_H0, R7.H0_H0", 0x2000_0007_0007_7232, 0x4f_ca00_0000_0800),
            FMul(NEAR),
            f16,
        ),
        (("HMUL2.FTZ R0, R0, R7", 0x0000_0007_0000_7232, 0x4f_ca00_0001_0000), FMul(FTZ), f16),
        (
            ("HFMA2 R7, R7.H1_H1, R6.H0_NH1, R0", 0x0000_0006_0707_7231, 0xf_ca00_0040_0c00),
            Fma(NEAR),
            f16,
        ),
        (
            ("HFMA2.MMA R7, R2, 2.5, 1, -RZ", 0x4100_3c00_0207_7835, 0x4f_ce00_0010_00ff),
            Fma(NEAR),
            f16,
        ),
        (
            (
                "HFMA2 R0, R2.H0_H0, R0.H1_H1, 0.0999755859375, 0.0999755859375",
                0x2e66_2e66_0200_7431,
                0x4f_ca00_0006_0800,
            ),
            Fma(NEAR),
            f16,
        ),
        (
            ("HFMA2.MMA.RELU R7, R0, R7, R6", 0x0000_0007_0007_7235, 0x4f_ce00_0380_8006),
            Fma(RELU),
            f16,
        ),
        (
            ("HFMA2.MMA.FTZ R7, R0, R7, R6", 0x0000_0007_0007_7235, 0x4f_ce00_0001_0006),
            Fma(FTZ),
            f16,
        ),
        (
            (
                "HFMA2.BF16_V2 R7, -RZ.H0_H0, RZ.H0_H0, |R2|",
                0x2000_00ff_ff07_7231,
                0x4f_ca00_0028_0902,
            ),
            Fma(NEAR),
            bf16,
        ),
        (
            ("HFMA2.MMA.BF16_V2 R7, R0, 1.5, 1.5, R7", 0x3fc0_3fc0_0007_7835, 0x4f_ce00_0020_0007),
            Fma(NEAR),
            bf16,
        ),
        (
            ("HMNMX2 R7, R0, R7, PT", 0x0000_0007_0007_7240, 0x4f_ca00_0380_0000),
            min(plain(false, false)),
            f16,
        ),
        (
            ("HMNMX2.FTZ.NAN R7, R0, R7, PT", 0x0000_0007_0007_7240, 0x4f_ca00_0383_0000),
            min(plain(true, true)),
            f16,
        ),
        (
            ("HMNMX2.BF16_V2.NAN R7, R0, R7, !PT", 0x0000_0007_0007_7240, 0x4f_ca00_07a2_0000),
            max(plain(false, true)),
            bf16,
        ),
        (
            ("HSET2.BF.LT.AND R7, R0, R7, PT", 0x0000_0007_0007_7233, 0x4f_ca00_0380_1080),
            Set { compare, truth: 0x3c00_3c00, ftz: false },
            f16,
        ),
        (
            ("HSET2.BF16_V2.LT.AND R7, R0, R7, PT", 0x0000_0007_0007_7233, 0x4f_ca00_0380_1002),
            Set { compare, truth: u32::MAX, ftz: false },
            bf16,
        ),
    ] {
        same_as_ptx(line, f, ty);
    }
}

#[test]
fn pairs_of_constants_are_moves() {
    let line = ("HFMA2.MMA R4, -RZ, RZ, 1.0625, 0", 0x3c40_0000_ff04_7435, 0x000f_e200_0000_01ff);
    let (native, rows) = lowered(line);
    assert_eq!(native.f, NativeFn::Mov);
    let mut file = registers(&rows, Type::F16x2, 0);
    execute(&native, &mut file, LaneMask::FULL);
    assert_eq!(file.narrow[4], [0x3c40_0000; 32]);
    // A NaN becomes canonical.
    let line = ("HFMA2.MMA R4, -RZ, RZ, +QNAN, 0", 0x7e01_0000_ff04_7435, 0x000f_e200_0000_01ff);
    let (native, rows) = lowered(line);
    let mut file = registers(&rows, Type::F16x2, 0);
    execute(&native, &mut file, LaneMask::FULL);
    assert_eq!(file.narrow[4], [0x7fff_0000; 32]);
}

#[test]
fn halves_become_floats() {
    let plain = Convert::from(Type::F16);
    let sat = Convert { sat: true, ..plain };
    for (line, i, shift, convert) in [
        (("HADD2.F32 R0, -RZ, R2.H0_H0", 0x2000_0002_ff00_7230, 0x4f_ca00_0000_4100), 1, 0, plain),
        (("HADD2.F32 R9, -RZ, R4.H1_H1", 0x3000_0004_ff09_7230, 0xf_e400_0000_4100), 1, 16, plain),
        // As in code for sm_75.
        (
            ("HADD2.F32.SAT R7, R2.H0_H0, -RZ.H0_H0", 0xa000_00ff_0207_7230, 0x4f_d000_0000_6800),
            0,
            0,
            sat,
        ),
    ] {
        compare_results(line, [Type::F16x2, Type::F32], |sources| {
            let half = sources[i].map(|pair| pair >> shift & 0xffff);
            ptx(LaneFn::Cvt(convert), Type::F32, [half; 3])
        });
    }
}

/// Code for sm_75 has this for `cvt.rz.f16.f32`.
#[test]
fn an_f32_is_truncated_to_halves() {
    let line = ("HADD2 R0, R2.F32, -RZ.H0_H0", 0xa000_00ff_0200_7230, 0x004f_d000_0000_0400);
    let (native, rows) = lowered(line);
    let mut file = registers(&rows, Type::F32, 0);
    let cases = [
        (1.0 + f32::EPSILON, 0x3c00),
        (-65519.0, 0xfbff),
        (65536.0, 0x7bff),
        (f32::INFINITY, 0x7c00),
        (1.4e-45, 0),
        (1.0e-7, 1),
        (0.1, 0x2e66),
    ];
    for (lane, (x, _)) in cases.into_iter().enumerate() {
        file.narrow[2][lane] = f32::to_bits(x);
    }
    execute(&native, &mut file, LaneMask::FULL);
    for (lane, (x, half)) in cases.into_iter().enumerate() {
        assert_eq!(file.narrow[0][lane], half << 16 | half, "{x}");
    }
}

#[test]
fn predicates_of_both_halves() {
    let line =
        ("HSETP2.GTU.FTZ.AND P0, P1, R0, R7, PT", 0x0000_0007_0000_7234, 0x4f_ca00_0391_c000);
    let (native, rows) = lowered(line);
    for round in 0..8 {
        let mut file = registers(&rows, Type::F16x2, round);
        let [a, b, _] = native.s.map(|s| values(&file, s, Type::F16x2));
        let set = LaneFn::Set { compare: Compare::Gtu, truth: u32::MAX, ftz: true };
        let want = ptx(set, Type::F16x2, [a, b, b]);
        let before = [0, 1].map(|p| file.predicates[p]);
        execute(&native, &mut file, SOME);
        for (half, old) in before.into_iter().enumerate() {
            for (lane, held) in want.iter().enumerate() {
                let bits = if SOME.0 >> lane & 1 != 0 {
                    (held >> (16 * half)) as u32
                } else {
                    old >> lane
                };
                assert_eq!(file.predicates[half] >> lane & 1, bits & 1, "half {half} lane {lane}");
            }
        }
    }
    let line = (
        "HSETP2.GT.AND P2, PT, |R6|.H0_H0, RZ.H0_H0, PT",
        0x2000_00ff_0600_7234,
        0x40f_e400_03f4_4a00,
    );
    let (native, rows) = lowered(line);
    let mut file = registers(&rows, Type::F16x2, 0);
    file.narrow[6] = [0x7e00_8001; 32];
    execute(&native, &mut file, LaneMask::FULL);
    assert_eq!(file.predicates[2], u32::MAX);
}
