//! Resolves a plan for a kernel: evaluates constants, places and fills buffers, lays out arguments,
//! checks limits.

use super::argument::short_name;
use super::expect::bind_expectation;
use super::expression::Parser;
use super::fill::{Files, Place, no_memory, words};
use super::plan::{BufferPlan, Plan, Shape};
use super::term::{Scope, Side, integer};
use super::token::tokenize;
use super::variable::{other_size, words_of};
use super::{Buffer, Launch, Overrides, Variables};
use crate::diag::{Diagnostic, Span, closest, has_errors};
use crate::isa::Space;
use crate::kernel::layout::{BUFFER_ALIGN, BUFFER_BASE, WINDOW_BYTES};
use crate::kernel::{Kernel, KernelName, Parameter, StaticVariable};
use crate::ptx::tree::Name;

/// Maximum bytes of all buffers of a launch together.
pub(super) const MAX_BUFFER_BYTES: u64 = 16 << 30;
/// Default maximum of host memory for buffer contents and expected values, in bytes.
const MAX_MEMORY: u64 = 2 << 30;
/// Maximum threads per block, on every GPU since Fermi.
const MAX_BLOCK_THREADS: u64 = 1024;
/// Maximum block size in x, y, z.
const MAX_BLOCK: [u64; 3] = [1024, 1024, 64];
/// Maximum grid size in x, y, z.
const MAX_GRID: [u64; 3] = [i32::MAX as u64, 65_535, 65_535];
/// Maximum number of threads, and so of blocks, in a launch.
const MAX_TOTAL: u64 = i32::MAX as u64;

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
            span: kernel.span,
        }
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
        self.resolve_for(Signature::of(kernel), overrides, files)
    }

    pub(super) fn resolve_for(
        &self,
        kernel: Signature<'_>,
        overrides: &Overrides,
        files: Files<'_>,
    ) -> Result<Launch, Vec<Diagnostic>> {
        let mut diagnostics = Vec::new();
        let others = self.other_kernels.iter();
        let serves = |first: &Name| {
            std::iter::once(first).chain(others).any(|name| kernel.names.matches(&name.text))
        };
        if let Some(wanted) = self.kernel.as_ref().filter(|first| !serves(first)) {
            let message = format!(
                "the directives are for kernel `{}`, not `{}`",
                wanted.text, kernel.names.name
            );
            diagnostics.push(Diagnostic::error("wrong-kernel", wanted.span, message));
        }
        self.missing(&kernel, overrides, &mut diagnostics);
        let constants = self.evaluate_constants(overrides, &mut diagnostics);
        if has_errors(&diagnostics) {
            return Err(diagnostics); // everything else depends on the constants
        }
        let scope =
            Scope { constants: &constants, buffers: &[], variable: None, side: Side::Before };
        let mut keep =
            |result: Result<[u32; 3], Diagnostic>| result.map_err(|d| diagnostics.push(d)).ok();
        let grid = keep(extent(self.grid.as_ref(), overrides.grid, "grid", MAX_GRID, &scope));
        let block = keep(extent(self.block.as_ref(), overrides.block, "block", MAX_BLOCK, &scope));
        if let (Some(grid), Some(block)) = (grid, block) {
            self.check_totals(&kernel, grid, block, overrides, &mut diagnostics);
        }
        let dynamic_shared =
            self.dynamic_shared(&kernel, &scope).map_err(|d| diagnostics.push(d)).unwrap_or(0);
        let registers = self.registers(&scope).map_err(|d| diagnostics.push(d)).unwrap_or(None);
        let most = Most {
            buffers: overrides
                .most_buffer_bytes
                .map_or(MAX_BUFFER_BYTES, |most| most.min(MAX_BUFFER_BYTES)),
            memory: overrides.most_memory.unwrap_or(MAX_MEMORY),
        };
        let Some(buffers) = self.place_buffers(&kernel, &scope, files, most, &mut diagnostics)
        else {
            return Err(diagnostics);
        };
        let scope = Scope { buffers: &buffers, ..scope };
        let params = self.lay_out(&kernel, &scope, &mut diagnostics);
        let mut expectations = Vec::new();
        for plan in &self.expectations {
            match bind_expectation(plan, &scope, files) {
                Ok(expectation) => expectations.push(expectation),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        match (grid, block) {
            (Some(grid), Some(block)) if !has_errors(&diagnostics) => Ok(Launch {
                kernel: kernel.names.name.to_owned(),
                title: self.title.clone(),
                grid,
                block,
                params,
                dynamic_shared,
                stack: None,
                registers,
                buffers,
                variables: Variables::Fresh,
                heap: None,
                expectations,
                constants,
            }),
            _ => Err(diagnostics),
        }
    }

    /// Reports all missing directives in one diagnostic.
    fn missing(
        &self,
        kernel: &Signature<'_>,
        overrides: &Overrides,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut missing = Vec::new();
        if self.grid.is_none() && overrides.grid.is_none() {
            missing.push("grid = ..".to_owned());
        }
        if self.block.is_none() && overrides.block.is_none() {
            missing.push("block = ..".to_owned());
        }
        if self.arguments.is_empty() {
            let params = kernel.params.iter().enumerate();
            missing.extend(params.map(|(at, p)| format!("arg {} = ..", short_name(at, p))));
        }
        if missing.is_empty() {
            return;
        }
        let lines: Vec<String> = missing.iter().map(|m| format!("//! {m}")).collect();
        let message = format!("missing launch directives for kernel `{}`", kernel.names.name);
        let help = if kernel.params.is_empty() {
            format!("pass --grid and --block, or add at the head of the file: {}", lines.join("  "))
        } else {
            format!("add at the head of the file: {}", lines.join("  "))
        };
        diagnostics.push(Diagnostic::error("missing-directive", kernel.span, message).help(help));
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

    fn check_totals(
        &self,
        kernel: &Signature<'_>,
        grid: [u32; 3],
        block: [u32; 3],
        overrides: &Overrides,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let product = |sizes: [u32; 3]| sizes.iter().map(|s| u128::from(*s)).product::<u128>();
        let (blocks, threads) = (product(grid), product(block));
        let mut report = |shape: &Option<Shape>, overridden: bool, message: String| {
            diagnostics.push(at_shape(
                "too-large",
                shape.as_ref().filter(|_| !overridden),
                message,
            ));
        };
        if threads > u128::from(MAX_BLOCK_THREADS) {
            let message =
                format!("expected at most {MAX_BLOCK_THREADS} threads per block, found {threads}");
            report(&self.block, overrides.block.is_some(), message);
        } else if blocks * threads > u128::from(MAX_TOTAL) {
            let message = format!(
                "{blocks} blocks of {threads} threads exceed the limit of {MAX_TOTAL} threads"
            );
            report(&self.grid, overrides.grid.is_some(), message);
        }
        if let Some((limit, required)) = kernel.block_limit {
            let bad = if required { block != limit } else { threads > product(limit) };
            if bad {
                let (word, [x, y, z]) = (if required { ".reqntid" } else { ".maxntid" }, limit);
                let message =
                    format!("block size {block:?} violates the kernel's `{word} {x}, {y}, {z}`");
                report(&self.block, overrides.block.is_some(), message);
            }
        }
    }

    fn dynamic_shared(&self, kernel: &Signature<'_>, scope: &Scope<'_>) -> Result<u32, Diagnostic> {
        let Some(expr) = &self.shared else { return Ok(0) };
        let bytes = integer(expr, scope)?;
        let room = WINDOW_BYTES.saturating_sub(u64::from(kernel.shared_bytes));
        u32::try_from(bytes).ok().filter(|b| u64::from(*b) <= room).ok_or_else(|| {
            let message =
                format!("expected 0 to {room} bytes of dynamic shared memory, found {bytes}");
            Diagnostic::error("too-large", expr.span(), message)
        })
    }

    fn registers(&self, scope: &Scope<'_>) -> Result<Option<u32>, Diagnostic> {
        let Some(expr) = &self.registers else { return Ok(None) };
        let number = integer(expr, scope)?;
        u32::try_from(number).ok().filter(|n| (1..=255).contains(n)).map(Some).ok_or_else(|| {
            let message = format!("expected 1 to 255 registers per thread, found {number}");
            Diagnostic::error("too-large", expr.span(), message)
        })
    }

    /// Rejects contents and expected values of more than `most` bytes before computing any.
    /// A buffer without content takes no host memory until a kernel writes to it.
    fn estimate(&self, counts: &[u64], most: u64) -> Result<(), Diagnostic> {
        let bytes_of =
            |plan: &BufferPlan, count: u64| count.saturating_mul(u64::from(plan.element.bytes()));
        let filled = self.buffers.iter().zip(counts).filter(|(plan, _)| plan.fill.is_some());
        let filled = filled.map(|(plan, &count)| (bytes_of(plan, count), plan.span));
        let named =
            |name: &str| self.buffers.iter().zip(counts).find(|(plan, _)| plan.name.text == name);
        let expected = self.expectations.iter().filter_map(|expectation| {
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
        if let Err(diagnostic) = self.estimate(&counts, most.memory) {
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
                element: plan.element,
                words,
                mapped: is_argument || variable.is_some(),
                writable: variable.is_none_or(|variable| variable.space != Space::Const),
            });
            address += bytes.next_multiple_of(BUFFER_ALIGN) + BUFFER_ALIGN;
        }
        buffers.sort_by_key(|buffer| buffer.address);
        Some(buffers)
    }
}

/// A finding about the command line, without a place in the file.
fn command_line(code: &'static str, message: String) -> Diagnostic {
    Diagnostic { labels: Vec::new(), ..Diagnostic::error(code, Span::default(), message) }
}

/// A finding about a shape: at its directive, or without a place if the command line gave the
/// shape.
fn at_shape(code: &'static str, shape: Option<&Shape>, message: String) -> Diagnostic {
    match shape {
        Some(shape) => Diagnostic::error(code, shape.span, message),
        None => command_line(code, message),
    }
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

/// Evaluates a grid or block, from the command line or its directive.
fn extent(
    shape: Option<&Shape>,
    overridden: Option<[u32; 3]>,
    what: &str,
    limits: [u64; 3],
    scope: &Scope<'_>,
) -> Result<[u32; 3], Diagnostic> {
    let mut result = [1u32; 3];
    let check = |size: i128, axis: usize, span: Option<Span>| {
        u32::try_from(size).ok().filter(|s| *s >= 1 && u64::from(*s) <= limits[axis]).ok_or_else(
            || {
                let name = ["x", "y", "z"][axis];
                let message = format!(
                    "expected a {what} size of 1 to {} in {name}, found {size}",
                    limits[axis]
                );
                let code = if size < 1 { "out-of-range" } else { "too-large" };
                span.map_or_else(
                    || command_line(code, message.clone()),
                    |span| Diagnostic::error(code, span, message.clone()),
                )
            },
        )
    };
    if let Some(sizes) = overridden {
        for axis in 0..3 {
            result[axis] = check(i128::from(sizes[axis]), axis, None)?;
        }
    } else if let Some(shape) = shape {
        for (axis, expr) in shape.sizes.iter().take(3).enumerate() {
            result[axis] = check(integer(expr, scope)?, axis, Some(expr.span()))?;
        }
    }
    Ok(result)
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
