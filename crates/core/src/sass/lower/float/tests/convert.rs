//! Lines with conversions.

use super::{Line, compare_results, execute, lowered, ptx, registers};
use crate::base::LaneMask;
use crate::isa::{Round, Type};
use crate::kernel::{Convert, LaneFn};

/// Compares a conversion with `cvt`; the low `shift` bits of the source are skipped.
fn same_as_cvt(line: Line, convert: Convert, to: Type, shift: u32) {
    let cell = if to.is_wide() { to } else { Type::U32 };
    compare_results(line, [register_type(convert.from), cell], |[a, _, _]| {
        let part = a.map(|bits| bits >> shift & (u64::MAX >> (64 - convert.from.bits())));
        ptx(LaneFn::Cvt(convert), to, [part; 3]).map(|bits| match to {
            Type::S8 => u64::from(bits as i8 as u32),
            Type::S16 => u64::from(bits as i16 as u32),
            _ => bits,
        })
    });
}

/// Returns the type that fills a register with values of a type.
fn register_type(ty: Type) -> Type {
    match ty {
        Type::F16 => Type::F16x2,
        Type::BF16 => Type::BF16x2,
        _ if ty.bits() < 32 => Type::U32,
        _ => ty,
    }
}

const fn rounded(from: Type, round: Round) -> Convert {
    Convert { round, ..Convert::from(from) }
}

const fn integral(from: Type, round: Round, ftz: bool) -> Convert {
    Convert { integral: true, ftz, ..rounded(from, round) }
}

