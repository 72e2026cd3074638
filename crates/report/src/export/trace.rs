//! The issues of all recorded warps in order of time, one per line.
//! For `less -S`, `grep` and `diff`.

use std::fmt::Write;

use super::{plain, step_text};
use crate::timeline::Recording;
use simt_core::observe::{Issue, Strip};

/// Prints the recording as a table. Lines that start with `#` are comments.
pub(super) fn trace(recording: &Recording) -> String {
    let mut rows: Vec<(&Strip, &Issue)> = recording
        .timeline
        .strips()
        .iter()
        .flat_map(|strip| strip.issues.iter().map(move |issue| (strip, issue)))
        .collect();
    rows.sort_by_key(|(strip, issue)| (issue.cycle, strip.warp, issue.number));
    let mut out = format!("# {}\n# {}\n", plain(&recording.title()), plain(&recording.simulated));
    if let Some(ending) = recording.ending() {
        let _ = writeln!(out, "# {}", plain(&ending));
    }
    out += "# mask: active lanes; executed: those whose guard is true; n: number of executed lanes \
            (*: divergent branch)\n";
    let depth = if recording
        .timeline
        .strips()
        .iter()
        .flat_map(|s| &s.issues)
        .any(|i| !i.state.stack.is_empty())
    {
        "entries of the reconvergence stack"
    } else {
        "groups of lanes with their own PC"
    };
    let _ = writeln!(out, "# block {}; depth: {depth}", recording.timeline.window().block.0);
    let digits = |n: u64, name: &str| n.to_string().len().max(name.len());
    let cycles = digits(rows.iter().map(|(_, i)| i.cycle).max().unwrap_or(0), "# cycle");
    let pcs = digits(rows.iter().map(|(_, i)| i.pc.0.into()).max().unwrap_or(0), "pc");
    let lines =
        digits(rows.iter().map(|(_, i)| recording.line(i.pc).into()).max().unwrap_or(0), "line");
    let _ = writeln!(
        out,
        "{:>cycles$} warp {:>pcs$} {:>lines$} {:<10} {:<10}   n  depth  instruction",
        "# cycle", "pc", "line", "mask", "executed"
    );
    for (strip, issue) in rows {
        let _ = writeln!(
            out,
            "{:>cycles$} {:>4} {:>pcs$} {:>lines$} {} {} {:>3}{} {:>5}  {}",
            issue.cycle,
            strip.warp,
            issue.pc.0,
            recording.line(issue.pc),
            issue.active,
            issue.executed,
            issue.executed.count(),
            if issue.diverges() { '*' } else { ' ' },
            issue.state.depth(),
            step_text(recording, issue.pc),
        );
    }
    out
}
