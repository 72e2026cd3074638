//! Lines that other SMs have brought to L2, for machine code.
//!
//! An SM does not see the requests of other SMs. Together they read no sector of a buffer from DRAM
//! more than once while L2 holds the buffer. Blocks run the same code, and those of a wave at about
//! the same time, which gives two rules:
//!
//! - Where block p reads what block b reads, moved by p - b steps of equal length, the accesses of
//!   the SM's own blocks tell those of all others. The step follows from the first accesses of two
//!   blocks, or of one. A line is in L2 once another block of an earlier wave has read it, and on
//!   its way since one of the same wave did. If the steps cover the buffer and the SM's blocks have
//!   read theirs, other SMs have read the rest.
//! - An SM reads its share of a buffer (by the number of its blocks) from DRAM at most, and finds
//!   the rest in L2. Such a line may still be on its way. SMs run the same code at about the same
//!   time, so another SM's line is as often on its way as a line that this SM's warps find in L1.
//!
//! Not modeled: uneven shares, steps that differ between the dimensions of a grid.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::cache::{LINE, SECTOR};
use crate::base::{Cycle, Pc};
use crate::spec::Memory;

/// Accesses to one place of a step that are remembered.
const MOST: usize = 32;
/// Instructions from whose first accesses the step is found.
const FIRST: usize = 8;

/// Numbers of blocks: those that run at a time, those of one SM, and all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    pub wave: u64,
    pub own: u64,
    pub all: u64,
}

/// Warp whose access is served.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reader {
    pub block: u64,
    /// Index in its block.
    pub warp: u32,
    pub pc: Pc,
    /// Launch of the block.
    pub since: Cycle,
}

/// Access of a block of this SM.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Whole steps from the block's own place.
    steps: i64,
    sectors: u8,
    /// Arrival of the line.
    arrives: Cycle,
}

/// One buffer of the launch.
#[derive(Clone, Debug)]
struct Buffer {
    first: u64,
    end: u64,
    /// Sectors left of the share.
    left: u64,
    /// Sectors left of the parts of the SM's blocks, if a block's step is a part of the buffer.
    own_left: u64,
    /// Arrival of the last sector of these parts.
    complete: Cycle,
    /// First accesses: instruction, block, and place in the buffer.
    opened: Vec<(Pc, u64, u64)>,
    /// Bytes from the place of a block to that of the next; 0 if that is not known.
    step: u64,
    /// True if two blocks have given the step.
    is_settled: bool,
    /// Accesses by their place in a step.
    seen: HashMap<u64, Vec<Seen>, FixedState>,
}

impl Buffer {
    /// Returns the bytes of one of as many parts as there are blocks.
    fn part(&self, blocks: Blocks) -> u64 {
        (self.end - self.first) / blocks.all.max(1)
    }

    /// Finds the step from the first accesses of blocks by an instruction.
    fn learn(&mut self, by: Reader, offset: u64, blocks: Blocks) {
        if by.warp > 0 || self.is_settled {
            return;
        }
        let step = match self.opened.iter().find(|(pc, ..)| *pc == by.pc) {
            None if self.opened.len() == FIRST => return,
            None => {
                self.opened.push((by.pc, by.block, offset));
                let part = self.part(blocks);
                if part > 0 && offset / part == by.block {
                    part
                } else if self.step > 0 {
                    return;
                } else {
                    offset.checked_div(by.block).unwrap_or(0)
                }
            }
            Some(&(_, block, _)) if block == by.block => return,
            Some(&(_, block, before)) => {
                let (blocks, bytes) = (by.block.abs_diff(block), offset.abs_diff(before));
                let forward = (by.block > block) == (offset > before);
                // Blocks that read the same place tell nothing of the others.
                self.is_settled = bytes > 0;
                match (self.is_settled, forward && bytes % blocks == 0) {
                    (false, _) => return,
                    (true, true) => bytes / blocks,
                    (true, false) => 0,
                }
            }
        };
        if step != self.step {
            self.step = step;
            self.seen.clear();
        }
    }

    /// Returns the place of an access in a step, and the whole steps from the block's own place.
    fn relative(&self, by: Reader, offset: u64) -> Option<(u64, i64)> {
        let step = i64::try_from(self.step).ok().filter(|step| *step > 0)?;
        let own = i64::try_from(by.block).ok()?.checked_mul(step)?;
        let from = i64::try_from(offset).ok()?.checked_sub(own)?;
        let steps = from.div_euclid(step);
        Some(((from - steps * step) as u64, steps))
    }

