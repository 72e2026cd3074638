//! Happens-before: what each lane knows of the others.
//!
//! Every thread has an *epoch*, a number that grows whenever it releases something (a barrier, a warp barrier, a fence); an
//! access bears the epoch of its lane as its *stamp*. A lane knows an access if its stamp is not above what the lane has heard of
//! that thread. Epochs of a block are drawn from one counter, so that a barrier of the whole block comes to one number: everything
//! up to it is known to all ([`BlockClock`]). Likewise a warp that synchronises as a whole. Only what is partial (counted barriers, some
//! lanes of a warp, flags) takes an explicit list ([`Known`]), shared by those who learnt the same.
//!
//! Epochs saturate: what comes after 2^32 of them in one block counts as ordered, so a race can be missed there but none invented.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::{LaneMask, MAX_LANES};

/// A point in a block's history.
pub(super) type Stamp = u32;

/// Who accessed, when in its block's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    /// The warp's number in the grid.
    pub warp: u32,
    /// The lane.
    pub lane: u32,
    /// Its epoch.
    pub stamp: Stamp,
}

/// Blocks and warps that one list names at most. A counter through which the blocks of a whole grid release would name
/// them all.
const MOST_KNOWN: usize = 256;

/// What is known beside what the whole warp or block knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The lists grew too long: all counts as known, so that nobody is accused wrongly.
    everything: bool,
    /// All threads of a block, up to here.
    blocks: BTreeMap<u32, Stamp>,
    /// The lanes of a warp, up to here.
    warps: BTreeMap<u32, [Stamp; MAX_LANES]>,
}

impl Known {
    fn of_lane(&mut self, warp: u32, lane: u32, stamp: Stamp) {
        let lanes = self.warps.entry(warp).or_insert([0; MAX_LANES]);
        let cell = &mut lanes[lane as usize % MAX_LANES];
        *cell = (*cell).max(stamp);
        self.limit();
    }

    fn limit(&mut self) {
        if self.blocks.len() + self.warps.len() > MOST_KNOWN {
            *self = Known { everything: true, ..Known::default() };
        }
    }

    fn of_warp(&mut self, warp: u32, stamp: Stamp) {
        let lanes = self.warps.entry(warp).or_insert([0; MAX_LANES]);
        lanes.iter_mut().for_each(|cell| *cell = (*cell).max(stamp));
    }

    fn of_block(&mut self, block: u32, stamp: Stamp) {
        let cell = self.blocks.entry(block).or_insert(0);
        *cell = (*cell).max(stamp);
    }

    fn add(&mut self, other: &Known) {
        for (&block, &stamp) in &other.blocks {
            self.of_block(block, stamp);
        }
        for (&warp, theirs) in &other.warps {
            let lanes = self.warps.entry(warp).or_insert([0; MAX_LANES]);
            lanes.iter_mut().zip(theirs).for_each(|(mine, &theirs)| *mine = (*mine).max(theirs));
        }
        self.everything |= other.everything;
        self.limit();
    }

    fn covers(&self, other: &Known) -> bool {
        if self.everything || other.everything {
            return self.everything;
        }
        other.blocks.iter().all(|(block, stamp)| self.blocks.get(block).is_some_and(|s| s >= stamp))
            && other.warps.iter().all(|(warp, theirs)| {
                self.warps.get(warp).is_some_and(|mine| mine.iter().zip(theirs).all(|(mine, theirs)| mine >= theirs))
            })
    }

    fn has(&self, past: Past, block: u32) -> bool {
        self.everything
            || self.blocks.get(&block).is_some_and(|&s| past.stamp <= s)
            || self.warps.get(&past.warp).is_some_and(|lanes| past.stamp <= lanes[past.lane as usize % MAX_LANES])
    }
}

/// What somebody released: to be acquired by who sees the value.
pub(super) type Released = Arc<Known>;

/// A block's counter, and what all of its threads know.
#[derive(Clone, Debug)]
pub(super) struct BlockClock {
    /// The block's number.
    pub id: u32,
    /// The highest epoch that any of its threads has.
    now: Stamp,
    /// Everything up to here is known to every thread of the block.
    all: Stamp,
    /// The least epoch of its threads: that after the last barrier of all.
    epoch: Stamp,
    /// What all know of other blocks.
    known: Option<Released>,
}

impl BlockClock {
    pub(super) fn new(id: u32) -> BlockClock {
        BlockClock { id, now: 1, all: 0, epoch: 1, known: None }
    }

    fn tick(&mut self) -> Stamp {
        self.now = self.now.saturating_add(1);
        self.now
    }
}

