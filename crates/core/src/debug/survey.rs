//! Which branches diverge most: the run up to here and beyond, gone through once.

use std::collections::BTreeMap;

use super::debugger::Debugger;
use super::goal::Focus;
use crate::base::{Cycle, Pc};

/// Steps that a survey goes through at most.
const LIMIT: u64 = 400_000;

/// How often a conditional branch was executed, by any warp that is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchCount {
    /// The branch.
    pub pc: Pc,
    /// Its source line.
    pub line: u32,
    /// Executions.
    pub executed: u64,
    /// Those at which the lanes parted.
    pub divergent: u64,
}

/// What a survey found.
pub(super) struct Survey {
    /// The most divergent first.
    counts: Vec<BranchCount>,
    /// By branch: the places behind its divergent executions, and whose they were.
    places: BTreeMap<Pc, Vec<(u64, Focus)>>,
    /// Whether it went to the end of the run.
    complete: bool,
}

impl Debugger<'_> {
    /// The branches that lanes part at, the most divergent first, and whether the whole run was looked at or only its first
    /// 400,000 steps. Stays at its place.
    pub fn survey(&mut self) -> (&[BranchCount], bool) {
        if self.survey.is_none() {
            let (steps, clock) = (self.steps(), self.clock());
            let survey = self.take_survey();
            self.come_back(steps, clock);
            self.survey = Some(survey);
        }
        self.survey.as_ref().map_or((&[], true), |survey| (&survey.counts, survey.complete))
    }

    /// Goes behind the next divergent execution of the most divergent branch, from the beginning again if there is none
    /// ahead. Whose it is; `None`, and no move, where no branch diverges.
    pub fn to_most_divergent(&mut self) -> Option<(BranchCount, Focus)> {
        self.survey();
        let survey = self.survey.as_ref()?;
        let &count = survey.counts.first().filter(|count| count.divergent > 0)?;
        let places = survey.places.get(&count.pc)?;
        let ahead = places.partition_point(|&(at, _)| at <= self.steps());
        let &(at, focus) = places.get(ahead).or(places.first())?;
        self.seek(at);
        Some((count, focus))
    }

    fn take_survey(&mut self) -> Survey {
        self.seek(0);
        let mut counts: BTreeMap<Pc, (u64, u64)> = BTreeMap::new();
        let mut places: BTreeMap<Pc, Vec<(u64, Focus)>> = BTreeMap::new();
        let mut complete = false;
        while self.steps() < LIMIT && !complete {
            complete = !self.step(Cycle::MAX);
            let Some(note) = self.notes.last.as_ref().filter(|note| !complete && note.taken.is_some()) else {
                continue;
            };
            let count = counts.entry(note.pc).or_default();
            count.0 += 1;
            if note.diverges() {
                count.1 += 1;
                let focus = Focus { block: note.block, warp: note.warp };
                places.entry(note.pc).or_default().push((self.steps(), focus));
            }
        }
        let count = |(&pc, &(executed, divergent)): (&Pc, &(u64, u64))| BranchCount {
            pc,
            line: self.line(pc),
            executed,
            divergent,
        };
        let mut counts: Vec<BranchCount> = counts.iter().map(count).collect();
        counts.sort_by_key(|c| (std::cmp::Reverse(c.divergent), c.line));
        Survey { counts, places, complete }
    }
}
