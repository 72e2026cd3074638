//! Instruction caches of one SM.
//!
//! Code is cold at launch. The first warp of an SM that reaches a line waits for it, and so do all
//! warps until it arrives; later ones hit. A stream buffer requests the lines that follow, so
//! straight-line code waits once and a distant jump waits again (Huerta et al., MICRO'25). Not
//! modeled: capacity, as lines stay, and the first level of each sub-core, whose misses after jumps
//! are [`super::spec::Machine::branch_taken`].

use super::scheduler::NEVER;
use crate::base::Cycle;
use crate::spec::InstructionCache;

/// Machine instructions per line: 128 bytes, 16 bytes each.
pub(super) const LINE: u32 = 8;

/// Instruction caches of one SM. Without a model every line is present.
#[derive(Clone)]
pub(super) struct Instructions {
    cache: InstructionCache,
    /// Arrival cycle by line.
    arrives: Vec<Cycle>,
    /// True by line once it and its prefetched successors were requested.
    asked: Vec<bool>,
    /// Cycle from which every line is present; `NEVER` until all were requested.
    complete: Cycle,
    /// Arrival cycle of the line requested last.
    last: Cycle,
}

impl Instructions {
    /// Creates cold caches for a program of `lines` lines.
    pub(super) fn new(cache: Option<InstructionCache>, lines: u32) -> Instructions {
        let (cold, asked) = if cache.is_some() { (NEVER, false) } else { (0, true) };
        let cache = cache.unwrap_or(InstructionCache { latency: 0, interval: 0, prefetch: 0 });
        Instructions {
            cache,
            arrives: vec![cold; lines as usize],
            asked: vec![asked; lines as usize],
            complete: cold,
            last: 0,
        }
    }

    /// Returns the cycle at which `line`, requested at `now`, is present: `now` on a hit.
    #[inline(always)]
    pub(super) fn fetch(&mut self, line: u32, now: Cycle) -> Cycle {
        if now >= self.complete {
            return now;
        }
        let line = line as usize;
        if !self.asked[line] {
            self.ask(line, now);
        }
        self.arrives[line].max(now)
    }

    #[inline(never)]
    fn ask(&mut self, line: usize, now: Cycle) {
        self.asked[line] = true;
        let end = self
            .arrives
            .len()
            .min(line.saturating_add(self.cache.prefetch as usize).saturating_add(1));
        for arrives in self.arrives[line..end].iter_mut().filter(|arrives| **arrives == NEVER) {
            self.last = (now + Cycle::from(self.cache.latency))
                .max(self.last + Cycle::from(self.cache.interval));
            *arrives = self.last;
        }
        if self.asked.iter().all(|asked| *asked) {
            self.complete = self.arrives.iter().copied().fold(0, Cycle::max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cold(prefetch: u32) -> Instructions {
        Instructions::new(Some(InstructionCache { latency: 200, interval: 10, prefetch }), 64)
    }

    #[test]
    fn the_first_warp_waits_and_later_ones_find_the_line() {
        let mut code = cold(0);
        assert_eq!(code.fetch(0, 5), 205);
        assert_eq!(code.fetch(0, 100), 205, "it is in flight");
        assert_eq!(code.fetch(0, 205), 205);
        assert_eq!(code.fetch(0, 300), 300);
        assert_eq!(code.fetch(1, 300), 500, "nothing was prefetched");
    }

    #[test]
    fn straight_code_waits_once_and_a_jump_far_ahead_again() {
        let mut code = cold(30);
        assert_eq!(code.fetch(0, 0), 200);
        for line in 1..50 {
            let now = 200 + 32 * Cycle::from(line);
            assert_eq!(code.fetch(line, now), now, "line {line}");
        }
        let mut code = cold(30);
        assert_eq!(code.fetch(0, 0), 200);
        assert_eq!(code.fetch(20, 210), 400, "one line each ten cycles");
        assert_eq!(code.fetch(60, 1000), 1200);
    }

    #[test]
    fn without_a_model_code_is_there() {
        assert_eq!(Instructions::new(None, 3).fetch(2, 7), 7);
    }
}
