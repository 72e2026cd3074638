//! Lines with f32 and f64.

use super::{
    FTZ, NEAR, ROUNDS, compare_results, execute, lowered, mode, ptx, registers, routine,
    same_as_ptx, same_predicates, values,
};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::{BoolOp, Compare, Round, Type};
use crate::kernel::{Approximation, LaneFn, Row, Source};
use crate::sass::lower::{Lowering, Missing, Rows, element_wise};
use crate::sass::text::parse;

#[test]
fn f32_arithmetic_is_that_of_ptx() {
    use LaneFn::{FAdd, FMul, Fma};
    use Round::{Down, Nearest, Up, Zero};
    for (line, f) in [
        (("FADD R7, R7, -24", 0xc1c0_0000_0707_8421, 0x001f_ca00_0000_0000), FAdd(NEAR)),
        (("FADD R6, R0.reuse, -R7", 0x8000_0007_0006_7221, 0x044f_e200_0000_0000), FAdd(NEAR)),
        (("FADD R6, |R3|, |R3|", 0x4000_0003_0306_7221, 0x000f_e200_0000_0200), FAdd(NEAR)),
        (("FADD.FTZ R7, R0, -R7", 0x8000_0007_0007_7221, 0x004f_ca00_0001_0000), FAdd(FTZ)),
        (
            ("FADD.FTZ.RM.SAT R7, R0, R7", 0x0000_0007_0007_7221, 0x004f_ca00_0001_6000),
            FAdd(mode(Down, true, true)),
        ),
        (
            ("FADD.RP R7, R0, -R7", 0x8000_0007_0007_7221, 0x004f_ca00_0000_8000),
            FAdd(mode(Up, false, false)),
        ),
        (
            ("FADD.SAT R7, RZ, R0", 0x0000_0000_ff07_7221, 0x001f_ca00_0000_2000),
            FAdd(mode(Nearest, false, true)),
        ),
        (("FMUL R7, |R3|, 8388608", 0x4b00_0000_0307_7820, 0x000f_ca00_0040_0200), FMul(NEAR)),
        (("FMUL.FTZ R9, R0, R7", 0x0000_0007_0009_7220, 0x000f_e200_0041_0000), FMul(FTZ)),
        (
            (
                "FMUL.RZ R7, R2, 0.15915493667125701904",
                0x3e22_f983_0207_7820,
                0x004f_cc00_0040_c000,
            ),
            FMul(mode(Zero, false, false)),
        ),
        (
            ("FMUL.FTZ.RP.SAT R7, R0, R7", 0x0000_0007_0007_7220, 0x004f_ca00_0041_a000),
            FMul(mode(Up, true, true)),
        ),
        (("FFMA R7, R7, R5, R4", 0x0000_0005_0707_7223, 0x000f_c600_0000_0004), Fma(NEAR)),
        (("FFMA R2, R0, R5, -1", 0xbf80_0000_0002_7423, 0x001f_c800_0000_0005), Fma(NEAR)),
        (("FFMA R0, R0, 0.25, -RZ", 0x3e80_0000_0000_1823, 0x000f_ca00_0000_08ff), Fma(NEAR)),
        (("FFMA.FTZ R11, -R7, R13, |R4|", 0x0000_000d_070b_7223, 0x000f_c600_0001_0504), Fma(FTZ)),
        (
            ("FFMA.RM R9, R14, R12.reuse, R17", 0x0000_000c_0e09_7223, 0x180f_e200_0000_4011),
            Fma(mode(Down, false, false)),
        ),
        (
            ("FFMA.FTZ.RZ.SAT R7, R0, R7, R9", 0x0000_0007_0007_7223, 0x004f_ca00_0001_e009),
            Fma(mode(Zero, true, true)),
        ),
    ] {
        same_as_ptx(line, f, Type::F32);
    }
}

#[test]
fn scaled_products_round_once() {
    let line = ("FMUL.D2 R7, R0, R7", 0x0000_0007_0007_7220, 0x004f_ca00_0030_0000);
    let quiet = |x: f32| if x.is_nan() { 0x7fff_ffff } else { x.to_bits() };
    compare_results(line, [Type::F32; 2], |[a, b, _]| {
        let mut lane = 0;
        a.map(|a| {
            lane += 1;
            let [a, b] = [a, b[lane - 1]].map(|x| f64::from(f32::from_bits(x as u32)));
            quiet((a * b / 2.0) as f32).into()
        })
    });
}

