//! Loads and stores of every width, in every space, plain and in vectors (PTX ISA, `ld`, `st`,
//! `ldu`).
//!
//! A loaded value is extended to its register by its type; a store writes exactly its bytes. A load
//! is tested on bytes that the host wrote (or that byte stores copied to shared and local memory),
//! a store is read back byte by byte.

use std::fmt::Write;

use simt_core::isa::{Class, Form, FormMatch, Isa, Sem, Slot, Type};

use super::harness::{Case, lookup};
use super::inputs::Bits;
use super::integer::{value, wrap};
use super::mnemonics;

/// Lanes of a program, and bytes per lane: the widest vector has 32.
const LANES: usize = 40;
const BYTES: usize = 32;
const CELLS: usize = BYTES / 8;

/// A case and the expected contents of `out`.
type Checked = (Case, Vec<u64>);

fn is_memory(form: &Form) -> bool {
    // Stores of call arguments are tested with calls.
    form.sem == Sem::Load || form.sem == Sem::Store && form.class != Class::Move
}

/// Returns the mnemonics of a row: each word once, each type, and each type in each vector that
/// fits into 16 bytes.
fn mnemonics_of(form: &Form) -> Vec<String> {
    let mut all = mnemonics::sample(form);
    fn first(slot: &Slot) -> Option<&str> {
        if slot.optional { None } else { slot.words.first().map(String::as_str) }
    }
    if let Some(types) = form.slots.last() {
        for ty in &types.words {
            for vector in ["v2", "v4"] {
                let words = form.slots.iter().filter_map(|slot| {
                    if slot.words.iter().any(|w| w == vector) { Some(vector) } else { first(slot) }
                });
                let mut words: Vec<&str> = words.collect();
                if let Some(last) = words.last_mut() {
                    *last = ty;
                }
                let mnemonic =
                    words.iter().fold(form.opcode.clone(), |text, word| text + "." + word);
                if words.contains(&vector) && !all.contains(&mnemonic) {
                    all.push(mnemonic);
                }
            }
        }
    }
    // PTX has vectors of at most 16 bytes.
    all.retain(|m| {
        let m = lookup(m);
        m.ty().bytes() * count(&m) <= 16
    });
    all
}

fn count(m: &FormMatch<'_>) -> u32 {
    m.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1)
}

/// Returns every case of this module.
pub(crate) fn cases() -> Vec<Checked> {
    let rows = Isa::ptx().rows().iter().filter(|f| is_memory(f));
    rows.flat_map(|form| mnemonics_of(form).chunks(12).map(|m| case(form, m)).collect::<Vec<_>>())
        .collect()
}

fn case(form: &Form, chosen: &[String]) -> Checked {
    let mut bits = Bits::new(form.syntax.len() as u64);
    let mut draft = Draft {
        input: (0..LANES * CELLS).map(|_| bits.next()).collect(),
        body: String::new(),
        expected: Vec::new(),
    };
    for mnemonic in chosen {
        let m = lookup(mnemonic);
        if form.sem == Sem::Load { draft.load(&m) } else { draft.store(&m) }
    }
    let registers =
        |class: &str, ty: &str| format!(".reg .{ty} %{class}0, %{class}1, %{class}2, %{class}3;\n");
    let list = |bytes: &[u8]| bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    let all: Vec<u8> = (0..LANES).flat_map(|lane| draft.bytes(lane)).collect();
    let text = format!(
        "//! grid = 1\n//! block = {LANES}\n//! arg block = [{}]\n.const .align 16 .b8 constants[{}] = {{{}}};\n\
         .visible .entry form(.param .u64 in, .param .u64 out, .param .align 16 .b8 block[{BYTES}])\n{{\n\
         .shared .align 16 .b8 tile[{}];\n.local .align 16 .b8 stack[{BYTES}];\n\
         .reg .u32 %lane;\n.reg .u64 %in, %out, %tile, %stack, %constants;\n{}{}{}{}{}\
         mov.u32 %lane, %tid.x;\nld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n\
         mad.wide.u32 %in, %lane, {BYTES}, %in;\nmad.wide.u32 %out, %lane, {BYTES}, %out;\n\
         mov.u64 %tile, tile;\nmad.wide.u32 %tile, %lane, {BYTES}, %tile;\nmov.u64 %stack, stack;\n\
         mov.u64 %constants, constants;\nmad.wide.u32 %constants, %lane, {BYTES}, %constants;\n{}exit;\n}}\n",
        list(&draft.bytes(0)),
        all.len(),
        list(&all),
        LANES * BYTES,
        registers("h", "b16"),
        registers("w", "b32"),
        registers("x", "b64"),
        registers("f", "f32"),
        registers("d", "f64"),
        draft.body,
    );
    (
        Case { subjects: chosen.to_vec(), text, outputs: draft.expected.len(), input: draft.input },
        draft.expected,
    )
}

