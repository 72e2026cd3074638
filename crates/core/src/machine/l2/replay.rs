//! One L2 for all: what the SMs asked of their shares, asked again of the whole.
//!
//! SMs do not see each other while they are simulated. Each has its share of L2, and its time follows from what it finds there. Counters
//! of L2 and DRAM are another matter: what many SMs use lies in L2 once, comes from DRAM once and is written back once. So every SM
//! notes what it asks, and when all have ended the notes, in the order of their cycles, are asked of one L2.
//!
//! Lines are dealt into [`PARTS`] parts, each with its part of the sets, that have nothing to do with each other. They are replayed one
//! beside the other; and when an SM's notes become too many, half of the parts are forgotten, and the rest stands for all.
//!
//! Not modelled: that an SM would have waited less for what another had brought to L2.

use super::super::cache::sectors_in;
use super::{L2, scatter};
use crate::base::{Cycle, SmId};
use crate::event::{AccessWay, Event, L2Traffic, MemoryKind};
use crate::spec::Memory;

/// Parts of all lines.
const PARTS: usize = 64;
/// Requests that an SM notes before it forgets half of them: 2 MB.
const MOST: usize = 1 << 17;

/// What one SM asked of L2.
#[derive(Clone)]
pub(in super::super) struct Notes {
    /// By part, those that are kept.
    parts: Vec<Vec<Request>>,
    /// Requests in all of them.
    len: usize,
    sm: SmId,
}

/// Sectors of one line that one SM asked for.
#[derive(Clone, Copy)]
struct Request {
    line: u64,
    /// When; the last there is for what comes later.
    cycle: u32,
    sectors: u8,
    memory: MemoryKind,
    way: AccessWay,
}

impl Notes {
    /// Those of SM `sm`.
    pub(in super::super) fn new(sm: SmId) -> Notes {
        Notes { parts: vec![Vec::new(); PARTS], len: 0, sm }
    }

    /// Sectors of a line are asked for in this cycle.
    #[inline]
    pub(in super::super) fn note(&mut self, cycle: Cycle, line: u64, sectors: u8, memory: MemoryKind, way: AccessWay) {
        if self.len >= MOST && !self.forget() {
            return;
        }
        // The low bits: homes and sets go by the high ones.
        if let Some(part) = self.parts.get_mut(scatter(line) as usize % PARTS) {
            self.len += 1;
            part.push(Request { line, cycle: cycle.try_into().unwrap_or(u32::MAX), sectors, memory, way });
        }
    }

    /// Forgets half of the parts. Of the last one the beginning has to stand for all.
    #[cold]
    fn forget(&mut self) -> bool {
        let kept = (self.parts.len() / 2).max(1);
        self.parts.truncate(kept);
        self.len = self.parts.iter().map(Vec::len).sum();
        self.len < MOST
    }
}

/// What was asked for and found, by memory and way.
#[derive(Clone, Default)]
pub(in super::super) struct Found([[L2Traffic; 3]; 4]);

/// How many parts of the notes all SMs have kept.
pub(in super::super) fn parts(notes: &[Notes]) -> u32 {
    notes.iter().map(|notes| notes.parts.len()).min().unwrap_or(0) as u32
}

/// Asks everything that is noted in one part of it, in order, of that part of L2.
pub(in super::super) fn replay(memory: &Memory, notes: &[Notes], part: u32) -> Found {
    let mut requests: Vec<(SmId, Request)> = Vec::new();
    for notes in notes {
        requests.extend(notes.parts[part as usize].iter().map(|&request| (notes.sm, request)));
    }
    // Stable, so that in one cycle the lower SM comes first.
    requests.sort_by_key(|(_, request)| request.cycle);
    let mut l2 = L2::new(memory, PARTS as u32);
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
    /// What was found in all the parts: an event for each memory and way that was used.
    pub(in super::super) fn events(parts: Vec<Found>) -> impl Iterator<Item = Event> {
        let mut sum = Found::default();
        for part in &parts {
            for (mine, theirs) in sum.0.iter_mut().flatten().zip(part.0.iter().flatten()) {
                mine.add(theirs);
            }
        }
        let of = move |memory, way| Event::L2 { memory, way, found: sum.0[memory as usize][way as usize] };
        let ways = [AccessWay::Load, AccessWay::Store, AccessWay::Atomic];
        let all =
            [MemoryKind::Global, MemoryKind::Local].into_iter().flat_map(move |memory| ways.map(|way| of(memory, way)));
        all.filter(|event| matches!(event, Event::L2 { found, .. } if found.sectors > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::MachineSpec;

    fn h200() -> Memory {
        let text = MachineSpec::preset_text("h200").expect("a preset");
        MachineSpec::parse(text).expect("a machine").memory
    }

    /// What all parts say of one way of accessing global memory.
    fn found(notes: &[Notes], way: AccessWay) -> L2Traffic {
        let all = (0..parts(notes)).map(|part| replay(&h200(), notes, part)).collect();
        let events: Vec<Event> = Found::events(all).collect();
        let of = |event: &Event| match *event {
            Event::L2 { memory: MemoryKind::Global, way: this, found } if this == way => Some(found),
            _ => None,
        };
        events.iter().find_map(of).expect("an event for each way")
    }

    /// Each of four SMs uses all of these lines, one after the other.
    fn used_by_four(lines: u64, way: AccessWay) -> Vec<Notes> {
        let of = |sm| {
            let mut notes = Notes::new(SmId(sm));
            (0..lines).for_each(|line| notes.note(line, line, 15, MemoryKind::Global, way));
            notes
        };
        (0..4).map(of).collect()
    }

    #[test]
    fn what_all_sms_read_is_read_from_dram_once() {
        let found = found(&used_by_four(1000, AccessWay::Load), AccessWay::Load);
        assert_eq!([found.sectors, found.sectors - found.hits], [16_000, 4_000]);
    }

    /// Of 96 MB some 26 stay dirty: at most what is stored is written, not four times as much. (A sample, scaled.)
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
        let notes = used_by_four(lines, AccessWay::Load);
        assert!(
            notes.iter().all(|notes| notes.len <= MOST && notes.parts.len() == PARTS / 4),
            "{}",
            notes[0].parts.len()
        );
        let found = found(&notes, AccessWay::Load);
        let quarter = 4 * lines * 4 / 4;
        assert!(found.sectors.abs_diff(quarter) < quarter / 50, "{} of {quarter}", found.sectors);
        assert_eq!(found.hits * 4, found.sectors * 3, "of what is kept, everything");
    }
}
