//! From a [`Job`] to a report.
//!
//! [`simulate`] runs a whole job, [`simulate_checked`] adds checks, [`record`] and [`walk`] cover a
//! window.

mod checked;
mod finished;
mod order;
mod words;

pub use checked::{CheckedSimulation, simulate_checked};
pub use finished::Finished;
pub use order::{is_free_of_order, without_time};
pub use words::{step_infos, why};

use words::{SourceLines, finish_word, step_info, verdict};

use crate::compare::IssueStreams;
use crate::evidence::{CodeKind, Fingerprint, note_of_larger};
use crate::metrics;
use crate::plot::{Roof, Walk};
use crate::timeline::Recording;
use crate::{ExpectationResult, LaunchFacts, MachineFacts, Output, Run, RunInput};
use simt_core::base::{LaneMask, Pc, digest};
use simt_core::code::Code;
use simt_core::diag::printable;
use simt_core::launch::{self, Launch, MemoryView};
use simt_core::machine::{DoesNotFit, Finish, Host, Options, Outcome, Timing, Watched};
use simt_core::observe::{Counts, Window};
use simt_core::spec::Machine;
use simt_core::{Job, Program};

fn plural(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// A finished run.
pub struct Simulation {
    /// Data of the reports.
    pub run: Run,
    /// Outcome with reasons.
    pub finish: Finish,
    /// Launch, with the buffers as the run left them.
    pub launch: Launch,
}

/// Runs a kernel with counters and judges its expectations.
///
/// # Errors
/// Fails if a block does not fit the machine.
pub fn simulate(job: Job<'_>, host: &dyn Host) -> Result<Simulation, DoesNotFit> {
    let about = About::new(&job);
    let outcome = job.count(host)?;
    Ok(about.report(outcome))
}

/// Note of a run without a clock.
pub const COUNTS_ONLY: &str = "Timing is off: counts only. Cycles, rates, stalls and cache hits are \
                               left out; `--timing cycles` has them.";

/// Inputs of a report besides the outcome.
struct About<'a> {
    program: &'a Program,
    code: Code,
    machine: &'a Machine,
    options: Options,
}

