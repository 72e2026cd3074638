//! The vocabulary of what happened in a machine, and who listens.
//!
//! Events are small, `Copy` and hold ids only. Observers are composed from outside by static dispatch: an observer that is
//! absent costs nothing.

use crate::base::{BlockId, Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::divergence::WarpControl;

/// Why a warp does not issue. Each resident warp is in exactly one of these states (or selected) in every cycle.
/// The names are Nsight Compute's warp states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stall {
    /// Waits for a fixed-latency result, or out the issue interval of its own last instruction.
    Wait,
    /// Waits for a shared-memory, special-function or shuffle result.
    ShortScoreboard,
    /// Waits for a global or local memory result.
    LongScoreboard,
    /// Waits at a block barrier.
    Barrier,
    /// Waits for a memory fence.
    Membar,
    /// Waits for the target of its branch.
    BranchResolving,
    /// The execution unit it needs is busy.
    MathPipeThrottle,
    /// The shared-memory and special-function queue is full.
    MioThrottle,
    /// The global-memory queue is full.
    LgThrottle,
    /// Could issue, but its scheduler issued another warp.
    NotSelected,
    /// Sleeps (`nanosleep`).
    Sleeping,
    /// All its lanes are blocked on each other: joins, warp syncs (only seen before a deadlock verdict).
    Blocked,
    /// Has exited and waits for its stores or its block.
    Drain,
    /// Waits for its next instruction: a miss in the instruction caches, or the refetch after a branch.
    NoInstruction,
    /// Waits for a constant that no cache holds yet.
    ImcMiss,
}

impl Stall {
    /// Every state, in declaration order; `stall as usize` is its index here.
    pub const ALL: [Stall; 15] = [
        Stall::Wait,
        Stall::ShortScoreboard,
        Stall::LongScoreboard,
        Stall::Barrier,
        Stall::Membar,
        Stall::BranchResolving,
        Stall::MathPipeThrottle,
        Stall::MioThrottle,
        Stall::LgThrottle,
        Stall::NotSelected,
        Stall::Sleeping,
        Stall::Blocked,
        Stall::Drain,
        Stall::NoInstruction,
        Stall::ImcMiss,
    ];

    /// The state's name as Nsight Compute writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Stall::Wait => "wait",
            Stall::ShortScoreboard => "short_scoreboard",
            Stall::LongScoreboard => "long_scoreboard",
            Stall::Barrier => "barrier",
            Stall::Membar => "membar",
            Stall::BranchResolving => "branch_resolving",
            Stall::MathPipeThrottle => "math_pipe_throttle",
            Stall::MioThrottle => "mio_throttle",
            Stall::LgThrottle => "lg_throttle",
            Stall::NotSelected => "not_selected",
            Stall::Sleeping => "sleeping",
            Stall::Blocked => "blocked",
            Stall::Drain => "drain",
            Stall::NoInstruction => "no_instruction",
            Stall::ImcMiss => "imc_miss",
        }
    }
}

/// Why a scheduler issued nothing in a cycle. With the slots used, these add up to schedulers x cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SlotLoss {
    /// No resident warp on this scheduler: the block or the grid has run out, or admission has not filled it.
    NoWarp,
    /// The only warps of this scheduler belong to a block that was admitted and has not launched them yet.
    Launch,
    /// Every resident warp waits; the reason is that of the warp that is ready first.
    Stalled(Stall),
}

/// What sort of memory was accessed, as counters distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryKind {
    /// Global (and generic that lands there).
    Global,
    /// Shared.
    Shared,
    /// Local.
    Local,
    /// Constants and parameters.
    Const,
}

/// How one warp-level access went through the memory system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Which memory.
    pub memory: MemoryKind,
    /// Load, store or atomic.
    pub kind: AccessWay,
    /// Lanes that took part.
    pub lanes: LaneMask,
    /// Bytes asked for: lanes x bytes a lane.
    pub requested: u32,
    /// Distinct 32-byte sectors (global, local); 0 for shared.
    pub sectors: u32,
    /// Distinct 128-byte lines (global, local); 0 for shared.
    pub lines: u32,
    /// Transactions as this machine's generation counts them: sectors, or segments on older machines.
    pub transactions: u32,
    /// Sectors found in L1.
    pub l1_hits: u32,
    /// Sectors found in L2 (of those that missed or bypassed L1): in the share that the SM has of it. So for the next three.
    pub l2_hits: u32,
    /// Sectors that L2 counts a second time: their home is the partition of L2 that the SM is not attached to.
    pub l2_crossed: u32,
    /// Sectors that were read from DRAM.
    pub dram: u32,
    /// Sectors that L2 wrote back to DRAM on this access's account: older ones, which had to make room.
    pub written_back: u32,
    /// Shared-memory wavefronts (passes); 1 = no bank conflict. 0 for the others.
    pub wavefronts: u32,
    /// The fewest wavefronts the same bytes could have taken.
    pub ideal_wavefronts: u32,
}

