//! Scopes of a kernel: registers, variables and labels.
//!
//! A name is visible from its declaration to the end of its block. A register gets a row at its
//! first use, so that `%r<1000>` costs nothing. Labels may be used before their definition, so
//! branches are resolved at the end, from the block of the branch outwards.

use super::quads::{self, HALVES};
use super::rows::Rows;
use super::variables::Symbol;
use crate::diag::{Diagnostic, Span, closest};
use crate::isa::Type;
use crate::kernel::Register;
use crate::ptx::tree::{Name, Registers};
use std::collections::BTreeMap;

/// Registers that nvcc declares for a stack frame or a call, used or not.
const PREAMBLE: [&str; 3] = ["%SP", "%SPL", "temp_param_reg"];

/// Index of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScopeId(usize);

#[derive(Clone, Copy)]
struct Declared {
    ty: Type,
    span: Span,
    /// Number of registers in a range; `None` for a single name.
    count: Option<u32>,
}

struct Label {
    at: usize,
    span: Span,
    used: bool,
}

#[derive(Default)]
struct Scope {
    parent: Option<ScopeId>,
    singles: BTreeMap<String, Declared>,
    /// Ranges by name without number.
    ranges: BTreeMap<String, Declared>,
    symbols: BTreeMap<String, Symbol>,
    labels: BTreeMap<String, Label>,
}

/// Index of a used register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used(usize);

struct Use {
    name: String,
    ty: Type,
    register: Register,
    first_read: Option<Span>,
    written: bool,
}

/// All scopes of a kernel.
pub(super) struct Scopes {
    all: Vec<Scope>,
    current: ScopeId,
    used: Vec<Use>,
    rows_of: BTreeMap<(ScopeId, String), Used>,
}

impl Scopes {
    /// Creates the outermost scope of a kernel.
    pub(super) fn new() -> Scopes {
        Scopes {
            all: vec![Scope::default()],
            current: ScopeId(0),
            used: Vec::new(),
            rows_of: BTreeMap::new(),
        }
    }

    /// Returns the current scope.
    pub(super) fn current(&self) -> ScopeId {
        self.current
    }

    /// Enters a new scope.
    pub(super) fn enter(&mut self) {
        self.all.push(Scope { parent: Some(self.current), ..Scope::default() });
        self.current = ScopeId(self.all.len() - 1);
    }

    /// Leaves the current scope.
    pub(super) fn leave(&mut self) {
        self.current = self.all[self.current.0].parent.unwrap_or(ScopeId(0));
    }

