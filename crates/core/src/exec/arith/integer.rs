//! Integer arithmetic of 8 to 64 bits, signed and unsigned (PTX ISA, "Integer Arithmetic
//! Instructions").
//!
//! All operations wrap. Division by zero gives a quotient and remainder of all ones: PTX leaves
//! both undefined, and NVIDIA GPUs return this. The only overflowing quotient, `MIN / -1`, wraps to
//! `MIN` with remainder 0.

/// Operations on every integer type of PTX.
pub(crate) trait Integer: Copy + Ord {
    /// A type of twice the width.
    type Wide;
    /// Width in bits.
    const BITS: u32;
    /// Returns `a + b`.
    fn add(self, b: Self) -> Self;
    /// Returns `a - b`.
    fn sub(self, b: Self) -> Self;
    /// Returns the low half of the product.
    fn mul_lo(self, b: Self) -> Self;
    /// Returns the high half of the product.
    fn mul_hi(self, b: Self) -> Self;
    /// Returns the whole product.
    fn mul_wide(self, b: Self) -> Self::Wide;
    /// Returns the whole product plus `c`.
    fn mad_wide(self, b: Self, c: Self::Wide) -> Self::Wide;
    /// Returns the quotient, truncated.
    fn div(self, b: Self) -> Self;
    /// Returns the remainder, with the sign of the dividend.
    fn rem(self, b: Self) -> Self;
    /// Returns `|a|`.
    fn abs(self) -> Self;
    /// Returns `-a`.
    fn neg(self) -> Self;
    /// Returns `|a - b| + c`.
    fn sad(self, b: Self, c: Self) -> Self;
    /// Returns `a << b`; 0 past the width.
    fn shl(self, b: u32) -> Self;
    /// Returns `a >> b`; sign fill or 0 past the width.
    fn shr(self, b: u32) -> Self;
    /// Returns `a + b + carry`, and true if the unsigned sum overflows.
    fn add_carry(self, b: Self, carry: bool) -> (Self, bool);
    /// Returns the bits, zero-extended.
    fn bits(self) -> u64;
    /// Returns the value of the low bits.
    fn from_bits(bits: u64) -> Self;
    /// Returns true if the value is below zero.
    fn is_negative(self) -> bool;
}

