//! Bulk copies between global and shared memory: of consecutive bytes, or of a tile of a tensor.
//!
//! A copy reads its source when it starts. Its bytes reach global memory at once, and shared memory
//! when the driver says so; then they count at the barrier object. PTX leaves open when a copy
//! reads and writes before its end, so a program cannot rely on either. Each lane has its own
//! groups of copies to global memory.

mod tile;

use super::atomic::combine;
use super::copies::Copies;
use super::memory::{GlobalMemory, SharedMemory, Words};
use super::tensor::UNIT;
use super::{Effect, Env, Fault, FaultKind, RegisterFile, addresses, mbarrier};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::{Space, Type};
use crate::kernel::{AtomicFn, BulkCopy, BulkShape};
use tile::tile;

/// Copies of a warp that wait in groups. Beyond them the oldest is waited for with the next one.
const MOST_GROUPED: usize = 256;

/// Started bulk copy.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkData {
    /// PC of the copy in the driver's numbering.
    pub pc: u32,
    /// Lane that started it.
    pub lane: u32,
    /// Lanes whose bulk group it is in.
    pub lanes: LaneMask,
    /// Space of the source.
    pub from: Space,
    /// Space of the destination.
    pub to: Space,
    /// Consecutive bytes, in the order of their words.
    pub runs: Vec<BulkRun>,
    /// Words of the runs.
    pub words: Vec<u32>,
    /// Reduction; `None`: the bytes replace those of the destination.
    pub reduces: Option<Reduction>,
    /// Address of the barrier object.
    pub object: Option<u64>,
    /// True if it has changed global memory.
    pub changed: bool,
}

/// Consecutive bytes of a bulk copy. Addresses are multiples of 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkRun {
    /// Address of the source.
    pub from: u64,
    /// Address of the destination.
    pub to: u64,
    /// Bytes read.
    pub read: u64,
    /// Bytes written. What is not read fills a tile outside of its tensor.
    pub written: u64,
}

/// Reduction by a bulk copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Function.
    pub f: AtomicFn,
    /// Type of the elements.
    pub ty: Type,
    /// True if sums of `f32` flush subnormal values to 0.
    pub flushes: bool,
}

/// Bulk copy in a group that no lane has waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupedBulk {
    /// PC of the copy in the driver's numbering.
    pub pc: u32,
    /// Lane that started it.
    pub lane: u32,
    /// Addresses in shared memory with numbers of bytes, sorted: the source.
    pub from: Vec<(u64, u64)>,
    /// Mark of the driver.
    pub mark: u64,
    lanes: LaneMask,
    /// Number of commits since.
    age: u32,
}

impl BulkRun {
    /// Returns the number of its words.
    fn words(&self) -> usize {
        self.written.div_ceil(4) as usize
    }
}

impl BulkData {
    /// Returns the number of bytes written.
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.written).sum()
    }

    /// Returns the runs with their words.
    pub fn parts(&self) -> impl Iterator<Item = (&BulkRun, &[u32])> {
        let mut rest = self.words.as_slice();
        self.runs.iter().map(move |run| {
            let (words, after) = rest.split_at(run.words().min(rest.len()));
            rest = after;
            (run, words)
        })
    }

    /// Returns the source, sorted and without gaps where there are none.
    fn source(&self) -> Vec<(u64, u64)> {
        let mut places: Vec<(u64, u64)> =
            self.runs.iter().map(|run| (run.from, run.read)).collect();
        places.sort_unstable();
        places.dedup_by(|next, last| {
            let follows = last.0 + last.1 == next.0;
            last.1 += if follows { next.1 } else { 0 };
            follows
        });
        places
    }
}

impl Copies {
    /// Adds a copy to the group of its lanes, with a mark of the driver.
    pub fn add_bulk(&mut self, data: &BulkData, mark: u64) {
        let &BulkData { pc, lane, lanes, .. } = data;
        self.bulk.push(GroupedBulk { pc, lane, from: data.source(), mark, lanes, age: 0 });
        if self.bulk.len() > MOST_GROUPED {
            let oldest = self.bulk.remove(0);
            if let Some(next) = self.bulk.iter_mut().find(|copy| copy.lanes == oldest.lanes) {
                next.mark = next.mark.max(oldest.mark);
            }
        }
    }

    /// Starts a new bulk group in `lanes`.
    pub(super) fn commit_bulk(&mut self, lanes: LaneMask) {
        for copy in self.bulk.iter_mut().filter(|copy| !(copy.lanes & lanes).is_empty()) {
            copy.age = copy.age.saturating_add(1);
        }
    }

    /// Removes the copies of `lanes` in bulk groups older than the latest `groups`.
    pub fn take_bulk(&mut self, lanes: LaneMask, groups: u32) -> Vec<GroupedBulk> {
        let waited = |copy: &mut GroupedBulk| copy.age > groups && !(copy.lanes & lanes).is_empty();
        self.bulk.extract_if(.., waited).collect()
    }
}

