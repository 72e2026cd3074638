//! Loads, stores and atomics, each thread at its own address, so no result depends on an order.

use std::collections::BTreeMap;
use std::fmt::Write;

use simt_core::isa::{Class, Form, FormMatch, Isa, Sem};

use super::forms::mnemonics;
use super::print::{entry, header};
use super::tables::{Layout, bits, directives, kind};

/// Threads of the load and store programs; each has sixteen bytes of every space.
const THREADS: usize = 64;

pub(super) fn programs() -> Vec<(&'static str, String)> {
    vec![
        ("loads", loads()),
        ("stores", stores()),
        ("atomics_global", atomics("atomics_global", Class::AtomicGlobal)),
        ("atomics_shared", atomics("atomics_shared", Class::AtomicShared)),
    ]
}

/// Returns the mnemonics to run of the rows with this meaning: each type and modifier at least
/// once.
fn uses(sem: Sem, wanted: impl Fn(&Form) -> bool) -> Vec<FormMatch<'static>> {
    let isa = Isa::ptx();
    let rows = isa.rows().iter().filter(|row| row.sem == sem && wanted(row));
    let written = rows.flat_map(|row| mnemonics(row, 0, 0));
    // The rows accept slightly more than NVIDIA's assembler.
    let refused = |found: &FormMatch<'_>| {
        found.has("param::func")
            || found.has("nc") && ["weak", "lu", "cv"].iter().any(|word| found.has(word))
            // Not recorded on a GPU.
            || found.has("volatile") && found.has("local")
    };
    let found = written.filter_map(|mnemonic| isa.lookup(&mnemonic).ok());
    found.filter(|found| found.ty().bits() * lanes(found) <= 128 && !refused(found)).collect()
}

/// Returns the elements of a vector access.
fn lanes(found: &FormMatch<'_>) -> u32 {
    found.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1)
}

fn name_of(found: &FormMatch<'_>) -> String {
    found.mnemonic().replace("::", "_").replace('.', "_")
}

/// Returns the registers of an access and the bytes shown of each. Narrow values are in 32-bit
/// registers, to expose their extension.
fn registers(found: &FormMatch<'_>) -> (Vec<String>, u32) {
    let (letter, bytes) = if found.ty().bits() == 64 { ('d', 8) } else { ('w', 4) };
    ((0..lanes(found)).map(|n| format!("%{letter}{n}")).collect(), bytes)
}

fn group(registers: &[String]) -> String {
    match registers {
        [one] => one.clone(),
        many => format!("{{{}}}", many.join(", ")),
    }
}

/// Returns the address of each thread's sixteen bytes of a space.
fn place(found: &FormMatch<'_>) -> &'static str {
    let places = [
        ("shared", "%tile"),
        ("shared::cta", "%tile"),
        ("local", "stack"),
        ("const", "%table"),
        ("param", "pack"),
        ("param::entry", "pack"),
    ];
    found.pick(&places).unwrap_or("%bytes")
}

/// Start of both programs: addresses, and the same bytes in shared and local memory.
const PLACES: &str = "    .reg .b32 %i, %w<4>;
    .reg .b64 %p, %bytes, %tile, %table, %d<4>;
    .shared .align 16 .b8 tile[1024];
    .local .align 16 .b8 stack[16];

    mov.u32 %i, %tid.x;
    ld.param.u64 %bytes, [bytes];
    mad.wide.u32 %bytes, %i, 16, %bytes;
    mov.u64 %tile, tile;
    mad.wide.u32 %tile, %i, 16, %tile;
    mov.u64 %table, table;
    mad.wide.u32 %table, %i, 16, %table;
    ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%bytes];
    st.shared.v4.b32 [%tile], {%w0, %w1, %w2, %w3};
    st.local.v4.b32 [stack], {%w0, %w1, %w2, %w3};
";

/// Returns some bits, the same in every run.
fn noise(n: u64) -> u32 {
    let z = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ z >> 27) as u32
}

