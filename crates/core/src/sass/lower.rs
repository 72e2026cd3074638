//! Text of a machine instruction to an operation on register rows.

mod asynchronous;
mod bulk;
mod float;
mod flow;
mod image;
mod integer;
mod matrix;
mod memory;
mod warp;
mod warpgroup;

use super::text::{self, Marks, Operand, PredicateName, RegisterName, Text};
use crate::base::Pc;
use crate::kernel::{
    BankRow, INSTRUCTION_BYTES, Native, Op, Part, Predicate, PredicateUse, Register, Registers,
    Row, Source, Special,
};

pub(super) use matrix::class as matrix_class;

/// Reason why an instruction cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The opcode is not in the table of supported ones.
    Opcode,
    /// The opcode is supported, this modifier is not.
    Modifier(String),
    /// The opcode is supported, these operands are not.
    Operands,
}

/// Machine instruction as an operation.
#[derive(Clone, Debug)]
pub(super) struct Lowered {
    pub(super) op: Op,
    /// Second predicate that must hold with the guard.
    pub(super) also: Option<PredicateUse>,
    /// True if it invalidates L1.
    pub invalidates_l1: bool,
    /// Dependence counter that must fall to a value.
    pub(super) falls_to: Option<(u8, u8)>,
}

impl Lowered {
    fn of(op: Op) -> Lowered {
        Lowered { op, also: None, invalidates_l1: false, falls_to: None }
    }
}

/// Facts of the module that an instruction's meaning depends on.
pub(super) struct Module<'a> {
    /// Number of instructions.
    pub(super) count: u32,
    /// Address of the instruction.
    pub(super) address: u32,
    /// First address of its kernel or function, from which addresses in its text count.
    pub(super) start: u32,
    /// Shared memory below the kernel's own, in bytes.
    pub(super) reserved_shared: u32,
    /// Address of each constant bank other than 0.
    pub(super) banks: &'a [(u8, u64)],
    /// Targets of indirect branches by address.
    pub(super) indirect: &'a [(u32, Vec<u32>)],
}

impl Module<'_> {
    /// Returns the address of a constant bank.
    fn bank(&self, bank: u8) -> Option<u64> {
        self.banks.iter().find(|(number, _)| *number == bank).map(|(_, base)| *base)
    }

    /// Returns the targets that the compiler lists for the instruction.
    fn targets(&self) -> Vec<Pc> {
        let listed = self.indirect.iter().find(|(at, _)| *at == self.address);
        let addresses = listed.map(|(_, targets)| targets.as_slice()).unwrap_or_default();
        let pcs = addresses.iter().map(|at| at / INSTRUCTION_BYTES as u32);
        pcs.filter(|&pc| pc < self.count).map(Pc).collect()
    }
}

/// Predicate that is always false: `!PT`. P0 to P6 are 0 to 6, UP0 to UP6 are 8 to 14.
const FALSE: Predicate = Predicate(7);
/// Number of predicates of a warp.
pub(super) const PREDICATES: u16 = 16;

/// Rows of the register file: thread registers, RZ, uniform registers, URZ, constants.
#[derive(Debug)]
pub(super) struct Rows {
    /// Rows of R0, R1 .. in use.
    pub(super) threads: u16,
    /// Rows of UR0, UR1 .. in use.
    uniforms: u16,
    /// Rows and their constants.
    pub(super) registers: Registers,
    /// Rows filled from constant banks when a launch starts.
    pub(super) banks: Vec<BankRow>,
    /// Row of the result of the last BAR.RED.POPC, which B2R reads.
    reduced: Option<Row>,
    /// Low row of the return address register Rpc.
    return_address: Option<Row>,
}

impl Rows {
    /// Creates the rows of a kernel that uses R0 to `threads - 1` and UR0 to `uniforms - 1`.
    ///
    /// RZ and URZ are pairs, so that they can be 64-bit operands.
    pub(super) fn new(threads: u16, uniforms: u16) -> Rows {
        let narrow = threads + 2 + uniforms;
        let registers = Registers {
            narrow,
            predicates: PREDICATES,
            always_false: Some(FALSE),
            ..Registers::default()
        };
        Rows {
            threads,
            uniforms,
            registers,
            banks: Vec::new(),
            reduced: None,
            return_address: None,
        }
    }

