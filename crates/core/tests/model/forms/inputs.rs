//! Operands: corner values of each type, dense samples, random values from a seed.

use simt_core::isa::{FormMatch, OperandKind, Type, TypeRef};

/// Maximum number of corner tuples of a form; beyond that they are drawn at random.
const CORNER_TUPLES: usize = 2000;
/// Number of random tuples of a form.
const RANDOM_TUPLES: usize = 1000;

/// A random source of bits (SplitMix64; Steele, Lea and Flood 2014).
pub(crate) struct Bits(u64);

impl Bits {
    /// Creates the source of a seed.
    pub(crate) fn new(seed: u64) -> Bits {
        Bits(seed)
    }

    /// Returns 64 more bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.next() % from.len() as u64) as usize]
    }
}

/// One source operand of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Type.
    pub(crate) ty: Type,
    /// True if it counts or points at bits, so that small values and those around the width matter.
    pub(crate) amount: bool,
}

/// Returns the source operands of a mnemonic, in order; predicates and immediates too.
pub(crate) fn sources(m: &FormMatch<'_>) -> Vec<Source> {
    let of = |kind: &OperandKind| match *kind {
        OperandKind::Value(ty)
        | OperandKind::Wider(ty)
        | OperandKind::Moved(ty)
        | OperandKind::Vector(ty) => {
            Source { ty: m.resolve(ty), amount: ty == TypeRef::Fixed(Type::U32) }
        }
        OperandKind::Predicate | OperandKind::PredicatePair => {
            Source { ty: Type::Pred, amount: false }
        }
        _ => Source { ty: Type::U32, amount: false },
    };
    m.form.operands.iter().filter(|o| !o.result).map(|o| of(&o.kind)).collect()
}

/// Returns tuples of operands, dense if the type is small.
pub(crate) fn tuples(sources: &[Source], seed: u64) -> Vec<Vec<u64>> {
    let mut bits = Bits::new(seed);
    let mut all = corner_tuples(sources, &mut bits);
    match sources {
        [one] if (8..=16).contains(&one.ty.bits()) => all.extend((0..0x1_0000).map(|x| vec![x])),
        // Each exponent and sign with 128 leading fractions, the rest of the fraction random.
        [one] if one.ty == Type::F32 => {
            all.extend((0..0x1_0000).map(|x| vec![x << 16 | bits.next() & 0xffff]))
        }
        // Every pair of bytes, sign-extended.
        [a, b] if a.ty.bits() == 16 && b.ty.bits() == 16 => {
            let byte = |x: u64| x as u8 as i8 as u16 as u64;
            all.extend((0..0x1_0000).map(|x| vec![byte(x), byte(x >> 8)]));
        }
        _ => {}
    }
    for _ in 0..RANDOM_TUPLES {
        all.push(sources.iter().map(|s| random(*s, &mut bits)).collect());
    }
    all
}

/// Returns all combinations of corner values, or a sample if there are too many.
fn corner_tuples(sources: &[Source], bits: &mut Bits) -> Vec<Vec<u64>> {
    let sets: Vec<Vec<u64>> = sources.iter().map(|s| corners(*s)).collect();
    let count: usize = sets.iter().map(Vec::len).product();
    if count > CORNER_TUPLES * 2 {
        return (0..CORNER_TUPLES)
            .map(|_| sets.iter().map(|set| bits.pick(set)).collect())
            .collect();
    }
    let tuple = |mut index: usize| {
        let digit = |set: &Vec<u64>| {
            let value = set[index % set.len()];
            index /= set.len();
            value
        };
        sets.iter().map(digit).collect()
    };
    (0..count).map(tuple).collect()
}