/// What one warp's lanes know.
#[derive(Clone, Debug)]
pub(super) struct WarpClock {
    /// Its number in the grid.
    pub number: u32,
    /// The epoch of its lanes, unless they are apart.
    epoch: Stamp,
    /// Everything of this warp up to here is known to all of its lanes.
    all: Stamp,
    /// What its lanes know beside that, unless they are apart.
    known: Option<Released>,
    /// Lanes that have synchronised with some others only.
    apart: Option<Box<[LaneClock; MAX_LANES]>>,
    /// Each lane's last fence: what was known, and the lane's epoch.
    fences: Option<Box<[Option<Fence>; MAX_LANES]>>,
}

/// What a lane knew at a fence, and its epoch.
type Fence = (Released, Stamp);

#[derive(Clone, Debug, Default)]
struct LaneClock {
    epoch: Stamp,
    known: Option<Released>,
}

impl WarpClock {
    pub(super) fn new(number: u32) -> WarpClock {
        WarpClock { number, epoch: 0, all: 0, known: None, apart: None, fences: None }
    }

    /// The epoch of a lane: the stamp of what it does now.
    #[inline]
    pub(super) fn stamp(&self, block: &BlockClock, lane: u32) -> Stamp {
        let own = self.apart.as_ref().map_or(self.epoch, |apart| apart[lane as usize % MAX_LANES].epoch);
        own.max(block.epoch)
    }

    /// Whether its lanes have synchronised alike: all have one epoch, and know the same of others.
    pub(super) fn is_together(&self) -> bool {
        self.apart.is_none()
    }

    fn known(&self, lane: u32) -> Option<&Released> {
        match &self.apart {
            None => self.known.as_ref(),
            Some(apart) => apart[lane as usize % MAX_LANES].known.as_ref(),
        }
    }

    /// Whether `past`, an access of a thread of block `of`, happened before what `lane` does now.
    #[inline]
    pub(super) fn knows(&self, block: &BlockClock, lane: u32, past: Past, of: u32) -> bool {
        if of == block.id {
            if past.stamp <= block.all || past.stamp == Stamp::MAX {
                return true;
            }
            if past.warp == self.number && (past.lane == lane || past.stamp <= self.all) {
                return true;
            }
        }
        self.knows_specially(block, lane, past, of)
    }

    #[inline(never)]
    fn knows_specially(&self, block: &BlockClock, lane: u32, past: Past, of: u32) -> bool {
        let has = |known: Option<&Released>| known.is_some_and(|known| known.has(past, of));
        has(self.known(lane)) || has(block.known.as_ref())
    }

    /// Before Volta a warp is in lock-step: what its lanes did in earlier instructions is known to all of them.
    #[inline]
    pub(super) fn lock_step(&mut self, block: &mut BlockClock) {
        self.all = block.now;
        self.epoch = block.tick();
    }

    /// What `lanes` know and did up to now, for others to learn.
    fn tell(&self, block: &BlockClock, lanes: LaneMask, known: &mut Known) {
        for lane in lanes.lanes() {
            known.of_lane(self.number, lane, self.stamp(block, lane));
            if let (Some(own), true) = (self.known(lane), self.apart.is_some() || Some(lane) == lanes.lowest()) {
                known.add(own);
            }
        }
        if self.all > 0 {
            known.of_warp(self.number, self.all);
        }
    }

    fn go_apart(&mut self) -> &mut [LaneClock; MAX_LANES] {
        let (epoch, known) = (self.epoch, self.known.clone());
        self.apart.get_or_insert_with(|| Box::new(std::array::from_fn(|_| LaneClock { epoch, known: known.clone() })))
    }

    /// `lanes` now know `known`, and begin a new epoch. `live`: the lanes of the warp that have not ended.
    fn learn(&mut self, lanes: LaneMask, live: LaneMask, known: Option<Released>, epoch: Stamp) {
        if live.is_subset(lanes) {
            self.apart = None;
            (self.known, self.epoch) = (known, epoch);
            return;
        }
        let apart = self.go_apart();
        for lane in lanes.lanes() {
            apart[lane as usize % MAX_LANES] = LaneClock { epoch, known: known.clone() };
        }
    }

    /// `lanes` of the warp synchronise with each other.
    pub(super) fn warp_barrier(&mut self, block: &mut BlockClock, lanes: LaneMask, live: LaneMask) {
        let whole = live.is_subset(lanes);
        if whole && self.apart.is_none() {
            return self.lock_step(block);
        }
        let mut known = Known::default();
        self.tell(block, lanes, &mut known);
        if whole {
            self.all = block.now;
        }
        let epoch = block.tick();
        self.learn(lanes, live, Some(Arc::new(known)), epoch);
    }

