//! A parsed and checked program, before a run.

mod compiled;
mod signature;

use crate::diag::{Diagnostic, first_of_many, has_errors};
use crate::isa::Space;
use crate::kernel::layout::{BASE_ALIGN, Bases};
use crate::kernel::{self, Checked, Inst, Kernel, KernelName, Refused, StaticVariable, SystemFn};
use crate::launch::{self, Launch, Overrides, Plan};
use crate::ptx::{self, Locations, tree::Module};
use crate::sass;
use std::sync::Arc;

use compiled::Relocation;
use signature::Signatures;

pub use compiled::Compiled;
pub use signature::arguments_by_position;

/// A program text with the results of all analyses.
pub struct Program {
    /// Name shown in messages and reports.
    pub name: String,
    /// Source text, to which lines and spans refer.
    pub text: String,
    /// Texts that were linked to this one; one if there was no linking.
    parts: Vec<Part>,
    /// Code that a compiler made of the text, if that is CUDA C++.
    pub compiled: Option<Compiled>,
    /// Syntax tree.
    pub module: Module,
    /// Kernels that can run.
    pub kernels: Vec<Kernel>,
    /// Kernels with errors in the code that they reach.
    pub refused: Vec<Refused>,
    /// Variables of the module with their addresses and initial bytes.
    ///
    /// Those of machine code include the constant banks of all kernels that can run, named
    /// `c[0x4]` and the like.
    pub variables: Arc<Vec<StaticVariable>>,
    /// Directives.
    pub plan: Plan,
    /// All findings in source order.
    pub findings: Vec<Diagnostic>,
}

/// Text of a linked program.
struct Part {
    name: String,
    /// First line in the text of the program, from 1.
    first_line: u32,
}

/// Reason why [`Program::kernel`] fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKernel {
    /// The file declares no kernel. Program name, and how it gets one.
    #[error("`{0}` has no kernel; {1}")]
    None(String, &'static str),
    /// The file has no kernel of that name.
    #[error("`{program}` has no kernel `{wanted}`; it has {there}")]
    Unknown {
        /// Program name.
        program: String,
        /// Requested name.
        wanted: String,
        /// Names of the program's kernels.
        there: String,
    },
    /// The file has several kernels and none is selected.
    #[error("`{program}` has several kernels; choose one of {there}")]
    Several {
        /// Program name.
        program: String,
        /// Names of the program's kernels.
        there: String,
    },
    /// The requested kernel has errors.
    #[error("kernel `{wanted}` of `{program}` cannot be run: {}", plural(*errors, "error"))]
    Refused {
        /// Program name.
        program: String,
        /// Requested name.
        wanted: String,
        /// Number of errors in the code that it reaches.
        errors: usize,
    },
}

