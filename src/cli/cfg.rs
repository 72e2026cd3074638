//! `simt-sim cfg`: the control-flow graph as Graphviz text or as a picture.

use simt_sim::report;

use super::args::CfgArgs;
use super::{Exit, Failure, output, source};

/// Draws one kernel.
pub(crate) fn cfg(args: &CfgArgs) -> Result<Exit, Failure> {
    let program = source::read_sound(&args.file, true)?;
    let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
    let drawn =
        if args.svg { report::cfg::svg(kernel, &program.text) } else { report::cfg::dot(kernel, &program.text) };
    match &args.output {
        Some(path) => output::write_file(path, drawn.as_bytes())?,
        None => output::print(&drawn),
    }
    Ok(Exit::Ok)
}
