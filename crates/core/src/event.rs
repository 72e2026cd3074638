//! Machine events and the observer interface.
//!
//! Events are small, `Copy` and hold ids only. Observers are composed by static dispatch: an absent
//! observer costs nothing.

mod observer;
mod traffic;

pub use observer::Observer;
pub use traffic::{AccessWay, L2Traffic, MemoryKind, Traffic};

use crate::base::{BlockId, Cycle, LaneMask, MAX_LANES, Pc, SmId, WarpId};

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
    /// Memory accessed. A generic access to several is an access of each.
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
