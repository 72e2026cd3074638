//! Model of NVIDIA's compiler: from a checked kernel to the code that a machine runs.
//!
//! Everything that imitates ptxas is in this module, behind `compile(&Kernel, &Target, Mode) ->
//! Code`. The model covers what issue slots and reconvergence need: counts, guards and convergence
//! operations, not encodings. The rules come from machine code of ptxas 13.0 (mostly sm_75 to
//! sm_90) and from counts on an H200; docs/machine-instructions.md has the sources of the figures.
//!
//! Under [`Lowering::Hardware`](crate::spec::Lowering::Hardware), the passes run in this order:
//!
//! 1. `dead_edges` propagates constants and removes edges that no lane takes. Measured with
//!    generated kernels on an H200.
//! 2. `predicate` turns branches to a bare `ret` into predicated exits.
//! 3. `contraction` fuses products and sums of floats. Read off sm_90 machine code of some seventy
//!    small kernels a type.
//! 4. `counts` gives each instruction its number of machine instructions: the machine file's
//!    `expand` by row and type, else the `slots` of its class.
//! 5. `folds` moves counts to neighbours; an instruction left with none is *free*. Read off sm_75,
//!    sm_80 and sm_90 machine code of the kernels in programs/cuda.
//! 6. `predicate` guards short conditionals, selected by `should_predicate`. Measured with bodies
//!    of 1 to 15 instructions on sm_75 and sm_90.
//! 7. `spills` saves and restores registers of recursive functions. Read off sm_90 machine code.
//! 8. `free_jumps` makes an unconditional forward branch free if nothing else enters its target.
//! 9. Before Volta, the instruction that sets a convergence point (SSY) precedes each branch that
//!    may diverge.
//! 10. `barriers` and `merges` place convergence barriers (BSSY, BSYNC, BREAK). Measured on 2,031
//!     generated kernels on an H200.
//! 11. `place` adds convergence operations and yields to the edges. The rule for yields comes from
//!     some eighty small kernels.
//!
//! Free instructions still take effect, and their results are ready when their operands are. Only
//! instructions that change nothing but registers of their own lanes, loads of parameters, moves of
//! a call's arguments and results, and jumps can be free. Not modelled: unrolling, hoisting, common
//! subexpressions, dead code, scheduling, other spills. Programs are taken to be the output of an
//! optimising front end.
//!
//! Without a table of machine instructions, or with
//! [`Lowering::AsWritten`](crate::spec::Lowering::AsWritten), `as_written` issues each PTX
//! instruction once.

mod barriers;
mod contraction;
mod dead_edges;
mod draft;
mod folds;
#[cfg(test)]
mod laws;
mod merges;
mod place;
mod predicate;
mod spills;
mod values;

use crate::code::{Code, Dependences, MicroOp, Scheme};
use crate::exec;
use crate::isa::{Class, Space, Type};
use crate::kernel::{
    AddressBase, ConvergenceOp, EdgeFilter, Inst, Kernel, LaneFn, LaneOp, Load, Op, Register,
    Registers, Scope,
};
use crate::spec::{MachineCode, Mode, Target};
use draft::Draft;
use place::Step;
use predicate::Conditional;

