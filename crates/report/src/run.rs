//! The result of a run, which the text report, JSON and selected metrics print.
//!
//! [`Run::build`] makes it from counted integers and a few facts about machine, launch and program;
//! nothing is computed later. The JSON form is stable under the tag [`Run::SCHEMA`]: keys may be
//! added, none changes meaning.

mod facts;
mod output;
mod predicated;
mod series;

pub use facts::{
    Ending, ExpectationResult, LaneGroup, LaunchFacts, MachineFacts, MachinePlace, Named, Origin,
    ReplacedBranch, RunInput, StepInfo, Verdict,
};

pub use output::{Output, OutputCall};
pub use predicated::{Predicated, predication};
pub use series::Series;

use serde::Serialize;

use super::evidence::Standing;
use super::metrics::{self, Inputs, Value};
use simt_core::observe::{AccessWay, MemoryKind, Stall, StepTotals, Totals};

/// A finished run, ready to print.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// [`Run::SCHEMA`].
    pub schema: &'static str,
    /// The simulator's version.
    pub version: &'static str,
    /// Program, as the user named it.
    pub program: String,
    /// Kernel name.
    pub kernel: String,
    /// `pre-volta` or `volta`.
    pub mode: String,
    /// Architecture of the machine code that ran, such as `sm_90`; absent for PTX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<String>,
    /// Machine name.
    pub machine: String,
    /// Grid size in x, y, z.
    pub grid: [u32; 3],
    /// Block size in x, y, z.
    pub block: [u32; 3],
    /// Warps launched.
    pub warps: u64,
    /// Named constants of the run.
    pub constants: Named<String, i64>,
    /// Outcome of the run.
    pub finish: Ending,
    /// Reason for the outcome, unless the run finished.
    pub verdict: Option<Verdict>,
    /// `off` if the run had no clock; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<&'static str>,
    /// Cycles of the slowest SM; 0, and absent from JSON, without a clock.
    #[serde(skip_serializing_if = "is_zero")]
    pub cycles: u64,
    /// Metrics that have a value, by first name, in table order.
    pub metrics: Named<&'static str, Value>,
    /// Accuracy label of each metric, by the same name.
    pub trust: Named<&'static str, String>,
    /// Conditional branches, in program order.
    pub branches: Vec<Branch>,
    /// Predicated conditional branches, in program order.
    /// The machine code has no branch for them.
    pub predicated: Vec<Predicated>,
    /// Results of the program's expectations.
    pub expectations: Vec<ExpectationResult>,
    /// Machine instructions by number of active lanes, 0 to the warp size.
    pub histogram: Vec<u64>,
    /// Stall cycles of resident warps, by warp state; no state without a clock.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub stalls: Named<&'static str, u64>,
    /// Use of the issue slots; zeros, and absent from JSON, without a clock.
    #[serde(skip_serializing_if = "Slots::is_unknown")]
    pub slots: Slots,
    /// Memory accesses, a row for each kind that occurred.
    pub memory: Vec<MemoryRow>,
    /// Steps, in stream order.
    pub instructions: Vec<InstructionRow>,
    /// Resources that the launch uses of an SM.
    pub launch: LaunchFacts,
    /// Machine facts that enter the metrics.
    pub machine_facts: MachineFacts,
    /// Notes to the reader, one sentence each.
    pub notes: Vec<String>,
    /// Output of `printf` in the kernel, if there was any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// Findings of the checks, if any were on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Checked>,
}

/// Results of a run's checks.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// Checks that were on.
    pub on: Vec<&'static str>,
    /// Findings, errors first; each pair of source lines once per kind.
    pub findings: Vec<CheckFinding>,
    /// True if all memory was checked.
    pub complete: bool,
}

/// One finding of a check.
#[derive(Clone, Debug, Serialize)]
pub struct CheckFinding {
    /// Diagnostic code; `simt-sim explain CODE` has a page.
    pub code: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// Message.
    pub message: String,
    /// Source places: first the access that failed the check, then the other one.
    pub places: Vec<CheckPlace>,
    /// Suggested fix.
    pub help: Option<String>,
    /// Number of occurrences.
    pub times: u64,
}

/// A source place of a finding.
#[derive(Clone, Debug, Serialize)]
pub struct CheckPlace {
    /// Source line in the program.
    pub line: u32,
    /// Action at that line, and the lanes that took it.
    pub text: String,
}

/// A conditional branch.
#[derive(Clone, Debug, Serialize)]
pub struct Branch {
    /// Source line, from 1.
    pub line: u32,
    /// Text of the line.
    pub text: String,
    /// Source line in the file that the program was compiled from, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Place in machine code; absent for PTX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachinePlace>,
    /// PC in the stream of steps.
    pub pc: u32,
    /// Index among the kernel's instructions, the same in both modes.
    pub instruction: Option<u32>,
    /// Times a warp executed it.
    pub executed: u64,
    /// Times some but not all active lanes took the branch.
    pub divergent: u64,
    /// Average number of active lanes.
    pub average_active_lanes: Option<f64>,
    /// Average number of lanes that took the branch.
    pub taken_lanes_average: Option<f64>,
    /// Source line of the reconvergence point.
    pub reconverges_at: Option<u32>,
}