/// Returns the values at which behaviour changes.
pub(crate) fn corners(source: Source) -> Vec<u64> {
    if source.amount {
        return (0..=66)
            .chain([95, 96, 127, 128, 254, 255, 256, 0x1_0005, 0x8000_0000, 0xffff_ffff])
            .collect();
    }
    let ty = source.ty;
    let top = 1u64 << (ty.bits() - 1);
    let all = u64::MAX >> (64 - ty.bits());
    match ty {
        Type::Pred => vec![0, 1],
        Type::F16 => with_signs(
            &[0, 1, 0x3ff, 0x400, 0x3800, 0x3c00, 0x3c01, 0x4248, 0x7bff, 0x7c00, 0x7e01],
            top,
        ),
        Type::BF16 => with_signs(
            &[0, 1, 0x7f, 0x80, 0x3f00, 0x3f80, 0x3f81, 0x4049, 0x4f00, 0x7f7f, 0x7f80, 0x7fc1],
            top,
        ),
        Type::F16x2 | Type::BF16x2 => {
            let ty = if ty == Type::F16x2 { Type::F16 } else { Type::BF16 };
            let half = corners(Source { ty, amount: false });
            let other = half.iter().cycle().skip(5);
            half.iter().zip(other).map(|(low, high)| high << 16 | low).collect()
        }
        Type::F32 => {
            let special = [
                0,
                1,
                0x7f_ffff,
                0x80_0000,
                0x3f80_0000,
                0x7f7f_ffff,
                0x7f80_0000,
                0x7fc0_0001,
                0x7f80_0001,
            ];
            let ordinary = [
                0x3f00_0000,
                0x3f7f_ffff,
                0x3f80_0001,
                0x4020_0000,
                0x4f00_0000,
                0x4b00_0001,
                0x5f00_0000,
            ];
            with_signs(&[special.as_slice(), &ordinary].concat(), top)
        }
        Type::F64 => {
            let numbers =
                [0.5, 1.0, 2.5, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0, 1e300, 1e-300, 1e-40];
            let powers = [
                2f64.powi(31),
                2f64.powi(63),
                f64::MAX,
                f64::MIN_POSITIVE,
                f64::INFINITY,
                f64::NAN,
            ];
            let bits: Vec<u64> = numbers.iter().chain(&powers).map(|x| x.to_bits()).collect();
            with_signs(
                &[bits.as_slice(), &[0, 1, (1 << 52) - 1, 0x7ff0_0000_0000_0001]].concat(),
                top,
            )
        }
        _ => {
            let half = 1u64 << (ty.bits() / 2);
            let mut set =
                vec![0, 1, 2, 3, 7, 10, half - 1, half, half + 1, top - 2, top - 1, top, top + 1];
            set.extend([
                all,
                all - 1,
                all - 2,
                all - 9,
                all / 3,
                all / 3 * 2,
                0x1234_5678_9abc_def0 & all,
            ]);
            if ty.bits() == 32 {
                set.extend([0x007f_ffff, 0x0080_0000, 0x00ff_ffff, 0xff80_0000, 0x80ff_7f01]);
            }
            set
        }
    }
}

fn with_signs(magnitudes: &[u64], sign: u64) -> Vec<u64> {
    magnitudes.iter().flat_map(|&m| [m, m | sign]).collect()
}

/// Returns a random value of any magnitude, to combine small and large numbers, near and far
/// exponents.
pub(crate) fn random(source: Source, bits: &mut Bits) -> u64 {
    let (x, how) = (bits.next(), bits.next());
    let ty = source.ty;
    let all = u64::MAX >> (64 - ty.bits());
    if source.amount {
        return if how % 4 == 0 { x & 0xffff_ffff } else { x % 70 };
    }
    match (ty, how % 4) {
        // Close exponents, where sums cancel and products neither vanish nor overflow.
        (Type::F32, 0 | 1) => x & 0x807f_ffff | (0x7c + (how >> 8) % 8) << 23,
        (Type::F64, 0 | 1) => x & 0x800f_ffff_ffff_ffff | (0x3fc + (how >> 8) % 8) << 52,
        // Few significant bits: ties and exact results.
        (Type::F32, 2) => x & 0xffff_0000,
        (Type::F64, 2) => x & 0xffff_f000_0000_0000,
        (ty, _) if ty.is_float() => x & all,
        (_, 0) => x & all,
        // Any number of leading zeros or ones.
        (_, 1) => (x >> ((how >> 8) % 64)) & all,
        _ => ((x as i64) >> ((how >> 8) % 64)) as u64 & all,
    }
}