impl Traffic {
    /// Bytes that each lane moved.
    pub fn bytes_per_lane(&self) -> u32 {
        self.requested / self.lanes.count().max(1)
    }
}

/// What accesses found in one L2 of the whole GPU. (What each found in its SM's share is in its [`Traffic`].)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L2Traffic {
    /// Sectors that were looked up: all, or those of some lines that stand for all.
    pub sectors: u64,
    /// Of those, found. What loads and atomics do not find is read from DRAM.
    pub hits: u64,
    /// Of those, counted a second time, as [`Traffic::l2_crossed`].
    pub crossed: u64,
    /// Older sectors that were written back meanwhile.
    pub written_back: u64,
}

impl L2Traffic {
    /// Adds what `other` counted.
    pub fn add(&mut self, other: &L2Traffic) {
        self.sectors += other.sectors;
        self.hits += other.hits;
        self.crossed += other.crossed;
        self.written_back += other.written_back;
    }
}

/// Load, store or atomic, as counters distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessWay {
    /// Load.
    Load,
    /// Store.
    Store,
    /// Atomic or reduction.
    Atomic,
}

/// Something happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A block was admitted.
    BlockStart {
        /// When.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// Which.
        block: BlockId,
        /// How many warps it has; each follows as a `WarpStart`.
        warps: u32,
    },
    /// A block's last warp ended.
    BlockEnd {
        /// When.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// Which.
        block: BlockId,
    },
    /// A warp was launched: from this cycle on it counts as resident.
    WarpStart {
        /// When.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// Its slot.
        warp: WarpId,
        /// Its block.
        block: BlockId,
        /// Its index in the block.
        index: u32,
        /// Its lanes.
        lanes: LaneMask,
    },
    /// A warp's last lane ended. Its slot is free again at `cycle`.
    WarpEnd {
        /// When.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// Its slot.
        warp: WarpId,
        /// When it was launched.
        since: Cycle,
    },
    /// A step was issued.
    Issue {
        /// When.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// The warp.
        warp: WarpId,
        /// The step.
        pc: Pc,
        /// The active mask.
        active: LaneMask,
        /// The lanes whose guard held.
        lanes: LaneMask,
        /// Issue slots it took at once. 0 for a join step on a machine that prices joins at nothing.
        slots: u32,
    },
    /// A further one of the machine instructions that the step issued last by a warp expands to.
    IssuePart {
        /// When.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// The warp.
        warp: WarpId,
        /// The step.
        pc: Pc,
        /// The lanes that were active when the step was issued.
        active: LaneMask,
        /// Those of them whose guard held.
        lanes: LaneMask,
    },
    /// A conditional branch was executed (also reported as `Issue`).
    Branch {
        /// When.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// The warp.
        warp: WarpId,
        /// The step.
        pc: Pc,
        /// The active mask.
        active: LaneMask,
        /// The lanes that branch; divergent iff neither empty nor all of `active`.
        taken: LaneMask,
    },
    /// A memory access was executed (also reported as `Issue`).
    Memory {
        /// When.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// The warp.
        warp: WarpId,
        /// The step.
        pc: Pc,
        /// What it did to the memory system.
        traffic: Traffic,
    },
    /// A warp arrived at a block barrier (also reported as `Issue`).
    Barrier {
        /// When.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// The warp.
        warp: WarpId,
        /// The step.
        pc: Pc,
        /// The lanes that execute it.
        lanes: LaneMask,
        /// The lanes that count as arrived: before Volta all of the warp's.
        arriving: LaneMask,
        /// The barrier's number.
        id: u8,
        /// The thread count that the instruction names.
        count: Option<u32>,
        /// Whether the lanes wait; `bar.arrive` does not.
        wait: bool,
    },
    /// Lanes whose guard fails pass a block barrier at which others of their group arrive (not
    /// reported as `Issue`).
    BarrierPassed {
        /// Where.
        sm: SmId,
        /// The warp.
        warp: WarpId,
        /// The step.
        pc: Pc,
        /// The lanes that pass.
        lanes: LaneMask,
    },
    /// The threads that wait at a block barrier go on: all have come.
    BarrierOpen {
        /// When the last one came.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// Whose barrier.
        block: BlockId,
        /// Its number.
        id: u8,
    },
    /// An instruction that names member lanes was executed (also reported as `Issue`).
    Collective {
        /// Where.
        sm: SmId,
        /// The warp.
        warp: WarpId,
        /// The step.
        pc: Pc,
        /// The lanes that execute it.
        lanes: LaneMask,
        /// The lanes that it names.
        members: LaneMask,
    },
    /// A shuffle gave lanes the value of a lane that does not take part (also reported as `Issue`).
    UndefinedShuffle {
        /// Where.
        sm: SmId,
        /// The warp.
        warp: WarpId,
        /// The step.
        pc: Pc,
        /// The lanes whose value is undefined, never none.
        lanes: LaneMask,
        /// The lane that the lowest of them read.
        source: u32,
    },
    /// A warp spent `cycles` in one state.
    WarpStalled {
        /// Where.
        sm: SmId,
        /// The warp.
        warp: WarpId,
        /// The step it waited to issue.
        pc: Pc,
        /// The state.
        stall: Stall,
        /// How long.
        cycles: Cycle,
    },
    /// A scheduler issued nothing for `cycles` cycles from `cycle` on.
    SlotsLost {
        /// From when.
        cycle: Cycle,
        /// Where.
        sm: SmId,
        /// Which scheduler.
        scheduler: u32,
        /// Why.
        reason: SlotLoss,
        /// How long.
        cycles: Cycle,
    },
    /// An SM has done its last block.
    SmEnd {
        /// Its total cycles.
        cycle: Cycle,
        /// Which.
        sm: SmId,
        /// Blocks it ran.
        blocks: u32,
    },
    /// All SMs have ended. Comes once for each memory and way, after observers are merged, when there were several SMs.
    L2 {
        /// Global or local.
        memory: MemoryKind,
        /// How it was accessed.
        way: AccessWay,
        /// What the accesses of all SMs found in the L2 that they share.
        found: L2Traffic,
    },
}

