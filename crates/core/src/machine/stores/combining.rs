//! Lines of stores that wait in an SM, where later stores join them ([`Combining`]).
//!
//! The lines leave the SM in order, once no store passes the unit for some cycles, until none is
//! left; a further line pushes out the first one if there is no room. Measured on an H200 with
//! single stores and with rows of them, by up to sixteen warps: `tests/observations/h200/stores`.

use std::collections::VecDeque;

use crate::base::Cycle;
use crate::machine::cache::{SECTOR, sectors_in};
use crate::spec::Combining;

/// Stores to one line that wait.
#[derive(Clone, Copy)]
struct Waiting {
    line: u64,
    content: Content,
    /// True if several stores have written it.
    joined: bool,
    /// True if none of them has written whole sectors.
    parts: bool,
    /// Cycle of the last store to it.
    stored: Cycle,
}

/// Sectors and bytes of a line that stores have written.
#[derive(Clone, Copy, Default)]
pub(super) struct Content {
    /// Written sectors, one bit each.
    pub sectors: u8,
    /// Written bytes, those written twice counted twice.
    pub bytes: u32,
}

impl Content {
    /// Returns true if every byte of the sectors is written.
    pub(super) fn is_dense(self) -> bool {
        u64::from(self.bytes) >= SECTOR * u64::from(sectors_in(self.sectors))
    }
}

/// Lines that wait in one SM, in the order of their first stores.
#[derive(Clone)]
pub(super) struct Combiner {
    times: Combining,
    lines: VecDeque<Waiting>,
    /// Cycle until which stores pass the unit.
    busy: Cycle,
    /// True while lines leave.
    leaving: bool,
    /// Cycle from which the next line may leave.
    free: Cycle,
}

impl Combiner {
    pub(super) fn new(times: Combining) -> Combiner {
        Combiner { times, lines: VecDeque::new(), busy: 0, leaving: false, free: 0 }
    }

    /// Begins a store at `now` whose data pass for `cycles`.
    pub(super) fn begin(&mut self, now: Cycle, cycles: Cycle) {
        self.begin_leaving(now);
        self.busy = self.busy.max(now + cycles);
    }

    /// Lets lines leave if no store has passed for some cycles before `now`.
    fn begin_leaving(&mut self, now: Cycle) {
        let idle = self.busy + Cycle::from(self.times.idle);
        if now >= idle && !self.leaving {
            self.leaving = true;
            self.free = self.free.max(idle);
        }
    }

    /// Returns true if stores to parts of a line's sectors have joined and wait at `now`.
    pub(super) fn holds_parts(&mut self, line: u64, now: Cycle) -> bool {
        self.begin_leaving(now);
        self.leave(now);
        let held = self.lines.iter().find(|waiting| waiting.line == line);
        held.is_some_and(|waiting| waiting.joined && waiting.parts)
    }

    /// Stores to a line at `now`. Returns what waited of it, and what waits now.
    pub(super) fn store(&mut self, line: u64, new: Content, now: Cycle) -> [Content; 2] {
        self.leave(now);
        if let Some(waiting) = self.lines.iter_mut().find(|waiting| waiting.line == line) {
            let before = waiting.content;
            let bytes = before.bytes.saturating_add(new.bytes);
            waiting.content = Content { sectors: before.sectors | new.sectors, bytes };
            waiting.stored = now;
            waiting.joined = true;
            waiting.parts &= !new.is_dense();
            return [before, waiting.content];
        }
        if self.lines.len() >= self.times.lines as usize {
            self.free = self.free.max(now) + Cycle::from(self.times.leaves);
            self.lines.pop_front();
        }
        let parts = !new.is_dense();
        self.lines.push_back(Waiting { line, content: new, joined: false, parts, stored: now });
        [Content::default(), new]
    }

    /// Lets lines leave before `now`.
    fn leave(&mut self, now: Cycle) {
        while self.leaving {
            let Some(first) = self.lines.front() else {
                self.leaving = false;
                return;
            };
            let at = self.free.max(first.stored + Cycle::from(self.times.stays));
            if at >= now {
                return;
            }
            self.lines.pop_front();
            self.free = at + Cycle::from(self.times.leaves);
        }
    }
}
