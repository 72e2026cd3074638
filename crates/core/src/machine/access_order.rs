//! Order of accesses to common memory by SMs that run ahead of each other.
//!
//! Where blocks communicate, SMs should access memory in the order of cycles, the lower SM first on
//! a tie. An SM that runs ahead past its loads, stores and reductions may come too early. Each line
//! therefore keeps the time of its last read and write, and the words that were read and written.
//! SMs that run at the same time access memory one by one, so that these times tell what they saw.
//! An access that finds a conflicting one of a later time breaks the order; the run then starts
//! again with less freedom, from the content that lines had before their first write. Words of a
//! line share a time, so order may seem broken that is not.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cache::LINE;
use super::pricing::Visibility;
use crate::base::{Cycle, LaneMask, MAX_LANES, SmId};
use crate::exec::{self, AccessKind, GlobalMemory, MemoryAccess, RegisterFile};
use crate::kernel::Op;

/// Bytes per word, and words per line.
const WORD: u64 = 4;
const WORDS: usize = (LINE / WORD) as usize;
/// Bits of an SM's number below its cycle in a time.
const SM_BITS: u32 = 16;
/// Bit of a line's last write: all of its writes were reductions, which commute.
const SUMS: u64 = 1 << 63;

/// Times of a line's last read and write, and masks of the words: read, and written from bit 32 on.
/// Zeros cost no memory before their first use.
type Line = [u64; 3];

/// Accesses to common memory so far.
pub(super) struct AccessOrder {
    segments: Mutex<Segments>,
    broken: AtomicBool,
}

struct Segments {
    list: Vec<Segment>,
    /// Segment of the last access.
    last: usize,
    /// Addresses and former content of lines that were written. Of two entries of a line the first
    /// counts.
    kept: Vec<(u64, [u32; WORDS])>,
}

struct Segment {
    /// First byte, rounded down to a line.
    start: u64,
    lines: Vec<Line>,
}

/// Kind of an access, for its conflicts with others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
    Sum,
}

impl AccessOrder {
    /// Creates an order of no accesses to memory with these addresses and sizes, sorted.
    pub(super) fn new(extents: impl Iterator<Item = (u64, u64)>) -> AccessOrder {
        let list = extents.map(|(address, bytes)| {
            let start = address / LINE * LINE;
            let lines = (address + bytes - start).div_ceil(LINE) as usize;
            Segment { start, lines: vec![[0; 3]; lines] }
        });
        let segments = Mutex::new(Segments { list: list.collect(), last: 0, kept: Vec::new() });
        AccessOrder { segments, broken: AtomicBool::new(false) }
    }

    /// Returns true if an access came too late.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Relaxed)
    }

    /// Gives memory the content that it had before all accesses.
    pub(super) fn undo(self, global: &GlobalMemory) {
        let segments = self.segments.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (address, words) in segments.kept.iter().rev() {
            global.write(*address, words);
        }
    }

    /// Begins an access to memory: until its end no other SM has one.
    pub(super) fn begin(&self) -> Begun<'_> {
        let segments = self.segments.lock().unwrap_or_else(PoisonError::into_inner);
        Begun { segments, broken: &self.broken }
    }
}

/// An access to memory that has begun.
pub(super) struct Begun<'o> {
    segments: MutexGuard<'o, Segments>,
    broken: &'o AtomicBool,
}

impl Begun<'_> {
    /// Keeps the content of the lines that `op` will be the first to write.
    pub(super) fn keep(
        &mut self,
        op: &Op,
        lanes: LaneMask,
        registers: &RegisterFile,
        global: &GlobalMemory,
    ) {
        // An access lies in one line, or is a fault.
        let address = match op {
            Op::Store(store) => store.address,
            Op::Atomic(atomic) => atomic.address,
            _ => return,
        };
        let addresses = exec::addresses(address, lanes, registers);
        let mut last = None;
        for lane in lanes.lanes() {
            let start = addresses[lane as usize % MAX_LANES] / LINE * LINE;
            if last.replace(start) != Some(start) {
                self.segments.keep(start, global);
            }
        }
    }

    /// Ends the access of an SM at a cycle.
    pub(super) fn end(
        mut self,
        access: MemoryAccess,
        visibility: Visibility,
        addresses: &[u64; MAX_LANES],
        (sm, now): (SmId, Cycle),
    ) {
        let way = match access.kind {
            AccessKind::Read => Way::Read,
            AccessKind::Atomic if visibility == Visibility::Reduction => Way::Sum,
            AccessKind::Write | AccessKind::Atomic => Way::Write,
        };
        let time = now << SM_BITS | u64::from(sm.0);
        let bytes = u64::from(access.bytes);
        let segments = &mut *self.segments;
        let mut in_order = true;
        if access.row {
            in_order = segments.add(addresses[0], bytes * MAX_LANES as u64, way, time);
        } else {
            // Neighboring lanes mostly access neighboring words, or one.
            let mut range = 0..0;
            for lane in access.lanes.lanes() {
                let address = addresses[lane as usize % MAX_LANES];
                if range.contains(&address) || range.end == address {
                    range.end = range.end.max(address + bytes);
                } else {
                    in_order &= segments.add(range.start, range.end - range.start, way, time);
                    range = address..address.saturating_add(bytes);
                }
            }
            in_order &= segments.add(range.start, range.end - range.start, way, time);
        }
        if !in_order {
            self.broken.store(true, Relaxed);
        }
    }
}