/// Executes `cp.async.bulk`, `cp.async.bulk.tensor` and their reductions.
pub(super) fn copy(
    op: &BulkCopy,
    lanes: LaneMask,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    let Some(lowest) = lanes.lowest() else { return Ok(Effect::Done) };
    let starting = if op.together { LaneMask::lane(lowest) } else { lanes };
    let [from, to] =
        [op.from, op.to].map(|place| addresses(place.address, LaneMask::FULL, registers));
    let object = op.object.map(|object| addresses(object, LaneMask::FULL, registers));
    let mut started = Vec::new();
    for lane in starting.lanes() {
        let l = lane as usize % MAX_LANES;
        let fault = |kind| Fault { lane, kind };
        let object = object.map(|addresses| addresses[l]);
        let part = start(op, l, (from[l], to[l]), registers, env).map_err(fault)?;
        object.map_or(Ok(()), |address| check_object(address, env.shared)).map_err(fault)?;
        let lanes = if op.together { LaneMask::FULL } else { LaneMask::lane(lane) };
        started.push(BulkData { lane, lanes, object, ..part });
    }
    for data in started.iter_mut().filter(|data| data.to != Space::Shared) {
        data.changed = store_global(data, env.global);
    }
    env.system.bulk = started;
    Ok(Effect::BulkCopies)
}

/// Checks and reads what lane `l` copies from and to the addresses.
fn start(
    op: &BulkCopy,
    l: usize,
    (from, to): (u64, u64),
    registers: &RegisterFile,
    env: &Env<'_>,
) -> Result<BulkData, FaultKind> {
    let narrow = |row: crate::kernel::Row| registers.narrow[usize::from(row.0)][l];
    let mut data = BulkData {
        pc: env.pc,
        lane: 0,
        lanes: LaneMask::EMPTY,
        from: op.from.space,
        to: op.to.space,
        runs: Vec::new(),
        words: Vec::new(),
        reduces: None,
        object: None,
        changed: false,
    };
    let (bytes, ty) = match op.shape {
        BulkShape::Bytes(row, ty) => (u64::from(narrow(row)), ty),
        BulkShape::Units(row, ty) => (UNIT * u64::from(narrow(row) & 0xffff), ty),
        BulkShape::Tile(at) => {
            let coordinates = at.coordinates.map(|row| narrow(row) as i32);
            let place = match data.to {
                Space::Shared => (to, from),
                _ => (from, to),
            };
            tile(&mut data, op.reduces, (at, coordinates), place, env)?;
            return Ok(data);
        }
    };
    check((data.from, from), bytes, false, env)?;
    check((data.to, to), bytes, true, env)?;
    data.words = vec![0; (bytes / 4) as usize];
    load((data.from, from), &mut data.words, env);
    data.runs.push(BulkRun { from, to, read: bytes, written: bytes });
    data.reduces = op.reduces.map(|f| Reduction { f, ty, flushes: false });
    Ok(data)
}

/// Writes a copy to shared memory, and counts its bytes at its object.
pub fn land_bulk(shared: &mut SharedMemory, data: &BulkData) {
    if data.to == Space::Shared {
        store(shared, data);
    }
    if let Some(object) = data.object.filter(|_| data.bytes() > 0) {
        mbarrier::complete(shared, object, data.bytes());
    }
}

/// Checks `bytes` bytes of a source or destination.
fn check(
    (space, address): (Space, u64),
    bytes: u64,
    write: bool,
    env: &Env<'_>,
) -> Result<(), FaultKind> {
    let count = bytes as u32;
    if !bytes.is_multiple_of(UNIT) {
        return Err(FaultKind::BadCopySize { bytes: count });
    }
    match space {
        Space::Shared if !env.shared.holds(address, bytes) => {
            return Err(FaultKind::OutOfBounds { space, address, bytes: count });
        }
        Space::Shared => {}
        _ => check_row(address, bytes, write, env)?,
    }
    match address.is_multiple_of(UNIT) {
        true => Ok(()),
        false => Err(FaultKind::Misaligned { space, address, bytes: UNIT as u32 }),
    }
}

/// Checks `bytes` bytes of global memory.
fn check_row(address: u64, bytes: u64, write: bool, env: &Env<'_>) -> Result<(), FaultKind> {
    let segment = env.global.segment(address).filter(|segment| segment.holds(address, bytes));
    match segment.map(|segment| segment.writable) {
        None => {
            let (space, bytes) = (Space::Global, bytes as u32);
            Err(FaultKind::OutOfBounds { space, address, bytes })
        }
        Some(false) if write => Err(FaultKind::ReadOnly { address }),
        Some(_) => Ok(()),
    }
}

