//! Logic, fields, permutations, dot products, conversions.

use super::*;

/// Returns bit by bit what the table says.
fn by_table(table: u32, a: u32, b: u32, c: u32) -> u32 {
    (0..32).fold(0, |all, bit| {
        let row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
        all | (table >> row & 1) << bit
    })
}

#[test]
fn every_logic_table() {
    for table in 0..256 {
        check_some(&format!("LOP3.LUT R8, R8, R6, R9, {table:#x}, !PT"), 1, |l| {
            vec![R(8, by_table(table, l.r(8), l.r(6), l.r(9)))]
        });
    }
    for table in [0, 0x0c, 0x30, 0x33, 0xc0, 0xfc, 0x3c, 0x96, 0x55, 0xf8, 0xff] {
        check(&format!("LOP3.LUT R8, R8, R6, RZ, {table:#x}, !PT"), |l| {
            vec![R(8, by_table(table, l.r(8), l.r(6), 0))]
        });
        check(&format!("ULOP3.LUT UR8, URZ, UR6, URZ, {table:#x}, !UPT"), |l| {
            vec![U(8, by_table(table, 0, l.u(6), 0))]
        });
    }
}

#[test]
fn logic_with_a_predicate() {
    check("LOP3.LUT P0, R17, R2, 0x3, RZ, 0xc0, !PT ; /* 0x0000000302117812 */", |l| {
        vec![R(17, l.r(2) & 3), P(0, l.r(2) & 3 != 0)]
    });
    check("LOP3.LUT P1, RZ, R9, R5, R8, 0xf8, !PT ; /* 0x0000000509ff7212 */", |l| {
        vec![P(1, l.r(9) | l.r(5) & l.r(8) != 0)]
    });
    check("LOP3.LUT P0, RZ, RZ, RZ, RZ, 0x3c, P0 ; /* 0x000000ffffff7212 */", |l| {
        vec![P(0, l.p(0))]
    });
    check("LOP3.LUT.PAND P0, RZ, R2, 0x3, RZ, 0xc0, P1", |l| vec![P(0, l.r(2) & 3 != 0 && l.p(1))]);
    check("LOP3.LUT P0, RZ, R2, 0x3, RZ, 0xc0, !P1", |l| vec![P(0, l.r(2) & 3 != 0 || !l.p(1))]);
}

#[test]
fn counts_and_positions() {
    let top = |a: u32| if a == 0 { u32::MAX } else { 31 - a.leading_zeros() };
    let leading = |a: u32| if a == 0 { u32::MAX } else { a.leading_zeros() };
    let magnitude = |a: u32| if (a as i32) < 0 { !a } else { a };
    check("POPC R9, R0 ; /* 0x0000000000097309 */", |l| vec![R(9, l.r(0).count_ones())]);
    check("POPC R5, UR8 ; /* 0x0000000800057d09 */", |l| vec![R(5, l.u(8).count_ones())]);
    check("UPOPC UR4, UR5", |l| vec![U(4, l.u(5).count_ones())]);
    check("FLO.U32 R2, R0 ; /* 0x0000000000027300 */", |l| vec![R(2, top(l.r(0)))]);
    check("FLO.U32.SH R10, R6 ; /* 0x00000006000a7300 */", |l| vec![R(10, leading(l.r(6)))]);
    check("FLO R7, R2 ; /* 0x0000000200077300 */", |l| vec![R(7, top(magnitude(l.r(2))))]);
    check("FLO.SH R7, R2 ; /* 0x0000000200077300 */", |l| vec![R(7, leading(magnitude(l.r(2))))]);
    check("UFLO.U32 UR4, UR4 ; /* 0x00000004000472bd */", |l| vec![U(4, top(l.u(4)))]);
    check("BREV R6, R0 ; /* 0x0000000000067301 */", |l| vec![R(6, l.r(0).reverse_bits())]);
    check("UBREV UR4, UR5", |l| vec![U(4, l.u(5).reverse_bits())]);
    check("IABS R7, R9 ; /* 0x0000000900077213 */", |l| vec![R(7, (l.r(9) as i32).unsigned_abs())]);
}