impl<'a> About<'a> {
    fn new(job: &Job<'a>) -> About<'a> {
        About {
            program: job.program,
            code: job.code.clone(),
            machine: job.machine,
            options: job.options.clone(),
        }
    }

    /// Builds the report of a finished run.
    fn report(&self, outcome: Outcome<Counts>) -> Simulation {
        let About { program, code, machine: spec, options } = self;
        let kernel = code.kernel();
        let Outcome { finish, interleaved, occupancy, launch, observer, .. } = outcome;
        let lines = SourceLines::new(program);
        let mut notes = Vec::new();
        let untimed = options.timing == Timing::Off;
        if untimed {
            notes.push(COUNTS_ONLY.into());
        }
        if interleaved && untimed {
            notes.push(
                "Blocks of this kernel can communicate: their warps took turns in a fixed order, \
                 not that of time. What depends on the order of atomics or of spinning may differ \
                 from a run with timing."
                    .into(),
            );
        } else if interleaved {
            notes.push(
                "Blocks of this kernel can communicate, so the SMs ran interleaved: the figures are \
                 those of turns in the order of cycles."
                    .into(),
            );
        }
        if let Some(native) = &kernel.native {
            let from = native.source.as_ref().filter(|_| program.compiled.is_none());
            let from = from.map_or_else(String::new, |(file, _)| {
                format!(", compiled from {}", printable(base_name(file)))
            });
            notes.push(format!(
                "This is machine code of sm_{}{from}; counts are of its instructions as nvcc made \
                 them.",
                native.arch
            ));
            let run = fingerprint_of(program, spec, options);
            let blocks = launch.grid.iter().map(|&n| u64::from(n)).product();
            notes.extend(note_of_larger(&run, blocks, spec.sms).filter(|_| !untimed));
        } else if spec.code.is_some() && !code.is_machine_code() {
            notes.push(
                "Counts are of PTX instructions as written, not of machine instructions.".into(),
            );
        }
        if let Some(compiled) = &program.compiled {
            notes.push(format!("Compiled by {}.", printable(&compiled.by)));
        }
        if !spec.modes.contains(&options.mode) {
            let (machine, mode) = (&spec.name, options.mode.name());
            notes.push(format!(
                "No {machine} has {mode} mode; all other parameters are those of {machine}, so only \
                 the mode differs."
            ));
        }
        for (pc, times) in observer.undefined_shuffles() {
            let line = code.ops()[pc.index()].inst.line;
            notes.push(format!(
                "The shuffle on line {line} reads inactive lanes ({}): their value is undefined; the \
                 simulator returns 0.",
                plural(times as usize, "time")
            ));
        }
        let output = Output::of(observer.output());
        if let Some(Output { dropped: dropped @ 1.., .. }) = &output {
            notes.push(format!(
                "The buffer of `printf` has 1 MiB; {} did not fit.",
                plural(*dropped as usize, "call")
            ));
        }
        let mut run = Run::build(RunInput {
            program: printable(&program.name),
            kernel: kernel.name.clone(),
            mode: options.mode.name().to_string(),
            machine_code: kernel.native.as_ref().map(|native| format!("sm_{}", native.arch)),
            machine: machine_facts(spec, fingerprint_of(program, spec, options)),
            grid: launch.grid,
            block: launch.block,
            constants: launch.constants.clone(),
            launch: LaunchFacts {
                registers_per_thread: occupancy.registers_per_thread,
                static_shared: kernel.shared_bytes,
                dynamic_shared: launch.dynamic_shared,
                blocks_per_sm: occupancy.blocks,
                limited_by: occupancy.limit.to_string(),
            },
            finish: finish_word(&finish),
            verdict: verdict(&finish, code, &lines, Some(&launch)),
            totals: observer.finish(),
            steps: code.ops().iter().map(|op| step_info(op, code, &lines)).collect(),
            expectations: Vec::new(),
            notes,
        });
        run.output = output;
        let metric = |name: &str| match run.metric(name) {
            Some(value) => Ok(value.as_f64()),
            None => match metrics::find(name) {
                Some(metric) if metric.needs_time() && !run.is_timed() => {
                    Err(format!("`{name}` needs time, and timing is off"))
                }
                Some(_) => Err(format!("`{name}` has no value in this run")),
                None => Err(metrics::unknown(name)),
            },
        };
        let verdicts =
            launch::judge(&launch, &Buffers(&launch), finish.name(), &metric, options.mode.name());
        run.expectations = verdicts
            .into_iter()
            .map(|v| ExpectationResult {
                text: printable(&v.text),
                passed: v.passed,
                detail: v.detail,
            })
            .collect();
        Simulation { run, finish, launch }
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Runs a kernel until a window is complete, and records the window.
///
/// # Errors
/// Fails if a block does not fit the machine.
pub fn record(job: &Job<'_>, window: &Window) -> Result<Recording, DoesNotFit> {
    let Job { program, code, launch, machine: spec, options } = job;
    let (grid, block, kernel) = (launch.grid, launch.block, code.kernel());
    let Watched { finish, sm, simulated_sms, observer } = job.record(window)?;
    let ends_here = finish.is_some();
    let after = if ends_here { None } else { job.ends_badly_soon(window.block)? };
    let lines = SourceLines::new(program);
    let who = match simulated_sms {
        1 => format!("{sm}, which runs block {},", window.block.0),
        n => format!("all {n} SMs, because blocks can communicate,"),
    };
    let until = if ends_here { "to the end of the run" } else { "until the end of this window" };
    let finish = finish.or(after);
    Ok(Recording {
        program: printable(&program.name),
        kernel: kernel.name.clone(),
        mode: options.mode.name().to_string(),
        machine: spec.name.clone(),
        grid,
        block,
        warp_size: spec.warp_size,
        shared_banks: spec.memory.shared_banks,
        counts_joins: code.is_machine_code(),
        steps: code.ops().iter().map(|op| step_info(op, code, &lines)).collect(),
        timeline: observer.0,
        schedulers: observer.1.into_spans(),
        verdict: finish.as_ref().and_then(|finish| verdict(finish, code, &lines, None)),
        finish: finish.as_ref().map(finish_word),
        ends_here,
        simulated: format!("Simulated: {who} {until}."),
    })
}

/// Counts the edges of a kernel's control-flow graph that lanes take.
///
/// It counts those in a window (warps, block and cycles, any number of issues) or in the whole run.
///
/// # Errors
/// Fails if a block does not fit the machine.
pub fn walk(job: Job<'_>, window: Option<&Window>, host: &dyn Host) -> Result<Walk, DoesNotFit> {
    let (program, spec, mode) = (job.program, job.machine, job.options.mode);
    let (grid, block, kernel) = (job.launch.grid, job.launch.block, job.kernel().clone());
    let (counted, finish, simulated) = match window {
        Some(window) => {
            let watched = job.passages_of(window)?;
            let (block, sm) = (window.block.0, watched.sm);
            let warps = match (window.warps.start, window.warps.end.saturating_sub(1)) {
                (first, last) if first == last => format!("warp {first}"),
                (first, last) => format!("warps {first} to {last}"),
            };
            let finish = match watched.finish {
                None => job.ends_badly_soon(window.block)?,
                finish => finish,
            };
            (watched.observer, finish, format!("Counted: {warps} of block {block}, on {sm}."))
        }
        None => {
            let (counted, finish) = job.passages(host)?;
            (counted, Some(finish), "Counted: all warps of all blocks.".to_owned())
        }
    };
    let (passages, visits) = counted;
    Ok(Walk {
        program: program.name.clone(),
        texts: crate::cfg::texts(program, &kernel),
        mode: mode.name().to_string(),
        machine: spec.name.clone(),
        grid,
        block,
        kernel,
        passages,
        visits,
        finish: finish.as_ref().map(finish_word),
        simulated,
    })
}

/// Returns the ceilings of a machine's roofline.
pub fn roof(spec: &Machine) -> Roof {
    Roof {
        machine: spec.name.clone(),
        issue: f64::from(spec.sms) * f64::from(spec.schedulers),
        l2: spec.memory.l2_bytes_per_cycle,
        dram: spec.memory.dram_bytes_per_cycle,
    }
}

/// Returns the issues of the warps of block 0, at most `limit` in all.
///
/// It runs only as much of the kernel as that takes.
///
/// # Errors
/// Fails if a block does not fit the machine.
pub fn issue_streams(job: &Job<'_>, limit: usize) -> Result<IssueStreams, DoesNotFit> {
    let (program, code) = (job.program, &job.code);
    let watched = job.trace(limit)?;
    let mut warps: Vec<Vec<(Pc, LaneMask)>> = Vec::new();
    for issue in watched.observer.entries() {
        let warp = issue.warp as usize;
        if warps.len() <= warp {
            warps.resize(warp + 1, Vec::new());
        }
        if code.ops()[issue.pc.index()].source.is_some() {
            warps[warp].push((issue.pc, issue.active));
        }
    }
    let lines = SourceLines::new(program);
    let steps = code.ops().iter().map(|op| step_info(op, code, &lines)).collect();
    Ok(IssueStreams { steps, warps, complete: watched.finish.is_some() })
}

/// Architecture of the machine code that was measured: sm_90.
const MEASURED: u32 = 90;

/// Returns the digests that evidence must match to apply to a run.
///
/// They cover the contents of the machine file and the order of lanes.
pub fn fingerprint(spec: &Machine, options: &Options, code: CodeKind) -> Fingerprint {
    let order = format!("{} {:?} {}", options.mode.name(), options.order, options.yields);
    let name = |contents: u64| format!("{:016x}", digest(format!("{contents:x} {order}").bytes()));
    Fingerprint {
        code,
        counts: name(spec.count_digest()),
        whole: name(spec.digest()),
        unmeasured: None,
    }
}

/// Returns the fingerprint of a program's run.
pub fn fingerprint_of(program: &Program, spec: &Machine, options: &Options) -> Fingerprint {
    let arch = program.kernels.iter().find_map(|kernel| Some(kernel.native.as_ref()?.arch));
    let unmeasured = arch.filter(|arch| *arch != MEASURED);
    Fingerprint { unmeasured, ..fingerprint(spec, options, code_kind(program)) }
}

/// Returns the kind of a program's code.
pub fn code_kind(program: &Program) -> CodeKind {
    let is_machine_code = program.kernels.iter().any(|kernel| kernel.native.is_some());
    if is_machine_code { CodeKind::Sass } else { CodeKind::Ptx }
}

fn machine_facts(spec: &Machine, fingerprint: Fingerprint) -> MachineFacts {
    MachineFacts {
        fingerprint,
        name: spec.name.clone(),
        sms: spec.sms,
        schedulers_per_sm: spec.schedulers,
        max_warps_per_sm: spec.max_warps,
        warp_size: spec.warp_size,
        clock_hz: u64::from(spec.clock_mhz) * 1_000_000,
        shared_banks: spec.memory.shared_banks,
        launch_overhead: spec.launch_overhead,
    }
}

/// Buffers as the launch's expectations read them.
struct Buffers<'a>(&'a Launch);

impl MemoryView for Buffers<'_> {
    fn word(&self, buffer: usize, word: u64) -> u32 {
        self.words(buffer).and_then(|words| words.get(word as usize)).copied().unwrap_or(0)
    }

    fn words(&self, buffer: usize) -> Option<&[u32]> {
        self.0.buffers.get(buffer).map(|b| b.words.as_slice())
    }
}
