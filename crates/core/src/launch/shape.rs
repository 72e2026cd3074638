//! Grid, block, shared memory and registers of one launch, within the limits of a GPU.

use super::Overrides;
use super::argument::short_name;
use super::plan::{LaunchPlan, Shape};
use super::resolve::{Signature, command_line};
use super::term::{Scope, integer};
use crate::diag::{Diagnostic, Span};
use crate::kernel::layout::WINDOW_BYTES;

/// Maximum threads per block, on every GPU since Fermi.
const MAX_BLOCK_THREADS: u64 = 1024;
/// Maximum block size in x, y, z.
const MAX_BLOCK: [u64; 3] = [1024, 1024, 64];
/// Maximum grid size in x, y, z.
const MAX_GRID: [u64; 3] = [i32::MAX as u64, 65_535, 65_535];
/// Maximum number of threads, and so of blocks, in a launch.
const MAX_TOTAL: u64 = i32::MAX as u64;

impl LaunchPlan {
    /// Evaluates the grid in blocks.
    pub(super) fn grid(
        &self,
        overrides: &Overrides,
        scope: &Scope<'_>,
    ) -> Result<[u32; 3], Diagnostic> {
        extent(self.grid.as_ref(), overrides.grid, "grid", MAX_GRID, scope)
    }

    /// Evaluates the block in threads.
    pub(super) fn block(
        &self,
        overrides: &Overrides,
        scope: &Scope<'_>,
    ) -> Result<[u32; 3], Diagnostic> {
        extent(self.block.as_ref(), overrides.block, "block", MAX_BLOCK, scope)
    }

    /// Reports all missing directives in one diagnostic.
    pub(super) fn missing(
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

    /// Checks the number of threads against the limits of a launch and of the kernel.
    pub(super) fn check_totals(
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

    /// Evaluates `shared`, in bytes.
    pub(super) fn dynamic_shared(
        &self,
        kernel: &Signature<'_>,
        scope: &Scope<'_>,
    ) -> Result<u32, Diagnostic> {
        let Some(expr) = &self.shared else { return Ok(0) };
        let bytes = integer(expr, scope)?;
        let room = WINDOW_BYTES.saturating_sub(u64::from(kernel.shared_bytes));
        u32::try_from(bytes).ok().filter(|b| u64::from(*b) <= room).ok_or_else(|| {
            let message =
                format!("expected 0 to {room} bytes of dynamic shared memory, found {bytes}");
            Diagnostic::error("too-large", expr.span(), message)
        })
    }

    /// Evaluates `registers`.
    pub(super) fn registers(&self, scope: &Scope<'_>) -> Result<Option<u32>, Diagnostic> {
        let Some(expr) = &self.registers else { return Ok(None) };
        let number = integer(expr, scope)?;
        u32::try_from(number).ok().filter(|n| (1..=255).contains(n)).map(Some).ok_or_else(|| {
            let message = format!("expected 1 to 255 registers per thread, found {number}");
            Diagnostic::error("too-large", expr.span(), message)
        })
    }
}

/// A finding about a shape: at its directive, or without a place if the command line gave the
/// shape.
fn at_shape(code: &'static str, shape: Option<&Shape>, message: String) -> Diagnostic {
    match shape {
        Some(shape) => Diagnostic::error(code, shape.span, message),
        None => command_line(code, message),
    }
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