#[test]
fn fields() {
    let ones = |n: u32| if n >= 32 { u32::MAX } else { (1 << n) - 1 };
    let mask = |at: u32, n: u32| ones(n).checked_shl(at).unwrap_or(0);
    check("BMSK R9, R2, R5 ; /* 0x000000050209721b */", |l| vec![R(9, mask(l.r(2), l.r(5)))]);
    check("BMSK.W R9, R2, R5 ; /* 0x000000050209721b */", |l| {
        vec![R(9, mask(l.r(2) & 31, l.r(5) & 31))]
    });
    check("UBMSK UR4, UR5, UR6", |l| vec![U(4, mask(l.u(5), l.u(6)))]);
    check("SGXT.U32 R9, R2, R5 ; /* 0x000000050209721a */", |l| vec![R(9, l.r(2) & ones(l.r(5)))]);
    let signed = |a: u32, n: u32| {
        let low = a & ones(n);
        if n > 0 && n < 32 && low >> (n - 1) == 1 { low | !ones(n) } else { low }
    };
    check("SGXT R6, R2, 0x18 ; /* 0x000000180206781a */", |l| vec![R(6, signed(l.r(2), 24))]);
    check("SGXT R11, R13, R0 ; /* 0x000000000d0b721a */", |l| vec![R(11, signed(l.r(13), l.r(0)))]);
    check("SGXT.W R9, R2, R5 ; /* 0x000000050209721a */", |l| {
        vec![R(9, signed(l.r(2), l.r(5) & 31))]
    });
    check("USGXT.U32 UR4, UR5, 0x8", |l| vec![U(4, l.u(5) & 0xff)]);
}

#[test]
fn permutations() {
    let pick = |a: u32, selector: u32, c: u32| {
        let bytes = (u64::from(c) << 32 | u64::from(a)).to_le_bytes();
        u32::from_le_bytes([0, 4, 8, 12].map(|at| {
            let byte = bytes[(selector >> at & 7) as usize];
            if selector >> at & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 }
        }))
    };
    check("PRMT R4, R8, 0x3715, R7 ; /* 0x0000371508047816 */", |l| {
        vec![R(4, pick(l.r(8), 0x3715, l.r(7)))]
    });
    check("PRMT R4, R2, 0x9910, RZ ; /* 0x0000991002047816 */", |l| {
        vec![R(4, l.r(2) as i16 as u32)]
    });
    check("PRMT R2, R7, R6, 0x3f ; /* 0x0000003f07027416 */", |l| {
        vec![R(2, pick(l.r(7), l.r(6), 0x3f))]
    });
    check("PRMT R13, RZ, 0x4, R0.reuse ; /* 0x00000004ff0d7816 */", |l| vec![R(13, l.r(0) & 0xff)]);
    check("UPRMT UR4, UR5, 0x7604, UR4 ; /* 0x0000760405047896 */", |l| {
        vec![U(4, pick(l.u(5), 0x7604, l.u(4)))]
    });
    // The table of `prmt` in the PTX manual, lowest result byte first.
    let tables: [(&str, [[u32; 4]; 4]); 6] = [
        ("F4E", [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]),
        ("B4E", [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]]),
        ("RC8", [[0; 4], [1; 4], [2; 4], [3; 4]]),
        ("ECL", [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]]),
        ("ECR", [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]]),
        ("RC16", [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]]),
    ];
    for (mode, rows) in tables {
        check(&format!("PRMT.{mode} R11, R2, R6, R5 ; /* 0x00000006020b7216 */"), |l| {
            let row = rows[l.r(6) as usize & 3];
            let selector = (0..4).fold(0, |all, i| all | row[i] << (4 * i));
            vec![R(11, pick(l.r(2), selector, l.r(5)))]
        });
    }
}

/// Returns the bytes of a word, sign-extended or zero-extended.
fn bytes(word: u32, signed: bool) -> [i64; 4] {
    word.to_le_bytes().map(|b| if signed { i64::from(b as i8) } else { i64::from(b) })
}

fn halves(word: u32, signed: bool) -> [i64; 2] {
    [word as u16, (word >> 16) as u16]
        .map(|h| if signed { i64::from(h as i16) } else { i64::from(h) })
}

