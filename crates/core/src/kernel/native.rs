//! Element-wise instructions of machine code (SASS).
//!
//! Machine code has 32-bit registers only. A 64-bit operand is a pair of rows: the named one holds
//! the low word, the next one the high word. `RZ`, immediates and constant-bank operands have rows
//! of their own, as immediates of PTX do. A uniform register is a row with one value in all lanes.

mod float;
mod integer;

pub use float::{Approximation, FloatFn};
pub use integer::*;

use super::{Narrow, Predicate, PredicateUse, PrmtMode, ReduxFn, Row, ShuffleMode};
use crate::isa::{ControlWord, Opcode, Space};

/// [`Inst::form`](super::Inst::form) of machine instructions, which have no row in the PTX table.
///
/// Such an instruction lists all that it reads, since its operation does not tell widths.
pub const MACHINE_FORM: u16 = u16::MAX - 1;

/// Size of a machine instruction in bytes.
pub const INSTRUCTION_BYTES: u64 = 16;

/// Facts of a kernel of machine code that PTX does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeKernel {
    /// Architecture number: 90 for sm_90.
    pub arch: u32,
    /// Timing of each instruction.
    pub timing: Vec<NativeTiming>,
    /// Rows that the register file has, R0 and up; uniform registers and constants follow.
    pub registers: u16,
    /// Instructions that invalidate L1 (CCTL.IVALL).
    pub invalidates_l1: Vec<u32>,
    /// Bytes of constant bank 0 before the parameters.
    pub params_at: u32,
    /// Bytes of the shared window below the block's shared memory, which the system reserves.
    pub reserved_shared: u32,
    /// Initial stack pointer: bytes of local memory per thread.
    pub stack: u32,
    /// Rows that hold values of constant banks.
    pub constants: Vec<BankRow>,
    /// Address of each constant bank other than 0, which is a variable.
    pub banks: Vec<(u8, u64)>,
    /// CUDA source file and line by instruction; 0 if unknown.
    pub source: Option<(String, Vec<u32>)>,
    /// PTX line by instruction; 0 if unknown.
    pub ptx_lines: Vec<u32>,
    /// True if the module names `malloc` or `free`.
    pub heap: bool,
}

/// Default stack of a thread in bytes (cudaLimitStackSize).
const DEFAULT_STACK: u32 = 1024;

/// Offset in bank 0 of the address of a cooperative launch's workspace, high word first, before
/// sm_90 and since.
const WORKSPACE: u32 = 0x8c;
const WORKSPACE_90: u32 = 0x44;
/// Offset in bank 0 of a generic address: of the parameters since sm_90, of the bank before.
const PARAMETERS: u32 = 0x40;
const PARAMETERS_90: u32 = 0x198;

impl NativeKernel {
    /// Returns the offset in bank 0 of the address of a cooperative launch's workspace.
    ///
    /// The high word comes first.
    pub const fn workspace_at(&self) -> u32 {
        if self.arch >= 90 { WORKSPACE_90 } else { WORKSPACE }
    }

    /// Returns the offset in bank 0 of the generic address of the parameters or, before sm_90, of
    /// the bank.
    pub const fn parameters_pointer(&self) -> u32 {
        if self.arch >= 90 { PARAMETERS_90 } else { PARAMETERS }
    }

    /// Returns true if an operand is one of the two words at `offset` in bank 0.
    pub(super) fn reads(&self, offset: u32) -> bool {
        let words = [offset, offset + 4];
        self.constants.iter().any(|row| row.bank == 0 && words.contains(&row.offset))
    }

    /// Returns the bytes of local memory per thread, whose end is the initial stack pointer.
    ///
    /// A launch may give a larger stack than the kernel's own.
    pub fn stack_of(&self, launch: Option<u32>) -> u32 {
        self.stack.max(launch.unwrap_or(DEFAULT_STACK)).next_multiple_of(16)
    }
}

/// Timing of a machine instruction, as read from a listing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NativeTiming {
    /// Control word.
    pub word: ControlWord,
    /// Opcode, which has a pipe.
    pub opcode: &'static Opcode,
    /// Counter and value to which it must fall (DEPBAR.LE).
    pub falls_to: Option<(u8, u8)>,
}

/// Row that holds a value of a constant bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankRow {
    /// Row.
    pub row: Row,
    /// Bank number.
    pub bank: u8,
    /// Byte offset in the bank.
    pub offset: u32,
    /// Size in bytes: 1, 2 or 4.
    pub bytes: u8,
    /// True for sign extension.
    pub signed: bool,
}