#[test]
fn f64_arithmetic_is_that_of_ptx() {
    use LaneFn::{FAdd, FMul, Fma};
    use Round::{Down, Up, Zero};
    for (line, f) in [
        (("DADD R8, |R2|, -R8", 0x0000_0000_0208_7229, 0x000f_ca00_0000_0a08), FAdd(NEAR)),
        (("DADD R10, -R6, 1", 0x3ff0_0000_060a_7429, 0x002f_cc00_0000_0100), FAdd(NEAR)),
        (
            ("DADD.RZ R4, R2, R4", 0x0000_0000_0204_7229, 0x000f_d400_0000_c004),
            FAdd(mode(Zero, false, false)),
        ),
        (("DMUL R2, R14, -UR6", 0x8000_0006_0e02_7c28, 0x000f_e200_0800_0000), FMul(NEAR)),
        (
            (
                "DMUL R2, R2, 1.80143985094819840000e+16",
                0x4350_0000_0202_7828,
                0x000f_e200_0000_0000,
            ),
            FMul(NEAR),
        ),
        (
            ("DMUL.RP R12, R16, R12", 0x0000_000c_100c_7228, 0x000f_e200_0000_8000),
            FMul(mode(Up, false, false)),
        ),
        (("DFMA R6, R2, -R6, 1", 0x3ff0_0000_0206_742b, 0x000f_d000_0000_0806), Fma(NEAR)),
        (("DFMA R4, |R2|, R4, -UR6", 0x8000_0006_0204_7e2b, 0x000f_e200_0800_0204), Fma(NEAR)),
        (
            ("DFMA.RM R8, R12, R8, R10", 0x0000_0008_0c08_722b, 0x000f_d400_0000_400a),
            Fma(mode(Down, false, false)),
        ),
    ] {
        same_as_ptx(line, f, Type::F64);
    }
}

#[test]
fn comparisons_are_those_of_setp() {
    use BoolOp::{And, Or, Xor};
    for (line, ty, compare, combine, ftz) in [
        (
            ("FSETP.GT.AND P0, PT, R9, 4, PT", 0x4080_0000_0900_780b, 0x000f_da00_03f0_4000),
            Type::F32,
            Compare::Gt,
            And,
            false,
        ),
        (
            (
                "FSETP.GEU.FTZ.AND P1, PT, |R4|, |R3|, PT",
                0x4000_0003_0400_720b,
                0x048f_e200_03f3_e200,
            ),
            Type::F32,
            Compare::Geu,
            And,
            true,
        ),
        (
            ("FSETP.LT.XOR P0, P2, R0, -R7, !P0", 0x0000_0007_0000_720b, 0x008f_c800_0470_1800),
            Type::F32,
            Compare::Lt,
            Xor,
            false,
        ),
        (
            ("FSETP.NUM.FTZ.AND P0, PT, R0, R7, PT", 0x0000_0007_0000_720b, 0x004f_c800_03f1_7000),
            Type::F32,
            Compare::Num,
            And,
            true,
        ),
        (
            ("FSETP.GTU.OR P0, PT, |R0|, +INF , P0", 0x7f80_0000_0000_780b, 0x008f_da00_0070_c600),
            Type::F32,
            Compare::Gtu,
            Or,
            false,
        ),
        (
            ("DSETP.NEU.AND P0, PT, |R6|, 0.5, PT", 0x3fe0_0000_0600_742a, 0x000f_e200_03f0_d200),
            Type::F64,
            Compare::Neu,
            And,
            false,
        ),
        (
            ("DSETP.EQ.OR P0, PT, R8, R2, P0", 0x0000_0002_0800_722a, 0x000f_cc00_0070_2400),
            Type::F64,
            Compare::Eq,
            Or,
            false,
        ),
        (
            ("DSETP.NAN.AND P0, PT, R12, R12, PT", 0x0000_000c_0c00_722a, 0x000f_dc00_03f0_8000),
            Type::F64,
            Compare::Nan,
            And,
            false,
        ),
    ] {
        same_predicates(line, ty, compare, combine, ftz);
    }
}

