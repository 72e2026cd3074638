//! Which instruction reads whose result, as far as it can be told without a data-flow analysis.
//!
//! Exact for registers that are written once, as compilers' are; for others it follows values inside a basic block and gives up where
//! a value may leave its block. Giving up means that nothing is folded: the count errs to the high side.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::{BasicBlock, Kernel, Register};

/// Definitions and uses of a kernel.
pub(super) struct Values<'a> {
    kernel: &'a Kernel,
    /// For each register the instructions that write it.
    writers: BTreeMap<Register, Vec<usize>>,
    /// For each register the instructions that read it.
    readers: BTreeMap<Register, Vec<usize>>,
    /// Registers that some block reads before it writes them.
    exposed: BTreeSet<Register>,
}

impl<'a> Values<'a> {
    pub(super) fn new(kernel: &'a Kernel) -> Values<'a> {
        let (mut writers, mut readers): (BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>) = Default::default();
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

    /// Whether only one instruction writes the register.
    pub(super) fn is_written_once(&self, register: Register) -> bool {
        Values::all(&self.writers, register).len() == 1
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let block = self.kernel.flow.block_of(at).and_then(|b| self.kernel.flow.blocks().get(b.index()));
        block.map_or(at..at + 1, BasicBlock::range)
    }

    /// Every instruction that reads what `at` writes to `register`; `None` if that cannot be told.
    pub(super) fn uses(&self, register: Register, at: usize) -> Option<Vec<usize>> {
        let readers = Values::all(&self.readers, register);
        if self.is_written_once(register) {
            return Some(readers.to_vec());
        }
        let behind = at + 1..self.range(at).end;
        let next = within(Values::all(&self.writers, register), &behind).first().copied();
        let own = within(readers, &behind).iter().copied().take_while(|&r| next.is_none_or(|n| r <= n)).collect();
        if next.is_some_and(|n| self.kernel.insts[n].guard.is_none()) {
            return Some(own);
        }
        // It reaches the end of the block. Does any block read the register before it writes it?
        (!self.exposed.contains(&register)).then_some(own)
    }
}

/// The numbers of an ascending list that lie in a range.
fn within<'l>(list: &'l [usize], range: &std::ops::Range<usize>) -> &'l [usize] {
    let from = list.partition_point(|&n| n < range.start);
    let rest = list.get(from..).unwrap_or_default();
    rest.get(..rest.partition_point(|&n| n < range.end)).unwrap_or_default()
}
