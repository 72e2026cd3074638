//! Times of machine code (SASS) that its control words leave to the hardware.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::isa::Pipe;

/// Times of machine code. The control words have the others.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SassTimes {
    /// Cycles between two warp instructions of a scheduler on each pipe.
    ///
    /// The default is 1; of the pipes `Xu` and `Fp64` it is the price of the class.
    pub intervals: BTreeMap<Pipe, u32>,
    /// Cycles from issue to write-back of instructions of variable latency, by opcode.
    ///
    /// The default is the price of the class. The memory system has those of accesses.
    pub latencies: Vec<(String, u32)>,
    /// Cycles from a taken branch to its target.
    pub taken: u32,
    /// The last of these and of `jump`, in which the target is fetched.
    pub refetch: u32,
    /// Cycles from a branch to the lanes that fall through while others take it.
    pub parted: u32,
    /// Cycles from the last EXIT of a warp to its end.
    pub exit: u32,
    /// Cycles from an EXIT to the next instruction of lanes that are left.
    pub exits: Exits,
    /// Cycles from a store to global or local memory to the end of its warp, at least.
    pub stored: u32,
    /// Cycles from a BSYNC that completes its barrier to the next instruction.
    pub sync: u32,
    /// Cycles from a BSYNC that blocks to the next instruction of other lanes.
    pub blocked: u32,
    /// Cycles from BREAK to the next instruction.
    pub leave: u32,
    /// Cycles from an instruction after which a group is elected, or found, to the group's next;
    /// also of a branch through a register whose lanes have several targets.
    pub election: u32,
    /// Cycles of a WARPSYNC by lanes that are not all of the warp's, without those of its masks.
    pub gather: u32,
    /// Further cycles of such a WARPSYNC per mask.
    pub gather_mask: u32,
    /// Cycles from a WARPSYNC whose lanes wait to the next instruction of the sibling.
    pub gathers: u32,
    /// Stores that join others in an SM; `None`: each leaves it by itself.
    pub combining: Option<Combining>,
    /// Cycles from the issue of an instruction until its sources have been read.
    pub reads: Reads,
    /// Queues of requests to units of the SM; `None`: they have room for all.
    pub requests: Option<Requests>,
    /// Cycles from CALL to a target that it names, and from BRXU.
    pub jump: u32,
    /// Cycles from a call or branch through a register to its target.
    pub jump_register: u32,
    /// Cycles from RET to its target.
    pub ret: u32,
    /// Further cycles of one whose lanes have several targets.
    pub ret_apart: u32,
    /// Cycles for which a call or branch through a register holds up others of its SM, and RET.
    pub jump_turn: u16,
    /// The same of a RET.
    pub ret_turn: u16,
    /// Further cycles of an atomic of shared memory.
    pub atomic: u32,
    /// The same of one of 8 bytes per lane.
    pub atomic_8: u32,
    /// The same for each register of its operands but the first.
    pub atomic_register: u32,
    /// Cycles for which a WARPSYNC holds up others of its scheduler with each of its masks.
    pub gather_turn: u32,
    /// Further cycles of MATCH.
    pub matches: Matches,
    /// Further cycles of a special function or shuffle for each register beyond one that it reads.
    pub operand: u32,
    /// Further cycles of a shuffle or MATCH with a predicate as a result.
    pub tests: u32,
    /// Cycles for which a BSYNC holds up other BSYNC, WARPSYNC and elections of its scheduler.
    pub turn: u32,
    /// Cycles for which an election holds up these.
    pub election_turn: u32,
    /// Latencies of the memory system, in cycles from issue to write-back.
    pub accesses: Option<Latencies>,
    /// Fences beyond the block; `None`: as in PTX.
    pub fences: Option<Fences>,
    /// Products of 64 bits; `None`: as other products.
    pub wide_products: Option<WideProducts>,
    /// True if an SM finds lines in L2 that other SMs have read.
    pub shares_l2: bool,
    /// Partitions of L2; `None`: it has one.
    pub partitions: Option<Partitions>,
    /// Rates of L2; `None`: [`super::Memory::l2_bytes_per_cycle`], and stores take none of it.
    pub l2_rates: Option<L2Rates>,
    /// Atomic units of L2; `None`: atomics of different SMs do not delay each other.
    pub atomics: Option<AtomicRates>,
    /// Loads of constants.
    pub constant_loads: ConstantLoads,
    /// Constant caches; `None`: they have all constants.
    pub constants: Option<ConstantCache>,
    /// Instruction caches.
    pub fetch: Option<Fetch>,
    /// Bytes of L1 that the driver may make shared memory, ascending; empty: L1 keeps its size.
    pub carve_outs: Vec<u32>,
    /// Launches of blocks; `None`: all that an SM has room for start at once.
    pub launches: Option<Launches>,
}

