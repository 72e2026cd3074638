//! Costs of a kernel's micro-ops on a machine: unit, latency, issue slots, registers.

mod cost;
mod native;
mod visible;

pub(super) use cost::{Cost, NEEDS_PREPARATION};
use cost::{MOST_REGISTERS, USUAL_REGISTERS};
use native::{
    Kept, ahead_of_barriers as native_ahead, hold_back, hold_back_products, price_by_word,
    read_ports,
};
use visible::{Sharing, is_wide_fence};
pub(super) use visible::{Visibility, blocks_communicate, has_checked_order, may_run_ahead};

use super::constant_cache::ConstantLines;
use super::expansion::Expansion;
use super::fetch::LINE;
use super::read_ports::BankReads;
use super::requests::queue_of;
use super::scheduler::Port;
use super::warp::Until;
use crate::base::{Cycle, Pc};
use crate::code::{COUNTERS, Code, Dependences, MicroOp, Scheme};
use crate::event::Stall;
use crate::exec::{self};
use crate::isa::{Class, Space, Unit};
use crate::kernel::{ConvergenceOp, GroupFactor, GroupMma, LaneFn, LaneOp, MACHINE_FORM, Op, Row};
use crate::spec::Machine;

/// Treatment of a step by the pipeline.
///
/// Steps from [`Kind::FreeJoin`] on may have to be prepared before they can issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Changes only registers of its own lanes; most steps.
    ElementWise,
    /// A convergence operation.
    Join,
    /// A conditional branch that may diverge.
    ConditionalBranch,
    /// None of the others.
    Plain,
    /// An asynchronous copy, a wait for it, or an operation on an `mbarrier`.
    Asynchronous,
    /// Product of a warpgroup, or synchronization with products.
    Warpgroup,
    /// A convergence operation without an issue slot.
    FreeJoin,
    /// A free instruction: a neighbour does its work.
    Free,
    /// Names member lanes that must arrive first.
    Collective,
    /// A guarded block barrier of PTX, which some lanes may bypass.
    GuardedBarrier,
    /// A collective on matrices, which may have more registers than [`Cost`] holds.
    Matrix,
}

/// Returns true for a load or store of shared memory that [`exec::repeat`] may execute.
fn repeats_in_shared(op: &Op) -> bool {
    let space = match op {
        Op::Load(load) => load.access.space,
        Op::Store(store) => store.access.space,
        _ => return false,
    };
    space == Space::Shared && exec::is_repeatable(op)
}

/// A program with the costs of its steps.
pub(super) struct PricedCode<'a> {
    pub ops: &'a [MicroOp],
    pub entry: Pc,
    /// PC at which each function starts.
    pub functions: &'a [Pc],
    pub scheme: Scheme,
    pub costs: Vec<Cost<'a>>,
    /// Expansions of steps into several machine instructions.
    pub expansions: Vec<Expansion>,
    /// Scoreboard entries that do not fit the cost of a step, by its PC, ascending.
    pub more: Vec<(Pc, Vec<u16>)>,
    /// Number of lines of machine code.
    pub lines: u32,
    /// Number of scoreboard entries, or of dependence counters, of a warp.
    pub scoreboard: usize,
    /// Cycles to fetch the target of a taken branch.
    pub taken: u32,
    /// Of machine code: cycles from a BSYNC that blocks to the next instruction.
    pub blocked_sync: u32,
    /// Of machine code: cycles for which a BSYNC holds up others of its scheduler.
    pub turn: u32,
    /// Of machine code: cycles until a group that was elected goes on.
    pub election: u32,
    /// Of machine code: cycles for which an election holds up others of its scheduler.
    pub election_turn: u32,
    /// Of machine code: further cycles of a RET whose lanes have several targets.
    pub ret_apart: u32,
    /// Of machine code: cycles from a divergent branch to the lanes that fall through.
    pub parted: u32,
    /// Of machine code: cycles of a taken branch in which its target is fetched.
    pub refetch: u32,
    /// True if the code waits for a counter to fall to a value above 0.
    pub has_depbar: bool,
    /// True for machine code whose atomics L2 serves in the order of cycles, all SMs together.
    pub orders_atomics: bool,
    /// True if it has a fence beyond the block.
    pub has_fence: bool,
    /// True if running blocks can communicate through memory.
    ///
    /// SMs must then run in cycle order.
    pub communicates: bool,
    /// Addresses of the lines of constants in operands.
    pub constant_lines: Vec<u64>,
}

