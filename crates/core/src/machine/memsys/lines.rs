//! Coalescing of a request into lines and sectors.

use super::super::cache::{LINE, SECTOR, sectors_in};
use crate::base::MAX_LANES;
use crate::exec::MemoryAccess;

/// 128-byte lines of a request, ascending, with the sectors of each.
#[derive(Clone)]
pub(in crate::machine) struct Lines {
    pub(super) lines: [(u64, u8); MAX_LANES],
    pub(super) len: usize,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { lines: [(0, 0); MAX_LANES], len: 0 }
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
        let (mut line, mut sectors) = (0, 0); // of the current line
        let mut ascending = true;
        for lane in access.lanes.lanes() {
            let sector = addresses[lane as usize % MAX_LANES] / SECTOR;
            let here = sector / (LINE / SECTOR);
            if here != line && sectors != 0 {
                self.push(line, sectors);
                sectors = 0;
                ascending &= line < here;
            }
            line = here;
            sectors |= 1 << (sector % (LINE / SECTOR));
        }
        self.push(line, sectors);
        if !ascending {
            self.sort();
        }
    }

    /// Returns the number of sectors in the request.
    pub(in crate::machine) fn sectors(&self) -> u64 {
        self.lines[..self.len].iter().map(|&(_, sectors)| u64::from(sectors_in(sectors))).sum()
    }

    #[inline]
    fn push(&mut self, line: u64, sectors: u8) {
        self.lines[self.len % MAX_LANES] = (line, sectors);
        self.len += 1;
    }

    /// Sorts the lines and removes duplicates.
    fn sort(&mut self) {
        let lines = &mut self.lines[..self.len];
        lines.sort_unstable();
        let mut last = 0;
        for i in 1..lines.len() {
            let (line, sectors) = lines[i];
            if lines[last].0 == line {
                lines[last].1 |= sectors;
            } else {
                last += 1;
                lines[last] = (line, sectors);
            }
        }
        self.len = last + 1;
    }
}
