//! Runs a submission under every launch of an assignment and records figures, without judging them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::assignment::Assignment;
use super::estimate::footprint;
use super::instructions::{self, Used};
use super::sanitise::{one_line, plain};
use super::submission::Submission;
use simt_core::Job;
use simt_core::base::BlockId;
use simt_core::diag::{Diagnostic, Severity};
use simt_core::launch::{Files, Launch};
use simt_core::machine::Options;
use simt_core::observe::Window;
use simt_report::metrics::Value;
use simt_report::simulate::{self, Simulation};
use simt_report::timeline::{Axis, MapStyle, Recording, lane_map};
use simt_report::{Ending, LaneGroup, Run, Style, Verdict};

/// Measurements of one submission.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Reason why nothing was run, if so.
    pub refused: Option<String>,
    /// Constants chosen by the submission.
    pub choices: BTreeMap<String, i64>,
    /// Notes for the student, a sentence each.
    pub notes: Vec<String>,
    /// Runs, in the order of [`Assignment::runs`].
    pub runs: Vec<Ran>,
    /// Instructions of the kernel.
    pub instructions: Vec<Used>,
    /// Lane map of the branch that diverged most often, with colours.
    pub map: Option<String>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// Outcome: a word of [`simt_core::launch::FINISHES`], or `error`.
    pub finish: String,
    /// Reason of the outcome.
    pub message: Option<String>,
    /// True if it ended normally and every expectation holds.
    pub passed: bool,
    /// Values found instead of the expected ones.
    pub details: Vec<String>,
    /// Metrics used by the assignment.
    pub metrics: BTreeMap<String, f64>,
    /// Simulated cycles; 0 if the run had no clock.
    pub cycles: u64,
    /// Instructions issued by an SM, on average.
    #[serde(default)]
    pub issues: u64,
    /// Findings of the checks; empty if none were enabled.
    pub findings: Vec<Found>,
}

/// A finding of the checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Code of the finding.
    pub code: String,
    /// True for an error.
    pub is_error: bool,
    /// Source positions, ascending: two runs have the same finding if these are equal.
    pub at: Vec<u32>,
    /// Message and places.
    pub text: String,
}

/// Limits of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimit {
    /// Cycles.
    pub cycles: u64,
    /// Instructions that an SM may issue in a run without a clock; beyond, the run is repeated with
    /// one. With 0, every run has a clock.
    pub issues: u64,
}

impl fmt::Display for RunLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.cycles, self.issues)
    }
}

impl FromStr for RunLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<RunLimit, String> {
        let limit = text.split_once(':').and_then(|(cycles, issues)| {
            Some(RunLimit { cycles: cycles.parse().ok()?, issues: issues.parse().ok()? })
        });
        limit.ok_or_else(|| format!("expected CYCLES:ISSUES, found `{text}`"))
    }
}

/// Maximum number of findings kept per run.
const MOST_FOUND: usize = 20;
/// Divisor of cycle limits after a run that reached its limit.
const AFTER_THE_FIRST: u64 = 10;
/// Maximum number of lane groups in the message of a hang or fault.
const MOST_LANES: usize = 3;
/// Maximum bytes of one message.
const MESSAGE: usize = 2000;
/// Issues per warp searched for the worst branch, and issues drawn from there.
const MAP: (usize, usize) = (400, 14);

/// Measures a submission. A run without one of the `limits` has the assignment's, and a clock.
pub fn measure(
    assignment: &Assignment,
    submission: &Submission,
    limits: &[RunLimit],
    files: Files<'_>,
) -> Measured {
    let mut measured = Measured {
        choices: submission.choices.clone(),
        notes: submission.notes.clone(),
        instructions: instructions::used(submission),
        ..Measured::default()
    };
    let names = assignment.metrics();
    // Open and hidden inputs separately: no open run may depend on a hidden one.
    let mut executed = [BTreeSet::new(), BTreeSet::new()];
    let mut worst: Option<(u64, u32, usize)> = None;
    let mut hurry = [1, 1];
    for run in 0..assignment.runs.len() {
        let side = usize::from(assignment.is_hidden(run));
        let mut limit = limits.get(run).copied().unwrap_or(timed(assignment));
        limit.cycles /= hurry[side];
        let (_, site) = assignment.runs[run];
        let sms = assignment.sites.get(site).map_or(1, |site| site.spec.sms);
        let (ran, done) = match one(assignment, submission, run, limit, files) {
            Ok((simulation, findings)) => {
                (ran(&simulation, &findings, submission, sms, &names), Some(simulation.run))
            }
            Err(message) => {
                (Ran { finish: "error".into(), message: Some(message), ..Ran::default() }, None)
            }
        };
        if let Some(done) = done {
            executed[side].extend(
                done.instructions.iter().filter(|row| row.executed > 0).map(|row| row.line),
            );
            worst = worst_branch(&done, run).filter(|_| !assignment.is_hidden(run)).max(worst);
        }
        if ran.finish == Ending::CycleLimit.name() {
            hurry[side] = AFTER_THE_FIRST;
        }
        measured.runs.push(ran);
    }
    for used in &mut measured.instructions {
        [used.executed, used.executed_hidden] =
            [0, 1].map(|side: usize| executed[side].contains(&used.line));
    }
    measured.map = worst.and_then(|(_, pc, run)| {
        // A run without a clock ended within the limit of issues.
        let cycles = match measured.runs.get(run)?.cycles {
            0 => assignment.spec.limits.cycles,
            cycles => cycles,
        };
        map(assignment, submission, (run, cycles), pc, files)
    });
    measured
}

