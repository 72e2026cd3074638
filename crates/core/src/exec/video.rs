//! Video instructions (PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions").
//!
//! NVIDIA's assembler replaces them by other instructions since Maxwell. Where the results of an
//! H200 (`tests/observations/h200/video.ptx.ron`) differ from the manual, they are modelled: a
//! second operation compares the first one's 64-bit result (of `vadd` and `vsub`, the sign-extended
//! word), `vmad` multiplies whole words as signed numbers, a saturated `vshl` has 34 bits, and an
//! unsigned sum or difference of a whole word saturates at 0 only.

use super::RegisterFile;
use crate::base::LaneMask;
use crate::isa::Compare;
use crate::kernel::{Video, VideoFn, VideoParts, VideoThen};

/// Executes a video instruction.
pub(super) fn execute(op: &Video, lanes: LaneMask, registers: &mut RegisterFile) {
    for lane in lanes.lanes() {
        let lane = lane as usize;
        let s = op.s.map(|row| registers.narrow[usize::from(row.0)][lane]);
        registers.narrow[usize::from(op.d.0)][lane] = result(op, s);
    }
}

/// Returns `bits` bits from bit `at` up, extended.
fn part(value: u64, (bits, at): (u32, u32), signed: bool) -> i64 {
    let low = value >> at << (64 - bits);
    if signed { low as i64 >> (64 - bits) } else { (low >> (64 - bits)) as i64 }
}

/// Clamps to `bits` bits.
fn clamped(x: i128, bits: u32, signed: bool) -> i128 {
    let most = (1i128 << (bits - u32::from(signed))) - 1;
    x.clamp(if signed { -most - 1 } else { 0 }, most)
}

/// Returns the function of `a` and `b`, not clamped; `c` is an operand of `vmad`.
fn apply(op: &Video, a: i64, b: i64, c: u32) -> i128 {
    let amount = |wrap: bool| if wrap { b as u64 & 31 } else { (b as u64).min(32) };
    match op.f {
        VideoFn::Add => i128::from(a + b),
        VideoFn::Sub => i128::from(a - b),
        VideoFn::AbsDiff => i128::from((a - b).abs()),
        VideoFn::Min => i128::from(a.min(b)),
        VideoFn::Max => i128::from(a.max(b)),
        VideoFn::Average => i128::from((a + b + i64::from(a + b >= 0)) >> 1),
        VideoFn::ShiftLeft { wrap } => i128::from(a) << amount(wrap),
        VideoFn::ShiftRight { wrap } => i128::from(a >> amount(wrap)),
        VideoFn::MultiplyAdd { plus_one, shift } => {
            let c = i64::from(c as i32);
            let product = i64::from(a as i32) * i64::from(b as i32);
            i128::from(product.wrapping_add(c).wrapping_add(plus_one.into()) >> shift)
        }
        VideoFn::Set(compare) => i128::from(match compare {
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
            _ => a == b,
        }),
    }
}

fn result(op: &Video, [a, b, c]: [u32; 3]) -> u32 {
    let [signed, signed_a, signed_b] = op.signed;
    match op.parts {
        VideoParts::One([d, from_a, from_b]) => {
            let a = part(a.into(), from_a.place(), signed_a);
            let b = part(b.into(), from_b.place(), signed_b);
            let (bits, at) = d.place();
            let is_product = matches!(op.f, VideoFn::MultiplyAdd { .. });
            let signed = if is_product { signed_a || signed_b } else { signed };
            let x = apply(op, a, b, c);
            let whole = bits == 32;
            let x = match op.f {
                VideoFn::ShiftLeft { .. } if op.sat => x << (128 - 34) >> (128 - 34),
                VideoFn::Add | VideoFn::Sub if !op.sat => i128::from(x as i32),
                _ => x,
            };
            let x = match op.f {
                _ if !op.sat => x,
                VideoFn::Add | VideoFn::Sub | VideoFn::AbsDiff if whole && !signed => x.max(0),
                _ => clamped(x, bits, signed),
            } as i64;
            let is_less = match signed {
                true => x < i64::from(c as i32),
                false => (x as u64) < u64::from(c),
            };
            let x = x as u32;
            match op.then {
                _ if is_product => x,
                VideoThen::Add => x.wrapping_add(c),
                VideoThen::Min => {
                    if is_less {
                        x
                    } else {
                        c
                    }
                }
                VideoThen::Max => {
                    if is_less {
                        c
                    } else {
                        x
                    }
                }
                VideoThen::Merge => {
                    let mask = u32::MAX >> (32 - bits) << at;
                    x << at & mask | c & !mask
                }
            }
        }
        VideoParts::Each { count, from, mask } => {
            let bits = 32 / u32::from(count.max(1));
            let pair = u64::from(b) << 32 | u64::from(a);
            let mut d = c;
            for i in (0..count).filter(|i| mask >> i & 1 == 1) {
                let at = |side: usize| (bits, bits * u32::from(from[side][usize::from(i)]));
                let (a, b) = (part(pair, at(0), signed_a), part(pair, at(1), signed_b));
                let x = apply(op, a, b, c);
                let x = if op.sat { clamped(x, bits, signed) } else { x };
                if op.then == VideoThen::Add {
                    d = d.wrapping_add(x as u32);
                    continue;
                }
                let (low, at) = (u32::MAX >> (32 - bits), bits * u32::from(i));
                d = d & !(low << at) | (x as u32 & low) << at;
            }
            d
        }
    }
}
