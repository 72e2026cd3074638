//! What a report is told beside the counts: plain facts about machine, launch, program and outcome, filled in by
//! whoever has them.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::evidence::Fingerprint;
use simt_core::base::LaneMask;
use simt_core::observe::Totals;

/// Everything [`Run::build`](super::Run::build) needs.
#[derive(Clone, Debug)]
pub struct RunInput {
    /// The program, as the user named it.
    pub program: String,
    /// The kernel's name.
    pub kernel: String,
    /// `pre-volta` or `volta`.
    pub mode: String,
    /// The machine.
    pub machine: MachineFacts,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z.
    pub block: [u32; 3],
    /// The named constants in force.
    pub constants: Vec<(String, i64)>,
    /// What the launch takes of an SM.
    pub launch: LaunchFacts,
    /// How the run ended.
    pub finish: Finish,
    /// Why it ended so, when it did not end well.
    pub verdict: Option<Verdict>,
    /// What was counted, all SMs merged.
    pub totals: Totals,
    /// The steps of the stream, by `Pc`.
    pub steps: Vec<StepInfo>,
    /// What was expected of the result, and whether it came.
    pub expectations: Vec<ExpectationResult>,
    /// What else a reader must know, a sentence each; e.g. that blocks communicate and SMs ran interleaved.
    pub notes: Vec<String>,
}

/// The facts of a machine that enter metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineFacts {
    /// Its name.
    pub name: String,
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Warp schedulers an SM has; each has one issue slot a cycle.
    pub schedulers_per_sm: u32,
    /// Warps an SM can hold.
    pub max_warps_per_sm: u32,
    /// Lanes of a warp.
    pub warp_size: u32,
    /// SM clock in Hz; metrics in seconds are left out when it is 0.
    pub clock_hz: u64,
    /// Shared-memory banks, each 4 bytes wide.
    pub shared_banks: u32,
    /// Cycles of a launch in which no SM has work yet or any more.
    pub launch_overhead: u32,
    /// What evidence must have been taken with for it to hold here.
    pub fingerprint: Fingerprint,
}

/// What the launch takes of an SM, and how many of its blocks fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LaunchFacts {
    /// 32-bit registers a thread.
    pub registers_per_thread: u32,
    /// Shared memory a block in bytes, static.
    pub static_shared: u32,
    /// Shared memory a block in bytes, dynamic.
    pub dynamic_shared: u32,
    /// Blocks that an SM holds at a time.
    pub blocks_per_sm: u32,
    /// What runs out first: `warps`, `threads`, `registers`, `shared memory`, `block slots`, or empty.
    pub limited_by: String,
}

/// One step of the stream, as its author knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepInfo {
    /// The index of the kernel's instruction; none for a join step.
    pub source: Option<u32>,
    /// Its source line, from 1; for a join step that of the branch it serves.
    pub line: u32,
    /// The source line's text, or the name of the join step.
    pub text: String,
    /// Whether it is a conditional branch.
    pub is_branch: bool,
    /// The source line at which a branch's sides meet.
    pub reconverge_line: Option<u32>,
    /// The line of another file that it was compiled from.
    pub origin: Option<Origin>,
    /// The branch that it stands in the place of, where that became predication.
    pub replaces: Option<ReplacedBranch>,
}

/// A conditional branch that became predication, as the author of a step knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplacedBranch {
    /// Its source line, from 1.
    pub line: u32,
    /// That line's text.
    pub text: String,
    /// The source line at which its sides meet.
    pub reconverge_line: Option<u32>,
    /// The line of another file that it was compiled from.
    pub origin: Option<Origin>,
    /// Whether the lanes that execute the step are those that would branch.
    pub executes_taken: bool,
}

/// A line of the source that a compiler made the program from (`.loc`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The file, without its folders.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// Every block ran to its end.
    Ok,
    /// Nothing could ever run again.
    Deadlock,
    /// The same states were going to repeat for ever.
    Livelock,
    /// The limit on cycles was reached; nothing is proved.
    CycleLimit,
    /// The program did something that has no meaning.
    Fault,
}

impl Finish {
    /// The word that JSON has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Finish::Ok => "ok",
            Finish::Deadlock => "deadlock",
            Finish::Livelock => "livelock",
            Finish::CycleLimit => "cycle-limit",
            Finish::Fault => "fault",
        }
    }

    /// What to call it in a sentence.
    pub const fn title(self) -> &'static str {
        match self {
            Finish::Ok => "finished",
            Finish::Deadlock => "deadlock",
            Finish::Livelock => "livelock",
            Finish::CycleLimit => "stopped at the cycle limit",
            Finish::Fault => "fault",
        }
    }
}

/// Why a run did not end well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What happened, in a sentence.
    pub message: String,
    /// Who was where.
    pub lanes: Vec<LaneGroup>,
    /// What the reader may try.
    pub help: Option<String>,
}

/// Lanes of one warp that are at the same place for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneGroup {
    /// Their block.
    pub block: u32,
    /// Their warp's index in it.
    pub warp: u32,
    /// The lanes, as ranges.
    pub lanes: String,
    /// The lanes, as a hexadecimal mask.
    pub mask: String,
    /// Their source line.
    pub line: u32,
    /// That line's text.
    pub text: String,
    /// What they do there: `spin`, `wait at the barrier`.
    pub state: String,
}

impl LaneGroup {
    /// The lanes `mask` of warp `warp` of `block`, at a source line with its text, in a state.
    pub fn new(block: u32, warp: u32, mask: LaneMask, line: u32, text: String, state: String) -> LaneGroup {
        LaneGroup { block, warp, lanes: mask.list(), mask: mask.to_string(), line, text, state }
    }
}

/// Whether an expectation holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExpectationResult {
    /// The expectation, as written.
    pub text: String,
    /// Whether it holds.
    pub passed: bool,
    /// What was found; may be empty.
    pub detail: String,
}

/// A list of names with values that keeps its order; an object in JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named<K, V>(pub Vec<(K, V)>);

impl<K: PartialEq, V> Named<K, V> {
    /// The value under `name`.
    pub fn get(&self, name: &K) -> Option<&V> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

impl<K: Serialize, V: Serialize> Serialize for Named<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
