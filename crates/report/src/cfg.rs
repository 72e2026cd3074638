//! The control-flow graph of a kernel: text, Graphviz and page layout. [`super::plot`] draws the
//! picture.
//!
//! The graph shows basic blocks with their instructions, edges (taken, fall), branches that can
//! diverge, and the reconvergence point of every branch: its immediate post-dominator with exits
//! ignored, see `kernel::flow`. Unreachable blocks are shown separately. The output depends only on
//! the arguments. Colours are Okabe and Ito's, safe for colour-blind readers; a word or a dash
//! pattern repeats everything that a colour says.

mod layout;

use std::fmt::Write;

use simt_core::Program;
use simt_core::base::BasicBlockId;
use simt_core::diag::printable;
use simt_core::kernel::{BasicBlock, INSTRUCTION_BYTES, Inst, Kernel, Op};

pub(crate) use layout::{Layout, Place, Sizes, lay_out};

/// Maximum length of an instruction's text, in characters.
const LONGEST_LINE: usize = 56;
/// Maximum instructions of a block shown whole; longer blocks show beginning and end.
const LONGEST_BLOCK: usize = 14;

/// Returns the texts of a kernel's instructions, for [`dot`] and [`super::plot::graph`].
pub fn texts(program: &Program, kernel: &Kernel) -> Vec<String> {
    let text = |inst: &Inst| match &inst.op {
        Op::Spill(spill) => format!("({spill})"),
        _ => program.instruction(inst).to_owned(),
    };
    kernel.insts.iter().map(text).collect()
}

/// Prints the graph as Graphviz text. `texts` has the text of each instruction.
pub fn dot(kernel: &Kernel, texts: &[String]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_dot(&mut out, kernel, texts);
    out
}

fn write_dot(out: &mut String, kernel: &Kernel, texts: &[String]) -> std::fmt::Result {
    writeln!(out, "digraph \"{}\" {{", escape(&kernel.name))?;
    writeln!(out, "  node [shape=box, fontname=\"monospace\", fontsize=10];")?;
    writeln!(out, "  edge [fontname=\"monospace\", fontsize=9];")?;
    for block in kernel.flow.blocks() {
        let label: String =
            block_text(kernel, block, texts).iter().map(|l| escape(l) + "\\l").collect();
        let style = match (block.reachable, diverges(kernel, block)) {
            (false, _) => ", style=dotted",
            (_, true) => ", color=\"#d55e00\", penwidth=2",
            _ => "",
        };
        writeln!(out, "  {} [label=\"{label}\"{style}];", block.id)?;
    }
    for (f, function) in kernel.functions.iter().enumerate() {
        let own = |block: &&BasicBlock| (function.first..function.end).contains(&block.first);
        let own: Vec<String> =
            kernel.flow.blocks().iter().filter(own).map(|b| format!("{};", b.id)).collect();
        let label = escape(&function.name);
        writeln!(
            out,
            "  subgraph cluster_{f} {{ label=\"function {label}\"; {} }}",
            own.join(" ")
        )?;
    }
    for edge in edges(kernel) {
        writeln!(
            out,
            "  {} -> {} [label=\"{}\", color=\"{}\"];",
            edge.from,
            edge.to,
            edge.kind.name(),
            edge.kind.colour()
        )?;
    }
    for (from, to) in meetings(kernel) {
        let style = "style=dashed, color=\"#009e73\", constraint=false";
        writeln!(out, "  {from} -> {to} [label=\"reconverge\", {style}];")?;
    }
    writeln!(out, "}}")
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Kind of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeKind {
    /// Only edge of a block, or an edge of a jump table.
    Only,
    /// Edge of the lanes that take the branch.
    Taken,
    /// Edge of the lanes that fall through.
    Fall,
}

impl EdgeKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            EdgeKind::Only => "",
            EdgeKind::Taken => "taken",
            EdgeKind::Fall => "fall",
        }
    }

    const fn colour(self) -> &'static str {
        match self {
            EdgeKind::Taken => "#0072b2",
            EdgeKind::Only | EdgeKind::Fall => "#404040",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub from: BasicBlockId,
    pub to: BasicBlockId,
    pub kind: EdgeKind,
}

