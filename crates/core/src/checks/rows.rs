//! Accesses to shared memory that race with nothing, kept by line.
//!
//! Most accesses of a warp reach a few lines in which nothing unordered conflicts with them: tiles
//! are written, and read after a barrier. Such an access is appended to the list of its line, which
//! costs less than a look at the record of each word. Once a barrier of the whole block has opened,
//! all earlier accesses are ordered before all later ones, and a list is forgotten. An access that
//! may race makes its lines record their lists in [`Shadow`], in order, and then itself: the
//! findings are those of recording every access at once.

use super::clocks::{BlockClock, ByBarriers, Past, Stamp};
use super::shadow::{Manner, Rules, Shadow, Touch, Witness};
use crate::base::{LaneMask, MAX_LANES};

/// Words per line.
const LINE: u64 = 32;
/// Lines of an access that are looked at together, at most.
const MOST_LINES: usize = 4;
/// Accesses in the list of a line, at most, and number from which it is shortened.
const MOST_KEPT: usize = 64;
const SOME_KEPT: usize = 16;

/// Access of a warp's lanes to whole words.
pub(super) struct WarpAccess<'a> {
    pub lanes: LaneMask,
    /// Byte address of each lane, a multiple of 4.
    pub addresses: &'a [u64; MAX_LANES],
    /// Values written, by lane.
    pub values: Option<&'a [u32; MAX_LANES]>,
    pub pc: u32,
    pub manner: Manner,
    /// Knowledge of its warp, which has nothing but that of barriers.
    pub by: ByBarriers,
    pub stamp: Stamp,
}

/// Access of a warp's lanes to words of one line.
struct Kept {
    by: ByBarriers,
    stamp: Stamp,
    pc: u32,
    manner: Manner,
    lanes: LaneMask,
    /// Accessed words of the line.
    mask: u32,
    /// Word of each lane.
    words: [u8; MAX_LANES],
    values: Option<Box<[u32; MAX_LANES]>>,
}

impl Kept {
    fn write(&self) -> bool {
        self.values.is_some()
    }

    /// Returns true if no two lanes share a word.
    fn is_distinct(&self) -> bool {
        self.mask.count_ones() == self.lanes.count()
    }

    /// Returns true if each of its lanes accesses the word that it accesses in `other`.
    fn is_part_of(&self, other: &Kept) -> bool {
        let equal = |lane: u32| {
            let lane = lane as usize % MAX_LANES;
            self.words[lane] == other.words[lane]
        };
        self.lanes.is_subset(other.lanes) && self.lanes.lanes().all(equal)
    }

    /// Returns true if an earlier access of its line cannot race with it.
    fn is_ordered_after(&self, earlier: &Kept) -> bool {
        !(self.write() || earlier.write())
            || self.by.warp == earlier.by.warp
                && (earlier.stamp <= self.by.all
                    // Each word has one lane.
                    || earlier.is_distinct() && self.is_part_of(earlier))
    }

    /// Returns true if it adds nothing to what `earlier` has recorded.
    fn repeats(&self, earlier: &Kept) -> bool {
        let kind = |kept: &Kept| (kept.by.warp, kept.stamp, kept.manner, kept.write());
        !self.write() && kind(self) == kind(earlier) && self.is_part_of(earlier)
    }
}

/// Accesses to a line.
#[derive(Default)]
struct Line {
    kept: Vec<Kept>,
    /// Latest stamp of `kept`.
    last: Stamp,
    /// True if `kept` has a write.
    written: bool,
    /// Latest stamp of an access that was recorded by word.
    recorded: Stamp,
}

impl Line {
    /// Forgets accesses that all later ones are ordered after.
    fn forget(&mut self, all: Stamp) {
        if self.last <= all {
            self.kept.clear();
            self.written = false;
        }
    }

    /// Returns true if an access may be appended.
    fn takes(&mut self, new: &Kept, all: Stamp) -> bool {
        self.forget(all);
        // Two writes to a word by one access may race.
        self.recorded <= all
            && (!new.write() || new.is_distinct())
            && (!(new.write() || self.written)
                || self.kept.iter().all(|earlier| new.is_ordered_after(earlier)))
            && (self.kept.len() < MOST_KEPT || self.kept.iter().any(|kept| new.repeats(kept)))
    }

    /// Drops reads that a read of the only warp replaces.
    fn replace(&mut self, new: &Kept) {
        if self.kept.iter().all(|earlier| earlier.by.warp == new.by.warp) {
            self.kept.retain(|earlier| {
                earlier.write()
                    || earlier.manner != new.manner
                    || earlier.stamp > new.by.all
                    || !earlier.is_part_of(new)
            });
        }
    }

