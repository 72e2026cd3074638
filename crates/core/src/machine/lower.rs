//! From PTX to machine instructions: which branches are predicated, and how many instructions each instruction becomes.
//!
//! A model of a back end's instruction selection as far as issue slots need it: counts, not encodings. Under
//! [`Lowering::Hardware`], in this order:
//!
//! 1. branches to a bare `ret` become predicated exits ([`Kernel::with_predicated_exits`]);
//! 2. every instruction gets its count: the machine file's `expand` by row and type, else its class's `slots`;
//! 3. `folds` (see the page of that name) move counts to neighbours; what is left with none is *free*;
//! 4. unconditional forward branches that a layout makes superfluous are free: those to a block that nothing else enters;
//! 5. short conditionals are predicated ([`Kernel::predicated`]) by the rule of `worth` below;
//! 6. recursive functions save registers ([`Kernel::with_saved_registers`]);
//! 7. before Volta a branch that may diverge is preceded by the instruction that sets its convergence point (SSY). Volta's
//!    BSSY and BSYNC are steps of their own.
//!
//! Free instructions still do what they do, and their results come when their operands have come. Only
//! instructions that change nothing but registers of their lanes, loads of parameters, what moves a call's arguments and results, and
//! jumps can be free. Not modelled: unrolling, hoisting,
//! common subexpressions, dead code, scheduling, other spills: programs are taken to be what an optimising front end wrote.

mod folds;
mod values;

use std::borrow::Cow;

use super::spec::{Lowering, MachineCode, MachineSpec, Mode};
use crate::exec;
use crate::isa::{Class, Type};
use crate::kernel::{AddressBase, Conditional, Inst, Kernel, LaneFn, LaneOp, Op, Scope};

/// What a machine issues: a kernel, and how many machine instructions each of its instructions is.
#[derive(Clone, Debug)]
pub struct Code<'k> {
    kernel: Cow<'k, Kernel>,
    /// By instruction; `None`: one each, as written.
    counts: Option<Vec<u32>>,
    /// By instruction: how many of these use the unit of its class.
    on_unit: Vec<u32>,
    join_set: u32,
}

impl Code<'_> {
    /// The kernel as it is issued. Its instructions are not numbered as those of the kernel it was made from.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Whether machine instructions are issued; joins are among them then.
    pub fn is_machine_code(&self) -> bool {
        self.counts.is_some()
    }

    /// Machine instructions that instruction `source` of the kernel becomes.
    pub fn count(&self, source: u32) -> u32 {
        self.counts.as_ref().map_or(1, |counts| counts.get(source as usize).copied().unwrap_or(1))
    }

    /// How many of the machine instructions that instruction `source` becomes use the unit of its class.
    pub(super) fn on_unit(&self, source: u32) -> u32 {
        self.on_unit.get(source as usize).copied().unwrap_or(1)
    }

    /// Machine instructions that set a convergence point, if they are counted.
    pub(super) fn join_set(&self) -> Option<u32> {
        self.is_machine_code().then_some(self.join_set)
    }

    /// Machine instructions of the whole kernel, without joins: what a disassembly lists.
    pub fn static_count(&self) -> u64 {
        (0..self.kernel.insts.len() as u32).map(|i| u64::from(self.count(i))).sum()
    }
}

/// As written.
impl<'k> From<&'k Kernel> for Code<'k> {
    fn from(kernel: &'k Kernel) -> Code<'k> {
        Code { kernel: Cow::Borrowed(kernel), counts: None, on_unit: Vec::new(), join_set: 0 }
    }
}

/// What a machine issues of `kernel`, as its `lowering` says.
pub fn lower<'k>(kernel: &'k Kernel, spec: &MachineSpec, mode: Mode) -> Code<'k> {
    let Some(code) = spec.code.as_ref().filter(|_| spec.lowering == Lowering::Hardware) else {
        return Code::from(kernel);
    };
    let kernel = kernel.with_predicated_exits();
    let counts = counts(&kernel, spec, code);
    let converted = kernel.predicated(|conditional| worth(&kernel, conditional, &counts, code));
    let mut counts: Vec<u32> = converted.origin.iter().map(|&i| counts[i as usize]).collect();
    let converted = converted.kernel.with_saved_registers(mode == Mode::Volta);
    counts = converted.origin.iter().map(|&i| counts[i as usize]).collect();
    let kernel = converted.kernel;
    saved(&kernel, &mut counts);
    for (inst, count) in kernel.insts.iter().zip(&mut counts) {
        if inst.guard.is_none() && matches!(inst.op, Op::Branch { .. }) {
            *count = 1;
        }
    }
    jumps(&kernel, &mut counts);
    if mode == Mode::PreVolta {
        for branch in kernel.flow.branches().iter().filter(|b| b.may_diverge && b.meets) {
            counts[branch.inst as usize] += code.join_set;
        }
    }
    if let Some(first) = counts.first_mut() {
        *first += entry(&kernel, code);
    }
    let on_unit = kernel.insts.iter().map(|inst| code.on_unit(inst.form, inst_type(inst))).collect();
    Code { kernel: Cow::Owned(kernel), counts: Some(counts), on_unit, join_set: code.join_set }
}