    /// Returns the row of a register; of RZ and URZ a row that is always zero.
    pub(super) fn row(&self, register: RegisterName) -> Row {
        if register.is_zero() {
            return Row(self.threads);
        }
        let number = u16::from(register.number);
        Row(if register.uniform { self.threads + 2 + number } else { number })
    }

    /// Returns the row of a 32-bit immediate.
    pub(super) fn immediate(&mut self, value: u32) -> Row {
        if value == 0 {
            return Row(self.threads);
        }
        let known = self.registers.narrow_constants.iter().find(|(_, v)| *v == value);
        known.map(|(row, _)| *row).unwrap_or_else(|| {
            let row = self.fresh(1);
            self.registers.narrow_constants.push((row, value));
            row
        })
    }

    /// Returns the low row of a 64-bit immediate.
    pub(super) fn immediate_pair(&mut self, value: u64) -> Row {
        if value == 0 {
            return Row(self.threads);
        }
        let row = self.fresh(2);
        self.registers.narrow_constants.push((row, value as u32));
        self.registers.narrow_constants.push((Row(row.0 + 1), (value >> 32) as u32));
        row
    }

    /// Returns the row of a word of a constant bank, or the low row of two.
    pub(super) fn constant(&mut self, bank: u8, offset: u32, words: u16) -> Row {
        let is = |at: &BankRow, i: u32| {
            (at.bank, at.offset, at.bytes) == (bank, offset.wrapping_add(4 * i), 4)
        };
        let known = self.banks.windows(usize::from(words)).find(|at| {
            at.iter().zip(0..).all(|(at, i)| is(at, i))
                && at.windows(2).all(|pair| pair[1].row.0 == pair[0].row.0 + 1)
        });
        if let Some([at, ..]) = known {
            return at.row;
        }
        let first = self.fresh(words);
        for i in 0..words {
            let (row, offset) = (Row(first.0 + i), offset.wrapping_add(4 * u32::from(i)));
            self.banks.push(BankRow { row, bank, offset, bytes: 4, signed: false });
        }
        first
    }

    /// Returns the row of a byte or half of a constant bank.
    pub(super) fn constant_part(&mut self, bank: u8, offset: u32, bytes: u8, signed: bool) -> Row {
        let row = self.fresh(1);
        self.banks.push(BankRow { row, bank, offset, bytes, signed });
        row
    }

    /// Returns the row of a special register.
    pub(super) fn special(&mut self, special: Special) -> Row {
        let known = self.registers.specials.iter().find(|(_, s)| *s == special);
        known.map(|(row, _)| *row).unwrap_or_else(|| {
            let row = self.fresh(1);
            self.registers.specials.push((row, special));
            row
        })
    }

    /// Returns the low row of the return address register Rpc.
    pub(super) fn return_address(&mut self) -> Row {
        let row = self.return_address.unwrap_or_else(|| self.fresh(2));
        self.return_address = Some(row);
        row
    }

    /// Returns the row of the result of BAR.RED.POPC.
    pub(super) fn reduced(&mut self) -> Row {
        match self.reduced {
            Some(row) => row,
            None => {
                let row = self.fresh(1);
                self.reduced = Some(row);
                row
            }
        }
    }

    fn fresh(&mut self, count: u16) -> Row {
        let row = Row(self.registers.narrow);
        self.registers.narrow += count;
        row
    }
}

/// Width of a source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// 32 bits.
    Word,
    /// 64-bit integer in two registers.
    Pair,
    /// f64 in two registers; a 32-bit immediate is its upper word.
    Double,
}

impl Width {
    /// Returns the number of registers.
    pub(super) const fn words(self) -> u16 {
        match self {
            Width::Word => 1,
            Width::Pair | Width::Double => 2,
        }
    }
}

/// One instruction while it is lowered.
pub(super) struct Lowering<'r, 't> {
    pub(super) text: Text<'t>,
    pub(super) encoding: u128,
    pub(super) rows: &'r mut Rows,
    /// Registers and predicates that the operands read. No duplicates, no constants.
    pub(super) reads: Vec<Register>,
    /// Registers and predicates that the operands write. No duplicates.
    pub(super) writes: Vec<Register>,
}

