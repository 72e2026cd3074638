//! Counts of the probes, by branch and by block.

use super::pass::{Instrumented, Probe, ProbeKind};
use super::sequence::{Passed, Sequence, first_sides};
use serde::{Deserialize, Serialize};
use simt_core::kernel::Kernel;

/// Counts of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchCount {
    /// Line in the program's file.
    pub line: u32,
    /// Executions by a group of lanes of a warp.
    pub executed: u64,
    /// Executions in which some but not all lanes branched.
    pub divergent: u64,
    /// Lanes, summed over the executions.
    pub lanes: u64,
    /// Lanes that branched, summed. For a `brx.idx`, those that went to the target of the lowest
    /// index.
    pub taken: u64,
    /// In the logged warps, executions with the taken side first, and with the other.
    pub first: [u64; 2],
}

/// Counts of a basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockCount {
    /// Line of its first instruction.
    pub line: u32,
    /// Entries by a group of lanes of a warp.
    pub executed: u64,
    /// Lanes, summed over the executions.
    pub lanes: u64,
}

/// Counts of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    /// Branches in text order.
    pub branches: Vec<BranchCount>,
    /// Basic blocks in text order, without bare exits.
    pub blocks: Vec<BlockCount>,
}

/// Finds the instruction after a probe. `None` if the kernel does not reach that function.
pub(super) fn instruction(kernel: &Kernel, probe: &Probe) -> Option<usize> {
    kernel.insts.iter().position(|inst| inst.span == probe.at)
}

impl Divergence {
    /// Collects the counters of all probes and the sequences of the logged warps. `kernel` has no
    /// probes.
    pub(super) fn new(
        kernel: &Kernel,
        probes: &[Probe],
        counters: &[u64],
        sequences: &[Sequence],
    ) -> Divergence {
        let mut first = vec![[0u64; 2]; probes.len()];
        for sequence in sequences {
            for (sum, [taken, other]) in first.iter_mut().zip(first_sides(probes, sequence)) {
                *sum = [sum[0] + taken, sum[1] + other];
            }
        }
        let mut found = Divergence::default();
        for (probe, first) in probes.iter().zip(first) {
            let Some(inst) = instruction(kernel, probe).and_then(|i| kernel.insts.get(i)) else {
                continue;
            };
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
    /// Lines of the branches and blocks with different counts in `other`, ascending. Lines are
    /// those of `self`, because `other` may come from a text with other comments.
    pub fn differing(&self, other: &Divergence) -> Vec<u32> {
        let branches = self.branches.iter().zip(&other.branches);
        let branches = branches
            .filter(|&(a, b)| *a != BranchCount { line: a.line, ..b.clone() })
            .map(|(a, _)| a.line);
        let blocks = self.blocks.iter().zip(&other.blocks);
        let blocks = blocks
            .filter(|&(a, b)| *a != BlockCount { line: a.line, ..b.clone() })
            .map(|(a, _)| a.line);
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
    /// Reads the words of the counters, and of the log if there is one. `kernel` has no probes.
    pub fn read(
        &self,
        kernel: &Kernel,
        counters: &[u32],
        log: &[u32],
    ) -> (Divergence, Vec<Sequence>) {
        let pair = |pair: &[u32]| {
            pair.iter().rev().fold(0u64, |value, &word| value << 32 | u64::from(word))
        };
        let counters: Vec<u64> = counters.chunks(2).map(pair).collect();
        let sequences = self.read_log(log);
        (Divergence::new(kernel, &self.probes, &counters, &sequences), sequences)
    }

    /// Formats a passed probe with its line.
    pub fn describe(&self, kernel: &Kernel, passed: &Passed) -> String {
        let probe = self.probes.get(passed.probe as usize);
        let line = probe
            .and_then(|p| instruction(kernel, p))
            .and_then(|i| kernel.insts.get(i))
            .map_or(0, |i| i.line);
        match probe.map(|p| p.kind) {
            Some(ProbeKind::Branch) => {
                format!(
                    "line {line}: branch of {}, taken by {}",
                    passed.lanes.list(),
                    passed.taken.list()
                )
            }
            _ => format!("line {line}: block, {}", passed.lanes.list()),
        }
    }
}
