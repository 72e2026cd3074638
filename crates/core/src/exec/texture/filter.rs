//! Arithmetic of the linear filter.
//!
//! NVIDIA documents fractions of 8 bits only. The rest is read from an H200: weights of corners are
//! whole 256ths that sum to 256; floats are aligned to the largest exponent of four corners, cut to
//! a fixed number of bits and summed exactly; integers are summed and scaled to 15 or 16 bits. Ties
//! go up. Of 3D fetches of floats whose exponents differ by up to 50, about one in 1,000 differs in
//! the last bit.

use super::super::image::Channel;

/// Weight of a corner in 256ths, and whether its texel is read.
///
/// A texel with a weight of 0 can be read: its infinity counts.
#[derive(Clone, Copy, Default)]
pub(super) struct Corner {
    pub(super) weight: i64,
    pub(super) read: bool,
}

/// Format of floats in the filter.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    /// Bits of a texel after the highest one.
    kept: i32,
    /// Bits of a result after the highest one.
    mantissa: u32,
    /// Exponent of the smallest normal result.
    least: i32,
    /// True if smaller results are 0.
    flushes: bool,
}

impl Pass {
    /// Texels and results of 32 bits.
    pub(super) const SINGLE: Pass = Pass { kept: 27, mantissa: 23, least: -126, flushes: true };
    /// Texels and results of 16 bits.
    pub(super) const HALF: Pass = Pass { kept: 14, mantissa: 10, least: -14, flushes: false };
}

/// Returns the weights of the eight corners for the weight of the far texel on each axis.
///
/// Bit 0 of a corner is set for the far texel in x, bit 1 in y, bit 2 in z.
pub(super) fn weights([a, b, c]: [i64; 3]) -> [i64; 8] {
    let mut weights = [0; 8];
    for z in 0..2 {
        let slice = if z == 1 { c } else { 256 - c };
        let far = (slice * a + 128) >> 8;
        for (x, column) in [slice - far, far].into_iter().enumerate() {
            // The rows of both columns mirror each other, ties too.
            let upper = (column * b + 127 + x as i64) >> 8;
            weights[4 * z + x] = column - upper;
            weights[4 * z + 2 + x] = upper;
        }
    }
    weights
}

/// Filters floats.
pub(super) fn floats(corners: &[Corner; 8], texels: &[f64; 8], pass: Pass) -> u32 {
    let read = || corners.iter().zip(texels).filter(|(corner, _)| corner.read);
    let any = |what: fn(f64) -> bool| read().any(|(_, &texel)| what(texel));
    match (any(|t| t == f64::INFINITY), any(|t| t == f64::NEG_INFINITY)) {
        _ if any(f64::is_nan) => return 0x7fff_ffff,
        (true, true) => return 0x7fff_ffff,
        (true, false) => return f32::INFINITY.to_bits(),
        (false, true) => return f32::NEG_INFINITY.to_bits(),
        (false, false) => {}
    }
    let sum: f64 = (0..2).map(|z| slice(&corners[4 * z..][..4], &texels[4 * z..][..4], pass)).sum();
    let result = round(sum, pass);
    if result == 0.0 {
        let negative = read().all(|(_, texel)| texel.is_sign_negative());
        return if negative { (-0f32).to_bits() } else { 0 };
    }
    (result as f32).to_bits()
}

/// Sums four corners, with texels cut below the largest one's bits.
fn slice(corners: &[Corner], texels: &[f64], pass: Pass) -> f64 {
    let weighed = || corners.iter().zip(texels).filter(|(corner, _)| corner.weight > 0);
    let most = weighed().map(|(_, texel)| texel.abs()).fold(0.0, f64::max);
    if most == 0.0 {
        return 0.0;
    }
    // Texels are floats of 16 or 32 bits, so this is a normal double.
    let exponent = (most.to_bits() >> 52) as i32 - 1023;
    let unit = f64::powi(2.0, exponent - pass.kept);
    let cut = |texel: f64| (texel / unit).trunc() * unit;
    weighed().map(|(corner, &texel)| corner.weight as f64 * cut(texel)).sum::<f64>() / 256.0
}

/// Rounds to a result; ties go away from 0.
fn round(sum: f64, pass: Pass) -> f64 {
    if sum.abs() >= f64::powi(2.0, pass.least) {
        let below = 52 - pass.mantissa;
        let bits = (sum.to_bits() + (1 << (below - 1))) >> below << below;
        return f64::from_bits(bits);
    }
    let unit = f64::powi(2.0, pass.least - pass.mantissa as i32);
    if pass.flushes { 0.0 } else { (sum / unit).round() * unit }
}

/// Filters integers that are read as ratios.
pub(super) fn ratio(corners: &[Corner; 8], texels: &[u32; 8], channel: Channel) -> u32 {
    let value = |bits: u32| match channel {
        Channel::S8 => i64::from(bits as i8),
        Channel::S16 => i64::from(bits as i16),
        _ => i64::from(bits),
    };
    let sum: i64 = corners.iter().zip(texels).map(|(corner, &t)| corner.weight * value(t)).sum();
    // A sum of 8 bits and 8 more gets the bits that repeat it.
    let (scaled, most) = match channel {
        Channel::U8 => (sum + ((sum + 128) >> 8), 65535),
        Channel::S8 => (sum + (((sum >> 4) + (sum >> 12) + 4) >> 3), 32767),
        Channel::S16 => ((sum + 128) >> 8, 32767),
        _ => ((sum + 128) >> 8, 65535),
    };
    ((scaled.max(-most) as f64 / most as f64) as f32).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_agree_on_fewer_axes() {
        for a in 0..256 {
            for b in (0..256).step_by(7) {
                for c in (0..256).step_by(51) {
                    let all = weights([a, b, c]);
                    assert_eq!(all.iter().sum::<i64>(), 256);
                    assert!(all.iter().all(|weight| (0..=256).contains(weight)), "{a} {b} {c}");
                }
                let flat = weights([a, b, 0]);
                let far = (a * b + 128) >> 8;
                assert_eq!(flat[..4], [256 - a - b + far, a - far, b - far, far]);
                assert_eq!(flat[4..], [0; 4]);
            }
        }
    }

    #[test]
    fn ties_go_away_from_zero_and_low_bits_are_cut() {
        let corner = |weight| Corner { weight, read: weight > 0 };
        let mut corners = [Corner::default(); 8];
        (corners[0], corners[1]) = (corner(128), corner(128));
        let next = f64::from(1.0f32.next_up());
        let of = |a: f64, b: f64| {
            let mut texels = [0.0; 8];
            (texels[0], texels[1]) = (a, b);
            f32::from_bits(floats(&corners, &texels, Pass::SINGLE))
        };
        assert_eq!(of(1.0, next), 1.0f32.next_up());
        assert_eq!(of(-1.0, -next), -(1.0f32.next_up()));
        assert_eq!(of(-0.0, -0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!(of(f64::INFINITY, 1.0), f32::INFINITY);
        assert_eq!(of(f64::INFINITY, f64::NEG_INFINITY).to_bits(), 0x7fff_ffff);
        // 2^-28 below the largest texel's bits is lost.
        assert_eq!(of(1.0, -f64::powi(2.0, -28)), 0.5);
    }
}
