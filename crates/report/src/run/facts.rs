//! Inputs of a report besides the counts: facts about machine, launch, program and outcome.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::evidence::Fingerprint;
use simt_core::base::LaneMask;
use simt_core::observe::Totals;

/// Input of [`Run::build`](super::Run::build).
#[derive(Clone, Debug)]
pub struct RunInput {
    /// Program, as the user named it.
    pub program: String,
    /// Kernel name.
    pub kernel: String,
    /// `pre-volta` or `volta`.
    pub mode: String,
    /// Architecture of the machine code that ran; `None` for PTX.
    pub machine_code: Option<String>,
    /// Machine facts.
    pub machine: MachineFacts,
    /// Grid size in x, y, z.
    pub grid: [u32; 3],
    /// Block size in x, y, z.
    pub block: [u32; 3],
    /// Named constants of the run.
    pub constants: Vec<(String, i64)>,
    /// Resources that the launch uses of an SM.
    pub launch: LaunchFacts,
    /// Outcome of the run.
    pub finish: Ending,
    /// Reason for the outcome, unless the run finished.
    pub verdict: Option<Verdict>,
    /// Counts of the run, all SMs merged.
    pub totals: Totals,
    /// Steps of the stream, by `Pc`.
    pub steps: Vec<StepInfo>,
    /// Expectations and their results.
    pub expectations: Vec<ExpectationResult>,
    /// Notes to the reader, one sentence each.
    /// For example, that blocks communicate and SMs ran interleaved.
    pub notes: Vec<String>,
}

/// Facts of a machine that enter metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineFacts {
    /// Machine name.
    pub name: String,
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Warp schedulers per SM; each has one issue slot per cycle.
    pub schedulers_per_sm: u32,
    /// Maximum number of resident warps per SM.
    pub max_warps_per_sm: u32,
    /// Lanes per warp.
    pub warp_size: u32,
    /// SM clock in Hz; metrics in seconds are left out when it is 0.
    pub clock_hz: u64,
    /// Shared-memory banks, each 4 bytes wide.
    pub shared_banks: u32,
    /// Cycles of a launch in which no SM has work.
    pub launch_overhead: u32,
    /// Machine digests that evidence must match to apply.
    pub fingerprint: Fingerprint,
}

/// Resources that the launch uses of an SM, and its number of resident blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LaunchFacts {
    /// 32-bit registers per thread.
    pub registers_per_thread: u32,
    /// Static shared memory per block, in bytes.
    pub static_shared: u32,
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared: u32,
    /// Maximum number of resident blocks per SM.
    pub blocks_per_sm: u32,
    /// Resource that limits the number of resident blocks.
    /// `warps`, `threads`, `registers`, `shared memory`, `block slots`, or empty.
    pub limited_by: String,
}

/// Description of one step of the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepInfo {
    /// Index of the kernel's instruction; `None` for a join step.
    pub source: Option<u32>,
    /// Source line, from 1; for a join step, the line of its branch.
    pub line: u32,
    /// Text of the source line, or the name of the join step.
    pub text: String,
    /// True for a conditional branch.
    pub is_branch: bool,
    /// Source line of a branch's reconvergence point.
    pub reconverge_line: Option<u32>,
    /// Source line in the file that the program was compiled from, if known.
    pub origin: Option<Origin>,
    /// Place of a machine instruction; `None` for PTX.
    pub machine: Option<MachinePlace>,
    /// Conditional branch that predication replaced by this step, if any.
    pub replaces: Option<ReplacedBranch>,
}

/// A conditional branch that predication replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplacedBranch {
    /// Source line, from 1.
    pub line: u32,
    /// Text of the line.
    pub text: String,
    /// Source line of the reconvergence point.
    pub reconverge_line: Option<u32>,
    /// Source line in the file that the program was compiled from, if known.
    pub origin: Option<Origin>,
    /// True if the lanes that execute the step are those that would take the branch.
    pub executes_taken: bool,
}

/// A source line of the file that the program was compiled from (`.loc`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// File name without folders.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// Place of an instruction of machine code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachinePlace {
    /// Byte offset in the kernel, as in the listing.
    #[serde(serialize_with = "in_hexadecimal")]
    pub address: u32,
    /// Line of the PTX that it was compiled from, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_line: Option<u32>,
}

fn in_hexadecimal<S: Serializer>(address: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("0x{address:04x}"))
}

impl fmt::Display for MachinePlace {
    /// Formats as `/*0a10*/`, preceded by the PTX line if known: `ptx:61 /*0a10*/`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.ptx_line {
            write!(f, "ptx:{line} ")?;
        }
        write!(f, "/*{:04x}*/", self.address)
    }
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every block finished.
    Ok,
    /// No warp can ever issue again.
    Deadlock,
    /// The warps repeat a state without a memory write in between.
    Livelock,
    /// The cycle limit was reached; nothing is proved.
    CycleLimit,
    /// An instruction had no defined result.
    Fault,
}

impl Ending {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Ending::Ok => "ok",
            Ending::Deadlock => "deadlock",
            Ending::Livelock => "livelock",
            Ending::CycleLimit => "cycle-limit",
            Ending::Fault => "fault",
        }
    }

    /// Returns the name in a sentence.
    pub const fn title(self) -> &'static str {
        match self {
            Ending::Ok => "finished",
            Ending::Deadlock => "deadlock",
            Ending::Livelock => "livelock",
            Ending::CycleLimit => "stopped at the cycle limit",
            Ending::Fault => "fault",
        }
    }
}

/// Reason why a run did not finish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Description of what happened, one sentence.
    pub message: String,
    /// Lanes by place and state.
    pub lanes: Vec<LaneGroup>,
    /// Suggested next step.
    pub help: Option<String>,
}

/// Lanes of one warp that are at the same place for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneGroup {
    /// Block index.
    pub block: u32,
    /// Warp index in the block.
    pub warp: u32,
    /// Lanes, as ranges.
    pub lanes: String,
    /// Lanes, as a hexadecimal mask.
    pub mask: String,
    /// Source line.
    pub line: u32,
    /// Text of the line.
    pub text: String,
    /// Activity of the lanes: `spin`, `wait at the barrier`.
    pub state: String,
}

impl LaneGroup {
    /// Makes the group of lanes `mask` in a warp, with source line and state.
    pub fn new(
        block: u32,
        warp: u32,
        mask: LaneMask,
        line: u32,
        text: String,
        state: String,
    ) -> LaneGroup {
        LaneGroup { block, warp, lanes: mask.list(), mask: mask.to_string(), line, text, state }
    }

    /// The lanes in words: `lane 0`, `lanes 0-3`.
    pub fn named(&self) -> String {
        let plural = if self.lanes.contains([',', '-']) { "s" } else { "" };
        format!("lane{plural} {}", self.lanes)
    }
}

/// Result of an expectation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExpectationResult {
    /// Expectation, as written.
    pub text: String,
    /// True if it holds.
    pub passed: bool,
    /// Value found; may be empty.
    pub detail: String,
}

/// A list of name-value pairs in a fixed order; an object in JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named<K, V>(pub Vec<(K, V)>);

impl<K: PartialEq, V> Named<K, V> {
    /// Returns the value of `name`.
    pub fn get(&self, name: &K) -> Option<&V> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

impl<K, V> Named<K, V> {
    /// Returns true without names.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
