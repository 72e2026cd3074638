//! Lines that other SMs have brought to L2, for machine code.
//!
//! An SM does not see the requests of other SMs. Together they read no sector of a buffer from DRAM
//! more than once while L2 holds the buffer. So an SM that has read its share (by its blocks) finds
//! the rest of the buffer in L2: blocks that use disjoint parts never exceed their share, and
//! blocks that use the same part all do. Not modeled: uneven shares, and the order of first
//! accesses within the share.
//!
//! Such a line may still be on its way. SMs run the same code at about the same time, so another
//! SM's line is as often on its way as a line that this SM's warps find in their L1.

use super::cache::SECTOR;
use crate::base::Cycle;
use crate::spec::Memory;

/// Shares of one SM in the buffers of a launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    /// First address, end, and sectors left of the share; ascending.
    buffers: Vec<(u64, u64, u64)>,
    /// Lines found in L1, and those of them that were on their way.
    found: u64,
    on_way: u64,
}

impl Shares {
    /// Creates the shares of an SM that runs `own` of `blocks` blocks.
    ///
    /// `buffers` are addresses and bytes, ascending.
    pub(super) fn new(
        buffers: impl Iterator<Item = (u64, u64)>,
        memory: &Memory,
        own: u64,
        blocks: u64,
    ) -> Shares {
        // Data in both partitions takes half as much room again.
        let fits = memory.l2.bytes / 3 * 2;
        let share = |bytes: u64| {
            let sectors = u128::from(bytes.div_ceil(SECTOR));
            (sectors * u128::from(own)).div_ceil(u128::from(blocks.max(1))) as u64
        };
        let buffers = buffers
            .filter(|(_, bytes)| *bytes <= fits)
            .map(|(address, bytes)| (address, address.saturating_add(bytes), share(bytes)))
            .collect();
        Shares { buffers, found: 0, on_way: 0 }
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

    /// Takes missing sectors of a line from the share. Returns true if others have read them.
    pub(super) fn has(&mut self, address: u64, sectors: u32) -> bool {
        let at = self.buffers.partition_point(|&(_, end, _)| end <= address);
        match self.buffers.get_mut(at) {
            // A buffer need not begin with a line.
            Some((first, _, left)) if *first < address + 128 => {
                let taken = *left > 0;
                *left = left.saturating_sub(sectors.into());
                !taken
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Machine;

    #[test]
    fn an_sm_reads_its_share_and_finds_the_rest() {
        let text = Machine::preset_text("h200").expect("a preset");
        let memory = Machine::parse(text).expect("a machine").memory;
        let buffers = [(4096, 64 * 128), (1 << 20, 1 << 30)];
        let mut shares = Shares::new(buffers.into_iter(), &memory, 1, 4);
        for line in 0..16 {
            assert!(!shares.has(4096 + line * 128, 4), "line {line}");
        }
        assert!(shares.has(4096 + 16 * 128, 4));
        assert!(!shares.has((1 << 20) + 512, 4), "larger than L2");
        assert!(!shares.has(64, 4), "no buffer");
        assert_eq!(shares.remains(300), 300);
        (0..3).for_each(|_| shares.found(false));
        assert_eq!(shares.remains(300), 75);
    }
}
