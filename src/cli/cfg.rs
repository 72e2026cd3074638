//! `simt-sim cfg`: the control-flow graph as Graphviz text or as a picture.

use simt_core::kernel::Kernel;
use simt_report::{self as report, plot};

use super::args::CfgArgs;
use super::{Exit, Failure, output, source};

/// The most basic blocks that a picture is drawn of. Nobody reads larger ones, and their edges grow with the square.
const MAX_DRAWN: usize = 500;

/// Draws one kernel.
pub(crate) fn cfg(args: &CfgArgs) -> Result<Exit, Failure> {
    let program = source::read_runnable(&args.file, args.kernel.as_deref(), true)?;
    let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
    if args.svg {
        drawable(kernel)?;
    }
    let drawn = if args.svg {
        plot::svg(&plot::graph(&program.name, &program.text, kernel))
    } else {
        report::cfg::dot(kernel, &program.text)
    };
    match &args.output {
        Some(path) => output::write_file(path, drawn.as_bytes())?,
        None => output::print(&drawn)?,
    }
    Ok(Exit::Ok)
}

/// Refuses a kernel whose graph nobody could read.
pub(crate) fn drawable(kernel: &Kernel) -> Result<(), Failure> {
    let blocks = kernel.flow.blocks().len();
    if blocks <= MAX_DRAWN {
        return Ok(());
    }
    Err(Failure::new(format!(
        "`{}` has {blocks} basic blocks; a picture is drawn of {MAX_DRAWN} at most\nhelp: `simt-sim cfg --dot` has no limit",
        kernel.name
    )))
}