/// Limit of a run that has a clock.
fn timed(assignment: &Assignment) -> RunLimit {
    RunLimit { cycles: assignment.spec.limits.cycles, issues: 0 }
}

/// Count, step and run of the branch that diverged most often.
fn worst_branch(done: &Run, run: usize) -> Option<(u64, u32, usize)> {
    done.branches.iter().filter(|b| b.divergent > 0).map(|b| (b.divergent, b.pc, run)).max()
}

fn launch(
    assignment: &Assignment,
    submission: &Submission,
    run: usize,
    files: Files<'_>,
) -> Result<Launch, String> {
    let (case, _) = assignment.runs.get(run).copied().unwrap_or_default();
    let case = assignment.spec.cases.get(case).ok_or("no such case")?;
    let reference =
        assignment.reference.kernel(Some(&assignment.spec.kernel)).map_err(|e| e.to_string())?;
    // The directives name the reference's kernel and parameters; the submission's have the same
    // layout.
    let mut called = submission.kernel().clone();
    called.name.clone_from(&reference.name);
    for (param, known) in called.params.iter_mut().zip(&reference.params) {
        param.name.clone_from(&known.name);
        param.ty = known.ty;
    }
    let overrides = assignment.overrides(case, &submission.choices);
    let mut launch =
        assignment.reference.plan.resolve(&called, &overrides, files).map_err(|found| {
            let first = found.first().map_or("invalid launch", |found| found.message.as_str());
            plain(first, MESSAGE)
        })?;
    launch.stack = Some(assignment.spec.limits.stack_kib.saturating_mul(1 << 10));
    Ok(launch)
}

fn options(
    assignment: &Assignment,
    run: usize,
    max_cycles: u64,
) -> Option<(&super::Site, Options)> {
    let site = assignment.runs.get(run).and_then(|&(_, site)| assignment.sites.get(site))?;
    Some((site, site.options(max_cycles)))
}

fn one(
    assignment: &Assignment,
    submission: &Submission,
    run: usize,
    limit: RunLimit,
    files: Files<'_>,
) -> Result<(Simulation, Vec<Diagnostic>), String> {
    let launch = launch(assignment, submission, run, files)?;
    let (site, options) = options(assignment, run, limit.cycles).ok_or("no such machine")?;
    let spec = &site.spec;
    let product =
        |sizes: [u32; 3]| sizes.iter().fold(1u64, |all, &n| all.saturating_mul(u64::from(n)));
    let resident = u64::from(spec.sms) * u64::from(spec.max_warps) * u64::from(spec.warp_size);
    let threads = product(launch.grid).saturating_mul(product(launch.block)).min(resident);
    let buffers: u64 = launch.buffers.iter().map(|buffer| buffer.bytes).sum();
    let bytes =
        footprint(&submission.program.module, threads).saturating_add(buffers.saturating_mul(2));
    let most = assignment.spec.limits.memory_mib;
    if bytes > most << 20 {
        return Err(format!(
            "it could use {} MiB of host memory ({threads} threads at a time); the limit is \
             {most} MiB",
            bytes >> 20
        ));
    }
    let (program, kernel) = (&submission.program, submission.kernel());
    let job = Job::new(program, kernel, launch, spec, options);
    let checks = assignment.checks_of(run);
    if limit.issues > 0 && !assignment.needs_time(run) {
        let mut counted = job.clone();
        counted.options.max_issues = limit.issues;
        let on = checks.unwrap_or_default();
        let done = simulate::without_time(counted, &(), on).map_err(|e| e.to_string())?;
        if let Some(simulation) = done {
            return Ok((simulation, Vec::new()));
        }
    }
    match checks {
        None => simulate::simulate(job, &()).map(|simulation| (simulation, Vec::new())),
        Some(checks) => simulate::simulate_checked(job, &(), checks)
            .map(|done| (done.simulation, done.findings)),
    }
    .map_err(|e| e.to_string())
}

