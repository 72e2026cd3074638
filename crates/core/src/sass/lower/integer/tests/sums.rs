//! Moves, sums, products and shifts.

use super::*;

#[test]
fn sums_of_64_bits() {
    check("UIADD3.64 UR8, UR4, UR6, URZ ; /* 0x0000000604087297 */", |l| {
        let [a, b] = [4, 6].map(|n| u64::from(l.u(n + 1)) << 32 | u64::from(l.u(n)));
        let sum = a.wrapping_add(b);
        vec![U(8, sum as u32), U(9, (sum >> 32) as u32)]
    });
}

#[test]
fn moves() {
    check("MOV R20, 0xf0 ; /* 0x000000f000147802 */", |_| vec![R(20, 0xf0)]);
    check("MOV R18, R5 ; /* 0x0000000500127202 */", |l| vec![R(18, l.r(5))]);
    check("MOV R2, UR5 ; /* 0x0000000500027c02 */", |l| vec![R(2, l.u(5))]);
    check("MOV R2, RZ ; /* 0x000000ff00027202 */", |_| vec![R(2, 0)]);
    check("UMOV UR4, 0x400 ; /* 0x0000040000047882 */", |_| vec![U(4, 0x400)]);
    check("UMOV UR4, UR5 ; /* 0x0000000500047c82 */", |l| vec![U(4, l.u(5))]);
    check("CS2R R18, SRZ ; /* 0x0000000000127805 */", |_| vec![W(18, 0)]);
    check("CS2R.32 R18, SRZ", |_| vec![R(18, 0)]);
    check("SEL R12, R12, 0x1, P0 ; /* 0x000000010c0c7807 */", |l| {
        vec![R(12, if l.p(0) { l.r(12) } else { 1 })]
    });
    check("SEL R7, R15, R6, !P0 ; /* 0x000000060f077207 */", |l| {
        vec![R(7, if l.p(0) { l.r(6) } else { l.r(15) })]
    });
    check("USEL UR4, UR5, URZ, UP0", |l| vec![U(4, if l.up(0) { l.u(5) } else { 0 })]);
}

#[test]
fn the_lowest_active_lane_gives_the_uniform_value() {
    let (op, reads, writes, rows) =
        lowered("R2UR UR4, R4 ; /* 0x00000000040472ca */").expect("supported");
    let mut file = RegisterFile::new(&rows.registers);
    Random(7).fill(&mut file);
    let row = usize::from(THREADS + 2 + 4);
    let of_lane_5 = file.narrow[4][5];
    execute(&op, LaneMask(0xff20), &mut file);
    assert_eq!(file.narrow[row], [of_lane_5; 32]);
    file.narrow[4] = [1; 32];
    execute(&op, LaneMask(0), &mut file);
    assert_eq!(file.narrow[row], [of_lane_5; 32]);
    assert_eq!(reads, [Register::Narrow(Row(4))]);
    assert_eq!(writes, [Register::Narrow(Row(row as u16))]);
}

#[test]
fn lanes_without_the_uniform_value_are_found() {
    let (op, _, writes, rows) =
        lowered("@P1 R2UR P0, UR4, R4 ; /* 0x00000000040412ca */").expect("supported");
    let (or, reads, ..) =
        lowered("@P1 R2UR.OR P0, UR5, R5 ; /* 0x00000000050512ca */").expect("supported");
    assert!(writes.contains(&Register::Predicate(Predicate(0))));
    assert!(reads.contains(&Register::Predicate(Predicate(0))));
    let mut file = RegisterFile::new(&rows.registers);
    let active = LaneMask(0xff20);
    file.narrow[4] = std::array::from_fn(|lane| lane as u32 & 1);
    file.narrow[5] = std::array::from_fn(|lane| lane as u32 & 2);
    file.predicates[0] = 0xf;
    execute(&op, active, &mut file);
    // Lane 5 is the lowest, so even lanes differ; lanes that are not active keep theirs.
    assert_eq!(file.predicates[0], 0x550f);
    execute(&or, active, &mut file);
    assert_eq!(file.predicates[0], 0xdd0f);
}