/// Use of the issue slots: one slot per scheduler and cycle.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Slots {
    /// All slots.
    pub total: u64,
    /// Slots in which an instruction issued.
    pub used: u64,
    /// Used slots that issued a join step.
    pub used_by_joins: u64,
    /// Lost slots by reason.
    /// `no_warp`, `launch`, or the state of the warp that was ready first.
    pub lost: Named<&'static str, u64>,
}

/// One kind of memory access.
#[derive(Clone, Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "the counts are those of `observe::TrafficTotals`, under their \
                                 names"
)]
pub struct MemoryRow {
    /// `global`, `shared`, `local` or `const`.
    pub memory: &'static str,
    /// `load`, `store` or `atomic`.
    pub way: &'static str,
    pub requests: u64,
    pub requested_bytes: u64,
    pub sectors: u64,
    pub lines: u64,
    pub transactions: u64,
    /// Sectors by the cache that has them; absent without a clock.
    #[serde(flatten)]
    pub hits: Option<CacheHits>,
    pub wavefronts: u64,
    pub ideal_wavefronts: u64,
}

/// Sectors by the cache that has them, which depends on the order of warps.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "as in `MemoryRow`")]
pub struct CacheHits {
    pub l1_hits: u64,
    pub l2_hits: u64,
    pub dram_sectors: u64,
}

impl CacheHits {
    /// Returns the sectors looked up in L2 by loads and atomics.
    pub fn l2_sectors(&self) -> u64 {
        self.l2_hits + self.dram_sectors
    }
}

/// One step of the stream.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionRow {
    /// PC in the stream of steps.
    pub pc: u32,
    /// Index among the kernel's instructions; `None` for a join step.
    pub instruction: Option<u32>,
    /// Source line; for a join step, the line of its branch.
    pub line: u32,
    /// Text of the step.
    pub text: String,
    /// Source line in the file that the program was compiled from, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Place in machine code; absent for PTX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachinePlace>,
    /// Times a warp executed it.
    pub executed: u64,
    /// Issue slots used.
    pub slots: u64,
    /// Average number of active lanes.
    pub average_active_lanes: Option<f64>,
    /// Memory accesses.
    pub requests: u64,
    /// 32-byte sectors of those accesses.
    pub sectors: u64,
    /// Wait of warps to issue the step; absent without a clock.
    #[serde(flatten)]
    pub wait: Option<StepWait>,
}

/// Wait of warps to issue a step.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StepWait {
    /// State in which warps waited longest.
    pub main_stall: Option<&'static str>,
    /// Cycles that warps waited, in all states.
    pub stalled_cycles: u64,
}

impl Run {
    /// Schema tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/run/1";

    /// Builds a run. `input.steps` describes the stream that `input.totals` counted, step by step;
    /// a step without a description is printed as unknown.
    pub fn build(input: RunInput) -> Run {
        let RunInput { program, kernel, mode, machine, grid, block, constants, launch, .. } = input;
        let totals = &input.totals;
        let values = Inputs { totals, machine: &machine };
        let machine_code = input.machine_code;
        let metrics: Vec<_> = metrics::all()
            .iter()
            .filter(|m| !(machine_code.is_some() && m.name == "ptx_inst_executed"))
            .filter_map(|m| Some((m.name, metrics::evaluate(m, &values)?)))
            .collect();
        let label =
            |name| metrics::find(name).map(|m| (name, Standing::label(m, &machine.fingerprint)));
        let trust = metrics.iter().filter_map(|&(name, _)| label(name)).collect();
        let unknown = StepInfo { text: "?".to_owned(), ..StepInfo::default() };
        let infos = input.steps.iter().chain(std::iter::repeat(&unknown));
        let steps: Vec<_> = (0..).zip(totals.steps.iter().zip(infos)).collect();
        let conditional = |step: &StepTotals, info: &StepInfo| info.is_branch || step.branches > 0;
        Run {
            schema: Run::SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            program,
            kernel,
            mode,
            machine_code,
            machine: machine.name.clone(),
            grid,
            block,
            warps: totals.warps,
            constants: Named(constants),
            finish: input.finish,
            verdict: input.verdict,
            timing: (!totals.timed).then_some("off"),
            cycles: totals.elapsed_cycles,
            metrics: Named(metrics),
            trust: Named(trust),
            branches: steps
                .iter()
                .filter(|(_, (s, i))| conditional(s, i))
                .map(|&(pc, (s, i))| branch(pc, s, i))
                .collect(),
            predicated: steps
                .iter()
                .filter_map(|&(pc, (s, i))| predicated::of_step(pc, s, i))
                .collect(),
            expectations: input.expectations,
            histogram: totals
                .histogram
                .iter()
                .take(totals.warp_size as usize + 1)
                .copied()
                .collect(),
            stalls: Named(
                Stall::ALL
                    .iter()
                    .filter(|_| totals.timed)
                    .map(|&s| (s.name(), totals.stalled(s)))
                    .collect(),
            ),
            slots: if totals.timed { slots(totals) } else { Slots::default() },
            memory: memory(totals),
            instructions: steps
                .iter()
                .map(|&(pc, (step, info))| instruction(pc, step, info, totals.timed))
                .collect(),
            launch,
            machine_facts: machine,
            notes: input.notes,
            output: None,
            checks: None,
        }
    }