#[test]
fn sets_minima_and_selections() {
    use LaneFn::{FMax, FMin, Set};
    let compare = Compare::Lt;
    let truth = 1.0_f32.to_bits();
    for (line, f) in [
        (
            ("FMNMX R7, R0, |R7|, !PT", 0x4000_0007_0007_7209, 0x004f_ca00_0780_0000),
            FMax { ftz: false, nan: false, xorsign: false },
        ),
        (
            ("FMNMX.FTZ R7, R0, R7, PT", 0x0000_0007_0007_7209, 0x004f_ca00_0381_0000),
            FMin { ftz: true, nan: false, xorsign: false },
        ),
        (
            ("FMNMX.NAN R7, R0, R7, PT", 0x0000_0007_0007_7209, 0x004f_ca00_0382_0000),
            FMin { ftz: false, nan: true, xorsign: false },
        ),
        (
            ("FSET.BF.LT.FTZ.AND R7, R0, R7, PT", 0x0000_0007_0007_720a, 0x004f_ca00_0381_1000),
            Set { compare, truth, ftz: true },
        ),
    ] {
        same_as_ptx(line, f, Type::F32);
    }
    // The signs of the operands count, although the listing shows magnitudes.
    let line = ("FMNMX.XORSIGN R7, |R0|, |R7|, PT", 0x4000_0007_0007_7209, 0x004f_ca00_0384_0200);
    let (mut native, rows) = lowered(line);
    let mut file = registers(&rows, Type::F32, 3);
    native.s.iter_mut().for_each(|s| s.absolute = false);
    let [a, b, c] = native.s.map(|s| values(&file, s, Type::F32));
    let want = ptx(FMin { ftz: false, nan: false, xorsign: true }, Type::F32, [a, b, c]);
    execute(&lowered(line).0, &mut file, LaneMask::FULL);
    assert_eq!(file.narrow[7].map(u64::from), want);
    // FSEL moves bits: a NaN keeps its payload, and a word of an f64 stays as it is.
    let line = (
        "FSEL R7, -R7, 0.0083321612328290939331, !P0",
        0x3c08_839e_0707_7808,
        0x000f_ca00_0400_0100,
    );
    let (native, rows) = lowered(line);
    let mut file = registers(&rows, Type::F32, 5);
    let (before, p) = (file.narrow[7], file.predicates[0]);
    execute(&native, &mut file, LaneMask::FULL);
    for (lane, bits) in before.into_iter().enumerate() {
        let want = if p >> lane & 1 == 0 { bits ^ 1 << 31 } else { 0x3c08_839e };
        assert_eq!(file.narrow[7][lane], want, "lane {lane}");
    }
}

/// The instructions around DSETP.MIN and DSETP.MAX make `min.f64` and `max.f64` of them.
#[test]
fn choices_between_doubles() {
    for (line, f) in [
        (
            ("DSETP.MIN.AND P0, P1, R4, R6, PT", 0x0000_0006_0400_722a, 0x008f_e200_0390_0000),
            LaneFn::FMin { ftz: false, nan: false, xorsign: false },
        ),
        (
            ("DSETP.MAX.AND P0, P1, R4, R6, PT", 0x0000_0006_0400_722a, 0x008f_e200_0390_f000),
            LaneFn::FMax { ftz: false, nan: false, xorsign: false },
        ),
    ] {
        let (native, rows) = lowered(line);
        for round in 0..ROUNDS {
            let mut file = registers(&rows, Type::F64, round);
            let [a, b, c] = native.s.map(|s| values(&file, s, Type::F64));
            let want = ptx(f, Type::F64, [a, b, c]);
            execute(&native, &mut file, LaneMask::FULL);
            let [first, both] = [0, 1].map(|i| file.predicates[i]);
            for lane in 0..MAX_LANES {
                let chosen = if first >> lane & 1 != 0 { a[lane] } else { b[lane] };
                let quiet = u64::from(both >> lane & 1) << 51;
                assert_eq!(chosen | quiet, want[lane], "{} {:x} {:x}", line.0, a[lane], b[lane]);
            }
        }
    }
}

#[test]
fn division_check() {
    let line = ("FCHK P0, R0, R3", 0x0000_0003_0000_7302, 0x000e_6200_0000_0000);
    let (native, rows) = lowered(line);
    let power = |e: i32| 2.0_f32.powi(e);
    for (a, b, slow) in [
        (1.0, 3.0, false),
        (-1.0, 3.0, false),
        (0.0, 1.0, true),
        (1.0, 0.0, true),
        (f32::NAN, 1.0, true),
        (1.0, f32::INFINITY, true),
        (power(-103), 1.0, true),
        (power(-102), 1.0, false),
        (1.0, power(-126), true),
        (1.0, power(-125), false),
        (1.0, power(125), true),
        (1.0, power(124), false),
        (power(126), 0.5, true),
        (power(126), 1.0, false),
        (power(-60), power(65), true),
        (power(-60), power(64), false),
    ] {
        let mut file = registers(&rows, Type::F32, 0);
        (file.narrow[0], file.narrow[3]) = ([a.to_bits(); 32], [b.to_bits(); 32]);
        execute(&native, &mut file, LaneMask::FULL);
        assert_eq!(file.predicates[0], if slow { u32::MAX } else { 0 }, "{a} / {b}");
    }
}

