//! Resident blocks: occupancy, block state and block barriers.
//!
//! Barriers count threads. [`WarpControl::arriving`](crate::divergence::WarpControl::arriving)
//! returns how many arrive when a warp executes one; the rest is the same for all machines.
//! Barriers do not wait for exited threads (facts C5, C6).

use super::carve_out;
use crate::base::{BlockId, Cycle, MAX_LANES};
use crate::exec::{self, BulkData, CopyArrival, SharedMemory, block_shared_bytes};
use crate::kernel::Kernel;
use crate::launch::Launch;
use crate::spec::{Machine, Mode};

/// Barriers per block.
pub(super) const BARRIERS: usize = 16;

/// Resident blocks per SM and their limiting resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Warps per block.
    pub warps_per_block: u32,
    /// Resident blocks per SM.
    pub blocks: u32,
    /// Registers per thread.
    pub registers_per_thread: u32,
    /// Limiting resource: `warps`, `threads`, `blocks`, `registers` or `shared memory`.
    pub limit: &'static str,
    /// Bytes of L1 that the driver makes shared memory, for machine code; 0 if that is not known.
    pub carve_out: u32,
}

/// Launch or code that does not fit a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DoesNotFit {
    /// A block needs more of a resource than an SM has.
    #[error("a block needs {needs} {what}, but {machine} has {has}")]
    Resource {
        /// Machine name.
        machine: String,
        /// Resource, in plural.
        what: &'static str,
        /// Amount that a block needs.
        needs: u64,
        /// Amount available.
        has: u64,
    },
    /// A cooperative launch with more blocks than the machine holds at once.
    #[error(
        "a cooperative launch of {blocks} blocks does not fit: {machine} holds {most} at once \
         ({resident} per SM, limited by {limit})"
    )]
    Cooperative {
        /// Machine name.
        machine: String,
        /// Blocks of the grid.
        blocks: u64,
        /// Blocks that the machine holds.
        most: u64,
        /// Resident blocks per SM.
        resident: u32,
        /// Limiting resource, as in [`Occupancy::limit`].
        limit: &'static str,
    },
    /// Machine code of sm_70 or later in pre-Volta mode.
    #[error(
        "machine code of sm_{arch} has barrier registers, no reconvergence stack: it cannot run in \
         pre-volta mode"
    )]
    NoStack {
        /// Architecture number.
        arch: u32,
    },
    /// A kernel whose blocks form clusters.
    #[error("clusters of {blocks} blocks are not simulated")]
    Clusters {
        /// Blocks of a cluster.
        blocks: u64,
    },
    /// Machine code on a machine with smaller warps.
    #[error("machine code is compiled for warps of 32 lanes, but {machine} has {lanes}")]
    WarpSize {
        /// Machine name.
        machine: String,
        /// Lanes of its warps.
        lanes: u32,
    },
}

impl DoesNotFit {
    /// Checks that the code of a kernel can run on a machine in a mode.
    ///
    /// # Errors
    /// If machine code with barrier registers is to run in pre-Volta mode, or in smaller warps, or
    /// blocks form clusters.
    pub fn check_code(kernel: &Kernel, spec: &Machine, mode: Mode) -> Result<(), DoesNotFit> {
        let blocks = kernel.cluster.iter().map(|&n| u64::from(n)).product();
        if blocks > 1 {
            return Err(DoesNotFit::Clusters { blocks });
        }
        match &kernel.native {
            Some(native) if mode == Mode::PreVolta => {
                Err(DoesNotFit::NoStack { arch: native.arch })
            }
            Some(_) if spec.warp_size as usize != MAX_LANES => {
                Err(DoesNotFit::WarpSize { machine: spec.name.clone(), lanes: spec.warp_size })
            }
            _ => Ok(()),
        }
    }
}

