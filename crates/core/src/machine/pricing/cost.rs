//! Cost of a step.

use super::Kind;
use super::visible::Visibility;
use crate::base::{Cycle, Pc};
use crate::event::Stall;
use crate::exec::LaneFunction;
use crate::kernel::{Op, PredicateUse};
use crate::machine::read_ports::BankReads;
use crate::machine::requests::queue_of;
use crate::machine::scheduler::Port;
use crate::machine::warp::Until;

/// Maximum number of registers of an instruction: `shfl.sync` has a guard and six operands.
pub(super) const MOST_REGISTERS: usize = 8;

/// Number of scoreboard entries that are read without a loop.
pub(super) const USUAL_REGISTERS: usize = 4;

/// A warp cannot issue a step at once if the step's [`Cost::preparation`], and 1 more while the
/// warp runs ahead of a barrier, are at least this.
pub(in crate::machine) const NEEDS_PREPARATION: u8 = 2;

/// Cost of a step: what every issue needs in the first cache line, the rest in a second one.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(in crate::machine) struct Cost<'a> {
    /// Cycles until the same warp may issue its next step, with the stall reason.
    ///
    /// They cover the issue slots and, for branches, the time until the target is known.
    pub gap: Until,
    /// Scoreboard entries to wait for: the first ones of [`Cost::touched`], then unused ones.
    pub(super) usual: [u16; USUAL_REGISTERS],
    /// Cycles until a dependent may issue, unless the memory system determines it.
    pub latency: u32,
    /// Cycles for which it keeps the unit busy.
    pub interval: u32,
    /// Line of machine code that contains it.
    pub line: u32,
    /// PC of lanes that neither branch nor exit.
    pub next: Pc,
    /// Guard.
    pub predicate: Option<PredicateUse>,
    /// Extra cycles until the guard's predicate is ready; 0 without a guard.
    pub(super) guard_delay: u32,
    /// Scoreboard entry of the guard; an unused one without a delay.
    pub(super) guard: u16,
    /// First written scoreboard entry.
    pub(super) result_entry: u16,
    pub kind: Kind,
    /// Port that must be free for it to issue.
    pub port: Port,
    /// Stall reason of a warp that waits for the port.
    pub throttle: Stall,
    /// Stall reason of a warp that waits for its result.
    pub result: Stall,
    pub(super) writes: u8,
    pub(super) touches: u8,
    /// 0: a warp can issue the step at once. 1: it can unless it runs ahead of a barrier.
    /// [`NEEDS_PREPARATION`]: it never can.
    pub preparation: u8,
    /// Of machine code: registers that it reads of the two banks of the register file, and the same
    /// without the operands that instructions before have kept.
    pub reads: BankReads,
    pub reads_reused: BankReads,
    /// Instructions since the oldest of these was kept.
    pub kept_for: u8,
    /// True if its reads [pass at once](BankReads::pass_at_once).
    pub reads_once: bool,
    /// True if a warp may issue it ahead of a deferred barrier at which it has arrived.
    pub ahead: bool,
    /// True for a branch, which waits for uniform values needed after it.
    pub branches: bool,
    /// Number of scoreboard entries that it waits for.
    pub awaits: u8,
    /// True if it waits at its issue for more than dependences (machine code): its constant
    /// operand, or a counter's value.
    pub waits: bool,
    /// True if it changes only registers and has one issue slot on a port of the scheduler.
    pub simple: bool,
    /// True for one of machine code that queues for its unit or raises a counter when its sources
    /// have been read.
    pub queued: bool,
    /// Entries that are written only.
    pub(super) skips: u8,
    /// True if it invalidates the SM's L1 (CCTL.IVALL).
    pub empties_l1: bool,
    /// True for a load or store of shared memory that [`exec::repeat`] may execute.
    pub repeats: bool,
    /// True if it loads the constant, and does not wait for it before it issues.
    pub loads_constant: bool,
    /// True if the control word lets other warps issue first.
    pub yields: bool,
    /// Issue slots taken at once.
    pub slots: u32,
    /// One more than the index of its [`Expansion`]; 0: none.
    pub expansion: u32,
    /// Effect on lanes of a step that changes only registers, and its operation.
    pub lanes: LaneFunction,
    pub op: &'a Op,
    /// Share of a wait for the pipe in which other warps kept it busy, in units of 2^-64.
    pub(super) others: u64,
    /// Whether other SMs can see its effect.
    pub visibility: Visibility,
    /// Scoreboard entries, written ones first.
    pub(super) entries: [u16; MOST_REGISTERS],
    /// Of machine code: dependence counter of the sources, and cycles until they have been read.
    pub read_counter: Option<(u8, u8)>,
    /// Of machine code: cycles on the special function unit, for which instructions queue.
    pub queues: u32,
    /// Of machine code: further cycles of a load of several words per lane, or of an atomic of
    /// shared memory.
    pub wide: u32,
    /// Of machine code: cycles on the SM's unit of jumps through registers.
    pub jumps: u16,
    /// Of machine code: one more than the line of its constant operand; 0 without one.
    pub constant: u16,
    /// Of machine code: cycles until the next instruction of a branch that is taken, or of a
    /// convergence operation; 0 if the control word has them.
    pub resolves: u32,
    /// Of machine code: counter that must fall to a value (DEPBAR).
    pub falls_to: Option<(u8, u8)>,
}

