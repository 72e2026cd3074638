//! Two runs side by side: what differs, by how much, and where their issue streams part.
//!
//! A [`Comparison`] is made from two finished [`Run`]s and from what the warps of block 0 issued in each. Ratios are always B to A.
//! Nothing is simulated here.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::metrics::{self, Group, Value};
use super::numbers::{grouped, real};
use super::run::{Finish, Named, Run, StepInfo, predication};
use simt_core::base::{LaneMask, Pc};

/// Two runs, compared.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// [`Comparison::SCHEMA`].
    pub schema: &'static str,
    /// The first run.
    pub a: Side,
    /// The second run.
    pub b: Side,
    /// Every metric that at least one side has, in the order of the table of metrics.
    pub figures: Vec<Figure>,
    /// The conditional branches of both, when both ran the same kernel text.
    pub branches: Vec<BranchPair>,
    /// Where the issue streams part; none when they are equal as far as they were compared.
    pub parting: Option<Parting>,
    /// Whether the issue streams were compared to their ends.
    pub compared_to_the_end: bool,
    /// What else a reader must know of the runs, a sentence each.
    pub notes: Vec<String>,
    /// What it comes to, in a sentence or two.
    pub closing: String,
}

/// One of the two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// What tells it from the other, in a word or two.
    pub name: String,
    /// The program.
    pub program: String,
    /// The kernel.
    pub kernel: String,
    /// `pre-volta` or `volta`.
    pub mode: String,
    /// The machine.
    pub machine: String,
    /// The named constants in force.
    pub constants: Named<String, i64>,
    /// How it ended.
    pub finish: Finish,
    /// Whether it ended well and every expectation holds.
    pub passed: bool,
    /// How far to trust its cycles.
    pub trust: String,
}

/// One number of both runs.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The metric's name.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its group.
    #[serde(skip)]
    pub group: Group,
    /// In the first run.
    pub a: Option<Value>,
    /// In the second run.
    pub b: Option<Value>,
    /// The second over the first; none when that is not a number, or when a run did not end.
    pub ratio: Option<f64>,
}

/// A conditional branch in both runs: first A's figure, then B's.
#[derive(Clone, Debug, Serialize)]
pub struct BranchPair {
    /// Its source line.
    pub line: u32,
    /// That line's text.
    pub text: String,
    /// Times a warp executed it.
    pub executed: [u64; 2],
    /// Of those, how often its lanes disagreed: a real branch diverged, a predicated one would have.
    pub divergent: [u64; 2],
    /// In which of the runs it was predicated.
    pub predicated: [bool; 2],
}

impl BranchPair {
    /// The cell of its divergence in one of the runs: `12`, or `p12` where it was predicated.
    pub fn divergence(&self, side: usize) -> String {
        let mark = if self.predicated[side] { "p" } else { "" };
        format!("{mark}{}", grouped(self.divergent[side]))
    }
}

/// The first issue of a warp that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parting {
    /// The warp's index in its block.
    pub warp: u32,
    /// The number of the issue among the program's instructions that the warp issued, from 0; all before are equal.
    pub issue: usize,
    /// What A issued; none when its warp had ended.
    pub a: Option<StreamIssue>,
    /// What B issued; none when its warp had ended.
    pub b: Option<StreamIssue>,
}

/// One instruction that a warp issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamIssue {
    /// Its source line.
    pub line: u32,
    /// That line's text.
    pub text: String,
    /// The active mask.
    #[serde(serialize_with = "in_hexadecimal")]
    pub active: LaneMask,
}

fn in_hexadecimal<S: Serializer>(mask: &LaneMask, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(mask)
}

/// What the warps of one block issued, step by step.
#[derive(Clone, Debug)]
pub struct IssueStreams {
    /// The steps of the stream, by `Pc`.
    pub steps: Vec<StepInfo>,
    /// For each warp of the block the steps it issued with their active masks, in order, join steps left out.
    pub warps: Vec<Vec<(Pc, LaneMask)>>,
    /// Whether these are all: recording stops after so many issues.
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
    /// The tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/compare/1";

