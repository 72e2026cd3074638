//! Loops over lanes give each lane what the function of one value gives, also for NaN.

use super::*;
use crate::base::{MAX_LANES, mix};
use crate::isa::FloatMode;
use crate::kernel::{FloatFn, Native, NativeFn, Part, Predicate, PredicateUse, Row, Source};

/// Bits of f64 operands that are no usual numbers.
const SPECIAL: [u64; 10] = [
    0,
    1 << 63,
    1,
    f64::INFINITY.to_bits(),
    f64::NEG_INFINITY.to_bits(),
    f64::MAX.to_bits(),
    0x7ff0_0000_0000_0001,
    0xfff8_0000_0000_0123,
    0x7ff8_0000_dead_beef,
    f64::MIN_POSITIVE.to_bits(),
];

/// Masks of many and of few lanes.
const MASKS: [LaneMask; 3] = [LaneMask::FULL, LaneMask(0x7fff_fffe), LaneMask(0x8000_0101)];

/// Returns the bits of an f64 in each lane; 3 of 8 are special, some close to others.
fn doubles(seed: u64) -> [u64; MAX_LANES] {
    std::array::from_fn(|lane| {
        let draw = mix(seed * 64 + lane as u64);
        match draw % 8 {
            0..3 => SPECIAL[(draw >> 8) as usize % SPECIAL.len()],
            3..6 => f64::mul_add((draw % 1000) as f64, 0.37, -150.0).to_bits(),
            _ => mix(draw),
        }
    })
}

/// Returns a register file with three wide rows and one for the result.
fn file(rows: [[u64; MAX_LANES]; 3]) -> RegisterFile {
    let low = |row: &[u64; MAX_LANES]| row.map(|bits| bits as u32);
    let high = |row: &[u64; MAX_LANES]| row.map(|bits| (bits >> 32) as u32);
    let result = [0x5555_5555; MAX_LANES];
    let [a, b, c] = &rows;
    RegisterFile {
        narrow: vec![low(a), high(a), low(b), high(b), low(c), high(c), result, result].into(),
        wide: vec![rows[0], rows[1], rows[2], [0x5555_5555_5555_5555; MAX_LANES]].into(),
        predicates: vec![0],
        calls: Vec::new(),
        copies: Default::default(),
        vectors: Default::default(),
    }
}

/// Returns what an f64 instruction of three operands gives.
type OfDoubles = fn(f64, f64, f64) -> f64;

const NEAR: Round = Round::Nearest;
const SUM: OfDoubles = |a, b, _| float::add(a, b, NEAR);
const DIFFERENCE: OfDoubles = |a, b, _| float::sub(a, b, NEAR);
const PRODUCT: OfDoubles = |a, b, _| float::mul(a, b, NEAR);
const FUSED: OfDoubles = |a, b, c| float::fma(a, b, c, NEAR);

#[test]
fn doubles_of_all_lanes_are_those_of_one() {
    for (seed, mask) in (0..40).flat_map(|seed| MASKS.map(|mask| (seed, mask))) {
        let rows = [doubles(3 * seed), doubles(3 * seed + 1), doubles(3 * seed + 2)];
        for (f, expected) in [
            (LaneFn::FAdd(PLAIN), SUM),
            (LaneFn::FSub(PLAIN), DIFFERENCE),
            (LaneFn::FMul(PLAIN), PRODUCT),
            (LaneFn::Fma(PLAIN), FUSED),
        ] {
            let mut registers = file(rows);
            let op = LaneOp { f, ty: Type::F64, d: Row(3), s: [Row(0), Row(1), Row(2), Row(0)] };
            let op = Op::Lane(op);
            lane_function(&op)(&op, mask, &mut registers);
            for lane in 0..MAX_LANES {
                let [a, b, c] = rows.map(|row| f64::from_bits(row[lane]));
                let expected = match mask.contains(lane as u32) {
                    true => expected(a, b, c).to_bits(),
                    false => 0x5555_5555_5555_5555,
                };
                assert_eq!(registers.wide[3][lane], expected, "{f:?} {a:?} {b:?} {c:?}");
            }
        }
    }
}

/// Bits of f32 operands that are no usual numbers.
const SPECIAL_SINGLES: [u32; 8] =
    [0, 1 << 31, 1, 0x8000_0001, 0x7f80_0000, 0xff80_0000, 0x7fc0_0123, 0xff80_0001];

