//! Memory system of a machine file.

use serde::Deserialize;

/// Cache parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Capacity in bytes (L1: per SM; L2: of the GPU, divided among the SMs with work).
    pub bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// Cycles until a dependent instruction may issue after a hit.
    pub latency: u32,
}

/// Instruction caches of an SM, cold at launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstructionCache {
    /// Cycles until a line (128 bytes) arrives after its first request.
    pub latency: u32,
    /// Cycles between two lines on their way to the SM.
    pub interval: u32,
    /// Lines prefetched after the requested one.
    pub prefetch: u32,
}

/// Effect of a store on a line in L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum StorePolicy {
    /// Updates the line.
    WriteThrough,
    /// Drops the line (Fermi's L1 for global stores).
    WriteEvict,
}

/// Unit of global transactions in the generation's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Transactions {
    /// 32-byte sectors (Maxwell and later; Kepler with L1 bypassed).
    Sectors,
    /// 128-byte lines through L1 (Fermi).
    Lines,
}

/// Texture unit of an SM, which serves the fetches of its schedulers in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextureUnit {
    /// Fetches of a scheduler that wait to be taken by the unit; 1 to 15.
    pub queue: u32,
    /// Fetches of all schedulers that the unit holds before it serves them; 1 to 15.
    pub holds: u32,
    /// Cycles by which a result is later for each further group of lanes.
    pub group: u32,
    /// Cycles by which fetches by integers and loads from surfaces are faster than the filter.
    pub direct: u32,
}

/// Path of stores to L2: packets pass the SM's own path, then one that all SMs share.
///
/// The load/store unit serves in order. A store without room in the SM's own path stalls all later
/// accesses, and a load that misses in L1 follows the stores in flight.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorePath {
    /// Packets per line of a request that is not written completely.
    pub line: u32,
    /// Packets per sector. The SM's own path takes one packet per cycle.
    pub sector: u32,
    /// Maximum packets waiting in the SM's own path. With lines that stores can join
    /// (`Combining`): cycles by which the load/store unit takes requests ahead.
    pub queue: u32,
    /// Packets per cycle that L2 takes from all SMs together.
    pub l2_packets_per_cycle: f64,
    /// Backlog of the shared path, in cycles, above which the SM's own path stalls.
    pub l2_queue_cycles: u32,
}

/// Unit of an SM for bulk copies (TMA).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BulkUnit {
    /// Cycles until the first bytes from L2 have arrived at a barrier object.
    pub load: u32,
    /// Cycles until the first bytes to L2 have left the SM.
    pub store: u32,
    /// Cycles that a reduction takes at least.
    pub reduce: u32,
    /// Cycles that lines of a load are apart at least.
    pub line: u32,
    /// Bytes per cycle that one SM loads.
    pub load_rate: f64,
    /// Bytes per cycle that all SMs load together.
    pub load_rate_all: f64,
    /// Bytes per cycle that one SM stores.
    pub store_rate: f64,
    /// Bytes per cycle that one SM reduces.
    pub reduce_rate: f64,
    /// Bytes per cycle that all SMs store or reduce together.
    pub store_rate_all: f64,
}

/// Delay of DRAM reads by other traffic.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DramWait {
    /// Maximum delay in cycles.
    pub most: u32,
    /// Bytes per cycle, of all SMs, at which reads wait up to half of the maximum.
    pub half: f64,
    /// Weight of a written byte in the traffic, in read bytes.
    pub write: u32,
}

/// Memory system.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Unit of `gld_transactions` on this machine (sectors are reported as well).
    pub transactions: Transactions,
    /// True if a miss fetches whole 128-byte lines instead of the touched sectors.
    pub fill_lines: bool,
    /// L1 of an SM; `None`: global loads bypass it.
    pub l1: Option<Cache>,
    /// Effect of stores on L1.
    pub l1_store: StorePolicy,
    /// Cycles for which each 128-byte line of a request keeps the L1 port busy.
    pub l1_line_interval: u32,
    /// Extra cycles of an L1 access per further pass over its banks; 0: no bank conflicts.
    ///
    /// The banks are those of shared memory; a pass keeps the port busy for a cycle.
    pub l1_conflict: u32,
    /// L2 of the whole GPU.
    pub l2: Cache,
    /// Number of L2 partitions, 1 or 2. With 2, data with its home in the far one is in both.
    pub l2_partitions: u32,
    /// Ways of an L2 set that may be dirty before write-back; 0: all.
    pub l2_dirty_ways: u32,
    /// Bytes in L2 left dirty by earlier work; written back when L2 needs their room.
    pub l2_dirty_before: u64,
    /// Bytes per cycle from L2 to all SMs together.
    pub l2_bytes_per_cycle: f64,
    /// Maximum bytes per cycle from L2 to one SM.
    pub l2_bytes_per_cycle_sm: f64,
    /// Separate path of stores to L2; `None`: they share the path of loads.
    pub stores: Option<StorePath>,
    /// Mean cycles until a dependent may issue after an unloaded DRAM access.
    pub dram_latency: u32,
    /// Range of DRAM latency around the mean, in cycles.
    ///
    /// Each line has its own latency in this range, because banks, rows and distances are not
    /// modeled. A barrier waits for the slowest.
    pub dram_spread: u32,
    /// Delay of reads by other traffic, below full bandwidth; `None`: no delay.
    pub dram_wait: Option<DramWait>,
    /// Bytes per cycle from DRAM to all SMs together.
    pub dram_bytes_per_cycle: f64,
    /// Backlog to L2, in cycles, above which memory instructions wait (`lg_throttle`).
    pub queue_cycles: u32,
    /// Texture unit of an SM.
    pub texture: TextureUnit,
    /// Unit for bulk copies; `None`: rates and latency of L2.
    #[serde(default)]
    pub bulk: Option<BulkUnit>,
    /// Cycles until a dependent may issue after a shared load without conflict.
    pub shared_latency: u32,
    /// Banks of shared memory, 4 bytes wide.
    pub shared_banks: u32,
    /// Extra cycles per further pass of a bank conflict.
    pub shared_conflict: u32,
    /// Cycles of a global atomic's round trip.
    pub atomic_latency: u32,
    /// Extra cycles of a global atomic per further lane on the same word.
    pub atomic_conflict: u32,
    /// Extra cycles of a shared atomic per further lane on the same word.
    pub shared_atomic_conflict: u32,
}
