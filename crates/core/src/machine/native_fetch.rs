//! Instruction fetch of machine code: caches of a sub-core and of the SM, and the stream
//! prefetcher.
//!
//! Measured on an H200 with jumps and straight code (docs/calibration.md). Each sub-core has an L0
//! of 32 lines; a jump to a line that only the SM's L1 has takes some cycles. A line that L1 lacks
//! comes from the next level with a stream that fetches three lines a step and stays one step
//! ahead, so straight code waits little (Huerta et al., MICRO'25). A launch loads a kernel's first
//! lines to that level; the stream waits for the others. Not modeled: capacity of L1 and beyond.

use super::scheduler::NEVER;
use crate::base::Cycle;
use crate::spec::Fetch;

/// Lines that the stream fetches in one step.
const STEP: usize = 3;
/// Lines of an L0.
const L0: usize = 32;

/// Instruction caches of one SM.
#[derive(Clone)]
pub(super) struct NativeFetch {
    times: Fetch,
    /// Arrival cycle in L1 by line.
    arrives: Vec<Cycle>,
    /// L0 of each sub-core.
    l0: Vec<Level0>,
    /// True once a line has been requested.
    started: bool,
}

/// State of an L0 that every issue reads; the scheduler of the sub-core holds it.
#[derive(Clone, Copy)]
pub(super) struct UsedLines {
    /// Line used last.
    last: u32,
    /// Lines, one bit each, whose further uses have no effect but on `last`.
    held: u64,
}

impl UsedLines {
    /// No line of a cold L0.
    pub(super) const NONE: UsedLines = UsedLines { last: NO_LINE, held: 0 };

    /// Uses a line. Returns false, without an effect, if it may have to be fetched.
    #[inline(always)]
    pub(super) fn use_held(&mut self, line: u32) -> bool {
        let is_held = self.held >> (line % 64) & 1 == 1;
        if is_held {
            self.last = line;
        }
        is_held
    }
}

/// L0 of a sub-core.
#[derive(Clone)]
struct Level0 {
    /// Lines present.
    present: Recency,
    /// Cycle from which a further use of a line has no effect but on the line used last, by line.
    /// `NEVER` if lines may have to be evicted.
    settled: Vec<Cycle>,
}

/// Number of no line, and of none before a line.
const NO_LINE: u32 = u32::MAX - 1;

impl Level0 {
    /// Makes `line` the newest. Returns true if it was absent.
    #[inline]
    fn use_line(&mut self, line: u32) -> bool {
        let absent = self.present.use_line(line);
        if self.present.len > L0 {
            self.present.remove_oldest();
        }
        absent
    }
}

/// Lines in the order of their last uses: a ring of links, which the number after the last line
/// closes.
#[derive(Clone)]
struct Recency {
    /// Lines used before and after each line; [`NO_LINE`] before an absent one.
    links: Vec<Link>,
    len: usize,
}

/// Neighbors of a line in a [`Recency`].
#[derive(Clone, Copy)]
struct Link {
    older: u32,
    newer: u32,
}

impl Recency {
    /// Creates an empty list for `lines` lines.
    fn new(lines: u32) -> Recency {
        let absent = Link { older: NO_LINE, newer: NO_LINE };
        let mut links = vec![absent; lines as usize];
        links.push(Link { older: lines, newer: lines });
        Recency { links, len: 0 }
    }

    /// Makes a line the newest. Returns true if it was absent.
    #[inline]
    fn use_line(&mut self, line: u32) -> bool {
        let absent = self.links[line as usize].older == NO_LINE;
        if absent {
            self.len += 1;
        } else {
            self.unlink(line);
        }
        let end = self.end();
        let newest = self.links[end as usize].older;
        self.links[line as usize] = Link { older: newest, newer: end };
        self.links[newest as usize].newer = line;
        self.links[end as usize].older = line;
        absent
    }

    /// Removes the line used least recently.
    fn remove_oldest(&mut self) {
        let oldest = self.links[self.end() as usize].newer;
        self.unlink(oldest);
        self.links[oldest as usize].older = NO_LINE;
        self.len -= 1;
    }

