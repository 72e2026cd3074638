//! Comparisons, minima and maxima, predicate logic and predicate files.

use super::*;

/// Returns `a CMP b` of the mnemonic's comparison.
fn holds<T: PartialOrd>(compare: &str, a: T, b: T) -> bool {
    match compare {
        "LT" => a < b,
        "LE" => a <= b,
        "GT" => a > b,
        "GE" => a >= b,
        "EQ" => a == b,
        "NE" => a != b,
        other => panic!("{other}"),
    }
}

#[test]
fn comparisons() {
    for compare in ["LT", "LE", "GT", "GE", "EQ", "NE"] {
        check(&format!("ISETP.{compare}.AND P1, PT, R4, R2, PT"), |l| {
            vec![P(1, holds(compare, l.r(4) as i32, l.r(2) as i32))]
        });
        check(&format!("ISETP.{compare}.U32.AND P1, P2, R4, UR7, P3"), |l| {
            let c = holds(compare, l.r(4), l.u(7));
            vec![P(1, c && l.p(3)), P(2, !c && l.p(3))]
        });
        check(&format!("ISETP.{compare}.OR P0, PT, R8, -0x1, !P0"), |l| {
            vec![P(0, holds(compare, l.r(8) as i32, -1) || !l.p(0))]
        });
        check(&format!("ISETP.{compare}.XOR P0, P1, R8, RZ, P0"), |l| {
            let c = holds(compare, l.r(8) as i32, 0);
            vec![P(0, c ^ l.p(0)), P(1, !c ^ l.p(0))]
        });
        check(&format!("UISETP.{compare}.U32.AND UP0, UPT, UR4, URZ, UPT"), |l| {
            vec![UP(0, holds(compare, l.u(4), 0))]
        });
    }
    check("ISETP.T.AND P0, P1, R8, RZ, PT", |_| vec![P(0, true), P(1, false)]);
    check("ISETP.F.OR P0, P1, R8, RZ, P2", |l| vec![P(0, l.p(2)), P(1, true)]);
}

#[test]
fn comparisons_of_64_bits() {
    // The low words are compared first; the result enters the comparison of the high words.
    for compare in ["LT", "LE", "GT", "GE", "EQ", "NE"] {
        let low = |l: &Before<'_>| holds(compare, l.r(2), l.r(4));
        check(&format!("ISETP.{compare}.AND.EX P0, PT, R3, R5, PT, P3"), |l| {
            let (a, b) = (l.r(3) as i32, l.r(5) as i32);
            let strict = holds(compare, a, b) && a != b;
            vec![P(0, if a == b { l.p(3) } else { strict })]
        });
        // With the predicate that the first comparison makes, the result is that of 64 bits.
        let first = lowered(&format!("ISETP.{compare}.U32.AND P6, PT, R2, R4, PT"));
        let then = lowered(&format!("ISETP.{compare}.AND.EX P0, PT, R3, R5, PT, P6"));
        let (first, then) = (first.expect("supported"), then.expect("supported"));
        let mut file = RegisterFile::new(&then.3.registers);
        Random(3).fill(&mut file);
        for lane in 0..16 {
            file.narrow[3][lane] = file.narrow[5][lane];
        }
        execute(&first.0, LaneMask::FULL, &mut file);
        execute(&then.0, LaneMask::FULL, &mut file);
        for lane in 0..32 {
            let l = Before { file: &file, lane };
            assert_eq!(l.p(6), low(&l));
            assert_eq!(l.p(0), holds(compare, l.w(2) as i64, l.w(4) as i64), "{compare}");
        }
    }
    check("ISETP.EQ.AND.EX P0, PT, R3, -0x80000000, P0, P2 ; /* 0x800000000300780c */", |l| {
        vec![P(0, l.r(3) == 1 << 31 && l.p(2) && l.p(0))]
    });
}

#[test]
fn minima_and_maxima() {
    check("VIMNMX R6, R3, R6, !PT ; /* 0x0000000603067248 */", |l| {
        vec![R(6, (l.r(3) as i32).max(l.r(6) as i32) as u32)]
    });
    check("VIMNMX.U32 R2, R2, 0x2, PT ; /* 0x0000000202027848 */", |l| vec![R(2, l.r(2).min(2))]);
    check("VIMNMX R2, R2, R3, P4", |l| {
        let (a, b) = (l.r(2) as i32, l.r(3) as i32);
        vec![R(2, if l.p(4) { a.min(b) } else { a.max(b) } as u32)]
    });
    check("VIMNMX.RELU R9, R2, R5, !PT ; /* 0x0000000502097248 */", |l| {
        vec![R(9, (l.r(2) as i32).max(l.r(5) as i32).max(0) as u32)]
    });
    check("VIMNMX3.U32 R11, R2, R5, R6, PT ; /* 0x00000005020b720f */", |l| {
        vec![R(11, l.r(2).min(l.r(5)).min(l.r(6)))]
    });
    check("VIMNMX3 R11, R2, R5, R6, !PT ; /* 0x00000005020b720f */", |l| {
        vec![R(11, [2, 5, 6].map(|i| l.r(i) as i32).into_iter().max().unwrap_or(0) as u32)]
    });
    check("VIADDMNMX R23, R23, 0x1, R28, PT ; /* 0x0000000117177846 */", |l| {
        vec![R(23, (l.r(23).wrapping_add(1) as i32).min(l.r(28) as i32) as u32)]
    });
    check("VIADDMNMX.U32 R23, R23, R4, 0x7, !PT", |l| {
        vec![R(23, l.r(23).wrapping_add(l.r(4)).max(7))]
    });
    check("VIADDMNMX.RELU R11, R2, R5, R6, PT", |l| {
        vec![R(11, (l.r(2).wrapping_add(l.r(5)) as i32).min(l.r(6) as i32).max(0) as u32)]
    });
}

