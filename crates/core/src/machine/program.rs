//! A kernel priced for a machine: the steps of the mode's stream, each with what it costs and which registers it waits for.

use super::expansion::Expansion;
use super::fetch::LINE;
use super::scheduler::Port;
use super::warp::Until;
use crate::base::{Cycle, Pc};
use crate::code::{Code, Dependences, MicroOp, Scheme};
use crate::event::Stall;
use crate::exec;
use crate::isa::{Class, Space, Unit};
use crate::kernel::{LaneFn, LaneOp, Op, Row};
use crate::spec::Machine;

/// How the pipeline treats a step, apart from its meaning. Those from [`Kind::FreeJoin`] on may have to be prepared
/// before they can be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Changes registers of its own lanes and nothing else: most of all steps.
    ElementWise,
    /// A join step.
    Join,
    /// A conditional branch that may diverge.
    ConditionalBranch,
    /// Needs nothing special.
    Plain,
    /// A join step that takes no issue slot here.
    FreeJoin,
    /// An instruction of the program that takes none, because a neighbour does its work.
    Free,
    /// Names member lanes that must be there first.
    Collective,
    /// A block barrier that some lanes may pass by.
    GuardedBarrier,
}

/// The most registers an instruction names: `shfl.sync` has a guard and six operands.
const MOST_REGISTERS: usize = 8;

/// What a step costs, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Cost {
    pub kind: Kind,
    /// What must be free for it to issue.
    pub port: Port,
    /// What a warp that waits for the port is charged with.
    pub throttle: Stall,
    /// What a warp that waits for this step's result waits for.
    pub result: Stall,
    /// Cycles until a dependent instruction may issue, where the memory system does not say otherwise.
    pub latency: u32,
    /// Cycles the unit is busy.
    pub interval: u32,
    /// Issue slots taken at once.
    pub slots: u32,
    /// If it becomes several machine instructions that are issued one by one: one more than the index of its [`Expansion`].
    pub expansion: u32,
    /// Cycles until the same warp may issue its next step, and what it waits for until then: the slots taken, and for
    /// branches until the target is known.
    pub gap: Until,
    /// Cycles that the guard's predicate needs beyond its writer's latency, and its scoreboard entry; 0 without a guard.
    pub guard_delay: u32,
    pub guard: u16,
    /// Whether a warp may issue it ahead of a barrier that it has arrived at, where barriers are deferred.
    pub ahead: bool,
    /// Whether it is a branch, which waits until what is uniform is there for the block behind.
    pub branches: bool,
    /// Whether it empties the SM's L1 (CCTL.IVALL): what follows must see what other SMs wrote.
    pub empties_l1: bool,
    /// The line of machine code that it is in.
    pub line: u32,
    /// Scoreboard entries: those read or written, the written ones first.
    entries: [u16; MOST_REGISTERS],
    writes: u8,
    touches: u8,
}

impl Cost {
    /// Scoreboard entries that the step reads or writes.
    #[inline]
    pub(super) fn touched(&self) -> &[u16] {
        &self.entries[..usize::from(self.touches).min(MOST_REGISTERS)]
    }

    /// Scoreboard entries that the step writes.
    #[inline]
    pub(super) fn written(&self) -> &[u16] {
        &self.entries[..usize::from(self.writes).min(MOST_REGISTERS)]
    }
}

/// A priced program.
pub(super) struct Program<'a> {
    pub ops: &'a [MicroOp],
    pub entry: Pc,
    /// PC at which each function starts.
    pub functions: &'a [Pc],
    pub scheme: Scheme,
    pub costs: Vec<Cost>,
    /// What steps become that are several machine instructions, issued one by one.
    pub expansions: Vec<Expansion>,
    /// Lines of machine code.
    pub lines: u32,
    /// Scoreboard entries a warp has.
    pub scoreboard: usize,
    /// Whether blocks can talk to each other through memory while they run, so that SMs must run in cycle order.
    pub communicates: bool,
}

