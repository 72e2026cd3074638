//! A recording as compact JSON, for the scripts that draw it.
//!
//! Rows are arrays; `model.js` names their fields in the same order. Repeated values are written
//! once and referenced by index: the steps that occur, and the control states of warps. A control
//! state omits the PC of the running lanes (-1): it is the PC of the issue itself or, after an
//! issue, that of the next. A loop therefore has one state and not one per step. Masks are signed
//! 32-bit integers, so that all lanes are -1.

use std::collections::BTreeMap;

use serde::Serialize;

use super::shown;
use crate::annotate::Source;
use crate::explain;
use crate::timeline::Recording;
use simt_core::base::{Cycle, LaneMask, Pc};
use simt_core::divergence::GroupState;
use simt_core::event::Traffic;
use simt_core::observe::{AccessWay, Control, Issue, LaneState, MemoryKind, Stall, Strip};

/// Value for "none", and for the PC of the running lanes.
const NONE: i64 = -1;

/// The JSON value of a recording.
#[derive(Serialize)]
struct Data {
    lanes: u32,
    mode: String,
    /// Letter and name of each lane state.
    states: Vec<(char, &'static str)>,
    /// Name and meaning of each stall.
    stalls: Vec<(&'static str, String)>,
    steps: Vec<StepRow>,
    controls: Vec<ControlRow>,
    warps: Vec<WarpRow>,
    /// Outcome of the run, if it ended badly within the window.
    ending: Option<String>,
}

/// A step.
/// `pc, line, text, source, source line, conditional branch`: the source is an index into the
/// page's listings.
#[derive(Serialize)]
struct StepRow(u32, u32, String, i64, u32, u8);

/// Groups, stack entries and joins of a control state.
/// Groups `step, lanes, state, detail`; stack entries `step, lanes, reconverges at, call`; joins
/// `register, participants, arrived`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct ControlRow(Vec<(i64, i32, u8, i64)>, Vec<(i64, i32, i64, u8)>, Vec<(u32, i32, i32)>);

#[derive(Serialize)]
struct WarpRow {
    block: u32,
    warp: u32,
    sm: u32,
    lanes: i32,
    /// Number of the first issue; the others follow. A step that takes no slot has the number of
    /// the one before.
    first: u64,
    /// True if the warp issued more than the recording holds.
    more: bool,
    ended: Option<u64>,
    issues: Vec<IssueRow>,
}

/// An issue.
/// `cycles since the issue before, step, active, executed, slots, path, lanes that branch or null,
/// state before, state after, waits (stall, cycles, ..), traffic or [], cycles from the first slot
/// to the last, waits between the machine instructions (like those before)`. The last two are
/// omitted if the step is one machine instruction.
#[derive(Serialize)]
struct IssueRow(
    u64,
    usize,
    i32,
    i32,
    u32,
    u32,
    Option<i32>,
    usize,
    usize,
    Vec<u64>,
    Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")] Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")] Vec<u64>,
);

/// Indices of repeated values.
struct Tables<'a> {
    recording: &'a Recording,
    sources: &'a [Source],
    step_of: BTreeMap<Pc, usize>,
    steps: Vec<StepRow>,
    control_of: BTreeMap<ControlRow, usize>,
    controls: Vec<ControlRow>,
}

/// Returns the JSON, safe inside a `script` element.
pub(super) fn json(recording: &Recording, sources: &[Source]) -> String {
    let mut tables = Tables {
        recording,
        sources,
        step_of: BTreeMap::new(),
        steps: Vec::new(),
        control_of: BTreeMap::new(),
        controls: Vec::new(),
    };
    let warps = recording.timeline.strips().iter().map(|strip| warp(&mut tables, strip)).collect();
    let data = Data {
        lanes: recording.warp_size.min(32),
        mode: recording.mode.clone(),
        states: LaneState::ALL.iter().map(|s| (s.letter(), s.name())).collect(),
        stalls: Stall::ALL.iter().map(|s| (s.name(), meaning(*s))).collect(),
        steps: tables.steps,
        controls: tables.controls,
        warps,
        ending: recording.ending().map(|ending| shown(&ending)),
    };
    // A `script` element ends at the first `</script`, even inside a string.
    serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c")
}

fn meaning(stall: Stall) -> String {
    explain::find(stall.name()).map(|page| page.meaning).unwrap_or_default()
}

fn warp(tables: &mut Tables<'_>, strip: &Strip) -> WarpRow {
    let mut cycle = 0;
    let mut issues = Vec::with_capacity(strip.issues.len());
    for (i, issue) in strip.issues.iter().enumerate() {
        let next = strip.issues.get(i + 1).map(|next| next.pc);
        issues.push(issue_row(tables, issue, next, issue.cycle.saturating_sub(cycle)));
        cycle = issue.cycle;
    }
    WarpRow {
        block: strip.block.0,
        warp: strip.warp,
        sm: strip.sm.0,
        lanes: bits(strip.lanes),
        first: strip.issues.first().map_or(0, |issue| issue.number),
        more: strip.more,
        ended: strip.ended,
        issues,
    }
}

