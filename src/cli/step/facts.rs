//! Constants of a session: the program's text, its steps, mode and machine.

use simt_core::base::{LaneMask, Pc};
use simt_core::code::Code;
use simt_core::kernel::Op;
use simt_core::machine::Finish;
use simt_core::{Job, Program};
use simt_report::simulate;
use simt_report::{StepInfo, predication};

/// Constants of a session.
pub(crate) struct Facts<'p> {
    program: &'p Program,
    code: &'p Code,
    infos: Vec<StepInfo>,
    /// Source lines, tabs expanded.
    pub(crate) lines: Vec<String>,
    /// Numbers of the lines that the source panel shows.
    pub(crate) rows: Vec<u32>,
    /// File name of the program.
    pub(crate) file: String,
    /// Mode and machine, as in `volta on h200`.
    pub(crate) how: String,
}

impl<'p> Facts<'p> {
    pub(crate) fn new(job: &'p Job<'p>) -> Facts<'p> {
        let Job { program, code, machine, options, .. } = job;
        let file = program.name.rsplit('/').next().unwrap_or_default().to_string();
        let mut facts = Facts {
            program,
            code,
            infos: simulate::step_infos(program, code),
            lines: program.text.lines().map(|line| line.trim_end().replace('\t', "    ")).collect(),
            file,
            how: format!("{} on {}", options.mode.name(), machine.name),
            rows: Vec::new(),
        };
        facts.rows = facts.shown_lines();
        if facts.is_machine_code() {
            // Lines of the listing give way to the instruction with its CUDA and PTX lines.
            for info in &facts.infos {
                if let Some(line) = facts.lines.get_mut((info.line as usize).wrapping_sub(1)) {
                    line.clone_from(&info.text);
                }
            }
        }
        facts
    }

    /// Returns the description of a step.
    pub(crate) fn info(&self, pc: Pc) -> Option<&StepInfo> {
        self.infos.get(pc.index())
    }

    /// Returns the instruction of a step that a compiler made of a CUDA line, after its place;
    /// `None` if the lines shown are the instructions.
    pub(crate) fn compiled(&self, pc: Pc) -> Option<&str> {
        self.program.compiled.as_ref()?;
        self.info(pc).map(|info| info.text.as_str())
    }

    /// Names a step: `line 63`, or `line 70 (sync B0)` for a step without source text.
    pub(crate) fn place(&self, pc: Pc, line: u32) -> String {
        match self.code.ops().get(pc.index()).map(|step| &step.inst.op) {
            Some(Op::Join(op)) if !self.is_machine_code() => format!("line {line} ({op})"),
            _ => format!("line {line}"),
        }
    }

    /// Returns true if the text is a listing of machine code.
    fn is_machine_code(&self) -> bool {
        self.code.kernel().native.is_some() && self.program.compiled.is_none()
    }

    /// Returns the numbers of the lines that the source panel shows, ascending.
    ///
    /// In a listing of machine code these are the lines of the kernel's instructions; the others
    /// hold facts and encodings.
    fn shown_lines(&self) -> Vec<u32> {
        match self.is_machine_code() {
            true => self.code.kernel().insts.iter().map(|inst| inst.line).collect(),
            false => (1..).take(self.lines.len()).collect(),
        }
    }

    /// Returns true if the line (from 1) has an instruction.
    pub(crate) fn has_steps(&self, line: u32) -> bool {
        self.infos.iter().any(|info| info.line == line && info.source.is_some())
    }

    /// Returns true if a branch of the line (from 1) was predicated. Guarded instructions replace
    /// it.
    pub(crate) fn is_predicated(&self, line: u32) -> bool {
        self.code.predicated().iter().any(|branch| branch.line == line)
    }

    /// Describes the predicated branches, if any.
    pub(crate) fn predication(&self) -> Option<String> {
        predication(&self.code.predicated().iter().map(|branch| branch.line).collect::<Vec<_>>())
    }

    /// Describes the outcome of the predicated branch that an issued step replaces.
    pub(crate) fn would_branch(&self, pc: Pc, active: LaneMask, lanes: LaneMask) -> Option<String> {
        let branch = self.info(pc)?.replaces.as_ref()?;
        let taken = if branch.executes_taken { lanes } else { active - lanes };
        let (taken, others) = (taken.count(), (active - taken).count());
        Some(format!(
            "predicated branch of line {}: {taken} would branch, {others} would fall through",
            branch.line
        ))
    }

    /// Describes the end of the run.
    pub(crate) fn ending(&self, finish: &Finish) -> String {
        match simulate::why(self.program, self.code, finish) {
            None => "all threads have exited".to_string(),
            Some(verdict) => format!("{}: {}", finish.name(), verdict.message),
        }
    }
}