/// Launches of blocks on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launches {
    /// Cycles between two blocks of one warp while the launch of a grid fills the SM.
    pub block: u32,
    /// Further cycles for each further warp of a block.
    pub warp: u32,
    /// Cycles between two blocks that follow others, with the same for all SMs together.
    pub next: u32,
    /// Blocks that may follow others at once.
    pub burst: u32,
}

/// Further cycles of MATCH, which passes the special function unit once for each value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matches {
    /// For each further value.
    pub value: u32,
    /// Of 64-bit values, which pass twice.
    pub wide: u32,
    /// For each further 64-bit value, beside `value`.
    pub wide_value: u32,
}

/// Cycles until sources have been read, where a counter tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reads {
    /// Of an access to memory, for its address.
    pub address: u32,
    /// Further ones if that has 64 bits.
    pub wide: u32,
    /// Further ones of a store or atomic.
    pub data: u32,
    /// Further ones for each register of its data.
    pub register: u32,
    /// Of instructions of the pipe `Xu`.
    pub functions: u32,
    /// Of other instructions.
    pub others: u32,
}

/// Cycles from an EXIT to the next instruction of lanes that are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exits {
    /// Of some active lanes: the others go on.
    pub part: u32,
    /// Of all active lanes: the sibling goes on.
    pub sibling: u32,
    /// Of all active lanes: others are elected, found, or released from a barrier.
    pub election: u32,
}

/// Queues of a scheduler's requests to units of the SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Requests to shared memory and shuffles that wait for the load/store unit; as many to global
    /// and local memory.
    pub memory: u32,
    /// Requests of all schedulers that the load/store unit has taken and not begun.
    pub unit: u32,
    /// Loads of constants (LDC).
    pub constants: u32,
    /// Reads of special registers.
    pub registers: u32,
    /// Special functions, with the one being computed.
    pub functions: u32,
    /// Cycles from issue to service.
    pub transit: u32,
}

/// Latencies of memory for machine code.
///
/// [`super::Memory`] has those of dependent PTX instructions, which compute an address as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// L1 hit.
    pub l1: u32,
    /// L2 hit.
    pub l2: u32,
    /// Idle DRAM.
    pub dram: u32,
    /// Global atomic.
    pub atomic: u32,
    /// Further cycles of an SM's first access to a page of 2 MiB.
    pub page: u32,
    /// Further cycles of its first load from a page on the slowest of all SMs; most have few.
    pub late: u32,
    /// Cycles by which the way from an SM to a line's slice of L2 and back differs from the mean.
    pub spread: u32,
    /// The same of atomics, which go to their home.
    pub spread_atomic: u32,
    /// Bits of a line's number that select one of L1's four banks of tags: the parity of those of
    /// each mask is a bit of the bank's number. A bank finds a line of a load in a cycle.
    pub tag_banks: [u32; 2],
    /// Local memory.
    pub local: LocalLatencies,
}

/// Times of accesses to local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalLatencies {
    /// L1 hit.
    pub l1: u32,
    /// Further time of a store in L2, in percent of that of stores to global memory
    /// ([`super::StorePath`]), if an SM stores to at most `lines` lines. With more it is less in
    /// proportion, as these spread more evenly over the slices of L2.
    pub uneven: u32,
    /// See `uneven`.
    pub lines: u32,
}

/// Fences beyond the block (MEMBAR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fences {
    /// Cycles of a fence of the GPU if the SM has accessed nothing since the last one.
    pub gpu: u32,
    /// The same if it has accessed its own partition of L2.
    pub accessed: u32,
    /// The same of the system.
    pub system: u32,
    /// Cycles from when the SM's last store has left it to the end of a fence of the system.
    pub stores: u32,
}

/// Products of 64 bits: IMAD.WIDE, and IMAD.HI, which gives their upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WideProducts {
    /// Cycles between two IMAD.WIDE of a scheduler.
    pub interval: u32,
    /// Cycles after either in which the scheduler dispatches nothing.
    pub dispatch: u32,
    /// Cycles from an instruction of fixed latency to an IMAD.WIDE that multiplies its result.
    pub factor: u32,
}

