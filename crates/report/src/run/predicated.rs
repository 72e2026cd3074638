//! Branches that became predication: what their lanes did all the same.

use serde::Serialize;

use super::{Origin, Run, StepInfo, average};
use crate::numbers::grouped;
use simt_core::observe::StepTotals;

/// A conditional branch whose sides are guarded instructions: no branch is issued, all active lanes go through both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Predicated {
    /// Its source line, from 1.
    pub line: u32,
    /// That line's text.
    pub text: String,
    /// The line of another file that it was compiled from, where the program says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The step in its place: the first that is guarded.
    pub pc: u32,
    /// Times a warp came to its place.
    pub executed: u64,
    /// Times some but not all active lanes would have branched: a branch would have diverged.
    pub mixed: u64,
    /// Active lanes at an average time.
    pub average_active_lanes: Option<f64>,
    /// Lanes that would have branched at an average time.
    pub taken_lanes_average: Option<f64>,
    /// The source line at which its sides meet; none where one side ends.
    pub reconverges_at: Option<u32>,
}

/// The branch in whose place a step stands, if it does.
pub(super) fn of_step(pc: u32, step: &StepTotals, info: &StepInfo) -> Option<Predicated> {
    let branch = info.replaces.as_ref()?;
    let taken = match branch.executes_taken {
        true => step.executed_lanes,
        false => step.active_lanes.saturating_sub(step.executed_lanes),
    };
    Some(Predicated {
        line: branch.line,
        text: branch.text.clone(),
        origin: branch.origin.clone(),
        pc,
        executed: step.issues,
        mixed: step.mixed,
        average_active_lanes: average(step.active_lanes, step.issues),
        taken_lanes_average: average(taken, step.issues),
        reconverges_at: branch.reconverge_line,
    })
}

impl Run {
    /// What a reader of "no divergent branch" must know: which branches were predicated, and what they would have done.
    pub fn predication_note(&self) -> Option<String> {
        let lines: Vec<u32> = self.predicated.iter().map(|branch| branch.line).collect();
        let named = predication(&lines)?;
        let divergent: u64 = self.branches.iter().map(|branch| branch.divergent).sum();
        let mixed: u64 = self.predicated.iter().map(|branch| branch.mixed).sum();
        let diverged = match divergent {
            0 => "No divergent branch".to_owned(),
            1 => "One divergent branch".to_owned(),
            n => format!("{} divergent branches", grouped(n)),
        };
        let as_branches = match mixed {
            0 => "as branches they would not have diverged either".to_owned(),
            1 => "as branches they would have diverged once".to_owned(),
            n => format!("as branches they would have diverged {} times", grouped(n)),
        };
        Some(format!("{diverged}; {named}: {as_branches}. Try `--lowering as-written`."))
    }
}

/// `2 were predicated (lines 9, 12)`; nothing where none was.
pub fn predication(lines: &[u32]) -> Option<String> {
    const MOST: usize = 8;
    let mut named: Vec<u32> = lines.to_vec();
    named.sort_unstable();
    named.dedup();
    let list: Vec<String> = named.iter().take(MOST).map(u32::to_string).collect();
    let more = if named.len() > MOST { ", .." } else { "" };
    match (lines.len(), named.len()) {
        (0, _) => None,
        (1, _) => Some(format!("1 was predicated (line {})", list.join(""))),
        (n, 1) => Some(format!("{n} were predicated (line {})", list.join(""))),
        (n, _) => Some(format!("{n} were predicated (lines {}{more})", list.join(", "))),
    }
}