/// Compiles a kernel for a target.
pub fn compile(kernel: &Kernel, target: &Target<'_>, mode: Mode) -> Code {
    let scheme = match mode {
        Mode::PreVolta => Scheme::Stack,
        Mode::Volta => Scheme::Barriers,
    };
    let Some(tables) = target.tables() else { return as_written(kernel, target, scheme) };
    let dead: Option<EdgeFilter> = tables.dead_edges.then_some(dead_edges::drop_dead_edges);
    let draft = Draft::new(kernel, dead).with_predicated_exits();
    let contracted = draft.with_contractions();
    let mut counts = counts(&contracted.draft.kernel, target, tables);
    contracted.discount(&mut counts);
    let draft = contracted.draft;
    let rewritten = draft.with_predication(|conditional| {
        should_predicate(&draft.kernel, conditional, &counts, tables)
    });
    let mut counts: Vec<u32> = rewritten.origin.iter().map(|&i| counts[i as usize]).collect();
    let rewritten = rewritten.draft.with_saved_registers(mode == Mode::Volta);
    counts = rewritten.origin.iter().map(|&i| counts[i as usize]).collect();
    let Draft { kernel, predicated, .. } = rewritten.draft;
    count_saves(&kernel, &mut counts);
    for (inst, count) in kernel.insts.iter().zip(&mut counts) {
        if inst.guard.is_none() && matches!(inst.op, Op::Branch { .. }) {
            *count = 1;
        }
    }
    free_jumps(&kernel, &mut counts);
    if mode == Mode::PreVolta {
        for branch in kernel.flow.branches().iter().filter(|b| b.may_diverge && b.meets) {
            counts[branch.inst as usize] += tables.join_set;
        }
    }
    if let Some(first) = counts.first_mut() {
        *first += entry(&kernel, tables);
    }
    let placed = barriers::place(&kernel.flow, tables.merges);
    let stream = place::place(
        &kernel.insts,
        &kernel.functions,
        &kernel.flow,
        &placed,
        scheme,
        target.yields(),
    );
    let micro_op = |step: Step| {
        let inst = &step.inst;
        let (count, on_unit) = match (step.source, &inst.op) {
            (Some(i), _) => (counts[i as usize], tables.on_unit(kernel.row(inst), inst_type(inst))),
            (None, Op::Join(ConvergenceOp::Set(_))) => (tables.join_set, 1),
            (None, _) => (target.slots(inst.class), 1),
        };
        let uniform =
            step.source.is_some_and(|i| kernel.flow.uniform_result(i as usize)) && is_simple(inst);
        let invalidates_l1 = mode == Mode::Volta && acquires_beyond_block(&inst.op);
        micro_op(step, &kernel.registers, count, on_unit, uniform, invalidates_l1)
    };
    let ops = stream.steps.into_iter().map(micro_op).collect();
    let (entry, functions) = (stream.entry, stream.functions);
    Code { kernel, ops, entry, functions, scheme, is_machine_code: true, predicated }
}

/// Issues each PTX instruction once and keeps branches as written.
///
/// Lanes reconverge at immediate post-dominators: no edges are removed and no merges are added,
/// except for a target made for comparisons with a GPU ([`Target::for_comparison`]).
fn as_written(kernel: &Kernel, target: &Target<'_>, scheme: Scheme) -> Code {
    let as_ptxas = target.places_as_ptxas();
    let live;
    let kernel = if as_ptxas {
        live = Draft::new(kernel, Some(dead_edges::drop_dead_edges)).kernel;
        &live
    } else {
        kernel
    };
    let placed = barriers::place(&kernel.flow, as_ptxas);
    let stream = place::place(
        &kernel.insts,
        &kernel.functions,
        &kernel.flow,
        &placed,
        scheme,
        target.yields(),
    );
    let micro_op = |step: Step| {
        let count = if step.source.is_some() { 1 } else { target.slots(step.inst.class) };
        let uniform = step.source.is_some_and(|i| kernel.flow.uniform_result(i as usize))
            && is_simple(&step.inst);
        micro_op(step, &kernel.registers, count, 1, uniform, false)
    };
    let ops = stream.steps.into_iter().map(micro_op).collect();
    let (entry, functions) = (stream.entry, stream.functions);
    let predicated = Vec::new();
    Code {
        kernel: kernel.clone(),
        ops,
        entry,
        functions,
        scheme,
        is_machine_code: false,
        predicated,
    }
}

fn micro_op(
    step: Step,
    registers: &Registers,
    count: u32,
    on_unit: u32,
    uniform: bool,
    invalidates_l1: bool,
) -> MicroOp {
    let Step { inst, source, next, reconverge } = step;
    let dependences = dependences(&inst, registers);
    MicroOp { inst, source, next, reconverge, count, on_unit, uniform, invalidates_l1, dependences }
}

