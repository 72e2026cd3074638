//! Bulk copies for observers: accesses in rows of 16 bytes, and traffic.

use super::cache::{LINE, SECTOR};
use super::memsys::blank;
use crate::base::{LaneMask, MAX_LANES, Pc, WarpId};
use crate::event::{AccessWay, Cells, LaneAccess, MemoryKind, Observer, Traffic};
use crate::exec::{AccessKind, BulkData, GroupedBulk, MemoryAccess};
use crate::isa::Space;
use crate::spec::{Memory, Transactions};

/// Bytes of a row.
const ROW: u64 = 16;
/// Bytes that pass the banks of shared memory at once.
const WAVEFRONT: u64 = 128;

/// Shows the accesses of a bulk copy to an observer, as if it read and wrote at once.
///
/// The bytes count at the barrier object after them.
pub(super) fn show_bulk(data: &BulkData, slot: WarpId, observer: &mut impl Observer) {
    let to = if data.reduces.is_some() { AccessWay::Atomic } else { AccessWay::Store };
    let shown = Shown { pc: Pc(data.pc), lane: data.lane, slot };
    for run in &data.runs {
        shown.rows((data.from, run.from), run.read, AccessWay::Load, &[], observer);
    }
    for (run, words) in data.parts() {
        shown.rows((data.to, run.to), run.written, to, words, observer);
    }
    if let Some(object) = data.object {
        shown.access((Space::Shared, object), 8, AccessWay::Atomic, &[], observer);
    }
}

/// Shows to an observer that a copy may have read its source until now.
pub(super) fn show_source(copy: &GroupedBulk, slot: WarpId, observer: &mut impl Observer) {
    let shown = Shown { pc: Pc(copy.pc), lane: copy.lane, slot };
    for &(from, bytes) in &copy.from {
        shown.rows((Space::Shared, from), bytes, AccessWay::Load, &[], observer);
    }
}

/// Lane that has started a bulk copy.
struct Shown {
    pc: Pc,
    lane: u32,
    slot: WarpId,
}

impl Shown {
    /// Shows an access to consecutive bytes. `words` are those stored.
    fn rows<O: Observer>(
        &self,
        (space, address): (Space, u64),
        bytes: u64,
        way: AccessWay,
        words: &[u32],
        observer: &mut O,
    ) {
        if O::FOLDS {
            return;
        }
        let mut words = words.chunks(ROW as usize / 4);
        for at in (address..address + bytes).step_by(ROW as usize) {
            let stored = words.next().unwrap_or_default();
            let bytes = ROW.min(address + bytes - at);
            self.access((space, at), bytes as u32, way, stored, observer);
        }
    }

    fn access<O: Observer>(
        &self,
        (space, address): (Space, u64),
        bytes: u32,
        way: AccessWay,
        words: &[u32],
        observer: &mut O,
    ) {
        let mut cells = [[0; MAX_LANES]; 4];
        cells.iter_mut().zip(words).for_each(|(row, &word)| *row = [word; MAX_LANES]);
        let mut stored = [None; 4];
        let rows = stored.iter_mut().zip(&cells).take(words.len());
        rows.for_each(|(stored, row)| *stored = Some(Cells::Narrow(row)));
        let memory = kind_of(space);
        let lanes = LaneMask::lane(self.lane);
        let addresses = &[address; MAX_LANES];
        let access = LaneAccess { memory, way, lanes, bytes, addresses, stored };
        observer.access(self.slot, self.pc, &access);
    }
}

/// Returns the traffic of a copy without caches, and the address: at its source, at its
/// destination.
pub(super) fn bulk_traffic(data: &BulkData, memory: &Memory) -> [(Traffic, u64); 2] {
    let to = if data.reduces.is_some() { AccessKind::Atomic } else { AccessKind::Write };
    [(data.from, AccessKind::Read), (data.to, to)].map(|(space, kind)| {
        let access = MemoryAccess {
            space,
            kind,
            lanes: LaneMask::lane(data.lane),
            bytes: 0,
            bypass_l1: true,
            changed: false,
            row: false,
        };
        let spans = bulk_spans(data, kind);
        let bytes = spans.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let blank = Traffic { requested: bytes as u32, ..blank(access) };
        let traffic = match kind_of(space) {
            MemoryKind::Shared => {
                let wavefronts = count(&spans, WAVEFRONT);
                let ideal_wavefronts = bytes.div_ceil(WAVEFRONT) as u32;
                Traffic { memory: MemoryKind::Shared, wavefronts, ideal_wavefronts, ..blank }
            }
            memory_kind => {
                let (sectors, lines) = (count(&spans, SECTOR), count(&spans, LINE));
                let transactions = match memory.transactions {
                    Transactions::Sectors => sectors,
                    Transactions::Lines => lines,
                };
                Traffic { memory: memory_kind, sectors, lines, transactions, ..blank }
            }
        };
        (traffic, spans.first().map_or(0, |&(address, _)| address))
    })
}

/// Returns the spans of consecutive bytes that a copy reads, or writes, in its order.
pub(super) fn bulk_spans(data: &BulkData, kind: AccessKind) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for run in &data.runs {
        let (address, bytes) = match kind {
            AccessKind::Read => (run.from, run.read),
            _ => (run.to, run.written),
        };
        match spans.last_mut() {
            _ if bytes == 0 => {}
            Some((last, held)) if *last + *held == address => *held += bytes,
            _ => spans.push((address, bytes)),
        }
    }
    spans
}

/// Returns how many units of `unit` bytes are touched. One that follows itself is touched once.
fn count(spans: &[(u64, u64)], unit: u64) -> u32 {
    let mut last = None;
    let units = spans.iter().map(|(address, bytes)| {
        let (first, until) = (address / unit, (address + bytes - 1) / unit);
        let again = last == Some(first);
        last = Some(until);
        until - first + u64::from(!again)
    });
    units.sum::<u64>() as u32
}

fn kind_of(space: Space) -> MemoryKind {
    match space {
        Space::Shared => MemoryKind::Shared,
        _ => MemoryKind::Global,
    }
}
