//! Device functions and calls of a generated tree.

use std::fmt::Write as _;

use super::print::{LOOPS, Printer};
use super::program::*;

/// Maximum calls of the kernel, and of one function: limits calls of calls.
const CALLS: [u32; 2] = [6, 1];
/// Maximum loops around a call.
const LOOPS_AROUND: usize = LOOPS - 2;

/// Parameters of every function, with types: inputs, maximum call depth, and the thread's words.
const PARAMETERS: [(&str, &str); 5] =
    [("u32", "a"), ("u32", "b"), ("u32", "d"), ("u64", "in"), ("u64", "out")];

impl Printer {
    /// Prints all functions, declared before any is defined, and their table.
    pub(super) fn functions(&mut self, functions: &Functions) {
        if functions.bodies.is_empty() {
            return;
        }
        for n in 0..functions.bodies.len() {
            let _ = writeln!(self.text, ".func {};", self.signature(&format!("f{n}"), false));
        }
        let names: Vec<String> = (0..functions.bodies.len()).map(|n| format!("f{n}")).collect();
        let _ =
            writeln!(self.text, ".global .u64 table[{}] = {{{}}};", names.len(), names.join(", "));
        for (n, body) in functions.bodies.iter().enumerate() {
            self.function(n, body);
        }
    }

    /// Returns `(.param .u32 result) name (.param .u32 a, ..)`.
    fn signature(&self, name: &str, nameless: bool) -> String {
        let space = if self.registers { "reg" } else { "param" };
        let parameter = |(ty, name): &(&str, &str)| {
            let name = if nameless { "_" } else { name };
            // In register form, parameter names share a scope with the body's.
            let prefix = if self.registers && !nameless { "%p_" } else { "" };
            format!(".{space} .{ty} {prefix}{name}")
        };
        let parameters: Vec<String> = PARAMETERS.iter().map(parameter).collect();
        format!("({}) {name} ({})", parameter(&("u32", "result")), parameters.join(", "))
    }

    fn function(&mut self, n: usize, body: &[Statement]) {
        let _ = writeln!(self.text, ".func {}\n{{", self.signature(&format!("f{n}"), false));
        (self.called, self.calls) = (true, 0);
        self.declarations();
        self.line(".reg .b32 %depth;");
        for (ty, name) in PARAMETERS {
            let register = if name == "d" { "depth" } else { name };
            self.line(if self.registers {
                format!("mov.{ty} %{register}, %p_{name};")
            } else {
                format!("ld.param.{ty} %{register}, [{name}];")
            });
        }
        for slot in 0..SLOTS {
            self.line(format!(
                "st.local.u32 [own+{}], %{};",
                4 * slot,
                ["a", "lane", "depth"][usize::from(slot) % 3]
            ));
        }
        for r in 0..REGISTERS {
            let value =
                ["%a", "%b", "%depth", "%thread"].get(usize::from(r)).copied().unwrap_or("%block");
            self.line(format!("mov.u32 %r{r}, {value};"));
        }
        self.line("xor.b32 %a, %a, %b;");
        self.result("%a"); // for early returns
        self.list(body);
        self.result("%r0");
        self.line("ret;");
        self.text.push_str("}\n");
        self.called = false;
        self.calls = 0;
    }

    fn result(&mut self, register: &str) {
        self.line(if self.registers {
            format!("mov.u32 %p_result, {register};")
        } else {
            format!("st.param.u32 [result], {register};")
        });
    }

    pub(super) fn call(
        &mut self,
        guard: Option<&Condition>,
        callee: Callee,
        arguments: [Source; 2],
        depth: Source,
        to: u8,
    ) {
        if self.functions == 0
            || self.calls >= CALLS[usize::from(self.called)]
            || self.loops.len() > LOOPS_AROUND
        {
            return;
        }
        self.calls += 1;
        let (functions, end) = (self.functions, self.label("Called"));
        if self.called {
            self.line("setp.eq.u32 %p, %depth, 0;");
            self.line(format!("@%p bra {end};"));
            self.line("sub.u32 %d, %depth, 1;");
        } else {
            let depth = self.operand(depth);
            self.line(format!("rem.u32 %d, {depth}, 3;"));
        }
        let (target, table) = match callee {
            Callee::Direct(n) => (format!("f{}", usize::from(n) % functions), String::new()),
            Callee::Indirect { which, listed } => {
                let which = self.operand(which);
                self.line(format!("rem.u32 %m, {which}, {functions};"));
                self.line("mov.u64 %f, table;");
                self.line("mad.wide.u32 %f, %m, 8, %f;");
                self.line("ld.global.u64 %f, [%f];");
                let table = self.label("Table");
                if listed {
                    let names: Vec<String> = (0..functions).map(|n| format!("f{n}")).collect();
                    let _ = writeln!(self.text, "{table}: .calltargets {};", names.join(", "));
                } else {
                    let _ = writeln!(
                        self.text,
                        "{table}: .callprototype {};",
                        self.signature("_", true)
                    );
                }
                ("%f".to_string(), format!(", {table}"))
            }
        };
        let [a, b] = arguments.map(|source| self.operand(source));
        self.line(format!("mov.u32 %a, {a};"));
        self.line(format!("mov.u32 %b, {b};"));
        let guard = self.guard(guard);
        if self.registers {
            self.line(format!("{guard}call (%r{to}), {target}, (%a, %b, %d, %in, %out){table};"));
        } else {
            self.line("{");
            for (ty, name) in PARAMETERS {
                self.line(format!(".param .{ty} to_{name};"));
                self.line(format!("st.param.{ty} [to_{name}], %{name};"));
            }
            self.line(".param .u32 back;");
            let to_all = PARAMETERS.map(|(_, name)| format!("to_{name}")).join(", ");
            self.line(format!("{guard}call (back), {target}, ({to_all}){table};"));
            // ptxas allows no guard here.
            self.line("ld.param.u32 %m, [back];");
            self.line("}");
            self.line(format!("{guard}mov.u32 %r{to}, %m;"));
        }
        if self.called {
            self.place(&end);
        }
    }
}