#[test]
fn approximations() {
    use Approximation::{Exponential, Logarithm, Reciprocal, ReciprocalRoot, Root};
    for (line, f) in [
        (("MUFU.RCP R8, |R5|", 0x4000_0005_0008_7308, 0x000e_2400_0000_1000), Reciprocal),
        (("MUFU.RCP R8, UR4", 0x0000_0004_0008_7d08, 0x000e_2400_0800_1000), Reciprocal),
        (("MUFU.RSQ R7, R2", 0x0000_0002_0007_7308, 0x004e_2800_0000_1400), ReciprocalRoot),
        (("MUFU.SQRT R7, R2", 0x0000_0002_0007_7308, 0x004e_2800_0000_2000), Root),
        (("MUFU.EX2 R7, R0", 0x0000_0000_0007_7308, 0x000e_2400_0000_0800), Exponential),
        (("MUFU.LG2 R7, R2", 0x0000_0002_0007_7308, 0x004e_2800_0000_0c00), Logarithm),
    ] {
        same_as_ptx(line, LaneFn::Approximate { f, ftz: true }, Type::F32);
    }
    let one = |line, x: u32| {
        let (native, rows) = lowered(line);
        let mut file = registers(&rows, Type::F32, 0);
        let source = usize::from(native.s[0].row.0);
        file.narrow[source] = [x; 32];
        execute(&native, &mut file, LaneMask(1));
        file.narrow[native.d.map_or(0, |d| usize::from(d.0))][0]
    };
    // The angle is in turns.
    for (turns, sine, cosine) in [
        (0.0_f32, 0.0_f32, 1.0_f32),
        (0.25, 1.0, 0.0),
        (0.5, 0.0, -1.0),
        (-0.25, -1.0, 0.0),
        (100.125, f32::from_bits(0x3f35_04f2), f32::from_bits(0x3f35_04f3)),
    ] {
        let line = ("MUFU.SIN R7, R7", 0x0000_0007_0007_7308, 0x000e_2400_0000_0400);
        assert_eq!(f32::from_bits(one(line, turns.to_bits())), sine, "sin {turns}");
        let line = ("MUFU.COS R7, R7", 0x0000_0007_0007_7308, 0x000e_2400_0000_0000);
        assert_eq!(f32::from_bits(one(line, turns.to_bits())), cosine, "cos {turns}");
    }
    // High words of f64: 1/3 and 1/sqrt(4).
    let line = ("MUFU.RCP64H R5, R2", 0x0000_0002_0005_7308, 0x004e_2a00_0000_1800);
    assert_eq!(one(line, 0x4008_0000), 0x3fd5_5555);
    assert_eq!(one(line, 0x8000_0000), 0xfff0_0000);
    assert_eq!(one(line, 0x0008_0000), 0x7ff0_0000);
    let line = ("MUFU.RSQ64H R5, R3", 0x0000_0003_0005_7308, 0x004e_2200_0000_1c00);
    assert_eq!(one(line, 0x4010_0000), 0x3fe0_0000);
    let nan = ("MUFU.RSQ R0, -QNAN", 0xffc0_0000_0000_7908, 0x000e_2200_0000_1400);
    let (native, rows) = lowered(nan);
    let mut file = registers(&rows, Type::F32, 0);
    execute(&native, &mut file, LaneMask::FULL);
    assert_eq!(file.narrow[0], [0x7fff_ffff; 32]);
}

#[test]
fn what_is_not_supported_says_so() {
    for (text, missing) in [
        ("FADD.FMZ R0, R1, R2", Missing::Modifier("FMZ".to_owned())),
        ("FSETP.T.AND P0, PT, R0, R1, PT", Missing::Modifier("T".to_owned())),
        ("FADD R0, R1.H0_H0, R2", Missing::Operands),
        ("FADD R0, ~R1, R2", Missing::Operands),
        ("FADD R0, R1", Missing::Operands),
        ("FADD R0, R1, R2, R3", Missing::Operands),
        ("DADD R0, R39, R2", Missing::Operands),
        ("HADD2 R0, R1, 1", Missing::Operands),
    ] {
        let mut rows = Rows::new(40, 16);
        let parsed = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let native = element_wise(&mut Lowering::new(parsed, 0, &mut rows));
        assert_eq!(native, Err(missing), "{text}");
    }
}

