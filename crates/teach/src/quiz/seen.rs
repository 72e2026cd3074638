//! Explanation of a figure of an assignment's program: its branches, and a picture of the relevant
//! access or branch.

use std::collections::BTreeMap;

use super::pictures::{banks, in_order, sectors};
use super::{AskError, Other, Revealed};
use crate::ask::draw;
use crate::ask::lab::Watched;
use crate::grade::{Assignment, Submission, replay, watch};
use simt_core::Program;
use simt_core::base::BlockId;
use simt_core::event::MemoryKind;
use simt_core::launch::Files;
use simt_core::observe::Issue;
use simt_report::metrics::Value;
use simt_report::simulate::Simulation;
use simt_report::{Ending, FigureTable, Picture};

/// Maximum number of recorded issues per warp.
const MOST_ISSUES: usize = 1000;
/// Figures of a whole run that a wrong prediction may match.
const METRICS: [&str; 10] = [
    "warps_launched",
    "threads_launched",
    "conditional_branches",
    "divergent_branch",
    "inst_executed",
    "barriers",
    "gld_requests",
    "gld_transactions",
    "shared_ld_bank_conflict",
    "elapsed_cycles",
];

/// A program under the launches of an assignment.
pub(super) struct Subject<'a> {
    assignment: &'a Assignment,
    submission: Submission,
    files: Files<'a>,
}

/// Subject of a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Focus<'a> {
    /// Metric asked for.
    pub(super) metric: Option<&'static str>,
    /// Text in the first line of the question's excerpt.
    pub(super) from: Option<&'a str>,
}

/// Executions of a branch in one block.
#[derive(Clone, Debug, Default)]
struct Fork {
    executed: u64,
    diverged: u64,
    text: String,
    /// First warp that it split.
    warp: Option<u32>,
}

impl<'a> Subject<'a> {
    /// Creates a subject from a program that passes as a submission.
    pub(super) fn new(
        assignment: &'a Assignment,
        program: &Program,
        files: Files<'a>,
    ) -> Result<Subject<'a>, AskError> {
        let submission = Submission::read(assignment, &program.name, &program.text)
            .map_err(|why| AskError::Program { program: program.name.clone(), why })?;
        Ok(Subject { assignment, submission, files })
    }

    /// Name of the program.
    pub(super) fn name(&self) -> &str {
        &self.submission.program.name
    }

    /// Runs the program with all counters.
    pub(super) fn run(&self, run: usize) -> Result<Simulation, AskError> {
        replay(self.assignment, &self.submission, run, self.files)
            .map_err(|why| self.does_not_run(why))
    }

    fn watch(&self, run: usize, block: u32) -> Result<Watched, AskError> {
        let recording = watch(
            self.assignment,
            &self.submission,
            run,
            (BlockId(block), MOST_ISSUES),
            self.files,
        );
        recording.map(Watched::new).map_err(|why| self.does_not_run(why))
    }

    fn does_not_run(&self, why: String) -> AskError {
        AskError::Program { program: self.name().to_owned(), why }
    }

    /// Collects the branches of one block and of all, a picture, and the outcome. The caller fills
    /// in the answer.
    pub(super) fn look(&self, run: usize, focus: Focus<'_>) -> Result<Revealed, AskError> {
        let simulation = self.run(run)?;
        let (block, watched) = self.block_of_interest(run, &simulation)?;
        let forks = forks(&watched);
        let mut revealed = Revealed::default();
        for (line, fork) in &forks {
            let of = |what: &str| {
                format!("the number of times line {line} (`{}`) {what} in block {block}", fork.text)
            };
            revealed.others.push(Other { value: fork.diverged as f64, what: of("split a warp") });
            revealed.others.push(Other { value: fork.executed as f64, what: of("was executed") });
        }
        let mut table = FigureTable::new(
            "Branches",
            &[
                "line",
                &format!("executed, block {block}"),
                &format!("diverged, block {block}"),
                "executed, all",
                "diverged, all",
            ],
        );
        for branch in &simulation.run.branches {
            let here = forks.get(&branch.line).cloned().unwrap_or_default();
            let text = branch.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let of = |what: &str| {
                format!("the number of times line {} (`{text}`) {what} in all blocks", branch.line)
            };
            revealed
                .others
                .push(Other { value: branch.divergent as f64, what: of("split a warp") });
            revealed.others.push(Other { value: branch.executed as f64, what: of("was executed") });
            let row = [here.executed, here.diverged, branch.executed, branch.divergent];
            table.row(format!("{}: {text}", branch.line), row.map(Into::into));
        }
        revealed.table = Some(table).filter(|table| !table.rows.is_empty());
        for name in METRICS {
            if let Some(value) = simulation.run.metric(name).map(Value::as_f64) {
                revealed.others.push(Other { value, what: format!("`{name}` of the whole run") });
            }
        }
        revealed.pictures.extend(picture(&watched, block, &forks, focus));
        if simulation.run.finish != Ending::Ok {
            let why =
                simulation.run.verdict.as_ref().map_or("", |verdict| verdict.message.as_str());
            revealed
                .because
                .push(format!("The run ended in {}: {why}.", simulation.run.finish.name()));
        }
        Ok(revealed)
    }

    /// Picks the first block, unless only others diverge. Then the last block of the first row or
    /// the last of all, where data edges usually are.
    fn block_of_interest(
        &self,
        run: usize,
        simulation: &Simulation,
    ) -> Result<(u32, Watched), AskError> {
        let [across, down, deep] = simulation.launch.grid;
        let all = across.saturating_mul(down).saturating_mul(deep);
        let first = self.watch(run, 0)?;
        if simulation.run.branches.iter().all(|branch| branch.divergent == 0) || splits(&first) {
            return Ok((0, first));
        }
        for block in [across.saturating_sub(1), all.saturating_sub(1)] {
            let watched = self.watch(run, block)?;
            if splits(&watched) {
                return Ok((block, watched));
            }
        }
        Ok((0, first))
    }
}