fn ran(
    simulation: &Simulation,
    findings: &[Diagnostic],
    submission: &Submission,
    sms: u32,
    names: &BTreeSet<&'static str>,
) -> Ran {
    let run = &simulation.run;
    let failed = run.expectations.iter().filter(|e| !e.passed);
    let value = |name: &str| Some((name.to_owned(), run.metric(name).map(Value::as_f64)?));
    let lines = submission.lines();
    let found = |finding: &Diagnostic| {
        let mut at: Vec<u32> = finding.labels.iter().map(|l| l.span.start).collect();
        at.sort_unstable();
        let places = finding.labels.iter().map(|l| format!("\n{}", lines.say(l.span, &l.text)));
        Found {
            code: finding.code.to_owned(),
            is_error: finding.severity == Severity::Error,
            at,
            text: plain(&format!("{}{}", finding.message, places.collect::<String>()), MESSAGE),
        }
    };
    let verdict = |verdict: &Verdict| {
        let lanes = verdict.lanes.iter().take(MOST_LANES);
        let words = |l: &LaneGroup| {
            format!("block {} warp {} {}: {}; {}", l.block, l.warp, l.named(), l.state, l.text)
        };
        let lanes = lanes.map(|l| format!("\n{}", lines.say_in(l.line, &words(l))));
        plain(&format!("{}{}", verdict.message, lanes.collect::<String>()), MESSAGE)
    };
    let metric = |name: &str| run.metric(name).map_or(0.0, Value::as_f64);
    let blocks = simulation.launch.grid.iter().map(|&n| u64::from(n)).product::<u64>();
    let busy = blocks.min(sms.into()).max(1);
    Ran {
        finish: run.finish.name().to_owned(),
        message: run.verdict.as_ref().map(verdict),
        passed: run.passed(),
        details: failed.map(|e| plain(&format!("{}: {}", e.text, e.detail), MESSAGE)).collect(),
        metrics: names.iter().filter_map(|name| value(name)).collect(),
        cycles: run.cycles,
        issues: (metric("inst_issued") as u64).div_ceil(busy),
        findings: findings.iter().take(MOST_FOUND).map(found).collect(),
    }
}

/// Draws the first divergent execution of a branch and what follows as a lane map. Repeats the run
/// for the same number of cycles.
fn map(
    assignment: &Assignment,
    submission: &Submission,
    (run, cycles): (usize, u64),
    pc: u32,
    files: Files<'_>,
) -> Option<String> {
    let (site, options) = options(assignment, run, cycles.saturating_add(1))?;
    let look = |warps, from, limit| {
        let launch = launch(assignment, submission, run, files).ok()?;
        let window = Window { block: BlockId(0), warps, cycles: from..u64::MAX, limit };
        simulate::record(
            &Job::new(
                &submission.program,
                submission.kernel(),
                launch,
                &site.spec,
                options.clone(),
            ),
            &window,
        )
        .ok()
    };
    let all = look(0..32, 0, MAP.0)?;
    let strips = all.timeline.strips().iter();
    let issues = strips.flat_map(|strip| strip.issues.iter().map(move |issue| (issue, strip.warp)));
    let here = |issue: &simt_core::observe::Issue| {
        issue.pc.index() as u64 == u64::from(pc) && issue.diverges()
    };
    let (cycle, warp) =
        issues.filter(|(issue, _)| here(issue)).map(|(issue, warp)| (issue.cycle, warp)).min()?;
    let mut recording = look(warp..warp.saturating_add(1), cycle, MAP.1)?;
    recording.program = one_line(&recording.program);
    recording.kernel = one_line(&recording.kernel);
    recording.steps.iter_mut().for_each(|step| step.text = one_line(&step.text));
    Some(lane_map(
        &recording,
        MapStyle { style: Style { width: 100, color: true }, axis: Axis::Issue },
    ))
}

/// Runs a program under one launch of an assignment with all counters.
pub(crate) fn replay(
    assignment: &Assignment,
    submission: &Submission,
    run: usize,
    files: Files<'_>,
) -> Result<Simulation, String> {
    one(assignment, submission, run, timed(assignment), files).map(|(simulation, _)| simulation)
}

/// Records the lanes of a block, at most `limit` issues per warp.
pub(crate) fn watch(
    assignment: &Assignment,
    submission: &Submission,
    run: usize,
    (block, limit): (BlockId, usize),
    files: Files<'_>,
) -> Result<Recording, String> {
    let launch = launch(assignment, submission, run, files)?;
    let (site, options) =
        options(assignment, run, assignment.spec.limits.cycles).ok_or("no such machine")?;
    let window = Window { block, warps: 0..u32::MAX, cycles: 0..u64::MAX, limit };
    simulate::record(
        &Job::new(&submission.program, submission.kernel(), launch, &site.spec, options.clone()),
        &window,
    )
    .map_err(|e| e.to_string())
}
