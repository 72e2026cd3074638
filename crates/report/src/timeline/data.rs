//! The recorded issues as CSV, a row each.

use std::fmt::Write;

use super::Recording;
use simt_core::base::LaneMask;
use simt_core::observe::{LaneState, Stall};

/// Columns of [`csv`].
const COLUMNS: &str = "block,warp,issue,cycle,slots,pc,line,path,active,executed,masked_off,at_join,at_barrier,exited,\
active_lanes,executed_lanes,depth,divergent,taken,sectors,wavefronts,waited,main_wait,instruction";

/// Prints every recorded issue as a CSV row, by warp and time, below a header line. Masks are
/// hexadecimal.
pub fn csv(recording: &Recording) -> String {
    let mut out = format!("{COLUMNS}\n");
    let lanes = LaneMask::first_n(recording.warp_size);
    for strip in recording.timeline.strips() {
        for issue in &strip.issues {
            let masks = issue.masks(lanes);
            let mask = |state: LaneState| masks[state as usize];
            let depth = issue.state.depth();
            let main_wait = issue.main_stall().map_or("", Stall::name);
            let text = recording.step(issue.pc).map_or("", |step| step.text.as_str());
            let _ = writeln!(
                out,
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{depth},{},{},{},{},{},{main_wait},{}",
                strip.block.0,
                strip.warp,
                issue.number,
                issue.cycle,
                issue.slots,
                issue.pc.0,
                recording.line(issue.pc),
                issue.path,
                issue.active,
                issue.executed,
                mask(LaneState::MaskedOff),
                mask(LaneState::AtJoin),
                mask(LaneState::AtBarrier),
                mask(LaneState::Exited),
                issue.active.count(),
                issue.executed.count(),
                u8::from(issue.diverges()),
                issue.taken.map(|taken| taken.to_string()).unwrap_or_default(),
                issue.traffic.map_or(0, |t| t.sectors),
                issue.traffic.map_or(0, |t| t.wavefronts),
                issue.waited(),
                quoted(text),
            );
        }
    }
    out
}

/// Quotes a CSV field (RFC 4180).
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
