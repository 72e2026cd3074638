//! Selection of the memory access that a picture shows: the given one or the worst.

use super::Focus;
use crate::numbers::grouped;
use crate::timeline::Recording;
use simt_core::event::{AccessWay, MemoryKind, Traffic};
use simt_core::observe::{Issue, Places, Strip};

/// Bytes per sector.
pub(super) const SECTOR: u64 = 32;

/// Memory that a picture of an access shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Shared memory with its banks.
    Banks,
    /// Global or local memory with its sectors.
    Sectors,
}

impl Of {
    fn is_of(self, memory: MemoryKind) -> bool {
        match self {
            Of::Banks => memory == MemoryKind::Shared,
            Of::Sectors => matches!(memory, MemoryKind::Global | MemoryKind::Local),
        }
    }

    const fn memory(self) -> &'static str {
        match self {
            Of::Banks => "shared memory",
            Of::Sectors => "global or local memory",
        }
    }

    /// Cost of an access: first the excess, then the total.
    fn badness(self, traffic: &Traffic) -> (u64, u64) {
        match self {
            Of::Banks => (
                traffic.wavefronts.saturating_sub(traffic.ideal_wavefronts).into(),
                traffic.wavefronts.into(),
            ),
            Of::Sectors => {
                let moved = u64::from(traffic.sectors) * SECTOR;
                (moved.saturating_sub(traffic.requested.into()), moved)
            }
        }
    }
}

/// A memory access of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access<'a> {
    pub strip: &'a Strip,
    pub issue: &'a Issue,
    pub traffic: Traffic,
    pub places: &'a Places,
    /// Number of accesses that it was chosen from.
    candidates: usize,
    asked_for: bool,
}

/// Selects the access that a picture shows.
///
/// # Errors
/// Fails if there is none, with a sentence that names the lines that have some.
pub(super) fn choose<'a>(
    recording: &'a Recording,
    of: Of,
    focus: &Focus,
) -> Result<Access<'a>, String> {
    let all: Vec<Access<'a>> = accesses(recording, of).collect();
    let line_of = |access: &Access<'_>| recording.line(access.issue.pc);
    let fits = |access: &&Access<'_>| {
        focus.line.is_none_or(|line| line_of(access) == line)
            && focus.issue.is_none_or(|number| access.issue.number == number)
    };
    let fitting: Vec<Access<'a>> = all.iter().filter(fits).copied().collect();
    // The first of the worst: in the reductions that is the step of interest.
    let worst = fitting.iter().rev().max_by_key(|access| of.badness(&access.traffic));
    let Some(&worst) = worst else {
        let asked: Vec<String> =
            [focus.line.map(|n| format!("line {n}")), focus.issue.map(|n| format!("issue {n}"))]
                .into_iter()
                .flatten()
                .collect();
        let mut lines: Vec<u32> = all.iter().map(line_of).collect();
        lines.sort_unstable();
        lines.dedup();
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        let what = of.memory();
        return Err(match (lines.is_empty(), asked.is_empty()) {
            (true, _) => format!("no access to {what} in this window"),
            (false, _) => format!(
                "no access to {what} at {} in this window; accesses are at line {}",
                asked.join(", "),
                lines.join(", ")
            ),
        });
    };
    Ok(Access { candidates: fitting.len(), asked_for: focus.issue.is_some(), ..worst })
}

/// Returns every access of a window, warp by warp.
fn accesses(recording: &Recording, of: Of) -> impl Iterator<Item = Access<'_>> {
    let strips = recording.timeline.strips().iter();
    strips.flat_map(|strip| strip.issues.iter().map(move |issue| (strip, issue))).filter_map(
        move |(strip, issue)| {
            let (traffic, places) = (issue.traffic?, issue.places.as_deref()?);
            let access = Access { strip, issue, traffic, places, candidates: 1, asked_for: false };
            of.is_of(traffic.memory).then_some(access)
        },
    )
}

impl Access<'_> {
    /// Returns the active lanes with the first byte of each.
    pub(super) fn lanes(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.traffic.lanes.lanes().map(|lane| (lane, self.places.addresses[lane as usize % 32]))
    }

    /// Returns source line and text: `line 66: ld.global.u32 %a, [%mine];`.
    pub(super) fn source(&self, recording: &Recording) -> String {
        let text = recording.step(self.issue.pc).map_or("", |step| step.text.as_str());
        format!("line {}: {text}", recording.line(self.issue.pc))
    }

    /// Describes the access and the reason for its selection.
    pub(super) fn which(&self) -> String {
        let Access { strip, issue, .. } = self;
        let why = match (self.asked_for, self.candidates) {
            (_, 1) => "the only one in this window".to_owned(),
            (true, n) => format!("the worst of {} with this number", grouped(n as u64)),
            (false, n) => format!("the worst of {} in this window", grouped(n as u64)),
        };
        let cut = if strip.more { " (use --limit for a longer window)" } else { "" };
        format!(
            "block {} warp {}, issue {}, cycle {}: {why}{cut}",
            strip.block.0,
            strip.warp,
            issue.number,
            grouped(issue.cycle)
        )
    }

    /// Returns `load`, `store` or `atomic`.
    pub(super) const fn way(&self) -> &'static str {
        match self.traffic.kind {
            AccessWay::Load => "load",
            AccessWay::Store => "store",
            AccessWay::Atomic => "atomic",
        }
    }
}