    fn append(&mut self, new: Kept) {
        if self.kept.len() >= MOST_KEPT {
            return;
        }
        if new.write() {
            if new.manner == Manner::Weak {
                // It replaces every record of its words.
                self.kept.retain(|earlier| earlier.mask & !new.mask != 0);
            }
            self.written = true;
        }
        if !new.write() && self.kept.len() >= SOME_KEPT {
            self.replace(&new);
        }
        self.last = self.last.max(new.stamp);
        self.kept.push(new);
    }
}

/// Kept accesses to a block's shared memory.
#[derive(Default)]
pub(super) struct Rows(Vec<Line>);

impl Rows {
    /// Creates a list of no accesses to memory of this size.
    pub(super) fn new(bytes: u32) -> Rows {
        let lines = u64::from(bytes).div_ceil(4 * LINE);
        Rows((0..lines).map(|_| Line::default()).collect())
    }

    /// Keeps an access if it races with nothing. Otherwise it returns false and changes nothing.
    pub(super) fn keep(&mut self, access: &WarpAccess<'_>, block: &BlockClock) -> bool {
        let mut rest = access.lanes;
        let mut parts: [Option<(usize, Kept)>; MOST_LINES] = Default::default();
        for part in &mut parts {
            let Some(lowest) = rest.lowest() else { break };
            let line = access.addresses[lowest as usize % MAX_LANES] / (4 * LINE);
            let (lanes, words, mask) = within(line, rest, access.addresses);
            rest -= lanes;
            let kept = Kept {
                by: access.by,
                stamp: access.stamp,
                pc: access.pc,
                manner: access.manner,
                lanes,
                mask,
                words,
                values: access.values.map(|values| Box::new(*values)),
            };
            let Some(there) = self.0.get_mut(line as usize) else { return false };
            if !there.takes(&kept, block.all()) {
                return false;
            }
            *part = Some((line as usize, kept));
        }
        if !rest.is_empty() {
            return false;
        }
        for (line, kept) in parts.into_iter().flatten() {
            self.0[line].append(kept);
        }
        true
    }

    /// Records the kept accesses to the line of a word in `shadow`, where another one follows now.
    pub(super) fn record(
        &mut self,
        word: u64,
        shadow: &mut Shadow,
        rules: Rules,
        block: &BlockClock,
    ) {
        let number = word / LINE;
        let Some(line) = self.0.get_mut(number as usize) else { return };
        line.forget(block.all());
        for kept in line.kept.drain(..) {
            let shares = !kept.write();
            for (lane, lanes) in runs(kept.lanes, &kept.words, shares) {
                let past = Past { warp: kept.by.warp, lane, stamp: kept.stamp };
                let at = lane as usize % MAX_LANES;
                let touch = Touch {
                    past,
                    lanes,
                    pc: kept.pc,
                    manner: kept.manner,
                    write: kept.write(),
                    value: kept.values.as_ref().map_or(0, |values| values[at]),
                };
                let witness = Witness::new(&touch);
                let knows = |past: Past, of| kept.by.knows(block, witness.lane(&past), past, of);
                let word = number * LINE + u64::from(kept.words[at]);
                shadow.touch(word as usize, 0b1111, &touch, rules, &knows, &mut |_| ());
            }
        }
        line.written = false;
        line.recorded = block.now();
    }
}

/// Splits `lanes` into single lanes or, with `share`, by equal address, neighbors only.
///
/// Each group comes with its lowest lane.
pub(super) fn runs<T: PartialEq>(
    lanes: LaneMask,
    addresses: &[T; MAX_LANES],
    share: bool,
) -> impl Iterator<Item = (u32, LaneMask)> {
    let mut rest = lanes;
    std::iter::from_fn(move || {
        let lane = rest.lowest()?;
        let mut run = LaneMask::lane(lane);
        if share {
            let next = |run: LaneMask| {
                (rest - run).lowest().filter(|&l| {
                    addresses[l as usize % MAX_LANES] == addresses[lane as usize % MAX_LANES]
                })
            };
            while let Some(next) = next(run) {
                run |= LaneMask::lane(next);
            }
        }
        rest -= run;
        Some((lane, run))
    })
}

/// Returns those of `lanes` whose addresses are in a line, with the word of each and all words.
fn within(
    line: u64,
    lanes: LaneMask,
    addresses: &[u64; MAX_LANES],
) -> (LaneMask, [u8; MAX_LANES], u32) {
    let words = addresses.map(|address| (address / 4 % LINE) as u8);
    let mut there = 0;
    for (lane, address) in addresses.iter().enumerate() {
        there |= u32::from(address / (4 * LINE) == line) << lane;
    }
    let lanes = lanes & LaneMask(there);
    let mut mask = 0;
    for (lane, word) in words.iter().enumerate() {
        mask |= (lanes.0 >> lane & 1) << (word % 32);
    }
    (lanes, words, mask)
}
