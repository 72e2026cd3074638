//! What PTX becomes on a GPU: the part of a machine file about machine instructions.
//!
//! Profilers count machine instructions, and schedulers issue them: `rem.u32` is seventeen of them on sm_90, `cvta` none. A file
//! gives a count for each class (`prices`, `slots`), exceptions by row of the ISA (`expand`), what rides on a neighbour
//! (`folds`), what every kernel begins with (`entry`), and how long a conditional body may be that is predicated (`predicate`).
//! How they are applied: `ptxas`; where the numbers are from: docs/machine-instructions.md.

use serde::Deserialize;

use super::MachineSpec;
use crate::diag::closest;
use crate::isa::{Class, Form, Isa, Type};

/// What is issued for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Lowering {
    /// One issue for each PTX instruction, branches as the author wrote them.
    AsWritten,
    /// The machine instructions that a back end makes of it.
    Hardware,
}

impl Lowering {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Lowering::AsWritten => "as-written",
            Lowering::Hardware => "hardware",
        }
    }
}

/// What a machine's back end makes of PTX.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineCode {
    /// Instructions that every kernel begins with.
    pub entry: Entry,
    /// Instructions that set a convergence point: BMOV and BSSY, BSSY alone, or SSY. (What syncs, BSYNC, is one of class
    /// `Join`; before Volta it is a flag of another instruction.)
    pub join_set: u32,
    /// An `if` is predicated when each of its arms becomes at most so many machine instructions; 0: never.
    pub predicate: u32,
    /// True if edges that constants rule out are no edges, so that lanes reconverge without them.
    pub dead_edges: bool,
    /// True if lanes also reconverge at blocks that only some lanes of a branch reach.
    pub merges: bool,
    /// What costs nothing because a neighbour does it.
    pub folds: Vec<Fold>,
    /// Instructions that a row of the ISA becomes, where its class does not say it.
    pub expand: Vec<Expansion>,
}

/// Instructions that a kernel begins with.
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

/// How an instruction can ride on another one; see `ptxas` for the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Fold {
    /// A move that only gives a value another name: users read the original.
    Moves,
    /// A special register that is the same in the whole launch is an operand from the constant bank.
    LaunchConstants,
    /// `mul.wide` into 64-bit adds: IMAD.WIDE each.
    MulWideAdd,
    /// `shl` by a constant into 32-bit adds: LEA or ISCADD each.
    ShiftAdd,
    /// `mul.lo` into one 32-bit add: IMAD.
    MulAdd,
    /// Two 32-bit adds: IADD3.
    AddAdd,
    /// Two bitwise operations: LOP3.
    Logic,
    /// Adding a constant to an address: part of the access.
    AddressOffset,
    /// `ld.param` and `st.param` of a call: its convention has arguments and results in registers.
    CallSlots,
}

/// A row of the ISA and what it becomes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// The row, as docs/reference/isa.md writes it.
    pub form: String,
    /// Only for these instruction types; empty: for all.
    #[serde(default)]
    pub types: Vec<String>,
    /// Machine instructions.
    pub count: u32,
    /// How many of them use the unit of the instruction's class.
    #[serde(default = "one")]
    pub on_unit: u32,
}

fn one() -> u32 {
    1
}

impl Expansion {
    /// The rows meant.
    fn rows(&self) -> impl Iterator<Item = (usize, &'static Form)> {
        Isa::ptx().rows().iter().enumerate().filter(|(_, row)| row.syntax == self.form)
    }
}

impl MachineCode {
    /// Machine instructions for row `form` at type `ty`, if the file singles them out.
    pub fn expansion(&self, row: Option<&Form>, ty: Option<Type>) -> Option<u32> {
        self.singled_out(row, ty).map(|e| e.count)
    }

    /// How many of these use the unit of the instruction's class.
    pub fn on_unit(&self, row: Option<&Form>, ty: Option<Type>) -> u32 {
        self.singled_out(row, ty).map_or(1, |e| e.on_unit)
    }

    /// The last entry that fits counts.
    fn singled_out(&self, row: Option<&Form>, ty: Option<Type>) -> Option<&Expansion> {
        let syntax = &row?.syntax;
        let typed = |e: &&Expansion| e.types.is_empty() || ty.is_some_and(|t| e.types.iter().any(|n| n == t.name()));
        self.expand.iter().rev().filter(|e| e.form == *syntax).find(typed)
    }

    pub(super) fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        for e in &self.expand {
            let rows: Vec<&Form> = e.rows().map(|(_, row)| row).collect();
            if rows.is_empty() {
                let near = closest(&e.form, Isa::ptx().rows().iter().map(|row| row.syntax.as_str()));
                let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                faults.push(("expand", format!("no row of the ISA is written `{}`{hint}", e.form)));
            }
            for name in e.types.iter().filter(|name| Type::from_name(name).is_none()) {
                faults.push(("expand", format!("`{name}` in `{}` is no type", e.form)));
            }
            if e.count > 100_000 {
                faults.push(("expand", format!("`{}` cannot become {} instructions", e.form, e.count)));
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
                faults.push((field, format!("`{field}` is {n}, at most 1000 make sense")));
            }
        }
        faults
    }
}

/// The part of a machine file that a compiler reads: its tables, and the issue slots of each class.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    machine: &'a MachineSpec,
    yields: bool,
    places_as_ptxas: bool,
}

impl<'a> Target<'a> {
    /// The target of a machine; `yields`: spin loops yield.
    pub fn new(machine: &'a MachineSpec, yields: bool) -> Target<'a> {
        Target { machine, yields, places_as_ptxas: false }
    }

    /// The target of a comparison with a GPU by source instruction: each PTX instruction is issued as written, and lanes reconverge
    /// where ptxas lets them.
    pub fn for_comparison(machine: &'a MachineSpec, yields: bool) -> Target<'a> {
        Target { machine, yields, places_as_ptxas: true }
    }

    /// Returns true if instructions as written reconverge where ptxas lets them.
    pub fn places_as_ptxas(&self) -> bool {
        self.places_as_ptxas
    }

    /// Tables of machine instructions; `None` if one is issued for each PTX instruction.
    pub fn tables(&self) -> Option<&'a MachineCode> {
        self.machine.code.as_ref().filter(|_| self.machine.lowering == Lowering::Hardware && !self.places_as_ptxas)
    }

    /// Issue slots of an instruction of this class.
    pub fn slots(&self, class: Class) -> u32 {
        self.machine.price(class).slots
    }

    /// Returns true if spin loops yield.
    pub fn yields(&self) -> bool {
        self.yields
    }
}