/// Applies a function to both halves of two words.
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

#[test]
fn functions_of_halves() {
    let max = |a: u16, b: u16| (a as i16).max(b as i16) as u16;
    let relu = |a: u16, _: u16| (a as i16).max(0) as u16;
    check("VIADD.16x2 R0, R2, R5 ; /* 0x0000000502007236 */", |l| {
        vec![R(0, halves(l.r(2), l.r(5), u16::wrapping_add))]
    });
    check("VIADD.16x2 R0, R2, -R5 ; /* 0x8000000502007236 */", |l| {
        vec![R(0, halves(l.r(2), l.r(5), u16::wrapping_sub))]
    });
    check("VIMNMX.S16x2 R9, R2, R5, !PT ; /* 0x0000000502097248 */", |l| {
        vec![R(9, halves(l.r(2), l.r(5), max))]
    });
    check("VIMNMX.S16x2 R9, P0, P1, R2, R5, !PT ; /* 0x0000000502097248 */", |l| {
        let (a, b) = (l.r(2), l.r(5));
        let high = (a as i32 >> 16) >= (b as i32 >> 16);
        vec![R(9, halves(a, b, max)), P(0, a as i16 >= b as i16), P(1, high)]
    });
    check("VIMNMX.U16x2 R9, P0, P1, R2, R5, PT ; /* 0x0000000502097248 */", |l| {
        let (a, b) = (l.r(2), l.r(5));
        let high = a >> 16 <= b >> 16;
        vec![R(9, halves(a, b, u16::min)), P(0, a as u16 <= b as u16), P(1, high)]
    });
    check("VIMNMX3.S16x2.RELU R11, R2, R5, R6, !PT", |l| {
        vec![R(11, halves(halves(halves(l.r(2), l.r(5), max), l.r(6), max), 0, relu))]
    });
    check("VIADDMNMX.S16x2.RELU R11, R2, R5, R6, !PT", |l| {
        let sum = halves(l.r(2), l.r(5), u16::wrapping_add);
        vec![R(11, halves(halves(sum, l.r(6), max), 0, relu))]
    });
    check("VIADDMNMX.U16x2 R11, R2, R5, R6, PT", |l| {
        let sum = halves(l.r(2), l.r(5), u16::wrapping_add);
        vec![R(11, halves(sum, l.r(6), u16::min))]
    });
}

#[test]
fn predicate_logic() {
    for table in [0, 0x80, 0x08, 0xa8, 0x2a, 0xe0, 0x96, 0xff] {
        check(&format!("PLOP3.LUT P0, P4, P0, P1, !P2, {table:#x}, 0x17"), |l| {
            let row = |of: u32| {
                let index = usize::from(l.p(0)) << 2 | usize::from(l.p(1)) << 1;
                of >> (index | usize::from(!l.p(2))) & 1 == 1
            };
            vec![P(0, row(table)), P(4, row(0x17))]
        });
    }
    check("PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0 ; /* 0x000000000000781c */", |l| {
        vec![P(0, l.up(0))]
    });
    check("PLOP3.LUT P0, PT, PT, PT, PT, 0x8, 0x0 ; /* 0x000000000000781c */", |_| {
        vec![P(0, false)]
    });
    let line = "PLOP3.LUT P1, PT, R2.SIGN, R5.SIGN, R0.SIGN, 0x10, 0x0 ; /* 0x000000050200721f */";
    check(line, |l| {
        let negative = |number| (l.r(number) as i32) < 0;
        vec![P(1, negative(2) && !negative(5) && !negative(0))]
    });
    check("UPLOP3.LUT UP1, UPT, UP0, UP1, UPT, 0xa8, 0x0", |l| vec![UP(1, l.up(0) || l.up(1))]);
}

#[test]
fn predicate_files() {
    let packed = |l: &Before<'_>| (0..7).fold(0, |all, i| all | u32::from(l.p(i)) << i);
    check("P2R R24, PR, RZ, 0x2 ; /* 0x00000002ff187803 */", |l| {
        vec![R(24, u32::from(l.p(1)) << 1)]
    });
    check("P2R R24, PR, R3, 0x7f", |l| vec![R(24, l.r(3) & !0x7f | packed(l))]);
    check("P2R.B1 R24, PR, R24, 0x7f", |l| vec![R(24, l.r(24) & !0x7f00 | packed(l) << 8)]);
    check("R2P PR, R3, 0x3 ; /* 0x0000000303007804 */", |l| {
        vec![P(0, l.r(3) & 1 != 0), P(1, l.r(3) & 2 != 0)]
    });
    check("R2P PR, R3.B2, 0x50", |l| {
        vec![P(4, l.r(3) >> 20 & 1 != 0), P(6, l.r(3) >> 22 & 1 != 0)]
    });
    check("UP2UR UR4, UPR, URZ, 0x4", |l| vec![U(4, u32::from(l.up(2)) << 2)]);
    check("UR2UP UPR, UR4, 0x1", |l| vec![UP(0, l.u(4) & 1 != 0)]);
    check("UR2UP UPR, UR6.B3", |l| (0..7).map(|i| UP(i, l.u(6) >> (24 + i) & 1 != 0)).collect());
}