    /// Returns when a line that another block has read arrives in L2, if one has. The line is whole
    /// `steps` from the block's own place.
    fn read_by_others(
        &self,
        by: Reader,
        (place, steps): (u64, i64),
        sectors: u8,
        all: Blocks,
    ) -> Option<Cycle> {
        let seen = self.seen.get(&place)?;
        let (block, wave) = (by.block as i64, all.wave.max(1) as i64);
        // The first block of the wave, and of the next one.
        let first = block - block % wave;
        let end = (first + wave).min(all.all as i64);
        let arrival = |seen: &Seen| {
            let other = block + steps - seen.steps;
            let exists = other != block && (0..end).contains(&other);
            if !exists || sectors & !seen.sectors != 0 {
                None
            } else if other < first {
                Some(0)
            } else {
                (seen.arrives >= by.since).then_some(seen.arrives)
            }
        };
        seen.iter().filter_map(arrival).min()
    }
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
                opened: Vec::new(),
                step: 0,
                is_settled: false,
                seen: HashMap::default(),
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
        self.buffers.get_mut(at).filter(|buffer| buffer.first < address + LINE)
    }

    /// Returns where missing sectors of a line are, and takes them from the share.
    pub(super) fn place(&mut self, by: Reader, address: u64, sectors: u8) -> Place {
        let blocks = self.blocks;
        let Some(buffer) = self.buffer(address) else { return Place::Dram };
        let offset = address.saturating_sub(buffer.first);
        buffer.learn(by, offset, blocks);
        let relative = buffer.relative(by, offset);
        if let Some(at) = relative.and_then(|at| buffer.read_by_others(by, at, sectors, blocks)) {
            return Place::L2From(at);
        }
        let is_own = matches!(relative, Some((_, 0)));
        if !is_own && buffer.own_left == 0 {
            return Place::L2From(buffer.complete);
        }
        let is_left = buffer.left > 0;
        let count = sectors.count_ones().into();
        buffer.left = buffer.left.saturating_sub(count);
        if is_own && buffer.step == buffer.part(blocks) {
            buffer.own_left = buffer.own_left.saturating_sub(count);
        }
        if is_left { Place::Dram } else { Place::L2 }
    }

    /// Records the arrival of missing sectors of a line in L2.
    pub(super) fn arrived(&mut self, by: Reader, address: u64, sectors: u8, arrives: Cycle) {
        let Some(buffer) = self.buffer(address) else { return };
        let offset = address.saturating_sub(buffer.first);
        let Some((place, steps)) = buffer.relative(by, offset) else { return };
        if steps == 0 {
            buffer.complete = buffer.complete.max(arrives);
        }
        let seen = buffer.seen.entry(place).or_default();
        match seen.iter_mut().find(|seen| seen.steps == steps) {
            Some(known) if known.arrives >= by.since => {
                known.sectors |= sectors;
                known.arrives = known.arrives.max(arrives);
            }
            Some(known) => *known = Seen { steps, sectors, arrives },
            None => {
                if seen.len() == MOST {
                    seen.remove(0);
                }
                seen.push(Seen { steps, sectors, arrives });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Machine;

    /// Shares of the SM of blocks `b` and `b + 4`, of 8 in all, which run at the same time.
    fn shares(buffers: &[(u64, u64)]) -> Shares {
        let text = Machine::preset_text("h200").expect("a preset");
        let memory = Machine::parse(text).expect("a machine").memory;
        let blocks = Blocks { wave: 8, own: 2, all: 8 };
        Shares::new(buffers.iter().copied(), &memory, blocks)
    }

    fn of(block: u64) -> Reader {
        Reader { block, warp: 0, pc: Pc(0), since: 0 }
    }

    /// Reads a whole line at 100 cycles after `now`, if it is not in L2.
    fn read(shares: &mut Shares, block: u64, line: u64, now: Cycle) -> Place {
        let place = shares.place(of(block), 4096 + line * LINE, 0b1111);
        let at = if let Place::L2From(at) = place { at } else { now + 100 };
        shares.arrived(of(block), 4096 + line * LINE, 0b1111, at);
        place
    }

    #[test]
    fn an_sm_reads_its_share_and_finds_the_rest() {
        let mut shares = shares(&[(4096, 64 * LINE), (1 << 20, 1 << 30)]);
        for line in 0..16 {
            assert_eq!(read(&mut shares, 3, 3 * line, 0), Place::Dram, "line {line}");
        }
        assert_eq!(read(&mut shares, 3, 49, 0), Place::L2);
        assert_eq!(shares.place(of(3), (1 << 20) + 512, 0b1111), Place::Dram, "larger than L2");
        assert_eq!(shares.place(of(3), 64, 0b1111), Place::Dram, "no buffer");
        assert_eq!(shares.remains(300), 300);
        (0..3).for_each(|_| shares.found(false));
        assert_eq!(shares.remains(300), 75);
    }

    #[test]
    fn a_block_finds_what_others_read_before_it() {
        // A row of 8 lines a block. Each block reads the row before its own, its own, the next.
        let mut shares = shares(&[(4096, 64 * LINE)]);
        assert_eq!(read(&mut shares, 2, 8, 0), Place::Dram);
        assert_eq!(read(&mut shares, 6, 40, 10), Place::Dram);
        assert_eq!(read(&mut shares, 2, 16, 20), Place::L2From(110), "read first by block 3");
        assert_eq!(read(&mut shares, 2, 24, 30), Place::L2From(110), "read first by block 4");
        assert_eq!(read(&mut shares, 6, 56, 40), Place::L2From(110), "read before by block 7");
        assert_eq!(read(&mut shares, 2, 9, 50), Place::Dram, "another line of the row");
    }

    #[test]
    fn an_sm_that_has_read_its_parts_finds_those_of_others() {
        let mut shares = shares(&[(4096, 64 * LINE)]);
        for (line, place) in (0..8).chain(32..40).zip([Place::Dram; 16]) {
            assert_eq!(read(&mut shares, line / 32 * 4, line, line), place, "line {line}");
        }
        assert_eq!(read(&mut shares, 0, 50, 40), Place::L2From(134), "place 2 of a part");
        assert_eq!(read(&mut shares, 0, 51, 40), Place::L2From(135));
    }

    #[test]
    fn a_loop_over_the_grid_reads_each_line_once() {
        // Blocks read a line each, then the next eight lines.
        let mut shares = shares(&[(4096, 64 * LINE)]);
        for round in 0..8 {
            for block in [1, 5] {
                let line = 8 * round + block;
                assert_eq!(read(&mut shares, block, line, 0), Place::Dram, "line {line}");
            }
        }
    }
}
