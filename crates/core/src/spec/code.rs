//! Instruction lowering: the part of a machine file about machine instructions.
//!
//! Profilers count machine instructions, and schedulers issue them: `rem.u32` is seventeen of them
//! on sm_90, `cvta` none. A machine file has a count for each class (`prices`, `slots`), exceptions
//! by row of the ISA (`expand`), patterns without cost (`folds`), the instructions at the start of
//! every kernel (`entry`), and the maximum length of a predicated body (`predicate`). The `ptxas`
//! module applies them; docs/machine-instructions.md has the sources of the numbers.

use serde::Deserialize;

use super::MachineSpec;
use crate::diag::closest;
use crate::isa::{Class, Form, Isa, Type};

/// Instruction lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Lowering {
    /// One issue per PTX instruction, with branches as written.
    AsWritten,
    /// Machine instructions of the compiler model.
    Hardware,
}

impl Lowering {
    /// Returns the name used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Lowering::AsWritten => "as-written",
            Lowering::Hardware => "hardware",
        }
    }
}

/// Machine instructions for PTX.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineCode {
    /// Instructions at the start of every kernel.
    pub entry: Entry,
    /// Instructions that set a convergence point: BMOV and BSSY, BSSY alone, or SSY.
    ///
    /// The sync (BSYNC) is an instruction of class `Join`; before Volta it is a flag of another
    /// instruction.
    pub join_set: u32,
    /// Maximum machine instructions of each arm of a predicated `if`; 0: never predicated.
    pub predicate: u32,
    /// True if the compiler removes edges that constants rule out.
    pub dead_edges: bool,
    /// True if lanes also reconverge at blocks that only some lanes of a branch reach.
    pub merges: bool,
    /// Patterns in which a neighbour does an instruction's work.
    pub folds: Vec<Fold>,
    /// Exceptions to the class's count, by row of the ISA.
    pub expand: Vec<Expansion>,
}

/// Instructions at the start of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// In every kernel (the stack pointer).
    pub always: u32,
    /// If it uses global memory (the descriptor of generic addresses, from sm_80 on).
    pub global: u32,
    /// If it uses shared memory (the address of the block's window, from sm_90 on).
    pub shared: u32,
}

/// Pattern in which an instruction is free; `ptxas/folds.rs` has the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Fold {
    /// A move that only renames a value: users read the original.
    Moves,
    /// A special register that is constant in a launch: an operand from the constant bank.
    LaunchConstants,
    /// `mul.wide` into 64-bit adds: one IMAD.WIDE each.
    MulWideAdd,
    /// `shl` by a constant into 32-bit adds: one LEA or ISCADD each.
    ShiftAdd,
    /// `mul.lo` into one 32-bit add: IMAD.
    MulAdd,
    /// Two 32-bit adds: IADD3.
    AddAdd,
    /// Two bitwise operations: LOP3.
    Logic,
    /// Addition of a constant to an address: part of the access.
    AddressOffset,
    /// `ld.param` and `st.param` of a call: arguments and results are in registers.
    CallSlots,
}

/// Machine instructions of one row of the ISA.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// Syntax of the row, as in docs/reference/isa.md.
    pub form: String,
    /// Instruction types that it applies to; empty: all.
    #[serde(default)]
    pub types: Vec<String>,
    /// Number of machine instructions.
    pub count: u32,
    /// Number of them that use the unit of the instruction's class.
    #[serde(default = "one")]
    pub on_unit: u32,
}

fn one() -> u32 {
    1
}

impl Expansion {
    /// Returns the rows that match `form`.
    fn rows(&self) -> impl Iterator<Item = (usize, &'static Form)> {
        Isa::ptx().rows().iter().enumerate().filter(|(_, row)| row.syntax == self.form)
    }
}

impl MachineCode {
    /// Returns the machine instructions of a row at type `ty`, if the file has an entry.
    pub fn expansion(&self, row: Option<&Form>, ty: Option<Type>) -> Option<u32> {
        self.expansion_of(row, ty).map(|e| e.count)
    }

    /// Returns the number of these that use the unit of the instruction's class.
    pub fn on_unit(&self, row: Option<&Form>, ty: Option<Type>) -> u32 {
        self.expansion_of(row, ty).map_or(1, |e| e.on_unit)
    }

    /// Returns the last matching entry.
    fn expansion_of(&self, row: Option<&Form>, ty: Option<Type>) -> Option<&Expansion> {
        let syntax = &row?.syntax;
        let typed = |e: &&Expansion| {
            e.types.is_empty() || ty.is_some_and(|t| e.types.iter().any(|n| n == t.name()))
        };
        self.expand.iter().rev().filter(|e| e.form == *syntax).find(typed)
    }

    pub(super) fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        for e in &self.expand {
            let rows: Vec<&Form> = e.rows().map(|(_, row)| row).collect();
            if rows.is_empty() {
                let near =
                    closest(&e.form, Isa::ptx().rows().iter().map(|row| row.syntax.as_str()));
                let hint =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                faults.push(("expand", format!("no instruction form `{}`{hint}", e.form)));
            }
            for name in e.types.iter().filter(|name| Type::from_name(name).is_none()) {
                faults.push(("expand", format!("unknown type `{name}` in `{}`", e.form)));
            }
            if e.count > 100_000 {
                faults.push((
                    "expand",
                    format!(
                        "`{}`: expected at most 100,000 instructions, found {}",
                        e.form, e.count
                    ),
                ));
            }
        }
        for (field, n) in [
            ("always", self.entry.always),
            ("global", self.entry.global),
            ("shared", self.entry.shared),
            ("join_set", self.join_set),
            ("predicate", self.predicate),
        ] {
            if n > 1000 {
                faults.push((field, format!("expected at most 1000, found {n}")));
            }
        }
        faults
    }
}

/// Part of a machine file that a compiler reads: tables, and issue slots of each class.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    machine: &'a MachineSpec,
    yields: bool,
    places_as_ptxas: bool,
}

impl<'a> Target<'a> {
    /// Creates the target of a machine; with `yields`, spin loops yield.
    pub fn new(machine: &'a MachineSpec, yields: bool) -> Target<'a> {
        Target { machine, yields, places_as_ptxas: false }
    }

    /// Creates the target of a comparison with a GPU by source instruction.
    ///
    /// Each PTX instruction is issued as written, and lanes reconverge where ptxas lets them.
    pub fn for_comparison(machine: &'a MachineSpec, yields: bool) -> Target<'a> {
        Target { machine, yields, places_as_ptxas: true }
    }

    /// Returns true if instructions as written reconverge where ptxas lets them.
    pub fn places_as_ptxas(&self) -> bool {
        self.places_as_ptxas
    }

    /// Returns the tables of machine instructions.
    ///
    /// `None` if one instruction is issued per PTX instruction.
    pub fn tables(&self) -> Option<&'a MachineCode> {
        self.machine
            .code
            .as_ref()
            .filter(|_| self.machine.lowering == Lowering::Hardware && !self.places_as_ptxas)
    }

    /// Returns the issue slots of an instruction of this class.
    pub fn slots(&self, class: Class) -> u32 {
        self.machine.price(class).slots
    }

    /// Returns true if spin loops yield.
    pub fn yields(&self) -> bool {
        self.yields
    }
}
