//! Accesses of a warp, split by line of memory.

use crate::base::{LaneMask, MAX_LANES};

/// Words per line.
pub(super) const LINE: usize = 32;
/// Bytes per line.
pub(super) const LINE_BYTES: u64 = 4 * LINE as u64;
/// Lines of an access, at most. An access to more lines has few lanes in each and is recorded by
/// word.
const MOST_ROWS: usize = 8;

/// Words of a line that lanes of a warp access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Number of the line.
    pub line: u64,
    /// Accessed words.
    pub words: u32,
    /// Words with several lanes.
    pub shared: u32,
    /// Words with several lanes that are not neighbors with one address.
    pub scattered: u32,
    /// Lanes by word.
    pub lanes: [u32; LINE],
}

impl Row {
    const EMPTY: Row = Row { line: 0, words: 0, shared: 0, scattered: 0, lanes: [0; LINE] };

    /// Adds a word of neighboring lanes with one address.
    #[inline]
    fn add(&mut self, word: u32, lanes: LaneMask) {
        let there = &mut self.lanes[word as usize % LINE];
        let again = u32::from(*there != 0);
        let many = u32::from(lanes.0 & lanes.0.wrapping_sub(1) != 0);
        *there |= lanes.0;
        self.words |= 1 << (word % 32);
        self.shared |= (again | many) << (word % 32);
        self.scattered |= again << (word % 32);
    }
}

/// Rows of an access.
#[derive(Debug)]
pub(super) struct Rows {
    rows: [Row; MOST_ROWS],
    count: usize,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows { rows: [Row::EMPTY; MOST_ROWS], count: 0 }
    }
}

/// Sets of one lane in the order of lanes, between empty sets.
const LANES: [u32; 3 * MAX_LANES] = {
    let mut lanes = [0; 3 * MAX_LANES];
    let mut lane = 0;
    while lane < MAX_LANES {
        lanes[MAX_LANES + lane] = 1 << lane;
        lane += 1;
    }
    lanes
};

impl Rows {
    pub(super) fn as_slice(&self) -> &[Row] {
        &self.rows[..self.count]
    }

    /// Splits an access. Returns false if it is not to whole words, or to many lines.
    pub(super) fn split(
        &mut self,
        lanes: LaneMask,
        addresses: &[u64; MAX_LANES],
        bytes: u32,
    ) -> bool {
        self.count = 0;
        if bytes == 4
            && let Some((first, step)) = progression(lanes, addresses)
            && (first | step).is_multiple_of(4)
        {
            return self.split_progression(lanes, first / 4, (step as i64) / 4);
        }
        !is_spread(lanes, addresses) && self.split_any(lanes, addresses, bytes)
    }

    /// Splits an access of `lanes` to words at equal distances; that of the lowest is `first`.
    fn split_progression(&mut self, lanes: LaneMask, first: u64, step: i64) -> bool {
        let lowest = lanes.0.trailing_zeros();
        match step {
            0 => {
                if let Some(row) = self.row(first / LINE as u64) {
                    self.rows[row % MOST_ROWS].add(first as u32 % 32, lanes);
                }
                return true;
            }
            1 => {
                self.split_contiguous(lanes, first, lowest);
                return true;
            }
            _ => {}
        }
        let (mut at, mut line) = (0, u64::MAX);
        for lane in lanes.lanes() {
            let word = first.wrapping_add_signed(step.wrapping_mul(i64::from(lane - lowest)));
            if line != word / LINE as u64 {
                line = word / LINE as u64;
                let Some(found) = self.row(line) else { return false };
                at = found;
            }
            let row = &mut self.rows[at % MOST_ROWS];
            row.lanes[word as usize % LINE] = 1 << (lane % 32);
            row.words |= 1 << (word % LINE as u64);
        }
        true
    }

    /// Splits an access of `lanes` to consecutive words; that of lane `lowest` is `first`.
    fn split_contiguous(&mut self, lanes: LaneMask, first: u64, lowest: u32) {
        let line = first / LINE as u64;
        // Lane at the first word of a line.
        let shift = i64::from(lowest) - (first % LINE as u64) as i64;
        for (line, shift) in [(line, shift), (line + 1, shift + LINE as i64)] {
            let words = match shift {
                0..32 => lanes.0 >> shift,
                -31..0 => lanes.0 << -shift,
                _ => 0,
            };
            let from = (MAX_LANES as i64 + shift) as usize;
            if words != 0
                && let Some(table) = LANES.get(from..).and_then(|lanes| lanes.first_chunk())
            {
                let row = &mut self.rows[self.count % MOST_ROWS];
                (row.line, row.words, row.shared, row.scattered) = (line, words, 0, 0);
                row.lanes = table.map(|lane: u32| lane & lanes.0);
                self.count += 1;
            }
        }
    }

