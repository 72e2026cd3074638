//! Names of a kernel: registers, variables and labels, each known from its declaration to the end of its block.
//!
//! A declared register gets a row when it is first used, so that `%r<1000>` costs nothing. Labels may be used before they
//! stand in the text, so branches are resolved at the end, from the block of the branch outwards.

use super::rows::Rows;
use super::variables::Symbol;
use crate::diag::{Diagnostic, Span, closest};
use crate::isa::Type;
use crate::kernel::Register;
use crate::ptx::tree::{Name, Registers};
use std::collections::BTreeMap;

/// Registers that nvcc declares wherever there is a stack frame or a call, used or not.
const PREAMBLE: [&str; 3] = ["%SP", "%SPL", "temp_param_reg"];

/// A block of the kernel's text, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScopeId(usize);

#[derive(Clone, Copy)]
struct Declared {
    ty: Type,
    span: Span,
    /// How many registers a range declares; `None` for a single name.
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
    /// Single registers by name, and ranges by the name without number.
    singles: BTreeMap<String, Declared>,
    ranges: BTreeMap<String, Declared>,
    symbols: BTreeMap<String, Symbol>,
    labels: BTreeMap<String, Label>,
}

/// A register in use, as an index into the table of used registers.
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
    /// The kernel's outermost block.
    pub(super) fn new() -> Scopes {
        Scopes { all: vec![Scope::default()], current: ScopeId(0), used: Vec::new(), rows_of: BTreeMap::new() }
    }

    /// The block that is being read.
    pub(super) fn current(&self) -> ScopeId {
        self.current
    }

    /// Enters a block.
    pub(super) fn enter(&mut self) {
        self.all.push(Scope { parent: Some(self.current), ..Scope::default() });
        self.current = ScopeId(self.all.len() - 1);
    }

    /// Leaves a block.
    pub(super) fn leave(&mut self) {
        self.current = self.all[self.current.0].parent.unwrap_or(ScopeId(0));
    }

    /// A scope and the ones around it, innermost first.
    fn outwards(&self, from: ScopeId) -> impl Iterator<Item = ScopeId> + '_ {
        std::iter::successors(Some(from), |id| self.all[id.0].parent)
    }

    /// Declares the registers of a `.reg` line.
    pub(super) fn declare(&mut self, line: &Registers, diagnostics: &mut Vec<Diagnostic>) {
        let Some(ty) = Type::from_name(&line.ty.text) else {
            let message = format!("there is no register type `.{}`", line.ty.text);
            diagnostics.push(
                Diagnostic::error("unknown-type", line.ty.span, message)
                    .help("register types are .pred .b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f16 .f32 .f64"),
            );
            return;
        };
        if line.vector != 1 {
            diagnostics.push(
                Diagnostic::error("vector-register", line.span, "vector registers are not supported")
                    .help("declare one register for each element and write them in braces: {%a, %b}"),
            );
            return;
        }
        for (name, count) in &line.names {
            let clash = self.clash(&name.text, *count);
            if let Some(earlier) = clash {
                diagnostics.push(
                    Diagnostic::error("duplicate-register", name.span, format!("`{}` is declared twice", name.text))
                        .also(earlier, "first declared here"),
                );
                continue;
            }
            let scope = &mut self.all[self.current.0];
            let table = if count.is_some() { &mut scope.ranges } else { &mut scope.singles };
            table.insert(name.text.clone(), Declared { ty, span: name.span, count: *count });
        }
    }

    /// An earlier declaration in this scope that names one of the same registers.
    fn clash(&self, name: &str, count: Option<u32>) -> Option<Span> {
        let scope = &self.all[self.current.0];
        match count {
            None => scope.singles.get(name).or_else(|| range_of(&scope.ranges, name)).map(|d| d.span),
            Some(count) => scope.ranges.get(name).map(|d| d.span).or_else(|| {
                let member = |single: &String| number_behind(single, name).is_some_and(|n| n < count);
                scope.singles.iter().find(|(single, _)| member(single)).map(|(_, d)| d.span)
            }),
        }
    }

    /// Adds a variable to the current block.
    pub(super) fn add_symbol(&mut self, name: &Name, symbol: Symbol, diagnostics: &mut Vec<Diagnostic>) {
        if let Some(earlier) = self.all[self.current.0].symbols.insert(name.text.clone(), symbol) {
            diagnostics.push(
                Diagnostic::error("duplicate-variable", name.span, format!("`{}` is declared twice", name.text))
                    .also(earlier.span, "first declared here"),
            );
        }
    }

    /// The variable of that name.
    pub(super) fn symbol(&self, name: &str) -> Option<Symbol> {
        self.outwards(self.current).find_map(|id| self.all[id.0].symbols.get(name)).copied()
    }

    /// The register of that name, with a row of its own from now on.
    pub(super) fn register(&mut self, name: &str, rows: &mut Rows) -> Option<Used> {
        let (scope, declared) = self.outwards(self.current).find_map(|id| {
            let scope = &self.all[id.0];
            let declared = scope.singles.get(name).or_else(|| range_of(&scope.ranges, name))?;
            Some((id, *declared))
        })?;
        let key = (scope, name.to_string());
        if let Some(&used) = self.rows_of.get(&key) {
            return Some(used);
        }
        let used = Used(self.used.len());
        let register = rows.author(declared.ty);
        self.used.push(Use { name: name.into(), ty: declared.ty, register, first_read: None, written: false });
        self.rows_of.insert(key, used);
        Some(used)
    }

    /// Where a register lives, and its declared type.
    pub(super) fn about(&self, used: Used) -> (Register, Type) {
        (self.used[used.0].register, self.used[used.0].ty)
    }

    /// Notes that a register is read.
    pub(super) fn read(&mut self, used: Used, span: Span) {
        self.used[used.0].first_read.get_or_insert(span);
    }

    /// Notes that a register is written.
    pub(super) fn wrote(&mut self, used: Used) {
        self.used[used.0].written = true;
    }

    /// What the author may have meant by an unknown name.
    pub(super) fn suggestion(&self, name: &str, others: &[&str]) -> Option<String> {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = name.split_at(name.len() - digits);
        let scopes: Vec<&Scope> = self.outwards(self.current).map(|id| &self.all[id.0]).collect();
        if let Some(count) = scopes.iter().find_map(|s| s.ranges.get(stem)).and_then(|d| d.count)
            && digits > 0
        {
            return Some(match count {
                0 => format!("`{stem}<0>` declares no register"),
                n => format!("`{stem}<{n}>` declares {stem}0 to {stem}{}", n - 1),
            });
        }
        let numbered: Vec<String> =
            scopes.iter().flat_map(|s| s.ranges.keys()).map(|range| format!("{range}{number}")).collect();
        let known = scopes.iter().flat_map(|s| s.singles.keys().chain(s.symbols.keys()));
        let known = known.chain(numbered.iter()).map(String::as_str).chain(others.iter().copied());
        closest(name, known).map(|near| format!("did you mean `{near}`?"))
    }

    /// Puts a label before instruction `at`.
    pub(super) fn add_label(&mut self, name: &Name, at: usize, diagnostics: &mut Vec<Diagnostic>) {
        let labels = &mut self.all[self.current.0].labels;
        if let Some(earlier) = labels.get(&name.text) {
            diagnostics.push(
                Diagnostic::error("duplicate-label", name.span, format!("label `{}` stands twice", name.text))
                    .also(earlier.span, "first here"),
            );
            return;
        }
        labels.insert(name.text.clone(), Label { at, span: name.span, used: false });
    }

    /// The instruction behind a label, as seen from `scope`.
    pub(super) fn label(&mut self, name: &Name, scope: ScopeId) -> Result<usize, Diagnostic> {
        let holder = self.outwards(scope).find(|id| self.all[id.0].labels.contains_key(&name.text));
        if let Some(label) = holder.and_then(|id| self.all[id.0].labels.get_mut(&name.text)) {
            label.used = true;
            return Ok(label.at);
        }
        let labels = self.outwards(scope).flat_map(|id| self.all[id.0].labels.keys()).map(String::as_str);
        let mut error = Diagnostic::error("unknown-label", name.span, format!("there is no label `{}`", name.text));
        error.help = closest(&name.text, labels).map(|near| format!("did you mean `{near}`?"));
        Err(error)
    }

    /// Whether a label stands before instruction `at`.
    pub(super) fn labelled(&self, at: usize) -> bool {
        self.all.iter().flat_map(|s| s.labels.values()).any(|label| label.at == at)
    }

    /// The author's registers, and warnings on names that do nothing.
    ///
    /// Only for kernels without errors: a faulty line does not count as a use. Compilers number registers in ranges and mark line tables with labels in `$`; those are left in peace.
    pub(super) fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Vec<(String, Register, Type)> {
        let mut warnings = Vec::new();
        for (i, scope) in self.all.iter().enumerate() {
            for (name, declared) in &scope.singles {
                let preamble = PREAMBLE.contains(&name.as_str());
                if !preamble && !self.rows_of.contains_key(&(ScopeId(i), name.clone())) {
                    let message = format!("register `{name}` is never used");
                    warnings.push(Diagnostic::warning("unused-register", declared.span, message));
                }
            }
            for (name, label) in &scope.labels {
                if !label.used && !name.starts_with('$') {
                    let message = format!("nothing branches to label `{name}`");
                    warnings.push(Diagnostic::warning("unused-label", label.span, message));
                }
            }
        }
        for used in self.used.iter().filter(|used| !used.written) {
            if let Some(span) = used.first_read {
                let message = format!("register `{}` is read and never written", used.name);
                warnings.push(Diagnostic::warning("never-written", span, message).help("it holds 0 in every lane"));
            }
        }
        warnings.sort_by_key(|w| w.labels.first().map(|l| l.span));
        diagnostics.extend(warnings);
        self.used.into_iter().map(|u| (u.name, u.register, u.ty)).collect()
    }
}

/// The number behind `stem` in `name`, as ranges write it: no leading zero.
fn number_behind(name: &str, stem: &str) -> Option<u32> {
    let digits = name.strip_prefix(stem)?;
    let plain = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()));
    if plain { digits.parse().ok() } else { None }
}

/// The range that `name` belongs to. A range's own name may end in digits: `%r1<5>` declares `%r10` to `%r14`.
fn range_of<'a>(ranges: &'a BTreeMap<String, Declared>, name: &str) -> Option<&'a Declared> {
    let shortest = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    (shortest..name.len()).filter(|&end| name.is_char_boundary(end)).find_map(|end| {
        let declared = ranges.get(&name[..end])?;
        let number = number_behind(name, &name[..end])?;
        declared.count.is_some_and(|count| number < count).then_some(declared)
    })
}