impl<'r, 't> Lowering<'r, 't> {
    /// Creates the lowering of an instruction.
    pub(super) fn new(text: Text<'t>, encoding: u128, rows: &'r mut Rows) -> Lowering<'r, 't> {
        Lowering { text, encoding, rows, reads: Vec::new(), writes: Vec::new() }
    }

    /// Returns the result row of operand `i`, the low one of a pair; `None` for RZ.
    pub(super) fn result(&mut self, i: usize, width: Width) -> Result<Option<Row>, Missing> {
        match self.text.operands.get(i) {
            Some(Operand::Register(name, _)) if name.is_zero() => Ok(None),
            Some(&Operand::Register(name, _)) => {
                let row = self.register(name, width)?;
                for i in 0..width.words() {
                    record(&mut self.writes, Register::Narrow(Row(row.0 + i)));
                }
                Ok(Some(row))
            }
            _ => Err(Missing::Operands),
        }
    }

    /// Returns the result predicate of operand `i`; `None` for PT.
    pub(super) fn result_predicate(&mut self, i: usize) -> Result<Option<Predicate>, Missing> {
        match self.text.operands.get(i) {
            Some(Operand::Predicate(name)) if name.number == 7 => Ok(None),
            Some(&Operand::Predicate(name)) => {
                let p = predicate(name).predicate;
                record(&mut self.writes, Register::Predicate(p));
                Ok(Some(p))
            }
            _ => Err(Missing::Operands),
        }
    }

    /// Returns the predicate source of operand `i`.
    pub(super) fn predicate(&mut self, i: usize) -> Result<PredicateUse, Missing> {
        match self.text.operands.get(i) {
            Some(&Operand::Predicate(name)) => {
                let used = predicate(name);
                if used.predicate != FALSE {
                    record(&mut self.reads, Register::Predicate(used.predicate));
                }
                Ok(used)
            }
            _ => Err(Missing::Operands),
        }
    }

    /// Returns the row of a register whose value has the width.
    ///
    /// Fails if a pair would end in RZ or in a register that the kernel does not have.
    fn register(&self, name: RegisterName, width: Width) -> Result<Row, Missing> {
        let last = u16::from(name.number) + width.words() - 1;
        let count = if name.uniform { self.rows.uniforms } else { self.rows.threads };
        let known = name.is_zero() || last < count;
        if known { Ok(self.rows.row(name)) } else { Err(Missing::Operands) }
    }

    /// Returns the row of a register that the instruction reads; the low one of a pair.
    pub(super) fn read(&mut self, name: RegisterName, width: Width) -> Result<Row, Missing> {
        let row = self.register(name, width)?;
        if !name.is_zero() {
            for i in 0..width.words() {
                record(&mut self.reads, Register::Narrow(Row(row.0 + i)));
            }
        }
        Ok(row)
    }

    /// Returns the first row of a vector of `count` registers.
    fn range(&self, name: RegisterName, count: u8) -> Result<Row, Missing> {
        let last = u16::from(name.number) + u16::from(count) - 1;
        let limit = if name.uniform { self.rows.uniforms } else { self.rows.threads };
        if last < limit { Ok(self.rows.row(name)) } else { Err(Missing::Operands) }
    }

    /// Returns true if operand `i` is a predicate.
    pub(super) fn is_predicate(&self, i: usize) -> bool {
        matches!(self.text.operands.get(i), Some(Operand::Predicate(_)))
    }