#[test]
fn conversions_are_those_of_cvt() {
    use Round::{Down, Nearest, Up, Zero};
    use Type::{BF16, F16, F32, F64, S8, S16, S32, S64, U8, U16, U32, U64};
    for (line, convert, to, shift) in [
        (
            ("F2F.BF16.F32.RP R7, R2", 0x0000_0002_0007_7304, 0x004e_2800_0020_a000),
            rounded(F32, Up),
            BF16,
            0,
        ),
        (
            ("F2F.F16.F64.RP R7, R2", 0x0000_0002_0007_7310, 0x004e_2800_0030_8800),
            rounded(F64, Up),
            F16,
            0,
        ),
        (
            ("F2F.F32.F64 R7, R2", 0x0000_0002_0007_7310, 0x004e_2200_0030_1000),
            rounded(F64, Nearest),
            F32,
            0,
        ),
        (
            ("F2F.F32.F64.RZ R7, R2", 0x0000_0002_0007_7310, 0x004e_2800_0030_d000),
            rounded(F64, Zero),
            F32,
            0,
        ),
        (
            ("F2F.F64.F16 R4, R2", 0x0000_0002_0004_7310, 0x004e_2800_0010_1800),
            rounded(F16, Nearest),
            F64,
            0,
        ),
        (
            ("F2F.F64.F32 R4, R2", 0x0000_0002_0004_7310, 0x004e_2400_0020_1800),
            rounded(F32, Nearest),
            F64,
            0,
        ),
        (
            ("F2I.F16.TRUNC.NTZ R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0010_f100),
            integral(F16, Zero, false),
            S32,
            0,
        ),
        (
            ("F2I.F64 R0, R4", 0x0000_0004_0000_7311, 0x000e_3000_0030_1100),
            integral(F64, Nearest, false),
            S32,
            0,
        ),
        (
            ("F2I.F64.TRUNC R7, R2", 0x0000_0002_0007_7311, 0x004e_2800_0030_d100),
            integral(F64, Zero, false),
            S32,
            0,
        ),
        (
            ("F2I.FTZ.U32.FLOOR.NTZ R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0021_7000),
            integral(F32, Down, true),
            U32,
            0,
        ),
        (
            ("F2I.FTZ.U32.TRUNC.NTZ R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0021_f000),
            integral(F32, Zero, true),
            U32,
            0,
        ),
        (
            ("F2I.TRUNC.NTZ R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0020_f100),
            integral(F32, Zero, false),
            S32,
            0,
        ),
        (
            ("F2I.NTZ R4, R4", 0x0000_0004_0004_7305, 0x000e_2400_0020_3100),
            integral(F32, Nearest, false),
            S32,
            0,
        ),
        (
            ("F2I.S16.CEIL.NTZ R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0020_a900),
            integral(F32, Up, false),
            S16,
            0,
        ),
        (
            ("F2I.S8.NTZ R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0020_2100),
            integral(F32, Nearest, false),
            S8,
            0,
        ),
        (
            ("F2I.S64.TRUNC R4, R2", 0x0000_0002_0004_7311, 0x004e_2800_0020_d900),
            integral(F32, Zero, false),
            S64,
            0,
        ),
        (
            ("F2I.U64.F64.CEIL R4, R2", 0x0000_0002_0004_7311, 0x004e_2800_0030_9800),
            integral(F64, Up, false),
            U64,
            0,
        ),
        (
            ("F2I.U8.F16.TRUNC.NTZ R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0010_e000),
            integral(F16, Zero, false),
            U8,
            0,
        ),
        (
            ("FRND.F16 R7, R2.H1", 0x1000_0002_0007_7307, 0x000e_2400_0010_0800),
            integral(F16, Nearest, false),
            F16,
            16,
        ),
        (
            ("FRND.F64.FLOOR R6, R6", 0x0000_0006_0006_7313, 0x000e_2400_0030_5800),
            integral(F64, Down, false),
            F64,
            0,
        ),
        (
            ("FRND.FLOOR R0, |R5|", 0x4000_0005_0000_7307, 0x000e_2200_0020_5000),
            integral(F32, Down, false),
            F32,
            0,
        ),
        (
            ("FRND.FTZ.CEIL R7, R2", 0x0000_0002_0007_7307, 0x004e_2800_0021_9000),
            integral(F32, Up, true),
            F32,
            0,
        ),
        (
            ("FRND.TRUNC R7, R7", 0x0000_0007_0007_7307, 0x000e_2400_0020_d000),
            integral(F32, Zero, false),
            F32,
            0,
        ),
        (
            ("I2F.BF16.S64 R7, R2", 0x0000_0002_0007_7312, 0x004e_2800_0030_2400),
            rounded(S64, Nearest),
            BF16,
            0,
        ),
        (
            ("I2F.F16.S16.RM R7, R2", 0x0000_0002_0007_7306, 0x004e_2800_0010_4c00),
            rounded(S16, Down),
            F16,
            0,
        ),
        (
            ("I2F.F64 R2, R0", 0x0000_0000_0002_7312, 0x001e_2400_0020_1c00),
            rounded(S32, Nearest),
            F64,
            0,
        ),
        (
            ("I2F.F64.U32 R4, R2", 0x0000_0002_0004_7312, 0x004e_2800_0020_1800),
            rounded(U32, Nearest),
            F64,
            0,
        ),
        (
            ("I2F.F64.U64.RP R4, R2", 0x0000_0002_0004_7312, 0x004e_2800_0030_9800),
            rounded(U64, Up),
            F64,
            0,
        ),
        (
            ("I2F.S64.RM R7, R2", 0x0000_0002_0007_7312, 0x004e_2800_0030_5400),
            rounded(S64, Down),
            F32,
            0,
        ),
        (
            ("I2F.S8 R0, R2", 0x0000_0002_0000_7306, 0x000f_e200_0000_1400),
            rounded(S8, Nearest),
            F32,
            0,
        ),
        (
            ("I2F.U16 R7, R2.H1", 0x1000_0002_0007_7306, 0x000e_2400_0010_1000),
            rounded(U16, Nearest),
            F32,
            16,
        ),
        (
            ("I2F.U8 R9, R0.B3", 0x3000_0000_0009_7306, 0x000e_6200_0000_1000),
            rounded(U8, Nearest),
            F32,
            24,
        ),
        (
            ("I2F.U32.RP R0, UR5", 0x0000_0005_0000_7d06, 0x000e_6a00_0820_9000),
            rounded(U32, Up),
            F32,
            0,
        ),
        (
            ("I2F.U64.RP R13, R6", 0x0000_0006_000d_7312, 0x000e_3000_0030_9000),
            rounded(U64, Up),
            F32,
            0,
        ),
        (
            ("I2FP.F32.S32 R9, R9", 0x0000_0009_0009_7245, 0x000f_ca00_0020_1400),
            rounded(S32, Nearest),
            F32,
            0,
        ),
        (
            ("I2FP.F32.S32.RZ R7, R2", 0x0000_0002_0007_7245, 0x004f_ca00_0020_d400),
            rounded(S32, Zero),
            F32,
            0,
        ),
        (
            ("I2FP.F32.U32 R7, R7", 0x0000_0007_0007_7245, 0x000f_c400_0020_1000),
            rounded(U32, Nearest),
            F32,
            0,
        ),
        (
            ("I2I.S16.S32.SAT R7, R2", 0x0000_0002_0007_7238, 0x004f_ca00_0000_3000),
            Convert { sat: true, ..rounded(S32, Nearest) },
            S16,
            0,
        ),
        (
            ("I2I.U8.S32.SAT R0, R2", 0x0000_0002_0000_7238, 0x004f_c800_0000_0000),
            Convert { sat: true, ..rounded(S32, Nearest) },
            U8,
            0,
        ),
    ] {
        same_as_cvt(line, convert, to, shift);
    }
}

#[test]
fn without_ntz_a_nan_becomes_the_highest_bit() {
    for (line, want) in [
        (("F2I.TRUNC.NTZ R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0020_f100), 0),
        (("F2I.TRUNC R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0020_d100), 0x8000_0000),
        (("F2I.U32.TRUNC R7, R2", 0x0000_0002_0007_7305, 0x004e_2800_0020_d000), 0x8000_0000),
    ] {
        let (native, rows) = lowered(line);
        let mut file = registers(&rows, Type::F32, 0);
        file.narrow[2] = [0x7fc0_0000; 32];
        execute(&native, &mut file, LaneMask::FULL);
        assert_eq!(file.narrow[7], [want; 32], "{}", line.0);
    }
}

#[test]
fn an_immediate_of_64_bits_is_the_upper_word() {
    let line = ("I2F.U64 R15, 0x2c000000", 0x2c00_0000_000f_7912, 0x000f_e200_0030_1000);
    let (native, rows) = lowered(line);
    let mut file = registers(&rows, Type::U64, 0);
    execute(&native, &mut file, LaneMask::FULL);
    assert_eq!(file.narrow[15], [(0x2c_u64 << 56) as f32; 32].map(f32::to_bits));
}

#[test]
fn packing() {
    use Type::{BF16x2, F16x2, F32, S32};
    let near = Convert::from(F32);
    for (line, convert, to) in [
        (
            ("F2FP.BF16.F32.PACK_AB R7, R3, R2", 0x0000_0002_0307_723e, 0x004f_ca00_0000_10ff),
            near,
            BF16x2,
        ),
        (
            ("F2FP.F16.F32.PACK_AB.RZ R7, R0, R7", 0x0000_0007_0007_723e, 0x004f_ca00_0001_80ff),
            Convert { round: Round::Zero, ..near },
            F16x2,
        ),
        (
            ("F2FP.RELU.F16.F32.PACK_AB R7, R0, R7", 0x0000_0007_0007_723e, 0x004f_ca00_0000_08ff),
            Convert { relu: true, ..near },
            F16x2,
        ),
    ] {
        compare_results(line, [F32; 2], |operands| ptx(LaneFn::CvtPair(convert), to, operands));
    }
    let line =
        ("F2FP.RELU.BF16.F32.MERGE_C R0, R2, RZ", 0x0000_0002_ff00_723e, 0x004f_ca00_0000_58ff);
    compare_results(line, [F32; 2], |[_, b, _]| {
        ptx(LaneFn::Cvt(Convert { relu: true, ..near }), Type::BF16, [b; 3])
    });
    let byte = |bits: u64| u64::from((bits as i32).clamp(0, 255) as u32);
    let line = ("I2IP.U8.S32.SAT R7, R0, R7, R6", 0x0000_0007_0007_7239, 0x004f_ca00_0000_0406);
    compare_results(line, [S32; 2], |[a, b, c]| {
        let mut lane = 0;
        a.map(|a| {
            lane += 1;
            (c[lane - 1] & 0xffff) << 16 | byte(a) << 8 | byte(b[lane - 1])
        })
    });
    let line = ("I2IP.S16.S32.SAT R7, R0, R7, RZ", 0x0000_0007_0007_7239, 0x004f_ca00_0000_34ff);
    compare_results(line, [S32; 2], |[a, b, _]| {
        let short = |bits: u64| u64::from((bits as i32).clamp(-32768, 32767) as u16);
        let mut lane = 0;
        a.map(|a| {
            lane += 1;
            short(a) << 16 | short(b[lane - 1])
        })
    });
    let line =
        ("F2IP.U8.F32.TRUNC.NTZ R7, RZ, R2, RZ", 0x0000_0002_ff07_7243, 0x004f_ca00_0000_c4ff);
    compare_results(line, [F32; 2], |[_, b, _]| {
        b.map(|b| u64::from(f32::from_bits(b as u32) as u8))
    });
}
