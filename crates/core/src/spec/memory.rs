//! The memory system of a machine file.

use serde::Deserialize;

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Capacity in bytes (L1: of one SM; L2: of the GPU, shared out among the SMs that have work).
    pub bytes: u64,
    /// Lines a set holds.
    pub ways: u32,
    /// Cycles from issue to the issue of a dependent instruction when the data is found here.
    pub latency: u32,
}

/// The instruction caches of an SM, which hold nothing of a kernel when its launch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstructionCache {
    /// Cycles until a line (128 bytes, eight machine instructions) arrives that the SM has not asked for before.
    pub latency: u32,
    /// Cycles between two lines on their way to the SM.
    pub interval: u32,
    /// Lines behind the one that a warp needs which are asked for with it.
    pub prefetch: u32,
}

/// What a store does to a line in L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum StorePolicy {
    /// The line is updated and stays.
    WriteThrough,
    /// The line is dropped (Fermi's L1 for global stores).
    WriteEvict,
}

/// How the generation counts global transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Transactions {
    /// 32-byte sectors (Maxwell on; Kepler with L1 bypassed).
    Sectors,
    /// 128-byte lines through L1 (Fermi).
    Lines,
}

/// How stores travel to L2: in packets, first on the SM's own way, then on one that all SMs share. What the load/store unit
/// serves, it serves in order: behind a store that the SM's own way has no room for, everything waits; a load that misses in L1
/// goes to L2 behind the stores that are on their way.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorePath {
    /// Packets for each line of a request that is not written whole.
    pub line: u32,
    /// Packets for each sector. The SM's own way takes a packet a cycle.
    pub sector: u32,
    /// Packets that wait on the SM's own way at most.
    pub queue: u32,
    /// Packets a cycle that L2 takes from all SMs together.
    pub l2_packets_per_cycle: f64,
    /// Cycles of backlog of that shared way beyond which the SM's own way stands.
    pub l2_queue_cycles: u32,
}

/// How long reads of DRAM wait for other traffic.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DramWait {
    /// Cycles: no read waits longer, however much is going on.
    pub most: u32,
    /// Bytes a cycle, of all SMs, at which reads wait up to half of that.
    pub half: f64,
    /// As how many bytes that are read one that is written counts.
    pub write: u32,
}

/// The memory system.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// What `gld_transactions` counts here natively (sectors are reported as well).
    pub transactions: Transactions,
    /// Whether a miss fetches whole 128-byte lines instead of the sectors touched.
    pub fill_lines: bool,
    /// The SM's L1; `None`: global loads go straight to L2.
    pub l1: Option<Cache>,
    /// What stores do to L1.
    pub l1_store: StorePolicy,
    /// Cycles the L1 port is busy for each 128-byte line of a request.
    pub l1_line_interval: u32,
    /// Extra cycles of an access to L1 for each further pass over its banks, which are those of shared memory; a pass keeps the port
    /// busy for a cycle. 0: L1 has no banks that conflict.
    pub l1_conflict: u32,
    /// L2 of the whole GPU.
    pub l2: Cache,
    /// Partitions of L2, 1 or 2. Of two, an SM is attached to one, and data whose home is the other is in both.
    pub l2_partitions: u32,
    /// Ways of a set of L2 that may be dirty before a further store has older ones written back; 0: all.
    pub l2_dirty_ways: u32,
    /// Bytes in L2 that are dirty when a launch begins, of earlier work: they are written back when it needs their room.
    pub l2_dirty_before: u64,
    /// Bytes a cycle that all SMs together get from L2.
    pub l2_bytes_per_cycle: f64,
    /// Bytes a cycle that one SM can get from L2 at most.
    pub l2_bytes_per_cycle_sm: f64,
    /// The SM's own way for stores to L2; `None`: they share that of the loads.
    pub stores: Option<StorePath>,
    /// Cycles from issue to the issue of a dependent instruction when the data comes from DRAM and nothing else does, in the mean.
    pub dram_latency: u32,
    /// How much faster or slower DRAM may be: each line has its own latency in this range around the mean, for its bank and
    /// row, and how far away it is, are not modelled. A barrier waits for the slowest.
    pub dram_spread: u32,
    /// How long reads wait for other traffic, before the bandwidth is used up; `None`: not at all.
    pub dram_wait: Option<DramWait>,
    /// Bytes a cycle that all SMs together get from DRAM.
    pub dram_bytes_per_cycle: f64,
    /// Cycles of backlog towards L2 beyond which memory instructions wait (`lg_throttle`).
    pub queue_cycles: u32,
    /// Cycles from issue to the issue of a dependent instruction, shared load without conflict.
    pub shared_latency: u32,
    /// Banks of shared memory, 4 bytes wide.
    pub shared_banks: u32,
    /// Extra cycles for each further pass that a bank conflict needs.
    pub shared_conflict: u32,
    /// Cycles of a global atomic's round trip.
    pub atomic_latency: u32,
    /// Extra cycles of a global atomic for each further lane on the same word.
    pub atomic_conflict: u32,
    /// Extra cycles of a shared atomic for each further lane on the same word.
    pub shared_atomic_conflict: u32,
}