    /// Returns the source of operand `i`.
    ///
    /// A float immediate is taken from the encoding, because the listing rounds it.
    pub(super) fn source(&mut self, i: usize, width: Width) -> Result<Source, Missing> {
        let words = width.words();
        let source = |row: Row, marks: Marks<'_>| {
            let part = part(marks.suffix, width)?;
            Ok(Source {
                row,
                negate: marks.negate,
                absolute: marks.absolute,
                invert: marks.invert,
                part,
            })
        };
        let number = match self.text.operands.get(i) {
            Some(&Operand::Register(name, marks)) => {
                let row = self.register(name, width)?;
                if !name.is_zero() {
                    for i in 0..words {
                        record(&mut self.reads, Register::Narrow(Row(row.0 + i)));
                    }
                }
                return source(row, marks);
            }
            Some(&Operand::Constant { bank, index: None, offset, marks }) => {
                let offset = u32::try_from(offset).map_err(|_| Missing::Operands)?;
                return source(self.rows.constant(bank, offset, words), marks);
            }
            Some(&Operand::Integer(value)) => value,
            Some(Operand::Float(_)) => i64::from(self.immediate()),
            _ => return Err(Missing::Operands),
        };
        let row = match width {
            Width::Word => self.rows.immediate(number as u32),
            Width::Pair => self.rows.immediate_pair(number as u64),
            Width::Double => self.rows.immediate_pair((number as u64) << 32),
        };
        Ok(Source::of(row))
    }

    /// Returns the 32-bit immediate field of the encoding.
    pub(super) fn immediate(&self) -> u32 {
        (self.encoding >> 32) as u32
    }

    /// Fails if the mnemonic has modifiers that were not read.
    pub(super) fn finish(&self) -> Result<(), Missing> {
        let known = self.text.modifiers.is_empty();
        if known { Ok(()) } else { Err(Missing::Modifier(self.text.modifiers.join("."))) }
    }
}

fn record(list: &mut Vec<Register>, register: Register) {
    if !list.contains(&register) {
        list.push(register);
    }
}

/// Returns the predicate operand of a name; PT is the complement of the constant predicate.
pub(super) fn predicate(name: PredicateName) -> PredicateUse {
    if name.number == 7 {
        return PredicateUse { predicate: FALSE, negated: !name.negated };
    }
    let number = u16::from(name.number) + if name.uniform { 8 } else { 0 };
    PredicateUse { predicate: Predicate(number), negated: name.negated }
}

fn part(suffix: Option<&str>, width: Width) -> Result<Part, Missing> {
    match suffix {
        None | Some("H1_H0") => Ok(Part::Whole),
        Some("F32") => Ok(Part::Single),
        Some("64") if width != Width::Word => Ok(Part::Whole),
        Some("H0_H0" | "H0") => Ok(Part::H0),
        Some("H1_H1" | "H1") => Ok(Part::H1),
        Some("H0_NH1") => Ok(Part::H0Nh1),
        Some("B0") => Ok(Part::B0),
        Some("B1") => Ok(Part::B1),
        Some("B2") => Ok(Part::B2),
        Some("B3") => Ok(Part::B3),
        Some(other) => Err(Missing::Modifier(other.to_owned())),
    }
}

/// Returns a predicate source that is true.
const fn predicate_always() -> PredicateUse {
    PredicateUse { predicate: FALSE, negated: true }
}

/// Returns a predicate source that is false.
const fn predicate_never() -> PredicateUse {
    PredicateUse { predicate: FALSE, negated: false }
}

/// Lowers an instruction.
///
/// # Errors
/// Returns what is not supported.
pub(super) fn lower(
    lowering: &mut Lowering<'_, '_>,
    module: &Module<'_>,
) -> Result<Lowered, Missing> {
    let lowered = if let Some(lowered) = flow::lower(lowering, module)? {
        lowered
    } else if let Some(lowered) = asynchronous::lower(lowering, module)? {
        lowered
    } else if let Some(lowered) = memory::lower(lowering, module)? {
        lowered
    } else if let Some(lowered) = image::lower(lowering)? {
        lowered
    } else if let Some(lowered) = matrix::lower(lowering, module)? {
        lowered
    } else if let Some(lowered) = warpgroup::lower(lowering, module)? {
        lowered
    } else if let Some(lowered) = warp::lower(lowering, module)? {
        lowered
    } else {
        Lowered::of(Op::Native(Box::new(element_wise(lowering)?)))
    };
    lowering.finish()?;
    Ok(lowered)
}

/// Lowers an element-wise instruction.
///
/// # Errors
/// Returns what is not supported.
pub(super) fn element_wise(lowering: &mut Lowering<'_, '_>) -> Result<Native, Missing> {
    if let Some(native) = float::lower(lowering)? {
        lowering.finish()?;
        return Ok(native);
    }
    let native = integer::lower(lowering)?.ok_or(Missing::Opcode)?;
    lowering.finish()?;
    Ok(native)
}