#[test]
fn sums_of_three() {
    check("IADD3 R9, R0, R7, R3", |l| vec![R(9, l.r(0).wrapping_add(l.r(7)).wrapping_add(l.r(3)))]);
    check("IADD3 R9, R0, R7, RZ ; /* 0x0000000700097210 */", |l| {
        vec![R(9, l.r(0).wrapping_add(l.r(7)))]
    });
    check("IADD3 R5, -R0, 0x1f, RZ ; /* 0x0000001f00057810 */", |l| {
        vec![R(5, 31_u32.wrapping_sub(l.r(0)))]
    });
    check("IADD3 R5, -R0, R6, -R5", |l| {
        vec![R(5, l.r(6).wrapping_sub(l.r(0)).wrapping_sub(l.r(5)))]
    });
    check("IADD3 R5, RZ, -R6, RZ", |l| vec![R(5, l.r(6).wrapping_neg())]);
    check("IADD3 R5, R5, RZ, RZ", |l| vec![R(5, l.r(5))]);
    check("IADD3 R5, R5, RZ, -UR3", |l| vec![R(5, l.r(5).wrapping_sub(l.u(3)))]);
    check("UIADD3 UR4, UR4, -0x1, URZ", |l| vec![U(4, l.u(4).wrapping_sub(1))]);
    check("VIADD R1, R1, 0xffffffd8 ; /* 0xffffffd801017836 */", |l| {
        vec![R(1, l.r(1).wrapping_sub(40))]
    });
    check("VIADD R2, R13, -UR9", |l| vec![R(2, l.r(13).wrapping_sub(l.u(9)))]);
    check("IADD3 R2, -R2, -0x8, R3", |l| vec![R(2, l.r(3).wrapping_sub(l.r(2)).wrapping_sub(8))]);
}

/// Returns the low word of a sum of three terms and carries, and the carry into bit 32.
fn sum(terms: [u64; 3], carries: u64) -> (u32, u64) {
    let sum = terms.iter().sum::<u64>() + carries;
    (sum as u32, sum >> 32)
}

/// Returns the term `-x` of a sum: its complement plus one, which may be 2^32.
fn minus(x: u32) -> u64 {
    u64::from(!x) + 1
}

#[test]
fn carries_of_sums() {
    check("IADD3 R4, P0, R2, R9, RZ", |l| {
        let (d, over) = sum([l.r(2).into(), l.r(9).into(), 0], 0);
        vec![R(4, d), P(0, over > 0)]
    });
    check("IADD3 R4, P0, R2, -UR6, RZ", |l| {
        let (d, over) = sum([l.r(2).into(), minus(l.u(6)), 0], 0);
        vec![R(4, d), P(0, over > 0)]
    });
    check("IADD3 RZ, P0, RZ, -R6, RZ", |l| vec![P(0, l.r(6) == 0)]);
    check("IADD3 R4, P2, P3, R2, R9, R10", |l| {
        let (d, over) = sum([l.r(2).into(), l.r(9).into(), l.r(10).into()], 0);
        vec![R(4, d), P(2, over > 0), P(3, over > 1)]
    });
    check("IADD3.X R5, R0, R7, RZ, P0, !PT", |l| {
        vec![R(5, l.r(0).wrapping_add(l.r(7)).wrapping_add(l.p(0).into()))]
    });
    check("IADD3.X R5, R0, ~UR7, RZ, P0, !PT", |l| {
        vec![R(5, l.r(0).wrapping_add(!l.u(7)).wrapping_add(l.p(0).into()))]
    });
    check("IADD3.X R0, RZ, -0x1, RZ, P0, !PT", |l| vec![R(0, if l.p(0) { 0 } else { u32::MAX })]);
    check("IADD3.X R5, P1, R5, ~R3, RZ, P0, !PT", |l| {
        let (d, over) = sum([l.r(5).into(), (!l.r(3)).into(), 0], l.p(0).into());
        vec![R(5, d), P(1, over > 0)]
    });
    check("IADD3.X R5, R5, R3, R8, P0, P1", |l| {
        let carries = u64::from(l.p(0)) + u64::from(l.p(1));
        vec![R(5, sum([l.r(5).into(), l.r(3).into(), l.r(8).into()], carries).0)]
    });
    check("UIADD3 UR6, UP0, UR4, 0x4, URZ", |l| {
        let (d, over) = sum([l.u(4).into(), 4, 0], 0);
        vec![U(6, d), UP(0, over > 0)]
    });
    check("UIADD3.X UR7, URZ, UR5, URZ, UP0, !UPT", |l| {
        vec![U(7, l.u(5).wrapping_add(l.up(0).into()))]
    });
}