impl Occupancy {
    /// Computes the resident blocks of a launch.
    ///
    /// # Errors
    /// If not even one block fits, or not all of a cooperative launch.
    pub fn new(kernel: &Kernel, launch: &Launch, spec: &Machine) -> Result<Occupancy, DoesNotFit> {
        let threads = launch.block.iter().map(|&n| u64::from(n)).product::<u64>();
        let fail = |what, needs, has: u64| {
            Err(DoesNotFit::Resource { machine: spec.name.clone(), what, needs, has })
        };
        if threads > u64::from(spec.max_block_threads) {
            return fail("threads", threads, spec.max_block_threads.into());
        }
        let threads = threads as u32;
        let warps = threads.div_ceil(spec.warp_size);
        let registers = launch.registers.unwrap_or(kernel.registers_per_thread).max(16);
        let per_warp =
            u64::from(registers * spec.warp_size).next_multiple_of(u64::from(spec.register_unit));
        let shared = u64::from(block_shared_bytes(kernel.shared_bytes, launch.dynamic_shared));
        let has = spec.shared_bytes.saturating_sub(spec.shared_reserved).into();
        if shared > has {
            return fail("bytes of shared memory", shared, has);
        }
        let uses_shared = shared > 0;
        let shared =
            shared.next_multiple_of(u64::from(spec.shared_unit)) + u64::from(spec.shared_reserved);
        let by = |has: u32, needs: u64| {
            u64::from(has).checked_div(needs).unwrap_or(u64::from(spec.max_blocks))
        };
        // On a tie, name the resource that a programmer can change last.
        let others = [
            (u64::from(spec.max_blocks), "blocks"),
            (by(spec.max_warps, u64::from(warps)), "warps"),
            (by(spec.max_threads, u64::from(threads)), "threads"),
            (by(spec.registers, u64::from(warps) * per_warp), "registers"),
        ];
        let fewest = |limits: &[(u64, &'static str)]| {
            limits.iter().copied().min_by_key(|&(blocks, _)| blocks).unwrap_or((1, "blocks"))
        };
        let without_shared = fewest(&others);
        let by_shared = by(spec.shared_bytes, shared).max(u64::from(shared != 0));
        let (blocks, limit) = fewest(&[without_shared, (by_shared, "shared memory")]);
        match (blocks, limit) {
            (0, "registers") => {
                fail("registers", u64::from(warps) * per_warp, spec.registers.into())
            }
            (0, "threads") => fail("threads", u64::from(threads), spec.max_threads.into()),
            (0, _) => fail("warps", u64::from(warps), spec.max_warps.into()),
            _ => {
                // Each SM reserves room for its resident blocks, even if it never has that many.
                let grid = launch.grid.iter().map(|&n| u64::from(n)).product::<u64>();
                let share = MOST_STATE / (blocks * u64::from(spec.sms).min(grid.max(1)));
                let state = u64::from(warps) * warp_state(kernel);
                if state > share {
                    return fail("bytes of registers and local memory", state, share);
                }
                let most = blocks * u64::from(spec.sms);
                if launch.cooperative && grid > most {
                    let (machine, resident) = (spec.name.clone(), blocks as u32);
                    return Err(DoesNotFit::Cooperative {
                        machine,
                        blocks: grid,
                        most,
                        resident,
                        limit,
                    });
                }
                Ok(Occupancy {
                    warps_per_block: warps,
                    blocks: blocks as u32,
                    registers_per_thread: registers,
                    limit,
                    carve_out: match uses_shared {
                        true => carve_out::of_shared(spec, shared, without_shared.0),
                        false => carve_out::of_none(spec, threads),
                    },
                })
            }
        }
    }
}

/// Host bytes for the registers and local memory of all resident warps, at most.
///
/// Buffers have the same limit. A GPU also refuses launches that exceed its local memory.
const MOST_STATE: u64 = 16 << 30;

/// Returns the host bytes for a warp's registers and local memory.
fn warp_state(kernel: &Kernel) -> u64 {
    let rows = u64::from(kernel.registers.narrow) * 4 + u64::from(kernel.registers.wide) * 8;
    MAX_LANES as u64 * (rows + u64::from(kernel.local_bytes))
}

/// Resident block of an SM.
#[derive(Clone)]
pub(super) struct Block {
    pub id: BlockId,
    /// Threads that have not exited.
    pub live: u32,
    /// Warps that have not ended.
    pub warps: u32,
    /// End of the last warp that has exited, less the usual time of EXIT (machine code).
    pub drained: Cycle,
    pub shared: SharedMemory,
    barriers: [Barrier; BARRIERS],
    /// Arrivals of asynchronous copies at `mbarrier` objects, with their cycles.
    pub late: Vec<(Cycle, CopyArrival)>,
    /// Bulk copies to shared memory that have not landed, with the cycles at which they do.
    pub bulk: Vec<(Cycle, BulkData)>,
    /// Bit mask of barriers with arrivals, so that exits need not check all sixteen.
    open: u16,
}

/// Current phase of a barrier.
#[derive(Clone, Copy, Default)]
struct Barrier {
    /// Threads that have arrived.
    arrived: u32,
    /// Thread count to wait for; `None`: all live threads.
    count: Option<u32>,
    /// Cycle of the last arrival.
    last: Cycle,
    votes: Votes,
}

/// Votes collected by `bar.red`.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(super) struct Votes {
    /// Threads that voted.
    pub threads: u32,
    /// Threads whose predicate is true.
    pub holds: u32,
}