/// Returns the edges in the order of blocks and their successors.
pub(crate) fn edges(kernel: &Kernel) -> Vec<Edge> {
    let of_block = |block: &BasicBlock| {
        let is_branch = matches!(kernel.insts[block.last()].op, Op::Branch { .. });
        let kinds = match block.successors.len() {
            2 if is_branch => [EdgeKind::Taken, EdgeKind::Fall],
            _ => [EdgeKind::Only; 2],
        };
        let from = block.id;
        let edge = move |(&to, kind)| Edge { from, to, kind };
        let kinds = kinds.into_iter().chain(std::iter::repeat(EdgeKind::Only));
        block.successors.iter().zip(kinds).map(edge).collect::<Vec<_>>()
    };
    kernel.flow.blocks().iter().flat_map(of_block).collect()
}

/// Returns each branch's block with the block of its reconvergence point.
pub(crate) fn meetings(kernel: &Kernel) -> impl Iterator<Item = (BasicBlockId, BasicBlockId)> + '_ {
    kernel.flow.branches().iter().filter_map(|b| Some((b.block, b.reconverge?)))
}

/// Returns true if a block ends in a branch that can diverge.
pub(crate) fn diverges(kernel: &Kernel, block: &BasicBlock) -> bool {
    kernel.flow.branch_at(block.last()).is_some_and(|b| b.may_diverge)
}

/// Returns the lines shown in a block: a title, then its instructions as written.
pub(crate) fn block_text(kernel: &Kernel, block: &BasicBlock, texts: &[String]) -> Vec<String> {
    let lines = || block.range().map(|i| kernel.insts[i].line);
    let (first, last) = (lines().min().unwrap_or(0), lines().max().unwrap_or(0));
    let mut title = if kernel.native.is_some() {
        let address = |i: usize| i as u64 * INSTRUCTION_BYTES;
        let (first, last) = (address(block.first as usize), address(block.last()));
        match cuda_lines(kernel, block) {
            Some(lines) => format!("{}: 0x{first:x}-0x{last:x} ({lines})", block.id),
            None => format!("{}: 0x{first:x}-0x{last:x}", block.id),
        }
    } else if first == last {
        format!("{}: line {first}", block.id)
    } else {
        format!("{}: lines {first}-{last}", block.id)
    };
    if let Some(function) = kernel.functions.iter().find(|f| f.first == block.first) {
        title = format!("function {}, {title}", function.name);
    }
    if diverges(kernel, block) {
        title += ", can diverge";
    }
    if !block.reachable {
        title += ", unreachable";
    }
    let mut lines: Vec<String> =
        block.range().map(|i| instruction_text(texts.get(i).map_or("", String::as_str))).collect();
    if lines.len() > LONGEST_BLOCK {
        let (head, tail) = (LONGEST_BLOCK - 4, 3);
        let hidden = lines.len() - head - tail;
        lines.splice(head..head + hidden, [format!("... {hidden} more")]);
    }
    lines.insert(0, title);
    lines
}

/// Names the CUDA lines of a block of machine code, if known: `cu:12-15`.
fn cuda_lines(kernel: &Kernel, block: &BasicBlock) -> Option<String> {
    let (file, lines) = kernel.native.as_ref()?.source.as_ref()?;
    let ending = printable(file.rsplit('.').next().unwrap_or_default());
    let known = lines.get(block.range())?.iter().filter(|&&line| line > 0);
    let (first, last) = (known.clone().min()?, known.max()?);
    Some(match first == last {
        true => format!("{ending}:{first}"),
        false => format!("{ending}:{first}-{last}"),
    })
}

fn instruction_text(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text == "}" {
        return "(end of kernel)".to_string(); // the exit that the checker adds
    }
    if text.chars().count() <= LONGEST_LINE {
        return text;
    }
    text.chars().take(LONGEST_LINE - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests;