/// Element-wise machine instruction. `f` determines which fields are used, and their widths.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// Function.
    pub f: NativeFn,
    /// Result; `None` for RZ and for functions with predicate results only.
    pub d: Option<Row>,
    /// Predicate results; `None` for PT.
    pub p: [Option<Predicate>; 2],
    /// Sources in the order of the listing; unused ones are row 0 and never read.
    pub s: [Source; 3],
    /// Predicate sources: carries, selectors, combined predicates.
    pub q: [PredicateUse; 2],
    /// True for an instruction of the uniform datapath, which writes the same value to all lanes.
    pub uniform: bool,
}

/// Source operand with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Source {
    /// Row; of a 64-bit source, the row of the low word.
    pub row: Row,
    /// `-`: two's complement of integers, sign of floats.
    pub negate: bool,
    /// `|x|`
    pub absolute: bool,
    /// `~`: complement.
    pub invert: bool,
    /// Selected part of the register.
    pub part: Part,
}

/// Part of a 32-bit source that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "B0..B3 and H0, H1 are the listing's own names")]
pub enum Part {
    /// The whole register; for pairs of halves, `.H1_H0`.
    #[default]
    Whole,
    /// `.H0_H0`, `.H0`: the low half, for both halves.
    H0,
    /// `.H1_H1`, `.H1`: the high half, for both halves.
    H1,
    /// `.H0_NH1`: both halves, the high one negated.
    H0Nh1,
    /// `.F32` of an instruction on halves: a 32-bit float, rounded, for both halves.
    Single,
    B0,
    B1,
    B2,
    B3,
}

impl Source {
    /// Creates an unmodified source.
    pub const fn of(row: Row) -> Source {
        Source { row, negate: false, absolute: false, invert: false, part: Part::Whole }
    }
}

/// Votes of VOTE, and ELECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the predicate is true in all, in any, or equal in all lanes")]
pub enum VoteFn {
    All,
    Any,
    Equal,
    /// Holds in the lowest executing lane; the result is its number.
    Elect,
}

impl NativeFn {
    /// Returns true if the executing lanes see values of each other.
    pub fn exchanges(self) -> bool {
        use NativeFn::{Match, Redux, Shuffle, Vote};
        matches!(self, Shuffle(_) | Vote(_) | Match { .. } | Redux { .. })
    }
}

