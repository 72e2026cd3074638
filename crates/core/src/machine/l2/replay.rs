//! Replay of all SMs' requests through one L2.
//!
//! SMs do not see each other during simulation. Each has its share of L2, and its time depends on
//! the hits there. The counters of L2 and DRAM differ: data used by many SMs is in L2 once, is read
//! from DRAM once and is written back once. So every SM logs its requests, and at the end the
//! requests of all SMs replay through one L2, in cycle order.
//!
//! Lines are dealt into [`SLICES`] independent slices, each with its share of the sets. The slices
//! are replayed in parallel. If an SM's log grows too long, half of the slices are dropped, and the
//! rest represents all.
//!
//! Not modeled: shorter waits of an SM for lines that another SM brought to L2.

use super::super::cache::sectors_in;
use super::packed::{MEMORIES, Packed, Request, WAYS};
use super::{L2, scatter};
use crate::base::{Cycle, SmId};
use crate::event::{AccessWay, Event, L2Traffic, MemoryKind};
use crate::spec::Memory;

/// Slices of all lines.
const SLICES: usize = 64;
/// Requests that an SM logs before it drops half of them: less than 1 MB.
const MOST: usize = 1 << 17;

/// L2 requests of one SM.
#[derive(Clone)]
pub(in super::super) struct RequestLog {
    /// Kept requests by slice.
    slices: Vec<Packed>,
    /// Requests in all slices.
    len: usize,
    sm: SmId,
}

impl RequestLog {
    /// Creates an empty log of SM `sm`.
    pub(in super::super) fn new(sm: SmId) -> RequestLog {
        RequestLog { slices: vec![Packed::default(); SLICES], len: 0, sm }
    }

    /// Logs a request for sectors of a line.
    #[inline]
    pub(in super::super) fn add(
        &mut self,
        cycle: Cycle,
        line: u64,
        sectors: u8,
        memory: MemoryKind,
        way: AccessWay,
    ) {
        if self.len >= MOST && !self.forget() {
            return;
        }
        // The low bits select the slice; homes and sets use the high bits.
        if let Some(slice) = self.slices.get_mut(scatter(line) as usize % SLICES) {
            self.len += 1;
            slice.push(Request {
                line,
                cycle: cycle.try_into().unwrap_or(u32::MAX),
                sectors,
                memory,
                way,
            });
        }
    }

    /// Drops half of the slices. Returns false if the last one is full: its beginning represents
    /// all.
    #[cold]
    fn forget(&mut self) -> bool {
        let kept = (self.slices.len() / 2).max(1);
        self.slices.truncate(kept);
        self.len = self.slices.iter().map(Packed::len).sum();
        self.len < MOST
    }
}

/// Lookups and hits, by memory and direction.
#[derive(Clone, Default)]
pub(in super::super) struct Found([[L2Traffic; 3]; MemoryKind::COUNT]);

/// Returns the number of slices that all SMs have kept.
pub(in super::super) fn slices(logs: &[RequestLog]) -> u32 {
    logs.iter().map(|log| log.slices.len()).min().unwrap_or(0) as u32
}

/// Replays one slice of the logs in cycle order through its slice of L2.
pub(in super::super) fn replay(memory: &Memory, logs: &[RequestLog], slice: u32) -> Found {
    let mut requests: Vec<(SmId, Request)> = Vec::new();
    for log in logs {
        requests.extend(log.slices[slice as usize].iter().map(|request| (log.sm, request)));
    }
    // The sort is stable: in one cycle the lower SM comes first.
    requests.sort_by_key(|(_, request)| request.cycle);
    let mut l2 = L2::new(memory, SLICES as u32);
    let mut found = Found::default();
    for (sm, Request { line, sectors, memory, way, .. }) in requests {
        let answer = match way {
            AccessWay::Load => l2.read(sm, line, sectors),
            AccessWay::Store | AccessWay::Atomic => l2.write(sm, line, sectors),
        };
        let count = |set: u8| u64::from(sectors_in(set));
        found.0[memory as usize][way as usize].add(&L2Traffic {
            sectors: count(sectors),
            hits: count(answer.hits),
            crossed: count(answer.crossed),
            written_back: (answer.written + answer.earlier).into(),
        });
    }
    found
}

impl Found {
    /// Sums the slices into one event per memory and direction in use.
    pub(in super::super) fn events(slices: Vec<Found>) -> impl Iterator<Item = Event> {
        let mut sum = Found::default();
        for slice in &slices {
            for (mine, theirs) in sum.0.iter_mut().flatten().zip(slice.0.iter().flatten()) {
                mine.add(theirs);
            }
        }
        let of = move |memory, way| Event::L2 {
            memory,
            way,
            found: sum.0[memory as usize][way as usize],
        };
        let all = MEMORIES.into_iter().flat_map(move |memory| WAYS.map(|way| of(memory, way)));
        all.filter(|event| matches!(event, Event::L2 { found, .. } if found.sectors > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Machine;

    fn h200() -> Memory {
        let text = Machine::preset_text("h200").expect("a preset");
        Machine::parse(text).expect("a machine").memory
    }

    /// Returns the traffic of all slices for one direction in global memory.
    fn found(logs: &[RequestLog], way: AccessWay) -> L2Traffic {
        let all = (0..slices(logs)).map(|slice| replay(&h200(), logs, slice)).collect();
        let events: Vec<Event> = Found::events(all).collect();
        let of = |event: &Event| match *event {
            Event::L2 { memory: MemoryKind::Global, way: this, found } if this == way => {
                Some(found)
            }
            _ => None,
        };
        events.iter().find_map(of).expect("an event for each way")
    }

    /// Logs of four SMs, each of which uses all `lines` in order.
    fn used_by_four(lines: u64, way: AccessWay) -> Vec<RequestLog> {
        let of = |sm| {
            let mut log = RequestLog::new(SmId(sm));
            (0..lines).for_each(|line| log.add(line, line, 15, MemoryKind::Global, way));
            log
        };
        (0..4).map(of).collect()
    }

    #[test]
    fn what_all_sms_read_is_read_from_dram_once() {
        let found = found(&used_by_four(1000, AccessWay::Load), AccessWay::Load);
        assert_eq!([found.sectors, found.sectors - found.hits], [16_000, 4_000]);
    }

    /// All SMs' stores are written back once.
    ///
    /// Of 96 MB about 26 stay dirty: at most the stored bytes are written, not four times as many.
    /// (A sample, scaled.)
    #[test]
    fn what_all_sms_store_is_written_back_once() {
        let lines = 96_000_000 / 128;
        let found = found(&used_by_four(lines, AccessWay::Store), AccessWay::Store);
        let written = found.written_back * 32 * (4 * 4 * lines) / found.sectors;
        assert!((66_000_000..98_000_000).contains(&written), "{written}");
    }

    #[test]
    fn when_the_notes_become_too_many_some_lines_stand_for_all() {
        let lines = 5 * MOST as u64 / 2;
        let logs = used_by_four(lines, AccessWay::Load);
        assert!(
            logs.iter().all(|log| log.len <= MOST && log.slices.len() == SLICES / 4),
            "{}",
            logs[0].slices.len()
        );
        let found = found(&logs, AccessWay::Load);
        let quarter = 4 * lines * 4 / 4;
        assert!(found.sectors.abs_diff(quarter) < quarter / 50, "{} of {quarter}", found.sectors);
        assert_eq!(found.hits * 4, found.sectors * 3, "all kept requests");
    }
}
