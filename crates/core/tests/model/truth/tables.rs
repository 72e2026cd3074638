//! Input values by kind of register.
//!
//! A kind is a type's nature and width: `i32` for every 32-bit integer, `f32`, `f64`, `f16`, .. The
//! buffers `a_`, `b_` and `c_` of a kind hold the first, second and third operand of each thread.

use simt_core::isa::Type;
use std::fmt::Write;

/// Distribution of values over the threads of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// All pairs of [`CORNERS`] corner values, [`CHOSEN`] chosen pairs, and random ones.
    Pairs,
    /// Many corner values for one operand, then random ones.
    Single,
    /// Some pairs of corner values: for forms with very many equivalent spellings.
    Few,
    /// As `Single`, within the domain of the approximate sine.
    Angles,
}

/// Corner values that are paired.
const CORNERS: usize = 12;
/// Chosen pairs.
const CHOSEN: usize = 16;
/// Threads with random operands: half of them any bits, half of them numbers near one.
const RANDOM: usize = 32;
/// Corner values of one operand.
const SINGLES: usize = 64;

impl Layout {
    /// Returns the threads of a program.
    pub(super) fn threads(self) -> usize {
        match self {
            Layout::Pairs => CORNERS * CORNERS + CHOSEN + RANDOM,
            Layout::Few => 3 * CORNERS + RANDOM / 2,
            Layout::Single | Layout::Angles => SINGLES + RANDOM,
        }
    }
}

/// Returns the kind of a type.
pub(super) fn kind(ty: Type) -> String {
    match ty.name() {
        name if name.starts_with('f') || name.starts_with("bf") => name.to_string(),
        _ => format!("i{}", ty.bits().max(16)),
    }
}

/// Returns the width of a kind's elements.
pub(super) fn bits(kind: &str) -> u32 {
    match kind {
        "f16x2" | "bf16x2" => 32,
        _ if kind.ends_with("64") => 64,
        _ if kind.ends_with("16") => 16,
        _ => 32,
    }
}

/// Returns twelve corner values.
fn corners(kind: &str) -> Vec<u64> {
    match kind {
        "i16" => vec![0, 1, 2, 7, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xfffe, 0xffff],
        "i32" => vec![
            0,
            1,
            2,
            0xffff,
            0x0080_0000,
            0x00ff_ffff,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            0x1234_5678,
            0xffff_fffe,
            0xffff_ffff,
        ],
        "i64" => vec![
            0,
            1,
            2,
            0xffff_ffff,
            0x1_0000_0000,
            0x7fff_ffff_ffff_ffff,
            0x8000_0000_0000_0000,
            0x8000_0000_0000_0001,
            0x1234_5678_9abc_def0,
            0xffff_ffff_0000_0000,
            0xffff_ffff_ffff_fffe,
            0xffff_ffff_ffff_ffff,
        ],
        "f16" => vec![
            0, 0x8000, 0x3c00, 0xbe00, 0x0001, 0x83ff, 0x0400, 0x7bff, 0x7c00, 0xfc00, 0x7e12,
            0xfd01,
        ],
        "bf16" => vec![
            0, 0x8000, 0x3f80, 0xbfc0, 0x0001, 0x807f, 0x0080, 0x7f7f, 0x7f80, 0xff80, 0x7fc2,
            0xffa1,
        ],
        "f16x2" | "bf16x2" => {
            let parts = corners(kind.trim_end_matches("x2"));
            (0..CORNERS).map(|i| parts[i] | parts[(i * 5 + 3) % CORNERS] << 16).collect()
        }
        "f64" => vec![
            0,
            0x8000_0000_0000_0000,
            0x3ff0_0000_0000_0000,
            0xbff8_0000_0000_0000,
            0x0000_0000_0000_0001,
            0x800f_ffff_ffff_ffff,
            0x0010_0000_0000_0000,
            0x7fef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0x7ff8_0000_0000_1234,
            0xfff4_0000_0000_5678,
        ],
        _ => vec![
            0,
            0x8000_0000,
            0x3f80_0000,
            0xbfc0_0000,
            0x0000_0001,
            0x807f_ffff,
            0x0080_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_1234,
            0xffa0_5678,
        ],
    }
}

