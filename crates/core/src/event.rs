//! Machine events and the observer interface.
//!
//! Events are small, `Copy` and hold ids only. Observers are composed by static dispatch: an absent
//! observer costs nothing.

use crate::base::{BlockId, Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::divergence::WarpControl;

/// Warp state in a cycle without issue, named as in Nsight Compute.
///
/// In every cycle a resident warp is in exactly one of these states, or selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stall {
    /// Waits for a fixed-latency result or its own issue interval.
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
    /// Execution unit busy.
    MathPipeThrottle,
    /// Shared-memory and special-function queue full.
    MioThrottle,
    /// Global-memory queue full.
    LgThrottle,
    /// Queue of the texture unit full.
    TexThrottle,
    /// Could issue, but its scheduler issued another warp.
    NotSelected,
    /// Sleeps (`nanosleep`).
    Sleeping,
    /// All lanes wait for each other at joins or warp syncs; precedes a deadlock.
    Blocked,
    /// Exited; waits for its stores or its block.
    Drain,
    /// Waits for an instruction: an instruction-cache miss, or a fetch after a branch.
    NoInstruction,
    /// Waits for a constant after a constant-cache miss.
    ImcMiss,
    /// The dispatch of instructions stands still: the register file delivers operands.
    DispatchStall,
}

impl Stall {
    /// All states in declaration order; `stall as usize` is the index.
    pub const ALL: [Stall; 17] = [
        Stall::Wait,
        Stall::ShortScoreboard,
        Stall::LongScoreboard,
        Stall::Barrier,
        Stall::Membar,
        Stall::BranchResolving,
        Stall::MathPipeThrottle,
        Stall::MioThrottle,
        Stall::LgThrottle,
        Stall::TexThrottle,
        Stall::NotSelected,
        Stall::Sleeping,
        Stall::Blocked,
        Stall::Drain,
        Stall::NoInstruction,
        Stall::ImcMiss,
        Stall::DispatchStall,
    ];

    /// Returns the state's name in Nsight Compute.
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
            Stall::TexThrottle => "tex_throttle",
            Stall::NotSelected => "not_selected",
            Stall::Sleeping => "sleeping",
            Stall::Blocked => "blocked",
            Stall::Drain => "drain",
            Stall::NoInstruction => "no_instruction",
            Stall::ImcMiss => "imc_miss",
            Stall::DispatchStall => "dispatch_stall",
        }
    }
}

/// Reason for an empty issue slot. Used and lost slots add up to schedulers x cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SlotLoss {
    /// No resident warp on this scheduler: no blocks left, or not yet admitted.
    NoWarp,
    /// Warps of an admitted block not launched yet.
    Launch,
    /// Every resident warp waits; the state is that of the warp ready first.
    Stalled(Stall),
}

/// Kind of memory, as distinguished by counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryKind {
    /// Global, and generic accesses to global memory.
    Global,
    /// Shared.
    Shared,
    /// Local.
    Local,
    /// Constants and parameters.
    Const,
    /// Textures.
    Texture,
    /// Surfaces.
    Surface,
}

impl MemoryKind {
    /// Number of kinds.
    pub const COUNT: usize = 6;
}

/// Memory-system traffic of one warp-level access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Memory accessed.
    pub memory: MemoryKind,
    /// Load, store or atomic.
    pub kind: AccessWay,
    /// Lanes that accessed memory.
    pub lanes: LaneMask,
    /// Bytes requested: lanes x bytes per lane.
    pub requested: u32,
    /// Distinct 32-byte sectors (global, local); 0 for shared.
    pub sectors: u32,
    /// Distinct 128-byte lines (global, local); 0 for shared.
    pub lines: u32,
    /// Transactions as this machine's generation counts them: sectors, or segments on older
    /// machines.
    pub transactions: u32,
    /// Sectors that hit in L1.
    pub l1_hits: u32,
    /// Sectors that hit in the SM's share of L2, after missing or bypassing L1. The next three
    /// fields refer to this share, too.
    pub l2_hits: u32,
    /// Sectors counted a second time because their home is the far L2 partition.
    pub l2_crossed: u32,
    /// Sectors read from DRAM.
    pub dram: u32,
    /// Older sectors that L2 wrote back to DRAM to make room for this access.
    pub written_back: u32,
    /// Shared-memory wavefronts (passes); 1 = no bank conflict. Groups of lanes that the texture
    /// unit takes one by one. 0 for other memory.
    pub wavefronts: u32,
    /// Minimum wavefronts for the same bytes.
    pub ideal_wavefronts: u32,
}