    /// Returns a scope and its enclosing scopes, innermost first.
    fn outwards(&self, from: ScopeId) -> impl Iterator<Item = ScopeId> + '_ {
        std::iter::successors(Some(from), |id| self.all[id.0].parent)
    }

    /// Declares the registers of a `.reg` line.
    pub(super) fn declare(&mut self, line: &Registers, diagnostics: &mut Vec<Diagnostic>) {
        if line.ty.text == "b128" {
            let halves = HALVES.map(|suffix| {
                let mut line = line.clone();
                line.ty.text = "b64".into();
                line.names.iter_mut().for_each(|(name, _)| name.text.push_str(suffix));
                line
            });
            let before = diagnostics.len();
            self.declare(&halves[0], diagnostics);
            if diagnostics.len() == before {
                self.declare(&halves[1], diagnostics);
            }
            return;
        }
        let Some(ty) = Type::from_name(&line.ty.text) else {
            let message = format!("unknown register type `.{}`", line.ty.text);
            diagnostics.push(Diagnostic::error("unknown-type", line.ty.span, message).help(
                "use .pred .b16 .b32 .b64 .b128 .u16 .u32 .u64 .s16 .s32 .s64 .f16 .f32 or \
                     .f64",
            ));
            return;
        };
        if line.vector != 1 {
            diagnostics.push(
                Diagnostic::error(
                    "vector-register",
                    line.span,
                    "vector registers are not supported",
                )
                .help("declare one register per element and write them in braces: `{%a, %b}`"),
            );
            return;
        }
        for (name, count) in &line.names {
            let clash = self.clash(&name.text, *count);
            if let Some(earlier) = clash {
                diagnostics.push(
                    Diagnostic::error(
                        "duplicate-register",
                        name.span,
                        format!("`{}` is declared twice", name.text),
                    )
                    .also(earlier, "first declared here"),
                );
                continue;
            }
            let scope = &mut self.all[self.current.0];
            let table = if count.is_some() { &mut scope.ranges } else { &mut scope.singles };
            table.insert(name.text.clone(), Declared { ty, span: name.span, count: *count });
        }
    }

    /// Returns an earlier declaration in this scope with one of the same registers.
    fn clash(&self, name: &str, count: Option<u32>) -> Option<Span> {
        let scope = &self.all[self.current.0];
        match count {
            None => {
                scope.singles.get(name).or_else(|| range_of(&scope.ranges, name)).map(|d| d.span)
            }
            Some(count) => scope.ranges.get(name).map(|d| d.span).or_else(|| {
                let member =
                    |single: &String| number_after(single, name).is_some_and(|n| n < count);
                scope.singles.iter().find(|(single, _)| member(single)).map(|(_, d)| d.span)
            }),
        }
    }

    /// Adds a variable to the current scope.
    pub(super) fn add_symbol(
        &mut self,
        name: &Name,
        symbol: Symbol,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        if let Some(earlier) = self.all[self.current.0].symbols.insert(name.text.clone(), symbol) {
            diagnostics.push(
                Diagnostic::error(
                    "duplicate-variable",
                    name.span,
                    format!("`{}` is declared twice", name.text),
                )
                .also(earlier.span, "first declared here"),
            );
        }
    }

    /// Finds a variable by name.
    pub(super) fn symbol(&self, name: &str) -> Option<Symbol> {
        self.outwards(self.current).find_map(|id| self.all[id.0].symbols.get(name)).copied()
    }

    /// Finds a declaration by the name of a register.
    fn declared(&self, name: &str) -> Option<(ScopeId, Declared)> {
        self.outwards(self.current).find_map(|id| {
            let scope = &self.all[id.0];
            let declared = scope.singles.get(name).or_else(|| range_of(&scope.ranges, name))?;
            Some((id, *declared))
        })
    }

    /// Finds a register by name, and assigns a row at its first use.
    pub(super) fn register(&mut self, name: &str, rows: &mut Rows) -> Option<Used> {
        let (scope, declared) = self.declared(name)?;
        let key = (scope, name.to_string());
        if let Some(&used) = self.rows_of.get(&key) {
            return Some(used);
        }
        let used = Used(self.used.len());
        let register = rows.author(declared.ty);
        self.used.push(Use {
            name: name.into(),
            ty: declared.ty,
            register,
            first_read: None,
            written: false,
        });
        self.rows_of.insert(key, used);
        Some(used)
    }

    /// Returns a register's row and its declared type.
    pub(super) fn about(&self, used: Used) -> (Register, Type) {
        (self.used[used.0].register, self.used[used.0].ty)
    }

    /// Records a read of a register.
    pub(super) fn read(&mut self, used: Used, span: Span) {
        self.used[used.0].first_read.get_or_insert(span);
    }

    /// Records a write of a register.
    pub(super) fn wrote(&mut self, used: Used) {
        self.used[used.0].written = true;
    }

    /// Returns a help line for an unknown name.
    pub(super) fn suggestion(&self, name: &str, others: &[&str]) -> Option<String> {
        if self.declared(&format!("{name}{}", HALVES[0])).is_some() {
            let uses = "`mov.b128`, `ld.b128`, `st.b128` and `atom.b128`";
            return Some(format!("`{name}` has 128 bits: it is an operand of {uses} only"));
        }
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = name.split_at(name.len() - digits);
        let scopes: Vec<&Scope> = self.outwards(self.current).map(|id| &self.all[id.0]).collect();
        if let Some(count) = scopes.iter().find_map(|s| s.ranges.get(stem)).and_then(|d| d.count)
            && digits > 0
        {
            return Some(match count {
                0 => format!("`{stem}<0>` declares no register"),
                n => format!("`{stem}<{n}>` declares `{stem}0` to `{stem}{}`", n - 1),
            });
        }
        let numbered: Vec<String> = scopes
            .iter()
            .flat_map(|s| s.ranges.keys())
            .map(|range| format!("{range}{number}"))
            .collect();
        let known = scopes.iter().flat_map(|s| s.singles.keys().chain(s.symbols.keys()));
        let known = known.chain(numbered.iter()).map(String::as_str).chain(others.iter().copied());
        closest(name, known).map(|near| format!("did you mean `{near}`?"))
    }

    /// Adds a label at instruction `at`.
    pub(super) fn add_label(&mut self, name: &Name, at: usize, diagnostics: &mut Vec<Diagnostic>) {
        let labels = &mut self.all[self.current.0].labels;
        if let Some(earlier) = labels.get(&name.text) {
            diagnostics.push(
                Diagnostic::error(
                    "duplicate-label",
                    name.span,
                    format!("label `{}` is defined twice", name.text),
                )
                .also(earlier.span, "first defined here"),
            );
            return;
        }
        labels.insert(name.text.clone(), Label { at, span: name.span, used: false });
    }

    /// Returns the instruction after a label visible from `scope`.
    pub(super) fn label(&mut self, name: &Name, scope: ScopeId) -> Result<usize, Diagnostic> {
        let holder = self.outwards(scope).find(|id| self.all[id.0].labels.contains_key(&name.text));
        if let Some(label) = holder.and_then(|id| self.all[id.0].labels.get_mut(&name.text)) {
            label.used = true;
            return Ok(label.at);
        }
        let labels =
            self.outwards(scope).flat_map(|id| self.all[id.0].labels.keys()).map(String::as_str);
        let message = format!("cannot find label `{}`", name.text);
        let mut error = Diagnostic::error("unknown-label", name.span, message);
        error.help = closest(&name.text, labels).map(|near| format!("did you mean `{near}`?"));
        Err(error)
    }

    /// Returns true if instruction `at` has a label.
    pub(super) fn labelled(&self, at: usize) -> bool {
        self.all.iter().flat_map(|s| s.labels.values()).any(|label| label.at == at)
    }

    /// Returns the declared registers, and warns of unused names.
    ///
    /// Valid only for a kernel without errors, because a faulty line does not count as a use.
    /// Register ranges and labels that compilers generate cause no warnings.
    pub(super) fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Vec<(String, Register, Type)> {
        let mut warnings = Vec::new();
        for (i, scope) in self.all.iter().enumerate() {
            for (name, declared) in &scope.singles {
                // Both halves of a register of 128 bits are used, or none.
                let upper = quads::parts_of(name).1 == HALVES[1];
                let quiet = PREAMBLE.contains(&name.as_str()) || upper;
                if !quiet && !self.rows_of.contains_key(&(ScopeId(i), name.clone())) {
                    let message = format!("unused register `{}`", quads::parts_of(name).0);
                    warnings.push(Diagnostic::warning("unused-register", declared.span, message));
                }
            }
            for (name, label) in &scope.labels {
                if !label.used && !is_generated(name) {
                    let message = format!("unused label `{name}`");
                    warnings.push(Diagnostic::warning("unused-label", label.span, message));
                }
            }
        }
        for used in self.used.iter().filter(|used| !used.written) {
            if let Some(span) = used.first_read {
                let (name, suffix) = quads::parts_of(&used.name);
                if suffix == HALVES[1] {
                    continue;
                }
                let message = format!("register `{name}` is read but never written");
                let warning = Diagnostic::warning("never-written", span, message);
                warnings.push(warning.help("write it first; it holds 0 in every lane"));
            }
        }
        warnings.sort_by_key(|w| w.labels.first().map(|l| l.span));
        diagnostics.extend(warnings);
        self.used.into_iter().map(|u| (u.name, u.register, u.ty)).collect()
    }
}

