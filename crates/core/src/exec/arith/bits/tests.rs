//! Bit operations against plain definitions.

use super::*;

#[test]
fn bytes_of_one_selector_are_those_of_prmt() {
    for selector in (0..0x1_0000).filter(|selector| selector & 0x8888 == 0) {
        let bytes = Bytes::new(selector).expect("no sign");
        let (a, b) = (0x8123_4567, 0x89ab_cdef);
        assert_eq!(bytes.of(a, b), prmt(a, b, selector, PrmtMode::Index), "{selector:x}");
    }
    assert!(Bytes::new(0x3218).is_none(), "it replicates a sign");
}

/// The manual's own loops, bit by bit.
fn bfe_by_the_manual(a: u64, b: u32, c: u32, signed: bool, msb: u32) -> u64 {
    let (position, length) = if msb == 63 { (b.min(64), c.min(64)) } else { (b & 0xff, c & 0xff) };
    let sign = if !signed || length == 0 { 0 } else { a >> (position + length - 1).min(msb) & 1 };
    (0..=msb)
        .map(|i| {
            if i < length && position + i <= msb {
                (a >> (position + i) & 1) << i
            } else {
                sign << i
            }
        })
        .sum()
}

fn bfi_by_the_manual(a: u64, b: u64, position: u32, length: u32, msb: u32) -> u64 {
    let wide = msb == 63;
    let (position, length) =
        if wide { (position.min(64), length.min(64)) } else { (position & 0xff, length & 0xff) };
    (0..length).take_while(|i| position + i <= msb).fold(b, |f, i| {
        let bit = 1 << (position + i);
        if a >> i & 1 == 1 { f | bit } else { f & !bit }
    })
}

#[test]
fn bit_fields_follow_the_manual() {
    let amounts = (0..70).chain([96, 127, 128, 254, 255, 256, 0x1_0005]);
    for a in [0x8123_4567_89ab_cdefu64, 0x7edc_ba98_0000_0001, u64::MAX, 0] {
        for position in amounts.clone() {
            for length in amounts.clone() {
                let (n, p, l) = (a as u32, position, length);
                assert_eq!(
                    u64::from(bfe(n, p, l, false)),
                    bfe_by_the_manual(n.into(), p, l, false, 31)
                );
                assert_eq!(
                    u64::from(bfe(n as i32, p, l, true) as u32),
                    bfe_by_the_manual(n.into(), p, l, true, 31),
                    "{a:x} {p} {l}"
                );
                assert_eq!(bfe(a, p, l, false), bfe_by_the_manual(a, p, l, false, 63));
                assert_eq!(bfe(a as i64, p, l, true) as u64, bfe_by_the_manual(a, p, l, true, 63));
                let b = 0x5555_aaaa_1234_8765u64;
                assert_eq!(bfi(a, b, p, l), bfi_by_the_manual(a, b, p, l, 63), "{a:x} {p} {l}");
                assert_eq!(
                    u64::from(bfi(n, b as u32, p, l)),
                    bfi_by_the_manual(n.into(), u64::from(b as u32), p, l, 31)
                );
            }
        }
    }
}

#[test]
fn highest_bits() {
    for (a, signed, plain, shift) in [
        (0u32, false, u32::MAX, u32::MAX),
        (1, false, 0, 31),
        (0x8000_0000, false, 31, 0),
        (0xffff_ffff, true, u32::MAX, u32::MAX),
        (0x8000_0000, true, 30, 1),
        (0x7fff_ffff, true, 30, 1),
    ] {
        let find = |s| if signed { bfind(a as i32, s) } else { bfind(a, s) };
        assert_eq!((find(false), find(true)), (plain, shift), "{a:x}");
    }
    assert_eq!(bfind(i64::MIN, false), 62);
    assert_eq!(bfind(1u64 << 40, true), 23);
}

#[test]
fn funnel_shifts() {
    let (a, b) = (0x89ab_cdef, 0x0123_4567);
    for (c, left, wrap, expected) in [
        (0, true, false, b),
        (8, true, false, 0x2345_6789),
        (32, true, false, a),
        (33, true, false, a),
        (33, true, true, 0x0246_8acf),
        (0, false, false, a),
        (8, false, false, 0x6789_abcd),
        (32, false, false, b),
        (40, false, false, b),
        (40, false, true, 0x6789_abcd),
    ] {
        assert_eq!(shf(a, b, c, left, wrap), expected, "{c} {left} {wrap}");
    }
}

#[test]
fn three_input_logic_spells_its_table() {
    let (a, b, c) = (0xf0, 0xcc, 0xaa);
    for table in 0..=255 {
        assert_eq!(lop3(a, b, c, table) & 0xff, u32::from(table));
    }
}