/// Returns the scoreboard entries of an instruction, one per register row and predicate.
fn dependences(inst: &Inst, registers: &Registers) -> Dependences {
    let predicates = registers.narrow + registers.wide;
    let entry = |r: &Register| match r {
        Register::Narrow(row) => row.0,
        Register::Wide(row) => registers.narrow + row.0,
        Register::Predicate(p) => predicates + p.0,
    };
    // The sums of a warpgroup's product are asynchronous: a wait for the product orders them.
    let is_product = matches!(inst.op, Op::GroupMma(_));
    let writes = if is_product { &[] } else { inst.writes.as_slice() };
    let only_read = inst.reads.iter().filter(|r| !inst.writes.contains(r));
    Dependences::Registers {
        entries: writes.iter().chain(only_read).map(entry).collect(),
        written: writes.len() as u8,
        guard: inst.guard.map(|guard| predicates + guard.predicate.0),
    }
}

/// Returns the number of machine instructions of each instruction, before predication.
fn counts(kernel: &Kernel, target: &Target<'_>, code: &MachineCode) -> Vec<u32> {
    let count = |inst: &Inst| {
        if inst.op == Op::Fence(Scope::Block) {
            return 1;
        }
        let count = code
            .expansion(kernel.row(inst), inst_type(inst))
            .unwrap_or_else(|| target.slots(inst.class));
        if can_be_free(inst) { count } else { count.max(1) }
    };
    let mut counts: Vec<u32> = kernel.insts.iter().map(count).collect();
    folds::apply(kernel, &code.folds, &mut counts);
    counts
}

/// Returns the instruction type, for operations whose count may depend on it.
fn inst_type(inst: &Inst) -> Option<Type> {
    match &inst.op {
        Op::Lane(LaneOp { ty, .. }) => Some(*ty),
        Op::Setp(setp) => Some(setp.ty),
        Op::Select { ty, .. } => Some(*ty),
        Op::Load(load) => Some(load.access.ty),
        Op::Store(store) => Some(store.access.ty),
        Op::Atomic(atomic) => Some(atomic.ty),
        Op::AtomicVector(vector) => Some(vector.first.ty),
        _ => None,
    }
}

/// Returns true if the instruction can be free.
fn can_be_free(inst: &Inst) -> bool {
    match &inst.op {
        Op::Load(load) => inst.class == Class::LoadConst && load.address.base == AddressBase::Zero,
        Op::Branch { .. } => inst.guard.is_none(),
        Op::ReadSlot(_) | Op::WriteSlot(_) => true,
        op => exec::is_element_wise(op),
    }
}

/// Makes forward jumps free if nothing else enters their target.
///
/// The target is laid out right after the jump.
fn free_jumps(kernel: &Kernel, counts: &mut [u32]) {
    for (i, inst) in kernel.insts.iter().enumerate() {
        let Op::Branch { target, .. } = inst.op else { continue };
        let block =
            kernel.flow.block_of(target.index()).and_then(|b| kernel.flow.blocks().get(b.index()));
        if inst.guard.is_none()
            && target.index() > i
            && block.is_some_and(|b| b.predecessors.len() == 1)
        {
            counts[i] = 0;
        }
    }
}

/// Counts the instructions that recursive functions and their callers add.
///
/// Each saved register is one access. The stack pointer moves and barriers are copied before the
/// first save and after the last restore. A call writes its return address to two registers.
fn count_saves(kernel: &Kernel, counts: &mut [u32]) {
    for (inst, count) in kernel.insts.iter().zip(counts) {
        match &inst.op {
            Op::Spill(spill) => {
                *count = 1 + if spill.word + 1 == spill.words { 1 + spill.barriers } else { 0 };
            }
            Op::Call(call)
                if call.callees().iter().any(|&f| kernel.functions[f as usize].recursive) =>
            {
                *count += 2
            }
            _ => {}
        }
    }
}