/// Returns sixteen pairs: halfway cases, cancellation, results around the ends of the range.
fn chosen(kind: &str) -> Vec<(u64, u64)> {
    let f = |a: f64, b: f64| match kind {
        "f64" => (a.to_bits(), b.to_bits()),
        _ => (u64::from((a as f32).to_bits()), u64::from((b as f32).to_bits())),
    };
    match kind {
        "f32" | "f64" => {
            let wide = kind == "f64";
            let digits = if wide { 52 } else { 23 };
            let least = if wide { -1022 } else { -126 };
            let ulp = (-f64::from(digits)).exp2();
            let tiny = f64::from(least).exp2();
            let huge = f64::from(-least).exp2();
            vec![
                f(1.0, ulp / 2.0),
                f(1.0 + ulp, ulp / 2.0),
                f(-1.0, -ulp / 2.0),
                f(-1.0 - ulp, -ulp / 2.0),
                f(1.0, -ulp / 4.0),
                f(1.0, ulp * 0.75),
                f(1.0 + ulp, 1.0 + ulp),
                f(1.0 - ulp, 1.0 + ulp),
                f(tiny * 1.5, 0.5),
                f(tiny * (1.0 + ulp), 0.5),
                f(tiny * 1.25, -tiny),
                f(huge * 1.75, 1.5),
                f(huge * 1.75, huge * 1.75),
                f(1.0, 3.0),
                f(2.0, -7.0),
                f(1.0 - ulp / 2.0, tiny),
            ]
        }
        "i16" | "i32" | "i64" => {
            let top = 1u64 << (bits(kind) - 1);
            let mask = top | (top - 1);
            let pairs = [
                (top, mask),
                (top, 1),
                (100, 7),
                (mask - 99, 7),
                (100, mask - 6),
                (mask - 99, mask - 6),
                (top - 1, top - 1),
                (top, top),
                (0x55, 0xaa),
                (12345, 678),
                (mask >> 2, 3),
                (top >> 1, 4),
                (top - 1, 2),
                (mask, top),
                (255, 257),
                (1000, 1000),
            ];
            pairs.map(|(a, b)| (a & mask, b & mask)).to_vec()
        }
        _ => {
            // Halves: one, a half, near one, the largest below two, small and large normals.
            let one = if kind.starts_with('b') { 0x3f80 } else { 0x3c00 };
            let low = if kind.starts_with('b') { 0x0080 } else { 0x0400 };
            let values =
                [one, one + 1, one - 1, one | 0x8000, low, low + 1, low | 0x8001, one + 0x00c5];
            let pair = |i: usize| (values[i % 8], values[(i * 3 + i / 8 * 5 + 1) % 8]);
            let both = |v: u64, w: u64| if kind.ends_with("x2") { v | w << 16 } else { v };
            (0..CHOSEN).map(|i| (both(pair(i).0, pair(i).1), both(pair(i).1, pair(i).0))).collect()
        }
    }
}

/// Returns sixty-four corner values.
fn singles(kind: &str) -> Vec<u64> {
    let numbers = [
        0.25,
        0.5,
        0.75,
        1.5,
        2.5,
        3.5,
        3.7,
        100.25,
        127.5,
        127.9,
        128.0,
        255.5,
        256.0,
        32767.5,
        32768.0,
        65504.0,
        65519.0,
        65520.0,
        65535.5,
        65536.0,
        8388607.5,
        8388608.5,
        16777217.0,
        2147483647.5,
        2147483648.0,
        4294967295.5,
        4294967296.0,
        9.223_372_036_854_776e18,
        1.8446744073709552e19,
        1e-7,
        6.1e-5,
        1e30,
    ];
    let mut all = corners(kind);
    match kind {
        "i16" | "i32" | "i64" => {
            let mask = u64::MAX >> (64 - bits(kind));
            all.extend(
                (0..bits(kind))
                    .flat_map(|bit| [1u64 << bit, (3u64 << bit) - 1, mask >> bit])
                    .map(|v| v & mask),
            );
        }
        "f64" => {
            all.extend(numbers.iter().flat_map(|v: &f64| [v.to_bits(), (-v).to_bits()]).take(40));
            all.extend(numbers.iter().skip(20).map(|v| v.to_bits()));
        }
        "f32" => {
            all.extend(
                numbers
                    .iter()
                    .flat_map(|v| [(*v as f32).to_bits(), (-*v as f32).to_bits()])
                    .take(40)
                    .map(u64::from),
            );
            all.extend(numbers.iter().skip(20).map(|v| u64::from((*v as f32).to_bits())));
        }
        _ => {
            let half = kind.trim_end_matches("x2");
            let parts: Vec<u64> =
                corners(half).into_iter().chain((0..52).map(|i| 0x2c00 + i * 0x0155)).collect();
            let both = |i: usize| {
                if half == kind {
                    parts[i]
                } else {
                    parts[i] | parts[(i * 7 + 5) % parts.len()] << 16
                }
            };
            all = (0..parts.len()).map(both).collect();
        }
    }
    all.resize(SINGLES, 1);
    all
}

/// Returns arguments of sine and cosine: zeros, subnormals, infinities, NaN, and numbers up to pi.
fn angles() -> Vec<u64> {
    let mut all = corners("f32");
    all.retain(|bits| *bits != 0x7f7f_ffff);
    all.extend((0..SINGLES).map(|i| u64::from((i as f32 * 0.118 - 3.0).to_bits())));
    all.truncate(SINGLES);
    all
}

/// Amounts for shifts and bit fields.
const COUNTS: [u32; 17] =
    [0, 1, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 65, 255, 256, 0x8000_0000, 0xffff_ffff];

