//! Lines of listings, executed and compared with PTX instructions and plain Rust.

mod arithmetic;
mod convert;
mod half;

use super::super::{Lowering, Rows, element_wise};
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::{self, RegisterFile};
use crate::isa::{BoolOp, Compare, FloatMode, Round, Type};
use crate::kernel::{LaneFn, LaneOp, Native, Op, Registers, Row, Setp, Source};
use crate::sass::text::parse;

/// A line of a listing: text, and both halves of the encoding.
type Line = (&'static str, u64, u64);

/// Values of one operand in all lanes.
type Values = [u64; MAX_LANES];

/// Number of register contents that each line is tried with.
const ROUNDS: u64 = 24;

/// Lanes of every other round.
const SOME: LaneMask = LaneMask(0x70f0_a5fd);

fn lowered(line: Line) -> (Native, Rows) {
    let (mut natives, rows) = routine(&[line]);
    (natives.remove(0), rows)
}

/// Lowers lines that share their registers.
fn routine(lines: &[Line]) -> (Vec<Native>, Rows) {
    let mut rows = Rows::new(40, 16);
    let lower = |(text, low, high): &Line| {
        let parsed = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert!(crate::isa::opcode(parsed.name).is_some(), "{text}: no row of isa/sass.ron");
        let encoding = u128::from(*high) << 64 | u128::from(*low);
        let native = element_wise(&mut Lowering::new(parsed, encoding, &mut rows));
        native.unwrap_or_else(|e| panic!("{text}: {e:?}"))
    };
    let natives = lines.iter().map(lower).collect();
    (natives, rows)
}

/// Returns corner cases of a type.
fn corners(ty: Type) -> Vec<u64> {
    let sign = 1_u64 << (ty.bits().min(64) - 1);
    let positive: &[u64] = match ty {
        Type::F64 => &[
            0,
            1,
            0x000f_ffff_ffff_ffff,
            0x0010_0000_0000_0000,
            0x3ff0_0000_0000_0000,
            0x3ff0_0000_0000_0001,
            0x4008_0000_0000_0000,
            0x41e0_0000_0000_0000,
            0x43e0_0000_0000_0000,
            0x7fef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0x7ff8_0000_0000_1234,
            0x7ff0_0000_0000_0001,
        ],
        Type::F32 => &[
            0,
            1,
            0x007f_ffff,
            0x0080_0000,
            0x3f00_0000,
            0x3f80_0000,
            0x3f80_0001,
            0x4040_0000,
            0x4f00_0000,
            0x5f00_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0x7fc0_0000,
            0x7f80_0001,
        ],
        Type::F16 => &[0, 1, 0x3ff, 0x400, 0x3800, 0x3c00, 0x3c01, 0x7bff, 0x7c00, 0x7e00, 0x7c01],
        Type::BF16 => &[0, 1, 0x7f, 0x80, 0x3f00, 0x3f80, 0x3f81, 0x7f7f, 0x7f80, 0x7fc0, 0x7f81],
        _ => &[0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x00ff_ffff, 0x0100_0001, 0x7fff_ffff],
    };
    positive.iter().flat_map(|bits| [*bits, bits | sign]).collect()
}

/// Returns corner cases and other numbers for the lanes of one register.
fn filled(ty: Type, register: u64, round: u64) -> Values {
    let corners = corners(ty);
    let mut state = (register + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ round << 17;
    let mut lane = 0;
    [(); MAX_LANES].map(|()| {
        lane += 1;
        for shift in [12, 25, 27] {
            state ^= if shift == 25 { state << shift } else { state >> shift };
        }
        let random = state.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let corner = corners[(random >> 40) as usize % corners.len()];
        match (lane + register + round) % 4 {
            0 => random >> (64 - ty.bits()),
            // A number near a corner case.
            1 => corner.wrapping_add(random & 3) & (u64::MAX >> (64 - ty.bits())),
            _ => corner,
        }
    })
}

/// Creates registers that hold values of a type, and predicates.
fn registers(rows: &Rows, ty: Type, round: u64) -> RegisterFile {
    let mut file = RegisterFile::new(&rows.registers);
    let element = ty.half().unwrap_or(ty);
    for row in (0..40).chain(42..58) {
        // Row 40 is RZ; register pairs begin at even rows.
        let even = row & !1;
        let values = match element.bits() {
            64 => filled(element, even, round).map(|x| (x >> (32 * (row & 1))) as u32),
            32 => filled(element, row, round).map(|x| x as u32),
            bits => {
                let [low, high] = [row, row + 100].map(|row| filled(element, row, round));
                let mut lane = 0;
                low.map(|x| {
                    lane += 1;
                    x as u32 | (high[lane - 1] as u32) << bits
                })
            }
        };
        file.narrow[row as usize] = values;
    }
    for (i, bits) in file.predicates.iter_mut().enumerate() {
        let random = filled(Type::U32, i as u64, round)[7] as u32;
        // Predicate 7 is always false.
        *bits = if i == 7 { 0 } else { random.wrapping_mul(0x9e37_79b9) };
    }
    file
}

/// Returns the values of a source with its signs, as the PTX instruction gets them.
fn values(file: &RegisterFile, source: Source, ty: Type) -> Values {
    let at = usize::from(source.row.0);
    let mut lane = 0;
    [(); MAX_LANES].map(|()| {
        let (low, high) =
            (file.narrow[at][lane], file.narrow.get(at + 1).map_or(0, |row| row[lane]));
        lane += 1;
        let (mut value, sign) = match ty.bits() {
            64 => (u64::from(high) << 32 | u64::from(low), 1 << 63),
            _ => (u64::from(low), 1 << 31),
        };
        // The sign of an f64 NaN is kept.
        if ty == Type::F64 && f64::from_bits(value).is_nan() {
            return value;
        }
        value &= if source.absolute { !sign } else { u64::MAX };
        value ^ if source.negate { sign } else { 0 }
    })
}

fn execute(native: &Native, file: &mut RegisterFile, lanes: LaneMask) {
    exec::element_wise(&Op::Native(Box::new(native.clone())), lanes, file);
}

/// Executes a PTX instruction with its sources in rows 0 to 2.
fn ptx(f: LaneFn, ty: Type, sources: [Values; 3]) -> Values {
    let counts = Registers { narrow: 4, wide: 4, ..Registers::default() };
    let mut file = RegisterFile::new(&counts);
    for (i, source) in sources.into_iter().enumerate() {
        file.narrow[i] = source.map(|x| x as u32);
        file.wide[i] = source;
    }
    let op = LaneOp { f, ty, d: Row(3), s: [Row(0), Row(1), Row(2), Row(0)] };
    exec::element_wise(&Op::Lane(op), LaneMask::FULL, &mut file);
    if ty.is_wide() { file.wide[3] } else { file.narrow[3].map(u64::from) }
}

/// Compares the result of a line with that of a PTX instruction of the type, in all rounds.
fn same_as_ptx(line: Line, f: LaneFn, ty: Type) {
    compare_results(line, [ty, ty], |sources| ptx(f, ty, sources));
}

/// Compares the result of a line with `want` of its sources; types of sources and result.
fn compare_results(line: Line, [from, to]: [Type; 2], want: impl Fn([Values; 3]) -> Values) {
    let (native, rows) = lowered(line);
    for round in 0..ROUNDS {
        let lanes = if round % 2 == 0 { LaneMask::FULL } else { SOME };
        let mut file = registers(&rows, from, round);
        let sources = native.s.map(|s| values(&file, s, from));
        let want = want(sources);
        let before = file.clone();
        execute(&native, &mut file, lanes);
        let d = usize::from(native.d.map_or(0, |d| d.0));
        let words = if to.is_wide() { 2 } else { 1 };
        for lane in 0..MAX_LANES {
            let whole = |file: &RegisterFile| {
                (0..words).fold(0, |all, i| all | u64::from(file.narrow[d + i][lane]) << (32 * i))
            };
            let active = lanes.0 >> lane & 1 != 0;
            let expected = if active { want[lane] } else { whole(&before) };
            let operands = sources.map(|s| s[lane]);
            assert_eq!(whole(&file), expected, "{} lane {lane}: {operands:x?}", line.0);
        }
        for (row, (new, old)) in file.narrow.iter().zip(before.narrow.iter()).enumerate() {
            assert!((d..d + words).contains(&row) || new == old, "{} changes row {row}", line.0);
        }
    }
}

/// Compares the predicates of a line with those of PTX `setp`.
fn same_predicates(line: Line, ty: Type, compare: Compare, combine: BoolOp, ftz: bool) {
    let (native, rows) = lowered(line);
    for round in 0..ROUNDS {
        let lanes = if round % 2 == 0 { LaneMask::FULL } else { SOME };
        let mut file = registers(&rows, ty, round);
        let mut other = file.clone();
        other.narrow = exec::AlignedRows::new(2);
        other.wide = exec::AlignedRows::new(2);
        for (i, source) in native.s.into_iter().take(2).enumerate() {
            other.wide[i] = values(&file, source, ty);
            other.narrow[i] = other.wide[i].map(|x| x as u32);
        }
        let [p, q] = native.p;
        let combine = Some((combine, native.q[0]));
        let op = Setp { compare, ty, ftz, p, q, a: Row(0), b: Row(1), combine };
        exec::element_wise(&Op::Setp(op), lanes, &mut other);
        execute(&native, &mut file, lanes);
        assert_eq!(file.predicates, other.predicates, "{} round {round}", line.0);
    }
}

const fn mode(round: Round, ftz: bool, sat: bool) -> FloatMode {
    FloatMode { round, ftz, sat, relu: false, oob: false }
}

const NEAR: FloatMode = mode(Round::Nearest, false, false);
const FTZ: FloatMode = mode(Round::Nearest, true, false);
