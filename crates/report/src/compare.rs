//! Comparison of two runs.
//! Figures with ratios, branches, and the first difference in their issue streams.
//!
//! A [`Comparison`] is made from two finished [`Run`]s and the issue streams of block 0 in each.
//! Ratios are always B to A. Nothing is simulated here.

mod lines;

pub use lines::LinePair;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::metrics::{self, Group, Value};
use super::numbers::{grouped, real};
use super::run::{Ending, Named, Run, StepInfo, predication};
use simt_core::base::{LaneMask, Pc};

/// A comparison of two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// [`Comparison::SCHEMA`].
    pub schema: &'static str,
    /// First run.
    pub a: Side,
    /// Second run.
    pub b: Side,
    /// Metrics that at least one side has, in table order.
    pub figures: Vec<Figure>,
    /// Conditional branches of both runs, if they ran the same kernel text.
    pub branches: Vec<BranchPair>,
    /// CUDA lines of both runs, if one is PTX and the other its machine code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LinePair>,
    /// First difference in the issue streams, as far as they were compared. PTX and machine code
    /// are not.
    pub parting: Option<Parting>,
    /// True if the issue streams were compared to their ends.
    pub compared_to_the_end: bool,
    /// Notes to the reader, one sentence each.
    pub notes: Vec<String>,
    /// Summary in one or two sentences.
    pub closing: String,
}

/// One of the two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Short name that distinguishes the run from the other.
    pub name: String,
    /// Program.
    pub program: String,
    /// Kernel.
    pub kernel: String,
    /// `pre-volta` or `volta`.
    pub mode: String,
    /// Architecture of its machine code; absent for PTX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<String>,
    /// Machine.
    pub machine: String,
    /// Named constants of the run.
    pub constants: Named<String, i64>,
    /// Outcome of the run.
    pub finish: Ending,
    /// True if the run finished and every expectation holds.
    pub passed: bool,
    /// Accuracy label of its cycles; absent without a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
}

/// One metric of both runs.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Metric name.
    pub metric: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Group.
    #[serde(skip)]
    pub group: Group,
    /// Value in run A.
    pub a: Option<Value>,
    /// Value in run B.
    pub b: Option<Value>,
    /// Ratio B to A; `None` if it is not a number or a run did not finish.
    pub ratio: Option<f64>,
}

/// A conditional branch in both runs; arrays hold A's figure, then B's.
#[derive(Clone, Debug, Serialize)]
pub struct BranchPair {
    /// Source line.
    pub line: u32,
    /// Text of the line.
    pub text: String,
    /// Times a warp executed it.
    pub executed: [u64; 2],
    /// Times it diverged; for a predicated branch, times it would have.
    pub divergent: [u64; 2],
    /// True for each run in which it was predicated.
    pub predicated: [bool; 2],
}

impl BranchPair {
    /// Formats its divergence in one of the runs: `12`, or `p12` if it was predicated.
    pub fn divergence(&self, side: usize) -> String {
        let mark = if self.predicated[side] { "p" } else { "" };
        format!("{mark}{}", grouped(self.divergent[side]))
    }
}

/// First differing issue of a warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parting {
    /// Warp index in the block.
    pub warp: u32,
    /// Index of the issue among the warp's instructions, from 0.
    /// All earlier ones are equal.
    pub issue: usize,
    /// Issue in A; `None` if the warp had ended.
    pub a: Option<StreamIssue>,
    /// Issue in B; `None` if the warp had ended.
    pub b: Option<StreamIssue>,
}

/// One issued instruction of a warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamIssue {
    /// Source line.
    pub line: u32,
    /// Text of the line.
    pub text: String,
    /// Active mask.
    #[serde(serialize_with = "in_hexadecimal")]
    pub active: LaneMask,
}

fn in_hexadecimal<S: Serializer>(mask: &LaneMask, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(mask)
}

/// Issue streams of the warps of one block.
#[derive(Clone, Debug)]
pub struct IssueStreams {
    /// Steps of the stream, by `Pc`.
    pub steps: Vec<StepInfo>,
    /// Issued steps with active masks, by warp, without join steps.
    pub warps: Vec<Vec<(Pc, LaneMask)>>,
    /// True if the streams are complete; recording stops after a maximum number of issues.
    pub complete: bool,
}