    /// Splits an access lane by lane.
    fn split_any(&mut self, lanes: LaneMask, addresses: &[u64; MAX_LANES], bytes: u32) -> bool {
        if !bytes.is_multiple_of(4) {
            return false;
        }
        let (mut rest, mut at, mut line) = (lanes, 0, u64::MAX);
        while let Some((lane, run)) = next_run(&mut rest, addresses) {
            let address = addresses[lane as usize % MAX_LANES];
            if !address.is_multiple_of(4) {
                return false;
            }
            let (mut word, mut left) = (address / 4, bytes / 4);
            while left > 0 {
                if line != word / LINE as u64 {
                    line = word / LINE as u64;
                    let Some(found) = self.row(line) else { return false };
                    at = found;
                }
                self.rows[at % MOST_ROWS].add(word as u32 % 32, run);
                (word, left) = (word + 1, left - 1);
            }
        }
        true
    }

    /// Returns the index of the row of a line, `None` if there are many.
    fn row(&mut self, line: u64) -> Option<usize> {
        let count = self.count.min(MOST_ROWS);
        if let Some(found) = self.rows[..count].iter().rposition(|row| row.line == line) {
            return Some(found);
        }
        let row = self.rows.get_mut(count)?;
        (row.line, row.words, row.shared, row.scattered) = (line, 0, 0, 0);
        row.lanes = [0; LINE];
        self.count = count + 1;
        Some(count)
    }
}

/// Returns true if few lanes access each line, as far as the first two and the last tell.
fn is_spread(lanes: LaneMask, addresses: &[u64; MAX_LANES]) -> bool {
    let mut few = lanes.lanes();
    let at = |lane: u32| addresses[lane as usize % MAX_LANES];
    let (Some(first), Some(second)) = (few.next(), few.next()) else { return false };
    let (last, count) = (31 - lanes.0.leading_zeros(), u64::from(lanes.count()));
    let (next, all) = (at(first).abs_diff(at(second)), at(first).abs_diff(at(last)));
    // At most two lanes a line.
    count > 2 * MOST_ROWS as u64 && next >= LINE_BYTES / 2 && all >= (count - 1) * LINE_BYTES / 2
}

/// Returns the address of the lowest lane and the distance of neighbors, if it is the same for all.
fn progression(lanes: LaneMask, addresses: &[u64; MAX_LANES]) -> Option<(u64, u64)> {
    let at = |lane: u32| addresses[lane as usize % MAX_LANES];
    let lowest = lanes.lowest()?;
    let first = at(lowest);
    if lanes == LaneMask::FULL {
        let step = at(1).wrapping_sub(first);
        let each = addresses.iter().zip(0..);
        let differs = each.fold(0, |all, (address, lane): (_, u64)| {
            all | (address ^ first.wrapping_add(step.wrapping_mul(lane)))
        });
        return (differs == 0).then_some((first, step));
    }
    let Some(second) = lanes.lanes().nth(1) else { return Some((first, 0)) };
    let step = at(second).wrapping_sub(first) as i64 / i64::from(second - lowest);
    let expected =
        |lane: u32| first.wrapping_add_signed(step.wrapping_mul(i64::from(lane - lowest)));
    lanes.lanes().all(|lane| at(lane) == expected(lane)).then_some((first, step as u64))
}

/// Splits `lanes` into single lanes or, with `share`, by equal address, neighbors only.
///
/// Each group comes with its lowest lane.
pub(super) fn runs(
    lanes: LaneMask,
    addresses: &[u64; MAX_LANES],
    share: bool,
) -> impl Iterator<Item = (u32, LaneMask)> {
    let mut rest = lanes;
    std::iter::from_fn(move || match share {
        true => next_run(&mut rest, addresses),
        false => {
            let lane = rest.lowest()?;
            rest -= LaneMask::lane(lane);
            Some((lane, LaneMask::lane(lane)))
        }
    })
}

/// Takes the lowest lane from `rest`, and the next ones with its address.
#[inline]
pub(super) fn next_run(
    rest: &mut LaneMask,
    addresses: &[u64; MAX_LANES],
) -> Option<(u32, LaneMask)> {
    let first = rest.lowest()?;
    let (mut run, mut left) = (LaneMask::lane(first), LaneMask(rest.0 & rest.0.wrapping_sub(1)));
    while let Some(next) = left.lowest()
        && addresses[next as usize % MAX_LANES] == addresses[first as usize % MAX_LANES]
    {
        run.0 |= 1 << (next % 32);
        left.0 &= left.0.wrapping_sub(1);
    }
    *rest = left;
    Some((first, run))
}