fn splits(watched: &Watched) -> bool {
    watched.warps().any(|warp| watched.issues(warp).any(Issue::diverges))
}

/// Collects the branches of a block, by line.
fn forks(watched: &Watched) -> BTreeMap<u32, Fork> {
    let mut forks: BTreeMap<u32, Fork> = BTreeMap::new();
    for warp in watched.warps() {
        for issue in watched.issues(warp).filter(|issue| issue.taken.is_some()) {
            let fork = forks.entry(watched.line(issue.pc)).or_default();
            fork.executed += 1;
            fork.diverged += u64::from(issue.diverges());
            fork.warp = fork.warp.or(issue.diverges().then_some(warp));
            if fork.text.is_empty() {
                fork.text = watched.source(issue.pc);
            }
        }
    }
    forks
}

/// Draws the most relevant access or branch. The worst access for a memory metric, else the branch
/// that split warps most often, else the lanes of a warp.
fn picture(
    watched: &Watched,
    block: u32,
    forks: &BTreeMap<u32, Fork>,
    focus: Focus<'_>,
) -> Option<Picture> {
    let at = |what: &str, warp: u32, issue: &Issue| {
        format!(
            "Block {block}, warp {warp}: {what} of `{}`, line {}",
            watched.source(issue.pc),
            watched.line(issue.pc)
        )
    };
    let metric = focus.metric.unwrap_or_default();
    if metric.starts_with("shared") {
        let (warp, issue) = worst(watched, MemoryKind::Shared)?;
        return Some(banks(at("the banks", warp, issue), issue));
    }
    if metric.starts_with("gld") || metric.starts_with("gst") {
        let (warp, issue) = worst(watched, MemoryKind::Global)?;
        return Some(sectors(at("the sectors", warp, issue), issue));
    }
    let split = forks.values().filter_map(|fork| Some((fork.diverged, fork, fork.warp?)));
    if let Some((_, fork, warp)) = split.max_by_key(|(diverged, ..)| *diverged) {
        let title = format!(
            "Block {block}, warp {warp} at `{}` (# takes the branch, - does not)",
            fork.text
        );
        return Some(draw::only(title, watched, warp, &fork.text));
    }
    let warp = watched.warps().next()?;
    Some(in_order(
        format!("Block {block}, warp {warp}, issue by issue"),
        watched,
        warp,
        focus.from.unwrap_or_default(),
    ))
}

/// Finds the first access of a block with the highest cost in one memory.
fn worst(watched: &Watched, memory: MemoryKind) -> Option<(u32, &Issue)> {
    let issues =
        watched.warps().flat_map(|warp| watched.issues(warp).map(move |issue| (warp, issue)));
    let cost = |(_, issue): &(u32, &Issue)| {
        issue.traffic.map(|traffic| {
            (traffic.wavefronts.max(traffic.sectors), std::cmp::Reverse(issue.cycle))
        })
    };
    issues
        .filter(|(_, issue)| issue.traffic.is_some_and(|traffic| traffic.memory == memory))
        .max_by_key(cost)
}
