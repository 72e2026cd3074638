//! The pass that inserts probes into a syntax tree.

use super::code::{ENTRY_BYTES, Writer, items};
use simt_core::diag::Span;
use simt_core::ptx::print;
use simt_core::ptx::tree::{
    Function, FunctionKind, Instruction, Item, Module, Operand, Statement, TargetKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// Oldest target and PTX version with every instruction of a probe (`redux.sync`).
const OLDEST: (u32, (u32, u32)) = (80, (7, 0));

/// Size of the log of passed probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// Number of logged warps, from the first warp of the grid.
    pub warps: u32,
    /// Maximum entries per lane. A group of lanes writes into the log of its lowest lane.
    pub events: u32,
}

impl Log {
    /// Bytes per lane: a count, the entries, and a slot for entries that do not fit.
    pub(super) fn stride(self) -> u64 {
        ENTRY_BYTES * (u64::from(self.events) + 2)
    }
}

/// Kind of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// Counts executions and lanes of a basic block.
    Block,
    /// Counts executions, divergent executions, lanes and taken lanes of a branch.
    Branch,
}

impl ProbeKind {
    /// Number of 64-bit counters.
    const fn counters(self) -> usize {
        match self {
            ProbeKind::Block => 2,
            ProbeKind::Branch => 4,
        }
    }
}

/// A probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Kind.
    pub kind: ProbeKind,
    /// Instruction of the original text that follows the probe.
    pub at: Span,
    /// Index of its first counter.
    pub(super) first: usize,
}

/// A text with probes.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// Complete PTX text.
    pub text: String,
    /// Probes in text order. Their indices are their numbers in a log.
    pub probes: Vec<Probe>,
    /// Name of the `.global` variable with the counters.
    pub counters: String,
    /// Name of the `.global` variable with the log, if there is one.
    pub log: Option<(String, Log)>,
    /// Lanes per warp.
    pub warp_size: u32,
}

/// Inserts probes into every function of a module, for warps of `warp_size` lanes.
pub fn instrument(module: &Module, warp_size: u32, log: Option<Log>) -> Instrumented {
    let mut module = module.clone();
    raise(&mut module);
    let mut prefix = "probe".to_string();
    let text = print(&module);
    while text.contains(&prefix) {
        prefix.push('x');
    }
    let writer = Writer { prefix: &prefix, warp_size, log };
    let mut pass = Pass { writer: &writer, probes: Vec::new(), counters: 0, tables: Vec::new() };
    for item in &mut module.items {
        if let Item::Function(function) = item {
            pass.function(function);
        }
    }
    let counters = pass.counters.max(1);
    let mut declared = format!(".global .align 8 .u64 {}[{counters}];\n", writer.counters());
    if let Some(log) = log {
        let words = log.stride() / 4 * u64::from(log.warps.max(1)) * u64::from(warp_size.max(1));
        declared += &format!(".global .align 16 .u32 {}[{words}];\n", writer.log_name());
    }
    for (number, targets) in pass.tables.iter().enumerate() {
        let list = targets.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        declared += &format!(
            ".global .u32 {}[{}] = {{{list}}};\n",
            writer.table_name(number),
            targets.len().max(1)
        );
    }
    let probes = pass.probes;
    module.items.splice(0..0, items(&declared));
    let log = log.map(|log| (writer.log_name(), log));
    Instrumented { text: print(&module), probes, counters: writer.counters(), log, warp_size }
}

/// Raises version and target to what the probes need.
fn raise(module: &mut Module) {
    let (target, version) = OLDEST;
    module.version = module.version.map(|v| v.max(version));
    for word in &mut module.target {
        let old = word.text.strip_prefix("sm_").and_then(|n| n.parse::<u32>().ok());
        if old.is_some_and(|n| n < target) {
            word.text = format!("sm_{target}");
        }
    }
}

struct Pass<'a> {
    writer: &'a Writer<'a>,
    probes: Vec<Probe>,
    /// Number of counters allocated.
    counters: usize,
    /// Targets of each `brx.idx`; equal numbers mean equal places.
    tables: Vec<Vec<usize>>,
}