impl Traffic {
    /// Returns the requests: words of a lane's local memory are apart and requested one by one, as
    /// are groups of lanes by the texture unit.
    pub fn requests(&self) -> u32 {
        match self.memory {
            MemoryKind::Local => self.bytes_per_lane().div_ceil(4).max(1),
            MemoryKind::Texture | MemoryKind::Surface => self.wavefronts.max(1),
            _ => 1,
        }
    }

    /// Returns the bytes that each lane moved.
    pub fn bytes_per_lane(&self) -> u32 {
        self.requested / self.lanes.count().max(1)
    }
}

/// Traffic in the GPU's L2. ([`Traffic`] counts the SM's share of L2.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L2Traffic {
    /// Sectors looked up: all, or those of a sample of lines.
    pub sectors: u64,
    /// Sectors that hit. Loads and atomics that miss read DRAM.
    pub hits: u64,
    /// Sectors counted a second time, as in [`Traffic::l2_crossed`].
    pub crossed: u64,
    /// Older sectors written back meanwhile.
    pub written_back: u64,
}

impl L2Traffic {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &L2Traffic) {
        self.sectors += other.sectors;
        self.hits += other.hits;
        self.crossed += other.crossed;
        self.written_back += other.written_back;
    }
}

/// Load, store or atomic, as distinguished by counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessWay {
    /// Load.
    Load,
    /// Store.
    Store,
    /// Atomic or reduction.
    Atomic,
}

