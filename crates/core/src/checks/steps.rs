//! Role of each step in the checks, computed once per stream.

use std::collections::BTreeMap;

use super::cells::Manner;
use crate::base::Pc;
use crate::code::MicroOp;
use crate::isa::Space;
use crate::kernel::{
    Around, AtomicForm, BarrierKind, Kernel, MACHINE_FORM, MBarrierFn, MemoryOrder, Op, Register,
};

/// Role of a step in the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// No role besides register uses.
    Other,
    /// Exit of lanes.
    Exit,
    /// Fence: later strong writes release earlier accesses.
    Fence,
    /// `bar.warp.sync`
    WarpSync,
    /// NOP of machine code, and its exchanges between lanes: lanes that execute it are together.
    Together,
    /// Block barrier. `aligned`: all lanes of a warp arrive together. `sync`: it waits.
    Barrier { aligned: bool, sync: bool },
    /// Bulk copy: weak accesses, and an arrival at an object, which releases them.
    BulkCopy,
    /// Memory access.
    Access { global: Manner, shared: Manner, order: MemoryOrder },
}

/// Register that a step reads or writes, by its index among the checked registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub register: usize,
    pub write: bool,
    /// True for the step's guard, which all active lanes read.
    pub guard: bool,
    /// True for the value of a shuffle: lanes get that of another lane.
    pub exchanged: bool,
}

/// Facts about a step.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub line: u32,
    pub role: Role,
    /// Uses of registers that may be read before they are written.
    pub uses: Vec<Use>,
    /// For a branch or barrier guard that decides which lanes reach an aligned barrier: its index
    /// among these decisions.
    pub decision: Option<usize>,
    /// For an aligned barrier: the decisions that control it.
    pub decided_by: Vec<usize>,
    /// True for a barrier of machine code at which lanes with a false guard wait, too.
    pub waits_whole: bool,
    /// True for an atomic that returns the old value.
    pub returns: bool,
    /// True for an asynchronous copy to shared memory.
    pub copies: bool,
}

/// Facts about the steps of a stream.
#[derive(Debug)]
pub(super) struct Steps {
    facts: Vec<Facts>,
    /// True for steps whose issue the checker must inspect.
    looked: Vec<bool>,
    /// Number of decisions.
    pub decisions: usize,
}