impl<'a> PricedCode<'a> {
    pub(super) fn new(code: &'a Code, spec: &Machine) -> PricedCode<'a> {
        let registers = &code.kernel().registers;
        let mut expansions = Vec::new();
        let more = more_entries(code.ops());
        let last_entry = scoreboard_entries(code) as u16;
        let mut constant_lines = ConstantLines::default();
        let mut price_of = |op: &'a MicroOp| {
            let (inst, slots) = (&op.inst, op.count);
            let mut cost = price(op, spec, last_entry);
            if let Some(native) = &code.kernel().native {
                cost.empties_l1 = op.invalidates_l1;
                cost.ahead = native_ahead(&cost, inst.class);
                if let Some(cache) = spec.sass.as_ref().and_then(|times| times.constants) {
                    cost.constant = constant_lines.of(&op.inst.op, native, cache);
                }
                return cost;
            }
            if cost.kind == Kind::ElementWise && slots > 1 {
                let expansion = Expansion::new(inst.class, cost.port, slots, op.on_unit, spec);
                let first = expansion.part(0);
                (cost.port, cost.interval, cost.latency) =
                    (first.port, first.interval, expansion.tail);
                (cost.slots, cost.gap, cost.expansion) =
                    (1, Until::new(1, Stall::Wait), expansions.len() as u32 + 1);
                expansions.push(expansion);
            }
            let special = |row: Row| registers.specials.iter().any(|&(special, _)| special == row);
            if spec.special_register > 0
                && let Op::Lane(LaneOp { f: LaneFn::Mov, s: [source, ..], .. }) = inst.op
                && special(source)
            {
                cost.latency = spec.special_register;
                cost.result = Stall::ShortScoreboard;
            } else if let Some(uniform) = spec.uniform.filter(|_| op.uniform) {
                cost.port = Port::Uniform;
                cost.latency = uniform.latency;
                cost.interval = uniform.interval;
            }
            cost.ahead = ahead_of_barriers(&cost, inst.class);
            cost.empties_l1 = op.invalidates_l1;
            cost
        };
        let mut costs: Vec<Cost<'a>> = code.ops().iter().map(&mut price_of).collect();
        if let Some(native) = &code.kernel().native {
            let mut kept = Kept::default();
            for (at, (cost, op)) in costs.iter_mut().zip(code.ops()).enumerate() {
                let (slots, distance) = kept.slots(op, at, native.registers);
                [cost.reads, cost.reads_reused] =
                    read_ports(&op.inst, native.registers, slots, spec);
                cost.kept_for = distance;
            }
            hold_back_products(&mut costs, code.ops(), spec);
            hold_back(&mut costs, code.ops(), spec);
        }
        let mut address = 0;
        if code.is_machine_code() {
            for cost in &mut costs {
                cost.line = address / LINE;
                address += match cost.expansion {
                    0 => cost.slots,
                    expansion => expansions[expansion as usize - 1].count(),
                };
            }
        }
        let has_depbar = costs.iter().any(|cost| cost.falls_to.is_some());
        let scoreboard = scoreboard_entries(code) + 1;
        let atomics = spec.sass.as_ref().and_then(|times| times.atomics);
        let native = code.kernel().native.is_some();
        let sharing = Sharing::of(code, native && atomics.is_some());
        for (cost, op) in costs.iter_mut().zip(code.ops()) {
            *cost = cost.with_entries(scoreboard as u16);
            cost.preparation = cost.needed_preparation();
            cost.visibility = sharing.visibility(op, code);
            let queues = cost.queues > 0 || native && queue_of(cost.port).is_some();
            cost.queued = queues || cost.read_counter.is_some();
            cost.simple = cost.is_simple() && !has_depbar && op.inst.also.is_none();
            cost.waits =
                native && (cost.constant > 0 && !cost.loads_constant || cost.falls_to.is_some());
        }
        PricedCode {
            ops: code.ops(),
            entry: code.entry(),
            functions: code.functions(),
            scheme: code.scheme(),
            costs,
            expansions,
            more,
            lines: address / LINE + 1,
            scoreboard,
            taken: if native { 0 } else { spec.branch_taken },
            blocked_sync: spec.sass.as_ref().map_or(0, |times| times.blocked),
            turn: spec.sass.as_ref().map_or(0, |times| times.turn),
            election: spec.sass.as_ref().map_or(0, |times| times.election),
            election_turn: spec.sass.as_ref().map_or(0, |times| times.election_turn),
            ret_apart: spec.sass.as_ref().map_or(0, |times| times.ret_apart),
            parted: spec.sass.as_ref().map_or(0, |times| times.parted),
            refetch: spec.sass.as_ref().map_or(0, |times| times.refetch),
            has_depbar,
            orders_atomics: sharing.orders_atomics,
            has_fence: code.ops().iter().any(|op| is_wide_fence(&op.inst.op)),
            communicates: blocks_communicate(code),
            constant_lines: constant_lines.into_addresses(),
        }
    }
}

