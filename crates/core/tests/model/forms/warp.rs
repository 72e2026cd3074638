//! Shuffles, votes, matches and reductions of a warp, against plain loops over its lanes (PTX ISA,
//! "Parallel Synchronization and Communication Instructions").
//!
//! Each warp tests one configuration; some warps lack lanes, and then the mask names the active
//! ones.

use std::fmt::Write;

use simt_core::isa::{FormMatch, Isa, Sem, Type};

use super::expected::Expected;
use super::harness::{Case, lookup};
use super::inputs::{Bits, Source, random};
use super::integer::{value, wrap};
use super::mnemonics;

/// A case and the expected contents of `out`.
type Checked = (Case, Vec<Expected>);

const WARP: usize = 32;

/// One warp's operands.
struct Warp {
    /// Active lanes, and the mask that names them.
    lanes: u32,
    /// `a` of each lane.
    a: Vec<u64>,
    /// `b` of each lane.
    b: Vec<u64>,
    /// `c` of the warp.
    c: u64,
}

impl Warp {
    fn present(&self) -> impl Iterator<Item = usize> + '_ {
        (0..WARP).filter(|lane| self.lanes >> lane & 1 == 1)
    }
}

/// Returns every case of this module.
pub(crate) fn cases() -> Vec<Checked> {
    let warp = |sem: Sem| {
        matches!(
            sem,
            Sem::Shuffle | Sem::Vote | Sem::Match | Sem::Redux | Sem::ActiveMask | Sem::Elect
        )
    };
    let rows = Isa::ptx().rows().iter().filter(|f| warp(f.sem));
    rows.flat_map(mnemonics::of).map(|mnemonic| case(&lookup(&mnemonic))).collect()
}

/// Returns the active lanes of each warp: mostly all.
fn lanes(i: usize) -> u32 {
    [u32::MAX, u32::MAX, 0x0000_ffff, 0x8000_0001, 0x7ffe_fffe, 0xaaaa_aaaa, 0x0000_0010][i % 7]
}

fn warps(m: &FormMatch<'_>) -> Vec<Warp> {
    let mut bits = Bits::new(m.form.syntax.len() as u64);
    let operand = Source { ty: m.ty(), amount: false };
    if m.form.sem == Sem::Shuffle {
        // Every segment mask with every clamp; the lanes of a warp use different distances.
        let configurations =
            (0..32u64).flat_map(|segment| (0..32).map(move |clamp| segment << 8 | clamp));
        return configurations
            .enumerate()
            .map(|(i, c)| {
                let mut warp = Warp {
                    lanes: if i % 5 == 0 { lanes(i / 5) } else { u32::MAX },
                    a: (0..WARP).map(|_| bits.next() & 0xffff_ffff).collect(),
                    b: (0..WARP)
                        .map(|_| if i % 3 == 0 { bits.next() & 0xff } else { c * 7 % 33 })
                        .collect(),
                    c,
                };
                // The value of an inactive lane is undefined, and a fault: such lanes read their
                // own.
                for lane in 0..WARP {
                    if warp.lanes >> source(m, &warp, lane).0 & 1 == 0 {
                        warp.b[lane] = if m.has("idx") { lane as u64 } else { 0 };
                    }
                }
                warp
            })
            .collect();
    }
    let warp = |i: usize| {
        let of_few = [bits.next(), random(operand, &mut bits)];
        let draw = |bits: &mut Bits| match (m.ty(), i % 3) {
            (Type::Pred, _) => [bits.next() % 2, 0, 1][i % 3],
            (_, 0) => random(operand, bits),
            (_, 1) => of_few[(bits.next() % 2) as usize] & (u64::MAX >> (64 - m.ty().bits())),
            _ => of_few[0] & (u64::MAX >> (64 - m.ty().bits())),
        };
        let is_vote = m.form.sem == Sem::Vote;
        let a = (0..WARP)
            .map(|_| if is_vote { [bits.next() % 2, 0, 1][i % 3] } else { draw(&mut bits) })
            .collect();
        Warp { lanes: lanes(i / 3), a, b: vec![0; WARP], c: 0 }
    };
    (0..48).map(warp).collect()
}

/// Returns `(d, p)` of a lane.
fn outcome(m: &FormMatch<'_>, warp: &Warp, lane: usize) -> (Expected, Expected) {
    let members = || warp.present().map(|l| warp.a[l]);
    let set = |holds: &dyn Fn(usize) -> bool| {
        Expected::Bits(warp.present().filter(|&l| holds(l)).map(|l| 1u64 << l).sum())
    };
    let nothing = Expected::Bits(0);
    let values = || members().map(|x| value(m.ty(), x));
    match m.form.sem {
        Sem::Shuffle => shuffle(m, warp, lane),
        Sem::ActiveMask => (Expected::Bits(warp.lanes.into()), nothing),
        Sem::Elect => {
            let lowest = warp.present().next().unwrap_or(0);
            (Expected::Bits(lowest as u64), Expected::truth(lane == lowest))
        }
        Sem::Vote if m.has("ballot") => (set(&|l| warp.a[l] == 1), nothing),
        Sem::Vote => {
            let (all, any) = (members().all(|x| x == 1), members().any(|x| x == 1));
            (
                Expected::truth(if m.has("all") {
                    all
                } else if m.has("any") {
                    any
                } else {
                    all || !any
                }),
                nothing,
            )
        }
        Sem::Match if m.has("any") => (set(&|l| warp.a[l] == warp.a[lane]), nothing),
        Sem::Match => {
            let same = members().all(|x| x == warp.a[lane]);
            (if same { Expected::Bits(warp.lanes.into()) } else { nothing }, Expected::truth(same))
        }
        _ => {
            let result = match () {
                () if m.has("add") => values().sum(),
                () if m.has("min") => values().min().unwrap_or(0),
                () if m.has("max") => values().max().unwrap_or(0),
                () if m.has("and") => values().fold(-1, |x, y| x & y),
                () if m.has("or") => values().fold(0, |x, y| x | y),
                () => values().fold(0, |x, y| x ^ y),
            };
            (Expected::Bits(wrap(m.ty(), result)), nothing)
        }
    }
}

