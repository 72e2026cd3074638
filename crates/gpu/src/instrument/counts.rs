//! What probes counted, by branch and by block.

use super::pass::{Instrumented, Probe, ProbeKind};
use super::sequence::{Passed, Sequence, first_sides};
use serde::{Deserialize, Serialize};
use simt_core::kernel::Kernel;

/// What was counted of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchCount {
    /// Its line in the program's file.
    pub line: u32,
    /// Times a group of lanes of a warp executed it.
    pub executed: u64,
    /// Of those, how often some but not all of the lanes branched.
    pub divergent: u64,
    /// Lanes, summed over the executions.
    pub lanes: u64,
    /// Lanes that branched, summed. Of a `brx.idx` those that went to the target of the least index.
    pub taken: u64,
    /// In the warps that are logged: how often the taken side ran first, and how often the other.
    pub first: [u64; 2],
}

/// What was counted of a basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockCount {
    /// The line of its first instruction.
    pub line: u32,
    /// Times a group of lanes of a warp entered it.
    pub executed: u64,
    /// Lanes, summed over the executions.
    pub lanes: u64,
}

/// What was counted of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    /// The branches in the order of the text.
    pub branches: Vec<BranchCount>,
    /// The basic blocks in the order of the text; bare exits are left out.
    pub blocks: Vec<BlockCount>,
}

/// The instruction of a kernel before which a probe stands; `None` if the kernel does not reach that function.
pub(super) fn instruction(kernel: &Kernel, probe: &Probe) -> Option<usize> {
    kernel.insts.iter().position(|inst| inst.span == probe.at)
}

impl Divergence {
    /// From the counters of all probes and the sequences of the warps that are logged. `kernel` is the one without probes.
    pub(super) fn new(kernel: &Kernel, probes: &[Probe], counters: &[u64], sequences: &[Sequence]) -> Divergence {
        let mut first = vec![[0u64; 2]; probes.len()];
        for sequence in sequences {
            for (sum, [taken, other]) in first.iter_mut().zip(first_sides(probes, sequence)) {
                *sum = [sum[0] + taken, sum[1] + other];
            }
        }
        let mut found = Divergence::default();
        for (probe, first) in probes.iter().zip(first) {
            let Some(inst) = instruction(kernel, probe).and_then(|i| kernel.insts.get(i)) else { continue };
            let count = |n: usize| counters.get(probe.first + n).copied().unwrap_or(0);
            let line = inst.line;
            match probe.kind {
                ProbeKind::Block => {
                    found.blocks.push(BlockCount { line, executed: count(0), lanes: count(1) });
                }
                ProbeKind::Branch => found.branches.push(BranchCount {
                    line,
                    executed: count(0),
                    divergent: count(1),
                    lanes: count(2),
                    taken: count(3),
                    first,
                }),
            }
        }
        found
    }
}

impl Divergence {
    /// The lines of the branches and blocks of which `other` counted otherwise, in ascending order. They are this count's
    /// lines: the other may come from a text with other comments.
    pub fn differing(&self, other: &Divergence) -> Vec<u32> {
        let branches = self.branches.iter().zip(&other.branches);
        let branches = branches.filter(|&(a, b)| *a != BranchCount { line: a.line, ..b.clone() }).map(|(a, _)| a.line);
        let blocks = self.blocks.iter().zip(&other.blocks);
        let blocks = blocks.filter(|&(a, b)| *a != BlockCount { line: a.line, ..b.clone() }).map(|(a, _)| a.line);
        let mut lines: Vec<u32> = branches.chain(blocks).collect();
        if self.branches.len() != other.branches.len() || self.blocks.len() != other.blocks.len() {
            lines.push(0); // not the same kernel
        }
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

impl Instrumented {
    /// What the words of the counters, and of the log if there is one, say of `kernel`, the one without probes.
    pub fn read(&self, kernel: &Kernel, counters: &[u32], log: &[u32]) -> (Divergence, Vec<Sequence>) {
        let pair = |pair: &[u32]| pair.iter().rev().fold(0u64, |value, &word| value << 32 | u64::from(word));
        let counters: Vec<u64> = counters.chunks(2).map(pair).collect();
        let sequences = self.read_log(log);
        (Divergence::new(kernel, &self.probes, &counters, &sequences), sequences)
    }

    /// The line of a probe that was passed, and what to print of it.
    pub fn describe(&self, kernel: &Kernel, passed: &Passed) -> String {
        let probe = self.probes.get(passed.probe as usize);
        let line = probe.and_then(|p| instruction(kernel, p)).and_then(|i| kernel.insts.get(i)).map_or(0, |i| i.line);
        match probe.map(|p| p.kind) {
            Some(ProbeKind::Branch) => {
                format!("line {line}: branch of {}, taken by {}", passed.lanes.list(), passed.taken.list())
            }
            _ => format!("line {line}: block, {}", passed.lanes.list()),
        }
    }
}
