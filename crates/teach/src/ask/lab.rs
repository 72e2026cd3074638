//! Running bundled programs and reading their results.
//!
//! A [`Trial`] is a program with its modifications; [`Trial::run`] counts, [`Trial::watch`] records
//! the issues of a block. A run must satisfy the expectations of its program, so no answer rests on
//! a failed run.

use super::{AskError, Bundled};
use simt_core::base::{BlockId, Pc};
use simt_core::diag::{self, Source};
use simt_core::divergence::SideOrder;
use simt_core::kernel::Kernel;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Options, Timing};
use simt_core::observe::{Issue, Window};
use simt_core::spec::{Lowering, Machine, MachineSpec, Mode};
use simt_core::{Job, Program};
use simt_report::metrics::Value;
use simt_report::simulate::{Simulation, record, simulate};
use simt_report::timeline::Recording;
use simt_report::{InstructionRow, MemoryRow, Run};

/// Both modes.
pub(crate) const MODES: [Mode; 2] = [Mode::PreVolta, Mode::Volta];

/// Cycle limit, far above what any experiment takes.
const MAX_CYCLES: u64 = 20_000_000;

/// Applies `f` to each item; returns the results or the first error.
pub(crate) fn each<T, R, const N: usize>(
    of: [T; N],
    f: impl FnMut(T) -> Result<R, AskError>,
) -> Result<[R; N], AskError> {
    let made = of.map(f).into_iter().collect::<Result<Vec<R>, AskError>>()?;
    made.try_into().map_err(|_| AskError::Missing {
        program: String::new(),
        what: "figure for each case".to_owned(),
    })
}

/// Maximum number of recorded issues per warp. Bounds the recording of a run that hangs.
const MAX_ISSUES: usize = 4096;

/// A run and its modifications.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    program: &'static Bundled,
    mode: Mode,
    machine: &'static str,
    change: fn(&mut MachineSpec),
    order: Option<SideOrder>,
    yields: bool,
    lowering: Lowering,
    kernel: Option<&'static str>,
    overrides: Overrides,
}

/// A finished run.
pub(crate) struct Done {
    simulation: Simulation,
}

/// The recorded issues of one block.
pub(crate) struct Watched(Recording);

impl Trial {
    /// Creates a trial on the default machine of `mode`. Every instruction issues as written.
    pub(crate) fn new(program: &'static Bundled, mode: Mode) -> Trial {
        let overrides = Overrides::default();
        let machine = mode.default_machine();
        let lowering = Lowering::AsWritten;
        Trial {
            program,
            mode,
            machine,
            change: |_| {},
            order: None,
            yields: true,
            lowering,
            kernel: None,
            overrides,
        }
    }

    /// Creates a trial of machine code on the H200 model.
    pub(crate) fn of_machine_code(program: &'static Bundled) -> Trial {
        Trial::new(program, Mode::Volta).lowered()
    }

    /// Selects a kernel of a program with several.
    pub(crate) fn kernel(mut self, name: &'static str) -> Trial {
        self.kernel = Some(name);
        self
    }

    /// Overrides a constant of the program.
    pub(crate) fn set(mut self, name: &str, value: u64) -> Trial {
        self.overrides.set.push((name.to_owned(), value.to_string()));
        self
    }

    /// Selects a machine preset and modifies it.
    pub(crate) fn on(mut self, machine: &'static str, change: fn(&mut MachineSpec)) -> Trial {
        self.machine = machine;
        self.change = change;
        self
    }

    /// Selects the order of branch sides.
    pub(crate) fn order(mut self, order: SideOrder) -> Trial {
        self.order = Some(order);
        self
    }

    /// Disables the yields that a compiler inserts into spin loops.
    pub(crate) fn without_yields(mut self) -> Trial {
        self.yields = false;
        self
    }

    /// Lowers the program to machine instructions as a back end would.
    pub(crate) fn lowered(mut self) -> Trial {
        self.lowering = Lowering::Hardware;
        self
    }

    /// Runs the program with counters.
    pub(crate) fn run(&self) -> Result<Done, AskError> {
        let (spec, options) = self.machine()?;
        let program = self.parse();
        let (kernel, launch) = self.launch(&program)?;
        let simulation = simulate(Job::new(&program, kernel, launch, &spec, options.clone()), &())
            .map_err(|why| self.does_not_run(why))?;
        // A program's expectations assume the default order and the compiler's yields.
        let usual = self.order.is_none() && self.yields;
        match simulation.run.expectations.iter().find(|e| usual && !e.passed) {
            None => Ok(Done { simulation }),
            Some(failed) => Err(AskError::Expectation {
                program: self.program.path.to_owned(),
                expectation: failed.text.clone(),
            }),
        }
    }

