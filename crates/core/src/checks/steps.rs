//! What each step of a stream means to the checks, looked up once.

use std::collections::BTreeMap;

use super::shadow::Manner;
use crate::base::Pc;
use crate::code::MicroOp;
use crate::isa::Space;
use crate::kernel::{Around, BarrierKind, Kernel, MemoryOrder, Op, Register};

/// What a step is to the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Nothing of interest beside registers.
    Other,
    /// Lanes end.
    Exit,
    /// What comes before is released by strong writes that come after.
    Fence,
    /// `bar.warp.sync`
    WarpSync,
    /// A block barrier. `aligned`: all lanes of a warp promise to come together. `sync`: it waits.
    Barrier { aligned: bool, sync: bool },
    /// An access to memory.
    Access { global: Manner, shared: Manner, order: MemoryOrder, generic: bool },
}

/// A register that a step reads or writes, by its number among those that are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub register: usize,
    pub write: bool,
    /// It is the step's guard: read by all active lanes.
    pub guard: bool,
}

/// A step.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub line: u32,
    pub what: What,
    /// Uses of registers that may be read before they are written.
    pub uses: Vec<Use>,
    /// Of a branch, or the guard of a barrier, that decides which lanes come to an aligned barrier:
    /// its number among these.
    pub decision: Option<usize>,
    /// Of an aligned barrier: the decisions on the way to it.
    pub decided_by: Vec<usize>,
}

/// The steps of a stream.
#[derive(Debug)]
pub(super) struct Steps {
    facts: Vec<Facts>,
    /// Whether an issue of the step has to be looked at.
    looked: Vec<bool>,
    /// How many decisions there are.
    pub decisions: usize,
}

impl Steps {
    pub(super) fn new(kernel: &Kernel, steps: &[MicroOp], watched: &[Register]) -> Steps {
        let awaited = kernel.awaited();
        let (decisions, decided_by) = decisions(kernel);
        let facts: Vec<Facts> = steps
            .iter()
            .map(|step| {
                let awaited = step.source.is_some_and(|i| awaited.get(i as usize) == Some(&true));
                Facts {
                    line: step.inst.line,
                    what: what(&step.inst.op, awaited),
                    // Functions have registers of their own; those are not watched.
                    uses: uses(step, watched),
                    decision: step.source.and_then(|i| decisions.binary_search(&i).ok()),
                    decided_by: step.source.and_then(|i| decided_by.get(&i).cloned()).unwrap_or_default(),
                }
            })
            .collect();
        let looks = |f: &Facts| {
            let guard = f.decision.is_some() && matches!(f.what, What::Barrier { .. });
            guard || matches!(f.what, What::Exit | What::Fence) || !f.uses.is_empty()
        };
        Steps { looked: facts.iter().map(looks).collect(), facts, decisions: decisions.len() }
    }

    #[inline]
    pub(super) fn is_looked_at(&self, pc: Pc) -> bool {
        self.looked.get(pc.index()) == Some(&true)
    }

    #[inline]
    pub(super) fn at(&self, pc: Pc) -> Option<&Facts> {
        self.facts.get(pc.index())
    }

    /// Whether the step is a barrier to which the lanes of a warp promise to come together.
    pub(super) fn is_aligned(&self, pc: Pc) -> bool {
        self.at(pc).is_some_and(|facts| matches!(facts.what, What::Barrier { aligned: true, .. }))
    }

    pub(super) fn line(&self, pc: Pc) -> u32 {
        self.at(pc).map_or(0, |facts| facts.line)
    }
}

/// The instructions that decide which lanes come to aligned barriers, ascending, and for each such
/// barrier the numbers of its decisions.
fn decisions(kernel: &Kernel) -> (Vec<u32>, BTreeMap<u32, Vec<usize>>) {
    let around = Around::new(&kernel.flow, &kernel.insts, &kernel.functions);
    let aligned = |i: &usize| matches!(kernel.insts[*i].op, Op::Barrier(barrier) if barrier.aligned);
    let by: BTreeMap<u32, Vec<u32>> = (0..kernel.insts.len())
        .filter(aligned)
        .map(|i| {
            let guard = kernel.flow.divergent_guard(i).then_some(i as u32);
            (i as u32, around.inst(i).into_iter().chain(guard).collect())
        })
        .collect();
    let mut all: Vec<u32> = by.values().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    let numbers = |list: &Vec<u32>| list.iter().filter_map(|i| all.binary_search(i).ok()).collect();
    let by = by.iter().map(|(&i, list)| (i, numbers(list))).collect();
    (all, by)
}

fn what(op: &Op, awaited: bool) -> What {
    let access = |order: MemoryOrder, space: Space| {
        let (global, shared) = match order {
            MemoryOrder::Weak => (Manner::Weak, Manner::Weak),
            MemoryOrder::Volatile if !awaited => (Manner::Strong, Manner::Volatile),
            _ => (Manner::Strong, Manner::Strong),
        };
        What::Access { global, shared, order, generic: space == Space::Generic }
    };
    match op {
        Op::Exit => What::Exit,
        Op::Fence(_) => What::Fence,
        Op::WarpSync { .. } => What::WarpSync,
        Op::Barrier(barrier) => What::Barrier { aligned: barrier.aligned, sync: barrier.kind != BarrierKind::Arrive },
        Op::Load(load) => access(load.access.order, load.access.space),
        Op::Store(store) => access(store.access.order, store.access.space),
        Op::Atomic(atomic) => What::Access {
            global: Manner::Atomic,
            shared: Manner::Atomic,
            order: atomic.order,
            generic: atomic.space == Space::Generic,
        },
        _ => What::Other,
    }
}

fn uses(step: &MicroOp, watched: &[Register]) -> Vec<Use> {
    if watched.is_empty() {
        return Vec::new();
    }
    let inst = &step.inst;
    let number = |register: &Register| watched.iter().position(|w| w == register);
    let guard = inst.guard.map(|g| Register::Predicate(g.predicate));
    let reads = inst
        .reads
        .iter()
        .filter_map(|r| number(r).map(|register| Use { register, write: false, guard: Some(*r) == guard }));
    let writes =
        inst.writes.iter().filter_map(|r| number(r).map(|register| Use { register, write: true, guard: false }));
    reads.chain(writes).collect()
}
