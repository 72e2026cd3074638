//! Happens-before: the accesses that each lane is ordered after.
//!
//! Every thread has an *epoch*, a number that grows with each release (a barrier, a warp barrier, a
//! fence). An access carries its lane's epoch as its *stamp*. A lane knows an access if the stamp
//! is at most the last epoch of that thread that the lane has acquired. All epochs of a block come
//! from one counter, so a barrier of the whole block reduces to one number: everything up to it is
//! known to all threads ([`BlockClock`]). The same holds for a warp that synchronizes as a whole.
//! Only partial synchronization (counted barriers, some lanes of a warp, flags) needs an explicit
//! list ([`Known`]), shared by all lanes with equal knowledge.
//!
//! Epochs saturate: after 2^32 epochs of a block, accesses count as ordered. A race can be missed.

mod fences;

use std::sync::Arc;

use crate::base::{LaneMask, MAX_LANES};

/// Point in a block's history.
pub(super) type Stamp = u32;

/// Identity and epoch of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    /// Warp number in the grid.
    pub warp: u32,
    /// Lane.
    pub lane: u32,
    /// Epoch of the lane.
    pub stamp: Stamp,
}

/// Maximum blocks and warps per list. A counter through which all blocks of a grid release would
/// list them all.
const MOST_KNOWN: usize = 256;

/// Knowledge beyond that of the whole warp or block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// True if a list grew too long: everything counts as known, to report no false race.
    everything: bool,
    /// Blocks all of whose threads are known up to a stamp.
    blocks: Sorted<Stamp>,
    /// Warps whose lanes are known up to a stamp each.
    warps: Sorted<[Stamp; MAX_LANES]>,
}

/// Short list of items by number, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sorted<T>(Vec<(u32, T)>);

impl<T> Sorted<T> {
    fn get(&self, number: u32) -> Option<&T> {
        let at = self.0.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(&self.0[at].1)
    }

    /// Returns the item of a number, at first `empty`.
    fn entry(&mut self, number: u32, empty: T) -> &mut T {
        let at = self.0.binary_search_by_key(&number, |(number, _)| *number);
        let at = at.unwrap_or_else(|at| {
            self.0.insert(at, (number, empty));
            at
        });
        &mut self.0[at].1
    }
}

impl Known {
    fn of_lane(&mut self, warp: u32, lane: u32, stamp: Stamp) {
        let lanes = self.warps.entry(warp, [0; MAX_LANES]);
        let cell = &mut lanes[lane as usize % MAX_LANES];
        *cell = (*cell).max(stamp);
        self.limit();
    }

    fn limit(&mut self) {
        if self.blocks.0.len() + self.warps.0.len() > MOST_KNOWN {
            *self = Known { everything: true, ..Known::default() };
        }
    }

    fn of_warp(&mut self, warp: u32, stamp: Stamp) {
        let lanes = self.warps.entry(warp, [0; MAX_LANES]);
        lanes.iter_mut().for_each(|cell| *cell = (*cell).max(stamp));
    }

    fn of_block(&mut self, block: u32, stamp: Stamp) {
        let cell = self.blocks.entry(block, 0);
        *cell = (*cell).max(stamp);
    }

    fn add(&mut self, other: &Known) {
        for &(block, stamp) in &other.blocks.0 {
            self.of_block(block, stamp);
        }
        for &(warp, ref theirs) in &other.warps.0 {
            let lanes = self.warps.entry(warp, [0; MAX_LANES]);
            lanes.iter_mut().zip(theirs).for_each(|(mine, &theirs)| *mine = (*mine).max(theirs));
        }
        self.everything |= other.everything;
        self.limit();
    }

    fn covers(&self, other: &Known) -> bool {
        if self.everything || other.everything {
            return self.everything;
        }
        let has_block = |&(block, stamp)| self.blocks.get(block).is_some_and(|&s| s >= stamp);
        let has_warp = |(warp, theirs): &(u32, [Stamp; MAX_LANES])| {
            self.warps.get(*warp).is_some_and(|mine| {
                mine.iter().zip(theirs).fold(true, |all, (mine, theirs)| all & (mine >= theirs))
            })
        };
        other.blocks.0.iter().all(has_block) && other.warps.0.iter().all(has_warp)
    }

    fn has(&self, past: Past, block: u32) -> bool {
        self.everything
            || self.blocks.get(block).is_some_and(|&s| past.stamp <= s)
            || self.has_lane(past)
    }

    fn has_lane(&self, Past { warp, lane, stamp }: Past) -> bool {
        self.warps.get(warp).is_some_and(|lanes| stamp <= lanes[lane as usize % MAX_LANES])
    }
}