impl IssueStreams {
    fn warp(&self, warp: usize) -> &[(Pc, LaneMask)] {
        self.warps.get(warp).map_or(&[], Vec::as_slice)
    }

    fn issue(&self, warp: usize, number: usize) -> Option<StreamIssue> {
        let &(pc, active) = self.warp(warp).get(number)?;
        let info = self.steps.get(pc.index())?;
        Some(StreamIssue { line: info.line, text: info.text.clone(), active })
    }

    fn text(&self, pc: Pc) -> Option<&str> {
        self.steps.get(pc.index()).map(|info| info.text.as_str())
    }
}

impl Comparison {
    /// Schema tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/compare/1";

    /// Compares `b` with `a`. `streams` are the issue streams of the same block in both.
    pub fn new(a: &Run, b: &Run, streams: [&IssueStreams; 2]) -> Comparison {
        let [name_a, name_b] = names(a, b);
        let (a_side, b_side) = (side(name_a, a), side(name_b, b));
        let closing = closing(&a_side, &b_side, a, b);
        let comparable = a.machine_code.is_some() == b.machine_code.is_some();
        Comparison {
            schema: Comparison::SCHEMA,
            figures: figures(a, b),
            branches: branches(a, b),
            lines: lines::pairs(a, b),
            parting: if comparable { parting(streams) } else { None },
            compared_to_the_end: comparable && streams.iter().all(|s| s.complete),
            notes: notes(a, b),
            closing,
            a: a_side,
            b: b_side,
        }
    }

    /// Returns true if one side is PTX and the other machine code, whose instructions differ.
    pub fn is_of_two_languages(&self) -> bool {
        self.a.machine_code.is_some() != self.b.machine_code.is_some()
    }

    /// Returns the figure of the metric called `name`.
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|f| f.metric == name)
    }

    /// Returns the comparison as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}

/// Returns the shortest names that distinguish the runs.
/// They are the first difference among kernel, file, mode, machine, constants and shape.
fn names(a: &Run, b: &Run) -> [String; 2] {
    let constants = |run: &Run, other: &Run| -> Vec<String> {
        let differs = |(name, value): &&(String, i64)| other.constants.get(name) != Some(value);
        run.constants
            .0
            .iter()
            .filter(differs)
            .map(|(name, value)| format!("{name} = {value}"))
            .collect()
    };
    let shape = |run: &Run| format!("grid {:?} block {:?}", run.grid, run.block);
    let candidates = [
        [a.kernel.clone(), b.kernel.clone()],
        [a.program.clone(), b.program.clone()],
        [a.mode.clone(), b.mode.clone()],
        [a.machine.clone(), b.machine.clone()],
        [constants(a, b).join(", "), constants(b, a).join(", ")],
        [shape(a), shape(b)],
    ];
    let found = candidates.into_iter().find(|[a, b]| a != b && !a.is_empty() && !b.is_empty());
    let found = found.unwrap_or_else(|| ["A".to_owned(), "B".to_owned()]);
    // With "volta" and "pre-volta" alone, a reader would take the modes for the only difference.
    let on = |name: String, run: &Run| {
        if name == run.machine { name } else { format!("{name} on {}", run.machine) }
    };
    let [first, second] = found;
    if a.machine == b.machine { [first, second] } else { [on(first, a), on(second, b)] }
}

/// Returns the notes of both runs; a note of only one run gets its letter.
fn notes(a: &Run, b: &Run) -> Vec<String> {
    let both = a.notes.iter().filter(|note| b.notes.contains(note)).cloned();
    let only = |letter: &str, one: &Run, other: &Run| -> Vec<String> {
        one.notes
            .iter()
            .filter(|note| !other.notes.contains(note))
            .map(|note| format!("{letter}: {note}"))
            .collect()
    };
    both.chain(only("A", a, b)).chain(only("B", b, a)).collect()
}

