//! Barrier objects in shared memory (`mbarrier`).

use super::{Address, MemoryOrder, Predicate, Row};
use crate::isa::Space;

/// Operations on a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MBarrierFn {
    /// Makes an object that expects `a` arrivals per phase.
    Init,
    /// Makes an object of its bits `a` (SYNCS.EXCH.64).
    InitBits,
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
    /// Tests if the phase of the parity in bit 31 of `a` has ended, into `p` (SYNCS.PHASECHK).
    TestSign,
    /// Acts when the thread's earlier asynchronous copies are done.
    ByCopies(ByCopies),
}

/// Action at a barrier object when asynchronous copies are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByCopies {
    /// Arrives; the object expects this arrival (`.noinc`).
    Arrive,
    /// Expects one more byte at once, which arrives then (without `.noinc`).
    ///
    /// An H200 so delays the end of the phase, without a further arrival.
    ExpectAndComplete,
    /// Counts one expected byte as arrived (ARRIVES.LDGSTSBAR.TRANSCNT).
    Complete,
}

/// Layout of a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ObjectLayout {
    /// sm_90: arrivals and bytes, in 64 bits.
    #[default]
    Bytes,
    /// sm_80 to sm_89: the expected arrivals in one word, the pending ones in the next.
    Words,
}

/// Registers of the state before an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StateForm {
    /// A wide row.
    #[default]
    Wide,
    /// A pair of narrow rows (machine code).
    Pair,
    /// A pair of narrow rows, of which the lower one is the mask of lower lanes that arrived at the
    /// same time: none, because lanes arrive one by one (`.TMASK` of machine code).
    Masked,
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
    /// Layout of the object.
    pub layout: ObjectLayout,
    /// State before an arrival.
    pub d: Option<Row>,
    /// Registers of a state.
    pub state: StateForm,
    /// True if a test that fails may suspend the thread for a while (`try_wait`).
    pub suspends: bool,
    /// Result of a test.
    pub p: Option<Predicate>,
    /// Operand: a state or the bits of an object, otherwise a narrow row.
    pub a: Option<Row>,
}

impl MBarrierFn {
    /// Returns true if the operand has 64 bits: a state, or the bits of an object.
    pub const fn takes_state(self) -> bool {
        matches!(self, MBarrierFn::Test | MBarrierFn::InitBits)
    }

    /// Returns true if the operation only reads the object.
    pub const fn tests(self) -> bool {
        matches!(self, MBarrierFn::Test | MBarrierFn::TestParity | MBarrierFn::TestSign)
    }
}