/// Event in a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// Admission of a block.
    BlockStart {
        /// Cycle of admission.
        cycle: Cycle,
        /// SM of the block.
        sm: SmId,
        /// Admitted block.
        block: BlockId,
        /// Number of warps; each follows as a `WarpStart`.
        warps: u32,
    },
    /// End of a block's last warp.
    BlockEnd {
        /// Cycle of the end.
        cycle: Cycle,
        /// SM of the block.
        sm: SmId,
        /// Finished block.
        block: BlockId,
    },
    /// Launch of a warp, from which it counts as resident.
    WarpStart {
        /// Cycle of the launch.
        cycle: Cycle,
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// Block of the warp.
        block: BlockId,
        /// Warp index in the block.
        index: u32,
        /// Lanes of the warp.
        lanes: LaneMask,
    },
    /// Exit of a warp's last lane, which frees the slot at `cycle`.
    WarpEnd {
        /// Cycle of the end.
        cycle: Cycle,
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// Cycle of the launch.
        since: Cycle,
    },
    /// Issue of a step.
    Issue {
        /// Issue cycle.
        cycle: Cycle,
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// Issued step.
        pc: Pc,
        /// Active mask.
        active: LaneMask,
        /// Lanes whose guard is true.
        lanes: LaneMask,
        /// Issue slots taken at once. 0 for a join step that is free on the machine.
        slots: u32,
    },
    /// Issue of a further micro-op of the warp's last step.
    IssueMicroOp {
        /// Issue cycle.
        cycle: Cycle,
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// Issued step.
        pc: Pc,
        /// Active mask at the issue of the step.
        active: LaneMask,
        /// Active lanes whose guard is true.
        lanes: LaneMask,
    },
    /// Execution of a conditional branch (also reported as `Issue`).
    Branch {
        /// Issue cycle.
        cycle: Cycle,
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// PC of the branch.
        pc: Pc,
        /// Active mask.
        active: LaneMask,
        /// Lanes that take the branch; divergent iff neither empty nor all of `active`.
        taken: LaneMask,
    },
    /// Execution of a memory access (also reported as `Issue`).
    Memory {
        /// Issue cycle.
        cycle: Cycle,
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// PC of the access.
        pc: Pc,
        /// Traffic in the memory system.
        traffic: Traffic,
    },
    /// Arrival of a warp at a block barrier (also reported as `Issue`).
    Barrier {
        /// Issue cycle.
        cycle: Cycle,
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// PC of the barrier.
        pc: Pc,
        /// Lanes that execute it.
        lanes: LaneMask,
        /// Lanes that count as arrived: pre-Volta all of the warp's.
        arriving: LaneMask,
        /// Barrier number.
        id: u8,
        /// Thread count given by the instruction.
        count: Option<u32>,
        /// True if the lanes wait; false for `bar.arrive`.
        wait: bool,
    },
    /// Lanes with a false guard pass a barrier at which lanes of their group arrive.
    ///
    /// Not reported as `Issue`.
    BarrierPassed {
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// PC of the barrier.
        pc: Pc,
        /// Lanes that pass.
        lanes: LaneMask,
    },
    /// Opening of a block barrier.
    BarrierOpen {
        /// Cycle of the last arrival.
        cycle: Cycle,
        /// SM of the block.
        sm: SmId,
        /// Block of the barrier.
        block: BlockId,
        /// Barrier number.
        id: u8,
    },
    /// Execution of an instruction with a member mask (also reported as `Issue`).
    Collective {
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// PC of the instruction.
        pc: Pc,
        /// Lanes that execute it.
        lanes: LaneMask,
        /// Lanes named by the member mask.
        members: LaneMask,
    },
    /// Shuffle from an inactive lane (also reported as `Issue`).
    UndefinedShuffle {
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// PC of the shuffle.
        pc: Pc,
        /// Lanes whose value is undefined; never empty.
        lanes: LaneMask,
        /// Source lane of the lowest of them.
        source: u32,
    },
    /// Cycles that a warp spent in one state.
    WarpStalled {
        /// SM of the warp.
        sm: SmId,
        /// Warp slot.
        warp: WarpId,
        /// Step that the warp waited to issue.
        pc: Pc,
        /// Warp state.
        stall: Stall,
        /// Cycles in the state.
        cycles: Cycle,
    },
    /// Cycles without issue on a scheduler.
    SlotsLost {
        /// First cycle.
        cycle: Cycle,
        /// SM of the scheduler.
        sm: SmId,
        /// Scheduler index.
        scheduler: u32,
        /// Reason for the lost slots.
        reason: SlotLoss,
        /// Number of cycles.
        cycles: Cycle,
    },
    /// End of an SM's last block.
    SmEnd {
        /// Total cycles of the SM.
        cycle: Cycle,
        /// Finished SM.
        sm: SmId,
        /// Number of blocks it ran.
        blocks: u32,
    },
    /// L2 traffic of all SMs. Sent once per memory and direction after the observers are merged, if
    /// there were several SMs.
    L2 {
        /// Global or local.
        memory: MemoryKind,
        /// Load, store or atomic.
        way: AccessWay,
        /// Traffic of all SMs in their common L2.
        found: L2Traffic,
    },
}

/// Memory access of a warp's lanes, in program terms.
#[derive(Clone, Copy, Debug)]
pub struct LaneAccess<'a> {
    /// Memory accessed. For a generic access to several, that of the lowest lane.
    pub memory: MemoryKind,
    /// Load, store or atomic.
    pub way: AccessWay,
    /// Lanes that access memory.
    pub lanes: LaneMask,
    /// Bytes per lane.
    pub bytes: u32,
    /// Address by lane: an offset in shared and local memory, absolute elsewhere. Other lanes'
    /// entries are arbitrary.
    pub addresses: &'a [u64; MAX_LANES],
    /// Stored values by lane, one entry per vector element; only for stores.
    pub stored: [Option<Cells<'a>>; 4],
}

