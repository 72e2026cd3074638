//! `simt-sim export`: a window of a run in the file format of another tool.

use simt_report::export::{Format, export as text_of};

use super::args::{ExportArgs, ExportFormat};
use super::timeline::{Warps, record};
use super::{Exit, Failure, output};

/// Writes a window to a file or to standard output.
pub(crate) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let recording = record(&args.program, &args.window, Warps::All)?;
    let text = text_of(format(args.format), &recording);
    output::deliver(args.output.as_deref(), &text)?;
    let cut = recording.timeline.strips().iter().filter(|strip| strip.more).count();
    if cut > 0 {
        let warps = if cut == 1 { "1 warp issues" } else { &format!("{cut} warps issue") };
        output::error(&format!(
            "note: {warps} more than this window has (--limit 0 removes the limit)\n"
        ));
    }
    Ok(Exit::Ok)
}

fn format(typed: ExportFormat) -> Format {
    match typed {
        ExportFormat::Perfetto => Format::Perfetto,
        ExportFormat::Kanata => Format::Kanata,
        ExportFormat::Trace => Format::Trace,
    }
}
