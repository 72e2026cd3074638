//! Integer arithmetic, logic, shifts and bit fields, in 128 bits or bit by bit (PTX ISA, "Integer
//! Arithmetic Instructions", "Logic and Shift Instructions", `prmt`).
//!
//! Where PTX leaves a result open, the row's doc decides: quotient and remainder by zero are all
//! ones.

use simt_core::isa::{FormMatch, Type};

use super::elementwise::Oracle;
use super::expected::Expected;

/// Returns the value of a type's bits.
pub(crate) fn value(ty: Type, bits: u64) -> i128 {
    let cut = i128::from(bits) & ((1 << ty.bits()) - 1);
    if ty.is_signed() && cut >> (ty.bits() - 1) == 1 { cut - (1 << ty.bits()) } else { cut }
}

/// Returns the bits of a value that wraps.
pub(crate) fn wrap(ty: Type, value: i128) -> u64 {
    (value as u128 & ((1 << ty.bits()) - 1)) as u64
}

/// Returns the nearest value of the type.
pub(crate) fn clamp(ty: Type, value: i128) -> i128 {
    let (low, high) = if ty.is_signed() {
        (-(1i128 << (ty.bits() - 1)), (1i128 << (ty.bits() - 1)) - 1)
    } else {
        (0, (1i128 << ty.bits()) - 1)
    };
    value.max(low).min(high)
}

fn bit(x: u64, i: u32) -> u64 {
    if i < 64 { x >> i & 1 } else { 0 }
}

/// Returns the product in 128 bits, in two's complement for signed types.
fn product(ty: Type, a: u64, b: u64) -> u128 {
    if ty.is_signed() {
        (value(ty, a) * value(ty, b)) as u128
    } else {
        u128::from(a) * u128::from(b)
    }
}

fn one(f: impl Fn(&[u64]) -> u64 + 'static) -> Option<Oracle> {
    Some(Box::new(move |x| vec![Expected::Bits(f(x))]))
}

/// Returns the oracle of an integer or bit mnemonic.
pub(crate) fn oracle(m: &FormMatch<'_>) -> Option<Oracle> {
    let ty = m.ty();
    let sat = m.has("sat");
    let keep = move |v: i128| wrap(ty, if sat { clamp(ty, v) } else { v });
    let val = move |bits| value(ty, bits);
    let (lo, hi, wide) = (m.has("lo"), m.has("hi"), m.has("wide"));
    let least = if m.has("relu") { 0 } else { i128::MIN };
    match m.form.opcode.as_str() {
        "add" => one(move |x| keep(val(x[0]) + val(x[1]))),
        "sub" => one(move |x| keep(val(x[0]) - val(x[1]))),
        "mul" | "mad" => {
            let (bits, shift) =
                (if wide { 2 * ty.bits() } else { ty.bits() }, if hi { ty.bits() } else { 0 });
            let mask = u128::MAX >> (128 - bits);
            one(move |x| {
                let part = product(ty, x[0], x[1]) >> shift & mask;
                let addend = u128::from(x.get(2).copied().unwrap_or(0));
                if sat {
                    return keep(val(part as u64) + val(addend as u64));
                }
                (part.wrapping_add(addend) & mask) as u64
            })
        }
        "mul24" | "mad24" => one(move |x| {
            let low24 = |v: u64| {
                let v = i128::from(v & 0xff_ffff);
                if ty.is_signed() && v >= 1 << 23 { v - (1 << 24) } else { v }
            };
            let product = low24(x[0]) * low24(x[1]);
            let part = if lo { product } else { product >> 16 };
            wrap(ty, part + x.get(2).map_or(0, |&c| val(c)))
        }),
        "sad" => one(move |x| wrap(ty, (val(x[0]) - val(x[1])).abs() + val(x[2]))),
        "dp4a" => {
            let (a, b) = (m.words[0] == Some("s32"), m.words[1] == Some("s32"));
            one(move |x| {
                let byte = |v: u64, i: u32, signed| {
                    value(if signed { Type::S8 } else { Type::U8 }, v >> (8 * i))
                };
                let sum: i128 = (0..4).map(|i| byte(x[0], i, a) * byte(x[1], i, b)).sum();
                wrap(Type::B32, sum + i128::from(x[2]))
            })
        }
        "dp2a" => {
            let signed: Vec<bool> = m
                .words
                .iter()
                .flatten()
                .filter(|w| w.ends_with("32"))
                .map(|w| *w == "s32")
                .collect();
            one(move |x| {
                let half =
                    |i: u32| value(if signed[0] { Type::S16 } else { Type::U16 }, x[0] >> (16 * i));
                let byte =
                    |i: u32| value(if signed[1] { Type::S8 } else { Type::U8 }, x[1] >> (8 * i));
                let first = if hi { 2 } else { 0 };
                let sum: i128 = (0..2).map(|i| half(i) * byte(first + i)).sum();
                wrap(Type::B32, sum + i128::from(x[2]))
            })
        }
        // `.sat` is in video.rs.
        "vabsdiff4" if !sat => {
            let (a, b) = (m.words[1] == Some("s32"), m.words[2] == Some("s32"));
            let adds = m.has("add");
            one(move |x| {
                let byte = |v: u64, i: u32, signed| {
                    value(if signed { Type::S8 } else { Type::U8 }, v >> (8 * i))
                };
                let distance = |i| (byte(x[0], i, a) - byte(x[1], i, b)).abs();
                if adds {
                    return wrap(Type::B32, (0..4).map(distance).sum::<i128>() + i128::from(x[2]));
                }
                (0..4).map(|i| wrap(Type::B8, distance(i)) << (8 * i)).sum()
            })
        }
        "div" => one(move |x| wrap(ty, if val(x[1]) == 0 { -1 } else { val(x[0]) / val(x[1]) })),
        "rem" => one(move |x| wrap(ty, if val(x[1]) == 0 { -1 } else { val(x[0]) % val(x[1]) })),
        "abs" => one(move |x| wrap(ty, val(x[0]).abs())),
        "neg" => one(move |x| wrap(ty, -val(x[0]))),
        "min" => one(move |x| wrap(ty, val(x[0]).min(val(x[1])).max(least))),
        "max" => one(move |x| wrap(ty, val(x[0]).max(val(x[1])).max(least))),
        _ => bits(m).or_else(|| fields(m)),
    }
}