/// Released knowledge, acquired by lanes that read the released value.
pub(super) type Released = Arc<Known>;

/// Epoch counter of a block, and the knowledge common to its threads.
#[derive(Clone, Debug)]
pub(super) struct BlockClock {
    /// Block number.
    pub id: u32,
    /// Number of its first warp in the grid.
    first_warp: u32,
    warps: u32,
    /// Highest epoch of any of its threads.
    now: Stamp,
    /// Stamp up to which every thread of the block knows everything of the block.
    all: Stamp,
    /// Least epoch of its threads, set by the last barrier of the whole block.
    epoch: Stamp,
    /// Knowledge of other blocks common to all threads.
    known: Option<Released>,
}

impl BlockClock {
    /// Creates the clock of a block of the grid, with its number of warps.
    pub(super) fn new(id: u32, warps: u32) -> BlockClock {
        let first_warp = id.wrapping_mul(warps);
        BlockClock { id, first_warp, warps, now: 1, all: 0, epoch: 1, known: None }
    }

    /// Returns the stamp up to which every thread of the block knows everything of it.
    #[inline]
    pub(super) fn all(&self) -> Stamp {
        self.all
    }

    /// Returns the latest stamp of any access of the block.
    pub(super) fn now(&self) -> Stamp {
        self.now
    }

    fn tick(&mut self) -> Stamp {
        self.now = self.now.saturating_add(1);
        self.now
    }
}

/// Knowledge that barriers gave to all lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByBarriers {
    /// Warp number in the grid.
    warp: u32,
    /// Stamp up to which every lane knows everything of this warp.
    all: Stamp,
    first_warp: u32,
    warps: u32,
    /// Stamp up to which every lane knows everything of the block.
    block: Stamp,
}

impl ByBarriers {
    /// Returns true if the accesses of a warp at `stamp` happened before the next one of any lane.
    #[inline]
    pub(super) fn has(&self, warp: u32, stamp: Stamp) -> bool {
        warp.wrapping_sub(self.first_warp) < self.warps
            && (stamp <= self.block
                || stamp == Stamp::MAX
                || warp == self.warp && stamp <= self.all)
    }
}

/// Knowledge of a warp's lanes.
#[derive(Clone, Debug)]
pub(super) struct WarpClock {
    /// Warp number in the grid.
    pub number: u32,
    /// Epoch of its lanes, unless `apart` is set.
    epoch: Stamp,
    /// Stamp up to which every lane knows everything of this warp.
    all: Stamp,
    /// Further knowledge of its lanes, unless `apart` is set.
    known: Option<Released>,
    /// Separate clocks, once some lanes have synchronized without the others.
    apart: Option<Box<[LaneClock; MAX_LANES]>>,
    /// Last fence by lane.
    fences: Option<Box<[Option<Fence>; MAX_LANES]>>,
}

/// Knowledge and epoch of a lane at a fence.
type Fence = (Released, Stamp);

#[derive(Clone, Debug, Default)]
struct LaneClock {
    epoch: Stamp,
    known: Option<Released>,
}

impl WarpClock {
    /// Creates the clock of a warp of a block.
    pub(super) fn new(block: &BlockClock, index: u32) -> WarpClock {
        let number = block.first_warp.wrapping_add(index);
        WarpClock { number, epoch: 0, all: 0, known: None, apart: None, fences: None }
    }

    /// Returns a lane's epoch, the stamp of its next access.
    #[inline]
    pub(super) fn stamp(&self, block: &BlockClock, lane: u32) -> Stamp {
        let own =
            self.apart.as_ref().map_or(self.epoch, |apart| apart[lane as usize % MAX_LANES].epoch);
        own.max(block.epoch)
    }

    /// Returns true if all lanes share one epoch and the same knowledge.
    pub(super) fn is_together(&self) -> bool {
        self.apart.is_none()
    }

    fn known(&self, lane: u32) -> Option<&Released> {
        match &self.apart {
            None => self.known.as_ref(),
            Some(apart) => apart[lane as usize % MAX_LANES].known.as_ref(),
        }
    }

    /// Returns true if `past` happened before `lane`'s next access.
    #[inline]
    pub(super) fn knows(&self, block: &BlockClock, lane: u32, past: Past) -> bool {
        // Most programs acquire nothing but by barriers.
        self.by_barriers(block).has(past.warp, past.stamp)
            || past.warp == self.number && past.lane == lane
            || !self.knows_barriers_only(block) && self.knows_specially(block, lane, past)
    }

    /// Returns true if all lanes have one epoch and know nothing but by barriers.
    #[inline]
    pub(super) fn knows_barriers_only(&self, block: &BlockClock) -> bool {
        self.apart.is_none() && self.known.is_none() && block.known.is_none()
    }