/// Returns the number of instructions at the start of the kernel.
fn entry(kernel: &Kernel, code: &MachineCode) -> u32 {
    let uses = |classes: &[Class]| kernel.insts.iter().any(|inst| classes.contains(&inst.class));
    let global = uses(&[Class::LoadGlobal, Class::StoreGlobal, Class::AtomicGlobal]);
    let shared = uses(&[Class::LoadShared, Class::StoreShared, Class::AtomicShared]);
    code.entry.always
        + u32::from(global) * code.entry.global
        + u32::from(shared) * code.entry.shared
}

/// Returns true if ptxas predicates the conditional.
///
/// Measured with ptxas 13.0 for sm_75 and sm_90, with bodies of 1 to 15 instructions of each kind,
/// inside and outside loops. It predicates if
///
/// - each arm has at most `predicate` machine instructions (ptxas: 8), including the exit of an arm
///   that ends the thread;
/// - no arm reads global memory, so that warps without lanes in it need not wait for the load; or
///   the block after the conditional starts with work other than comparisons, before its first
///   barrier, branch or access to global memory.
fn should_predicate(
    kernel: &Kernel,
    conditional: &Conditional,
    counts: &[u32],
    code: &MachineCode,
) -> bool {
    let exit = conditional.exit.map_or(0, |i| counts[i as usize]);
    let short = |arm: &Vec<u32>| {
        arm.iter().map(|&i| counts[i as usize]).sum::<u32>() + exit <= code.predicate
    };
    if code.predicate == 0 || !conditional.arms.iter().all(short) {
        return false;
    }
    let reads_global = |&i: &u32| kernel.insts[i as usize].class == Class::LoadGlobal;
    if !conditional.arms.iter().flatten().any(reads_global) {
        return true;
    }
    let Some(after) = kernel.flow.blocks().get(conditional.join.index()) else { return false };
    let ends = |class: Class| {
        use Class::*;
        matches!(class, Barrier | Branch | Exit | LoadGlobal | StoreGlobal | AtomicGlobal)
    };
    let before_end = after.range().take_while(|&i| !ends(kernel.insts[i].class));
    before_end.filter(|&i| counts[i] > 0).any(|i| kernel.insts[i].class != Class::Compare)
}

/// Returns true if the uniform datapath can execute the instruction.
///
/// Operands must be uniform. It executes moves, shifts, logic and additions of 32 bits. Products
/// and comparisons use the units of the lanes.
fn is_simple(inst: &Inst) -> bool {
    let simple = matches!(inst.class, Class::Move | Class::IntAdd | Class::Logic | Class::Shift);
    simple && matches!(inst.op, Op::Lane(LaneOp { ty, .. }) if !ty.is_wide())
}

/// Returns true if the instruction invalidates the L1 since Volta.
///
/// Later accesses must see the writes of other SMs after a fence wider than a block, and after a
/// load or atomic that acquires at such a scope. ptxas emits `CCTL.IVALL` for them on sm_75 to
/// sm_90. For shared memory it does so only on sm_90, where a cluster shares it; that is not
/// modelled.
fn acquires_beyond_block(op: &Op) -> bool {
    let global = |space: Space| matches!(space, Space::Global | Space::Generic);
    match op {
        Op::Fence(scope) => *scope != Scope::Block,
        Op::Load(Load { access, .. }) => {
            access.order.acquires() && access.scope != Scope::Block && global(access.space)
        }
        op => op.atomic().is_some_and(|atomic| {
            atomic.order.acquires() && atomic.scope != Scope::Block && global(atomic.space)
        }),
    }
}

/// Returns true if the operation is function `f`.
fn is(inst: &Inst, f: LaneFn) -> bool {
    matches!(&inst.op, Op::Lane(op) if op.f == f)
}

#[cfg(test)]
mod tests;
