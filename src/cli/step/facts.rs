//! What does not change while one steps: the program's text, its steps, and how it is run.

use simt_sim::base::Pc;
use simt_sim::kernel::{Kernel, Op, Stream};
use simt_sim::machine::{self, Finish, MachineSpec, Options};
use simt_sim::pipeline::{self, Program};
use simt_sim::report::StepInfo;

/// The unchanging part of a session.
pub(crate) struct Facts<'p> {
    program: &'p Program,
    kernel: &'p Kernel,
    stream: Stream,
    infos: Vec<StepInfo>,
    /// The source, line by line, tabs expanded.
    pub(crate) lines: Vec<String>,
    /// The program's file name.
    pub(crate) file: String,
    /// `volta on h200`
    pub(crate) how: String,
}

impl<'p> Facts<'p> {
    pub(crate) fn new(program: &'p Program, kernel: &'p Kernel, spec: &MachineSpec, options: &Options) -> Facts<'p> {
        let stream = machine::stream(kernel, options.mode, options.yields);
        let file = program.name.rsplit('/').next().unwrap_or_default().to_string();
        Facts {
            program,
            kernel,
            infos: pipeline::step_infos(program, kernel, &stream.steps),
            stream,
            lines: program.text.lines().map(|line| line.trim_end().replace('\t', "    ")).collect(),
            file,
            how: format!("{} on {}", options.mode.name(), spec.name),
        }
    }

    /// What a step is.
    pub(crate) fn info(&self, pc: Pc) -> Option<&StepInfo> {
        self.infos.get(pc.index())
    }

    /// A step in a few words: `line 63`, or `line 70 (sync B0)` for a step that the source does not show.
    pub(crate) fn place(&self, pc: Pc, line: u32) -> String {
        match self.stream.steps.get(pc.index()).map(|step| &step.inst.op) {
            Some(Op::Join(op)) => format!("line {line} ({op})"),
            _ => format!("line {line}"),
        }
    }

    /// Whether an instruction stands on the line (from 1).
    pub(crate) fn has_steps(&self, line: u32) -> bool {
        self.infos.iter().any(|info| info.line == line && info.source.is_some())
    }

    /// Why the run ended, in a sentence.
    pub(crate) fn ending(&self, finish: &Finish) -> String {
        match pipeline::why(self.program, self.kernel, finish) {
            None => "every thread has ended".to_string(),
            Some(verdict) => format!("{}: {}", finish.name(), verdict.message),
        }
    }
}