impl Steps {
    pub(super) fn new(kernel: &Kernel, steps: &[MicroOp], watched: &[Register]) -> Steps {
        let awaited = kernel.awaited();
        let (decisions, decided_by) = decisions(kernel);
        let facts: Vec<Facts> = steps
            .iter()
            .enumerate()
            .map(|(at, step)| {
                let awaited = step.source.is_some_and(|i| awaited.get(i as usize) == Some(&true));
                Facts {
                    line: step.inst.line,
                    role: if reads_for_cast(&steps[at..]) {
                        CAST_READ
                    } else {
                        role(&step.inst.op, awaited)
                    },
                    // Registers of device functions are not checked.
                    uses: uses(step, watched),
                    waits_whole: step.inst.form == MACHINE_FORM
                        && matches!(step.inst.op, Op::Barrier(b) if b.kind != BarrierKind::Arrive),
                    returns: step.inst.op.atomic().is_some_and(|atomic| atomic.d.is_some()),
                    copies: matches!(step.inst.op, Op::AsyncCopy(_)),
                    decision: step.source.and_then(|i| decisions.binary_search(&i).ok()),
                    decided_by: step
                        .source
                        .and_then(|i| decided_by.get(&i).cloned())
                        .unwrap_or_default(),
                }
            })
            .collect();
        let looks = |f: &Facts| {
            let guard = f.decision.is_some() && matches!(f.role, Role::Barrier { .. });
            let acts = matches!(f.role, Role::Exit | Role::Fence | Role::Together);
            guard || acts || !f.uses.is_empty()
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

    /// Returns true if the lanes of a warp must arrive together at this barrier.
    pub(super) fn is_aligned(&self, pc: Pc) -> bool {
        self.at(pc).is_some_and(|facts| matches!(facts.role, Role::Barrier { aligned: true, .. }))
    }

    pub(super) fn line(&self, pc: Pc) -> u32 {
        self.at(pc).map_or(0, |facts| facts.line)
    }
}

/// Returns the instructions that decide which lanes reach aligned barriers.
///
/// The list is ascending. The map holds the decisions of each aligned barrier, by index.
fn decisions(kernel: &Kernel) -> (Vec<u32>, BTreeMap<u32, Vec<usize>>) {
    let around = Around::new(&kernel.flow, &kernel.insts, &kernel.functions);
    let aligned =
        |i: &usize| matches!(kernel.insts[*i].op, Op::Barrier(barrier) if barrier.aligned);
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

/// Load of the word that an atomic of a compiler's loop compares.
const CAST_READ: Role =
    Role::Access { global: Manner::Strong, shared: Manner::Strong, order: MemoryOrder::Relaxed };

/// Most steps from such a load to its atomic.
const CAST_LOOP: usize = 64;

/// Returns true if the first step loads the word that an ATOMS.CAST among the next ones compares.
///
/// Compilers make such loops of atomics that shared memory does not have, as additions of floats.
fn reads_for_cast(steps: &[MicroOp]) -> bool {
    let Some((Op::Load(load), next)) = steps.split_first().map(|(s, next)| (&s.inst.op, next))
    else {
        return false;
    };
    let Some(word) = load.d[0] else { return false };
    if !matches!(load.access.space, Space::Shared | Space::Generic) {
        return false;
    }
    for step in next.iter().take(CAST_LOOP) {
        let cast = step.inst.op.atomic().filter(|a| a.form == AtomicForm::Cast);
        if cast.is_some_and(|a| a.b == word) {
            return true;
        }
        if step.inst.writes.contains(&Register::Narrow(word)) {
            return false;
        }
    }
    false
}

fn role(op: &Op, awaited: bool) -> Role {
    let access = |order: MemoryOrder| {
        let (global, shared) = match order {
            MemoryOrder::Weak => (Manner::Weak, Manner::Weak),
            MemoryOrder::Volatile if !awaited => (Manner::Strong, Manner::Volatile),
            _ => (Manner::Strong, Manner::Strong),
        };
        Role::Access { global, shared, order }
    };
    match op {
        Op::Exit => Role::Exit,
        Op::Fence(_) => Role::Fence,
        Op::WarpSync { .. } | Op::Gather { .. } => Role::WarpSync,
        Op::Together => Role::Together,
        // ptxas makes one atomic of those of a warp, and exchanges their results so.
        Op::Native(native) if native.f.exchanges() => Role::Together,
        Op::Barrier(barrier) => {
            Role::Barrier { aligned: barrier.aligned, sync: barrier.kind != BarrierKind::Arrive }
        }
        Op::MBarrier(op) => {
            let manner = match op.f {
                MBarrierFn::Init | MBarrierFn::InitBits | MBarrierFn::Inval => Manner::Weak,
                f if f.tests() => Manner::Strong,
                _ => Manner::Atomic,
            };
            Role::Access { global: manner, shared: manner, order: op.order }
        }
        Op::BulkCopy(_) => Role::BulkCopy,
        Op::AsyncCopy(_) | Op::GroupMma(_) | Op::MatrixAccess(_) => access(MemoryOrder::Weak),
        Op::Load(load) => access(load.access.order),
        Op::Store(store) => access(store.access.order),
        Op::AtomicVector(vector) => role(&Op::Atomic(vector.first), awaited),
        Op::Atomic(atomic) => {
            Role::Access { global: Manner::Atomic, shared: Manner::Atomic, order: atomic.order }
        }
        _ => Role::Other,
    }
}

fn uses(step: &MicroOp, watched: &[Register]) -> Vec<Use> {
    if watched.is_empty() {
        return Vec::new();
    }
    let inst = &step.inst;
    let number = |register: &Register| watched.iter().position(|w| w == register);
    let guard = inst.guard.map(|g| Register::Predicate(g.predicate));
    let exchanged = match &inst.op {
        Op::Shuffle(shuffle) => Some(Register::Narrow(shuffle.a)),
        _ => None,
    };
    let of = |r: &Register, write: bool| {
        let (guard, exchanged) = (Some(*r) == guard && !write, Some(*r) == exchanged && !write);
        number(r).map(|register| Use { register, write, guard, exchanged })
    };
    let reads = inst.reads.iter().filter_map(|r| of(r, false));
    reads.chain(inst.writes.iter().filter_map(|r| of(r, true))).collect()
}
