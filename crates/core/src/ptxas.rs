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

mod barriers;
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
    AddressBase, ConvergenceOp, EdgeFilter, Inst, Kernel, LaneFn, LaneOp, Load, Op, Register, Registers, Scope,
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
    let counts = counts(&draft.kernel, target, tables);
    let rewritten = draft.with_predication(|conditional| worth(&draft.kernel, conditional, &counts, tables));
    let mut counts: Vec<u32> = rewritten.origin.iter().map(|&i| counts[i as usize]).collect();
    let rewritten = rewritten.draft.with_saved_registers(mode == Mode::Volta);
    counts = rewritten.origin.iter().map(|&i| counts[i as usize]).collect();
    let Draft { kernel, predicated, .. } = rewritten.draft;
    saved(&kernel, &mut counts);
    for (inst, count) in kernel.insts.iter().zip(&mut counts) {
        if inst.guard.is_none() && matches!(inst.op, Op::Branch { .. }) {
            *count = 1;
        }
    }
    jumps(&kernel, &mut counts);
    if mode == Mode::PreVolta {
        for branch in kernel.flow.branches().iter().filter(|b| b.may_diverge && b.meets) {
            counts[branch.inst as usize] += tables.join_set;
        }
    }
    if let Some(first) = counts.first_mut() {
        *first += entry(&kernel, tables);
    }
    let placed = barriers::place(&kernel.flow, tables.merges);
    let stream = place::place(&kernel.insts, &kernel.functions, &kernel.flow, &placed, scheme, target.yields());
    let micro_op = |step: Step| {
        let inst = &step.inst;
        let (count, on_unit) = match (step.source, &inst.op) {
            (Some(i), _) => (counts[i as usize], tables.on_unit(kernel.row(inst), inst_type(inst))),
            (None, Op::Join(ConvergenceOp::Set(_))) => (tables.join_set, 1),
            (None, _) => (target.slots(inst.class), 1),
        };
        let uniform = step.source.is_some_and(|i| kernel.flow.uniform_result(i as usize)) && is_simple(inst);
        let invalidates_l1 = mode == Mode::Volta && acquires_beyond_block(&inst.op);
        micro_op(step, &kernel.registers, count, on_unit, uniform, invalidates_l1)
    };
    let ops = stream.steps.into_iter().map(micro_op).collect();
    let (entry, functions) = (stream.entry, stream.functions);
    Code { kernel, ops, entry, functions, scheme, is_machine_code: true, predicated }
}

/// One issue for each PTX instruction: branches as written, lanes reconverge at immediate post-dominators.
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
    let stream = place::place(&kernel.insts, &kernel.functions, &kernel.flow, &placed, scheme, target.yields());
    let micro_op = |step: Step| {
        let count = if step.source.is_some() { 1 } else { target.slots(step.inst.class) };
        let uniform = step.source.is_some_and(|i| kernel.flow.uniform_result(i as usize)) && is_simple(&step.inst);
        micro_op(step, &kernel.registers, count, 1, uniform, false)
    };
    let ops = stream.steps.into_iter().map(micro_op).collect();
    let (entry, functions) = (stream.entry, stream.functions);
    let predicated = Vec::new();
    Code { kernel: kernel.clone(), ops, entry, functions, scheme, is_machine_code: false, predicated }
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

/// Scoreboard entries of an instruction: one for each register row and predicate.
fn dependences(inst: &Inst, registers: &Registers) -> Dependences {
    let predicates = registers.narrow + registers.wide;
    let entry = |r: &Register| match r {
        Register::Narrow(row) => row.0,
        Register::Wide(row) => registers.narrow + row.0,
        Register::Predicate(p) => predicates + p.0,
    };
    let only_read = inst.reads.iter().filter(|r| !inst.writes.contains(r));
    Dependences::Registers {
        entries: inst.writes.iter().chain(only_read).map(entry).collect(),
        written: inst.writes.len() as u8,
        guard: inst.guard.map(|guard| predicates + guard.predicate.0),
    }
}

/// Machine instructions by instruction, before predication.
fn counts(kernel: &Kernel, target: &Target<'_>, code: &MachineCode) -> Vec<u32> {
    let count = |inst: &Inst| {
        if inst.op == Op::Fence(Scope::Block) {
            return 1;
        }
        let count = code.expansion(kernel.row(inst), inst_type(inst)).unwrap_or_else(|| target.slots(inst.class));
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
fn can_be_free(inst: &Inst) -> bool {
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

/// Whether a uniform datapath can do the instruction once for the warp, given operands that are the same in all lanes: moves,
/// shifts, logic and additions of 32 bits. Products and comparisons go on through the units of the lanes.
fn is_simple(inst: &Inst) -> bool {
    let simple = matches!(inst.class, Class::Move | Class::IntAdd | Class::Logic | Class::Shift);
    simple && matches!(inst.op, Op::Lane(LaneOp { ty, .. }) if !ty.is_wide())
}

/// Whether the instruction promises that later accesses see what other SMs wrote, for which ptxas empties the L1 since Volta:
/// fences wider than a block, and loads and atomics that acquire at such a scope. (`CCTL.IVALL` in its code for sm_75 to sm_90;
/// for shared memory only where a cluster has it in common, on sm_90, which is not modelled.)
fn acquires_beyond_block(op: &Op) -> bool {
    let global = |space: Space| matches!(space, Space::Global | Space::Generic);
    match op {
        Op::Fence(scope) => *scope == Scope::Wider,
        Op::Load(Load { access, .. }) => {
            access.order.acquires() && access.scope == Scope::Wider && global(access.space)
        }
        Op::Atomic(atomic) => atomic.order.acquires() && atomic.scope == Scope::Wider && global(atomic.space),
        _ => false,
    }
}

/// Whether the operation is this function.
fn is(inst: &Inst, f: LaneFn) -> bool {
    matches!(&inst.op, Op::Lane(op) if op.f == f)
}

#[cfg(test)]
mod tests;