#[test]
fn products() {
    check("IMAD R3, R6, R8, R7 ; /* 0x0000000806037224 */", |l| {
        vec![R(3, l.r(6).wrapping_mul(l.r(8)).wrapping_add(l.r(7)))]
    });
    check("IMAD R7, R7, R8, 0x1 ; /* 0x0000000107077424 */", |l| {
        vec![R(7, l.r(7).wrapping_mul(l.r(8)).wrapping_add(1))]
    });
    check("IMAD R2, R2, 0x3, -R7", |l| vec![R(2, l.r(2).wrapping_mul(3).wrapping_sub(l.r(7)))]);
    check("IMAD R9, RZ, RZ, -UR5 ; /* 0x80000005ff097e24 */", |l| {
        vec![R(9, l.u(5).wrapping_neg())]
    });
    check("IMAD R4, R4, R5, RZ ; /* 0x0000000504047224 */", |l| {
        vec![R(4, l.r(4).wrapping_mul(l.r(5)))]
    });
    check("IMAD.MOV.U32 R21, RZ, RZ, 0x7 ; /* 0x00000007ff157424 */", |_| vec![R(21, 7)]);
    check("IMAD.MOV R6, RZ, RZ, -R3 ; /* 0x000000ffff067224 */", |l| {
        vec![R(6, l.r(3).wrapping_neg())]
    });
    check("IMAD.U32 R3, RZ, RZ, UR5 ; /* 0x00000005ff037e24 */", |l| vec![R(3, l.u(5))]);
    check("IMAD.SHL.U32 R2, R18.reuse, 0x20, RZ ; /* 0x0000002012027824 */", |l| {
        vec![R(2, l.r(18) << 5)]
    });
    check("IMAD.IADD R6, R7, 0x1, -R4 ; /* 0x0000000107067824 */", |l| {
        vec![R(6, l.r(7).wrapping_sub(l.r(4)))]
    });
    check("UIMAD UR4, UR4, -0x1e01, UR7 ; /* 0xffffe1ff040478a4 */", |l| {
        vec![U(4, l.u(4).wrapping_mul(-0x1e01_i32 as u32).wrapping_add(l.u(7)))]
    });
    check("IMAD.X R15, R21, 0x1, R15, P0 ; /* 0x00000001150f7824 */", |l| {
        vec![R(15, l.r(21).wrapping_add(l.r(15)).wrapping_add(l.p(0).into()))]
    });
    check("IMAD.X R17, R17, 0x1, ~R14, P1 ; /* 0x0000000111117824 */", |l| {
        vec![R(17, l.r(17).wrapping_add(!l.r(14)).wrapping_add(l.p(1).into()))]
    });
    check("IMAD R3, P2, R6, R8, R7", |l| {
        let (d, over) = l.r(6).wrapping_mul(l.r(8)).overflowing_add(l.r(7));
        vec![R(3, d), P(2, over)]
    });
}

fn signed(a: u32, b: u32) -> u64 {
    (i64::from(a as i32) * i64::from(b as i32)) as u64
}

fn unsigned(a: u32, b: u32) -> u64 {
    u64::from(a) * u64::from(b)
}

