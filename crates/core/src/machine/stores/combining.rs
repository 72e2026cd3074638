//! Lines of stores that wait in an SM, where later stores join them ([`Combining`]).
//!
//! A line waits until its data are there, no store of several passes is in the banks, and the queue
//! to L2 has room; lines enter that in order. Data that join a line leave the SM with it, but pass
//! through the queue, too, if it has room. Only the last lines stored to can wait: a store to
//! another one holds up the load/store unit until the least recent has entered the queue. Measured
//! on an H200 with single stores, rows and loops of them, by up to 32 warps:
//! `tests/observations/h200/stores`.

use std::collections::VecDeque;

use super::{FINE, Link};
use crate::base::Cycle;
use crate::machine::cache::{SECTOR, sectors_in};
use crate::spec::Combining;

/// Stores to one line that wait.
#[derive(Clone, Copy)]
struct Waiting {
    line: u64,
    content: Content,
    /// Percent of a packet's usual time that L2 takes.
    percent: u32,
    /// True if several stores have written it.
    joined: bool,
    /// True if none of them has written whole sectors.
    parts: bool,
    /// Cycle from which the data of the last store to it are there.
    ready: Cycle,
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

/// Lines that stores of one SM can join.
#[derive(Clone)]
pub(super) struct Combiner {
    times: Combining,
    /// The last lines stored to, in the order of their last stores.
    known: VecDeque<u64>,
    /// Lines that wait, in the order in which they enter the queue.
    lines: VecDeque<Waiting>,
    /// Packets of the lines that wait.
    packets: u64,
    /// Fine times at which the last lines in the queue to L2 have left it.
    queue: VecDeque<u64>,
    /// Cycle at which the last store began, and from which its data are there.
    begun: Cycle,
    ready: Cycle,
    /// Cycle until which stores of several passes pass the banks.
    busy: Cycle,
    /// Cycle from which the next line may enter the queue.
    next: Cycle,
    /// Cycle until which a store waits that pushed out a line.
    held: Cycle,
}

impl Combiner {
    pub(super) fn new(times: Combining) -> Combiner {
        let (known, lines, queue) = Default::default();
        Combiner {
            times,
            known,
            lines,
            packets: 0,
            queue,
            begun: 0,
            ready: 0,
            busy: 0,
            next: 0,
            held: 0,
        }
    }

    /// Begins a store at `now` that keeps the banks busy for `busy` cycles and whose data are there
    /// after `there`.
    pub(super) fn begin(&mut self, now: Cycle, [busy, there]: [Cycle; 2], link: &mut Link) {
        self.leave(now, link);
        self.begun = now;
        self.busy = self.busy.max(now + busy);
        self.ready = now + there + Cycle::from(self.times.stays);
    }

    /// Returns true if stores to parts of a line's sectors have joined and wait at `now`.
    pub(super) fn holds_parts(&mut self, line: u64, now: Cycle, link: &mut Link) -> bool {
        self.leave(now, link);
        let held = self.lines.iter().find(|waiting| waiting.line == line);
        held.is_some_and(|waiting| waiting.joined && waiting.parts)
    }

    /// Stores to a line at `now`. Returns the sectors that waited of it.
    pub(super) fn store(
        &mut self,
        line: u64,
        new: Content,
        (now, percent): (Cycle, u32),
        link: &mut Link,
    ) -> u8 {
        self.leave(now, link);
        if self.know(line, now, link)
            && let Some(at) = self.lines.iter().position(|waiting| waiting.line == line)
        {
            // Data that join go before lines that leave.
            if self.room(self.times.queue + 1) <= now {
                self.enter(link.pass(now, u64::from(sectors_in(new.sectors))));
            }
            let waiting = &mut self.lines[at];
            let before = waiting.content;
            let bytes = before.bytes.saturating_add(new.bytes);
            waiting.content = Content { sectors: before.sectors | new.sectors, bytes };
            waiting.ready = self.ready;
            waiting.joined = true;
            waiting.parts &= !new.is_dense();
            self.packets = (self.packets + link.packets(waiting.content)) - link.packets(before);
            return before.sectors;
        }
        let (parts, ready) = (!new.is_dense(), self.ready);
        self.packets += link.packets(new);
        self.lines.push_back(Waiting { line, content: new, percent, joined: false, parts, ready });
        0
    }

    /// Makes a line the last one stored to, at `now`. Returns true if it was one of those before:
    /// no other line waits.
    fn know(&mut self, line: u64, now: Cycle, link: &mut Link) -> bool {
        let known = self.known.iter().rposition(|&known| known == line);
        if let Some(at) = known {
            self.known.remove(at);
        } else if self.known.len() >= self.times.lines as usize
            && let Some(oldest) = self.known.pop_front()
            && let Some(at) = self.lines.iter().position(|waiting| waiting.line == oldest)
        {
            self.held = self.room(self.times.queue).max(self.next).max(now);
            self.leave_one(at, self.held, link);
        }
        self.known.push_back(line);
        known.is_some()
    }

    /// Lets lines leave before `now`.
    fn leave(&mut self, now: Cycle, link: &mut Link) {
        while let Some(first) = self.lines.front() {
            let at = first.ready.max(self.busy).max(self.room(self.times.queue)).max(self.next);
            if at >= now {
                return;
            }
            self.leave_one(0, at, link);
        }
    }

    /// Puts the line at a position into the queue at `at`.
    fn leave_one(&mut self, position: usize, at: Cycle, link: &mut Link) {
        if let Some(first) = self.lines.remove(position) {
            let packets = link.packets(first.content);
            self.packets -= packets;
            self.enter(link.send(at, packets, first.percent));
            self.next = at + 1;
        }
    }

    /// Returns the cycle from which the queue holds fewer than `entries`.
    fn room(&self, entries: u32) -> Cycle {
        let first = self.queue.len().checked_sub(entries as usize);
        first.map_or(0, |at| self.queue[at].div_ceil(FINE))
    }

    /// Adds what leaves the queue at a fine time.
    fn enter(&mut self, leaves: u64) {
        if self.queue.len() > self.times.queue as usize {
            self.queue.pop_front();
        }
        self.queue.push_back(leaves);
    }

    /// Returns the cycle at which every line has left, as the link will then be.
    pub(super) fn sent_at(&self, link: &Link) -> Cycle {
        if self.packets == 0 {
            return link.sent_at();
        }
        link.sent_at().max(self.ready) + self.packets
    }

    /// Returns the cycles at which the load/store unit can serve and take further requests.
    ///
    /// It takes those that come up to `ahead` cycles before.
    pub(super) fn room_at(&self, ahead: u32) -> [Cycle; 2] {
        let taken = self.held.max(self.begun).saturating_sub(Cycle::from(ahead));
        [self.held, taken]
    }
}