#[test]
fn byte_permutations() {
    let (a, b) = (0x3322_1100, 0x7766_5544);
    let modes =
        [PrmtMode::F4e, PrmtMode::B4e, PrmtMode::Rc8, PrmtMode::Ecl, PrmtMode::Ecr, PrmtMode::Rc16];
    // Rows: selector 0..4. Columns as `modes`. Each digit is the selected byte, highest byte
    // first (PTX ISA, prmt).
    let table = [
        [0x3210, 0x5670, 0x0000, 0x3210, 0x0000, 0x1010],
        [0x4321, 0x6701, 0x1111, 0x3211, 0x1110, 0x3232],
        [0x5432, 0x7012, 0x2222, 0x3222, 0x2210, 0x1010],
        [0x6543, 0x0123, 0x3333, 0x3333, 0x3210, 0x3232],
    ];
    for (selector, row) in table.into_iter().enumerate() {
        for (mode, digits) in modes.into_iter().zip(row) {
            let bytes = [0, 1, 2, 3].map(|i| 0x11 * (digits >> (4 * i) & 15) as u8);
            assert_eq!(
                prmt(a, b, selector as u32 | 0xfffc, mode),
                u32::from_le_bytes(bytes),
                "{mode:?} {selector}"
            );
        }
    }
    assert_eq!(prmt(0x0000_8001, 0, 0x8909, PrmtMode::Index), 0x00ff_01ff);
    assert_eq!(prmt(a, b, 0x7531, PrmtMode::Index), 0x7755_3311);
}

/// The manual's own loop.
fn fns_by_the_manual(mask: u32, base: u32, offset: i32) -> u32 {
    let set = |position: i64| mask >> position & 1 == 1;
    if offset == i32::MIN {
        return 0; // on an H200
    }
    if offset == 0 {
        return if base < 32 && set(base.into()) { base } else { u32::MAX };
    }
    let (mut position, mut count) = (i64::from(base), i64::from(offset).abs() - 1);
    while (0..32).contains(&position) {
        if set(position) {
            if count == 0 {
                return position as u32;
            }
            count -= 1;
        }
        position += i64::from(offset.signum());
    }
    u32::MAX
}

#[test]
fn set_bits_are_found_in_both_directions() {
    for mask in [0, 1, 0x8000_0000, 0xffff_ffff, 0x8421_0842, 0x00f0_0f01] {
        for base in (0..34).chain([u32::MAX]) {
            for offset in (-34..35).chain([i32::MIN, i32::MAX]) {
                let expected = fns_by_the_manual(mask, base, offset);
                assert_eq!(fns(mask, base, offset as u32), expected, "{mask:x} {base} {offset}");
            }
        }
    }
}

#[test]
fn extensions_and_masks() {
    for (a, width, signed, wrap, expected) in [
        (0xffff_ffff, 4, false, false, 0xf),
        (0x0000_0008, 4, true, false, 0xffff_fff8),
        (0x0000_0007, 4, true, false, 7),
        (0xdead_beef, 0, true, false, 0),
        (0xdead_beef, 32, true, false, 0xdead_beef),
        (0xdead_beef, 99, false, false, 0xdead_beef),
        (0xdead_beef, 32, true, true, 0),
        (0xdead_beef, 36, true, true, 0xffff_ffff),
    ] {
        assert_eq!(szext(a, width, signed, wrap), expected, "{a:x} {width} {signed} {wrap}");
    }
    for (position, width, wrap, expected) in [
        (4, 8, false, 0xff0),
        (0, 32, false, u32::MAX),
        (28, 8, false, 0xf000_0000),
        (32, 1, false, 0),
        (3, 0, false, 0),
        (33, 1, true, 2),
        (1, 32, true, 0),
    ] {
        assert_eq!(bmsk(position, width, wrap), expected, "{position} {width} {wrap}");
    }
}

#[test]
fn products_of_halves_and_bytes() {
    // 0xffff is 65535 or -1, 0x80 is 128 or -128, 0xff is 255 or -1.
    let (a, b) = (0xffff_0003, 0xff_02_80_05);
    for (signed, hi, sum) in [
        ([false, false], false, 65535 * 128 + 3 * 5),
        ([true, true], false, 128 + 3 * 5),
        ([true, false], false, -128 + 3 * 5),
        ([false, true], true, -65535 + 3 * 2),
        ([true, true], true, 1 + 3 * 2),
    ] {
        assert_eq!(dp2a(a, b, 7, signed, hi), (sum + 7) as u32, "{signed:?} {hi}");
    }
    assert_eq!(absdiff4(0x01_ff_80_05, 0x03_01_7f_05, 9, [false; 2], false), 0x02_fe_01_00);
    assert_eq!(absdiff4(0x01_ff_80_05, 0x03_01_7f_05, 9, [true; 2], false), 0x02_02_ff_00);
    assert_eq!(absdiff4(0x01_ff_80_05, 0x03_01_7f_05, 9, [false; 2], true), 2 + 0xfe + 1 + 9);
}

#[test]
fn byte_products_take_each_operands_sign() {
    // 0xff is 255 or -1, 0x80 is 128 or -128.
    let (a, b) = (0xff_02_80_01, 0x02_ff_80_03);
    let cases = [
        ([false, false], 255 * 2 + 2 * 255 + 128 * 128 + 3),
        ([true, false], -2 + 2 * 255 - 128 * 128 + 3),
        ([false, true], 255 * 2 - 2 - 128 * 128 + 3),
        ([true, true], -2 - 2 + 128 * 128 + 3),
    ];
    for (signed, sum) in cases {
        assert_eq!(super::dp4a(a, b, 100, signed), (sum + 100_i32) as u32, "{signed:?}");
    }
    assert_eq!(super::dp4a(1, 1, u32::MAX, [false; 2]), 0);
}