#[test]
fn smaller_singles_and_shifted_pairs_of_all_lanes_are_those_of_one() {
    for (seed, mask) in (0..40).flat_map(|seed| MASKS.map(|mask| (seed, mask))) {
        let rows = [0, 1, 2].map(|i| -> [u64; MAX_LANES] {
            std::array::from_fn(|lane| {
                let draw = mix(seed * 100 + i * 32 + lane as u64);
                match draw % 2 {
                    0 => SPECIAL_SINGLES[(draw >> 8) as usize % SPECIAL_SINGLES.len()].into(),
                    _ => draw >> 32,
                }
            })
        });
        // A shift amount is one for all lanes, or differs.
        let amounts: [[u64; MAX_LANES]; 2] = [[seed; MAX_LANES], rows[2].map(|bits| bits % 70)];
        let (ftz, nan, xorsign) = (false, false, false);
        for f in [
            LaneFn::FMin { ftz, nan, xorsign },
            LaneFn::FMax { ftz, nan, xorsign },
            LaneFn::Shf { left: true, wrap: false },
            LaneFn::Shf { left: false, wrap: true },
        ] {
            for amounts in amounts {
                let mut registers = file([rows[0], rows[1], amounts]);
                let ty = if let LaneFn::Shf { .. } = f { Type::B32 } else { Type::F32 };
                let op = LaneOp { f, ty, d: Row(6), s: [Row(0), Row(2), Row(4), Row(0)] };
                let op = Op::Lane(op);
                lane_function(&op)(&op, mask, &mut registers);
                for lane in 0..MAX_LANES {
                    let [a, b, c] = [rows[0], rows[1], amounts].map(|row| row[lane] as u32);
                    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
                    let expected = match f {
                        _ if !mask.contains(lane as u32) => 0x5555_5555,
                        LaneFn::Shf { left: true, .. } => {
                            ((u128::from(b) << 32 | u128::from(a)) << c.min(32) >> 32) as u32
                        }
                        LaneFn::Shf { .. } => {
                            ((u64::from(b) << 32 | u64::from(a)) >> (c % 32)) as u32
                        }
                        LaneFn::FMin { .. } => float::min(x, y, false).to_bits(),
                        _ => float::max(x, y, false).to_bits(),
                    };
                    assert_eq!(registers.narrow[6][lane], expected, "{f:?} {a:x} {b:x} {c}");
                }
            }
        }
    }
}

#[test]
fn flushed_singles_of_all_lanes_are_those_of_one() {
    for (seed, mask) in (0..80).flat_map(|seed| MASKS.map(|mask| (seed, mask))) {
        let rows = [0, 1, 2].map(|i| -> [u64; MAX_LANES] {
            std::array::from_fn(|lane| {
                let draw = mix(seed * 100 + i * 32 + lane as u64);
                // Products of the second kind are about the smallest normal number, as the third
                // kind is.
                match draw % 8 {
                    0 => SPECIAL_SINGLES[(draw >> 8) as usize % SPECIAL_SINGLES.len()].into(),
                    1..4 => (draw >> 32 & 0x807f_fffc) | 0x2000_0000,
                    4..7 => draw >> 32 & 0x80ff_0003,
                    _ => draw >> 32,
                }
            })
        });
        let mode = FloatMode::FLUSHING;
        for (ptx, of_code) in [
            (LaneFn::FAdd(mode), FloatFn::Add(Type::F32, mode)),
            (LaneFn::FMul(mode), FloatFn::Mul(Type::F32, mode, 0)),
            (LaneFn::Fma(mode), FloatFn::Fma(Type::F32, mode)),
        ] {
            let s = [Row(0), Row(2), Row(4), Row(0)];
            for op in [
                Op::Lane(LaneOp { f: ptx, ty: Type::F32, d: Row(6), s }),
                Op::Native(Box::new(native(of_code, |_| (false, false)))),
            ] {
                let mut registers = file(rows);
                lane_function(&op)(&op, mask, &mut registers);
                for lane in 0..MAX_LANES {
                    let [a, b, c] =
                        rows.map(|row| float::flush32(f32::from_bits(row[lane] as u32)));
                    let expected = match ptx {
                        _ if !mask.contains(lane as u32) => f32::from_bits(0x5555_5555),
                        LaneFn::FAdd(_) => float::flush32(float::add(a, b, NEAR)),
                        LaneFn::FMul(_) => float::mul_flushing(a, b, NEAR),
                        _ => float::fma_flushing(a, b, c, NEAR),
                    };
                    let got = registers.narrow[6][lane];
                    assert_eq!(got, expected.to_bits(), "{ptx:?} {a:e} {b:e} {c:e}");
                }
            }
        }
    }
}