impl<'a> Program<'a> {
    pub(super) fn new(code: &'a Code, spec: &Machine) -> Program<'a> {
        let registers = &code.kernel().registers;
        let mut expansions = Vec::new();
        let price_of = |op: &MicroOp| {
            let (inst, slots) = (&op.inst, op.count);
            let mut cost = price(op, spec);
            if cost.kind == Kind::ElementWise && slots > 1 {
                let expansion = Expansion::new(inst.class, cost.port, slots, op.on_unit, spec);
                let first = expansion.part(0);
                (cost.port, cost.interval, cost.latency) = (first.port, first.interval, expansion.tail);
                (cost.slots, cost.gap, cost.expansion) = (1, Until::new(1, Stall::Wait), expansions.len() as u32 + 1);
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
        let mut costs: Vec<Cost> = code.ops().iter().map(price_of).collect();
        let mut address = 0;
        if code.is_machine_code() {
            for cost in &mut costs {
                cost.line = address / LINE;
                address += match cost.expansion {
                    0 => cost.slots,
                    expansion => expansions[expansion as usize - 1].count,
                };
            }
        }
        Program {
            ops: code.ops(),
            entry: code.entry(),
            functions: code.functions(),
            scheme: code.scheme(),
            costs,
            expansions,
            lines: address / LINE + 1,
            scoreboard: usize::from(registers.narrow) + usize::from(registers.wide) + usize::from(registers.predicates),
            communicates: code.ops().iter().any(|op| communicates(&op.inst.op)),
        }
    }
}

/// Whether a warp issues the step ahead of a barrier that it has arrived at: arithmetic of fixed latency. Seen on an H200, instruction
/// by instruction (docs/calibration.md): comparisons, selections and products go ahead, conversions, copies on the uniform datapath,
/// branches and accesses wait. Uniform arithmetic waits there, too, but ptxas moves it in front of the barrier.
fn ahead_of_barriers(cost: &Cost, class: Class) -> bool {
    let fixed = match cost.port {
        Port::Alu | Port::Fma => cost.result == Stall::Wait,
        Port::Uniform => class != Class::Move,
        _ => false,
    };
    cost.kind == Kind::Free || cost.kind == Kind::ElementWise && fixed
}

/// The price of a micro-op by its class.
fn price(op: &MicroOp, spec: &Machine) -> Cost {
    let (inst, slots) = (&op.inst, op.count);
    let Dependences::Registers { entries: touched, written, guard } = &op.dependences;
    let class = inst.class;
    let p = spec.price(class);
    let kind = match &inst.op {
        Op::Join(_) if slots == 0 => Kind::FreeJoin,
        Op::Join(_) => Kind::Join,
        _ if slots == 0 && op.source.is_some() => Kind::Free,
        Op::Branch { uniform: false, .. } if inst.guard.is_some() => Kind::ConditionalBranch,
        Op::Shuffle(_) | Op::Vote(_) | Op::Match(_) | Op::Redux(_) | Op::WarpSync { .. } => Kind::Collective,
        Op::Barrier(_) if inst.guard.is_some() => Kind::GuardedBarrier,
        op if exec::is_element_wise(op) => Kind::ElementWise,
        _ => Kind::Plain,
    };
    let to_l2 = matches!(class, Class::LoadGlobal | Class::StoreGlobal | Class::AtomicGlobal);
    let (port, throttle) = match p.unit.unwrap_or(class.unit()) {
        Unit::Alu => (Port::Alu, Stall::MathPipeThrottle),
        Unit::Fma => (Port::Fma, Stall::MathPipeThrottle),
        Unit::Fp64 => (Port::Fp64, Stall::MathPipeThrottle),
        Unit::Sfu => (Port::Sfu, Stall::MathPipeThrottle),
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
    let result = match class {
        Class::LoadGlobal | Class::LoadLocal | Class::AtomicGlobal => Stall::LongScoreboard,
        Class::LoadShared | Class::AtomicShared | Class::Shuffle | Class::WarpReduce | Class::Special => {
            Stall::ShortScoreboard
        }
        Class::BitCount | Class::Convert if spec.price(class).latency > 8 => Stall::ShortScoreboard,
        _ => Stall::Wait,
    };
    assert!(touched.len() <= MOST_REGISTERS, "an instruction names {} registers", touched.len());
    let mut entries = [0; MOST_REGISTERS];
    entries[..touched.len()].copy_from_slice(touched);
    Cost {
        kind,
        port,
        throttle,
        result,
        latency: p.latency,
        interval: p.interval,
        slots,
        expansion: 0,
        gap: Until::new(Cycle::from(gap.max(1)), gap_stall),
        guard_delay: if guard.is_some() { spec.guard } else { 0 },
        guard: guard.unwrap_or(0),
        ahead: false,
        branches: class == Class::Branch,
        empties_l1: false,
        line: 0,
        entries,
        writes: *written,
        touches: touched.len() as u8,
    }
}

/// Whether the instruction can pass information between blocks that run at the same time: a global atomic, or a strong
/// access to memory that other blocks see.
fn communicates(op: &Op) -> bool {
    let visible = |space: Space| matches!(space, Space::Global | Space::Generic);
    match op {
        Op::Atomic(a) => visible(a.space),
        Op::Load(l) => l.access.strong() && visible(l.access.space),
        Op::Store(s) => s.access.strong() && visible(s.access.space),
        _ => false,
    }
}
