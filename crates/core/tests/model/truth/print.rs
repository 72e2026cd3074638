//! Prints a program of element-wise forms as PTX: loads operands once, then runs each form and
//! stores its result.

use std::collections::BTreeMap;
use std::fmt::Write;

use simt_core::isa::{Agreement, FormMatch, OperandKind, Type, TypeRef};

use super::tables::{Layout, bits, directives, kind};

/// Truth tables and other immediates of forms.
const IMMEDIATES: [u32; 6] = [0x80, 0xfe, 0x96, 0xe8, 0xca, 0x1b];

/// A program under construction.
pub(super) struct Page {
    name: String,
    layout: Layout,
    /// Operand roles of each kind.
    operands: BTreeMap<String, String>,
    /// Output buffers: name and element type.
    outputs: Vec<(String, &'static str)>,
    body: String,
}

impl Page {
    pub(super) fn new(name: &str, layout: Layout) -> Page {
        Page {
            name: name.to_string(),
            layout,
            operands: BTreeMap::new(),
            outputs: Vec::new(),
            body: String::new(),
        }
    }

    /// Adds a form, once for each value of an immediate.
    pub(super) fn form(&mut self, found: &FormMatch<'_>) {
        let immediate = found.form.operands.iter().any(|o| o.kind == OperandKind::Immediate);
        if immediate {
            for value in IMMEDIATES {
                self.instance(found, Some(value));
            }
        } else {
            self.instance(found, None);
        }
    }

    fn source(&mut self, kind: &str, role: char) -> String {
        let roles = self.operands.entry(kind.to_string()).or_default();
        if !roles.contains(role) {
            roles.push(role);
        }
        format!("%{role}_{kind}")
    }

    fn instance(&mut self, found: &FormMatch<'_>, immediate: Option<u32>) {
        let mnemonic = found.mnemonic();
        let mut operands = Vec::new();
        let (mut roles, mut counts, mut predicates) =
            ("abc".chars(), "nm".chars(), ["%q", "!%r"].into_iter());
        let mut result = Type::B32;
        let mut is_predicate = false;
        // An optional operand is that of a second operation.
        let combines = ["add", "min", "max"].iter().any(|word| found.has(word));
        for operand in found.form.operands.iter().filter(|o| !o.optional || combines) {
            let ty = match operand.kind {
                OperandKind::Value(ty) | OperandKind::Wider(ty) | OperandKind::Moved(ty) => {
                    Some(ty)
                }
                _ => None,
            };
            let text = match (operand.kind, ty) {
                // 16-bit floats have one predicate, pairs of them one per half.
                (OperandKind::PredicatePair, _)
                    if matches!(found.second_type(), Type::F16 | Type::BF16) =>
                {
                    is_predicate = true;
                    "%s".to_string()
                }
                (OperandKind::PredicatePair, _) => {
                    is_predicate = true;
                    "%s|%t".to_string()
                }
                (OperandKind::Predicate, _) if operand.result => {
                    is_predicate = true;
                    "%s".to_string()
                }
                (OperandKind::Predicate, _) => {
                    predicates.next().unwrap_or("%q").trim_start_matches('!').to_string()
                }
                (OperandKind::Immediate, _) => format!("{:#x}", immediate.unwrap_or(0)),
                (_, Some(ty)) if operand.result => {
                    result = found.resolve(ty);
                    format!("%x{}", register_bits(result))
                }
                (_, Some(TypeRef::Fixed(Type::U32))) => {
                    let role = counts.next().unwrap_or('n');
                    self.source("counts", role)
                }
                (_, Some(ty)) => {
                    let ty = found.resolve(ty);
                    let kind = if ty.bits() == 8 { "i32".to_string() } else { kind(ty) };
                    let role = roles.next().unwrap_or('c');
                    self.source(&kind, role)
                }
                _ => continue,
            };
            operands.push(text);
        }
        let mut name = mnemonic.replace("::", "_").replace('.', "_");
        if let Some(value) = immediate {
            let _ = write!(name, "_{value:02x}");
        }
        let carry = Carry::of(found);
        let pair = operands.first().is_some_and(|o| o == "%s|%t");
        let out = &mut self.body;
        // Writing to a string cannot fail.
        let _ = writeln!(out);
        if let Some(Carry { chain, reads: true, .. }) = carry {
            // Both carries occur: the third operand cycles through the corners.
            let _ = writeln!(out, "    {chain}.cc.u32 %y32, %n_counts, %m_counts;");
        }
        let _ = writeln!(out, "    {mnemonic} {};", operands.join(", "));
        if let Some(Carry { chain, writes: true, .. }) = carry {
            let _ = writeln!(out, "    {chain}c.u32 %y32, 0, 0;");
        }
        let (element, register) = if is_predicate {
            let _ = writeln!(out, "    selp.b32 %x32, 1, 0, %s;");
            if pair {
                let _ = writeln!(out, "    @%t or.b32 %x32, %x32, 2;");
            }
            ("b8", "%x32".to_string())
        } else {
            let width = register_bits(result);
            let element = match (found.form.agreement, result) {
                (Agreement::Exact, _) => ["b16", "b32", "b64"][width as usize / 32],
                (_, ty) => ty.name(),
            };
            (element, format!("%x{width}"))
        };
        let (bytes, store) = match element {
            "b8" => (1, "b8"),
            "b16" => (2, "b16"),
            "b64" | "f64" => (8, "b64"),
            _ => (4, "b32"),
        };
        let _ = writeln!(out, "    ld.param.u64 %p, [{name}];");
        let _ = writeln!(out, "    mad.wide.u32 %p, %i, {bytes}, %p;");
        let _ = writeln!(out, "    st.global.{store} [%p], {register};");
        if let Some(Carry { writes: true, .. }) = carry {
            let _ = writeln!(out, "    ld.param.u64 %p, [{name}_carry];");
            let _ = writeln!(out, "    mad.wide.u32 %p, %i, 1, %p;");
            let _ = writeln!(out, "    st.global.b8 [%p], %y32;");
            self.outputs.push((format!("{name}_carry"), "b8"));
        }
        self.outputs.push((name, element));
        if let Some(Carry { reads: true, .. }) = carry {
            self.source("counts", 'n');
            self.source("counts", 'm');
        }
    }

