//! Asynchronous copies: data that has left global memory and is not yet in shared memory.
//!
//! `cp.async` reads its source at once; the data become visible in shared memory when the thread
//! waits for them. PTX leaves open when a copy reads and writes in between, so a program cannot
//! rely on either. Each lane has its own groups. A copy's age in a lane is the number of commits
//! since: 0 outside of any group, 1 in the latest one.

use super::access::{check, fill_addresses, first_fault_of};
use super::bulk::GroupedBulk;
use super::lanes::predicate;
use super::memory::{SharedMemory, Words};
use super::{AccessKind, Effect, Env, Fault, FaultKind, MemoryAccess, RegisterFile};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::{AsyncCopy, CopyGroups, ValidBytes};

/// Copies that a warp's lanes have started and not waited for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copies {
    list: Vec<Copy>,
    /// Bulk copies in groups.
    pub(super) bulk: Vec<GroupedBulk>,
}

/// Copy of one instruction.
#[derive(Clone, Debug, PartialEq)]
struct Copy {
    /// Lanes that have not waited for it.
    lanes: LaneMask,
    /// Age by lane.
    ages: [u32; MAX_LANES],
    data: CopiedData,
}

/// Data of a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct CopiedData {
    /// PC of the copy in the driver's numbering.
    pub pc: u32,
    /// Lanes that the data belong to.
    pub lanes: LaneMask,
    /// Address in shared memory by lane.
    pub to: [u64; MAX_LANES],
    /// Bytes per lane: 4, 8 or 16.
    pub bytes: u8,
    /// Words by lane; the first `bytes / 4` rows are valid.
    pub words: [[u32; MAX_LANES]; 4],
    /// Mark of the driver, given with [`Copies::mark`]; 0 until then.
    pub mark: u64,
}

impl Copies {
    /// Forgets all copies.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.bulk.clear();
    }

    /// Returns the data of the latest copy.
    pub fn latest(&self) -> Option<&CopiedData> {
        self.list.last().map(|copy| &copy.data)
    }

    /// Marks the latest copy.
    pub fn mark(&mut self, mark: u64) {
        if let Some(copy) = self.list.last_mut() {
            copy.data.mark = mark;
        }
    }

    /// Returns the latest mark; 0 without copies.
    pub fn latest_mark(&self) -> u64 {
        self.list.iter().map(|copy| copy.data.mark).max().unwrap_or(0)
    }

    /// Starts a new group in `lanes`.
    fn commit(&mut self, lanes: LaneMask) {
        for copy in &mut self.list {
            for lane in (copy.lanes & lanes).lanes() {
                let age = &mut copy.ages[lane as usize % MAX_LANES];
                *age = age.saturating_add(1);
            }
        }
    }

    /// Removes the copies of `lanes` in groups older than the latest `groups`, or all if `None`.
    fn take(&mut self, lanes: LaneMask, groups: Option<u32>) -> Vec<CopiedData> {
        let mut taken = Vec::new();
        self.list.retain_mut(|copy| {
            let old = |lane: &u32| {
                groups.is_none_or(|groups| copy.ages[*lane as usize % MAX_LANES] > groups)
            };
            let done = (copy.lanes & lanes).lanes().filter(old);
            let done = done.fold(LaneMask::EMPTY, |all, lane| all | LaneMask::lane(lane));
            if !done.is_empty() {
                taken.push(CopiedData { lanes: done, ..copy.data.clone() });
                copy.lanes -= done;
            }
            !copy.lanes.is_empty()
        });
        taken
    }
}

/// Writes the copies of `lanes` to shared memory for which a thread waits, and returns them.
///
/// They are those in groups older than the latest `groups`, or all if `None`, in the order of their
/// instructions.
pub fn land_copies(
    registers: &mut RegisterFile,
    shared: &mut SharedMemory,
    lanes: LaneMask,
    groups: Option<u32>,
) -> Vec<CopiedData> {
    let taken = registers.copies.take(lanes, groups);
    for data in &taken {
        for lane in data.lanes.lanes() {
            let l = lane as usize % MAX_LANES;
            let each = data.words.iter().zip((0..u64::from(data.bytes)).step_by(4));
            each.for_each(|(row, at)| {
                shared.store(l, data.to[l] + at, row[l]);
            });
        }
    }
    taken
}

/// Executes `cp.async`.
pub(super) fn copy(
    op: &AsyncCopy,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    let bytes = u64::from(op.bytes);
    fill_addresses(op.to, LaneMask::FULL, registers, env.addresses);
    if check(Space::Shared, lanes, bytes, true, env).is_none() {
        return Err(first_fault_of(Space::Shared, lanes, bytes, true, env));
    }
    let to = *env.addresses;
    fill_addresses(op.from, LaneMask::FULL, registers, env.addresses);
    let ignored = op.ignore.map_or(0, |p| predicate(registers, p));
    let valid = |lane: u32, past: u64| match op.valid {
        _ if ignored & 1 << lane != 0 => 0,
        ValidBytes::All => bytes,
        ValidBytes::First(row) => {
            bytes.min(registers.narrow[usize::from(row.0)][lane as usize].into())
        }
        ValidBytes::ToAlignment => bytes - past,
    };
    let mut words = [[0; MAX_LANES]; 4];
    let mut reading = LaneMask::EMPTY;
    for lane in lanes.lanes() {
        let l = lane as usize % MAX_LANES;
        let past = match op.valid {
            ValidBytes::ToAlignment => env.addresses[l] % bytes,
            _ => 0,
        };
        env.addresses[l] -= past;
        let (address, valid) = (env.addresses[l], valid(lane, past));
        if valid == 0 {
            continue;
        }
        reading |= LaneMask::lane(lane);
        let space = Space::Global;
        let Some(segment) = env.global.segment(address).filter(|s| s.holds(address, valid)) else {
            let kind = FaultKind::OutOfBounds { space, address, bytes: valid as u32 };
            return Err(Fault { lane, kind });
        };
        if !address.is_multiple_of(bytes) {
            let kind = FaultKind::Misaligned { space, address, bytes: bytes as u32 };
            return Err(Fault { lane, kind });
        }
        let view = env.global.view(segment);
        for (row, at) in words.iter_mut().zip((0..valid).step_by(4)) {
            let kept = u32::MAX >> (32 - 8 * (valid - at).min(4));
            row[l] = view.load(l, address + at) & kept;
        }
    }
    let data = CopiedData { pc: env.pc, lanes, to, bytes: op.bytes, words, mark: 0 };
    registers.copies.list.push(Copy { lanes, ages: [0; MAX_LANES], data });
    Ok(Effect::Copy(MemoryAccess {
        space: Space::Global,
        kind: AccessKind::Read,
        lanes: reading,
        bytes: op.bytes,
        bypass_l1: op.bypass_l1,
        changed: false,
        row: false,
    }))
}

/// Executes an operation on groups of copies.
pub(super) fn groups(op: CopyGroups, lanes: LaneMask, registers: &mut RegisterFile) -> Effect {
    match op {
        CopyGroups::Commit => {
            registers.copies.commit(lanes);
            Effect::Done
        }
        CopyGroups::Wait(groups) => Effect::WaitCopies { lanes, groups: Some(groups) },
        CopyGroups::WaitAll => Effect::WaitCopies { lanes, groups: None },
        CopyGroups::CommitBulk => {
            registers.copies.commit_bulk(lanes);
            Effect::Done
        }
        CopyGroups::WaitBulk(groups) => Effect::WaitBulk { lanes, groups },
    }
}
