//! Definitions and uses of registers, without a data-flow analysis.
//!
//! The result is exact for registers that are written once, as in compilers' output. For others it
//! follows values inside a basic block and gives up where a value may leave the block. Then nothing
//! is folded: counts err on the high side.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::{BasicBlock, Kernel, Register};

/// Definitions and uses of a kernel.
pub(super) struct Values<'a> {
    kernel: &'a Kernel,
    /// Instructions that write each register.
    writers: BTreeMap<Register, Vec<usize>>,
    /// Instructions that read each register.
    readers: BTreeMap<Register, Vec<usize>>,
    /// Registers that some block reads before it writes them.
    exposed: BTreeSet<Register>,
}

impl<'a> Values<'a> {
    pub(super) fn new(kernel: &'a Kernel) -> Values<'a> {
        let (mut writers, mut readers): (BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>) =
            Default::default();
        for (i, inst) in kernel.insts.iter().enumerate() {
            for &register in &inst.writes {
                writers.entry(register).or_default().push(i);
            }
            for &register in &inst.reads {
                readers.entry(register).or_default().push(i);
            }
        }
        let mut exposed = BTreeSet::new();
        for block in kernel.flow.blocks() {
            let mut written = BTreeSet::new();
            for inst in &kernel.insts[block.range()] {
                exposed.extend(inst.reads.iter().filter(|register| !written.contains(*register)));
                written.extend(inst.writes.iter().copied());
            }
        }
        Values { kernel, writers, readers, exposed }
    }

    fn all(map: &BTreeMap<Register, Vec<usize>>, register: Register) -> &[usize] {
        map.get(&register).map_or(&[], Vec::as_slice)
    }

    /// Returns true if exactly one instruction writes the register.
    pub(super) fn is_written_once(&self, register: Register) -> bool {
        Values::all(&self.writers, register).len() == 1
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let block =
            self.kernel.flow.block_of(at).and_then(|b| self.kernel.flow.blocks().get(b.index()));
        block.map_or(at..at + 1, BasicBlock::range)
    }

    /// Returns the instructions that read the value which `at` writes to `register`.
    ///
    /// `None` if they are unknown.
    pub(super) fn uses(&self, register: Register, at: usize) -> Option<Vec<usize>> {
        let readers = Values::all(&self.readers, register);
        if self.is_written_once(register) {
            return Some(readers.to_vec());
        }
        let after = at + 1..self.range(at).end;
        let next = within(Values::all(&self.writers, register), &after).first().copied();
        let own = within(readers, &after)
            .iter()
            .copied()
            .take_while(|&r| next.is_none_or(|n| r <= n))
            .collect();
        if next.is_some_and(|n| self.kernel.insts[n].guard.is_none()) {
            return Some(own);
        }
        // The value reaches the end of the block: it escapes if any block reads the register first.
        (!self.exposed.contains(&register)).then_some(own)
    }
}

/// Returns the part of an ascending list that lies in a range.
fn within<'l>(list: &'l [usize], range: &std::ops::Range<usize>) -> &'l [usize] {
    let from = list.partition_point(|&n| n < range.start);
    let rest = list.get(from..).unwrap_or_default();
    rest.get(..rest.partition_point(|&n| n < range.end)).unwrap_or_default()
}
