//! A Kanata 0004 log for the pipeline viewer Konata: a row per issued instruction.
//!
//! The format (Konata, `docs/kanata-log-format.md`) is a list of commands in order of time; past
//! cycles cannot be extended. A row's thread is its warp. Lane 0 has the stages: `W` from the end
//! of the warp's previous issue, `X` from the first to the last issue slot of the instruction
//! (`free`, one cycle wide, for a step without a slot). Lane 1 has the stall reasons under their
//! Nsight Compute names: before the issue, and between the machine instructions of a step. A row
//! retires after its issue; nothing is ever flushed.

use std::fmt::Write;

use super::{plain, step_text, waits};
use crate::timeline::Recording;
use simt_core::base::Cycle;
use simt_core::observe::{Issue, Strip};

/// Prints the recording as a log.
pub(super) fn kanata(recording: &Recording) -> String {
    let mut rows: Vec<(Cycle, &Strip, &Issue)> = Vec::new();
    for strip in recording.timeline.strips() {
        let start = |issue: &Issue| issue.spans().first().map_or(issue.cycle, |span| span.from);
        rows.extend(strip.issues.iter().map(|issue| (start(issue), strip, issue)));
    }
    rows.sort_by_key(|&(start, strip, issue)| (start, strip.warp, issue.number));
    let mut log = Log(Vec::new());
    for (id, &(start, strip, issue)) in rows.iter().enumerate() {
        row(&mut log, recording, id, (start, strip, issue));
    }
    log.finish()
}

/// Commands with their cycles.
struct Log(Vec<(Cycle, String)>);

impl Log {
    fn at(&mut self, cycle: Cycle, command: String) {
        self.0.push((cycle, command));
    }

    /// Prints the commands in order of time and numbers the retirements.
    /// Commands of one cycle are in insertion order.
    fn finish(mut self) -> String {
        self.0.sort_by_key(|&(cycle, _)| cycle);
        let mut now = self.0.first().map_or(0, |&(cycle, _)| cycle);
        let mut out = format!("Kanata\t0004\nC=\t{now}\n");
        let mut retired = 0_u64;
        for (cycle, command) in self.0 {
            if cycle > now {
                let _ = writeln!(out, "C\t{}", cycle - now);
                now = cycle;
            }
            if command.starts_with("R\t") {
                let _ = writeln!(out, "{command}\t{retired}\t0");
                retired += 1;
            } else {
                let _ = writeln!(out, "{command}");
            }
        }
        out
    }
}

fn row(
    log: &mut Log,
    recording: &Recording,
    id: usize,
    (start, strip, issue): (Cycle, &Strip, &Issue),
) {
    let text = step_text(recording, issue.pc);
    let diverges = if issue.diverges() { " *" } else { "" };
    log.at(start, format!("I\t{id}\t{}\t{}", issue.number, strip.warp));
    let warp = strip.warp;
    log.at(start, format!("L\t{id}\t0\tw{warp} {}: {text}  {}{diverges}", issue.pc, issue.active));
    log.at(start, format!("L\t{id}\t1\t{}", details(recording, strip, issue)));
    let end = issue.end().max(issue.cycle + 1);
    if start < issue.cycle {
        log.at(start, format!("S\t{id}\t0\tW"));
    }
    for (from, stall, cycles) in waits(issue) {
        log.at(from, format!("S\t{id}\t1\t{}", stall.name()));
        log.at(from + cycles, format!("E\t{id}\t1\t{}", stall.name()));
    }
    if start < issue.cycle {
        log.at(issue.cycle, format!("E\t{id}\t0\tW"));
    }
    let stage = if issue.slots == 0 { "free" } else { "X" };
    log.at(issue.cycle, format!("S\t{id}\t0\t{stage}"));
    log.at(end, format!("E\t{id}\t0\t{stage}"));
    log.at(end, format!("R\t{id}"));
}

/// Returns the tooltip of a row; Konata reads `\n` as a line break.
fn details(recording: &Recording, strip: &Strip, issue: &Issue) -> String {
    let origin = recording.step(issue.pc).and_then(|step| step.origin.as_ref());
    let from = origin
        .map(|origin| format!(" ({}:{})", plain(&origin.file), origin.line))
        .unwrap_or_default();
    let last = strip.issues.last().is_some_and(|last| std::ptr::eq(last, issue));
    let mut lines: Vec<String> =
        recording.ending().filter(|_| last).map(|ending| plain(&ending)).into_iter().collect();
    lines.extend([
        format!(
            "block {} warp {} issue {}, line {}{from}",
            strip.block.0,
            strip.warp,
            issue.number,
            recording.line(issue.pc)
        ),
        format!("active {}, executed {}, path {}", issue.active, issue.executed, issue.path),
    ]);
    for entry in &issue.state.stack {
        lines.push(format!("stack: {} {}", entry.pc, entry.lanes));
    }
    if issue.state.stack.is_empty() {
        lines.extend(
            issue.state.groups.iter().map(|group| format!("group: {} {}", group.pc, group.lanes)),
        );
    }
    if let Some(taken) = issue.taken {
        lines.push(format!("taken {taken}"));
    }
    if let Some(traffic) = issue.traffic {
        lines.push(format!("{} sectors, {} wavefronts", traffic.sectors, traffic.wavefronts));
    }
    lines.join("\\n")
}