impl<'a> Cost<'a> {
    /// Returns the scoreboard entries that the step reads or writes, or the counters it waits for.
    #[inline]
    pub(in crate::machine) fn touched(&self) -> &[u16] {
        let end = usize::from(self.touches).min(MOST_REGISTERS);
        &self.entries[usize::from(self.skips).min(end)..end]
    }

    /// Returns the first entries of [`Cost::touched`], filled up with unused ones.
    #[inline]
    pub(in crate::machine) fn usual(&self) -> [u16; USUAL_REGISTERS] {
        self.usual
    }

    /// Returns the further entries of [`Cost::touched`].
    #[inline]
    pub(in crate::machine) fn unusual(&self) -> &[u16] {
        self.touched().get(USUAL_REGISTERS..).unwrap_or_default()
    }

    /// Returns the cycles of a wait for the pipe in which other warps kept it busy: of each
    /// interval, another warp issues in one cycle.
    #[inline]
    pub(in crate::machine) fn of_others(&self, wait: Cycle) -> Cycle {
        ((u128::from(wait) * u128::from(self.others)) >> 64) as Cycle
    }

    /// Returns the scoreboard entry of the guard and the delay of its predicate.
    #[inline]
    pub(in crate::machine) fn guard(&self) -> (u16, Cycle) {
        (self.guard, self.guard_delay.into())
    }

    /// Returns the number of written entries and the first one.
    #[inline]
    pub(in crate::machine) fn result_entry(&self) -> (u8, u16) {
        (self.writes, self.result_entry)
    }

    /// Sets what follows from the entries, the interval and the reads. `unused` is an entry that
    /// nothing writes.
    pub(super) fn with_entries(mut self, unused: u16) -> Cost<'a> {
        let touched = self.touched().to_vec();
        self.usual = std::array::from_fn(|i| touched.get(i).copied().unwrap_or(unused));
        self.result_entry = self.written().first().copied().unwrap_or(unused);
        if self.guard_delay == 0 {
            self.guard = unused;
        }
        self.awaits = touched.len() as u8;
        self.reads_once = self.reads.pass_at_once();
        self.others = share_of_others(self.interval);
        self
    }

    /// Returns [`Cost::preparation`].
    pub(super) fn needed_preparation(&self) -> u8 {
        match self.kind < Kind::FreeJoin {
            true => u8::from(!self.ahead),
            false => NEEDS_PREPARATION,
        }
    }

    /// Returns true if [`Cost::simple`] holds in code without DEPBAR.
    pub(super) fn is_simple(&self) -> bool {
        self.kind == Kind::ElementWise
            && (self.slots, self.expansion) == (1, 0)
            && !self.port.is_shared()
            && !self.loads_constant
            && !(self.queued && queue_of(self.port).is_some())
    }

    /// Returns the scoreboard entries that the step writes.
    #[inline]
    pub(in crate::machine) fn written(&self) -> &[u16] {
        &self.entries[..usize::from(self.writes).min(MOST_REGISTERS)]
    }
}

/// Returns `interval - 1` of `interval` in units of 2^-64, rounded up.
///
/// The product with a wait below 2^64 / `interval` has the same whole part as that of the fraction.
fn share_of_others(interval: u32) -> u64 {
    let interval = u128::from(interval.max(1));
    ((interval - 1) << 64).div_ceil(interval) as u64
}

#[cfg(test)]
mod tests {
    use super::share_of_others;

    #[test]
    fn the_share_of_others_is_exact() {
        for interval in [0, 1, 2, 3, 7, 8, 12, 100] {
            let share = u128::from(share_of_others(interval));
            let interval = u128::from(interval.max(1));
            for wait in (0..1000).chain([1 << 40, (1 << 50) + 1]) {
                assert_eq!((wait * share) >> 64, wait * (interval - 1) / interval);
            }
        }
    }
}
