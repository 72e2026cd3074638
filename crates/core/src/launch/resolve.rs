//! Resolves a plan for a kernel: evaluates constants, places and fills buffers, lays out arguments,
//! checks limits.

use super::expect::bind_expectation;
use super::expression::Parser;
use super::fill::{Files, Place, no_memory, words};
use super::plan::{BufferPlan, LaunchPlan, Plan};
use super::term::{Scope, Side, integer};
use super::token::tokenize;
use super::variable::{kept_variables, other_size, words_of};
use super::{Buffer, Launch, Overrides, Spare, Variables};
use crate::diag::{Diagnostic, Span, closest, has_errors};
use crate::isa::Space;
use crate::kernel::layout::{BUFFER_ALIGN, BUFFER_BASE};
use crate::kernel::{Geometry, Kernel, KernelName, Op, Parameter, StaticVariable};
use crate::ptx::tree::Name;

/// Maximum bytes of all buffers of a launch together.
pub(super) const MAX_BUFFER_BYTES: u64 = 16 << 30;
/// Default maximum of host memory for buffer contents and expected values, in bytes.
const MAX_MEMORY: u64 = 2 << 30;
/// Limits in bytes.
#[derive(Clone, Copy, Debug)]
struct Most {
    /// All buffers together.
    buffers: u64,
    /// Host memory for contents and expected values.
    memory: u64,
}

/// The parts of a kernel that a launch depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature<'a> {
    pub(super) names: KernelName<'a>,
    pub(super) params: &'a [Parameter],
    pub(super) param_bytes: u32,
    pub(super) shared_bytes: u32,
    pub(super) block_limit: Option<([u32; 3], bool)>,
    pub(super) variables: &'a [StaticVariable],
    /// True if it fetches by integers from textures of one dimension (`tex1Dfetch`).
    pub(super) fetches_memory: bool,
    pub(super) span: Span,
}

impl<'a> Signature<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Signature<'a> {
        Signature {
            names: kernel.names(),
            params: &kernel.params,
            param_bytes: kernel.param_bytes,
            shared_bytes: kernel.shared_bytes,
            block_limit: kernel.block_limit,
            variables: &kernel.variables,
            fetches_memory: kernel.insts.iter().any(|inst| fetches_memory(&inst.op)),
            span: kernel.span,
        }
    }
}

/// Returns true for a fetch by an integer from a texture of one dimension.
fn fetches_memory(op: &Op) -> bool {
    match op {
        Op::Texture(fetch) => fetch.integer && fetch.place.geometry == Geometry::D1,
        _ => false,
    }
}

impl Plan {
    /// Evaluates the plan for a kernel.
    /// `overrides` come from the command line; `files` reads the files of `file("..")`.
    ///
    /// # Errors
    /// Returns every finding at once: unknown or missing names, values that do not fit, launches
    /// that no GPU accepts. A finding about the command line has no label, because it has no place
    /// in the file.
    pub fn resolve(
        &self,
        kernel: &Kernel,
        overrides: &Overrides,
        files: Files<'_>,
    ) -> Result<Launch, Vec<Diagnostic>> {
        match self.launches.get(1) {
            None => self.resolve_at(0, kernel, overrides, files),
            Some(second) => {
                let message = format!("expected one launch, found {}", self.launches.len());
                let span = second.line.unwrap_or_default();
                Err(vec![Diagnostic::error("several-launches", span, message).help(
                    "`simt-sim run` runs them in order; views take one of them by `--launch N`",
                )])
            }
        }
    }

    /// As [`Plan::resolve`], for one launch of several, counted from 0.
    ///
    /// Buffers have the contents that they have before the first launch, and so has the right side
    /// of an expectation. [`Launch::follow`] gives them what the launch before left.
    pub fn resolve_at(
        &self,
        launch: usize,
        kernel: &Kernel,
        overrides: &Overrides,
        files: Files<'_>,
    ) -> Result<Launch, Vec<Diagnostic>> {
        self.resolve_for(launch, Signature::of(kernel), overrides, files)
    }