/// Prints the directives of a kind's operand buffers; `roles` are those that a program uses.
pub(super) fn directives(kind: &str, layout: Layout, roles: &str, out: &mut String) {
    let (bits, threads) = (bits(kind), layout.threads());
    let digits = bits as usize / 4;
    let list = |values: &[u64]| {
        values.iter().map(|v| format!("{v:#0w$x}", w = digits + 2)).collect::<Vec<_>>().join(", ")
    };
    // Writing to a string cannot fail.
    if kind == "counts" {
        let counts = COUNTS.map(u64::from);
        let _ = writeln!(out, "//! buffer counts: b32[17] = [{}]", list(&counts));
        for (role, formula) in [('n', "i % 17"), ('m', "(i / 12 + i * 3) % 17")] {
            if roles.contains(role) {
                let _ = writeln!(
                    out,
                    "//! buffer {role}_counts: b32[{threads}] = counts[{formula}] for i"
                );
            }
        }
        return;
    }
    let seed = 11 + u64::from(bits);
    let highest = u64::MAX >> (64 - bits);
    let near = |x: &str| match kind {
        // Exponents from -23 to 8, or from -3 to 4: sums and products in which rounding matters.
        "f32" => format!("{x} & 0x807fffff | 0x34000000 + ({x} >> 23 & 31) * 0x800000"),
        "f64" => format!(
            "{x} & 0x800fffffffffffff | 0x3e80000000000000 + ({x} >> 52 & 31) * 0x10000000000000"
        ),
        "f16" => format!("{x} & 0x83ff | 0x3000 + ({x} >> 10 & 7) * 0x400"),
        "bf16" => format!("{x} & 0x807f | 0x3d80 + ({x} >> 7 & 7) * 0x80"),
        "f16x2" => format!("{x} & 0x83ff83ff | 0x30003000 + ({x} >> 10 & 0x70007) * 0x400"),
        "bf16x2" => format!("{x} & 0x807f807f | 0x3d803d80 + ({x} >> 7 & 0x70007) * 0x80"),
        // Numbers of every length.
        _ => format!("{x} & {highest:#x} >> (i * 5) % {}", bits - 1),
    };
    let half = RANDOM / 2;
    if matches!(layout, Layout::Pairs | Layout::Few) {
        let _ = writeln!(
            out,
            "//! buffer corner_{kind}: b{bits}[{CORNERS}] = [{}]",
            list(&corners(kind))
        );
    }
    if layout == Layout::Pairs {
        let (left, right): (Vec<u64>, Vec<u64>) = chosen(kind).into_iter().unzip();
        let _ = writeln!(out, "//! buffer left_{kind}: b{bits}[{CHOSEN}] = [{}]", list(&left));
        let _ = writeln!(out, "//! buffer right_{kind}: b{bits}[{CHOSEN}] = [{}]", list(&right));
    } else if layout != Layout::Few {
        let values = if layout == Layout::Angles { angles() } else { singles(kind) };
        let _ = writeln!(out, "//! buffer corner_{kind}: b{bits}[{SINGLES}] = [{}]", list(&values));
    }
    for (n, role) in "abc".chars().enumerate().filter(|(_, role)| roles.contains(*role)) {
        let wild = format!("wild_{role}_{kind}");
        let _ = writeln!(
            out,
            "//! buffer {wild}: b{bits}[{threads}] = random({}, 0..{highest:#x})",
            seed + n as u64
        );
        let near = match layout {
            Layout::Angles => {
                format!("{wild}[i] & 0x807fffff | 0x3e000000 + ({wild}[i] >> 23 & 3) * 0x800000")
            }
            _ => near(&format!("{wild}[i]")),
        };
        let start = match (layout, role) {
            (Layout::Pairs, 'a') => {
                format!("i < 144 ? corner_{kind}[i / 12] : i < 160 ? left_{kind}[i - 144]")
            }
            (Layout::Pairs, 'b') => {
                format!("i < 144 ? corner_{kind}[i % 12] : i < 160 ? right_{kind}[i - 144]")
            }
            (Layout::Pairs, _) => format!("i < 160 ? corner_{kind}[(i * 7 + i / 12) % 12]"),
            (Layout::Few, 'a') => format!("i < 36 ? corner_{kind}[i % 12]"),
            (Layout::Few, _) => format!("i < 36 ? corner_{kind}[(i / 12 * 5 + i + {n} * 3) % 12]"),
            (_, 'a') => format!("i < {SINGLES} ? corner_{kind}[i]"),
            _ => format!("i < {SINGLES} ? corner_{kind}[(i * 7 + {n}) % {SINGLES}]"),
        };
        let _ = writeln!(
            out,
            "//! buffer {role}_{kind}: b{bits}[{threads}] = ({start} : i < {} ? {} : {near}) for i",
            if layout == Layout::Few { threads } else { threads - half },
            if layout == Layout::Angles { near.clone() } else { format!("{wild}[i]") },
        );
    }
}