/// Machine instructions by instruction, before predication.
fn counts(kernel: &Kernel, spec: &MachineSpec, code: &MachineCode) -> Vec<u32> {
    let count = |inst: &Inst| {
        if inst.op == Op::Fence(Scope::Block) {
            return 1;
        }
        let count = code.expansion(inst.form, inst_type(inst)).unwrap_or_else(|| spec.price(inst.class).slots);
        if can_be_free(inst) { count } else { count.max(1) }
    };
    let mut counts: Vec<u32> = kernel.insts.iter().map(count).collect();
    folds::apply(kernel, &code.folds, &mut counts);
    counts
}

/// The first type of the mnemonic, where it makes a difference.
fn inst_type(inst: &Inst) -> Option<Type> {
    match &inst.op {
        Op::Lane(LaneOp { ty, .. }) => Some(*ty),
        Op::Setp(setp) => Some(setp.ty),
        Op::Select { ty, .. } => Some(*ty),
        Op::Load(load) => Some(load.access.ty),
        Op::Store(store) => Some(store.access.ty),
        Op::Atomic(atomic) => Some(atomic.ty),
        _ => None,
    }
}

/// Whether the instruction may take no slot.
pub(super) fn can_be_free(inst: &Inst) -> bool {
    match &inst.op {
        Op::Load(load) => inst.class == Class::LoadConst && load.address.base == AddressBase::Zero,
        Op::Branch { .. } => inst.guard.is_none(),
        Op::ReadSlot(_) | Op::WriteSlot(_) => true,
        op => exec::is_element_wise(op),
    }
}

/// Jumps forward into a block that nothing else enters vanish: the block is laid out behind the jump.
fn jumps(kernel: &Kernel, counts: &mut [u32]) {
    for (i, inst) in kernel.insts.iter().enumerate() {
        let Op::Branch { target, .. } = inst.op else { continue };
        let block = kernel.flow.block_of(target.index()).and_then(|b| kernel.flow.blocks().get(b.index()));
        if inst.guard.is_none() && target.index() > i && block.is_some_and(|b| b.predecessors.len() == 1) {
            counts[i] = 0;
        }
    }
}

/// Instructions of recursive functions: an access for each register that is saved; the stack pointer moves, and barriers are copied,
/// before the first is saved and after the last is restored; a call puts its return address in two registers.
fn saved(kernel: &Kernel, counts: &mut [u32]) {
    for (inst, count) in kernel.insts.iter().zip(counts) {
        match &inst.op {
            Op::Spill(spill) => {
                *count = 1 + if spill.word + 1 == spill.words { 1 + spill.barriers } else { 0 };
            }
            Op::Call(call) if call.callees().iter().any(|&f| kernel.functions[f as usize].recursive) => *count += 2,
            _ => {}
        }
    }
}

/// Instructions that the kernel begins with.
fn entry(kernel: &Kernel, code: &MachineCode) -> u32 {
    let uses = |classes: &[Class]| kernel.insts.iter().any(|inst| classes.contains(&inst.class));
    let global = uses(&[Class::LoadGlobal, Class::StoreGlobal, Class::AtomicGlobal]);
    let shared = uses(&[Class::LoadShared, Class::StoreShared, Class::AtomicShared]);
    code.entry.always + u32::from(global) * code.entry.global + u32::from(shared) * code.entry.shared
}

/// Whether a back end predicates the conditional. From what ptxas 13.0 did for sm_75 and sm_90 with bodies of 1 to 15
/// instructions of each kind, in and outside loops:
///
/// - each arm becomes at most `predicate` machine instructions (ptxas: 8), the exit of one that ends the thread included;
/// - a body that reads global memory stays a branch, so that warps without lanes in it need not wait for it, unless the block behind
///   begins with other work than comparisons: before its first barrier, branch or access to global memory.
fn worth(kernel: &Kernel, conditional: &Conditional, counts: &[u32], code: &MachineCode) -> bool {
    let exit = conditional.exit.map_or(0, |i| counts[i as usize]);
    let short = |arm: &Vec<u32>| arm.iter().map(|&i| counts[i as usize]).sum::<u32>() + exit <= code.predicate;
    if code.predicate == 0 || !conditional.arms.iter().all(short) {
        return false;
    }
    let reads_global = |&i: &u32| kernel.insts[i as usize].class == Class::LoadGlobal;
    if !conditional.arms.iter().flatten().any(reads_global) {
        return true;
    }
    let Some(behind) = kernel.flow.blocks().get(conditional.join.index()) else { return false };
    let ends = |class: Class| {
        use Class::*;
        matches!(class, Barrier | Branch | Exit | LoadGlobal | StoreGlobal | AtomicGlobal)
    };
    let before = behind.range().take_while(|&i| !ends(kernel.insts[i].class));
    before.filter(|&i| counts[i] > 0).any(|i| kernel.insts[i].class != Class::Compare)
}

/// Whether the operation is this function.
fn is(inst: &Inst, f: LaneFn) -> bool {
    matches!(&inst.op, Op::Lane(op) if op.f == f)
}

#[cfg(test)]
mod tests;
