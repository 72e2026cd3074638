//! Barrier objects in shared memory: `mbarrier`.
//!
//! An object has the layout of an H200's: bits 1 to 20 the arrivals that a phase expects, 21 to 41
//! the pending bytes, 43 to 62 the pending arrivals, 63 the parity of the phase. Arrivals are
//! negated, modulo 2^20. A phase ends when neither arrivals nor bytes are pending; the next one
//! starts at once. The state of an arrival is the object before it.

use super::access::{check, fill_addresses, first_fault_of, put};
use super::lanes::set_predicate;
use super::memory::{SharedMemory, Words};
use super::{AccessKind, Effect, Env, Fault, FaultKind, MemoryAccess, RegisterFile};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::layout::{SHARED_WINDOW, WINDOW_BYTES};
use crate::kernel::{ByCopies, MBarrier, MBarrierFn, ObjectLayout, Op, Row, StateForm};

/// Bits of a number of arrivals.
const COUNT: u64 = (1 << 20) - 1;
/// Bits of a number of bytes.
const BYTES: u64 = (1 << 21) - 1;
/// Bits of the pending and of the expected arrivals before sm_90.
const WORD_PENDING: u64 = (1 << 31) - 1;
const WORD_EXPECTED: u64 = (1 << 30) - 1;

/// Fields of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fields {
    parity: bool,
    pending: u64,
    expected: u64,
    /// Modulo 2^21.
    bytes: u64,
    layout: ObjectLayout,
}

impl Fields {
    fn of(bits: u64, layout: ObjectLayout) -> Fields {
        if layout == ObjectLayout::Words {
            return Fields {
                parity: bits >> 63 != 0,
                pending: (bits >> 32).wrapping_neg() & WORD_PENDING,
                expected: bits.wrapping_neg() & WORD_EXPECTED,
                bytes: 0,
                layout,
            };
        }
        let negated = |shift: u32| (bits >> shift & COUNT).wrapping_neg() & COUNT;
        Fields {
            parity: bits >> 63 != 0,
            pending: negated(43),
            expected: negated(1),
            bytes: bits >> 21 & BYTES,
            layout,
        }
    }

    fn bits(self) -> u64 {
        if self.layout == ObjectLayout::Words {
            return u64::from(self.parity) << 63
                | (self.pending.wrapping_neg() & WORD_PENDING) << 32
                | self.expected.wrapping_neg() & WORD_EXPECTED;
        }
        let negated = |count: u64| count.wrapping_neg() & COUNT;
        u64::from(self.parity) << 63
            | negated(self.pending) << 43
            | (self.bytes & BYTES) << 21
            | negated(self.expected) << 1
    }

    /// Ends the phase if nothing is pending.
    fn advance(self) -> Fields {
        if self.pending > 0 || self.bytes & BYTES > 0 {
            return self;
        }
        Fields { parity: !self.parity, pending: self.expected, ..self }
    }

    /// Returns the fields after `bytes` expected bytes have arrived.
    fn complete(self, bytes: u64) -> Fields {
        Fields { bytes: self.bytes.wrapping_sub(bytes), ..self }.advance()
    }

    /// Returns the fields while `bytes` more are expected.
    fn expect(self, bytes: u64) -> Fields {
        Fields { bytes: self.bytes.wrapping_add(bytes), ..self }
    }

    /// Returns the fields after `count` arrivals; `None` if fewer are pending.
    fn arrive(self, count: u64, drops: bool) -> Option<Fields> {
        let pending = self.pending.checked_sub(count)?;
        let expected = self.expected.checked_sub(if drops { count } else { 0 })?;
        Some(Fields { pending, expected, ..self }.advance())
    }
}

/// Returns the pending arrivals of a state.
pub(super) fn pending_count(state: u64) -> u32 {
    Fields::of(state, ObjectLayout::Bytes).pending as u32
}

fn load(shared: &SharedMemory, address: u64) -> u64 {
    u64::from(shared.load(0, address + 4)) << 32 | u64::from(shared.load(0, address))
}

/// Stores an object. Returns true if it changed.
fn store(shared: &mut SharedMemory, address: u64, bits: u64) -> bool {
    shared.store(0, address, bits as u32) | shared.store(0, address + 4, (bits >> 32) as u32)
}

/// Restores the objects of the lanes below `end`, which lane `end`'s fault leaves unchanged.
fn undo(lanes: LaneMask, end: u32, states: &[u64; MAX_LANES], env: &mut Env<'_>) {
    for lane in (0..end).rev().filter(|&lane| lanes.contains(lane)) {
        let l = lane as usize % MAX_LANES;
        store(env.shared, env.addresses[l], states[l]);
    }
}

/// Action of asynchronous copies at a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyArrival {
    /// Address of the object in shared memory.
    pub address: u64,
    /// True if a byte arrives, not a thread.
    pub completes: bool,
    /// Layout of the object.
    pub layout: ObjectLayout,
}

impl CopyArrival {
    /// Returns what `op` does at the object at `address` when the copies are done.
    pub fn of(op: &Op, address: u64) -> CopyArrival {
        let (completes, layout) = match op {
            Op::MBarrier(op) => (op.f != MBarrierFn::ByCopies(ByCopies::Arrive), op.layout),
            _ => (false, ObjectLayout::default()),
        };
        CopyArrival { address, completes, layout }
    }
}

