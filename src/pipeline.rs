//! The whole way of one run, from text to report, as three library calls: [`Program::parse`], [`Program::launch`],
//! [`simulate`]. The command line, the tests and the benchmarks all go this way.

use crate::diag::{Diagnostic, has_errors};
use crate::kernel::{self, Kernel};
use crate::launch::{self, Launch, MemoryView, Overrides, Plan};
use crate::machine::{self, DoesNotFit, Finish, MachineSpec, Options, Outcome, Progress};
use crate::observe::Counts;
use crate::report::{self, MachineFacts, Run, RunInput, StepInfo};
use crate::text::{self, tree::Module};

/// A program text, analysed as far as it goes.
pub struct Program {
    /// The name under which messages and reports speak of it.
    pub name: String,
    /// The text.
    pub text: String,
    /// What the text says.
    pub module: Module,
    /// The kernels that passed every check.
    pub kernels: Vec<Kernel>,
    /// Its directives.
    pub plan: Plan,
    /// Every finding, in order of place.
    pub findings: Vec<Diagnostic>,
}

/// Why [`Program::kernel`] has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKernel {
    /// The file declares none.
    #[error("`{0}` has no kernel; declare one with `.entry name ( .. ) {{ .. }}`")]
    None(String),
    /// None of that name.
    #[error("`{program}` has no kernel `{wanted}`; it has {there}")]
    Unknown {
        /// The program.
        program: String,
        /// The name asked for.
        wanted: String,
        /// The names there are.
        there: String,
    },
    /// Several, and none was chosen.
    #[error("`{program}` has several kernels; choose one of {there}")]
    Several {
        /// The program.
        program: String,
        /// The names there are.
        there: String,
    },
}

impl Program {
    /// Parses and checks a text. Never fails: what is wrong is in [`Program::findings`].
    pub fn parse(name: &str, text: &str) -> Program {
        let (module, mut findings) = text::parse(text);
        let (kernels, of_check) = kernel::check(&module, text);
        let (plan, of_plan) = launch::plan(&module, text);
        findings.extend(of_check);
        findings.extend(of_plan);
        findings.extend(kernels.iter().flat_map(kernel::warnings));
        findings.sort_by_key(|d| (d.labels.first().map(|l| l.span), d.severity));
        findings.dedup();
        Program { name: name.to_string(), text: text.to_string(), module, kernels, plan, findings }
    }

    /// Whether the program can be run.
    pub fn is_sound(&self) -> bool {
        !has_errors(&self.findings)
    }

    /// The kernel called `wanted`, or the one its directives choose, or the only one.
    ///
    /// # Errors
    /// When there is no such kernel, or a choice is left.
    pub fn kernel(&self, wanted: Option<&str>) -> Result<&Kernel, NoKernel> {
        let program = self.name.clone();
        let there = || self.kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", ");
        let wanted = wanted.or(self.plan.kernel().map(|name| name.text.as_str()));
        match (wanted, self.kernels.as_slice()) {
            (_, []) => Err(NoKernel::None(program)),
            (Some(wanted), kernels) => kernels
                .iter()
                .find(|k| k.name == wanted)
                .ok_or_else(|| NoKernel::Unknown { program, wanted: wanted.to_string(), there: there() }),
            (None, [one]) => Ok(one),
            (None, _) => Err(NoKernel::Several { program, there: there() }),
        }
    }

    /// Evaluates the directives, with `overrides` on top. `files` reads what `file("..")` names.
    ///
    /// # Errors
    /// Everything that is wrong with the directives or the overrides, at once.
    pub fn launch(
        &self,
        kernel: &Kernel,
        overrides: &Overrides,
        files: launch::Files<'_>,
    ) -> Result<Launch, Vec<Diagnostic>> {
        self.plan.resolve(kernel, overrides, files)
    }
}

/// A finished run.
pub struct Simulation {
    /// What reports print.
    pub run: Run,
    /// How it ended, with the reasons.
    pub finish: Finish,
    /// The launch, its buffers as the run left them.
    pub launch: Launch,
    /// Whether the SMs ran interleaved because blocks can communicate.
    pub interleaved: bool,
}

/// Runs a kernel with counters on, and judges what came out.
///
/// # Errors
/// When a block does not fit the machine.
pub fn simulate(
    program: &Program,
    kernel: &Kernel,
    launch: Launch,
    spec: &MachineSpec,
    options: &Options,
    progress: &impl Progress,
) -> Result<Simulation, DoesNotFit> {
    let stream = machine::stream(kernel, options.mode, options.yields);
    let is_join: Vec<bool> = stream.steps.iter().map(|s| s.source.is_none()).collect();
    let counts = || Counts::new(&is_join, spec.warp_size);
    let Outcome { finish, cycles, active_sms, interleaved, occupancy, launch, observer } =
        machine::run(kernel, launch, spec, options, progress, counts)?;

    let lines: Vec<&str> = program.text.lines().collect();
    let line_of = |line: u32| lines.get((line as usize).wrapping_sub(1)).map_or("", |l| l.trim());
    let steps = stream.steps.iter().map(|step| StepInfo {
        source: step.source,
        line: step.inst.line,
        text: line_of(step.inst.line).to_string(),
        is_branch: step.source.is_some() && step.inst.guard.is_some() && step.inst.op.is_branch(),
        reconverge_line: step.source.and_then(|s| kernel.flow.reconvergence_line(s, &kernel.insts)),
    });
    let facts = MachineFacts::of_counts_only();
    let _ = (steps, facts, cycles, active_sms, occupancy, observer, RunInput::default(), report::metrics::list);
    todo!("assembled when the report lands: {:?} {interleaved}", launch.grid)
}

/// Buffers as the launch's expectations read them.
struct Buffers<'a>(&'a Launch);

impl MemoryView for Buffers<'_> {
    fn word(&self, buffer: usize, word: u64) -> u32 {
        self.0.buffers.get(buffer).and_then(|b| b.words.get(word as usize)).copied().unwrap_or(0)
    }
}