/// Inserts the constant table before the kernel.
fn with_table(text: &str) -> String {
    let values: Vec<String> =
        (0..THREADS as u64 * 4).map(|n| format!("{:#010x}", noise(n))).collect();
    let lines: Vec<String> =
        values.chunks(8).map(|line| format!("    {}", line.join(", "))).collect();
    let table =
        format!(".const .align 16 .b32 table[256] = {{\n{}\n}};\n\n.visible", lines.join(",\n"));
    text.replacen(".visible", &table, 1)
}

fn loads() -> String {
    let mut out = header("loads", THREADS);
    let (mut body, mut names) = (String::new(), vec!["bytes".to_string()]);
    let _ = writeln!(out, "//! buffer bytes: u8[1024] = random(5, 0..256)");
    for found in uses(Sem::Load, |_| true) {
        let name = name_of(&found);
        let (into, bytes) = registers(&found);
        let _ = writeln!(body, "\n    {} {}, [{}];", found.mnemonic(), group(&into), place(&found));
        let _ = writeln!(body, "    ld.param.u64 %p, [{name}];");
        let _ = writeln!(body, "    mad.wide.u32 %p, %i, {}, %p;", bytes * into.len() as u32);
        for (n, register) in into.iter().enumerate() {
            let _ = writeln!(
                body,
                "    st.global.b{} [%p+{}], {register};",
                bytes * 8,
                n as u32 * bytes
            );
        }
        let _ = writeln!(out, "//! buffer {name}: b{}[{}]", bytes * 8, THREADS * into.len());
        names.push(name);
    }
    let packed: Vec<String> = (0..16).map(|n| (noise(1000 + n) & 0xff).to_string()).collect();
    let _ = writeln!(out, "//! arg pack = [{}]", packed.join(", "));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    out += &entry("loads", &names).replacen(
        "entry loads(\n",
        "entry loads(\n    .param .align 16 .b8 pack[16],\n",
        1,
    );
    with_table(&(out + PLACES + &body + "    ret;\n}\n"))
}

