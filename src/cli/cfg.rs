//! `simt-sim cfg`: the control-flow graph as Graphviz text or SVG.

use simt_core::kernel::Kernel;
use simt_report::{self as report, plot};

use super::args::CfgArgs;
use super::{Exit, Failure, output, source};

/// Basic blocks of the largest graph drawn. Larger ones are unreadable, and edges grow
/// quadratically.
const MAX_DRAWN: usize = 500;

/// Endings of files of Graphviz text.
const TEXT: [&str; 3] = ["dot", "gv", "txt"];

/// Draws one kernel.
pub(crate) fn cfg(args: &CfgArgs) -> Result<Exit, Failure> {
    let program = source::read_runnable(&args.file, &args.sass, args.kernel.as_deref(), true)?;
    let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
    let drawn = if as_svg(args)? {
        drawable(kernel)?;
        plot::svg(&plot::graph(&program.name, &report::cfg::texts(&program, kernel), kernel))
    } else {
        report::cfg::dot(kernel, &report::cfg::texts(&program, kernel))
    };
    output::deliver(args.output.as_deref(), &drawn)?;
    Ok(Exit::Ok)
}

/// Returns whether the graph is drawn as SVG: by the option, else by the ending of the file.
fn as_svg(args: &CfgArgs) -> Result<bool, Failure> {
    let ending = args.output.as_deref().and_then(|file| file.extension()?.to_str());
    let is_device = args.output.as_deref().is_some_and(output::is_special);
    let is_known = |ending| is_device || ending == "svg" || TEXT.contains(&ending);
    match ending {
        Some("png") => Err(Failure::new(
            "the graph is written as SVG or Graphviz text, not as PNG\n\
             help: end the file in .svg; Graphviz makes PNG of the text: dot -Tpng",
        )),
        Some("svg") if args.dot => Err(Failure::new(
            "--dot contradicts the ending .svg\nhelp: leave out --dot, or end the file in .dot",
        )),
        Some(other) if !is_known(other) && !args.svg && !args.dot => Err(Failure::new(format!(
            "expected a file name that ends in .svg or .dot, found one that ends in .{other}\n\
                 help: change the ending, or add --svg or --dot"
        ))),
        ending => Ok(args.svg || ending == Some("svg")),
    }
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