/// Labels of the current function.
struct Labels<'a> {
    /// Labels that are branch targets.
    targets: BTreeSet<&'a str>,
    /// Number of instructions before each label.
    places: BTreeMap<&'a str, usize>,
    /// Tables of `brx.idx`.
    tables: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Labels<'a> {
    fn new(statements: &'a [Statement]) -> Labels<'a> {
        let mut labels =
            Labels { targets: BTreeSet::new(), places: BTreeMap::new(), tables: BTreeMap::new() };
        labels.collect(statements, &mut 0);
        labels
    }

    fn collect(&mut self, statements: &'a [Statement], before: &mut usize) {
        for statement in statements {
            match statement {
                Statement::Label(name) => _ = self.places.insert(&name.text, *before),
                Statement::Instruction(inst) => {
                    *before += 1;
                    if let ("bra", [Operand::Name(target), ..]) =
                        (first_word(inst), inst.operands.as_slice())
                    {
                        self.targets.insert(&target.text);
                    }
                }
                Statement::Targets(table) if table.kind == TargetKind::Branch => {
                    let names: Vec<&str> = table.names.iter().map(|n| n.text.as_str()).collect();
                    self.targets.extend(&names);
                    self.tables.insert(&table.label.text, names);
                }
                Statement::Block(inner, _) => self.collect(inner, before),
                _ => {}
            }
        }
    }
}

/// First word of a mnemonic: `bra` for `bra.uni`.
fn first_word(inst: &Instruction) -> &str {
    inst.mnemonic.text.split('.').next().unwrap_or_default()
}

impl Pass<'_> {
    fn function(&mut self, function: &mut Function) {
        let Some(body) = function.body.take() else { return };
        let labels = Labels::new(&body);
        let mut leads = true;
        let mut out = self.writer.head();
        self.statements(&body, &labels, function.kind, &mut leads, &mut out);
        function.body = Some(out);
    }

    /// Copies statements and inserts probes. `leads` is true if the next instruction is the first
    /// of a block.
    fn statements(
        &mut self,
        statements: &[Statement],
        labels: &Labels<'_>,
        kind: FunctionKind,
        leads: &mut bool,
        out: &mut Vec<Statement>,
    ) {
        for statement in statements {
            match statement {
                Statement::Label(name) => *leads |= labels.targets.contains(name.text.as_str()),
                Statement::Block(inner, span) => {
                    let mut copied = Vec::new();
                    self.statements(inner, labels, kind, leads, &mut copied);
                    out.push(Statement::Block(copied, *span));
                    continue;
                }
                Statement::Instruction(inst) => {
                    self.before(inst, labels, kind, *leads, out);
                    *leads = inst.guard.is_some() && parts(inst, kind) || first_word(inst) == "brx";
                }
                _ => {}
            }
            out.push(statement.clone());
        }
    }

    /// Inserts the probes before an instruction.
    fn before(
        &mut self,
        inst: &Instruction,
        labels: &Labels<'_>,
        kind: FunctionKind,
        leads: bool,
        out: &mut Vec<Statement>,
    ) {
        let bare = inst.guard.is_none() && matches!(first_word(inst), "ret" | "exit" | "trap");
        if leads && !bare {
            let (id, offset) = self.probe(ProbeKind::Block, inst.span);
            out.extend(self.writer.block(id, offset));
        }
        match (&inst.guard, inst.operands.as_slice()) {
            (Some(guard), _) if parts(inst, kind) => {
                let (id, offset) = self.probe(ProbeKind::Branch, inst.span);
                out.extend(self.writer.branch(guard, id, offset));
            }
            (None, [Operand::Name(index), Operand::Name(table), ..])
                if first_word(inst) == "brx" =>
            {
                let Some(names) = labels.tables.get(table.text.as_str()) else { return };
                let place = |name: &&str| labels.places.get(name).copied().unwrap_or(usize::MAX);
                let places: Vec<usize> = names.iter().map(place).collect();
                let number = |at: &usize| places.iter().position(|p| p == at).unwrap_or(0);
                self.tables.push(places.iter().map(number).collect());
                let (id, offset) = self.probe(ProbeKind::Branch, inst.span);
                out.extend(self.writer.switch(
                    &index.text,
                    self.tables.len() - 1,
                    names.len(),
                    id,
                    offset,
                ));
            }
            _ => {}
        }
    }

    /// Creates a probe; returns its number and the byte offset of its first counter.
    fn probe(&mut self, kind: ProbeKind, at: Span) -> (usize, u64) {
        let first = self.counters;
        self.counters += kind.counters();
        self.probes.push(Probe { kind, at, first });
        (self.probes.len() - 1, 8 * first as u64)
    }
}

/// Returns true if lanes with different guards diverge at the instruction. True for branches, and
/// for the `ret` of a device function, which branches to the return point of its lanes.
fn parts(inst: &Instruction, kind: FunctionKind) -> bool {
    match first_word(inst) {
        "bra" => true,
        "ret" => kind == FunctionKind::Func,
        _ => false,
    }
}