/// Acts at an object for asynchronous copies that are done.
///
/// Does nothing if no arrival is pending, which [`super::step`] has ruled out at the instruction.
pub fn arrive_by_copies(shared: &mut SharedMemory, arrival: CopyArrival) {
    let CopyArrival { address, completes, layout } = arrival;
    let fields = Fields::of(load(shared, address), layout);
    let after = match completes {
        true => Some(fields.complete(1)),
        false => fields.arrive(1, false),
    };
    if let Some(after) = after {
        store(shared, address, after.bits());
    }
}

/// Counts `bytes` bytes of a bulk copy as arrived at an object.
pub(super) fn complete(shared: &mut SharedMemory, address: u64, bytes: u64) {
    let fields = Fields::of(load(shared, address), ObjectLayout::Bytes);
    store(shared, address, fields.complete(bytes).bits());
}

/// Executes `mbarrier`, in ascending order of the lanes.
pub(super) fn execute(
    op: &MBarrier,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    let Some(lowest) = lanes.lowest() else { return Ok(Effect::Done) };
    // SYNCS.EXCH has uniform operands: a warp executes it once.
    let lanes = if op.f == MBarrierFn::InitBits { LaneMask::lane(lowest) } else { lanes };
    fill_addresses(op.address, LaneMask::FULL, registers, env.addresses);
    if op.space == Space::Generic {
        for lane in lanes.lanes() {
            let address = &mut env.addresses[lane as usize % MAX_LANES];
            // An address outside of the window stays outside of shared memory.
            let offset = address.wrapping_sub(SHARED_WINDOW);
            *address = if offset < WINDOW_BYTES { offset } else { *address | 1 << 32 };
        }
    }
    if check(Space::Shared, lanes, 8, !op.f.tests(), env).is_none() {
        return Err(first_fault_of(Space::Shared, lanes, 8, true, env));
    }
    let mut states = [0; MAX_LANES];
    let (mut ended, mut changed) = (0, false);
    for lane in lanes.lanes() {
        let l = lane as usize % MAX_LANES;
        let address = env.addresses[l];
        let old = load(env.shared, address);
        states[l] = old;
        let fields = Fields::of(old, op.layout);
        let operand = op.a.map(|row| match (op.f.takes_state(), op.state) {
            (false, _) => registers.narrow[usize::from(row.0)][l].into(),
            (true, StateForm::Wide) => registers.wide[usize::from(row.0)][l],
            (true, _) => {
                let word = |row: u16| u64::from(registers.narrow[usize::from(row)][l]);
                word(row.0 + 1) << 32 | word(row.0)
            }
        });
        let a = operand.unwrap_or(1);
        let new = match op.f {
            MBarrierFn::Init if a == 0 || a > COUNT => {
                undo(lanes, lane, &states, env);
                return Err(Fault { lane, kind: FaultKind::BadArrivalCount { count: a } });
            }
            MBarrierFn::Init => {
                Some(Fields { parity: false, pending: a, expected: a, bytes: 0, layout: op.layout })
            }
            MBarrierFn::InitBits => {
                changed |= store(env.shared, address, a);
                continue;
            }
            MBarrierFn::Inval => {
                changed |= store(env.shared, address, 0);
                continue;
            }
            MBarrierFn::Arrive { drops, expects: true } => fields.expect(a).arrive(1, drops),
            MBarrierFn::Arrive { drops, expects: false } => fields.arrive(a, drops),
            MBarrierFn::ExpectTx => Some(fields.expect(a)),
            MBarrierFn::CompleteTx => Some(fields.complete(a)),
            MBarrierFn::ByCopies(ByCopies::Arrive) => (fields.pending > 0).then_some(fields),
            MBarrierFn::ByCopies(ByCopies::ExpectAndComplete) => Some(fields.expect(1)),
            MBarrierFn::ByCopies(ByCopies::Complete) => Some(fields),
            MBarrierFn::Test => {
                ended |= u32::from(fields.parity != (a >> 63 != 0)) << lane;
                continue;
            }
            MBarrierFn::TestParity => {
                ended |= u32::from(fields.parity != (a & 1 != 0)) << lane;
                continue;
            }
            MBarrierFn::TestSign => {
                ended |= u32::from(fields.parity != (a >> 31 & 1 != 0)) << lane;
                continue;
            }
        };
        let Some(new) = new else {
            undo(lanes, lane, &states, env);
            return Err(Fault { lane, kind: FaultKind::TooManyArrivals { address } });
        };
        changed |= store(env.shared, address, new.bits());
    }
    if let Some(d) = op.d {
        let (wide, masked) = (op.state == StateForm::Wide, op.state == StateForm::Masked);
        put(registers, d, wide, lanes, |lane| if masked { 0 } else { states[lane] });
        if !wide {
            put(registers, Row(d.0 + 1), false, lanes, |lane| states[lane] >> 32);
        }
    }
    if let Some(p) = op.p {
        set_predicate(registers, p, lanes, ended);
    }
    let kind = match op.f {
        MBarrierFn::Init | MBarrierFn::InitBits | MBarrierFn::Inval => AccessKind::Write,
        f if f.tests() => AccessKind::Read,
        _ => AccessKind::Atomic,
    };
    let access = MemoryAccess {
        space: Space::Shared,
        kind,
        lanes,
        bytes: 8,
        bypass_l1: true,
        changed,
        row: false,
    };
    Ok(match op.f {
        MBarrierFn::ByCopies(_) => Effect::ArriveByCopies(access),
        _ => Effect::Access(access),
    })
}