    /// Returns the value of the metric with this name or alias, if the run has one.
    pub fn metric(&self, name: &str) -> Option<Value> {
        let metric = metrics::find(name)?;
        self.metrics.get(&metric.name).copied()
    }

    /// Returns true if the run had a clock.
    pub fn is_timed(&self) -> bool {
        self.timing.is_none()
    }

    /// Returns true if nothing happened in the run.
    pub fn is_empty(&self) -> bool {
        self.is_timed() && self.cycles == 0
    }

    /// Returns outcome and reason of a run that did not finish.
    /// Every view of the run shows them.
    pub fn ending(&self) -> Option<String> {
        let message = self.verdict.as_ref().map_or("", |v| v.message.as_str());
        (self.finish != Ending::Ok)
            .then(|| format!("{}: {message}", self.finish.title().to_uppercase()))
    }

    /// Returns the accuracy label of a metric in this run.
    pub fn trust_of(&self, metric: &metrics::Metric) -> String {
        Standing::label(metric, &self.machine_facts.fingerprint)
    }

    /// Returns true if every expectation holds.
    pub fn passed(&self) -> bool {
        self.expectations.iter().all(|e| e.passed)
    }

    /// Returns the run as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value of a run has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}

impl Slots {
    /// Returns true for those of a run without a clock.
    fn is_unknown(&self) -> bool {
        self.lost.is_empty()
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn average(sum: u64, n: u64) -> Option<f64> {
    (n > 0).then(|| sum as f64 / n as f64)
}

fn branch(pc: u32, step: &StepTotals, info: &StepInfo) -> Branch {
    Branch {
        line: info.line,
        text: info.text.clone(),
        origin: info.origin.clone(),
        machine: info.machine.clone(),
        pc,
        instruction: info.source,
        executed: step.branches,
        divergent: step.divergent,
        average_active_lanes: average(step.active_lanes, step.issues),
        taken_lanes_average: average(step.taken_lanes, step.branches),
        reconverges_at: info.reconverge_line,
    }
}

fn instruction(pc: u32, step: &StepTotals, info: &StepInfo, timed: bool) -> InstructionRow {
    InstructionRow {
        pc,
        instruction: info.source,
        line: info.line,
        text: info.text.clone(),
        origin: info.origin.clone(),
        machine: info.machine.clone(),
        executed: step.issues,
        slots: step.slots,
        average_active_lanes: average(step.active_lanes, step.issues),
        requests: step.requests,
        sectors: step.sectors,
        wait: timed.then(|| StepWait {
            main_stall: step.main_stall().map(|(stall, _)| stall.name()),
            stalled_cycles: step.stalls.iter().sum(),
        }),
    }
}

fn slots(totals: &Totals) -> Slots {
    let stalled = Stall::ALL.iter().map(|&s| (s.name(), totals.slots_stalled[s as usize]));
    Slots {
        total: totals.slots_total(),
        used: totals.slots_used,
        used_by_joins: totals.join_slots,
        lost: Named(
            [("no_warp", totals.slots_no_warp), ("launch", totals.slots_launch)]
                .into_iter()
                .chain(stalled)
                .collect(),
        ),
    }
}

fn memory(totals: &Totals) -> Vec<MemoryRow> {
    let memories = [
        (MemoryKind::Global, "global"),
        (MemoryKind::Shared, "shared"),
        (MemoryKind::Local, "local"),
        (MemoryKind::Const, "const"),
        (MemoryKind::Texture, "texture"),
        (MemoryKind::Surface, "surface"),
    ];
    let ways =
        [(AccessWay::Load, "load"), (AccessWay::Store, "store"), (AccessWay::Atomic, "atomic")];
    let mut rows = Vec::new();
    for (kind, memory) in memories {
        for (access, way) in ways {
            let t = totals.traffic(kind, access);
            if t.requests > 0 {
                rows.push(MemoryRow {
                    memory,
                    way,
                    requests: t.requests,
                    requested_bytes: t.requested_bytes,
                    sectors: t.sectors,
                    lines: t.lines,
                    transactions: t.transactions,
                    hits: totals.timed.then_some(CacheHits {
                        l1_hits: t.l1_hits,
                        l2_hits: t.l2_hits,
                        dram_sectors: t.dram_sectors,
                    }),
                    wavefronts: t.wavefronts,
                    ideal_wavefronts: t.ideal_wavefronts,
                });
            }
        }
    }
    rows
}

#[cfg(test)]
pub(crate) mod tests;