    /// Returns what all lanes know by barriers.
    #[inline]
    pub(super) fn by_barriers(&self, block: &BlockClock) -> ByBarriers {
        let &BlockClock { first_warp, warps, all, .. } = block;
        ByBarriers { warp: self.number, all: self.all, first_warp, warps, block: all }
    }

    #[inline(never)]
    fn knows_specially(&self, block: &BlockClock, lane: u32, past: Past) -> bool {
        let of = past.warp / block.warps.max(1);
        let has = |known: Option<&Released>| known.is_some_and(|known| known.has(past, of));
        has(self.known(lane)) || has(block.known.as_ref())
    }

    /// Orders all earlier accesses of the warp first, as in pre-Volta lock-step.
    #[inline]
    pub(super) fn lock_step(&mut self, block: &mut BlockClock) {
        self.all = block.now;
        self.epoch = block.tick();
    }

    /// Adds the knowledge and the accesses of `lanes` to `known`.
    fn tell(&self, block: &BlockClock, lanes: LaneMask, known: &mut Known) {
        for lane in lanes.lanes() {
            known.of_lane(self.number, lane, self.stamp(block, lane));
            if let (Some(own), true) =
                (self.known(lane), self.apart.is_some() || Some(lane) == lanes.lowest())
            {
                known.add(own);
            }
        }
        if self.all > 0 {
            known.of_warp(self.number, self.all);
        }
    }

    fn go_apart(&mut self) -> &mut [LaneClock; MAX_LANES] {
        let (epoch, known) = (self.epoch, self.known.clone());
        self.apart.get_or_insert_with(|| {
            Box::new(std::array::from_fn(|_| LaneClock { epoch, known: known.clone() }))
        })
    }

    /// Sets the knowledge and epoch of `lanes`. `live` holds the lanes that have not exited.
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

    /// Synchronizes `lanes` of the warp with each other.
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

    /// Acquires a released value for `lane`; in lock-step for all lanes.
    pub(super) fn acquire(&mut self, lane: u32, released: &Released, lock_step: bool) {
        let has = |known: &Released| Arc::ptr_eq(known, released) || known.covers(released);
        if self.known(lane).is_some_and(has) {
            return;
        }
        let known = match self.known(lane) {
            // A chain of releases grows.
            Some(known) if !released.covers(known) => {
                let mut known = (**known).clone();
                known.add(released);
                Some(Arc::new(known))
            }
            _ => Some(released.clone()),
        };
        if lock_step {
            self.known = known;
        } else {
            self.go_apart()[lane as usize % MAX_LANES].known = known;
        }
    }
}

/// Lanes that arrive at a block barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Meeting {
    known: Known,
}

impl Meeting {
    /// Releases the accesses of `lanes` to the waiting lanes and begins a new epoch.
    pub(super) fn arrive(
        &mut self,
        warp: &mut WarpClock,
        block: &mut BlockClock,
        lanes: LaneMask,
        live: LaneMask,
    ) {
        warp.tell(block, lanes, &mut self.known);
        let epoch = block.tick();
        if live.is_subset(lanes) && warp.apart.is_none() {
            warp.epoch = epoch;
        } else {
            let apart = warp.go_apart();
            lanes.lanes().for_each(|lane| apart[lane as usize % MAX_LANES].epoch = epoch);
        }
    }

    /// Returns the knowledge of the waiting lanes when the barrier opens.
    pub(super) fn open(self) -> Released {
        Arc::new(self.known)
    }
}

/// Releases `lanes` from a barrier that has opened.
pub(super) fn leave(
    warp: &mut WarpClock,
    block: &mut BlockClock,
    lanes: LaneMask,
    live: LaneMask,
    open: &Released,
) {
    let epoch = block.tick();
    // Arriving added the lanes' own knowledge to `open`.
    warp.learn(lanes, live, Some(open.clone()), epoch);
}

/// Opens a barrier of the whole block: every thread knows all earlier accesses.
pub(super) fn block_barrier<'w>(
    block: &mut BlockClock,
    warps: impl Iterator<Item = &'w mut WarpClock>,
) {
    block.all = block.now;
    block.epoch = block.tick();
    for warp in warps {
        if warp.known.is_none() && warp.apart.is_none() {
            continue;
        }
        let mut known = block.known.as_ref().map_or_else(Known::default, |known| (**known).clone());
        let lanes = warp
            .apart
            .take()
            .into_iter()
            .flat_map(|lanes| lanes.into_iter().filter_map(|lane| lane.known));
        for own in warp.known.take().into_iter().chain(lanes) {
            known.add(&own);
        }
        block.known = Some(Arc::new(known));
    }
}
