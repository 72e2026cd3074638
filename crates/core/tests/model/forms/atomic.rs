//! Atomics and reductions in memory, against a loop over the lanes in ascending order (PTX ISA,
//! `atom`, `red`).
//!
//! The order is the simulator's choice; PTX leaves it open. All lanes of a warp access three
//! addresses. f32 sums flush subnormals in global memory and keep them in shared memory, as in the
//! manual.

use simt_core::isa::{FormMatch, Isa, Sem, Type};

use super::exact::{Format, Number};
use super::expected::Expected;
use super::harness::{Case, lookup};
use super::inputs::{Bits, Source, corners, random};
use super::integer::{value, wrap};
use super::mnemonics;

/// A case and the expected contents of `out`.
type Checked = (Case, Vec<Expected>);

const LANES: usize = 32;
/// Addresses that the lanes share.
const PLACES: usize = 3;
const WARPS: usize = 12;

/// Returns every case of this module.
pub(crate) fn cases() -> Vec<Checked> {
    let rows = Isa::ptx().rows().iter().filter(|f| f.sem == Sem::Atomic);
    rows.flat_map(mnemonics::sample).map(|mnemonic| case(&lookup(&mnemonic))).collect()
}

fn function(m: &FormMatch<'_>) -> &'static str {
    let names = ["add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"];
    names
        .into_iter()
        .find(|name| m.has(name))
        .unwrap_or_else(|| panic!("`{}`: no oracle for this atomic", m.form.syntax))
}

/// Returns the memory contents after the operation.
fn after(m: &FormMatch<'_>, shared: bool, old: u64, b: u64, c: u64) -> u64 {
    let ty = m.ty();
    let (x, y) = (value(ty, old), value(ty, b));
    match function(m) {
        "add" if ty.is_float() => sum(ty, shared, old, b),
        "add" => wrap(ty, x + y),
        "min" => wrap(ty, x.min(y)),
        "max" => wrap(ty, x.max(y)),
        "and" => old & b,
        "or" => old | b,
        "xor" => old ^ b,
        "inc" => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        "dec" => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        "exch" => b,
        _ => {
            if old == b {
                c
            } else {
                old
            }
        }
    }
}

/// Adds floats, rounded to nearest; pairs in each half.
fn sum(ty: Type, shared: bool, old: u64, b: u64) -> u64 {
    if ty.name().ends_with("x2") {
        let one = if ty == Type::F16x2 { Type::F16 } else { Type::BF16 };
        let part =
            |shift: u32| sum(one, shared, old >> shift & 0xffff, b >> shift & 0xffff) << shift;
        return part(0) | part(16);
    }
    let format = Format::of(ty);
    let flushes = ty == Type::F32 && !shared;
    let flush =
        |bits: u64| if flushes && format.is_subnormal(bits) { bits & format.sign() } else { bits };
    match (format.decode(flush(old)), format.decode(flush(b))) {
        (Number::Finite(x), Number::Finite(y)) => flush(x.plus(y, b'n').round(format, b'n')),
        _ => panic!("the operands of atomics are finite"),
    }
}

fn case(m: &FormMatch<'_>) -> Checked {
    let (ty, cas) = (m.ty(), m.has("cas"));
    let shared = m.has("shared") || m.has("shared::cta");
    let returns = m.form.opcode == "atom";
    let mut bits = Bits::new(m.form.syntax.len() as u64);
    let source = Source { ty, amount: false };
    // Floats below 4, so that no sum overflows: the top bit of the exponent is 0.
    let bounded = |x: u64| match ty.name() {
        _ if !ty.is_float() => x,
        "f32" => x & 0xbfff_ffff,
        "f64" => x & 0xbfff_ffff_ffff_ffff,
        _ => x & 0xbfff_bfff,
    };
    let set = corners(source);
    let mut draw = |few: bool| match bits.next() % 3 {
        // With small values, counters wrap and swaps succeed.
        _ if few || m.has("inc") || m.has("dec") => bits.next() % 4,
        0 => bounded(set[(bits.next() % set.len() as u64) as usize]),
        _ => bounded(random(source, &mut bits)),
    };
    let n = LANES * WARPS;
    let b: Vec<u64> = (0..n).map(|_| draw(cas)).collect();
    let c: Vec<u64> = (0..n).map(|_| draw(cas)).collect();
    let start: Vec<u64> = (0..PLACES * WARPS).map(|_| draw(cas)).collect();
    // `out`: old values of the lanes, then the warps' memory.
    let (mut old_values, mut memory) = (vec![0; n], start.clone());
    for i in 0..n {
        let place = &mut memory[i / LANES * PLACES + i % LANES % PLACES];
        old_values[i] = if returns { *place } else { 0 };
        *place = after(m, shared, *place, b[i], c[i]);
    }
    let expected = old_values.iter().chain(&memory).map(|&x| Expected::Bits(x)).collect();
    let w = ty.bits();
    let operands = match (returns, cas) {
        (true, true) => "%d, [%place], %b, %c",
        (true, false) => "%d, [%place], %b",
        _ => "[%place], %b",
    };
    let tile = 8 * PLACES;
    let (fill, drain) = (
        "ld.global.b64 %x, [%start];\nst.shared.b64 [%place], %x;\n",
        "ld.shared.b64 %x, [%place];\nst.global.b64 [%end], %x;\n",
    );
    let text = format!(
        "//! grid = {WARPS}\n//! block = {LANES}\n.visible .entry form(.param .u64 in, .param .u64 out)\n{{\n\
         .shared .align 8 .b8 tile[{tile}];\n.reg .u32 %i, %j, %k;\n.reg .u64 %in, %out, %place, %start, %end, %x;\n\
         .reg .b{w} %b, %c, %d;\n\
         mov.u32 %i, %tid.x;\nmov.u32 %j, %ctaid.x;\nrem.u32 %k, %i, {PLACES};\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n\
         mad.lo.u32 %k, %j, {PLACES}, %k;\nmad.lo.u32 %i, %j, {LANES}, %i;\n\
         mad.wide.u32 %start, %k, 8, %in;\nadd.u64 %start, %start, {};\nmad.wide.u32 %end, %k, 8, %out;\nadd.u64 %end, %end, {};\n\
         mad.wide.u32 %in, %i, 8, %in;\nmad.wide.u32 %out, %i, 8, %out;\n\
         ld.global.b{w} %b, [%in];\nld.global.b{w} %c, [%in+{}];\nmov.b{w} %d, 0;\n\
         rem.u32 %k, %i, {LANES};\nrem.u32 %k, %k, {PLACES};\nmov.u64 %place, tile;\nmad.wide.u32 %place, %k, 8, %place;\n\
         {}{} {operands};\n{}{}exit;\n}}\n",
        16 * n,
        8 * n,
        8 * n,
        if shared {
            fill
        } else {
            "ld.global.b64 %x, [%start];\nst.global.b64 [%end], %x;\nmov.u64 %place, %end;\n"
        },
        m.mnemonic(),
        if shared { drain } else { "" },
        if returns { format!("st.global.b{w} [%out], %d;\n") } else { String::new() },
    );
    let input = [b, c, start].concat();
    (Case { subjects: vec![m.mnemonic()], text, input, outputs: n + PLACES * WARPS }, expected)
}