/// Returns the oracle of logic and shifts.
fn bits(m: &FormMatch<'_>) -> Option<Oracle> {
    let ty = m.ty();
    let all = u64::MAX >> (64 - ty.bits());
    let wrapping = m.has("wrap");
    let left = m.has("l");
    match m.form.opcode.as_str() {
        "and" => one(|x| x[0] & x[1]),
        "or" => one(|x| x[0] | x[1]),
        "xor" => one(|x| x[0] ^ x[1]),
        "not" => one(move |x| all - x[0]),
        "cnot" => one(|x| u64::from(x[0] == 0)),
        "lop3" => one(|x| {
            let entry = |i: u32| bit(x[0], i) << 2 | bit(x[1], i) << 1 | bit(x[2], i);
            (0..32).map(|i| bit(x[3], entry(i) as u32) << i).sum()
        }),
        "shl" => one(move |x| {
            (0..ty.bits())
                .filter(|&i| u64::from(i) >= x[1])
                .map(|i| bit(x[0], i - x[1] as u32) << i)
                .sum()
        }),
        "shr" => one(move |x| {
            let amount = (x[1] as u32).min(ty.bits());
            wrap(ty, value(ty, x[0]) >> amount)
        }),
        "shf" => one(move |x| {
            let amount = if wrapping { x[2] % 32 } else { x[2].min(32) };
            let pair = x[1] << 32 | x[0];
            // Bit `i` of the upper word of the pair shifted left, or of the lower word shifted
            // right.
            let from = |i: u64| if left { (32 + i - amount) as u32 } else { (i + amount) as u32 };
            (0..32).map(|i| bit(pair, from(i)) << i).sum()
        }),
        _ => None,
    }
}