/// Returns the number of scoreboard entries of registers, or of dependence counters.
///
/// One more entry stands for the registers that do not fit [`Cost`] ([`PricedCode::more`]).
fn scoreboard_entries(code: &Code) -> usize {
    let registers = &code.kernel().registers;
    match code.kernel().native {
        Some(_) => COUNTERS,
        None => {
            usize::from(registers.narrow)
                + usize::from(registers.wide)
                + usize::from(registers.predicates)
        }
    }
}

/// Returns the number of entries of a step that its cost holds: all, or one less than the maximum.
fn kept_entries(touched: &[u16]) -> usize {
    if touched.len() <= MOST_REGISTERS { touched.len() } else { MOST_REGISTERS - 1 }
}

/// Returns the entries that do not fit the costs of the steps.
fn more_entries(ops: &[MicroOp]) -> Vec<(Pc, Vec<u16>)> {
    let entries = ops.iter().zip(0..).filter_map(|(op, pc)| match &op.dependences {
        Dependences::Registers { entries, .. } => Some((Pc(pc), entries)),
        Dependences::Control { .. } => None,
    });
    let rest = entries.map(|(pc, entries)| (pc, entries[kept_entries(entries)..].to_vec()));
    rest.filter(|(_, rest)| !rest.is_empty()).collect()
}

/// Returns true if a warp issues the step ahead of a barrier at which it has arrived.
///
/// These are arithmetic instructions of fixed latency, as measured on an H200 instruction by
/// instruction (docs/calibration.md): comparisons, selections and products go ahead; conversions,
/// copies on the uniform datapath, branches and accesses wait. Uniform arithmetic also waits on the
/// H200, but ptxas moves it in front of the barrier.
fn ahead_of_barriers(cost: &Cost, class: Class) -> bool {
    let fixed = match cost.port {
        Port::Alu | Port::Fma => cost.result == Stall::Wait,
        Port::Uniform => class != Class::Move,
        _ => false,
    };
    cost.kind == Kind::Free || cost.kind == Kind::ElementWise && fixed
}

