//! Ranking of branches by divergence, from one pass over the run.

use std::collections::BTreeMap;

use super::debugger::Debugger;
use super::goal::Focus;
use crate::base::{Cycle, Pc};

/// Maximum steps of a survey.
const LIMIT: u64 = 400_000;

/// Executions of a conditional branch by all simulated warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchCount {
    /// PC of the branch.
    pub pc: Pc,
    /// Source line of the branch.
    pub line: u32,
    /// Number of executions.
    pub executed: u64,
    /// Number of divergent executions.
    pub divergent: u64,
}

/// Result of a survey.
pub(super) struct Survey {
    /// Branches, the most divergent first.
    counts: Vec<BranchCount>,
    /// Positions after divergent executions, with their warps, by branch.
    places: BTreeMap<Pc, Vec<(u64, Focus)>>,
    /// True if the survey covers the whole run.
    complete: bool,
}

impl Debugger<'_> {
    /// Returns the divergent branches, and true if the whole run was surveyed.
    ///
    /// The most divergent branch comes first.
    ///
    /// A longer run is surveyed up to step 400,000. The position does not change.
    pub fn survey(&mut self) -> (&[BranchCount], bool) {
        if self.survey.is_none() {
            let (steps, clock) = (self.steps(), self.clock());
            let survey = self.take_survey();
            self.come_back(steps, clock);
            self.survey = Some(survey);
        }
        self.survey.as_ref().map_or((&[], true), |survey| (&survey.counts, survey.complete))
    }

    /// Goes to the next divergent execution of the most divergent branch.
    ///
    /// The search wraps around at the end. Returns the branch and the warp, or `None` without a
    /// move if no branch diverges.
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
            let Some(note) =
                self.notes.last.as_ref().filter(|note| !complete && note.taken.is_some())
            else {
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