/// What the lanes of a warp asked of memory, as the program says it.
#[derive(Clone, Copy, Debug)]
pub struct LaneAccess<'a> {
    /// Which memory. Of a generic access whose lanes reach several, that of the lowest lane.
    pub memory: MemoryKind,
    /// Load, store or atomic.
    pub way: AccessWay,
    /// The lanes that took part.
    pub lanes: LaneMask,
    /// Bytes a lane.
    pub bytes: u32,
    /// Where each lane went: an offset in shared and local memory, absolute elsewhere. Lanes that took no part hold anything.
    pub addresses: &'a [u64; MAX_LANES],
    /// What each lane stored, an entry for each element of a vector; nothing for loads and atomics.
    pub stored: [Option<Cells<'a>>; 4],
}

/// A register of each lane.
#[derive(Clone, Copy, Debug)]
pub enum Cells<'a> {
    /// Of 32 bits.
    Narrow(&'a [u32; MAX_LANES]),
    /// Of 64 bits.
    Wide(&'a [u64; MAX_LANES]),
}

impl Cells<'_> {
    /// The lane's value, zero-extended.
    #[inline]
    pub fn get(&self, lane: u32) -> u64 {
        match self {
            Cells::Narrow(row) => row[lane as usize % MAX_LANES].into(),
            Cells::Wide(row) => row[lane as usize % MAX_LANES],
        }
    }
}

/// Someone who folds events into values. One observer per SM; [`Observer::merge`] joins them in SM order.
pub trait Observer: Send + Sized {
    /// Takes one event.
    fn on(&mut self, event: Event);
    /// Is shown the control state of a warp: before each of its issues, and whenever it has settled after one. Too large
    /// for an event; who does not look at it pays nothing.
    #[inline(always)]
    fn control(&mut self, _: SmId, _: WarpId, _: &WarpControl) {}
    /// Is shown what the lanes of a warp asked of memory, right before its [`Event::Memory`]. Memory is already changed. Too
    /// large for an event; who does not look at it pays nothing.
    #[inline(always)]
    fn access(&mut self, _: WarpId, _: Pc, _: &LaneAccess<'_>) {}
    /// Is shown where the lanes of a memory access went, right after its [`Event::Memory`]: the address of each lane that took
    /// part (the others hold anything). Local memory is interleaved as the caches see it, shared memory counts from the
    /// block's first byte. Too large for an event; who does not look at it pays nothing.
    #[inline(always)]
    fn addresses(&mut self, _: WarpId, _: Pc, _: &Traffic, _: &[u64; MAX_LANES]) {}
    /// Whether it has seen everything it wants. A run that is only watched (`machine::watch`) may then stop.
    #[inline(always)]
    fn is_done(&self) -> bool {
        false
    }
    /// Takes over what `other` (the observer of a later SM) saw.
    fn merge(&mut self, other: Self);
}

/// Nobody listens.
impl Observer for () {
    #[inline(always)]
    fn on(&mut self, _: Event) {}
    fn merge(&mut self, (): ()) {}
}

/// Two observers of the same run.
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn on(&mut self, event: Event) {
        self.0.on(event);
        self.1.on(event);
    }
    #[inline(always)]
    fn control(&mut self, sm: SmId, warp: WarpId, control: &WarpControl) {
        self.0.control(sm, warp, control);
        self.1.control(sm, warp, control);
    }
    #[inline(always)]
    fn access(&mut self, warp: WarpId, pc: Pc, access: &LaneAccess<'_>) {
        self.0.access(warp, pc, access);
        self.1.access(warp, pc, access);
    }
    #[inline(always)]
    fn addresses(&mut self, warp: WarpId, pc: Pc, traffic: &Traffic, addresses: &[u64; MAX_LANES]) {
        self.0.addresses(warp, pc, traffic, addresses);
        self.1.addresses(warp, pc, traffic, addresses);
    }
    #[inline(always)]
    fn is_done(&self) -> bool {
        self.0.is_done() && self.1.is_done()
    }
    fn merge(&mut self, other: (A, B)) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }
}