    /// Compares `b` with `a`. `streams` are the issue streams of the same block's warps in both.
    pub fn new(a: &Run, b: &Run, streams: [&IssueStreams; 2]) -> Comparison {
        let [name_a, name_b] = names(a, b);
        let (a_side, b_side) = (side(name_a, a), side(name_b, b));
        let closing = closing(&a_side, &b_side, a, b);
        Comparison {
            schema: Comparison::SCHEMA,
            figures: figures(a, b),
            branches: branches(a, b),
            parting: parting(streams),
            compared_to_the_end: streams.iter().all(|s| s.complete),
            notes: notes(a, b),
            closing,
            a: a_side,
            b: b_side,
        }
    }

    /// The figure of the metric called `name`.
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|f| f.metric == name)
    }

    /// The comparison as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}

/// The shortest names that tell the runs apart: what differs first of kernel, file, mode, machine, constants and shape.
fn names(a: &Run, b: &Run) -> [String; 2] {
    let constants = |run: &Run, other: &Run| -> Vec<String> {
        let differs = |(name, value): &&(String, i64)| other.constants.get(name) != Some(value);
        run.constants.0.iter().filter(differs).map(|(name, value)| format!("{name} = {value}")).collect()
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
    // Whoever reads of "volta" and "pre-volta" would take the modes for the whole difference.
    let on = |name: String, run: &Run| if name == run.machine { name } else { format!("{name} on {}", run.machine) };
    let [first, second] = found;
    if a.machine == b.machine { [first, second] } else { [on(first, a), on(second, b)] }
}

/// The notes of both, those of only one with its letter.
fn notes(a: &Run, b: &Run) -> Vec<String> {
    let both = a.notes.iter().filter(|note| b.notes.contains(note)).cloned();
    let only = |letter: &str, one: &Run, other: &Run| -> Vec<String> {
        one.notes.iter().filter(|note| !other.notes.contains(note)).map(|note| format!("{letter}: {note}")).collect()
    };
    both.chain(only("A", a, b)).chain(only("B", b, a)).collect()
}

fn side(name: String, run: &Run) -> Side {
    let cycles = metrics::find("elapsed_cycles");
    Side {
        trust: cycles.map_or_else(String::new, |metric| run.trust_of(metric)),
        name,
        program: run.program.clone(),
        kernel: run.kernel.clone(),
        mode: run.mode.clone(),
        machine: run.machine.clone(),
        constants: run.constants.clone(),
        finish: run.finish,
        passed: run.finish == Finish::Ok && run.passed(),
    }
}

fn figures(a: &Run, b: &Run) -> Vec<Figure> {
    let ended = [a, b].iter().all(|run| run.finish == Finish::Ok);
    let figure = |m: &metrics::Metric| {
        let (a, b) = (a.metric(m.name), b.metric(m.name));
        let ratio = a.zip(b).map(|(a, b)| b.as_f64() / a.as_f64()).filter(|r| r.is_finite() && ended);
        let (metric, unit, group) = (m.name, m.unit, m.group);
        (a.is_some() || b.is_some()).then_some(Figure { metric, unit, group, a, b, ratio })
    };
    metrics::all().iter().filter_map(figure).collect()
}

/// The branches of both, when both ran the same text.
fn branches(a: &Run, b: &Run) -> Vec<BranchPair> {
    if (&a.program, &a.kernel) != (&b.program, &b.kernel) {
        return Vec::new();
    }
    // Instructions have other numbers where other branches are predicated; a line's branches keep their order.
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

/// A branch in one of the runs, whether it was issued or predicated.
struct OneBranch {
    text: String,
    executed: u64,
    divergent: u64,
    predicated: bool,
}

/// The branches of a run by line, and by their order in it.
fn of_lines(run: &Run) -> BTreeMap<(u32, usize), OneBranch> {
    let issued = run.branches.iter().map(|b| (b.pc, b.line, &b.text, b.executed, b.divergent, false));
    let replaced = run.predicated.iter().map(|b| (b.pc, b.line, &b.text, b.executed, b.mixed, true));
    let mut all: Vec<_> = issued.chain(replaced).collect();
    all.sort_by_key(|&(pc, ..)| pc);
    let mut found = BTreeMap::new();
    for (_, line, text, executed, divergent, predicated) in all {
        let nth = found.range((line, 0)..=(line, usize::MAX)).count();
        found.insert((line, nth), OneBranch { text: text.clone(), executed, divergent, predicated });
    }
    found
}

/// The earliest difference: of the warps whose streams differ, the one that parts after the fewest issues.
fn parting([a, b]: [&IssueStreams; 2]) -> Option<Parting> {
    let of_warp = |warp: usize| {
        let (left, right) = (a.warp(warp), b.warp(warp));
        let same = |((pc, active), (other, mask)): &(&(Pc, LaneMask), &(Pc, LaneMask))| {
            active == mask && a.text(*pc) == b.text(*other)
        };
        let issue = left.iter().zip(right).take_while(same).count();
        // A stream that was cut short did not end there.
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

/// "reduceInterleaved issues 3.0x fewer instructions; 2,949,120 of 3,112,960 divergent branches are gone (90 of 95 a block)."
fn closing(a_side: &Side, b_side: &Side, a: &Run, b: &Run) -> String {
    let (left, right) = (a_side.name.as_str(), b_side.name.as_str());
    if a.finish != Finish::Ok || b.finish != Finish::Ok {
        let ends = match a.finish == b.finish {
            true => format!("Both end in the same way: {}.", a.finish.title()),
            false => format!("{left}: {}; {right}: {}.", a.finish.title(), b.finish.title()),
        };
        return format!("{ends} A run that did not end has no result: its figures are those of what ran until then.");
    }
    let count = |run: &Run, name: &str| run.metric(name).map_or(0, |v| v.as_f64() as u64);
    let mut parts = Vec::new();
    let (before, after) = (count(a, "inst_executed"), count(b, "inst_executed"));
    parts.push(match more_or_fewer(before, after) {
        Some((times, more)) => format!("{right} issues {times}x {} instructions", if more { "more" } else { "fewer" }),
        None if before == after => format!("{right} issues as many instructions"),
        None => format!("{right} issues about as many instructions"),
    });
    parts.push(divergence(a, b, count(a, "divergent_branch"), count(b, "divergent_branch")));
    parts.push(match more_or_fewer(a.cycles, b.cycles) {
        Some((times, true)) => format!("it takes {times}x the cycles"),
        Some((times, false)) => format!("it is {times}x faster"),
        None if a.cycles == b.cycles => "it takes the same cycles".to_owned(),
        None => format!("it takes about the same cycles ({} against {})", grouped(b.cycles), grouped(a.cycles)),
    });
    format!("Against {left}, {}.", parts.join("; "))
}

/// By how much two numbers differ, as the larger over the smaller, and whether the second is the larger. `None` below 1 %.
fn more_or_fewer(before: u64, after: u64) -> Option<(String, bool)> {
    let (small, large) = (before.min(after), before.max(after));
    let ratio = large as f64 / small.max(1) as f64;
    (small > 0 && ratio >= 1.01).then(|| (real(ratio), after > before))
}

fn divergence(a: &Run, b: &Run, before: u64, after: u64) -> String {
    let per_block = blocks(a);
    let each = |n: u64, of: u64| {
        let even =
            per_block > 1 && per_block == blocks(b) && n.is_multiple_of(per_block) && of.is_multiple_of(per_block);
        even.then(|| (n / per_block, of / per_block))
    };
    match (before, after) {
        (0, 0) => match [a, b].map(predicated) {
            [None, None] => "no branch diverges in either".to_owned(),
            [one, other] if one == other => format!("no divergent branch in either; {}", one.unwrap_or_default()),
            [one, other] => {
                let none = || "none was predicated".to_owned();
                let [one, other] = [one, other].map(|those| those.unwrap_or_else(none));
                format!("no divergent branch in either; in A {one}, in B {other}")
            }
        },
        (before, after) if before == after => format!("as many branches diverge ({})", grouped(after)),
        (before, 0) => format!("all {} divergent branches are gone", grouped(before)),
        (before, after) if after < before => {
            let gone = before - after;
            let block = each(gone, before).map(|(n, of)| format!(" ({n} of {of} a block)")).unwrap_or_default();
            format!("{} of {} divergent branches are gone{block}", grouped(gone), grouped(before))
        }
        (before, after) => format!("{} branches diverge instead of {}", grouped(after), grouped(before)),
    }
}

/// Which branches a run predicated, in words.
fn predicated(run: &Run) -> Option<String> {
    predication(&run.predicated.iter().map(|branch| branch.line).collect::<Vec<_>>())
}

fn blocks(run: &Run) -> u64 {
    run.grid.iter().map(|&n| u64::from(n)).product()
}

#[cfg(test)]
mod tests;
