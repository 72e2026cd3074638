//! Carry chains: three limbs with the carry in the condition code (PTX ISA, "Extended-Precision
//! Integer Arithmetic Instructions").

use std::fmt::Write;

use simt_core::isa::{FormMatch, Isa, Sem};

use super::harness::{Case, lookup};
use super::inputs::{Source, tuples};
use super::integer::value;
use super::mnemonics;

/// A case and the expected contents of `out`.
type Checked = (Case, Vec<u64>);

/// Returns every case of this module: each mnemonic between each of `add.cc` and `sub.cc` and each
/// of `addc` and `subc`.
pub(crate) fn cases() -> Vec<Checked> {
    let chained = |sem: Sem| matches!(sem, Sem::AddCarry | Sem::SubCarry | Sem::MadCarry);
    let rows = Isa::ptx().rows().iter().filter(|f| chained(f.sem));
    let ends = [["add", "add"], ["add", "sub"], ["sub", "add"], ["sub", "sub"]];
    rows.flat_map(mnemonics::of).flat_map(|m| ends.map(|ends| case(&lookup(&m), ends))).collect()
}

/// Executes one instruction: the result and the new condition code. A difference is the sum `a + ~b
/// + 1`, and its carry is *not borrow*; `subc` adds the incoming carry in place of the 1.
fn step(m: &FormMatch<'_>, x: &[u64], carry: bool) -> (u64, bool) {
    let bits = m.ty().bits();
    let mask = (1u128 << bits) - 1;
    let takes = matches!(m.form.opcode.as_str(), "addc" | "subc" | "madc");
    let [a, b, c] = [x[0], x[1], x[2]].map(u128::from);
    let subtracts = m.form.sem == Sem::SubCarry;
    let carry = u128::from(if takes { carry } else { subtracts });
    let sum = match m.form.sem {
        Sem::AddCarry => a + b + carry,
        Sem::SubCarry => a + (mask - b) + carry,
        _ => {
            let signed = (value(m.ty(), x[0]).wrapping_mul(value(m.ty(), x[1]))) as u128;
            let product = if m.ty().is_signed() { signed } else { a * b };
            (product >> if m.has("hi") { bits } else { 0 } & mask) + c + carry
        }
    };
    ((sum & mask) as u64, sum > mask)
}

/// Builds `FIRST.cc`, the mnemonic, and a `LASTc` that exposes the condition code.
fn case(m: &FormMatch<'_>, [first, last]: [&str; 2]) -> Checked {
    let ty = m.ty();
    let name = ty.name();
    let chain = [format!("{first}.cc.{name}"), m.mnemonic(), format!("{last}c.{name}")];
    let operands = tuples(&[Source { ty, amount: false }; 3], 5);
    let (n, w) = (operands.len(), ty.bits());
    let (mut body, mut expected) = (String::new(), Vec::new());
    let mut carries = vec![false; n];
    for (k, mnemonic) in chain.iter().enumerate() {
        let m = lookup(mnemonic);
        let third = if m.form.sem == Sem::MadCarry { ", %c" } else { "" };
        let _ = writeln!(body, "{mnemonic} %d{k}, %a, %b{third};");
        for (x, carry) in operands.iter().zip(&mut carries) {
            let (d, left) = step(&m, x, *carry);
            // Without `.cc` the condition code is unchanged.
            *carry = if m.has("cc") { left } else { *carry };
            expected.push(d);
        }
    }
    for k in 0..chain.len() {
        let _ = writeln!(body, "st.global.b{w} [%out+{}], %d{k};", 8 * n * k);
    }
    let text = format!(
        "//! grid = {}\n//! block = 128\n.visible .entry form(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b{w} %a, %b, %c, %d0, %d1, %d2;\n.reg .pred %p;\n.reg .u32 %i, %j;\n.reg .u64 %in, %out;\n\
         mov.u32 %i, %tid.x;\nmov.u32 %j, %ctaid.x;\nmad.lo.u32 %i, %j, 128, %i;\nsetp.ge.u32 %p, %i, {n};\n@%p exit;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmad.wide.u32 %in, %i, 8, %in;\nmad.wide.u32 %out, %i, 8, %out;\n\
         ld.global.b{w} %a, [%in];\nld.global.b{w} %b, [%in+{}];\nld.global.b{w} %c, [%in+{}];\n{body}exit;\n}}\n",
        n.div_ceil(128),
        8 * n,
        16 * n,
    );
    let input = (0..3).flat_map(|k| operands.iter().map(move |x| x[k])).collect();
    (Case { subjects: chain.to_vec(), text, input, outputs: expected.len() }, expected)
}