fn issue_row(tables: &mut Tables<'_>, issue: &Issue, next: Option<Pc>, since: u64) -> IssueRow {
    let pairs =
        |waits: &[(Stall, Cycle)]| waits.iter().flat_map(|&(stall, n)| [stall as u64, n]).collect();
    IssueRow(
        since,
        tables.step(issue.pc),
        bits(issue.active),
        bits(issue.executed),
        issue.slots,
        issue.path,
        issue.taken.map(bits),
        tables.control(&issue.state, Some(issue.pc)),
        tables.control(&issue.after, next),
        pairs(&issue.waits),
        issue.traffic.map(traffic).unwrap_or_default(),
        (!issue.parts.is_empty()).then(|| issue.end() - issue.cycle),
        pairs(&issue.waits_between()),
    )
}

/// Returns the fields of an access.
/// `memory, way, requested bytes, sectors, lines, in L1, in L2, from DRAM, wavefronts, ideal
/// wavefronts`.
fn traffic(t: Traffic) -> Vec<u32> {
    let memory = match t.memory {
        MemoryKind::Global => 0,
        MemoryKind::Shared => 1,
        MemoryKind::Local => 2,
        MemoryKind::Const => 3,
        MemoryKind::Texture => 4,
        MemoryKind::Surface => 5,
    };
    let way = match t.kind {
        AccessWay::Load => 0,
        AccessWay::Store => 1,
        AccessWay::Atomic => 2,
    };
    vec![
        memory,
        way,
        t.requested,
        t.sectors,
        t.lines,
        t.l1_hits,
        t.l2_hits,
        t.dram,
        t.wavefronts,
        t.ideal_wavefronts,
    ]
}

impl Tables<'_> {
    fn step(&mut self, pc: Pc) -> usize {
        if let Some(&at) = self.step_of.get(&pc) {
            return at;
        }
        let info = self.recording.step(pc).cloned().unwrap_or_default();
        let source_of = |name: &str| {
            self.sources.iter().position(|s| s.name == name).and_then(|i| i64::try_from(i).ok())
        };
        let origin = info.origin.as_ref().and_then(|o| Some((source_of(&o.file)?, o.line)));
        let (source, source_line) = origin.unwrap_or((NONE, 0));
        let text = shown(&info.text);
        self.steps.push(StepRow(
            pc.0,
            info.line,
            text,
            source,
            source_line,
            u8::from(info.is_branch),
        ));
        self.step_of.insert(pc, self.steps.len() - 1);
        self.steps.len() - 1
    }

    /// Returns the step's index, or [`NONE`] for the step of the running lanes.
    fn step_unless(&mut self, pc: Pc, here: Option<Pc>) -> i64 {
        if here == Some(pc) { NONE } else { i64::try_from(self.step(pc)).unwrap_or(NONE) }
    }

    fn control(&mut self, control: &Control, here: Option<Pc>) -> usize {
        let mut row = ControlRow(Vec::new(), Vec::new(), Vec::new());
        for group in &control.groups {
            let (state, detail) = match group.state {
                GroupState::Running => (0, 0),
                GroupState::Ready => (1, 0),
                GroupState::Yielded => (2, 0),
                GroupState::AtJoin(join) => (3, i64::from(join.0)),
                GroupState::AtReconvergence => (4, 0),
                GroupState::AtBarrier(id) => (5, i64::from(id)),
                GroupState::Gathering(lanes) => (6, i64::from(bits(lanes))),
                GroupState::Aligning => (6, i64::from(bits(LaneMask::FULL))),
            };
            let here = here.filter(|_| group.state == GroupState::Running);
            row.0.push((self.step_unless(group.pc, here), bits(group.lanes), state, detail));
        }
        for (i, entry) in control.stack.iter().enumerate() {
            let here = here.filter(|_| i + 1 == control.stack.len());
            let reconverge = entry.reconverge.map_or(NONE, |pc| self.step_unless(pc, None));
            row.1.push((
                self.step_unless(entry.pc, here),
                bits(entry.lanes),
                reconverge,
                u8::from(entry.call),
            ));
        }
        row.2.extend(control.joins.iter().map(|j| (j.id.0, bits(j.participants), bits(j.arrived))));
        if let Some(&at) = self.control_of.get(&row) {
            return at;
        }
        let at = self.controls.len();
        self.control_of.insert(row.clone(), at);
        self.controls.push(row);
        at
    }
}

/// Returns a mask as a signed integer, for JavaScript's bit operators.
const fn bits(mask: LaneMask) -> i32 {
    mask.0.cast_signed()
}
