//! Bulk copies: consecutive bytes between global and shared memory, or within shared memory.
//!
//! A copy reads its source when it starts. Its bytes reach global memory at once, and shared memory
//! when the driver says so; then they count at the barrier object. PTX leaves open when a copy
//! reads and writes before its end, so a program cannot rely on either. Each lane has its own
//! groups of copies to global memory.

use super::atomic::combine;
use super::copies::Copies;
use super::memory::{GlobalMemory, SharedMemory, Words};
use super::{Effect, Env, Fault, FaultKind, RegisterFile, addresses, mbarrier};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::{Space, Type};
use crate::kernel::{AtomicFn, BulkCopy, BulkSize};

/// Bytes to which addresses and sizes of bulk copies are aligned.
const UNIT: u64 = 16;
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
    /// Space and address of the source.
    pub from: (Space, u64),
    /// Space and address of the destination.
    pub to: (Space, u64),
    /// Words of the source.
    pub words: Vec<u32>,
    /// Function and type of a reduction.
    pub reduces: Option<(AtomicFn, Type)>,
    /// Address of the barrier object.
    pub object: Option<u64>,
    /// True if it has changed global memory.
    pub changed: bool,
}

/// Bulk copy in a group that no lane has waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupedBulk {
    /// PC of the copy in the driver's numbering.
    pub pc: u32,
    /// Lane that started it.
    pub lane: u32,
    /// Address of the source in shared memory.
    pub from: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Mark of the driver.
    pub mark: u64,
    lanes: LaneMask,
    /// Number of commits since.
    age: u32,
}

impl BulkData {
    /// Returns the number of bytes.
    pub fn bytes(&self) -> u64 {
        4 * self.words.len() as u64
    }
}

impl Copies {
    /// Adds a copy to the group of its lanes, with a mark of the driver.
    pub fn add_bulk(&mut self, data: &BulkData, mark: u64) {
        let &BulkData { pc, lane, lanes, from: (_, from), .. } = data;
        let bytes = data.bytes();
        self.bulk.push(GroupedBulk { pc, lane, from, bytes, mark, lanes, age: 0 });
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

/// Executes `cp.async.bulk` and `cp.reduce.async.bulk`.
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
    let size = |lane: usize| match op.size {
        BulkSize::Bytes(row) => u64::from(registers.narrow[usize::from(row.0)][lane]),
        BulkSize::Units(row) => {
            UNIT * u64::from(registers.narrow[usize::from(row.0)][lane] & 0xffff)
        }
    };
    let mut started = Vec::new();
    for lane in starting.lanes() {
        let l = lane as usize % MAX_LANES;
        let (from, to) = ((op.from.space, from[l]), (op.to.space, to[l]));
        let object = object.map(|addresses| addresses[l]);
        let fault = |kind| Fault { lane, kind };
        check(from, size(l), false, env).map_err(fault)?;
        check(to, size(l), true, env).map_err(fault)?;
        object.map_or(Ok(()), |address| check_object(address, env.shared)).map_err(fault)?;
        let mut words = vec![0; (size(l) / 4) as usize];
        load(from, &mut words, env);
        let lanes = if op.together { LaneMask::FULL } else { LaneMask::lane(lane) };
        let (pc, reduces) = (env.pc, op.reduces);
        started.push(BulkData {
            pc,
            lane,
            lanes,
            from,
            to,
            words,
            reduces,
            object,
            changed: false,
        });
    }
    for data in started.iter_mut().filter(|data| data.to.0 != Space::Shared) {
        data.changed = store_global(data, env.global);
    }
    env.system.bulk = started;
    Ok(Effect::BulkCopies)
}

/// Writes a copy to shared memory, and counts its bytes at its object.
pub fn land_bulk(shared: &mut SharedMemory, data: &BulkData) {
    if let (Space::Shared, address) = data.to {
        store(shared, address, data);
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
    let found = match space {
        Space::Shared => env.shared.holds(address, bytes).then_some(true),
        _ => env
            .global
            .segment(address)
            .filter(|segment| segment.holds(address, bytes))
            .map(|segment| segment.writable),
    };
    match found {
        None => Err(FaultKind::OutOfBounds { space, address, bytes: count }),
        Some(_) if !address.is_multiple_of(UNIT) => {
            Err(FaultKind::Misaligned { space, address, bytes: UNIT as u32 })
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
        (Space::Shared, _) => env.shared.load_run(address, words),
        (_, Some(segment)) => env.global.view(segment).load_run(address, words),
        (_, None) => {}
    }
}

/// Writes a copy to checked global memory. Returns true if it changed.
fn store_global(data: &BulkData, global: &GlobalMemory) -> bool {
    let (_, address) = data.to;
    global.segment(address).is_some_and(|segment| store(&mut global.view(segment), address, data))
}

/// Writes a copy to memory. Returns true if it changed.
///
/// An H200 gives the results of atomics of global memory, but does not flush f32 sums to zero.
fn store(memory: &mut impl Words, address: u64, data: &BulkData) -> bool {
    let places = (address..).step_by(4).zip(&data.words);
    let Some((f, ty)) = data.reduces else {
        return places.fold(false, |changed, (at, &word)| memory.store(0, at, word) | changed);
    };
    let new = |old: u64, b: u64| combine(f, ty, ty != Type::F32, old, b, 0);
    if ty.is_wide() {
        let pairs = (address..).step_by(8).zip(data.words.chunks_exact(2));
        return pairs.fold(false, |changed, (at, pair)| {
            let b = u64::from(pair[1]) << 32 | u64::from(pair[0]);
            let (before, after) = memory.update_pair(0, at, |old| new(old, b));
            changed | (before != after)
        });
    }
    places.fold(false, |changed, (at, &word)| {
        let b = u64::from(word);
        let (before, after) = memory.update(0, at, |old| {
            let old = u64::from(old);
            match ty.bits() {
                16 => {
                    let low = new(old & 0xffff, b & 0xffff) & 0xffff;
                    (new(old >> 16, b >> 16) << 16 | low) as u32
                }
                _ => new(old, b) as u32,
            }
        });
        changed | (before != after)
    })
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
                from: (Space::Shared, 16 * mark),
                to: (Space::Global, 0),
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
