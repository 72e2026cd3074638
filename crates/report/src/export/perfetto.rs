//! Trace Event JSON for Perfetto and Chrome's trace viewer.
//! There is a track per warp and per scheduler.
//!
//! The format (Google, "Trace Event Format") has only microseconds, so a microsecond stands for a
//! cycle; the names of the two processes say so in the viewer. The processes are the block's warps
//! and the SM's schedulers, their threads are the tracks. Complete events (`X`) are issues and
//! waits; a step without an issue slot is an instant (`i`), because it takes no time.

use serde::Serialize;

use super::step_text;
use crate::timeline::Recording;
use simt_core::base::{Cycle, LaneMask};
use simt_core::observe::{Issue, SlotLoss, SlotSpan, SlotUse, Strip};

/// Process ids of the two groups of tracks.
const WARPS: u32 = 1;
const SCHEDULERS: u32 = 2;

/// An event of the trace.
#[derive(Serialize)]
struct Event<A: Serialize> {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<Cycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<Cycle>,
    /// Scope of an instant: its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    pid: u32,
    tid: u32,
    args: A,
}

/// Arguments of an issue, shown when it is selected.
#[derive(Serialize)]
struct IssueArgs {
    issue: u64,
    pc: u32,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    mask: String,
    executed: String,
    active_lanes: u32,
    executed_lanes: u32,
    path: u32,
    depth: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<String>,
    divergent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    sectors: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wavefronts: Option<u32>,
}

/// Arguments of a wait.
#[derive(Serialize)]
struct WaitArgs {
    waits_for_pc: u32,
    waits_for_line: u32,
    mask: String,
}

/// Arguments of a scheduler's slot.
#[derive(Serialize)]
struct SlotArgs {
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warp: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pc: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

/// Name or sort order of a process or thread.
#[derive(Serialize)]
#[serde(untagged)]
enum Naming {
    Name { name: String },
    Place { sort_index: u32 },
}

/// Events, one per line.
struct Events(Vec<String>);

impl Events {
    fn push<A: Serialize>(&mut self, event: &Event<A>) {
        // Every event is a struct of numbers and strings, which always has a JSON form.
        self.0.extend(serde_json::to_string(event));
    }

    fn naming(&mut self, what: &str, pid: u32, tid: u32, args: Naming) {
        let (cat, ts, dur, s) = (None, None, None, None);
        self.push(&Event { name: what.to_owned(), cat, ph: "M", ts, dur, s, pid, tid, args });
    }

    fn process(&mut self, pid: u32, name: String) {
        self.naming("process_name", pid, 0, Naming::Name { name });
        self.naming("process_sort_index", pid, 0, Naming::Place { sort_index: pid });
    }

    fn thread(&mut self, pid: u32, tid: u32, name: String) {
        self.naming("thread_name", pid, tid, Naming::Name { name });
        self.naming("thread_sort_index", pid, tid, Naming::Place { sort_index: tid });
    }

