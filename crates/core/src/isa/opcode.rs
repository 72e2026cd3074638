//! Rows of `isa/sass.ron`: machine instructions that can be executed.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::Class;

/// Execution pipe of a machine instruction.
///
/// A machine file gives each one its issue interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Pipe {
    /// Integer sums, logic, comparisons.
    Alu,
    /// Single precision.
    Fma,
    /// The half of the single-precision pipe that also multiplies integers.
    FmaHeavy,
    /// Pairs of halves.
    Half,
    /// Double precision.
    Fp64,
    /// Tensor core; the interval is the price of the class.
    Tensor,
    /// Special functions, conversions, bit counts.
    Xu,
    /// Uniform datapath, which computes once per warp.
    Uniform,
    /// Loads, stores, atomics, shuffles.
    Lsu,
    /// Textures and surfaces.
    Texture,
    /// Indexed loads from constant banks.
    Constant,
    /// Special registers and block barriers.
    Special,
    /// Branches and convergence barriers.
    Branch,
    /// No pipe, only an issue slot.
    None,
}

/// Control word of a machine instruction (Volta on).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ControlWord {
    /// Cycles until the same warp may issue again.
    pub stall: u8,
    /// True if the scheduler should prefer another warp in the next cycle.
    pub yields: bool,
    /// Dependence counter raised at issue and lowered at write-back.
    pub write_counter: Option<u8>,
    /// Dependence counter raised at issue and lowered when the sources have been read.
    pub read_counter: Option<u8>,
    /// Dependence counters that must be 0 before this instruction issues, one bit each.
    pub waits: u8,
    /// Operand slots kept in the register-file cache, one bit each.
    pub reuse: u8,
}

/// Machine instruction that can be executed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opcode {
    /// First word of the mnemonic.
    pub name: String,
    /// Low nine bits of its encodings.
    pub codes: Vec<u16>,
    /// Execution pipe.
    pub pipe: Pipe,
    /// Class, which prices instructions of variable latency.
    pub class: Class,
    /// One line for the reference page.
    pub doc: String,
}

/// Group of machine instructions, as the reference page shows them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpcodeGroup {
    /// Heading.
    pub title: String,
    /// Rows.
    pub rows: Vec<Opcode>,
}

/// Returns the rows of `isa/sass.ron` by group.
///
/// The table is part of the program, so an error in it panics; the unit tests read it.
pub fn opcodes() -> &'static [OpcodeGroup] {
    static TABLE: OnceLock<Vec<OpcodeGroup>> = OnceLock::new();
    TABLE.get_or_init(|| {
        ron::from_str(simt_isa::SASS).unwrap_or_else(|error| panic!("isa/sass.ron: {error}"))
    })
}

/// Returns the row of a mnemonic's first word.
pub fn opcode(name: &str) -> Option<&'static Opcode> {
    opcodes().iter().flat_map(|group| &group.rows).find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opcode_has_one_row_and_codes_of_nine_bits() {
        let rows: Vec<&Opcode> = opcodes().iter().flat_map(|group| &group.rows).collect();
        assert!(rows.len() > 100);
        for (i, row) in rows.iter().enumerate() {
            assert!(rows[..i].iter().all(|other| other.name != row.name), "{} twice", row.name);
            assert!(!row.codes.is_empty() && row.codes.iter().all(|&c| c < 512), "{}", row.name);
        }
        assert_eq!(opcode("IMAD").map(|row| row.pipe), Some(Pipe::FmaHeavy));
        assert_eq!(opcode("QMMA"), None);
    }
}