fn side(name: String, run: &Run) -> Side {
    let cycles = metrics::find("elapsed_cycles");
    Side {
        trust: cycles.filter(|_| run.is_timed()).map(|metric| run.trust_of(metric)),
        name,
        program: run.program.clone(),
        kernel: run.kernel.clone(),
        mode: run.mode.clone(),
        machine_code: run.machine_code.clone(),
        machine: run.machine.clone(),
        constants: run.constants.clone(),
        finish: run.finish,
        passed: run.finish == Ending::Ok && run.passed(),
    }
}

fn figures(a: &Run, b: &Run) -> Vec<Figure> {
    let ended = [a, b].iter().all(|run| run.finish == Ending::Ok);
    let figure = |m: &metrics::Metric| {
        let (a, b) = (a.metric(m.name), b.metric(m.name));
        let ratio =
            a.zip(b).map(|(a, b)| b.as_f64() / a.as_f64()).filter(|r| r.is_finite() && ended);
        let (metric, unit, group) = (m.name, m.unit, m.group);
        (a.is_some() || b.is_some()).then_some(Figure { metric, unit, group, a, b, ratio })
    };
    metrics::all().iter().filter_map(figure).collect()
}

/// Pairs the branches of both runs, if they ran the same text.
fn branches(a: &Run, b: &Run) -> Vec<BranchPair> {
    if (&a.program, &a.kernel) != (&b.program, &b.kernel) {
        return Vec::new();
    }
    // Predication renumbers instructions, but the branches of one line keep their order.
    let [a, b] = [a, b].map(of_lines);
    let pair = |(key, left): (&(u32, usize), &OneBranch)| {
        let right = b.get(key)?;
        Some(BranchPair {
            line: key.0,
            text: left.text.clone(),
            executed: [left.executed, right.executed],
            divergent: [left.divergent, right.divergent],
            predicated: [left.predicated, right.predicated],
        })
    };
    a.iter().filter_map(pair).collect()
}

/// An issued or predicated branch in one of the runs.
struct OneBranch {
    text: String,
    executed: u64,
    divergent: u64,
    predicated: bool,
}

/// Returns the branches of a run by line and by order within the line.
fn of_lines(run: &Run) -> BTreeMap<(u32, usize), OneBranch> {
    let issued =
        run.branches.iter().map(|b| (b.pc, b.line, &b.text, b.executed, b.divergent, false));
    let replaced =
        run.predicated.iter().map(|b| (b.pc, b.line, &b.text, b.executed, b.mixed, true));
    let mut all: Vec<_> = issued.chain(replaced).collect();
    all.sort_by_key(|&(pc, ..)| pc);
    let mut found = BTreeMap::new();
    for (_, line, text, executed, divergent, predicated) in all {
        let nth = found.range((line, 0)..=(line, usize::MAX)).count();
        found
            .insert((line, nth), OneBranch { text: text.clone(), executed, divergent, predicated });
    }
    found
}

/// Finds the earliest difference between the streams.
/// Of the warps that differ, it is the one with the fewest equal issues.
fn parting([a, b]: [&IssueStreams; 2]) -> Option<Parting> {
    let of_warp = |warp: usize| {
        let (left, right) = (a.warp(warp), b.warp(warp));
        let same = |((pc, active), (other, mask)): &(&(Pc, LaneMask), &(Pc, LaneMask))| {
            active == mask && a.text(*pc) == b.text(*other)
        };
        let issue = left.iter().zip(right).take_while(same).count();
        // A recording that was cut short is not the end of the stream.
        let cut = (issue == left.len() && !a.complete) || (issue == right.len() && !b.complete);
        let differs = issue < left.len().max(right.len());
        (differs && !cut).then(|| Parting {
            warp: warp as u32,
            issue,
            a: a.issue(warp, issue),
            b: b.issue(warp, issue),
        })
    };
    (0..a.warps.len().max(b.warps.len())).filter_map(of_warp).min_by_key(|p| (p.issue, p.warp))
}