/// Lines of stores that wait in an SM, where later stores join them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combining {
    /// Lines that can wait: the last ones stored to.
    pub lines: u32,
    /// Cycles from when a store's data have passed the banks until its lines may leave.
    pub stays: u32,
    /// Lines that the queue to L2 holds.
    pub queue: u32,
}

/// Instruction fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// Cycles until the first line arrives.
    pub first: u32,
    /// Cycles until a line arrives that the SM's cache lacks.
    pub l1_miss: u32,
    /// Cycles of a jump to a line that only the SM's cache has.
    pub l0_miss: u32,
    /// Cycles between two steps of the stream prefetcher.
    pub step: u32,
    /// Lines that a launch loads close to the SMs: the first of the kernel.
    pub loaded: u32,
    /// Cycles until one of the other lines arrives from DRAM. Two steps of the stream are under way
    /// together.
    pub memory: u32,
}

/// Constant caches of an SM, which are cold at launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantCache {
    /// Cycles until a line arrives that the second level has.
    pub hit: u32,
    /// Further cycles until the second level has a line of bank 0, with all SMs active.
    ///
    /// Of SMs beyond one half, each adds its part; one half has `launch_alone`.
    pub launch: u32,
    /// The same with at most half of the SMs active.
    pub launch_alone: u32,
    /// The same for a line of another bank, which is in memory, with all SMs active.
    pub memory: u32,
    /// The same with at most half of the SMs active.
    pub memory_alone: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Bytes that a miss of the second level brings, a multiple of `line`.
    pub block: u32,
    /// Bytes of the cache of loads (LDC).
    pub bytes: u32,
    /// Lines of each of its sets.
    pub ways: u32,
    /// Cycles until that has a line of the second level.
    pub load: u32,
}

/// Loads of constants (LDC), which an SM's unit serves for all schedulers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantLoads {
    /// Cycles for each further address of a load.
    pub address: u32,
    /// Loads under way at once.
    pub at_once: u32,
    /// Further ones that the unit has taken.
    pub waiting: u32,
    /// Further cycles of a load whose address is in a register.
    pub register: u32,
    /// Cycles for which such a load stays longer in its scheduler's queue.
    pub read: u32,
}

/// Rates at which L2 serves all SMs, beside their stores ([`super::StorePath`]), which take their
/// time from the same.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2Rates {
    /// Requests of a cycle, one for each line of a load.
    pub requests: f64,
    /// Sectors of a cycle, beside that.
    pub sectors: f64,
    /// Sectors of a cycle that come from DRAM, beside that.
    pub missing: f64,
    /// Sectors of a cycle that atomics change, instead of all that.
    pub atomics: f64,
}

/// Partitions of L2.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partitions {
    /// SMs of the first partition, of the second, of the first again and so on, in the order in
    /// which they get blocks; all others are of the first.
    pub turns: Vec<u32>,
    /// Bits of an address whose parity is the partition of its 4 KB.
    pub bits: Vec<u32>,
    /// Further cycles of an access to the other partition: of an atomic, and of a strong load of a
    /// sector that has been changed since.
    pub far: u32,
    /// Cycles after which a strong store to the other partition is seen there.
    pub crossing: u32,
}

/// Atomic units of L2.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtomicRates {
    /// Number of units, an even number.
    pub units: u32,
    /// Neighboring bytes of one unit.
    pub chunk: u32,
    /// Cycles of a round with all words of a sector: lanes on distinct words.
    pub round: f64,
    /// The same with some of its words.
    pub partial: f64,
    /// The same for compare-and-swap on several words.
    pub compare: f64,
    /// Cycles from a floating-point addition to the next one to its sector.
    pub float: f64,
    /// Part of a fair share's time that the fastest SM saves (not with compare-and-swap).
    pub fastest: f64,
    /// Words of 4 bytes that an SM's path to the units has room for: of data, and 16 for each round
    /// of a sector, or of all full ones of a line.
    pub path: u32,
    /// Delay of the slowest SM when its path first fills, as a part of the time that a full path
    /// takes.
    pub late: f64,
    /// Cycles for which a load waits for atomics of its unit, at most.
    pub queue: u32,
    /// Cycles of work that a unit has room for. Further requests, and loads after them, stay in
    /// their SM.
    pub room: u32,
    /// The same for each SM that uses it.
    pub room_of_sm: u32,
}