/// Text that a thread printed with `printf`.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    /// SM of the thread.
    pub sm: SmId,
    /// Block of the thread.
    pub block: BlockId,
    /// Thread index in the block.
    pub thread: u32,
    /// Warp slot of the thread.
    pub warp: WarpId,
    /// Lane of the thread.
    pub lane: u32,
    /// Bytes of one call.
    pub text: &'a [u8],
}

/// Register of each lane.
#[derive(Clone, Copy, Debug)]
pub enum Cells<'a> {
    /// 32-bit registers.
    Narrow(&'a [u32; MAX_LANES]),
    /// 64-bit registers.
    Wide(&'a [u64; MAX_LANES]),
}

impl Cells<'_> {
    /// Returns the lane's value, zero-extended.
    #[inline]
    pub fn get(&self, lane: u32) -> u64 {
        match self {
            Cells::Narrow(row) => row[lane as usize % MAX_LANES].into(),
            Cells::Wide(row) => row[lane as usize % MAX_LANES],
        }
    }
}

/// Equal executions of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issues {
    /// Step.
    pub pc: Pc,
    /// Active mask.
    pub active: LaneMask,
    /// Lanes whose guard is true.
    pub lanes: LaneMask,
    /// Number of executions.
    pub times: u64,
    /// Issue slots of all of them.
    pub slots: u64,
    /// True for a conditional branch, which `lanes` take.
    pub is_branch: bool,
}