/// Function of an element-wise machine instruction.
///
/// `d`, `a`, `b`, `c` are result and sources in the order of the listing, `p`, `q` the predicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NativeFn {
    /// `d = a` (MOV, IMAD.MOV, UMOV, CS2R of zero).
    Mov,
    /// `d` = `a` of another lane: mode, `b` the lane or offset, `c` the segment; `p`: in range.
    Shuffle(ShuffleMode),
    /// `d` = lanes whose `q` holds, `p` = vote over the executing lanes.
    Vote(VoteFn),
    /// `d` = executing lanes with the lane's `a`; `all`: all of them or none, `p` tells which.
    Match {
        /// `.ALL`
        all: bool,
        /// 64-bit values.
        wide: bool,
    },
    /// `d` = reduction of `a` over the executing lanes.
    Redux {
        /// Function.
        f: ReduxFn,
        /// Signed comparison.
        signed: bool,
    },
    /// `d = a`, 64 bits (CS2R of zero).
    MovPair,
    /// `d = a + b + c`, 64 bits (UIADD3.64).
    AddPairs,
    /// `d = a + b` (VIADD, IMAD.IADD).
    Add,
    /// `d = a + b` in both halves (VIADD.16x2).
    AddHalves,
    /// `d = a * b + c` (IMAD).
    Multiply,
    /// `d = a * b + c + q`, with the carry in `p` (IMAD.X, IMAD with a carry).
    MultiplyCarry,
    /// `d = a * b + c + q` with 64-bit `d` and `c`, and the carry in `p` (IMAD.WIDE).
    MultiplyWide {
        /// False for `.U32`.
        signed: bool,
    },
    /// The high word of [`NativeFn::MultiplyWide`] (IMAD.HI).
    MultiplyHigh {
        /// False for `.U32`.
        signed: bool,
    },
    /// `d = (a << shift) + b + q`, with the carry in `p` (LEA).
    ShiftAdd {
        /// Shift count, 0 to 31.
        shift: u8,
    },
    /// `d = high word of ((c, a) << shift) + b + q`, with the carry in `p` (LEA.HI).
    ShiftAddHigh {
        /// Shift count, 0 to 31.
        shift: u8,
        /// `.SX32`: the sign of `a` takes the place of `c`.
        extend: bool,
    },
    /// `d = a << by`
    ShiftLeft {
        /// Shift count, 0 to 31.
        by: u8,
    },
    /// `d = a >> by`
    ShiftRight {
        /// Shift count, 0 to 31.
        by: u8,
        /// True for copies of the sign bit.
        signed: bool,
    },
    /// `d = a word of (c, a) shifted by b` (SHF).
    Funnel(Funnel),
    /// `d = table[a, b, c]` bit by bit; `p = d != 0`, combined with `q` (LOP3.LUT).
    Logic3 {
        /// Truth table; bit 7 is the result of three ones.
        table: u8,
        /// `.PAND`: `p` is the conjunction with `q`, else the disjunction.
        and: bool,
    },
    /// `d = four bytes of (c, a)`, selected by `b` (PRMT).
    Permute(PrmtMode),
    /// `d = q ? a : b` (SEL).
    Select,
    /// `p = (a CMP b) BOOL q, !(a CMP b) BOOL q` (ISETP).
    CompareIntegers(CompareIntegers),
    /// Minimum if `q` is true, else maximum (VIMNMX, VIMNMX3, VIADDMNMX).
    ///
    /// With 16-bit lanes, `p` tells for the low and high halves whether the result is `a`.
    MinMax(MinMax),
    /// `d = |a|` (IABS).
    Absolute,
    /// `d = number of ones of a` (POPC).
    CountOnes,
    /// `d = position of the highest bit that differs from the sign` (FLO).
    FindLeading {
        /// False for `.U32`, where the sign is 0.
        signed: bool,
        /// `.SH`: the position counts from the top.
        shift: bool,
    },
    /// `d = bits of a in reverse order` (BREV).
    Reverse,
    /// `d = b ones from bit a up` (BMSK).
    Mask {
        /// `.W`: `a` and `b` wrap at 32.
        wrap: bool,
    },
    /// `d = low b bits of a`, extended (SGXT).
    Extend {
        /// False for `.U32`.
        signed: bool,
        /// `.W`: `b` wraps at 32.
        wrap: bool,
    },
    /// `p = tables[x, y, z]` of three predicates `q[0]`, `q[1]`, `third` (PLOP3.LUT).
    PredicateLogic3 {
        /// Truth tables of both results; bit 7 is the result of three ones.
        tables: [u8; 2],
        /// Third predicate.
        third: PredicateUse,
        /// Operands, one bit each, that are the sign of `s[i]` instead of a predicate.
        signs: u8,
    },
    /// `d = a`, with bits of `mask` in byte `byte` replaced by predicates (P2R).
    PackPredicates {
        /// Predicates packed, one bit each.
        mask: u8,
        /// Byte of the register.
        byte: u8,
    },
    /// Sets the predicates of `mask` to the bits of byte `byte` of `a` (R2P).
    UnpackPredicates {
        /// Predicates written, one bit each.
        mask: u8,
        /// Byte of the register.
        byte: u8,
    },
    /// `d = c + sum of the products of bytes of a and b` (IDP.4A).
    Dot4 {
        /// Operands with signed bytes.
        signed: [bool; 2],
    },
    /// `d = c + sum of the products of the halves of a and two bytes of b` (IDP.2A).
    Dot2 {
        /// Operands with signed parts.
        signed: [bool; 2],
        /// `.HI`: the upper two bytes of `b`.
        high: bool,
    },
    /// `d = |a - b| + c` (VABSDIFF).
    AbsoluteDifference {
        /// False for `.U32`.
        signed: bool,
    },
    /// `d = |a - b|` byte by byte, or with `sum` their sum plus `c` (VABSDIFF4).
    AbsoluteDifference4 {
        /// True for signed bytes.
        signed: bool,
        /// `.ACC`
        sum: bool,
    },
    /// `d = a` clamped to a narrower type (I2I.SAT).
    Saturate(Narrow),
    /// `d = (c, a, b)`, with `a` and `b` clamped to a narrower type and `c` shifted up (I2IP.SAT).
    PackSaturated(Narrow),
    /// `d = a` of the lowest active lane, in all lanes; `p = q or a differs from d` (R2UR).
    ReadFirst,
    /// `d = a + b + c`, with the carries out of the first and second addition in `p` (IADD3).
    ///
    /// With `extended` the predicates `q` are added (IADD3.X), and `-` means complement.
    Add3 {
        /// `.X`
        extended: bool,
    },
    /// `p = generic address a + offset is in a space` (QSPC).
    InSpace {
        /// Space.
        space: Space,
        /// Constant part of the address in bytes.
        offset: i32,
    },
    /// Float function or conversion.
    Float(FloatFn),
}
