//! Lines that other SMs have brought to L2, for machine code.
//!
//! An SM does not see the requests of other SMs. Together they read no sector of a buffer from DRAM
//! more than once while L2 holds the buffer. Two rules follow:
//!
//! - Block b of n usually reads the b-th of n parts of a buffer first. Once an SM has read the parts
//!   of its blocks, other SMs have read theirs, and the whole buffer is in L2.
//! - Otherwise an SM that has read its share (by the number of its blocks) finds the rest of the
//!   buffer in L2: blocks that use disjoint parts never exceed their share, and blocks that use the
//!   same part all do. Such a line may still be on its way. SMs run the same code at about the same
//!   time, so another SM's line is as often on its way as a line that this SM's warps find in L1.
//!
//! Not modeled: uneven shares, and the order of first accesses within the share.

use super::cache::SECTOR;
use crate::base::{Cycle, SmId};
use crate::spec::Memory;

/// Blocks of a launch, and those of one SM: every `active`-th from its id on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    pub sm: SmId,
    pub active: u64,
    pub own: u64,
    pub all: u64,
}

/// One buffer of the launch.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    first: u64,
    end: u64,
    /// Sectors left of the share.
    left: u64,
    /// Sectors left of the parts of the SM's blocks.
    own_left: u64,
    /// Arrival of the last sector of these parts.
    complete: Cycle,
}

/// Shares of one SM in the buffers of a launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    /// Ascending by address.
    buffers: Vec<Buffer>,
    blocks: Blocks,
    /// Lines found in L1, and those of them that were on their way.
    found: u64,
    on_way: u64,
}

/// Place of a line that this SM has not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In DRAM.
    Dram,
    /// In L2, perhaps on its way there.
    L2,
    /// In L2 from a cycle on.
    L2From(Cycle),
}

impl Shares {
    /// Creates the shares of an SM. `buffers` are addresses and bytes, ascending.
    pub(super) fn new(
        buffers: impl Iterator<Item = (u64, u64)>,
        memory: &Memory,
        blocks: Blocks,
    ) -> Shares {
        // Data in both partitions takes half as much room again.
        let fits = memory.l2.bytes / 3 * 2;
        let share = |bytes: u64| {
            let sectors = u128::from(bytes.div_ceil(SECTOR));
            (sectors * u128::from(blocks.own)).div_ceil(u128::from(blocks.all.max(1))) as u64
        };
        let buffers = buffers
            .filter(|(_, bytes)| *bytes <= fits)
            .map(|(first, bytes)| Buffer {
                first,
                end: first.saturating_add(bytes),
                left: share(bytes),
                own_left: share(bytes),
                complete: 0,
            })
            .collect();
        Shares { buffers, blocks, found: 0, on_way: 0 }
    }

    /// Counts a line found in L1, which may be on its way.
    #[inline]
    pub(super) fn found(&mut self, on_way: bool) {
        self.found += 1;
        self.on_way += u64::from(on_way);
    }

    /// Returns the mean rest of `cycles` that a line of another SM is on its way.
    pub(super) fn remains(&self, cycles: Cycle) -> Cycle {
        // Without any line found the blocks start together.
        (cycles * (self.on_way + 1)).checked_div(self.found + 1).unwrap_or(cycles)
    }

    /// Returns the buffer of a line, if it is known.
    fn buffer(&mut self, address: u64) -> Option<&mut Buffer> {
        let at = self.buffers.partition_point(|buffer| buffer.end <= address);
        // A buffer need not begin with a line.
        self.buffers.get_mut(at).filter(|buffer| buffer.first < address + 128)
    }

    /// Returns where missing sectors of a line are, and takes them from the share.
    pub(super) fn place(&mut self, address: u64, sectors: u32) -> Place {
        let Blocks { sm, active, all, .. } = self.blocks;
        let Some(buffer) = self.buffer(address) else { return Place::Dram };
        let (bytes, offset) = (buffer.end - buffer.first, address.saturating_sub(buffer.first));
        let part = u128::from(offset) * u128::from(all) / u128::from(bytes.max(1));
        let own = part as u64 % active.max(1) == u64::from(sm.0);
        if !own && buffer.own_left == 0 {
            return Place::L2From(buffer.complete);
        }
        let taken = buffer.left > 0;
        buffer.left = buffer.left.saturating_sub(sectors.into());
        if own && taken {
            buffer.own_left = buffer.own_left.saturating_sub(sectors.into());
        }
        if taken { Place::Dram } else { Place::L2 }
    }

    /// Records the arrival of a line from DRAM.
    pub(super) fn arrived(&mut self, address: u64, at: Cycle) {
        if let Some(buffer) = self.buffer(address) {
            buffer.complete = buffer.complete.max(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Machine;

    fn shares(buffers: &[(u64, u64)], sm: u32) -> Shares {
        let text = Machine::preset_text("h200").expect("a preset");
        let memory = Machine::parse(text).expect("a machine").memory;
        let blocks = Blocks { sm: SmId(sm), active: 4, own: 1, all: 4 };
        Shares::new(buffers.iter().copied(), &memory, blocks)
    }

    #[test]
    fn an_sm_reads_its_share_and_finds_the_rest() {
        let mut shares = shares(&[(4096, 64 * 128), (1 << 20, 1 << 30)], 3);
        for line in 0..16 {
            assert_eq!(shares.place(4096 + line * 128, 4), Place::Dram, "line {line}");
        }
        assert_eq!(shares.place(4096 + 16 * 128, 4), Place::L2);
        assert_eq!(shares.place((1 << 20) + 512, 4), Place::Dram, "larger than L2");
        assert_eq!(shares.place(64, 4), Place::Dram, "no buffer");
        assert_eq!(shares.remains(300), 300);
        (0..3).for_each(|_| shares.found(false));
        assert_eq!(shares.remains(300), 75);
    }

    #[test]
    fn an_sm_that_has_read_its_part_finds_the_parts_of_others() {
        let mut shares = shares(&[(4096, 64 * 128)], 1);
        for line in 16..32 {
            assert_eq!(shares.place(4096 + line * 128, 4), Place::Dram, "line {line}");
            shares.arrived(4096 + line * 128, 700 + line);
        }
        assert_eq!(shares.place(4096, 4), Place::L2From(731));
    }
}