/// Returns the treatment of a micro-op by the pipeline.
fn kind(op: &MicroOp) -> Kind {
    let (inst, slots) = (&op.inst, op.count);
    match &inst.op {
        Op::Join(_) if slots == 0 => Kind::FreeJoin,
        Op::Join(ConvergenceOp::Save { .. } | ConvergenceOp::Restore { .. }) => Kind::Plain,
        Op::Join(_) if inst.guard.is_some() => Kind::Plain,
        Op::Join(_) => Kind::Join,
        _ if slots == 0 && op.source.is_some() => Kind::Free,
        Op::Branch { uniform: false, .. } if inst.guard.is_some() => Kind::ConditionalBranch,
        Op::Shuffle(_) | Op::Vote(_) | Op::Match(_) | Op::Redux(_) | Op::WarpSync { .. } => {
            Kind::Collective
        }
        Op::Mma(_) | Op::MatrixAccess(_) | Op::MatrixTranspose { .. }
            if inst.form != MACHINE_FORM =>
        {
            Kind::Matrix
        }
        // More registers than a cost holds, as those of matrices have.
        Op::Texture(_) if inst.form != MACHINE_FORM => Kind::Matrix,
        // In machine code, lanes with a false guard wait with the others.
        Op::Barrier(_) if inst.guard.is_some() && inst.form != MACHINE_FORM => Kind::GuardedBarrier,
        Op::AsyncCopy(_) | Op::BulkCopy(_) | Op::CopyGroups(_) | Op::MBarrier(_) => {
            Kind::Asynchronous
        }
        Op::GroupMma(_) | Op::GroupSync(_) => Kind::Warpgroup,
        op if exec::is_element_wise(op) => Kind::ElementWise,
        _ => Kind::Plain,
    }
}

/// Returns the stall reason of a warp that waits for the result of a class.
fn result_of(class: Class, spec: &Machine) -> Stall {
    match class {
        Class::LoadGlobal
        | Class::LoadLocal
        | Class::AtomicGlobal
        | Class::Texture
        | Class::Surface => Stall::LongScoreboard,
        Class::LoadShared
        | Class::AtomicShared
        | Class::Shuffle
        | Class::WarpReduce
        | Class::Special => Stall::ShortScoreboard,
        Class::BitCount | Class::Convert if spec.price(class).latency > 8 => Stall::ShortScoreboard,
        _ => Stall::Wait,
    }
}

/// Returns the cost of a micro-op: by its control word, or by its class and registers.
///
/// `more` is the entry of the registers that do not fit.
fn price<'a>(op: &'a MicroOp, spec: &Machine, more: u16) -> Cost<'a> {
    let cost = match &op.dependences {
        Dependences::Registers { entries, written, guard } => {
            let kept = kept_entries(entries);
            let mut list = entries[..kept].to_vec();
            if kept < entries.len() {
                list.push(more);
            }
            price_by_class(op, spec, &list, *written, *guard)
        }
        &Dependences::Control { word, opcode, falls_to } => {
            price_by_word(op, spec, word, opcode, falls_to)
        }
    };
    match &op.inst.op {
        Op::GroupMma(product) => price_product(cost, product, spec),
        _ => cost,
    }
}

/// Interval of products of warpgroups with A in registers and few columns, and the cycles by which
/// their results come earlier (measured on an H200).
const OF_REGISTERS: u32 = 13;

/// Returns the cost of a product of a warpgroup: its issue, and the time to its result.
fn price_product<'a>(cost: Cost<'a>, product: &GroupMma, spec: &Machine) -> Cost<'a> {
    let columns = u32::from(product.columns) / 8;
    let price = spec.price(Class::MatrixGroup);
    // The issue of a product with many columns takes longer (measured on an H200).
    let interval = columns.saturating_sub(4).max(1);
    let latency = match product.a {
        GroupFactor::Registers(_) => price.latency.saturating_sub(OF_REGISTERS),
        GroupFactor::Shared(_) => price.latency,
    };
    Cost { interval, latency: latency + price.interval * columns, ..cost }
}