    /// Adds an event of `cycles`, or an instant.
    fn slice<A: Serialize>(
        &mut self,
        cat: &'static str,
        name: String,
        at: (u32, u32),
        ts: Cycle,
        cycles: Cycle,
        args: A,
    ) {
        let (pid, tid) = at;
        let (ph, dur, s) =
            if cycles > 0 { ("X", Some(cycles), None) } else { ("i", None, Some("t")) };
        self.push(&Event { name, cat: Some(cat), ph, ts: Some(ts), dur, s, pid, tid, args });
    }
}

/// Prints the recording as a trace.
pub(super) fn perfetto(recording: &Recording) -> String {
    let mut events = Events(Vec::new());
    let window = recording.timeline.window();
    let unit = "1 us = 1 cycle";
    // Short, for a narrow column; `otherData` has kernel, mode and machine.
    let ending =
        recording.ending_in_short().map(|ending| format!(", {ending}")).unwrap_or_default();
    events.process(WARPS, format!("{} warps ({unit}){ending}", window.block));
    for strip in recording.timeline.strips() {
        events.thread(WARPS, strip.warp + 1, format!("warp {}", strip.warp));
        warp(&mut events, recording, strip);
    }
    let sm = recording
        .timeline
        .strips()
        .first()
        .map_or_else(|| "SM".to_owned(), |strip| strip.sm.to_string());
    events.process(SCHEDULERS, format!("{sm} schedulers ({unit})"));
    let mut named = None;
    for span in &recording.schedulers {
        if named.replace(span.scheduler) != Some(span.scheduler) {
            events.thread(SCHEDULERS, span.scheduler + 1, format!("scheduler {}", span.scheduler));
        }
        scheduler(&mut events, recording, span);
    }
    let about = About {
        title: recording.title(),
        clock: unit,
        grid: recording.grid,
        block: recording.block,
        simulated: &recording.simulated,
        ending: recording.ending(),
        version: concat!("simt-sim ", env!("CARGO_PKG_VERSION")),
    };
    let about = serde_json::to_string(&about).unwrap_or_default();
    format!("{{\"otherData\":{about},\"traceEvents\":[\n{}\n]}}\n", events.0.join(",\n"))
}

/// Metadata of the trace.
#[derive(Serialize)]
struct About<'a> {
    title: String,
    clock: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    simulated: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ending: Option<String>,
    version: &'static str,
}

fn mask(mask: LaneMask) -> String {
    mask.to_string()
}

fn warp(events: &mut Events, recording: &Recording, strip: &Strip) {
    let at = (WARPS, strip.warp + 1);
    for issue in &strip.issues {
        let name = || step_text(recording, issue.pc);
        for span in issue.spans() {
            if let Some(stall) = span.stall {
                let args = WaitArgs {
                    waits_for_pc: issue.pc.0,
                    waits_for_line: recording.line(issue.pc),
                    mask: mask(issue.active),
                };
                events.slice("stall", stall.name().to_owned(), at, span.from, span.cycles(), args);
            } else {
                events.slice(
                    "issue",
                    name(),
                    at,
                    span.from,
                    span.cycles(),
                    issue_args(recording, issue),
                );
            }
        }
        if issue.slots == 0 {
            events.slice("issue", name(), at, issue.cycle, 0, issue_args(recording, issue));
        }
    }
}

fn issue_args(recording: &Recording, issue: &Issue) -> IssueArgs {
    let origin = recording.step(issue.pc).and_then(|step| step.origin.as_ref());
    IssueArgs {
        issue: issue.number,
        pc: issue.pc.0,
        line: recording.line(issue.pc),
        source: origin.map(|origin| format!("{}:{}", origin.file, origin.line)),
        mask: mask(issue.active),
        executed: mask(issue.executed),
        active_lanes: issue.active.count(),
        executed_lanes: issue.executed.count(),
        path: issue.path,
        depth: issue.state.depth(),
        taken: issue.taken.map(mask),
        divergent: issue.diverges(),
        sectors: issue.traffic.map(|traffic| traffic.sectors).filter(|&n| n > 0),
        wavefronts: issue.traffic.map(|traffic| traffic.wavefronts).filter(|&n| n > 0),
    }
}

fn scheduler(events: &mut Events, recording: &Recording, span: &SlotSpan) {
    let at = (SCHEDULERS, span.scheduler + 1);
    let (cat, name, args) = match span.what {
        SlotUse::Issued { block, warp, pc } => {
            let line = Some(recording.line(pc));
            let args = SlotArgs { block: Some(block.0), warp: Some(warp), pc: Some(pc.0), line };
            let other = if block == recording.timeline.window().block {
                String::new()
            } else {
                format!("{block} ")
            };
            ("issue", format!("{other}warp {warp}: {}", step_text(recording, pc)), args)
        }
        SlotUse::Lost(loss) => {
            let reason = match loss {
                SlotLoss::NoWarp => "no_warp",
                SlotLoss::Launch => "launch",
                SlotLoss::Stalled(stall) => stall.name(),
            };
            ("lost", reason.to_owned(), SlotArgs { block: None, warp: None, pc: None, line: None })
        }
    };
    events.slice(cat, name, at, span.cycle, span.cycles, args);
}