    /// Runs the launches of the program in order, with counters.
    pub(crate) fn run_all(&self) -> Result<Vec<Done>, AskError> {
        let (spec, options) = self.machine()?;
        let program = self.parse();
        let mut all: Vec<Done> = Vec::new();
        for index in 0..program.plan.launches() {
            let (kernel, mut launch) = self.launch_at(&program, index)?;
            if let Some(before) = all.last() {
                launch.follow(before.simulation.launch.clone());
            }
            let job = Job::new(&program, kernel, launch, &spec, options.clone());
            let simulation = simulate(job, &()).map_err(|why| self.does_not_run(why))?;
            if let Some(failed) = simulation.run.expectations.iter().find(|e| !e.passed) {
                return Err(AskError::Expectation {
                    program: self.program.path.to_owned(),
                    expectation: failed.text.clone(),
                });
            }
            all.push(Done { simulation });
        }
        Ok(all)
    }

    /// Runs the program and records the issues of block 0.
    pub(crate) fn watch(&self) -> Result<Watched, AskError> {
        self.watch_block(0)
    }

    /// Runs the program and records the issues of `block`.
    pub(crate) fn watch_block(&self, block: u32) -> Result<Watched, AskError> {
        let (spec, options) = self.machine()?;
        let program = self.parse();
        let (kernel, launch) = self.launch(&program)?;
        let window = Window {
            block: BlockId(block),
            warps: 0..u32::MAX,
            cycles: 0..u64::MAX,
            limit: MAX_ISSUES,
        };
        let recording =
            record(&Job::new(&program, kernel, launch, &spec, options.clone()), &window);
        recording.map(Watched).map_err(|why| self.does_not_run(why))
    }

    fn machine(&self) -> Result<(Machine, Options), AskError> {
        let preset =
            Machine::preset(self.machine).ok_or_else(|| self.does_not_run("no such machine"))?;
        let spec = preset.lowered(self.lowering).changed(self.change);
        let spec = spec.map_err(|faults| {
            self.does_not_run(faults.first().map_or_else(String::new, ToString::to_string))
        })?;
        let order = self.order.unwrap_or(spec.side_order());
        let options = Options {
            mode: self.mode,
            order,
            yields: self.yields,
            max_cycles: MAX_CYCLES,
            max_issues: u64::MAX,
            timing: Timing::Cycles,
        };
        Ok((spec, options))
    }

    fn parse(&self) -> Program {
        Program::parse(self.program.path, self.program.text)
    }

    fn launch<'p>(&self, program: &'p Program) -> Result<(&'p Kernel, Launch), AskError> {
        self.launch_at(program, 0)
    }

    fn launch_at<'p>(
        &self,
        program: &'p Program,
        index: usize,
    ) -> Result<(&'p Kernel, Launch), AskError> {
        let shown = |found: &[_]| {
            self.does_not_run(diag::render(
                found,
                Source { name: &program.name, text: &program.text },
                false,
            ))
        };
        if !program.is_sound() {
            return Err(shown(&program.findings));
        }
        let kernel = program.kernel_at(index, self.kernel).map_err(|why| self.does_not_run(why))?;
        let no_files = |path: &str, _| Err(format!("`{path}`: bundled programs read no files"));
        let launch = program
            .launch_at(index, kernel, &self.overrides, &no_files)
            .map_err(|found| shown(&found))?;
        Ok((kernel, launch))
    }

    fn does_not_run(&self, why: impl ToString) -> AskError {
        AskError::Program { program: self.program.path.to_owned(), why: why.to_string() }
    }
}

impl Done {
    /// Value of a counting metric.
    pub(crate) fn count(&self, name: &str) -> Result<u64, AskError> {
        match self.simulation.run.metric(name) {
            Some(Value::Count(n)) => Ok(n),
            _ => Err(self.missing(format!("count `{name}`"))),
        }
    }

    /// Value of a metric.
    pub(crate) fn real(&self, name: &str) -> Result<f64, AskError> {
        self.simulation
            .run
            .metric(name)
            .map(Value::as_f64)
            .ok_or_else(|| self.missing(format!("metric `{name}`")))
    }

    /// Cycles of the whole run.
    pub(crate) fn cycles(&self) -> u64 {
        self.simulation.run.cycles
    }

