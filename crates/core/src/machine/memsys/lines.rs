//! Coalescing of a request into lines and sectors.

use super::super::cache::{LINE, SECTOR, sectors_in};
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::{MemoryAccess, Vectors, vectorized};

/// Sectors of a line.
const SECTORS: u64 = LINE / SECTOR;

/// 128-byte lines of a request, ascending, with the sectors of each.
#[derive(Clone)]
pub(in crate::machine) struct Lines {
    pub(super) lines: [(u64, u8); MAX_LANES],
    pub(super) len: usize,
    vectors: Vectors,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { lines: [(0, 0); MAX_LANES], len: 0, vectors: Vectors::default() }
    }
}

impl Lines {
    /// Returns the lines of the request.
    pub(in crate::machine) fn lines(&self) -> &[(u64, u8)] {
        &self.lines[..self.len.min(MAX_LANES)]
    }

    /// Collects the distinct lines and sectors of a request. An aligned access of up to 16 bytes
    /// lies in one sector.
    #[inline]
    pub(in crate::machine) fn coalesce(
        &mut self,
        access: MemoryAccess,
        addresses: &[u64; MAX_LANES],
    ) {
        self.len = 0;
        if access.row {
            return self.add_row(addresses[0] / SECTOR, addresses[MAX_LANES - 1] / SECTOR);
        }
        let (mut line, mut sectors) = (0, 0); // of the current line
        let mut ascending = true;
        for lane in self.changes(access.lanes, addresses).lanes() {
            let sector = addresses[lane as usize % MAX_LANES] / SECTOR;
            let here = sector / SECTORS;
            if here != line && sectors != 0 {
                self.push(line, sectors);
                sectors = 0;
                ascending &= line < here;
            }
            line = here;
            sectors |= 1 << (sector % SECTORS);
        }
        self.push(line, sectors);
        if !ascending {
            self.sort();
        }
    }

    /// Returns those of `lanes` that may access another sector than the lane before; the others do
    /// not.
    #[inline(always)]
    fn changes(&self, lanes: LaneMask, addresses: &[u64; MAX_LANES]) -> LaneMask {
        if lanes.is_sparse() {
            return lanes;
        }
        let equal = vectorized(
            self.vectors,
            #[inline(always)]
            move |_| {
                let pairs = addresses.iter().zip(&addresses[1..]).enumerate();
                pairs.fold(0, |equal, (lane, (a, b))| equal | u32::from((a ^ b) < SECTOR) << lane)
            },
        );
        // In the lane after a pair of equal ones, both of which access memory.
        lanes - LaneMask((equal & lanes.0) << 1)
    }

    /// Returns the number of sectors in the request.
    #[inline]
    pub(in crate::machine) fn sectors(&self) -> u32 {
        self.lines().iter().map(|&(_, sectors)| sectors_in(sectors)).sum()
    }

    /// Adds the lines of adjacent sectors, from `first` to `last`.
    #[inline]
    fn add_row(&mut self, first: u64, last: u64) {
        for line in first / SECTORS..=last / SECTORS {
            let begin = line * SECTORS;
            let (from, to) = (first.max(begin), last.min(begin + SECTORS - 1));
            self.push(line, (2 << (to % SECTORS)) - (1 << (from % SECTORS)));
        }
    }

    #[inline]
    fn push(&mut self, line: u64, sectors: u8) {
        self.lines[self.len % MAX_LANES] = (line, sectors);
        self.len += 1;
    }

    /// Sorts the lines and removes duplicates.
    fn sort(&mut self) {
        // As words, which are compared faster: the number of a line has 57 bits.
        let mut words = [0; MAX_LANES];
        let words = &mut words[..self.len.min(MAX_LANES)];
        for (word, &(line, sectors)) in words.iter_mut().zip(&self.lines) {
            *word = line << SECTORS | u64::from(sectors);
        }
        words.sort_unstable();
        self.len = 0;
        for &word in &*words {
            let (line, sectors) = (word >> SECTORS, (word & ((1 << SECTORS) - 1)) as u8);
            match self.lines[..self.len].last_mut() {
                Some(last) if last.0 == line => last.1 |= sectors,
                _ => self.push(line, sectors),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::base::mix;
    use crate::exec::AccessKind;
    use crate::isa::Space;

    fn access(lanes: LaneMask, bytes: u8, row: bool) -> MemoryAccess {
        MemoryAccess {
            space: Space::Global,
            kind: AccessKind::Read,
            lanes,
            bytes,
            bypass_l1: false,
            changed: false,
            row,
        }
    }

    #[test]
    fn a_row_has_the_lines_of_its_lanes() {
        for bytes in [1_u8, 4, 16] {
            for first in [0, 16, 96, 112, 128] {
                let addresses = std::array::from_fn(|l| 4096 + first + u64::from(bytes) * l as u64);
                let of = |row| {
                    let mut lines = Lines::default();
                    lines.coalesce(access(LaneMask::FULL, bytes, row), &addresses);
                    lines.lines().to_vec()
                };
                assert_eq!(of(true), of(false), "{bytes} bytes from {first}");
            }
        }
    }

    #[test]
    fn some_lanes_have_the_sectors_of_their_addresses() {
        for drawn in (1..2000).map(mix) {
            // Neighboring lanes on one word, on adjacent ones, or apart.
            let stride = [0, 4, 16, 36, 128][(drawn % 5) as usize];
            let every = 1 + (drawn >> 8 & 7);
            let addresses =
                std::array::from_fn(|lane| 4096 + lane as u64 / every * stride + (drawn >> 60) * 4);
            let lanes =
                LaneMask(if drawn & 1 << 40 == 0 { u32::MAX } else { (drawn >> 16) as u32 });
            if lanes.is_empty() {
                continue;
            }
            let mut expected = BTreeMap::new();
            for lane in lanes.lanes() {
                let sector = addresses[lane as usize] / SECTOR;
                *expected.entry(sector / SECTORS).or_insert(0_u8) |= 1 << (sector % SECTORS);
            }
            let mut lines = Lines::default();
            lines.coalesce(access(lanes, 4, false), &addresses);
            assert!(lines.lines().iter().copied().eq(expected), "{stride} {every} {lanes:?}");
        }
    }
}