fn stores() -> String {
    let mut out = header("stores", THREADS);
    let (mut body, mut names) = (String::new(), vec!["bytes".to_string()]);
    let _ = writeln!(out, "//! buffer bytes: u8[1024] = random(6, 0..256)");
    for n in 0..4 {
        let _ = writeln!(body, "    ld.global.b64 %d{n}, [%bytes+{}];", n % 2 * 8);
    }
    for found in uses(Sem::Store, |row| row.class != Class::Move) {
        let name = name_of(&found);
        let (from, _) = registers(&found);
        let at = place(&found);
        let _ =
            writeln!(body, "\n    ld.param.u64 %p, [{name}];\n    mad.wide.u32 %p, %i, 16, %p;");
        if at == "%bytes" {
            let _ = writeln!(body, "    {} [%p], {};", found.mnemonic(), group(&from));
        } else {
            let space = if at == "stack" { "local" } else { "shared" };
            let _ = writeln!(body, "    st.{space}.v4.b32 [{at}], {{%i, %i, %i, %i}};");
            let _ = writeln!(body, "    {} [{at}], {};", found.mnemonic(), group(&from));
            for part in 0..4 {
                let _ = writeln!(body, "    ld.{space}.b32 %e, [{at}+{}];", part * 4);
                let _ = writeln!(body, "    st.global.b32 [%p+{}], %e;", part * 4);
            }
        }
        let _ = writeln!(out, "//! buffer {name}: b32[{}]", THREADS * 4);
        names.push(name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    out += &entry("stores", &names);
    // No constants here.
    let places = PLACES.replace("%i, %w<4>", "%i, %e, %w<4>").replace("%tile, %table,", "%tile,");
    let places: String =
        places.lines().filter(|l| !l.contains("%table")).map(|l| l.to_string() + "\n").collect();
    out + &places + &body + "    ret;\n}\n"
}

/// Prints atomics on a cell per thread: the old value, if any, and the new contents.
fn atomics(program: &str, class: Class) -> String {
    let layout = Layout::Few;
    let threads = layout.threads();
    let shared = class == Class::AtomicShared;
    let mut operands: BTreeMap<String, String> = BTreeMap::new();
    let (mut body, mut outputs) = (String::new(), Vec::new());
    let is_plain = |row: &Form| {
        row.class == class
            && row
                .operands
                .iter()
                .all(|o| !matches!(o.kind, simt_core::isa::OperandKind::Vector(_)))
    };
    for found in uses(Sem::Atomic, is_plain) {
        let (name, ty) = (name_of(&found), found.ty());
        let (kind, width) = (kind(ty), ty.bits());
        let roles = operands.entry(kind.clone()).or_default();
        let sources = found.form.operands.iter().filter(|o| !o.result).count() - 1;
        let used: String = "abc".chars().take(1 + sources).collect();
        for role in used.chars().filter(|role| !roles.contains(*role)).collect::<Vec<_>>() {
            roles.push(role);
        }
        let has_old = found.form.operands.iter().any(|o| o.result);
        let old = if has_old { format!("%x{width}, ") } else { String::new() };
        let values: Vec<String> =
            used.chars().skip(1).map(|role| format!("%{role}_{kind}")).collect();
        let bytes = width / 8;
        let _ = writeln!(
            body,
            "\n    ld.param.u64 %p, [{name}];\n    mad.wide.u32 %p, %i, {bytes}, %p;"
        );
        if shared {
            let _ = writeln!(body, "    st.shared.b{width} [%tile], %a_{kind};");
            let _ = writeln!(body, "    {} {old}[%tile], {};", found.mnemonic(), values.join(", "));
            let _ = writeln!(
                body,
                "    ld.shared.b{width} %y{width}, [%tile];\n    st.global.b{width} [%p], %y{width};"
            );
        } else {
            let _ = writeln!(body, "    {} {old}[%p], {};", found.mnemonic(), values.join(", "));
        }
        outputs.push((
            name.clone(),
            width,
            if shared { String::new() } else { format!(" = a_{kind}[i] for i") },
        ));
        if has_old {
            let _ = writeln!(
                body,
                "    ld.param.u64 %p, [{name}_old];\n    mad.wide.u32 %p, %i, {bytes}, %p;"
            );
            let _ = writeln!(body, "    st.global.b{width} [%p], %x{width};");
            outputs.push((format!("{name}_old"), width, String::new()));
        }
    }
    let mut out = header(program, threads);
    let mut inputs = Vec::new();
    for (kind, roles) in &operands {
        directives(kind, layout, roles, &mut out);
        inputs.extend(roles.chars().map(|role| (format!("{role}_{kind}"), bits(kind))));
    }
    for (name, width, start) in &outputs {
        let _ = writeln!(out, "//! buffer {name}: b{width}[{threads}]{start}");
    }
    let names: Vec<&str> = inputs
        .iter()
        .map(|(n, _)| n.as_str())
        .chain(outputs.iter().map(|(n, _, _)| n.as_str()))
        .collect();
    out += &entry(program, &names);
    out += "    .reg .b32 %i;\n    .reg .b64 %p;\n";
    for width in [16, 32, 64] {
        for letter in ["x", "y"] {
            if body.contains(&format!("%{letter}{width}")) {
                let _ = writeln!(out, "    .reg .b{width} %{letter}{width};");
            }
        }
    }
    for (name, width) in &inputs {
        let _ = writeln!(out, "    .reg .b{width} %{name};");
    }
    out += "\n    mov.u32 %i, %tid.x;\n";
    if shared {
        let _ =
            writeln!(out, "    .reg .b64 %tile;\n    .shared .align 8 .b8 tile[{}];", threads * 8);
        out += "    mov.u64 %tile, tile;\n    mad.wide.u32 %tile, %i, 8, %tile;\n";
    }
    for (name, width) in &inputs {
        let _ = writeln!(
            out,
            "    ld.param.u64 %p, [{name}];\n    mad.wide.u32 %p, %i, {}, %p;",
            width / 8
        );
        let _ = writeln!(out, "    ld.global.b{width} %{name}, [%p];");
    }
    out + &body + "    ret;\n}\n"
}