impl Segments {
    /// Keeps the content of the line at an address unless it has been written.
    fn keep(&mut self, start: u64, global: &GlobalMemory) {
        if self.line(start).is_some_and(|[.., masks]| *masks >> 32 == 0) {
            let mut words = [0; WORDS];
            global.read(start, &mut words);
            self.kept.push((start, words));
        }
    }

    /// Adds an access to `bytes` bytes from `address` on. Returns true if it keeps the order.
    fn add(&mut self, address: u64, bytes: u64, way: Way, time: u64) -> bool {
        let (mut first, end) = (address / WORD, (address + bytes).div_ceil(WORD));
        let mut in_order = true;
        while first < end {
            let words = WORDS as u64;
            let next = (first / words + 1) * words;
            let count = next.min(end) - first;
            let mask = (u64::MAX >> (64 - count)) << (first % words);
            if let Some(line) = self.line(first * WORD) {
                in_order &= add(line, way, mask, time);
            }
            first = next;
        }
        in_order
    }

    fn line(&mut self, address: u64) -> Option<&mut Line> {
        let of = |segment: &Segment| {
            let line = address.checked_sub(segment.start)? / LINE;
            (line < segment.lines.len() as u64).then_some(line as usize)
        };
        let known = self.list.get(self.last).and_then(of);
        let line = known.or_else(|| {
            self.last = self.list.partition_point(|s| s.start <= address).checked_sub(1)?;
            of(&self.list[self.last])
        })?;
        Some(&mut self.list[self.last].lines[line])
    }
}

/// Adds an access to words of a line. Returns true if it keeps the order.
fn add(line: &mut Line, way: Way, words: u64, time: u64) -> bool {
    let [read, written, masks] = line;
    let (sums, last_write) = (*written & SUMS, *written & !SUMS);
    // An SM's own accesses come in order: a later one is another SM's.
    let after_read = *read > time && *masks & words != 0;
    let after_write = last_write > time && *masks >> 32 & words != 0;
    let unwritten = *masks >> 32 == 0;
    match way {
        Way::Read => {
            *read = time.max(*read);
            *masks |= words;
            !after_write
        }
        Way::Write => {
            *written = time.max(last_write);
            *masks |= words << 32;
            !(after_read || after_write)
        }
        Way::Sum => {
            *written = time.max(last_write) | if unwritten { SUMS } else { sums };
            *masks |= words << 32;
            !(after_read || after_write && sums == 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if the accesses, each with its words and time, keep their order.
    fn keep(accesses: &[(Way, u64, u64)]) -> bool {
        let mut line = [0; 3];
        accesses.iter().all(|&(way, words, time)| add(&mut line, way, words, time))
    }

    #[test]
    fn conflicting_accesses_keep_the_order_of_times() {
        use Way::{Read, Sum, Write};
        for a in [Read, Write, Sum] {
            for b in [Read, Write, Sum] {
                assert!(keep(&[(a, 1, 10), (b, 1, 11)]));
                assert!(keep(&[(a, 1, 10), (b, 2, 9)]), "different words");
                let commute = a == b && a != Write;
                assert_eq!(keep(&[(a, 1, 10), (b, 1, 9)]), commute);
            }
        }
    }

    #[test]
    fn sums_commute_only_with_sums() {
        use Way::{Read, Sum, Write};
        assert!(!keep(&[(Sum, 1, 10), (Write, 1, 11), (Sum, 1, 12), (Sum, 1, 9)]));
        assert!(!keep(&[(Write, 1, 10), (Sum, 1, 12), (Sum, 1, 9)]));
        assert!(!keep(&[(Sum, 1, 10), (Sum, 1, 8), (Read, 1, 9)]));
        assert!(keep(&[(Sum, 1, 10), (Sum, 1, 8), (Sum, 1, 9)]));
    }

    #[test]
    fn an_access_reaches_every_word_between_its_ends() {
        let mut segments = Segments {
            list: [256, 1024].map(|start| Segment { start, lines: vec![[0; 3]; 4] }).into(),
            last: 0,
            kept: Vec::new(),
        };
        assert!(segments.add(1148, 8, Way::Write, 10), "two lines");
        assert!(segments.add(1145, 3, Way::Read, 9), "the word before");
        assert!(segments.add(1156, 4, Way::Read, 9), "the word after");
        assert!(!segments.add(1151, 1, Way::Read, 9));
        assert!(!segments.add(1152, 1, Way::Read, 9));
        assert!(segments.add(4096, 4, Way::Write, 1), "no memory");
    }
}