fn plural(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

impl Program {
    /// Parses and checks a text; errors are in [`Program::findings`].
    pub fn parse(name: &str, text: &str) -> Program {
        Program::parse_at(name, text, Bases::default())
    }

    /// As [`Program::parse`], with given addresses of the module's variables and functions.
    ///
    /// Bases outside the ranges of [`Bases`] are moved into them.
    pub fn parse_at(name: &str, text: &str, bases: Bases) -> Program {
        let (module, checked) = read(text, bases);
        let parts = vec![Part { name: name.to_string(), first_line: 1 }];
        Program::of(name, text.to_string(), module, checked, parts)
    }

    /// Parses and checks what a compiler made of a CUDA C++ source: PTX, or a listing of machine
    /// code.
    ///
    /// Directives, lines and spans are those of the source, and so are the names of parameters
    /// where the kernel's signature can be read. `by` names the compiler.
    pub fn of_cuda(name: &str, source: &str, code: &str, by: &str) -> Program {
        let (mut module, mut checked) = read(code, Bases::default());
        let compiled = Compiled::new(code, by);
        // The lines of machine code stand in its kernels, those of PTX in the module.
        let native = checked.kernels.iter().filter(|kernel| kernel.native.is_some());
        let native: Vec<Kernel> = native.cloned().collect();
        let locations = locations(&module, &native);
        compiled.relocate(&Relocation::new(name, source, &locations), &mut checked);
        module.directives = ptx::leading_directives(source);
        let parts = vec![Part { name: name.to_string(), first_line: 1 }];
        let mut program = Program::of(name, source.to_string(), module, checked, parts);
        let signatures = Signatures::new(source);
        for kernel in &mut program.kernels {
            let names = signatures.names(&kernel.name, kernel.params.len()).unwrap_or_default();
            for (parameter, name) in kernel.params.iter_mut().zip(names) {
                parameter.name = name.to_owned();
            }
        }
        Program { compiled: Some(compiled), ..program }
    }

    /// Links PTX texts, given with their names, to one program.
    ///
    /// Its text has all texts one after another; [`Program::place_of`] names the text of a line.
    /// Names that nothing defines are in [`Program::undefined`] and are errors where they are used.
    /// The first name is that of the program.
    pub fn link(texts: &[(&str, &str)], bases: Bases) -> Program {
        let sources: Vec<&str> = texts.iter().map(|(_, text)| *text).collect();
        let (text, module, findings, first_lines) = ptx::link(&sources);
        let mut checked = kernel::check_at(&module, &text, &findings, bases);
        checked.findings.splice(0..0, findings);
        let part = |((name, _), first_line): (&(&str, &str), u32)| Part {
            name: (*name).to_string(),
            first_line,
        };
        let parts = texts.iter().zip(first_lines).map(part).collect();
        let name = texts.first().map_or("", |(name, _)| name);
        Program::of(name, text, module, checked, parts)
    }

    /// Adds the directives, and orders the findings.
    fn of(name: &str, text: String, module: Module, checked: Checked, parts: Vec<Part>) -> Program {
        let Checked { mut kernels, mut refused, variables, mut findings } = checked;
        kernel::give_source_names(&mut kernels, &mut refused);
        let (plan, of_plan) = launch::plan(&module, &text);
        if has_errors(&of_plan) {
            let unsaid = |kernel: Kernel| Refused {
                name: kernel.name,
                symbol: kernel.symbol,
                errors: Vec::new(),
                span: kernel.span,
            };
            refused.extend(std::mem::take(&mut kernels).into_iter().map(unsaid));
            refused.sort_by_key(|refused| refused.span);
        }
        findings.extend(of_plan);
        let written = kernels.iter().filter(|kernel| kernel.native.is_none());
        findings.extend(written.flat_map(kernel::warnings));
        findings.sort_by_key(|d| (d.labels.first().map(|l| l.span), d.severity));
        findings.dedup();
        let findings = first_of_many(findings);
        let name = name.to_string();
        let compiled = None;
        Program { name, text, parts, compiled, module, kernels, refused, variables, plan, findings }
    }

    /// Returns the name of the text that has a line of [`Program::text`], and the line there.
    pub fn place_of(&self, line: u32) -> (&str, u32) {
        let after = self.parts.partition_point(|part| part.first_line <= line);
        let part = after.checked_sub(1).and_then(|at| self.parts.get(at));
        part.map_or((&self.name, line), |part| (&part.name, line - part.first_line + 1))
    }

    /// Returns the names that the code uses and no text defines, in order.
    pub fn undefined(&self) -> Vec<String> {
        ptx::undefined(&self.module, |name| SystemFn::named(name).is_some())
    }

    /// Returns the first bases after the variables and functions of this program.
    ///
    /// `bases` are those of the program.
    pub fn bases_after(&self, bases: Bases) -> Bases {
        let end = |constant: bool, base: u64| {
            let own = self.variables.iter().filter(|v| (v.space == Space::Const) == constant);
            let ends = own.map(|v| v.address.saturating_add(v.bytes.len() as u64));
            ends.fold(base, u64::max).saturating_add(1).next_multiple_of(BASE_ALIGN)
        };
        let functions = self.kernels.iter().flat_map(|kernel| &kernel.functions);
        let last = functions.map(|function| function.address).fold(bases.function, u64::max);
        Bases {
            constant: end(true, bases.constant),
            global: end(false, bases.global),
            function: last.saturating_add(1).next_multiple_of(BASE_ALIGN),
        }
    }

    /// Returns the text of an instruction, as compiled.
    pub fn instruction(&self, inst: &Inst) -> &str {
        let span = inst.compiled.unwrap_or(inst.span);
        self.code().get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Returns the text that runs: PTX, or a listing of machine code.
    pub fn code(&self) -> &str {
        self.compiled.as_ref().map_or(&self.text, |compiled| &compiled.text)
    }

    /// Returns true if the file has no errors.
    pub fn is_sound(&self) -> bool {
        !has_errors(&self.findings)
    }

    /// Returns the kernel `wanted`, the one that the directives select, or the only one.
    ///
    /// # Errors
    /// Fails if there is no such kernel, if several are left, or if it has errors.
    pub fn kernel(&self, wanted: Option<&str>) -> Result<&Kernel, NoKernel> {
        let program = self.name.clone();
        let names = self.kernels.iter().map(|k| k.name.as_str());
        let others = self.refused.iter().map(|r| format!("{} (cannot be run)", r.name));
        let there = || names.map(str::to_owned).chain(others).collect::<Vec<_>>().join(", ");
        let errors = |refused: &Refused| refused.errors.len().max(1);
        let refused = |r: &Refused| NoKernel::Refused {
            program: self.name.clone(),
            wanted: r.name.clone(),
            errors: errors(r),
        };
        match (self.chosen(wanted), self.kernels.as_slice(), self.refused.as_slice()) {
            (_, [], []) => Err(NoKernel::None(program, self.way_to_a_kernel())),
            (Some(wanted), kernels, others) => {
                let all =
                    kernels.iter().map(Kernel::names).chain(others.iter().map(Refused::names));
                let instances = all.filter(|k| k.is_instance_of(wanted)).count();
                let is =
                    |k: KernelName<'_>| k.is(wanted) || instances == 1 && k.is_instance_of(wanted);
                let good = kernels.iter().find(|k| is(k.names()));
                let bad = || others.iter().find(|r| is(r.names())).map(refused);
                let none = || match instances {
                    0 => NoKernel::Unknown { program, wanted: wanted.to_string(), there: there() },
                    _ => NoKernel::Several { program, there: there() },
                };
                good.ok_or_else(|| bad().unwrap_or_else(none))
            }
            (None, [one], []) => Ok(one),
            (None, [], [one]) => Err(refused(one)),
            (None, ..) => Err(NoKernel::Several { program, there: there() }),
        }
    }

    /// Says how a program without a kernel gets one.
    fn way_to_a_kernel(&self) -> &'static str {
        if self.compiled.is_some() {
            "declare one with `__global__ void name( .. ) { .. }`"
        } else if sass::is_listing(self.code()) || self.name.ends_with(".sass") {
            "write the file with `simt-sim import`"
        } else {
            "declare one with `.entry name ( .. ) { .. }`"
        }
    }

    /// Returns the kernel of a launch, counted from 0; `wanted` goes before the directives.
    ///
    /// # Errors
    /// As [`Program::kernel`].
    pub fn kernel_at(&self, launch: usize, wanted: Option<&str>) -> Result<&Kernel, NoKernel> {
        let named = self.plan.kernel_at(launch).map(|name| name.text.as_str());
        match wanted.or(named) {
            // A launch that names no kernel takes the only one, not that of the first launch.
            None if launch > 0 && self.kernels.len() + self.refused.len() > 1 => {
                let there = self.kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>();
                Err(NoKernel::Several { program: self.name.clone(), there: there.join(", ") })
            }
            wanted => self.kernel(wanted),
        }
    }

    /// Returns the lines of the source language that compiled code comes from.
    ///
    /// There are none if the text is the source itself.
    pub fn locations(&self) -> Locations<'_> {
        match self.compiled {
            Some(_) => Locations::default(),
            None => locations(&self.module, &self.kernels),
        }
    }

    /// Returns the name of the selected kernel, by argument or by directive.
    fn chosen<'n>(&'n self, wanted: Option<&'n str>) -> Option<&'n str> {
        wanted.or(self.plan.kernel().map(|name| name.text.as_str()))
    }

    /// Returns the findings because of which [`Program::kernel`] fails.
    ///
    /// These are the errors in the code that the kernel reaches, or all findings.
    pub fn findings_against(&self, wanted: Option<&str>) -> &[Diagnostic] {
        let chosen = self.chosen(wanted);
        let refused = self
            .refused
            .iter()
            .find(|refused| chosen.is_none_or(|name| refused.names().matches(name)));
        refused
            .map(|refused| refused.errors.as_slice())
            .filter(|errors| !errors.is_empty())
            .unwrap_or(&self.findings)
    }

    /// Evaluates the directives of one launch of several, counted from 0.
    ///
    /// See [`Plan::resolve_at`].
    ///
    /// # Errors
    /// As [`Program::launch`].
    pub fn launch_at(
        &self,
        index: usize,
        kernel: &Kernel,
        overrides: &Overrides,
        files: launch::Files<'_>,
    ) -> Result<Launch, Vec<Diagnostic>> {
        self.plan.resolve_at(index, kernel, overrides, files).map_err(first_of_many)
    }

    /// Evaluates the directives and applies `overrides`.
    ///
    /// `files` reads the files of `file("..")`.
    ///
    /// # Errors
    /// Returns all errors in the directives and the overrides at once. Fails if the directives
    /// have several launches.
    pub fn launch(
        &self,
        kernel: &Kernel,
        overrides: &Overrides,
        files: launch::Files<'_>,
    ) -> Result<Launch, Vec<Diagnostic>> {
        self.plan.resolve(kernel, overrides, files).map_err(first_of_many)
    }
}

/// Parses and checks PTX or a listing of machine code.
fn read(text: &str, bases: Bases) -> (Module, Checked) {
    if sass::is_listing(text) {
        let module = Module { directives: ptx::directives(text), ..Module::default() };
        return (module, sass::read_at(text, bases));
    }
    let (module, parsed) = ptx::parse(text);
    let mut checked = kernel::check_at(&module, text, &parsed, bases);
    checked.findings.splice(0..0, parsed);
    (module, checked)
}

fn locations<'a>(module: &'a Module, kernels: &'a [Kernel]) -> Locations<'a> {
    let mut locations = Locations::new(module);
    for kernel in kernels {
        if let Some((file, lines)) = kernel.native.as_ref().and_then(|n| n.source.as_ref()) {
            let starts = kernel.insts.iter().map(|inst| inst.span.start);
            locations.add(file, starts.zip(lines.iter().copied()));
        }
    }
    locations
}
