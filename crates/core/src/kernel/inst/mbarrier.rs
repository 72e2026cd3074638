//! Barrier objects in shared memory (`mbarrier`).

use super::{Address, MemoryOrder, Predicate, Row};
use crate::isa::Space;

/// Operations on a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MBarrierFn {
    /// Makes an object that expects `a` arrivals per phase.
    Init,
    /// Ends the life of an object.
    Inval,
    /// Arrives `a` times, or once without `a`. `d` is the state before.
    Arrive {
        /// True if later phases expect as many arrivals less (`arrive_drop`).
        drops: bool,
        /// True if `a` is a number of bytes to expect, and one thread arrives (`.expect_tx`).
        expects: bool,
    },
    /// Expects `a` more bytes in the phase.
    ExpectTx,
    /// Counts `a` expected bytes as arrived.
    CompleteTx,
    /// Tests if the phase of state `a` has ended, into `p`.
    Test,
    /// Tests if the phase of parity `a` has ended, into `p`.
    TestParity,
    /// Arrives when the thread's earlier asynchronous copies are done.
    ArriveByCopies {
        /// True if the arrival is one of those that the object expects (`.noinc`).
        ///
        /// Otherwise the phase expects one more.
        expected: bool,
    },
}

/// `mbarrier`
#[derive(Clone, Debug, PartialEq)]
pub struct MBarrier {
    /// Operation.
    pub f: MBarrierFn,
    /// Shared or generic.
    pub space: Space,
    /// Memory order.
    pub order: MemoryOrder,
    /// Address of the object, 8 bytes in shared memory.
    pub address: Address,
    /// State before an arrival, a wide row.
    pub d: Option<Row>,
    /// Result of a test.
    pub p: Option<Predicate>,
    /// Operand: wide for a state, otherwise narrow.
    pub a: Option<Row>,
}

impl MBarrierFn {
    /// Returns true if the operand is a state, in a wide row.
    pub const fn takes_state(self) -> bool {
        matches!(self, MBarrierFn::Test)
    }

    /// Returns true if the operation only reads the object.
    pub const fn tests(self) -> bool {
        matches!(self, MBarrierFn::Test | MBarrierFn::TestParity)
    }
}