#[test]
fn wide_products() {
    check("IMAD.WIDE R8, R15, R0, R8 ; /* 0x000000000f087225 */", |l| {
        vec![W(8, signed(l.r(15), l.r(0)).wrapping_add(l.w(8)))]
    });
    check("IMAD.WIDE R4, R0, 0x4, R4 ; /* 0x0000000400047825 */", |l| {
        vec![W(4, signed(l.r(0), 4).wrapping_add(l.w(4)))]
    });
    check("IMAD.WIDE.U32 R2, R9, UR4, R2 ; /* 0x0000000409027c25 */", |l| {
        vec![W(2, unsigned(l.r(9), l.u(4)).wrapping_add(l.w(2)))]
    });
    check("UIMAD.WIDE.U32 UR4, UR7, 0x4441fdcd, URZ ; /* 0x4441fdcd070478a5 */", |l| {
        let product = unsigned(l.u(7), 0x4441_fdcd);
        vec![U(4, product as u32), U(5, (product >> 32) as u32)]
    });
    check("IMAD.WIDE.U32 R14, P0, R10.reuse, R9, R4 ; /* 0x000000090a0e7225 */", |l| {
        let (d, over) = unsigned(l.r(10), l.r(9)).overflowing_add(l.w(4));
        vec![W(14, d), P(0, over)]
    });
    check("IMAD.WIDE.U32.X R14, P1, R11.reuse, R9.reuse, R16, P2", |l| {
        let product = u128::from(unsigned(l.r(11), l.r(9)));
        let all = product + u128::from(l.w(16)) + u128::from(l.p(2));
        vec![W(14, all as u64), P(1, all >> 64 != 0)]
    });
    check("IMAD.WIDE.U32.X R12, R3, -0x768fa0cf, R16, P0 ; /* 0x89705f31030c7825 */", |l| {
        let sum = unsigned(l.r(3), 0x8970_5f31).wrapping_add(l.w(16));
        vec![W(12, sum.wrapping_add(l.p(0).into()))]
    });
    check("IMAD.HI R4, R3, -0x6db6db6d, R2 ; /* 0x9249249303047827 */", |l| {
        vec![R(4, (signed(l.r(3), 0x9249_2493).wrapping_add(l.w(2)) >> 32) as u32)]
    });
    check("IMAD.HI.U32 R3, R3, R0, RZ ; /* 0x0000000003037227 */", |l| {
        vec![R(3, (unsigned(l.r(3), l.r(0)) >> 32) as u32)]
    });
    check("IMAD.HI.U32 R16, P1, R15, R19, R16 ; /* 0x000000130f107227 */", |l| {
        let (sum, over) = unsigned(l.r(15), l.r(19)).overflowing_add(l.w(16));
        vec![R(16, (sum >> 32) as u32), P(1, over)]
    });
}

#[test]
fn shifted_sums() {
    check("LEA R0, R0, R1, 0x3 ; /* 0x0000000100007211 */", |l| {
        vec![R(0, (l.r(0) << 3).wrapping_add(l.r(1)))]
    });
    check("ULEA UR4, UR5, UR4, 0x18 ; /* 0x0000000405047291 */", |l| {
        vec![U(4, (l.u(5) << 24).wrapping_add(l.u(4)))]
    });
    check("LEA R4, P0, R2, R4, 0x3 ; /* 0x0000000402047211 */", |l| {
        let (d, over) = (l.r(2) << 3).overflowing_add(l.r(4));
        vec![R(4, d), P(0, over)]
    });
    let high = |l: &Before<'_>, shift: u32| (l.w(6) << shift >> 32) as u32;
    check("LEA.HI R4, R6, R4, R7, 0x7 ; /* 0x0000000406047211 */", |l| {
        vec![R(4, high(l, 7).wrapping_add(l.r(4)))]
    });
    check("LEA.HI R3, R0, 0xfffffc0c, RZ, 0xc ; /* 0xfffffc0c00037811 */", |l| {
        vec![R(3, (l.r(0) >> 20).wrapping_add(0xffff_fc0c))]
    });
    check("LEA.HI R3, R6, R4, R7, 0x0", |l| vec![R(3, l.r(7).wrapping_add(l.r(4)))]);
    check("LEA.HI.X R5, R6, UR9, R7, 0x2, P0 ; /* 0x0000000906057c11 */", |l| {
        vec![R(5, high(l, 2).wrapping_add(l.u(9)).wrapping_add(l.p(0).into()))]
    });
    check("LEA.HI.X R5, P1, R6, R9, R7, 0x2, P0", |l| {
        let (d, over) = sum([high(l, 2).into(), l.r(9).into(), 0], l.p(0).into());
        vec![R(5, d), P(1, over > 0)]
    });
    let sign = |a: u32, shift: u32| (i64::from(a as i32) << shift >> 32) as u32;
    check("LEA.HI.SX32 R3, R2, R3, 0x1d ; /* 0x0000000302037211 */", |l| {
        vec![R(3, sign(l.r(2), 29).wrapping_add(l.r(3)))]
    });
    check("LEA.HI.X.SX32 R9, R4, UR11, 0x1, P0 ; /* 0x0000000b04097c11 */", |l| {
        vec![R(9, sign(l.r(4), 1).wrapping_add(l.u(11)).wrapping_add(l.p(0).into()))]
    });
    check("ULEA.HI UR4, UR5, UR6, URZ, 0x5", |l| vec![U(4, (l.u(5) >> 27).wrapping_add(l.u(6)))]);
}