    /// Outcome: `ok`, `deadlock`, `livelock`.
    pub(crate) fn finish(&self) -> &'static str {
        self.simulation.run.finish.name()
    }

    /// Final lane groups of a hung run, two lines each: position and wait reason.
    pub(crate) fn stuck(&self) -> Vec<String> {
        let groups = self.simulation.run.verdict.iter().flat_map(|v| &v.lanes);
        let lines = groups.flat_map(|g| {
            let who =
                format!("warp {}, {} ({}), line {}: {}", g.warp, g.named(), g.mask, g.line, g.text);
            [who, format!("-> {}", g.state)]
        });
        lines.collect()
    }

    /// Words of a buffer after the run.
    pub(crate) fn words(&self, buffer: &str) -> Result<&[u32], AskError> {
        let found = self.simulation.launch.buffers.iter().find(|b| b.name == buffer);
        found.map(|b| b.words.as_slice()).ok_or_else(|| self.missing(format!("buffer `{buffer}`")))
    }

    /// One word of a buffer.
    pub(crate) fn word(&self, buffer: &str, at: usize) -> Result<u32, AskError> {
        self.words(buffer)?
            .get(at)
            .copied()
            .ok_or_else(|| self.missing(format!("word {at} of `{buffer}`")))
    }

    /// Cycles between the clock reads that the warps of block 0 stored in `from` and `to`.
    pub(crate) fn clocked(&self) -> Result<u64, AskError> {
        let [width, ..] = self.report().block;
        let warps = width.div_ceil(32) as usize;
        let reads = |buffer| Ok::<_, AskError>(self.words(buffer)?.iter().take(warps));
        let first = reads("from")?.min().copied().unwrap_or(0);
        let last = reads("to")?.max().copied().unwrap_or(0);
        Ok(u64::from(last.saturating_sub(first)))
    }

    /// Machine instructions of the listing, executed or not, with their texts.
    pub(crate) fn listing(&self) -> impl Iterator<Item = (&InstructionRow, &str)> {
        let rows = self.report().instructions.iter().filter(|row| row.machine.is_some());
        // The text starts with the place: `cu:7 ptx:12 /*0040*/ `.
        rows.map(|row| (row, row.text.split_once("*/ ").map_or(row.text.as_str(), |text| text.1)))
    }

    /// Requests and sectors of the program's global loads.
    pub(crate) fn loads(&self) -> Result<&MemoryRow, AskError> {
        let row = self.report().memory.iter().find(|m| m.memory == "global" && m.way == "load");
        row.ok_or_else(|| self.missing("global load".to_owned()))
    }

    /// Full report of the run.
    pub(crate) fn report(&self) -> &Run {
        &self.simulation.run
    }

    fn missing(&self, what: String) -> AskError {
        AskError::Missing { program: self.simulation.run.program.clone(), what }
    }
}

impl Watched {
    /// Wraps the recording of any program.
    pub(crate) const fn new(recording: Recording) -> Watched {
        Watched(recording)
    }

    /// Source line of a step with single blanks; join steps are in parentheses.
    pub(crate) fn source(&self, pc: Pc) -> String {
        let text = self.0.step(pc).map_or("", |step| step.text.as_str());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Line number of a step.
    pub(crate) fn line(&self, pc: Pc) -> u32 {
        self.0.line(pc)
    }

    /// Returns true if the step is written in the program, not inserted to join lanes.
    pub(crate) fn is_written(&self, pc: Pc) -> bool {
        self.0.step(pc).is_some_and(|step| step.source.is_some())
    }

    /// Lanes per warp.
    pub(crate) const fn lanes(&self) -> u32 {
        self.0.warp_size
    }

    /// Recorded warps.
    pub(crate) fn warps(&self) -> impl Iterator<Item = u32> {
        self.0.timeline.strips().iter().map(|strip| strip.warp)
    }

    /// Issues of a warp in order of time.
    pub(crate) fn issues(&self, warp: u32) -> impl Iterator<Item = &Issue> {
        self.0
            .timeline
            .strips()
            .iter()
            .filter(move |strip| strip.warp == warp)
            .flat_map(|strip| &strip.issues)
    }

    /// Issues of all warps whose source line contains `part`, warp by warp.
    pub(crate) fn of<'a>(&'a self, part: &'a str) -> impl Iterator<Item = &'a Issue> {
        let issues = self.0.timeline.strips().iter().flat_map(|strip| &strip.issues);
        issues.filter(move |issue| self.source(issue.pc).contains(part))
    }

    /// Issues of one warp whose source line contains `part`.
    pub(crate) fn of_warp<'a>(
        &'a self,
        warp: u32,
        part: &'a str,
    ) -> impl Iterator<Item = &'a Issue> {
        self.issues(warp).filter(move |issue| self.source(issue.pc).contains(part))
    }
}