    /// Returns the whole text.
    pub(super) fn print(&self) -> String {
        let threads = self.layout.threads();
        let mut out = header(&self.name, threads);
        let mut buffers = Vec::new();
        for (kind, roles) in &self.operands {
            directives(kind, self.layout, roles, &mut out);
            buffers.extend(roles.chars().map(|role| (format!("{role}_{kind}"), bits(kind))));
        }
        for (name, element) in &self.outputs {
            let _ = writeln!(out, "//! buffer {name}: {element}[{threads}]");
        }
        let names: Vec<&str> = buffers
            .iter()
            .map(|(name, _)| name.as_str())
            .chain(self.outputs.iter().map(|(n, _)| n.as_str()))
            .collect();
        out += &entry(&self.name, &names);
        out += "    .reg .pred %q, %r;\n    .reg .b32 %i, %x32;\n    .reg .b64 %p;\n";
        for (register, ty) in
            [("%s", "pred"), ("%t", "pred"), ("%x16", "b16"), ("%y32", "b32"), ("%x64", "b64")]
        {
            if self.body.contains(register) {
                let _ = writeln!(out, "    .reg .{ty} {register};");
            }
        }
        for (name, bits) in &buffers {
            let _ = writeln!(out, "    .reg .b{bits} %{name};");
        }
        out += "\n    mov.u32 %i, %tid.x;\n    mul.lo.u32 %x32, %i, 0x9e3779b1;\n    setp.lt.s32 %q, %x32, 0;\n";
        out += "    and.b32 %x32, %x32, 0x40000000;\n    setp.ne.u32 %r, %x32, 0;\n";
        for (name, bits) in &buffers {
            let _ = writeln!(out, "    ld.param.u64 %p, [{name}];");
            let _ = writeln!(out, "    mad.wide.u32 %p, %i, {}, %p;", bits / 8);
            let _ = writeln!(out, "    ld.global.b{bits} %{name}, [%p];");
        }
        out += &self.body;
        out += "    ret;\n}\n";
        out
    }
}

/// Connection of a form with its neighbours by the condition code.
#[derive(Clone, Copy)]
struct Carry {
    /// `add` or `sub`: sets and shows the code in the same sense.
    chain: &'static str,
    reads: bool,
    writes: bool,
}

impl Carry {
    fn of(found: &FormMatch<'_>) -> Option<Carry> {
        let opcode = found.form.opcode.as_str();
        let reads = ["addc", "subc", "madc"].contains(&opcode);
        let chain = if opcode.starts_with("sub") { "sub" } else { "add" };
        (reads || found.has("cc")).then(|| Carry { chain, reads, writes: found.has("cc") })
    }
}

/// Returns the register width of a type; values narrower than 16 bits are in 32-bit registers.
fn register_bits(ty: Type) -> u32 {
    if ty.bits() == 8 { 32 } else { ty.bits() }
}

/// Returns the start of every program.
pub(super) fn header(name: &str, threads: usize) -> String {
    format!(
        "// Generated by tests/suite/truth.rs; do not edit.\n//! title  Truth: {}\n//! grid   = 1\n//! block  = {threads}\n",
        name.replace('_', " ")
    )
}

/// Returns an argument for each buffer, the header lines of PTX, and the kernel up to its `{`.
pub(super) fn entry(kernel: &str, buffers: &[&str]) -> String {
    let mut out = String::new();
    for name in buffers {
        let _ = writeln!(out, "//! arg {name} = {name}");
    }
    out += ".version 8.6\n.target sm_90\n.address_size 64\n\n";
    let _ = writeln!(out, ".visible .entry {kernel}(");
    let params: Vec<String> =
        buffers.iter().map(|name| format!("    .param .u64 {name}")).collect();
    out += &params.join(",\n");
    out += "\n)\n{\n";
    out
}
