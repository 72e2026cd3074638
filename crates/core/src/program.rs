//! A program text with everything that can be said of it before a run.

use crate::diag::{Diagnostic, first_of_many, has_errors};
use crate::kernel::{self, Checked, Kernel, Refused};
use crate::launch::{self, Launch, Overrides, Plan};
use crate::ptx::{self, tree::Module};

/// A program text, analysed as far as it goes.
pub struct Program {
    /// The name under which messages and reports speak of it.
    pub name: String,
    /// The text.
    pub text: String,
    /// What the text says.
    pub module: Module,
    /// The kernels that can be run.
    pub kernels: Vec<Kernel>,
    /// Those that cannot, with the errors in what they reach.
    pub refused: Vec<Refused>,
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
    /// The one asked for has errors.
    #[error("kernel `{wanted}` of `{program}` cannot be run: {}", plural(*errors, "error"))]
    Refused {
        /// The program.
        program: String,
        /// The kernel.
        wanted: String,
        /// Errors in what it reaches.
        errors: usize,
    },
}

fn plural(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

impl Program {
    /// Parses and checks a text. Never fails: what is wrong is in [`Program::findings`].
    pub fn parse(name: &str, text: &str) -> Program {
        let (module, mut findings) = ptx::parse(text);
        let Checked { mut kernels, mut refused, findings: of_check } = kernel::check_parsed(&module, text, &findings);
        let (plan, of_plan) = launch::plan(&module, text);
        if has_errors(&of_plan) {
            let unsaid = |kernel: Kernel| Refused { name: kernel.name, errors: Vec::new(), span: kernel.span };
            refused.extend(std::mem::take(&mut kernels).into_iter().map(unsaid));
            refused.sort_by_key(|refused| refused.span);
        }
        findings.extend(of_check);
        findings.extend(of_plan);
        findings.extend(kernels.iter().flat_map(kernel::warnings));
        findings.sort_by_key(|d| (d.labels.first().map(|l| l.span), d.severity));
        findings.dedup();
        let findings = first_of_many(findings);
        let (name, text) = (name.to_string(), text.to_string());
        Program { name, text, module, kernels, refused, plan, findings }
    }

    /// Whether nothing in the whole file is wrong.
    pub fn is_sound(&self) -> bool {
        !has_errors(&self.findings)
    }

    /// The kernel called `wanted`, or the one its directives choose, or the only one.
    ///
    /// # Errors
    /// When there is no such kernel, a choice is left, or the kernel has errors.
    pub fn kernel(&self, wanted: Option<&str>) -> Result<&Kernel, NoKernel> {
        let program = self.name.clone();
        let names = self.kernels.iter().map(|k| k.name.as_str());
        let others = self.refused.iter().map(|r| format!("{} (cannot be run)", r.name));
        let there = || names.map(str::to_owned).chain(others).collect::<Vec<_>>().join(", ");
        let errors = |refused: &Refused| refused.errors.len().max(1);
        let refused =
            |r: &Refused| NoKernel::Refused { program: self.name.clone(), wanted: r.name.clone(), errors: errors(r) };
        match (self.chosen(wanted), self.kernels.as_slice(), self.refused.as_slice()) {
            (_, [], []) => Err(NoKernel::None(program)),
            (Some(wanted), kernels, others) => {
                let good = kernels.iter().find(|k| k.name == wanted);
                let bad = || others.iter().find(|r| r.name == wanted).map(refused);
                let unknown = || NoKernel::Unknown { program, wanted: wanted.to_string(), there: there() };
                good.ok_or_else(|| bad().unwrap_or_else(unknown))
            }
            (None, [one], []) => Ok(one),
            (None, [], [one]) => Err(refused(one)),
            (None, ..) => Err(NoKernel::Several { program, there: there() }),
        }
    }

    /// The name of the kernel asked for, here or by a directive.
    fn chosen<'n>(&'n self, wanted: Option<&'n str>) -> Option<&'n str> {
        wanted.or(self.plan.kernel().map(|name| name.text.as_str()))
    }

    /// The findings that tell why [`Program::kernel`] refuses: those of the kernel's reach, or all.
    pub fn findings_against(&self, wanted: Option<&str>) -> &[Diagnostic] {
        let chosen = self.chosen(wanted);
        let refused = self.refused.iter().find(|refused| chosen.is_none_or(|name| refused.name == name));
        refused.map(|refused| refused.errors.as_slice()).filter(|errors| !errors.is_empty()).unwrap_or(&self.findings)
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
        self.plan.resolve(kernel, overrides, files).map_err(first_of_many)
    }
}
