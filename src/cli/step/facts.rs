//! What does not change while one steps: the program's text, its steps, and how it is run.

use simt_core::base::{LaneMask, Pc};
use simt_core::code::Code;
use simt_core::kernel::Op;
use simt_core::machine::Finish;
use simt_core::{Job, Program};
use simt_report::simulate;
use simt_report::{StepInfo, predication};

/// The unchanging part of a session.
pub(crate) struct Facts<'p> {
    program: &'p Program,
    code: &'p Code,
    infos: Vec<StepInfo>,
    /// The source, line by line, tabs expanded.
    pub(crate) lines: Vec<String>,
    /// The program's file name.
    pub(crate) file: String,
    /// `volta on h200`
    pub(crate) how: String,
}

impl<'p> Facts<'p> {
    pub(crate) fn new(job: &'p Job<'p>) -> Facts<'p> {
        let Job { program, code, machine, options, .. } = job;
        let file = program.name.rsplit('/').next().unwrap_or_default().to_string();
        Facts {
            program,
            code,
            infos: simulate::step_infos(program, code),
            lines: program.text.lines().map(|line| line.trim_end().replace('\t', "    ")).collect(),
            file,
            how: format!("{} on {}", options.mode.name(), machine.name),
        }
    }

    /// What a step is.
    pub(crate) fn info(&self, pc: Pc) -> Option<&StepInfo> {
        self.infos.get(pc.index())
    }

    /// A step in a few words: `line 63`, or `line 70 (sync B0)` for a step that the source does not show.
    pub(crate) fn place(&self, pc: Pc, line: u32) -> String {
        match self.code.ops().get(pc.index()).map(|step| &step.inst.op) {
            Some(Op::Join(op)) => format!("line {line} ({op})"),
            _ => format!("line {line}"),
        }
    }

    /// Whether an instruction stands on the line (from 1).
    pub(crate) fn has_steps(&self, line: u32) -> bool {
        self.infos.iter().any(|info| info.line == line && info.source.is_some())
    }

    /// Whether a branch on the line (from 1) was predicated: its sides are guarded instructions, and it is not issued.
    pub(crate) fn is_predicated(&self, line: u32) -> bool {
        self.code.predicated().iter().any(|branch| branch.line == line)
    }

    /// Which branches were predicated, in words; nothing where none was.
    pub(crate) fn predication(&self) -> Option<String> {
        predication(&self.code.predicated().iter().map(|branch| branch.line).collect::<Vec<_>>())
    }

    /// What the lanes of an issued step would have done at the predicated branch in whose place it stands.
    pub(crate) fn would_branch(&self, pc: Pc, active: LaneMask, lanes: LaneMask) -> Option<String> {
        let branch = self.info(pc)?.replaces.as_ref()?;
        let taken = if branch.executes_taken { lanes } else { active - lanes };
        let (taken, others) = (taken.count(), (active - taken).count());
        Some(format!("predicated branch of line {}: {taken} would branch, {others} would go on", branch.line))
    }

    /// Why the run ended, in a sentence.
    pub(crate) fn ending(&self, finish: &Finish) -> String {
        match simulate::why(self.program, self.code.kernel(), finish) {
            None => "every thread has ended".to_string(),
            Some(verdict) => format!("{}: {}", finish.name(), verdict.message),
        }
    }
}