/// Returns the oracle of counts, fields and permutations, as in the manual's pseudocode.
fn fields(m: &FormMatch<'_>) -> Option<Oracle> {
    let ty = m.ty();
    let n = ty.bits();
    let field = move |x: u64| if n == 64 { (x as u32).min(64) } else { x as u32 & 0xff };
    let (clamped, shift_amount) = (m.has("clamp"), m.has("shiftamt"));
    match m.form.opcode.as_str() {
        "popc" => one(move |x| (0..n).map(|i| bit(x[0], i)).sum()),
        "clz" => one(move |x| (0..n).rev().take_while(|&i| bit(x[0], i) == 0).count() as u64),
        "brev" => one(move |x| (0..n).map(|i| bit(x[0], i) << (n - 1 - i)).sum()),
        "bfind" => one(move |x| {
            let sign = if ty.is_signed() { bit(x[0], n - 1) } else { 0 };
            match (0..n).rev().find(|&i| bit(x[0], i) != sign) {
                Some(i) => u64::from(if shift_amount { n - 1 - i } else { i }),
                None => 0xffff_ffff,
            }
        }),
        // At 64 bits an H200 uses both operands entirely, while the manual names their low bytes.
        "bfe" => one(move |x| {
            let [position, length] = [x[1], x[2]].map(field);
            let sign = if !ty.is_signed() || length == 0 {
                0
            } else {
                bit(x[0], (position + length - 1).min(n - 1))
            };
            let at =
                |i| if i < length && position + i < n { bit(x[0], position + i) } else { sign };
            (0..n).map(|i| at(i) << i).sum()
        }),
        "bfi" => one(move |x| {
            let [position, length] = [x[2], x[3]].map(field);
            let inside = |i| i >= position && i < position + length;
            (0..n)
                .map(|i| if inside(i) { bit(x[0], i - position) << i } else { bit(x[1], i) << i })
                .sum()
        }),
        "prmt" => {
            let mode = m.words.iter().flatten().copied().find(|w| *w != "b32").map(str::to_string);
            one(move |x| permute(mode.as_deref(), x))
        }
        "fns" => one(|x| {
            let (mask, base, offset) = (x[0], x[1] as u32, x[2] as u32 as i32);
            let set = |i: i64| bit(mask, i as u32) == 1;
            let base = i64::from(base);
            let found = match offset {
                i32::MIN => Some(0), // on an H200; not in the manual
                0 => (base < 32 && set(base)).then_some(base),
                1.. => (base..32).filter(|&i| set(i)).nth(offset as usize - 1),
                _ if base < 32 => {
                    (0..=base).rev().filter(|&i| set(i)).nth(offset.unsigned_abs() as usize - 1)
                }
                _ => None,
            };
            found.map_or(0xffff_ffff, |i| i as u64)
        }),
        "szext" => one(move |x| {
            let width = if clamped { x[1].min(32) } else { x[1] % 32 } as u32;
            let sign = if ty.is_signed() && width > 0 { bit(x[0], width - 1) } else { 0 };
            (0..32).map(|i| if i < width { bit(x[0], i) << i } else { sign << i }).sum()
        }),
        "bmsk" => one(move |x| {
            let amount = |v: u64| if clamped { v.min(32) } else { v % 32 };
            let (first, length) = (amount(x[0]), amount(x[1]));
            (first..(first + length).min(32)).map(|i| 1 << i).sum()
        }),
        _ => None,
    }
}

/// Computes `prmt` by the manual's table of bytes, lowest result byte first.
fn permute(mode: Option<&str>, x: &[u64]) -> u64 {
    let bytes = (x[1] << 32 | x[0]).to_le_bytes();
    let s = (x[2] & 3) as usize;
    let picked: [usize; 4] = match (mode, s) {
        (None, _) => {
            let byte = |i: u32| {
                let selector = x[2] >> (4 * i) & 0xf;
                let byte = bytes[(selector & 7) as usize];
                let replicated = if byte >= 0x80 { 0xff } else { 0 };
                u64::from(if selector >= 8 { replicated } else { byte }) << (8 * i)
            };
            return (0..4).map(byte).sum();
        }
        (Some("f4e"), 0) => [0, 1, 2, 3],
        (Some("f4e"), 1) => [1, 2, 3, 4],
        (Some("f4e"), 2) => [2, 3, 4, 5],
        (Some("f4e"), _) => [3, 4, 5, 6],
        (Some("b4e"), 0) => [0, 7, 6, 5],
        (Some("b4e"), 1) => [1, 0, 7, 6],
        (Some("b4e"), 2) => [2, 1, 0, 7],
        (Some("b4e"), _) => [3, 2, 1, 0],
        (Some("rc8"), _) => [s, s, s, s],
        (Some("ecl"), 0) => [0, 1, 2, 3],
        (Some("ecl"), 1) => [1, 1, 2, 3],
        (Some("ecl"), 2) => [2, 2, 2, 3],
        (Some("ecl"), _) => [3, 3, 3, 3],
        (Some("ecr"), 0) => [0, 0, 0, 0],
        (Some("ecr"), 1) => [0, 1, 1, 1],
        (Some("ecr"), 2) => [0, 1, 2, 2],
        (Some("ecr"), _) => [0, 1, 2, 3],
        (Some(_), 0 | 2) => [0, 1, 0, 1],
        (Some(_), _) => [2, 3, 2, 3],
    };
    picked.iter().enumerate().map(|(i, &from)| u64::from(bytes[from]) << (8 * i)).sum()
}