    pub(super) fn resolve_for(
        &self,
        launch: usize,
        kernel: Signature<'_>,
        overrides: &Overrides,
        files: Files<'_>,
    ) -> Result<Launch, Vec<Diagnostic>> {
        let mut diagnostics = Vec::new();
        let none = LaunchPlan::default();
        let own = self.launches.get(launch).unwrap_or(&none);
        let others = own.other_kernels.iter();
        let serves = |first: &Name| {
            std::iter::once(first).chain(others).any(|name| kernel.names.matches(&name.text))
        };
        if let Some(wanted) = own.kernel.as_ref().filter(|first| !serves(first)) {
            let message = format!(
                "the directives are for kernel `{}`, not `{}`",
                wanted.text, kernel.names.name
            );
            diagnostics.push(Diagnostic::error("wrong-kernel", wanted.span, message));
        }
        own.missing(&kernel, overrides, &mut diagnostics);
        let mut constants = self.evaluate_constants(overrides, &mut diagnostics);
        constants.extend(self.objects());
        if has_errors(&diagnostics) {
            return Err(diagnostics); // everything else depends on the constants
        }
        let scope =
            Scope { constants: &constants, buffers: &[], variable: None, side: Side::Before };
        let mut keep =
            |result: Result<[u32; 3], Diagnostic>| result.map_err(|d| diagnostics.push(d)).ok();
        let grid = keep(own.grid(overrides, &scope));
        let block = keep(own.block(overrides, &scope));
        if let (Some(grid), Some(block)) = (grid, block) {
            own.check_totals(&kernel, grid, block, overrides, &mut diagnostics);
        }
        let dynamic_shared =
            own.dynamic_shared(&kernel, &scope).map_err(|d| diagnostics.push(d)).unwrap_or(0);
        let registers = own.registers(&scope).map_err(|d| diagnostics.push(d)).unwrap_or(None);
        let most = Most {
            buffers: overrides
                .most_buffer_bytes
                .map_or(MAX_BUFFER_BYTES, |most| most.min(MAX_BUFFER_BYTES)),
            memory: overrides.most_memory.unwrap_or(MAX_MEMORY),
        };
        let Some(mut buffers) =
            self.place_buffers(own, &kernel, &scope, files, most, &mut diagnostics)
        else {
            return Err(diagnostics);
        };
        let scope = Scope { buffers: &buffers, ..scope };
        let (maps, variables) = self.place_tensors(&kernel, &scope, &mut diagnostics);
        let params = own.lay_out(&kernel, &maps, &scope, &mut diagnostics);
        let mut expectations = Vec::new();
        for plan in &own.expectations {
            match bind_expectation(plan, &scope, files) {
                Ok(expectation) => expectations.push(expectation),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        buffers.extend(variables);
        match (grid, block) {
            (Some(grid), Some(block)) if !has_errors(&diagnostics) => Ok(Launch {
                kernel: kernel.names.name.to_owned(),
                title: self.title.clone(),
                grid,
                block,
                params,
                dynamic_shared,
                stack: None,
                cooperative: own.cooperative.is_some(),
                registers,
                buffers,
                variables: Variables::Fresh,
                heap: None,
                spare: Spare::default(),
                expectations,
                constants: constants.into_iter().take(self.constants.len()).collect(),
            }),
            _ => Err(diagnostics),
        }
    }

    fn evaluate_constants(
        &self,
        overrides: &Overrides,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<(String, i64)> {
        for (name, _) in &overrides.set {
            if !self.constants().any(|known| known == name) {
                diagnostics.push(self.unknown_constant(name));
            }
        }
        let mut constants: Vec<(String, i64)> = Vec::new();
        for (name, expr) in &self.constants {
            // The last `--set` of a name wins, as usual for options.
            let set = overrides
                .set
                .iter()
                .rev()
                .find(|(set, _)| *set == name.text)
                .map(|(_, text)| text.as_str());
            let scope =
                Scope { constants: &constants, buffers: &[], variable: None, side: Side::Before };
            let result = match set {
                None => integer(expr, &scope).and_then(|v| {
                    i64::try_from(v).map_err(|_| {
                        Diagnostic::error(
                            "out-of-range",
                            expr.span(),
                            "constant does not fit in a signed 64-bit integer",
                        )
                    })
                }),
                Some(text) => from_command_line(text, &scope).map_err(|reason| {
                    command_line("bad-override", format!("`--set {}={text}`: {reason}", name.text))
                }),
            };
            // A failed constant still gets a value, so that expressions that use it do not fail as
            // well.
            constants
                .push((name.text.clone(), result.map_err(|d| diagnostics.push(d)).unwrap_or(1)));
        }
        constants
    }

    fn unknown_constant(&self, name: &str) -> Diagnostic {
        let known: Vec<&str> = self.constants().collect();
        let diagnostic =
            command_line("unknown-constant", format!("`--set`: unknown constant `{name}`"));
        match closest(name, known.iter().copied()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => diagnostic.help("add `//! const NAME = VALUE` to the file"),
            None => diagnostic.help(format!("use one of `{}`", known.join("`, `"))),
        }
    }

    /// Rejects contents and expected values of more than `most` bytes before computing any.
    /// A buffer without content takes no host memory until a kernel writes to it.
    fn estimate(&self, own: &LaunchPlan, counts: &[u64], most: u64) -> Result<(), Diagnostic> {
        let bytes_of =
            |plan: &BufferPlan, count: u64| count.saturating_mul(u64::from(plan.element.bytes()));
        let filled = self.buffers.iter().zip(counts).filter(|(plan, _)| plan.fill.is_some());
        let filled = filled.map(|(plan, &count)| (bytes_of(plan, count), plan.span));
        let named =
            |name: &str| self.buffers.iter().zip(counts).find(|(plan, _)| plan.name.text == name);
        let expected = own.expectations.iter().filter_map(|expectation| {
            let (plan, &count) = named(expectation.claim.packs()?)?;
            Some((bytes_of(plan, count), expectation.span))
        });
        let mut total = 0u64;
        for (bytes, span) in filled.chain(expected) {
            total = total.saturating_add(bytes);
            if total > most {
                let message = format!(
                    "contents and expected values up to here need {} of host memory, limit {}",
                    size(total),
                    size(most)
                );
                let gib = total.div_ceil(1 << 30);
                return Err(Diagnostic::error("too-large", span, message)
                    .help(format!("use fewer elements or raise the limit: --max-memory {gib}")));
            }
        }
        Ok(())
    }

    /// Computes sizes, addresses and contents of the buffers.
    /// Returns `None` and fills nothing if a size is wrong.
    fn place_buffers(
        &self,
        own: &LaunchPlan,
        kernel: &Signature<'_>,
        scope: &Scope<'_>,
        files: Files<'_>,
        most: Most,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Vec<Buffer>> {
        let mut counts = Vec::new();
        let mut total = 0u64;
        let before = diagnostics.len();
        for plan in &self.buffers {
            let count = integer(&plan.count, scope).and_then(|count| {
                let bytes = u64::try_from(count)
                    .ok()
                    .filter(|c| *c > 0)
                    .and_then(|c| c.checked_mul(u64::from(plan.element.bytes())));
                match bytes {
                    Some(bytes) if total.saturating_add(bytes) <= most.buffers => {
                        total += bytes;
                        Ok(bytes / u64::from(plan.element.bytes()))
                    }
                    _ if count < 1 => {
                        let message = format!(
                            "expected at least one element in buffer `{}`, found {count}",
                            plan.name.text
                        );
                        Err(Diagnostic::error("out-of-range", plan.count.span(), message))
                    }
                    _ => {
                        let message = format!(
                            "buffer `{}` exceeds the limit of {} for all buffers",
                            plan.name.text,
                            size(most.buffers)
                        );
                        Err(Diagnostic::error("too-large", plan.count.span(), message))
                    }
                }
            });
            counts.push(count.map_err(|d| diagnostics.push(d)).unwrap_or(0));
        }
        if diagnostics.len() > before {
            return None;
        }
        if let Err(diagnostic) = self.estimate(own, &counts, most.memory) {
            diagnostics.push(diagnostic);
            return None;
        }
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut address = BUFFER_BASE;
        let named = self.named_by_arguments();
        for (plan, count) in self.buffers.iter().zip(counts) {
            let place = Place { element: plan.element, first: 0, count };
            let bytes = count * u64::from(plan.element.bytes());
            let is_argument = named.contains(&plan.name.text.as_str());
            let variable = kernel.variable(&plan.name.text).filter(|_| !is_argument);
            if let Some(variable) = variable.filter(|v| v.bytes.len() as u64 != bytes) {
                diagnostics.push(other_size(plan, bytes, variable));
            }
            let content = match (&plan.fill, variable) {
                (Some(fill), _) => {
                    words(fill, place, &Scope { buffers: &buffers, ..*scope }, files)
                }
                (None, Some(variable)) => Ok(words_of(&variable.bytes)),
                (None, None) => zeros(bytes).ok_or_else(|| no_memory(plan.span)),
            };
            // A buffer with failed content still exists for expressions that name it; missing words
            // read as 0.
            let words = content.map_err(|d| diagnostics.push(d)).unwrap_or_default();
            buffers.push(Buffer {
                name: plan.name.text.clone(),
                address: variable.map_or(address, |variable| variable.address),
                bytes,
                reach: bytes,
                element: plan.element,
                words,
                lent: None,
                unset: None,
                mapped: is_argument || variable.is_some(),
                writable: variable.is_none_or(|variable| variable.space != Space::Const),
            });
            address += bytes.next_multiple_of(BUFFER_ALIGN) + BUFFER_ALIGN;
        }
        let images = self.place_images(kernel, &Scope { buffers: &buffers, ..*scope }, diagnostics);
        buffers.extend(images);
        if self.launches.len() > 1 {
            buffers.extend(kept_variables(&buffers, kernel.variables));
        }
        buffers.sort_by_key(|buffer| buffer.address);
        Some(buffers)
    }
}

/// A finding about the command line, without a place in the file.
pub(super) fn command_line(code: &'static str, message: String) -> Diagnostic {
    Diagnostic { labels: Vec::new(), ..Diagnostic::error(code, Span::default(), message) }
}

/// Evaluates the value of a `--set`.
fn from_command_line(text: &str, scope: &Scope<'_>) -> Result<i64, String> {
    let mut diagnostics = Vec::new();
    let lexemes = tokenize(text, 0, &mut diagnostics);
    if let Some(first) = diagnostics.into_iter().next() {
        return Err(first.message);
    }
    let mut parser = Parser::new(&lexemes, Span::default());
    let expr = parser.expression().map_err(|d| d.message)?;
    if !parser.at_end() {
        return Err(parser.expected("the end of the value").message);
    }
    let value = integer(&expr, scope).map_err(|d| d.message)?;
    i64::try_from(value).map_err(|_| "constant does not fit in a signed 64-bit integer".to_owned())
}

/// Formats a number of bytes for a message.
fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        bytes if bytes >= 1 << 20 => format!("{} MiB", bytes.div_ceil(1 << 20)),
        bytes => format!("{bytes} bytes"),
    }
}

/// Allocates zeros that the operating system provides on first touch.
fn zeros(bytes: u64) -> Option<Vec<u32>> {
    let count = usize::try_from(bytes.div_ceil(4)).ok()?;
    Vec::<u32>::new().try_reserve_exact(count).ok()?;
    Some(vec![0; count])
}
