//! `simt-sim cfg`: the control-flow graph as Graphviz text or SVG.

use simt_core::kernel::Kernel;
use simt_report::{self as report, plot};

use super::args::CfgArgs;
use super::{Exit, Failure, output, source};

/// Basic blocks of the largest graph drawn. Larger ones are unreadable, and edges grow
/// quadratically.
const MAX_DRAWN: usize = 500;

/// Draws one kernel.
pub(crate) fn cfg(args: &CfgArgs) -> Result<Exit, Failure> {
    let program = source::read_runnable(&args.file, &args.sass, args.kernel.as_deref(), true)?;
    let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
    if args.svg {
        drawable(kernel)?;
    }
    let drawn = if args.svg {
        plot::svg(&plot::graph(&program.name, &report::cfg::texts(&program, kernel), kernel))
    } else {
        report::cfg::dot(kernel, &report::cfg::texts(&program, kernel))
    };
    output::deliver(args.output.as_deref(), &drawn)?;
    Ok(Exit::Ok)
}

/// Refuses a kernel whose graph is too large to read.
pub(crate) fn drawable(kernel: &Kernel) -> Result<(), Failure> {
    let blocks = kernel.flow.blocks().len();
    if blocks <= MAX_DRAWN {
        return Ok(());
    }
    Err(Failure::new(format!(
        "`{}` has {blocks} basic blocks; the limit of a picture is {MAX_DRAWN}\n\
         help: use `simt-sim cfg --dot`, which \
         has no limit",
        kernel.name
    )))
}