macro_rules! integers {
    ($($t:ident unsigned $u:ident wide $w:ident),+ $(,)?) => {$(
        impl Integer for $t {
            type Wide = $w;
            const BITS: u32 = $t::BITS;
            #[inline(always)]
            fn add(self, b: $t) -> $t {
                self.wrapping_add(b)
            }
            #[inline(always)]
            fn sub(self, b: $t) -> $t {
                self.wrapping_sub(b)
            }
            #[inline(always)]
            fn mul_lo(self, b: $t) -> $t {
                self.wrapping_mul(b)
            }
            #[inline(always)]
            fn mul_hi(self, b: $t) -> $t {
                (self.mul_wide(b) >> $t::BITS) as $t
            }
            #[inline(always)]
            fn mul_wide(self, b: $t) -> $w {
                // Twice the width holds every product.
                (self as $w).wrapping_mul(b as $w)
            }
            #[inline(always)]
            fn mad_wide(self, b: $t, c: $w) -> $w {
                self.mul_wide(b).wrapping_add(c)
            }
            #[inline(always)]
            fn div(self, b: $t) -> $t {
                if b == 0 { !0 } else { self.wrapping_div(b) }
            }
            #[inline(always)]
            fn rem(self, b: $t) -> $t {
                if b == 0 { !0 } else { self.wrapping_rem(b) }
            }
            #[inline(always)]
            fn abs(self) -> $t {
                if Integer::is_negative(self) { self.neg() } else { self }
            }
            #[inline(always)]
            fn neg(self) -> $t {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn sad(self, b: $t, c: $t) -> $t {
                let distance = if self < b { b.wrapping_sub(self) } else { self.wrapping_sub(b) };
                distance.wrapping_add(c)
            }
            #[inline(always)]
            fn shl(self, b: u32) -> $t {
                if b < $t::BITS { self.wrapping_shl(b) } else { 0 }
            }
            #[inline(always)]
            fn shr(self, b: u32) -> $t {
                if b < $t::BITS {
                    self.wrapping_shr(b)
                } else if Integer::is_negative(self) {
                    !0
                } else {
                    0
                }
            }
            #[inline(always)]
            fn add_carry(self, b: $t, carry: bool) -> ($t, bool) {
                let (sum, first) = (self as $u).overflowing_add(b as $u);
                let (sum, second) = sum.overflowing_add(carry.into());
                (sum as $t, first | second)
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                self as $u as u64
            }
            #[inline(always)]
            fn from_bits(bits: u64) -> $t {
                bits as $t
            }
            #[inline(always)]
            fn is_negative(self) -> bool {
                // Written without a literal: the unsigned instances are never negative.
                self < <$t as Integer>::from_bits(0)
            }
        }
    )+};
}
integers!(
    u8 unsigned u8 wide u16,
    u16 unsigned u16 wide u32,
    u32 unsigned u32 wide u64,
    u64 unsigned u64 wide u128,
    i8 unsigned u8 wide i16,
    i16 unsigned u16 wide i32,
    i32 unsigned u32 wide i64,
    i64 unsigned u64 wide i128,
);

/// Divisor of many unsigned values, at least 2.
#[derive(Clone, Copy)]
pub(crate) struct Divisor {
    by: u32,
    /// 2^64 / `by`, rounded up. Its product with a 32-bit value has the exact quotient in the bits
    /// from 2^64 on (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019).
    inverse: u64,
}

impl Divisor {
    /// Returns `None` if `by` is 0 or 1.
    #[inline(always)]
    pub(crate) fn new(by: u32) -> Option<Divisor> {
        (by > 1).then(|| Divisor { by, inverse: u64::MAX / u64::from(by) + 1 })
    }

    /// Returns `a` divided by it.
    #[inline(always)]
    pub(crate) fn quotient(self, a: u32) -> u32 {
        ((u128::from(self.inverse) * u128::from(a)) >> 64) as u32
    }

    /// Returns the remainder of `a`.
    #[inline(always)]
    pub(crate) fn remainder(self, a: u32) -> u32 {
        a.wrapping_sub(self.quotient(a).wrapping_mul(self.by))
    }
}

/// Returns `mad.hi.sat.s32`: the high half of the product plus `c`, clamped.
#[inline(always)]
pub(crate) fn mad_hi_sat(a: i32, b: i32, c: i32) -> i32 {
    a.mul_hi(b).saturating_add(c)
}

/// Returns the low 24 bits, zero-extended.
#[inline(always)]
fn low24(a: u32) -> u64 {
    u64::from(a & 0x00ff_ffff)
}

/// Returns the low 24 bits, sign-extended.
#[inline(always)]
fn low24_signed(a: u32) -> i64 {
    i64::from((a << 8) as i32 >> 8)
}

/// Returns `mul24`: bits 0..32 or 16..48 of the product of the low 24 bits.
#[inline(always)]
pub(crate) fn mul24(a: u32, b: u32, signed: bool, hi: bool) -> u32 {
    let product =
        if signed { (low24_signed(a) * low24_signed(b)) as u64 } else { low24(a) * low24(b) };
    (if hi { product >> 16 } else { product }) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every pair of 8-bit values against arithmetic in i32, where nothing wraps.
    macro_rules! exhaustive {
        ($name:ident, $t:ident, $min:expr, $max:expr) => {
            #[test]
            fn $name() {
                for a in $t::MIN..=$t::MAX {
                    for b in $t::MIN..=$t::MAX {
                        let (x, y) = (i32::from(a), i32::from(b));
                        let wrap = |v: i32| v.rem_euclid(256) as u8 as $t;
                        assert_eq!(a.add(b), wrap(x + y));
                        assert_eq!(a.sub(b), wrap(x - y));
                        assert_eq!(a.mul_lo(b), wrap(x * y));
                        assert_eq!(a.mul_hi(b), wrap((x * y).div_euclid(256)));
                        assert_eq!(i32::from(a.mul_wide(b)), x * y);
                        assert_eq!(a.div(b), if y == 0 { wrap(-1) } else { wrap(x / y) });
                        assert_eq!(a.rem(b), if y == 0 { !0 } else { wrap(x % y) });
                        assert_eq!(a.sad(b, 7), wrap((x - y).abs() + 7));
                        let amount = b as u8 as u32;
                        let power = 1i32.checked_shl(amount.min(20)).unwrap();
                        assert_eq!(a.shl(amount), if amount > 7 { 0 } else { wrap(x * power) });
                        assert_eq!(a.shr(amount), wrap(x.div_euclid(power)));
                    }
                    assert_eq!(Integer::abs(a), i32::from(a).abs().rem_euclid(256) as u8 as $t);
                    assert_eq!(a.neg(), (-i32::from(a)).rem_euclid(256) as u8 as $t);
                    assert_eq!($t::from_bits(a.bits()), a);
                }
            }
        };
    }
    exhaustive!(every_pair_of_u8, u8, 0, 255);
    exhaustive!(every_pair_of_s8, i8, -128, 127);

    const CORNERS32: [u32; 9] =
        [0, 1, 2, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, 0xffff_ffff];

    #[test]
    fn corners_of_32_bits_against_128() {
        for a in CORNERS32 {
            for b in CORNERS32 {
                let (x, y) = (i128::from(a), i128::from(b));
                let (sa, sb) = (a as i32, b as i32);
                let (sx, sy) = (i128::from(sa), i128::from(sb));
                assert_eq!(a.mul_hi(b), ((x * y) >> 32) as u32);
                assert_eq!(sa.mul_hi(sb), ((sx * sy) >> 32) as i32);
                assert_eq!(i128::from(a.mul_wide(b)), x * y);
                assert_eq!(i128::from(sa.mul_wide(sb)), sx * sy);
                assert_eq!(sa.div(sb), if sy == 0 { -1 } else { (sx / sy) as i32 });
                assert_eq!(sa.rem(sb), if sy == 0 { -1 } else { (sx % sy) as i32 });
                assert_eq!(
                    i128::from(mad_hi_sat(sa, sb, sa)),
                    (((sx * sy) >> 32) + sx).clamp(i32::MIN.into(), i32::MAX.into())
                );
            }
        }
    }

    #[test]
    fn a_divisor_of_many_values_divides_exactly() {
        let near = |a: u32| (0..3).map(move |i| a.wrapping_add(i).wrapping_sub(1));
        let divisors = (0..1000).chain((10..32).flat_map(|bit| near(1 << bit))).chain(CORNERS32);
        for by in divisors {
            let Some(divisor) = Divisor::new(by) else {
                assert!(by < 2);
                continue;
            };
            let multiples = (0..40).map(|i| (u32::MAX / by).wrapping_mul(i) / 39 * by);
            for a in multiples.flat_map(near).chain(CORNERS32) {
                assert_eq!(
                    (divisor.quotient(a), divisor.remainder(a)),
                    (a / by, a % by),
                    "{a} {by}"
                );
            }
        }
    }

    #[test]
    fn corners_of_64_bits() {
        assert_eq!(i64::MIN.div(-1), i64::MIN);
        assert_eq!(i64::MIN.rem(-1), 0);
        assert_eq!(u64::MAX.mul_hi(u64::MAX), u64::MAX - 1);
        assert_eq!(i64::MIN.mul_hi(i64::MIN), 1 << 62);
        assert_eq!((-1i64).mul_hi(1), -1);
        assert_eq!(1u64.shl(64), 0);
        assert_eq!(1u64.shl(63), 1 << 63);
        assert_eq!((-5i64).shr(u32::MAX), -1);
        assert_eq!(5u64.div(0), u64::MAX);
        assert_eq!(5i64.rem(0), -1);
    }

    #[test]
    fn products_of_24_bits() {
        // (a, b, signed, lo, hi), worked out by hand from the 48-bit product.
        for (a, b, signed, lo, hi) in [
            (0x00ff_ffff, 0x00ff_ffff, false, 0xfe00_0001, 0xffff_fe00),
            (0x00ff_ffff, 0x00ff_ffff, true, 1, 0),
            (0xab00_0003, 0xcd00_0005, false, 15, 0),
            (0x0080_0000, 0x0000_0002, true, 0xff00_0000, 0xffff_ff00),
            (0x0080_0000, 0x0080_0000, true, 0, 0x4000_0000),
        ] {
            assert_eq!(mul24(a, b, signed, false), lo, "{a:x} {b:x}");
            assert_eq!(mul24(a, b, signed, true), hi, "{a:x} {b:x}");
        }
    }
}
