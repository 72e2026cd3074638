//! Memory accesses: addresses, types, memory order.

use super::{Predicate, Row};
use crate::isa::{Space, Type};

/// Address: a base row plus a constant, which includes symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Base.
    pub base: AddressBase,
    /// Offset from the base, in bytes.
    pub offset: i64,
}

/// Base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// No base: the offset is the address.
    Zero,
    /// A 32-bit row (shared, local, const and param addresses), zero-extended.
    Narrow(Row),
    /// A 64-bit row.
    Wide(Row),
    /// Registers of machine code, whose addresses are pairs of 32-bit rows.
    Native(NativeAddress),
}

/// Sum of registers that machine code uses as an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeAddress {
    /// Thread register, or the low one of a pair.
    pub row: Option<Row>,
    /// Left shift of the thread register (`.X4`: 2, `.X8`: 3, `.X16`: 4).
    pub shift: u8,
    /// True if the thread register is a pair (`R2.64`).
    pub pair: bool,
    /// Uniform register, or the low one of a pair.
    pub uniform: Option<Row>,
    /// True if the uniform register is a pair.
    pub uniform_pair: bool,
    /// True for a 64-bit address; otherwise the sum wraps in 32 bits.
    pub wide: bool,
}

/// Properties of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// State space.
    pub space: Space,
    /// Element type: width in memory, and sign or zero extension into the register.
    pub ty: Type,
    /// Elements per lane: 1, 2 or 4.
    pub count: u8,
    /// True if the registers are 64-bit rows; these can be wider than `ty`.
    pub wide: bool,
    /// Memory order.
    pub order: MemoryOrder,
    /// Scope of the memory order.
    pub scope: Scope,
    /// True if the access bypasses L1 (`.cg`, `.cv`, `.volatile`, strong).
    pub bypass_l1: bool,
}

impl Access {
    /// Returns true for one 32-bit element per lane in a 32-bit register.
    pub const fn is_word(&self) -> bool {
        self.is_words() && self.count == 1
    }

    /// Returns true for 32-bit elements in 32-bit registers.
    pub const fn is_words(&self) -> bool {
        self.ty.bits() == 32 && !self.wide
    }

    /// Returns true for a strong access, which may be concurrent.
    ///
    /// A spin loop on it yields.
    pub const fn strong(&self) -> bool {
        !matches!(self.order, MemoryOrder::Weak)
    }
}

/// Memory order of an access (PTX ISA, "Memory Consistency Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// `.weak`, the default of `ld` and `st`.
    Weak,
    /// `.volatile`: strong, without further ordering.
    Volatile,
    /// `.relaxed`, the default of `atom` and `red`.
    Relaxed,
    /// `.acquire`: later accesses see the other thread's accesses before its release.
    Acquire,
    /// `.release`: earlier accesses are visible to an acquiring thread.
    Release,
    /// `.acq_rel`
    AcquireRelease,
}

/// Scope of a strong access or a fence.
///
/// The scopes wider than a block are equivalent, but for the time of a fence in machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `.cta`: threads of the block, which share an L1.
    Block,
    /// `.cluster` and `.gpu`.
    Gpu,
    /// `.sys`
    System,
}

impl MemoryOrder {
    /// Returns true for acquire semantics.
    pub const fn acquires(self) -> bool {
        matches!(self, MemoryOrder::Acquire | MemoryOrder::AcquireRelease)
    }

    /// Returns true for release semantics.
    pub const fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcquireRelease)
    }
}

/// `ld`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Access properties.
    pub access: Access,
    /// Results; the first `access.count` are valid. `None` for `_`.
    pub d: [Option<Row>; 4],
    /// True if the results are uniform registers, which hold one value in all lanes (ULDC).
    pub uniform: bool,
    /// Address.
    pub address: Address,
}

/// `st`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Store {
    /// Access properties.
    pub access: Access,
    /// Sources; the first `access.count` are valid.
    pub s: [Row; 4],
    /// Address.
    pub address: Address,
}

/// Read-modify-write functions of `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "PTX names; inc/dec wrap at the operand; cas compares with b and writes c"
)]
pub enum AtomicFn {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exch,
    Cas,
}

/// `atom`/`red` on a vector: each element is updated atomically, the vector as a whole is not,
/// unless it is [`joint`](AtomicVector::joint).
#[derive(Clone, Debug, PartialEq)]
pub struct AtomicVector {
    /// Update of the first element.
    pub first: Atomic,
    /// Old value and operand `b` of each further element.
    pub others: Vec<(Option<Row>, Row)>,
    /// Row with the upper half of `c`, for exchanges of 128 bits: two elements change as one.
    pub joint: Option<Row>,
}

/// Forms of atomics in machine code that an SM serves in ways of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicForm {
    /// All others.
    Usual,
    /// ATOMS.CAST.SPIN: the result is 1 where the value was swapped, else 0.
    Cast,
    /// ATOMS.POPC.INC: adds the number of lanes at each word.
    Count,
}

/// `atom`/`red`. Lanes execute in ascending order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atomic {
    /// Generic, global or shared.
    pub space: Space,
    /// Function.
    pub f: AtomicFn,
    /// Element type: 32 or 64 bits (16 for cas); also floats and pairs for add.
    pub ty: Type,
    /// Memory order; never weak.
    pub order: MemoryOrder,
    /// Scope of the memory order.
    pub scope: Scope,
    /// Old value; `None` for `red` and `_`.
    pub d: Option<Row>,
    /// Address.
    pub address: Address,
    /// Operand `b`.
    pub b: Row,
    /// Operand `c` (cas only).
    pub c: Row,
    /// True if 64-bit values are in pairs of 32-bit rows (machine code).
    pub pairs: bool,
    /// How machine code says it.
    pub form: AtomicForm,
    /// Predicate that is true in the lanes that ATOM of machine code serves: those whose generic
    /// address is global, or shared for what shared memory does with 64 bits (EXCH, CAS).
    ///
    /// The others do nothing: code for other memories follows.
    pub reached: Option<Predicate>,
}

impl Atomic {
    /// Returns the 32-bit registers of its operands, without the address.
    pub(crate) fn operand_registers(&self) -> u32 {
        let words = if self.ty.is_wide() { 2 } else { 1 };
        match (self.form, self.f) {
            (AtomicForm::Count, _) => 0,
            (_, AtomicFn::Cas) => 2 * words,
            _ => words,
        }
    }
}