/// Consumer that folds events into values. Each SM has one; [`Observer::merge`] joins them in SM
/// order.
pub trait Observer: Send + Sized {
    /// True if a run without time may tell equal events together.
    ///
    /// [`Observer::issues`] then stands for [`Event::Issue`] and for [`Event::Branch`] of
    /// conditional branches, [`Observer::accesses`] for [`Event::Memory`], in any order;
    /// [`Observer::control`], [`Observer::access`] and [`Observer::addresses`] are not called. A run
    /// with time calls them, but the addresses of an access to shared memory may be those of another.
    const FOLDS: bool = false;
    /// Receives equal executions of a step; see [`Observer::FOLDS`].
    fn issues(&mut self, _: &Issues) {}
    /// Receives a number of accesses of a step with equal traffic; see [`Observer::FOLDS`].
    fn accesses(&mut self, _: Pc, _: &Traffic, _: u64) {}
    /// True if it needs an [`Event::IssueMicroOp`] for each further micro-op of a step.
    ///
    /// Otherwise [`Observer::micro_ops`] tells their number after the last one.
    const EACH_MICRO_OP: bool = true;
    /// True if it needs no order between the events of one SM and those of another.
    const EACH_SM_ALONE: bool = false;
    /// Receives one event.
    fn on(&mut self, event: Event);
    /// Receives the number of further micro-ops of a step that `lanes` of the `active` ones execute.
    #[inline(always)]
    fn micro_ops(&mut self, _pc: Pc, _active: LaneMask, _lanes: LaneMask, _count: u32) {}
    /// Receives successive states of a warp before an issue, with the cycles spent in each.
    ///
    /// The default reports each state with cycles as an [`Event::WarpStalled`].
    #[inline(always)]
    fn waited<const N: usize>(
        &mut self,
        sm: SmId,
        warp: WarpId,
        pc: Pc,
        states: [(Stall, Cycle); N],
    ) {
        for (stall, cycles) in states {
            if cycles > 0 {
                self.on(Event::WarpStalled { sm, warp, pc, stall, cycles });
            }
        }
    }
    /// Receives the issue slots of a scheduler from `cycle` on that were lost to a state of warps.
    ///
    /// The default reports them as an [`Event::SlotsLost`], if there are any.
    #[inline(always)]
    fn stalled(&mut self, cycle: Cycle, sm: SmId, scheduler: u32, stall: Stall, cycles: Cycle) {
        if cycles > 0 {
            let reason = SlotLoss::Stalled(stall);
            self.on(Event::SlotsLost { cycle, sm, scheduler, reason, cycles });
        }
    }
    /// Receives the control state of a warp, before each issue and after it settles.
    ///
    /// Too large for an event; the default costs nothing.
    #[inline(always)]
    fn control(&mut self, _: SmId, _: WarpId, _: &WarpControl) {}
    /// Receives the lane access right before its [`Event::Memory`].
    ///
    /// Memory is already changed. Too large for an event; the default costs nothing.
    #[inline(always)]
    fn access(&mut self, _: WarpId, _: Pc, _: &LaneAccess<'_>) {}
    /// Receives the lane addresses of an access right after its [`Event::Memory`].
    ///
    /// Entries of inactive lanes are arbitrary. Local memory is interleaved as the caches see it;
    /// shared memory counts from the block's first byte. Too large for an event; the default costs
    /// nothing.
    #[inline(always)]
    fn addresses(&mut self, _: WarpId, _: Pc, _: &Traffic, _: &[u64; MAX_LANES]) {}
    /// Receives a text that a thread printed, in the order of issue on the SM.
    ///
    /// The default costs nothing.
    fn printed(&mut self, _: &Printed<'_>) {}
    /// Returns true if it needs no more events: `machine::watch` may then stop.
    #[inline(always)]
    fn is_done(&self) -> bool {
        false
    }
    /// Merges the results of `other`, the observer of a later SM.
    fn merge(&mut self, other: Self);
}

/// Observer that ignores all events.
impl Observer for () {
    const FOLDS: bool = true;
    const EACH_MICRO_OP: bool = false;
    const EACH_SM_ALONE: bool = true;
    #[inline(always)]
    fn on(&mut self, _: Event) {}
    fn merge(&mut self, (): ()) {}
}

/// Pair of observers of the same run.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const FOLDS: bool = A::FOLDS && B::FOLDS;
    fn issues(&mut self, issues: &Issues) {
        self.0.issues(issues);
        self.1.issues(issues);
    }
    fn accesses(&mut self, pc: Pc, traffic: &Traffic, times: u64) {
        self.0.accesses(pc, traffic, times);
        self.1.accesses(pc, traffic, times);
    }
    const EACH_MICRO_OP: bool = A::EACH_MICRO_OP || B::EACH_MICRO_OP;
    const EACH_SM_ALONE: bool = A::EACH_SM_ALONE && B::EACH_SM_ALONE;
    #[inline(always)]
    fn on(&mut self, event: Event) {
        self.0.on(event);
        self.1.on(event);
    }
    #[inline(always)]
    fn micro_ops(&mut self, pc: Pc, active: LaneMask, lanes: LaneMask, count: u32) {
        self.0.micro_ops(pc, active, lanes, count);
        self.1.micro_ops(pc, active, lanes, count);
    }
    #[inline(always)]
    fn waited<const N: usize>(
        &mut self,
        sm: SmId,
        warp: WarpId,
        pc: Pc,
        states: [(Stall, Cycle); N],
    ) {
        self.0.waited(sm, warp, pc, states);
        self.1.waited(sm, warp, pc, states);
    }
    #[inline(always)]
    fn stalled(&mut self, cycle: Cycle, sm: SmId, scheduler: u32, stall: Stall, cycles: Cycle) {
        self.0.stalled(cycle, sm, scheduler, stall, cycles);
        self.1.stalled(cycle, sm, scheduler, stall, cycles);
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
    fn printed(&mut self, printed: &Printed<'_>) {
        self.0.printed(printed);
        self.1.printed(printed);
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