/// Returns true for a label that a compiler made: `$L..`, and those of debug information in LLVM
/// up to version 15 (`Ltmp0`).
fn is_generated(label: &str) -> bool {
    let stems = ["Lfunc_begin", "Lfunc_end", "Ltmp"];
    label.starts_with('$') || stems.iter().any(|stem| number_after(label, stem).is_some())
}

/// Parses the number after `stem` in `name`, without leading zeros.
fn number_after(name: &str, stem: &str) -> Option<u32> {
    let digits = name.strip_prefix(stem)?;
    let plain =
        digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()));
    if plain { digits.parse().ok() } else { None }
}

/// Finds the range that contains `name`.
///
/// The name of a range can end in digits: `%r1<5>` declares `%r10` to `%r14`.
fn range_of<'a>(ranges: &'a BTreeMap<String, Declared>, name: &str) -> Option<&'a Declared> {
    let (name, suffix) = quads::parts_of(name);
    let shortest = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    (shortest..name.len()).filter(|&end| name.is_char_boundary(end)).find_map(|end| {
        let declared = match suffix {
            "" => ranges.get(&name[..end])?,
            _ => ranges.get(&format!("{}{suffix}", &name[..end]))?,
        };
        let number = number_after(name, &name[..end])?;
        declared.count.is_some_and(|count| number < count).then_some(declared)
    })
}