/// Summarizes the comparison in a sentence.
/// "reduceInterleaved issues 3.0x fewer instructions; 2,949,120 of 3,112,960 divergent branches are
/// gone (90 of 95 per block)."
fn closing(a_side: &Side, b_side: &Side, a: &Run, b: &Run) -> String {
    let (left, right) = (a_side.name.as_str(), b_side.name.as_str());
    if a.finish != Ending::Ok || b.finish != Ending::Ok {
        let ends = match a.finish == b.finish {
            true => format!("Both runs end in the same way: {}.", a.finish.title()),
            false => format!("{left}: {}; {right}: {}.", a.finish.title(), b.finish.title()),
        };
        return format!(
            "{ends} An unfinished run has no result: its figures cover the run up to that point."
        );
    }
    let count = |run: &Run, name: &str| run.metric(name).map_or(0, |v| v.as_f64() as u64);
    let mut parts = Vec::new();
    let (before, after) = (count(a, "inst_executed"), count(b, "inst_executed"));
    parts.push(match more_or_fewer(before, after) {
        Some((times, more)) => {
            format!("{right} issues {times}x {} instructions", if more { "more" } else { "fewer" })
        }
        None if before == after => format!("{right} issues the same number of instructions"),
        None => format!("{right} issues about the same number of instructions"),
    });
    parts.push(divergence(a, b, count(a, "divergent_branch"), count(b, "divergent_branch")));
    if a.is_timed() && b.is_timed() {
        let (before, after) = (a.cycles, b.cycles);
        parts.push(match more_or_fewer(before, after) {
            Some((times, true)) => format!("it takes {times}x the cycles"),
            Some((times, false)) => format!("it is {times}x faster"),
            None if before == after => "it takes the same number of cycles".to_owned(),
            None => {
                format!(
                    "it takes about the same number of cycles ({} instead of {})",
                    grouped(after),
                    grouped(before)
                )
            }
        });
    }
    format!("Compared with {left}, {}.", parts.join("; "))
}

/// Returns the ratio of the larger to the smaller number.
/// The flag is true if the second is larger. `None` below 1 %.
fn more_or_fewer(before: u64, after: u64) -> Option<(String, bool)> {
    let (small, large) = (before.min(after), before.max(after));
    let ratio = large as f64 / small.max(1) as f64;
    (small > 0 && ratio >= 1.01).then(|| (real(ratio), after > before))
}

fn divergence(a: &Run, b: &Run, before: u64, after: u64) -> String {
    let per_block = blocks(a);
    let each = |n: u64, of: u64| {
        let even = per_block > 1
            && per_block == blocks(b)
            && n.is_multiple_of(per_block)
            && of.is_multiple_of(per_block);
        even.then(|| (n / per_block, of / per_block))
    };
    match (before, after) {
        (0, 0) => match [a, b].map(predicated) {
            [None, None] => "no divergent branch in either run".to_owned(),
            [one, other] if one == other => {
                format!("no divergent branch in either run; {}", one.unwrap_or_default())
            }
            [one, other] => {
                let none = || "none was predicated".to_owned();
                let [one, other] = [one, other].map(|those| those.unwrap_or_else(none));
                format!("no divergent branch in either run; in A {one}, in B {other}")
            }
        },
        (before, after) if before == after => {
            format!("the same number of divergent branches ({})", grouped(after))
        }
        (before, 0) => format!("all {} divergent branches are gone", grouped(before)),
        (before, after) if after < before => {
            let gone = before - after;
            let block = each(gone, before)
                .map(|(n, of)| format!(" ({n} of {of} per block)"))
                .unwrap_or_default();
            format!("{} of {} divergent branches are gone{block}", grouped(gone), grouped(before))
        }
        (before, after) => {
            format!("{} divergent branches instead of {}", grouped(after), grouped(before))
        }
    }
}

/// Names the branches that a run predicated.
fn predicated(run: &Run) -> Option<String> {
    predication(&run.predicated.iter().map(|branch| branch.line).collect::<Vec<_>>())
}

fn blocks(run: &Run) -> u64 {
    run.grid.iter().map(|&n| u64::from(n)).product()
}

#[cfg(test)]
mod tests;
