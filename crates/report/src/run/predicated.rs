//! Predicated branches and the divergence they would have had as branches.

use serde::Serialize;

use super::{Origin, Run, StepInfo, average};
use crate::numbers::grouped;
use simt_core::observe::StepTotals;

/// A conditional branch whose sides are predicated.
/// No branch issues, all active lanes go through both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Predicated {
    /// Source line, from 1.
    pub line: u32,
    /// Text of the line.
    pub text: String,
    /// Source line in the file that the program was compiled from, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// PC of the first predicated step.
    pub pc: u32,
    /// Times a warp reached it.
    pub executed: u64,
    /// Times it would have diverged as a branch.
    /// Some but not all active lanes would have taken it.
    pub mixed: u64,
    /// Average number of active lanes.
    pub average_active_lanes: Option<f64>,
    /// Average number of lanes that would have taken the branch.
    pub taken_lanes_average: Option<f64>,
    /// Source line of the reconvergence point; `None` if one side ends.
    pub reconverges_at: Option<u32>,
}

/// Returns the branch that a step replaces, if any.
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
    /// Returns a note on the predicated branches and the divergence they would have had.
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
            0 => "as branches, they would not have diverged either".to_owned(),
            1 => "as branches, they would have diverged once".to_owned(),
            n => format!("as branches, they would have diverged {} times", grouped(n)),
        };
        Some(format!("{diverged}; {named}: {as_branches}. Try `--lowering as-written`."))
    }
}

/// Returns `2 were predicated (lines 9, 12)`, or `None` for no lines.
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