/// Returns the lane that is read, and whether the requested one is in range. Closed form: `c` holds
/// a clamp and a segment mask; a lane whose source is out of range reads itself.
fn source(m: &FormMatch<'_>, warp: &Warp, lane: usize) -> (usize, bool) {
    let (clamp, segment) = ((warp.c & 31) as i64, (warp.c >> 8 & 31) as i64);
    let (own, b) = (lane as i64, (warp.b[lane] & 31) as i64);
    let least = own & segment;
    let most = least | clamp & !segment;
    let (asked, in_range) = match () {
        // For `.up`, the clamp is the lowest lane that can be read.
        () if m.has("up") => (own - b, own - b >= most),
        () if m.has("down") => (own + b, own + b <= most),
        () if m.has("bfly") => (own ^ b, own ^ b <= most),
        () => (least | b & !segment, least | b & !segment <= most),
    };
    (if in_range { asked as usize } else { lane }, in_range)
}

fn shuffle(m: &FormMatch<'_>, warp: &Warp, lane: usize) -> (Expected, Expected) {
    let (from, in_range) = source(m, warp, lane);
    (Expected::Bits(warp.a[from]), Expected::truth(in_range))
}

fn case(m: &FormMatch<'_>) -> Checked {
    let warps = warps(m);
    let lanes = warps.len() * WARP;
    let of_warp = |f: &dyn Fn(&Warp) -> u64| {
        warps.iter().flat_map(|w| vec![f(w); WARP]).collect::<Vec<u64>>()
    };
    let input: Vec<u64> = [
        warps.iter().flat_map(|w| w.a.clone()).collect(),
        warps.iter().flat_map(|w| w.b.clone()).collect(),
        of_warp(&|w| w.c),
        of_warp(&|w| w.lanes.into()),
    ]
    .concat();
    let mut expected: Vec<Expected> = vec![Expected::Bits(0); 2 * lanes];
    for (i, warp) in warps.iter().enumerate() {
        for lane in warp.present() {
            (expected[i * WARP + lane], expected[lanes + i * WARP + lane]) = outcome(m, warp, lane);
        }
    }
    let bits = if m.ty().bits() == 64 { 64 } else { 32 };
    let instruction = match m.form.sem {
        Sem::Shuffle => "%d|%p, %a, %b, %c, %m",
        Sem::Vote if m.has("ballot") => "%d, %q, %m",
        Sem::Vote => "%p, %q, %m",
        Sem::ActiveMask => "%d",
        Sem::Elect => "%d|%p, %m",
        Sem::Match if m.has("all") => "%d|%p, %a, %m",
        _ => "%d, %a, %m",
    };
    let mut text = String::new();
    let _ = write!(
        text,
        "//! grid = {}\n//! block = {WARP}\n.visible .entry form(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .pred %p, %q;\n.reg .b32 %i, %j, %b, %c, %m, %d;\n.reg .b{bits} %a;\n.reg .u64 %in, %out;\n\
         mov.u32 %i, %tid.x;\nmov.u32 %j, %ctaid.x;\nmad.lo.u32 %j, %j, {WARP}, %i;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n\
         mad.wide.u32 %in, %j, 8, %in;\nmad.wide.u32 %out, %j, 8, %out;\n\
         ld.global.b{bits} %a, [%in];\nld.global.b32 %b, [%in+{}];\nld.global.b32 %c, [%in+{}];\n\
         ld.global.b32 %m, [%in+{}];\n\
         shr.b32 %j, %m, %i;\nand.b32 %j, %j, 1;\nsetp.eq.u32 %p, %j, 0;\n@%p exit;\n",
        warps.len(),
        8 * lanes,
        16 * lanes,
        24 * lanes,
    );
    // Cells that an instruction does not write must be zero.
    let _ = write!(
        text,
        "cvt.u32.u{bits} %j, %a;\nsetp.ne.u32 %q, %j, 0;\nsetp.ne.u32 %p, %i, %i;\nmov.b32 %d, 0;\n{} {instruction};\n\
         selp.u32 %j, 1, 0, %p;\n{}exit;\n}}\n",
        m.mnemonic(),
        if m.form.sem == Sem::Vote && !m.has("ballot") {
            "st.global.u32 [%out], %j;\n".to_string()
        } else {
            format!("st.global.u32 [%out], %d;\nst.global.u32 [%out+{}], %j;\n", 8 * lanes)
        },
    );
    (Case { subjects: vec![m.mnemonic()], text, input, outputs: 2 * lanes }, expected)
}
