//! Traffic of an access through the memory system.

use crate::base::LaneMask;

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
    /// Sectors of stores that joined earlier ones in the SM, so that L2 does not see them.
    pub combined: u32,
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