/// Returns the cycles that a product of a warpgroup keeps the tensor core busy.
///
/// It takes the machine's interval for each eight columns, but not less than shared memory needs to
/// deliver A and B, or the registers A.
pub(super) fn product_interval(product: &GroupMma, spec: &Machine) -> u32 {
    let columns = u32::from(product.columns) / 8;
    let delivery = match product.a {
        GroupFactor::Registers(_) => OF_REGISTERS,
        GroupFactor::Shared(_) => product.shared_bytes().div_ceil(4 * spec.memory.shared_banks),
    };
    delivery.max(spec.price(Class::MatrixGroup).interval * columns)
}

/// Returns the cost of a micro-op by its class and registers.
fn price_by_class<'a>(
    op: &'a MicroOp,
    spec: &Machine,
    touched: &[u16],
    written: u8,
    guard: Option<u16>,
) -> Cost<'a> {
    let (inst, slots) = (&op.inst, op.count);
    let class = inst.class;
    let p = spec.price(class);
    let to_l2 = matches!(class, Class::LoadGlobal | Class::StoreGlobal | Class::AtomicGlobal);
    let (port, throttle) = match p.unit.unwrap_or(class.unit()) {
        _ if matches!(class, Class::Texture | Class::Surface) => {
            (Port::Texture, Stall::TexThrottle)
        }
        Unit::Alu => (Port::Alu, Stall::MathPipeThrottle),
        Unit::Fma => (Port::Fma, Stall::MathPipeThrottle),
        Unit::Fp64 => (Port::Fp64, Stall::MathPipeThrottle),
        Unit::Sfu => (Port::Sfu, Stall::MathPipeThrottle),
        Unit::Tensor => (Port::Tensor, Stall::MathPipeThrottle),
        Unit::Branch => (Port::Branch, Stall::MathPipeThrottle),
        Unit::Constant => (Port::Constant, Stall::MioThrottle),
        Unit::Lsu if to_l2 => (Port::Global, Stall::LgThrottle),
        Unit::Lsu => (Port::Lsu, Stall::MioThrottle),
    };
    let (gap, gap_stall) = match class {
        Class::Branch | Class::Join => (p.latency.max(slots), Stall::BranchResolving),
        Class::Fence => (p.latency.max(slots), Stall::Membar),
        _ => (slots, Stall::Wait),
    };
    let result = result_of(class, spec);
    assert!(touched.len() <= MOST_REGISTERS, "an instruction names {} registers", touched.len());
    let mut entries = [0; MOST_REGISTERS];
    entries[..touched.len()].copy_from_slice(touched);
    Cost {
        kind: kind(op),
        port,
        throttle,
        result,
        latency: p.latency,
        // The texture unit counts passes.
        interval: if port == Port::Texture { 1 } else { p.interval },
        slots,
        expansion: 0,
        lanes: exec::lane_function(&inst.op),
        op: &inst.op,
        others: 0,
        visibility: Visibility::Ordered,
        gap: Until::new(Cycle::from(gap.max(1)), gap_stall),
        next: op.next,
        predicate: inst.guard,
        usual: [0; USUAL_REGISTERS],
        result_entry: 0,
        guard_delay: if guard.is_some() { spec.guard } else { 0 },
        guard: guard.unwrap_or(0),
        ahead: false,
        preparation: 0,
        branches: class == Class::Branch,
        empties_l1: false,
        repeats: repeats_in_shared(&inst.op),
        line: 0,
        entries,
        writes: written,
        touches: touched.len() as u8,
        skips: 0,
        read_counter: None,
        queues: 0,
        wide: 0,
        reads: BankReads::default(),
        reads_reused: BankReads::default(),
        kept_for: 1,
        constant: 0,
        loads_constant: false,
        yields: false,
        resolves: 0,
        jumps: 0,
        falls_to: None,
        awaits: 0,
        reads_once: false,
        waits: false,
        simple: false,
        queued: false,
    }
}
