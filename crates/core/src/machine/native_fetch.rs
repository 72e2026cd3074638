//! Instruction fetch of machine code: caches of a sub-core and of the SM, and the stream prefetcher.
//!
//! Measured on an H200 with jumps and straight code (docs/calibration.md). Each sub-core has an L0
//! of 32 lines; a jump to a line that only the SM's L1 has takes some cycles. A line that L1 lacks
//! comes from the next level with a stream that fetches three lines a step and stays one step ahead,
//! so straight code waits little (Huerta et al., MICRO'25). Not modeled: capacity of L1 and beyond.

use super::scheduler::NEVER;
use crate::base::{Cycle, SmId};
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
    /// Lines of each sub-core's L0, the least recently used first.
    l0: Vec<Vec<u32>>,
    /// True once a line has been requested.
    started: bool,
}

impl NativeFetch {
    /// Creates cold caches for a program of `lines` lines on an SM with `schedulers`.
    pub(super) fn new(times: Fetch, lines: u32, schedulers: u32, sm: SmId) -> NativeFetch {
        let times = Fetch { first: times.first + lateness(sm, times.spread), ..times };
        let l0 = vec![Vec::with_capacity(L0); schedulers as usize];
        NativeFetch { times, arrives: vec![NEVER; lines as usize], l0, started: false }
    }

    /// Returns the cycle at which sub-core `scheduler` has `line`, requested at `now`.
    #[inline]
    pub(super) fn fetch(&mut self, scheduler: usize, line: u32, now: Cycle) -> Cycle {
        let l0 = &mut self.l0[scheduler];
        if l0.last() == Some(&line) {
            return self.arrives[line as usize].max(now);
        }
        self.miss(scheduler, line, now)
    }

    #[inline(never)]
    fn miss(&mut self, scheduler: usize, line: u32, now: Cycle) -> Cycle {
        let l0 = &mut self.l0[scheduler];
        let before = l0.last().copied();
        let there = l0.iter().position(|&known| known == line);
        if let Some(at) = there {
            l0.remove(at);
        } else if l0.len() == L0 {
            l0.remove(0);
        }
        l0.push(line);
        // Straight code is prefetched into L0.
        let jumps = there.is_none() && before.is_none_or(|before| before + 1 != line);
        let arrives = self.in_l1(line as usize, now);
        arrives.max(now + if jumps { Cycle::from(self.times.l0_miss) } else { 0 })
    }

    /// Returns the cycle at which L1 has the line, and requests the next step of the stream.
    fn in_l1(&mut self, line: usize, now: Cycle) -> Cycle {
        if self.arrives[line] == NEVER {
            let latency = if self.started { self.times.l1_miss } else { self.times.first };
            self.started = true;
            self.step(line, now + Cycle::from(latency));
        }
        let arrives = self.arrives[line];
        let step = Cycle::from(self.times.step);
        let next = line + STEP;
        if self.arrives.get(next).is_some_and(|&at| at == NEVER) {
            self.step(line + 1, arrives.max(now) + step);
        }
        arrives
    }

    /// Lets the lines of one step arrive that were not requested before.
    fn step(&mut self, first: usize, at: Cycle) {
        let end = self.arrives.len().min(first + STEP);
        let absent = self.arrives[first.min(end)..end].iter_mut().filter(|at| **at == NEVER);
        absent.for_each(|arrives| *arrives = at);
    }
}

/// Returns how much later than on the first SM code arrives on an SM at a cold launch.
///
/// On an H200 the slowest SM of a launch is some hundred cycles late, the average one little: the
/// sixth power of a fraction that takes every value below 1 once.
fn lateness(sm: SmId, spread: u32) -> u32 {
    const SMS: u32 = 132;
    let fraction = f64::from(sm.0 % SMS * 61 % SMS) / f64::from(SMS);
    (f64::from(spread) * fraction.powi(6)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cold() -> NativeFetch {
        NativeFetch::new(
            Fetch { first: 200, spread: 600, l1_miss: 57, l0_miss: 11, step: 29 },
            100,
            2,
            SmId(0),
        )
    }

    #[test]
    fn straight_code_waits_once_per_step_at_most() {
        let mut code = cold();
        assert_eq!(code.fetch(0, 0, 0), 200);
        for line in 1..20 {
            let now = 200 + 32 * Cycle::from(line);
            assert!(code.fetch(0, line, now) <= now, "line {line}");
        }
    }

    #[test]
    fn a_jump_to_a_cold_line_waits_and_a_known_one_little() {
        let mut code = cold();
        code.fetch(0, 0, 0);
        assert_eq!(code.fetch(0, 50, 1000), 1057);
        assert_eq!(code.fetch(1, 50, 2000), 2011, "the other sub-core's L0 lacks it");
        assert_eq!(code.fetch(1, 50, 2100), 2100);
        assert_eq!(code.fetch(0, 0, 3000), 3000, "L0 still has it");
    }
}