    /// Makes the neighbors of a line each other's.
    fn unlink(&mut self, line: u32) {
        let Link { older, newer } = self.links[line as usize];
        self.links[older as usize].newer = newer;
        self.links[newer as usize].older = older;
    }

    /// Returns the number that closes the ring.
    fn end(&self) -> u32 {
        self.links.len() as u32 - 1
    }
}

impl NativeFetch {
    /// Creates cold caches for a program of `lines` lines on an SM with `schedulers`.
    pub(super) fn new(times: Fetch, lines: u32, schedulers: u32) -> NativeFetch {
        let (present, settled) = (Recency::new(lines), vec![NEVER; lines as usize]);
        let cold = Level0 { present, settled };
        let l0 = vec![cold; schedulers as usize];
        NativeFetch { times, arrives: vec![NEVER; lines as usize], l0, started: false }
    }

    /// Returns the cycle at which sub-core `scheduler` has `line`, requested at `now`. No later
    /// request is for a cycle before `since`.
    #[inline(always)]
    pub(super) fn fetch(
        &mut self,
        (scheduler, used): (usize, &mut UsedLines),
        line: u32,
        (since, now): (Cycle, Cycle),
    ) -> Cycle {
        let settled = self.l0[scheduler].settled[line as usize];
        if now >= settled {
            used.last = line;
            // A program with settled lines has at most as many as an L0.
            used.held |= u64::from(since >= settled) << (line % 64);
            return now;
        }
        let before = std::mem::replace(&mut used.last, line);
        if before == line {
            return self.arrives[line as usize].max(now);
        }
        self.change(scheduler, (before, line), now)
    }

    /// As [`NativeFetch::fetch`], for another line than the last one.
    #[inline(never)]
    fn change(&mut self, scheduler: usize, (before, line): (u32, u32), now: Cycle) -> Cycle {
        let absent = self.l0[scheduler].use_line(line);
        // Straight code is prefetched into L0.
        let jumps = absent && before.wrapping_add(1) != line;
        let arrives = self.in_l1(line as usize, now);
        if self.arrives.len() <= L0 {
            self.l0[scheduler].settled[line as usize] = arrives;
        }
        arrives.max(now + if jumps { Cycle::from(self.times.l0_miss) } else { 0 })
    }

    /// Returns the cycle at which L1 has the line, and requests the next step of the stream.
    #[inline]
    fn in_l1(&mut self, line: usize, now: Cycle) -> Cycle {
        let Fetch { first, l1_miss, step, loaded, memory, .. } = self.times;
        let is_loaded = |line| line < loaded as usize;
        if self.arrives[line] == NEVER {
            let latency = match self.started {
                false => first,
                true if is_loaded(line) => l1_miss,
                true => memory,
            };
            self.started = true;
            self.step(line, now + Cycle::from(latency));
        }
        let arrives = self.arrives[line];
        let next = line + STEP;
        if self.arrives.get(next).is_some_and(|&at| at == NEVER) {
            let step = if is_loaded(next) { step } else { memory / 2 };
            self.step(line + 1, arrives.max(now) + Cycle::from(step));
        }
        arrives
    }