/// Barrier that has just completed.
pub(super) struct Released {
    pub id: u8,
    pub last: Cycle,
    pub votes: Votes,
}

impl Block {
    /// Creates a slot for blocks of a kernel.
    pub(super) fn new(shared_bytes: u32, kernel: &Kernel) -> Block {
        Block {
            id: BlockId(0),
            live: 0,
            warps: 0,
            drained: 0,
            shared: SharedMemory::new(kernel.granted_shared(shared_bytes))
                .after(kernel.reserved_shared()),
            barriers: [Barrier::default(); BARRIERS],
            late: Vec::new(),
            bulk: Vec::new(),
            open: 0,
        }
    }

    /// Starts a new block in the slot.
    pub(super) fn start(&mut self, id: BlockId, threads: u32, warps: u32) {
        self.id = id;
        self.live = threads;
        self.warps = warps;
        self.drained = 0;
        self.shared.clear();
        self.late.clear();
        self.bulk.clear();
        self.barriers = [Barrier::default(); BARRIERS];
        self.open = 0;
    }

    /// Lets copies that are done at `now` land in shared memory and arrive at their objects.
    pub(super) fn land(&mut self, now: Cycle) {
        let Block { late, bulk, shared, .. } = self;
        // A later copy overwrites an earlier one.
        bulk.sort_by_key(|&(at, _)| at);
        let landed = bulk.partition_point(|&(at, _)| at <= now);
        bulk.drain(..landed).for_each(|(_, data)| exec::land_bulk(shared, &data));
        late.retain(|&(at, arrival)| {
            if at <= now {
                exec::arrive_by_copies(shared, arrival);
            }
            at > now
        });
    }

    /// Returns the cycle at which the next bytes arrive at the object at `address`.
    pub(super) fn next_bytes(&self, address: u64) -> Option<Cycle> {
        let coming = self.bulk.iter().filter(|(_, data)| data.object == Some(address));
        coming.map(|&(at, _)| at).min()
    }

    /// Returns true if a copy has still to land or to arrive.
    pub(super) fn awaits_copies(&self) -> bool {
        !(self.late.is_empty() && self.bulk.is_empty())
    }

    /// Records the arrival of `threads` threads at barrier `id`.
    pub(super) fn arrive(
        &mut self,
        id: u8,
        threads: u32,
        count: Option<u32>,
        votes: Votes,
        now: Cycle,
    ) {
        let barrier = &mut self.barriers[usize::from(id) % BARRIERS];
        barrier.arrived += threads;
        barrier.count = count;
        barrier.last = barrier.last.max(now);
        barrier.votes.threads += votes.threads;
        barrier.votes.holds += votes.holds;
        self.open |= 1 << (usize::from(id) % BARRIERS);
    }

    /// Returns true if all threads for which barrier `id` waits have arrived.
    #[inline]
    pub(super) fn is_complete(&self, id: u8) -> bool {
        let (arrived, expected) = self.progress(id);
        arrived >= expected
    }

    /// Takes a completed barrier, if any.
    #[inline]
    pub(super) fn take_complete(&mut self) -> Option<Released> {
        let mut open = self.open;
        while open != 0 {
            let id = open.trailing_zeros() as usize;
            open &= open - 1;
            let barrier = self.barriers[id];
            if barrier.arrived >= barrier.count.unwrap_or(self.live) {
                self.barriers[id] = Barrier::default();
                self.open &= !(1 << id);
                return Some(Released { id: id as u8, last: barrier.last, votes: barrier.votes });
            }
        }
        None
    }

    /// Returns the thread count named by the arrivals at barrier `id`.
    pub(super) fn count(&self, id: u8) -> Option<u32> {
        self.barriers[usize::from(id) % BARRIERS].count
    }

    /// Returns the arrived and the expected threads of barrier `id`.
    pub(super) fn progress(&self, id: u8) -> (u32, u32) {
        let barrier = self.barriers[usize::from(id) % BARRIERS];
        (barrier.arrived, barrier.count.unwrap_or(self.live))
    }
}
