//! Warnings about control flow.

use super::ControlFlow;
use super::around::Around;
use super::dominance::bare_exits;
use crate::diag::{Diagnostic, Span};
use crate::kernel::{Inst, Kernel, Op};

/// Returns the warnings about a kernel's control flow, in source order.
///
/// - `no-exit`: no exit is reachable.
/// - `divergent-barrier`: lanes of a warp may reach a block barrier diverged.
/// - `unreachable-code`: no path reaches the instructions.
pub fn warnings(kernel: &Kernel) -> Vec<Diagnostic> {
    let (insts, flow) = (&kernel.insts[..], &kernel.flow);
    let mut found = no_exit(insts, flow, kernel.span);
    found.extend(divergent_barriers(insts, flow));
    found.extend(unreachable_code(insts, flow));
    found.sort_by_key(|d| d.labels.first().map(|l| l.span));
    found
}

fn no_exit(insts: &[Inst], flow: &ControlFlow, span: Span) -> Vec<Diagnostic> {
    let exits = |i: usize| matches!(insts[i].op, Op::Exit | Op::Trap);
    if flow.blocks.iter().filter(|b| b.reachable).any(|b| b.range().any(exits)) {
        return Vec::new();
    }
    let finding = Diagnostic::warning(
        "no-exit",
        span,
        "this kernel never ends: no path from its start reaches an exit",
    )
    .help("let some branch lead to a `ret`");
    vec![finding]
}

fn divergent_barriers(insts: &[Inst], flow: &ControlFlow) -> Vec<Diagnostic> {
    let around = Around::new(flow, insts, &[]);
    let mut found = Vec::new();
    for block in flow.blocks.iter().filter(|b| b.reachable) {
        for i in block.range() {
            if !matches!(insts[i].op, Op::Barrier(barrier) if barrier.aligned) {
                continue;
            }
            let finding = |message| {
                Diagnostic::warning("divergent-barrier", insts[i].span, message)
                    .label("this block barrier")
            };
            if flow.divergent_guard(i) {
                found.push(
                    finding("a block barrier is guarded by a predicate that may differ between the lanes of a warp")
                        .help("let every thread of the block execute the barrier, or guard it by a uniform predicate"),
                );
            } else if flow.under_divergence(block.id) {
                // In structured code, the last such branch in the text is the nearest.
                let cause = around.block(block.id).last();
                let mut finding = finding(
                    "lanes of one warp may reach a block barrier at different times, or never",
                )
                .help("move the barrier after the reconvergence point, or make the branch uniform");
                if let Some(cause) = cause {
                    finding =
                        finding.also(insts[cause.inst as usize].span, "lanes may diverge here");
                }
                found.push(finding);
            }
        }
    }
    found
}

fn unreachable_code(insts: &[Inst], flow: &ControlFlow) -> Vec<Diagnostic> {
    let bare = bare_exits(insts, &flow.blocks); // compilers end every path with an exit
    let mut found = Vec::new();
    let mut run: Option<Span> = None;
    for block in &flow.blocks {
        if !block.reachable && !bare.contains(block.id.index()) {
            let span = insts[block.first as usize].span.to(insts[block.last()].span);
            run = Some(run.map_or(span, |r| r.to(span)));
        } else {
            found.extend(run.take());
        }
    }
    found.extend(run);
    let finding =
        |span| Diagnostic::warning("unreachable-code", span, "no path leads to these instructions");
    found.into_iter().map(finding).collect()
}
