//! Facts to the `//@` lines of a `.sass` file.

use std::fmt::Write;

use super::{
    BankFacts, FunctionFacts, KernelFacts, MARK, ModuleFacts, RelocationFacts, VariableFacts, hex,
};

/// Longest line in columns, unless one item alone is longer.
const COLUMNS: usize = 100;
/// Bytes of a row of hexadecimal digits.
const ROW: usize = 32;

/// Writes the facts as `//@` lines. Equal facts give equal text.
pub fn write(facts: &ModuleFacts) -> String {
    let mut w = Writer { out: String::new(), depth: 0 };
    w.open("Module(");
    w.line(&format!("arch: {},", facts.arch));
    w.open("kernels: [");
    for kernel in &facts.kernels {
        w.kernel(kernel);
    }
    w.close("],");
    w.nested("variables", &facts.variables, Writer::variable);
    w.nested("banks", &facts.banks, Writer::bank);
    if facts.banks_before > 0 {
        w.line(&format!("banks_before: {},", facts.banks_before));
    }
    w.nested("functions", &facts.functions, Writer::function);
    w.close(")");
    w.out
}

struct Writer {
    out: String,
    depth: usize,
}

impl Writer {
    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{MARK} {:1$}{text}", "", 4 * self.depth);
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    fn close(&mut self, text: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(text);
    }

    /// Writes items, several a line.
    fn filled(&mut self, items: impl Iterator<Item = String>) {
        let width = COLUMNS.saturating_sub(MARK.len() + 1 + 4 * self.depth);
        let mut row = String::new();
        for item in items {
            if !row.is_empty() && row.len() + 1 + item.len() > width {
                self.line(&row);
                row.clear();
            }
            if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(&item);
        }
        if !row.is_empty() {
            self.line(&row);
        }
    }

    /// Writes a list field, unless it is empty.
    fn list<T>(&mut self, name: &str, items: &[T], text: impl Fn(&T) -> String) {
        if items.is_empty() {
            return;
        }
        self.open(&format!("{name}: ["));
        self.filled(items.iter().map(|item| text(item) + ","));
        self.close("],");
    }

    /// Writes a list field of structures, unless it is empty.
    fn nested<T>(&mut self, name: &str, items: &[T], one: impl Fn(&mut Writer, &T)) {
        if items.is_empty() {
            return;
        }
        self.open(&format!("{name}: ["));
        for item in items {
            one(self, item);
        }
        self.close("],");
    }

    fn kernel(&mut self, k: &KernelFacts) {
        self.open("Kernel(");
        self.line(&format!("name: {:?},", k.name));
        let mut sizes = vec![format!("registers: {},", k.registers)];
        if k.code != 0 {
            sizes.insert(0, format!("code: {:#x},", k.code));
        }
        let optional = [
            ("shared", k.shared),
            ("reserved_shared", k.reserved_shared),
            ("stack", k.stack),
            ("barriers", k.barriers),
        ];
        let given = optional.iter().filter(|(_, value)| *value != 0);
        sizes.extend(given.map(|(name, value)| format!("{name}: {value},")));
        self.filled(sizes.into_iter());
        if let Some(([x, y, z], required)) = k.block_limit {
            self.line(&format!("block_limit: (({x}, {y}, {z}), {required}),"));
        }
        if let Some([x, y, z]) = k.cluster {
            self.line(&format!("cluster: ({x}, {y}, {z}),"));
        }
        self.line(&format!("params_at: {:#x},", k.params_at));
        let offsets =
            |p: &super::ParameterFacts| format!("(offset: {:#x}, bytes: {})", p.offset, p.bytes);
        self.list("params", &k.params, offsets);
        self.nested("banks", &k.banks, Writer::bank);
        self.targets(&k.indirect, &k.relocations);
        let range =
            |(name, start, end): &(String, u32, u32)| format!("({name:?}, {start:#x}, {end:#x})");
        self.list("functions", &k.functions, range);
        self.source(k.source.as_deref(), &k.lines, &k.ptx_lines);
        self.close("),");
    }

    fn function(&mut self, f: &FunctionFacts) {
        self.open("Function(");
        self.line(&format!("name: {:?},", f.name));
        if f.code != 0 {
            self.line(&format!("code: {:#x},", f.code));
        }
        self.targets(&f.indirect, &f.relocations);
        self.source(f.source.as_deref(), &f.lines, &f.ptx_lines);
        self.close("),");
    }

    fn targets(&mut self, indirect: &[(u32, Vec<u32>)], relocations: &[RelocationFacts]) {
        self.list("indirect", indirect, |(at, targets)| {
            let targets: Vec<String> = targets.iter().map(|to| format!("{to:#x}")).collect();
            format!("({at:#x}, [{}])", targets.join(", "))
        });
        self.list("relocations", relocations, |(at, part, name, addend)| {
            format!("({at:#x}, {part:?}, {name:?}, {addend:#x})")
        });
    }

    fn source(&mut self, source: Option<&str>, lines: &[(u32, u32)], ptx_lines: &[(u32, u32)]) {
        if let Some(source) = source {
            self.line(&format!("source: {source:?},"));
        }
        let pair = |(at, line): &(u32, u32)| format!("({at:#x}, {line})");
        self.list("lines", lines, pair);
        self.list("ptx_lines", ptx_lines, pair);
    }

    fn variable(&mut self, v: &VariableFacts) {
        self.open("Variable(");
        self.line(&format!("name: {:?},", v.name));
        if v.constant {
            self.line("constant: true,");
        }
        self.line(&format!("offset: {:#x}, size: {},", v.offset, v.size));
        if !v.bytes.is_empty() {
            self.bytes(&v.bytes);
        }
        self.addresses(&v.addresses);
        self.close("),");
    }

    fn bank(&mut self, bank: &BankFacts) {
        self.open("Bank(");
        self.line(&format!("bank: {},", bank.bank));
        self.bytes(&bank.bytes);
        self.addresses(&bank.addresses);
        self.close("),");
    }

    fn addresses(&mut self, addresses: &[(u32, String, u64)]) {
        self.list("addresses", addresses, |(at, name, addend)| {
            format!("({at:#x}, {name:?}, {addend:#x})")
        });
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if bytes.len() <= ROW {
            self.line(&format!("bytes: \"{}\",", hex::text(bytes)));
            return;
        }
        self.open("bytes: \"");
        for row in bytes.chunks(ROW) {
            self.line(&hex::text(row));
        }
        self.close("\",");
    }
}