#[test]
fn dot_products() {
    for (types, a_signed, b_signed) in
        [("S8.S8", true, true), ("U8.U8", false, false), ("S8.U8", true, false)]
    {
        check(&format!("IDP.4A.{types} R11, R2, R5, R6 ; /* 0x00000005020b7226 */"), |l| {
            let (a, b) = (bytes(l.r(2), a_signed), bytes(l.r(5), b_signed));
            let dot: i64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            vec![R(11, (i64::from(l.r(6)) + dot) as u32)]
        });
    }
    for (types, signed, from) in [
        ("HI.S16.S8", [true, true], 2),
        ("LO.S16.U8", [true, false], 0),
        ("LO.U16.U8", [false; 2], 0),
    ] {
        check(&format!("IDP.2A.{types} R11, R2, R5, R6 ; /* 0x00000005020b7226 */"), |l| {
            let (a, b) = (halves(l.r(2), signed[0]), bytes(l.r(5), signed[1]));
            let dot = a[0] * b[from] + a[1] * b[from + 1];
            vec![R(11, (i64::from(l.r(6)) + dot) as u32)]
        });
    }
}

#[test]
fn absolute_differences() {
    check("VABSDIFF R11, R2, R5, R6 ; /* 0x00000005020b7214 */", |l| {
        vec![R(11, (l.r(2) as i32).abs_diff(l.r(5) as i32).wrapping_add(l.r(6)))]
    });
    check("VABSDIFF.U32 R11, R2, R5, R6 ; /* 0x00000005020b7214 */", |l| {
        vec![R(11, l.r(2).abs_diff(l.r(5)).wrapping_add(l.r(6)))]
    });
    let each = |l: &Before<'_>| {
        let (a, b) = (l.r(2).to_le_bytes(), l.r(5).to_le_bytes());
        [0, 1, 2, 3].map(|i| a[i].abs_diff(b[i]))
    };
    check("VABSDIFF4.U8 R11, R2, R5, RZ", |l| vec![R(11, u32::from_le_bytes(each(l)))]);
    check("VABSDIFF4.U8 R11, R2, R5, R6", |l| vec![R(11, u32::from_le_bytes(each(l)))]);
    check("VABSDIFF4.U8.ACC R11, R2, R5, R6", |l| {
        vec![R(11, each(l).map(u32::from).iter().fold(l.r(6), |all, d| all.wrapping_add(*d)))]
    });
}

#[test]
fn saturating_conversions() {
    let clamp = |a: u32, least: i32, most: i32| (a as i32).clamp(least, most) as u32;
    check("I2I.S8.S32.SAT R0, R2 ; /* 0x0000000200007238 */", |l| {
        vec![R(0, clamp(l.r(2), -128, 127))]
    });
    check("I2I.U8.S32.SAT R0, R2 ; /* 0x0000000200007238 */", |l| {
        vec![R(0, clamp(l.r(2), 0, 255))]
    });
    check("I2I.U16.S32.SAT R0, R2 ; /* 0x0000000200007238 */", |l| {
        vec![R(0, clamp(l.r(2), 0, 0xffff))]
    });
    check("I2IP.U8.S32.SAT R11, R2, R5, R6", |l| {
        let (a, b) = (clamp(l.r(2), 0, 255), clamp(l.r(5), 0, 255));
        vec![R(11, l.r(6) << 16 | a << 8 | b)]
    });
    check("I2IP.S4.S32.SAT R11, R2, R5, R6.24", |l| {
        let (a, b) = (clamp(l.r(2), -8, 7), clamp(l.r(5), -8, 7));
        vec![R(11, l.r(6) << 8 | (a & 15) << 4 | b & 15)]
    });
    check("I2IP.U2.S32.SAT R11, R2, R5, R6.28", |l| {
        vec![R(11, l.r(6) << 4 | clamp(l.r(2), 0, 3) << 2 | clamp(l.r(5), 0, 3))]
    });
    check("I2IP.S16.S32.SAT R9, R2, R5, RZ", |l| {
        let (a, b) = (clamp(l.r(2), -0x8000, 0x7fff), clamp(l.r(5), -0x8000, 0x7fff));
        vec![R(9, a << 16 | b & 0xffff)]
    });
}
