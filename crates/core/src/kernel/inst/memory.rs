//! Accesses to memory: where, how much, what becomes of it.

use super::Row;
use crate::isa::{Space, Type};

/// An address: a base row plus a constant. Symbols are folded into the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The base.
    pub base: AddressBase,
    /// Added to it; the whole address when there is no base.
    pub offset: i64,
}

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// Zero.
    Zero,
    /// A 32-bit row (shared, local, const and param addresses), zero-extended.
    Narrow(Row),
    /// A 64-bit row.
    Wide(Row),
}

/// A memory type: how many bytes, and how they become a register's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The state space.
    pub space: Space,
    /// The element type: width in memory; sign- or zero-extension into the register. `LaneOp` widths: the register row is wide iff `wide`.
    pub ty: Type,
    /// Elements a lane: 1, 2 or 4.
    pub count: u8,
    /// Whether the registers are 64-bit rows (a narrower load may fill a wider register).
    pub wide: bool,
    /// What it promises to other threads.
    pub order: MemoryOrder,
    /// To which.
    pub scope: Scope,
    /// `.cg`, `.cv`, `.volatile`, strong: goes to L2 without looking in L1.
    pub bypass_l1: bool,
}

impl Access {
    /// Whether it is strong: other threads' accesses may run at the same time, and a spin loop on it yields.
    pub const fn strong(&self) -> bool {
        !matches!(self.order, MemoryOrder::Weak)
    }
}

/// What a memory access promises to other threads (PTX ISA, "Memory Consistency Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// Nothing (`.weak`, the default of `ld` and `st`).
    Weak,
    /// `.volatile`: strong, and no more than that.
    Volatile,
    /// `.relaxed`, the default of `atom` and `red`.
    Relaxed,
    /// `.acquire`: what follows comes after what the other thread released.
    Acquire,
    /// `.release`: what came before is seen by who acquires.
    Release,
    /// `.acq_rel`
    AcquireRelease,
}

/// Which threads a strong access or a fence makes a promise to. PTX has three scopes wider than a block (cluster, GPU,
/// system); nothing here tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `.cta`: those of the thread's block, which share an L1.
    Block,
    /// All others.
    Wider,
}

impl MemoryOrder {
    /// Whether later accesses of the thread see what another one released.
    pub const fn acquires(self) -> bool {
        matches!(self, MemoryOrder::Acquire | MemoryOrder::AcquireRelease)
    }

    /// Whether earlier accesses of the thread are released.
    pub const fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcquireRelease)
    }
}

/// `ld`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// What is read.
    pub access: Access,
    /// Results; `access.count` of them count. `None` for `_`.
    pub d: [Option<Row>; 4],
    /// From where.
    pub address: Address,
}

/// `st`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Store {
    /// What is written.
    pub access: Access,
    /// Sources; `access.count` of them count.
    pub s: [Row; 4],
    /// To where.
    pub address: Address,
}

/// Read-modify-write functions of `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "PTX's own names; inc/dec wrap at the operand; cas compares with b and writes c")]
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

/// `atom`/`red`. Lanes are served in ascending order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atomic {
    /// Generic, global or shared.
    pub space: Space,
    /// The function.
    pub f: AtomicFn,
    /// The element type: 32 or 64 bits (16 for cas); also floats and pairs for add.
    pub ty: Type,
    /// What it promises to other threads; never weak.
    pub order: MemoryOrder,
    /// To which.
    pub scope: Scope,
    /// The old value; `None` for `red` and `_`.
    pub d: Option<Row>,
    /// Where.
    pub address: Address,
    /// Operand `b`.
    pub b: Row,
    /// Operand `c` (cas only).
    pub c: Row,
}