    /// `lanes` execute a fence: strong writes that follow release what came before it.
    pub(super) fn fence(&mut self, block: &mut BlockClock, lanes: LaneMask, live: LaneMask) {
        let mut by_lane: Option<Released> = None;
        for lane in lanes.lanes() {
            let stamp = self.stamp(block, lane);
            // Lanes that know the same share what they release.
            let base = match &by_lane {
                Some(base) if self.apart.is_none() => base.clone(),
                _ => {
                    let mut known = self.known(lane).map_or_else(Known::default, |known| (**known).clone());
                    if let Some(theirs) = &block.known {
                        known.add(theirs);
                    }
                    known.of_block(block.id, block.all);
                    known.of_warp(self.number, self.all);
                    Arc::new(known)
                }
            };
            by_lane = Some(base.clone());
            let fences = self.fences.get_or_insert_with(|| Box::new(std::array::from_fn(|_| None)));
            fences[lane as usize % MAX_LANES] = Some((base, stamp));
        }
        let epoch = block.tick();
        if live.is_subset(lanes) && self.apart.is_none() {
            self.epoch = epoch;
        } else {
            let apart = self.go_apart();
            lanes.lanes().for_each(|lane| apart[lane as usize % MAX_LANES].epoch = epoch);
        }
    }

    /// Whether any lane has executed a fence.
    pub(super) fn has_fences(&self) -> bool {
        self.fences.is_some()
    }

    /// What a strong write of `lane` releases: all up to its last fence, nothing without one. An atomic adds it to what was
    /// released there `before`.
    pub(super) fn release(&self, lane: u32, before: Option<Released>) -> Option<Released> {
        let Some((base, stamp)) = self.fences.as_ref().and_then(|fences| fences[lane as usize % MAX_LANES].as_ref())
        else {
            return before;
        };
        let mut released = before.unwrap_or_default();
        let known = Arc::make_mut(&mut released);
        known.add(base);
        known.of_lane(self.number, lane, *stamp);
        Some(released)
    }

    /// `lane` sees a value that was written with a release; in lock-step so do the others.
    pub(super) fn acquire(&mut self, lane: u32, released: &Released, lock_step: bool) {
        if self.known(lane).is_some_and(|known| known.covers(released)) {
            return;
        }
        let known = match self.known(lane) {
            None => Some(released.clone()),
            Some(known) => {
                let mut known = (**known).clone();
                known.add(released);
                Some(Arc::new(known))
            }
        };
        if lock_step {
            self.known = known;
        } else {
            self.go_apart()[lane as usize % MAX_LANES].known = known;
        }
    }
}

/// Lanes that meet at a block barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Meeting {
    known: Known,
}

impl Meeting {
    /// What `lanes` of `warp` did is known to those who wait there. Those that do not wait begin a new epoch at once.
    pub(super) fn arrive(&mut self, warp: &mut WarpClock, block: &mut BlockClock, lanes: LaneMask, live: LaneMask) {
        warp.tell(block, lanes, &mut self.known);
        let epoch = block.tick();
        if live.is_subset(lanes) && warp.apart.is_none() {
            warp.epoch = epoch;
        } else {
            let apart = warp.go_apart();
            lanes.lanes().for_each(|lane| apart[lane as usize % MAX_LANES].epoch = epoch);
        }
    }

    /// What the lanes that waited know when the barrier opens.
    pub(super) fn open(self) -> Released {
        Arc::new(self.known)
    }
}

/// `lanes` have waited at a meeting that is `open` now.
pub(super) fn leave(warp: &mut WarpClock, block: &mut BlockClock, lanes: LaneMask, live: LaneMask, open: &Released) {
    let epoch = block.tick();
    // Those who waited know what they knew, as they told it.
    warp.learn(lanes, live, Some(open.clone()), epoch);
}

/// A barrier of all threads of the block has opened: all know all.
pub(super) fn block_barrier<'w>(block: &mut BlockClock, warps: impl Iterator<Item = &'w mut WarpClock>) {
    block.all = block.now;
    block.epoch = block.tick();
    for warp in warps {
        if warp.known.is_none() && warp.apart.is_none() {
            continue;
        }
        let mut known = block.known.as_ref().map_or_else(Known::default, |known| (**known).clone());
        let lanes = warp.apart.take().into_iter().flat_map(|lanes| lanes.into_iter().filter_map(|lane| lane.known));
        for own in warp.known.take().into_iter().chain(lanes) {
            known.add(&own);
        }
        block.known = Some(Arc::new(known));
    }
}