/// Checks the address of a barrier object.
fn check_object(address: u64, shared: &SharedMemory) -> Result<(), FaultKind> {
    let (space, bytes) = (Space::Shared, 8);
    if !shared.holds(address, bytes.into()) {
        return Err(FaultKind::OutOfBounds { space, address, bytes });
    }
    match address.is_multiple_of(bytes.into()) {
        true => Ok(()),
        false => Err(FaultKind::Misaligned { space, address, bytes }),
    }
}

/// Loads the words of a checked source.
fn load((space, address): (Space, u64), words: &mut [u32], env: &Env<'_>) {
    match (space, env.global.segment(address)) {
        _ if words.is_empty() => {}
        (Space::Shared, _) => env.shared.load_run(address, words),
        (_, Some(segment)) => env.global.view(segment).load_run(address, words),
        (_, None) => {}
    }
}

/// Writes a copy to checked global memory. Returns true if it changed.
fn store_global(data: &BulkData, global: &GlobalMemory) -> bool {
    data.parts().fold(false, |changed, (run, words)| {
        let segment = global.segment(run.to);
        let stored = segment
            .is_some_and(|segment| store_run(&mut global.view(segment), run, words, data.reduces));
        changed | stored
    })
}

/// Writes a copy to memory.
fn store(memory: &mut impl Words, data: &BulkData) {
    for (run, words) in data.parts() {
        store_run(memory, run, words, data.reduces);
    }
}

/// Writes a run to memory. Returns true if it changed.
///
/// An H200 gives the results of atomics of global memory, but flushes no f32 sums to zero, unless a
/// tensor's type says so.
fn store_run(
    memory: &mut impl Words,
    run: &BulkRun,
    words: &[u32],
    reduces: Option<Reduction>,
) -> bool {
    let whole = (run.written / 4) as usize;
    let (whole, part) = words.split_at(whole.min(words.len()));
    let places = (run.to..).step_by(4).zip(whole);
    let last = part.first().map(|&word| (run.to + 4 * whole.len() as u64, word));
    let kept = u32::MAX.checked_shl(8 * (run.written % 4) as u32).unwrap_or(0);
    let Some(Reduction { f, ty, flushes }) = reduces else {
        let changed =
            places.fold(false, |changed, (at, &word)| memory.store(0, at, word) | changed);
        let merged = last.is_some_and(|(at, word)| {
            let (old, new) = memory.update(0, at, |old| old & kept | word & !kept);
            old != new
        });
        return changed | merged;
    };
    let new = |old: u64, b: u64| combine(f, ty, ty != Type::F32 || flushes, old, b, 0);
    if ty.is_wide() {
        let pairs = (run.to..).step_by(8).zip(whole.chunks_exact(2));
        return pairs.fold(false, |changed, (at, pair)| {
            let b = u64::from(pair[1]) << 32 | u64::from(pair[0]);
            let (before, after) = memory.update_pair(0, at, |old| new(old, b));
            changed | (before != after)
        });
    }
    let word = |old: u32, b: u32| match ty.bits() {
        16 => {
            let [low, high] = [0, 16].map(|by| {
                (new((old >> by & 0xffff).into(), (b >> by & 0xffff).into()) & 0xffff) as u32
            });
            high << 16 | low
        }
        _ => new(old.into(), b.into()) as u32,
    };
    let changed = places.fold(false, |changed, (at, &b)| {
        let (before, after) = memory.update(0, at, |old| word(old, b));
        changed | (before != after)
    });
    let merged = last.is_some_and(|(at, b)| {
        let (before, after) = memory.update(0, at, |old| old & kept | word(old, b) & !kept);
        before != after
    });
    changed | merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_copies_are_waited_for_with_later_ones() {
        let mut copies = Copies::default();
        let lanes = LaneMask::lane(3);
        for mark in 0..2 * MOST_GROUPED as u64 {
            let data = BulkData {
                pc: 0,
                lane: 3,
                lanes,
                from: Space::Shared,
                to: Space::Global,
                runs: vec![BulkRun { from: 16 * mark, to: 0, read: 16, written: 16 }],
                words: vec![0; 4],
                reduces: None,
                object: None,
                changed: false,
            };
            copies.add_bulk(&data, mark);
            copies.commit_bulk(lanes);
        }
        assert!(copies.take_bulk(LaneMask::lane(2), 0).is_empty(), "another lane's");
        let older = copies.take_bulk(lanes, 2);
        assert_eq!(older.len(), MOST_GROUPED - 2);
        assert_eq!(older.last().map(|copy| copy.mark), Some(2 * MOST_GROUPED as u64 - 3));
        assert_eq!(copies.take_bulk(lanes, 0).len(), 2);
    }
}