/// The fast paths of `x / y` as nvcc 13 makes them: correctly rounded unless the check says no.
#[test]
fn divisions_round_correctly() {
    let (single, rows) = routine(&[
        ("MUFU.RCP R6, R3", 0x0000_0003_0006_7308, 0x004e_3000_0000_1000),
        ("FCHK P0, R0, R3", 0x0000_0003_0000_7302, 0x008e_6200_0000_0000),
        ("FFMA R7, -R3, R6, 1", 0x3f80_0000_0307_7423, 0x001f_c800_0000_0106),
        ("FFMA R7, R6, R7, R6", 0x0000_0007_0607_7223, 0x000f_c800_0000_0006),
        ("FFMA R6, R0, R7, RZ", 0x0000_0007_0006_7223, 0x000f_c800_0000_00ff),
        ("FFMA R8, -R3, R6, R0", 0x0000_0006_0308_7223, 0x000f_c800_0000_0100),
        ("FFMA R7, R7, R8, R6", 0x0000_0008_0707_7223, 0x000f_e200_0000_0006),
    ]);
    let mut fast = 0;
    for round in 0..20 * ROUNDS {
        let mut file = registers(&rows, Type::F32, round);
        let [x, y] = [0, 3].map(|row| file.narrow[row].map(f32::from_bits));
        single.iter().for_each(|native| execute(native, &mut file, LaneMask::FULL));
        for lane in (0..MAX_LANES).filter(|lane| file.predicates[0] >> lane & 1 == 0) {
            let want = x[lane] / y[lane];
            assert_eq!(file.narrow[7][lane], want.to_bits(), "{:e} / {:e}", x[lane], y[lane]);
            fast += 1;
        }
    }
    assert!(fast > 1000, "{fast}");
    let (double, rows) = routine(&[
        ("IMAD.MOV.U32 R2, RZ, RZ, 0x1", 0x0000_0001_ff02_7424, 0x000f_e200_078e_00ff),
        ("MUFU.RCP64H R3, R5", 0x0000_0005_0003_7308, 0x004e_2200_0000_1800),
        (
            "FSETP.GEU.AND P1, PT, |R7|, 6.5827683646048100446e-37, PT",
            0x0360_0000_0700_780b,
            0x008f_c600_03f2_e200,
        ),
        ("DFMA R10, -R4, R2, 1", 0x3ff0_0000_040a_742b, 0x001f_d000_0000_0102),
        ("DFMA R10, R10, R10, R10", 0x0000_000a_0a0a_722b, 0x000f_d000_0000_000a),
        ("DFMA R10, R2, R10, R2", 0x0000_000a_020a_722b, 0x000f_d000_0000_0002),
        ("DFMA R2, -R4, R10, 1", 0x3ff0_0000_0402_742b, 0x000f_d000_0000_010a),
        ("DFMA R2, R10, R2, R10", 0x0000_0002_0a02_722b, 0x000f_d000_0000_000a),
        ("DMUL R10, R6, R2", 0x0000_0002_060a_7228, 0x000f_d000_0000_0000),
        ("DFMA R12, -R4, R10, R6", 0x0000_000a_040c_722b, 0x000f_d000_0000_0106),
        ("DFMA R2, R2, R12, R10", 0x0000_000c_0202_722b, 0x000f_d400_0000_000a),
        ("FFMA R8, RZ, R5, R3", 0x0000_0005_ff08_7223, 0x000f_ca00_0000_0003),
        (
            "FSETP.GT.AND P0, PT, |R8|, 1.469367938527859385e-39, PT",
            0x0010_0000_0800_780b,
            0x000f_da00_03f0_4200,
        ),
    ]);
    let mut fast = 0;
    for round in 0..20 * ROUNDS {
        let mut file = registers(&rows, Type::F64, round);
        let pair = |row: u16| values(&file, Source::of(Row(row)), Type::F64).map(f64::from_bits);
        let [x, y] = [6, 4].map(pair);
        double.iter().for_each(|native| execute(native, &mut file, LaneMask::FULL));
        let quotients = values(&file, Source::of(Row(2)), Type::F64);
        let both = file.predicates[0] & file.predicates[1];
        for lane in (0..MAX_LANES).filter(|lane| both >> lane & 1 != 0) {
            let want = x[lane] / y[lane];
            assert_eq!(quotients[lane], want.to_bits(), "{:e} / {:e}", x[lane], y[lane]);
            fast += 1;
        }
    }
    assert!(fast > 1000, "{fast}");
}