#[test]
fn shifts() {
    let clamped = |a: u32, by: u32| if by < 32 { a << by } else { 0 };
    check("SHF.L.U32 R4, R18.reuse, 0x3, RZ ; /* 0x0000000312047819 */", |l| {
        vec![R(4, l.r(18) << 3)]
    });
    check("SHF.L.U32 R7, R7, R0, RZ ; /* 0x0000000007077219 */", |l| {
        vec![R(7, clamped(l.r(7), l.r(0)))]
    });
    check("SHF.L.U32 R7, R7, UR4, RZ", |l| vec![R(7, clamped(l.r(7), l.u(4)))]);
    check("SHF.L.U32 R7, R7, 0x20, RZ", |_| vec![R(7, 0)]);
    check("SHF.L.W.U32 R7, R7, 0x21, RZ", |l| vec![R(7, l.r(7) << 1)]);
    check("SHF.R.S32.HI R5, RZ, 0x1f, R0 ; /* 0x0000001fff057819 */", |l| {
        vec![R(5, (l.r(0) as i32 >> 31) as u32)]
    });
    check("SHF.R.S32.HI R5, RZ, R0, R3 ; /* 0x00000000ff057219 */", |l| {
        vec![R(5, (l.r(3) as i32 >> l.r(0).min(31)) as u32)]
    });
    check("SHF.R.U32.HI R5, RZ, 0x1, R6 ; /* 0x00000001ff057819 */", |l| vec![R(5, l.r(6) >> 1)]);
    check("SHF.R.U32.HI R10, RZ, R5, R10 ; /* 0x00000005ff0a7219 */", |l| {
        vec![R(10, l.r(10).checked_shr(l.r(5)).unwrap_or(0))]
    });
    let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    check("SHF.R.U64 R11, R11, R5, R0 ; /* 0x000000050b0b7219 */", |l| {
        vec![R(11, pair(l.r(11), l.r(0)).checked_shr(l.r(5)).unwrap_or(0) as u32)]
    });
    check("SHF.R.S64 R4, R2, R0.reuse, R3.reuse ; /* 0x0000000002047219 */", |l| {
        vec![R(4, (pair(l.r(2), l.r(3)) as i64 >> l.r(0).min(63)) as u32)]
    });
    check("SHF.L.U64.HI R4, R4, R3, R9 ; /* 0x0000000304047219 */", |l| {
        let all = pair(l.r(4), l.r(9)).checked_shl(l.r(3)).unwrap_or(0);
        vec![R(4, (all >> 32) as u32)]
    });
    check("SHF.L.U64.HI R21, R0.reuse, 0xb, R15 ; /* 0x0000000b00157819 */", |l| {
        vec![R(21, l.r(15) << 11 | l.r(0) >> 21)]
    });
    check("SHF.L.U32.HI R11, R2, R6, R5 ; /* 0x00000006020b7219 */", |l| {
        vec![R(11, (pair(l.r(2), l.r(5)) << l.r(6).min(32) >> 32) as u32)]
    });
    check("SHF.R.U32 R11, R2, R6, R5 ; /* 0x00000006020b7219 */", |l| {
        vec![R(11, (pair(l.r(2), l.r(5)) >> l.r(6).min(32)) as u32)]
    });
    check("SHF.L.W.U32.HI R7, R0, R3, R14 ; /* 0x0000000300077219 */", |l| {
        vec![R(7, (pair(l.r(0), l.r(14)) << (l.r(3) & 31) >> 32) as u32)]
    });
    check("SHF.R.W.U32 R11, R2, R6, R5 ; /* 0x00000006020b7219 */", |l| {
        vec![R(11, (pair(l.r(2), l.r(5)) >> (l.r(6) & 31)) as u32)]
    });
    check("USHF.L.U32 UR4, UR5, 0x2, URZ ; /* 0x0000000205047899 */", |l| vec![U(4, l.u(5) << 2)]);
    check("USHF.R.S32.HI UR5, URZ, UR2, UR5", |l| {
        vec![U(5, (l.u(5) as i32 >> l.u(2).min(31)) as u32)]
    });
}