    /// Lets the lines of one step arrive that were not requested before.
    #[inline(never)]
    fn step(&mut self, first: usize, at: Cycle) {
        let end = self.arrives.len().min(first + STEP);
        let absent = self.arrives[first.min(end)..end].iter_mut().filter(|at| **at == NEVER);
        absent.for_each(|arrives| *arrives = at);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::spec::Machine;

    /// Caches with the lines used by each sub-core.
    struct Code(NativeFetch, [UsedLines; 2]);

    impl Code {
        /// Fetches a line, requested at `now`, after all those before.
        fn fetch(&mut self, scheduler: usize, line: u32, now: Cycle) -> Cycle {
            let Code(caches, used) = self;
            let used = &mut used[scheduler];
            if used.use_held(line) {
                now
            } else {
                caches.fetch((scheduler, used), line, (now, now))
            }
        }
    }

    fn cold(lines: u32) -> Code {
        let times =
            Fetch { first: 200, l1_miss: 57, l0_miss: 11, step: 29, loaded: 60, memory: 680 };
        Code(NativeFetch::new(times, lines, 2), [UsedLines::NONE; 2])
    }

    #[test]
    fn straight_code_waits_once_per_step_at_most() {
        let mut code = cold(100);
        assert_eq!(code.fetch(0, 0, 0), 200);
        for line in 1..20 {
            let now = 200 + 32 * Cycle::from(line);
            assert!(code.fetch(0, line, now) <= now, "line {line}");
        }
    }

    #[test]
    fn a_jump_to_a_cold_line_waits_and_a_known_one_little() {
        let mut code = cold(100);
        code.fetch(0, 0, 0);
        assert_eq!(code.fetch(0, 50, 1000), 1057);
        assert_eq!(code.fetch(1, 50, 2000), 2011, "the other sub-core's L0 lacks it");
        assert_eq!(code.fetch(1, 50, 2100), 2100);
        assert_eq!(code.fetch(0, 0, 3000), 3000, "L0 still has it");
    }

    #[test]
    fn a_step_of_lines_that_the_launch_has_not_loaded_waits_for_memory() {
        let mut code = cold(100);
        let mut now = 0;
        for line in 0..90 {
            now = code.fetch(0, line, now + 20);
        }
        assert_eq!(now, 4800, "60 lines within 1,400 cycles, ten steps of 340");
        let mut code = cold(100);
        code.fetch(0, 0, 0);
        assert_eq!(code.fetch(0, 80, 1000), 1680, "a jump");
    }

    /// Clocks of straight code of which L2 has nothing; a section has 15.5 lines beyond 64 KB.
    #[test]
    fn code_beyond_the_loaded_lines_streams_as_on_an_h200() {
        let text = include_str!("../../../../tests/observations/h200/code/clocks.txt");
        let first_launches = text.lines().filter_map(|line| {
            let (name, clocks) = line.split_once(':')?;
            let is_one = name.starts_with("sections 64 ") && name.ends_with("flushed 1 launch 1");
            is_one.then(|| clocks.split_whitespace().map(|clocks| clocks.parse().expect("cycles")))
        });
        let sections: Vec<f64> = first_launches.flat_map(|clocks| clocks.skip(33)).collect();
        assert_eq!(sections.len(), 4 * 31);
        let measured = sections.iter().sum::<f64>() / sections.len() as f64 / 15.5;

        let preset = Machine::preset_text("h200").expect("a preset");
        let machine = Machine::parse(preset).expect("a machine");
        let times = machine.sass.as_ref().and_then(|times| times.fetch).expect("fetch");
        let mut code = Code(NativeFetch::new(times, 1000, 1), [UsedLines::NONE; 2]);
        let ends = |code: &mut Code, lines: Range<u32>, begin: Cycle| {
            lines.fold(begin, |now, line| code.fetch(0, line, now) + 32)
        };
        let near = ends(&mut code, 0..512, 0);
        assert!(near < 512 * 32 + 400, "{near} cycles");
        let simulated = (ends(&mut code, 512..1000, near) - near) as f64 / 488.0;
        assert!((simulated / measured - 1.0).abs() < 0.1, "{simulated}, H200 {measured}");
    }

    #[test]
    fn a_short_program_stays_in_l0_from_the_arrival_of_its_lines_on() {
        let Code(mut caches, [mut used, _]) = cold(32);
        let mut fetch = |since, now| caches.fetch((0, &mut used), 5, (since, now));
        assert_eq!(fetch(0, 0), 200);
        assert_eq!((fetch(10, 300), fetch(20, 100), fetch(200, 250)), (300, 200, 250));
        assert!(used.use_held(5) && !used.use_held(6));
    }

    #[test]
    fn a_full_l0_evicts_the_least_recently_used_line() {
        let mut code = cold(100);
        for line in 0..32 {
            code.fetch(0, line, 1000 * Cycle::from(line));
        }
        assert_eq!(code.fetch(0, 0, 50_000), 50_000, "32 lines fit, and 0 is used again");
        code.fetch(0, 40, 51_000);
        assert_eq!(code.fetch(0, 0, 60_000), 60_000, "line 1 made room");
        assert_eq!(code.fetch(0, 3, 61_000), 61_000);
        assert_eq!(code.fetch(0, 1, 62_000), 62_011);
        assert_eq!(code.fetch(0, 2, 63_000), 63_000, "straight code is prefetched");
    }
}