/// A program under construction.
struct Draft {
    input: Vec<u64>,
    body: String,
    /// Cells of `out`: [`CELLS`] for each lane, then the same for the next instruction.
    expected: Vec<u64>,
}

impl Draft {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.body, "{line}");
    }

    /// Returns the bytes of `in` that belong to a lane.
    fn bytes(&self, lane: usize) -> Vec<u8> {
        self.input[lane * CELLS..][..CELLS].iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    /// Returns the offset from `%out` of the next instruction's cells of a lane.
    fn at(&self) -> usize {
        8 * self.expected.len()
    }

    /// Adds a load whose results are stored as whole registers.
    fn load(&mut self, m: &FormMatch<'_>) {
        let (ty, n) = (m.ty(), count(m) as usize);
        let size = ty.bytes() as usize;
        let (space, base) = place(m);
        if matches!(space, "shared" | "local") {
            for i in 0..BYTES {
                self.line(&format!(
                    "ld.global.u8 %w0, [%in+{i}];\nst.{space}.u8 [{base}+{i}], %w0;"
                ));
            }
        }
        // The second time from a larger offset, into wider registers.
        for wide in [false, true] {
            let offset = if wide && 2 * size * n <= BYTES { size * n } else { 0 };
            let names: Vec<String> = (0..n).map(|k| register(ty, wide, k)).collect();
            let to = match ty.bits() {
                _ if wide && !ty.is_float() => Type::B64,
                8 | 16 => Type::B16,
                32 => Type::B32,
                _ => Type::B64,
            };
            self.line(&format!("{} {}, [{base}+{offset}];", m.mnemonic(), braced(&names)));
            for (k, name) in names.iter().enumerate() {
                let at = self.at() + 8 * k;
                self.line(&format!("st.global.b{} [%out+{at}], {name};", to.bits()));
            }
            for lane in 0..LANES {
                let bytes = self.bytes(if space == "param" { 0 } else { lane });
                for k in 0..CELLS {
                    let part =
                        if k < n { little_endian(&bytes[offset + k * size..][..size]) } else { 0 };
                    self.expected.push(wrap(to, value(ty, part)));
                }
            }
        }
    }

    /// Adds a store into zeros, with all bytes around it read back.
    fn store(&mut self, m: &FormMatch<'_>) {
        let (ty, n) = (m.ty(), count(m) as usize);
        let size = ty.bytes() as usize;
        let (space, base) = place(m);
        let names: Vec<String> = (0..n).map(|k| register(ty, false, k)).collect();
        let step = size.max(2);
        for (k, name) in names.iter().enumerate() {
            self.line(&format!("ld.global.b{} {name}, [%in+{}];", 8 * step, k * step));
        }
        let offset = if 2 * size * n <= BYTES { size * n } else { 0 };
        let at = self.at();
        if space == "global" {
            self.line(&format!("{} [%out+{}], {};", m.mnemonic(), at + offset, braced(&names)));
        } else {
            self.line("mov.b64 %x3, 0;");
            (0..CELLS).for_each(|k| self.line(&format!("st.{space}.b64 [{base}+{}], 0;", 8 * k)));
            self.line(&format!("{} [{base}+{offset}], {};", m.mnemonic(), braced(&names)));
            for k in 0..CELLS {
                let k = 8 * k;
                self.line(&format!(
                    "ld.{space}.b64 %x3, [{base}+{k}];\nst.global.b64 [%out+{}], %x3;",
                    at + k
                ));
            }
        }
        for lane in 0..LANES {
            let (from, mut to) = (self.bytes(lane), [0; BYTES]);
            for k in 0..n {
                to[offset + k * size..][..size].copy_from_slice(&from[k * step..][..size]);
            }
            self.expected.extend(to.chunks_exact(8).map(little_endian));
        }
    }
}

/// Returns the space of a mnemonic and the base register of the lane's bytes in it.
fn place(m: &FormMatch<'_>) -> (&'static str, &'static str) {
    let places =
        [("shared", "%tile"), ("local", "%stack"), ("const", "%constants"), ("param", "block")];
    let named = |space: &str| m.words.iter().flatten().any(|w| w.split("::").next() == Some(space));
    places.into_iter().find(|(space, _)| named(space)).unwrap_or(if m.form.sem == Sem::Load {
        ("global", "%in")
    } else {
        ("global", "%out")
    })
}

/// Returns the register for a value of `ty`: of its own width, or 64 bits to expose the extension.
fn register(ty: Type, wide: bool, k: usize) -> String {
    let class = match (ty, ty.bits()) {
        (Type::F32, _) => "f",
        (Type::F64, _) => "d",
        (_, 64) => "x",
        _ if wide => "x",
        (_, 32) => "w",
        _ => "h",
    };
    format!("%{class}{k}")
}

fn braced(names: &[String]) -> String {
    if names.len() == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |x, &b| x << 8 | u64::from(b))
}