#[test]
fn doubles_of_machine_code_are_those_of_one_lane() {
    for (seed, mask) in (0..40).flat_map(|seed| MASKS.map(|mask| (seed, mask))) {
        let rows = [doubles(3 * seed), doubles(3 * seed + 1), doubles(3 * seed + 2)];
        for (f, expected) in [
            (FloatFn::Add(Type::F64, PLAIN), SUM),
            (FloatFn::Mul(Type::F64, PLAIN, 0), PRODUCT),
            (FloatFn::Fma(Type::F64, PLAIN), FUSED),
        ] {
            let mut registers = file(rows);
            let signs = |i: u64| (seed >> i & 1 == 1, seed >> (i + 1) & 1 == 1);
            let op = Op::Native(Box::new(native(f, signs)));
            lane_function(&op)(&op, mask, &mut registers);
            for lane in 0..MAX_LANES {
                let operand = |i: usize| {
                    let (value, (negate, absolute)) =
                        (f64::from_bits(rows[i][lane]), signs(i as u64));
                    let size = if absolute { value.abs() } else { value };
                    // A NaN keeps its sign.
                    if value.is_nan() {
                        value
                    } else if negate {
                        -size
                    } else {
                        size
                    }
                };
                let bits = expected(operand(0), operand(1), operand(2)).to_bits();
                let word = |row: usize| registers.narrow[row][lane];
                let expected = match mask.contains(lane as u32) {
                    true => (bits as u32, (bits >> 32) as u32),
                    false => (0x5555_5555, 0x5555_5555),
                };
                assert_eq!((word(6), word(7)), expected, "{f:?} {rows:x?} lane {lane}");
            }
        }
    }
}

/// Returns an instruction of rows 0, 2 and 4 with signs, negated and absolute, by operand.
fn native(f: FloatFn, signs: impl Fn(u64) -> (bool, bool)) -> Native {
    let source = |i: u16| {
        let (negate, absolute) = signs(i.into());
        Source { row: Row(2 * i), negate, absolute, ..Source::default() }
    };
    let q = PredicateUse { predicate: Predicate(0), negated: false };
    Native {
        f: NativeFn::Float(f),
        d: Some(Row(6)),
        p: [None; 2],
        s: [source(0), source(1), source(2)],
        q: [q; 2],
        uniform: false,
    }
}

#[test]
fn halves_of_all_lanes_are_those_of_one() {
    for (seed, mask) in (0..40).flat_map(|seed| MASKS.map(|mask| (seed, mask))) {
        // All kinds of halves are frequent among random bits.
        let rows = [0, 1, 2].map(|i| -> [u64; MAX_LANES] {
            std::array::from_fn(|lane| mix(seed * 100 + i * 32 + lane as u64) & 0xffff_ffff)
        });
        let (sum, fused) = (LaneFn::FAdd(PLAIN), LaneFn::Fma(PLAIN));
        for (f, ty) in
            [(sum, Type::F16x2), (fused, Type::F16x2), (sum, Type::BF16x2), (fused, Type::BF16)]
        {
            let mut registers = file(rows);
            let op = LaneOp { f, ty, d: Row(6), s: [Row(0), Row(2), Row(4), Row(0)] };
            let op = Op::Lane(op);
            lane_function(&op)(&op, mask, &mut registers);
            for lane in mask.lanes().map(|lane| lane as usize) {
                let half = |at: u32| {
                    let [a, b, c] = rows.map(|row| (row[lane] >> at) as u16);
                    match (f == sum, ty) {
                        (true, Type::F16x2) => float::add(Half(a), Half(b), NEAR).0,
                        (false, Type::F16x2) => float::fma(Half(a), Half(b), Half(c), NEAR).0,
                        (true, _) => float::add(Brain(a), Brain(b), NEAR).0,
                        (false, _) => float::fma(Brain(a), Brain(b), Brain(c), NEAR).0,
                    }
                };
                let high = if ty.half().is_some() { u32::from(half(16)) << 16 } else { 0 };
                assert_eq!(registers.narrow[6][lane], high | u32::from(half(0)), "{f:?} {ty:?}");
            }
        }
    }
}

#[test]
fn halves_of_machine_code_have_parts_and_signs() {
    let rows = [0, 1, 2].map(|i| -> [u64; MAX_LANES] {
        std::array::from_fn(|lane| mix(i * 32 + lane as u64) & 0xffff_ffff)
    });
    for part in [Part::default(), Part::H0, Part::H1, Part::H0Nh1, Part::Single] {
        for signs in 0..4 {
            let (negate, absolute) = (signs & 1 == 1, signs & 2 == 2);
            // The same but for a modifier that changes no number: it takes the general way.
            let of = |mode: FloatMode| {
                let mut op = native(FloatFn::Fma(Type::F16x2, mode), |_| (negate, absolute));
                op.s[1].part = part;
                let op = Op::Native(Box::new(op));
                let mut registers = file(rows);
                lane_function(&op)(&op, LaneMask::FULL, &mut registers);
                registers.narrow[6]
            };
            let (plain, relu) = (of(PLAIN), of(FloatMode { relu: true, ..PLAIN }));
            for (plain, relu) in plain.into_iter().zip(relu) {
                for at in [0, 16] {
                    let (plain, relu) = ((plain >> at) as u16, (relu >> at) as u16);
                    let negative = plain & 0x8000 != 0;
                    assert_eq!(if negative { 0 } else { plain }, relu, "{part:?} {signs}");
                }
            }
        }
    }
}
