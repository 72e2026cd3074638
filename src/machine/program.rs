//! A kernel priced for a machine: the steps of the mode's stream, each with what it costs and which registers it waits for.

use super::scheduler::Port;
use super::spec::{MachineSpec, Mode};
use crate::base::Pc;
use crate::event::Stall;
use crate::isa::{Class, Space, Unit};
use crate::kernel::{Convergence, Inst, Kernel, Op, Register, Step, Stream};

/// How the pipeline treats a step, apart from its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Needs nothing special.
    Plain,
    /// A conditional branch: reported as such.
    ConditionalBranch,
    /// Names member lanes that must be there first.
    Collective,
    /// A join step that takes no issue slot here.
    FreeJoin,
    /// A join step.
    Join,
    /// A block barrier.
    Barrier,
}

/// What a step costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub kind: Kind,
    /// What must be free for it to issue.
    pub port: Port,
    /// What a warp that waits for the port is charged with.
    pub throttle: Stall,
    /// Cycles until a dependent instruction may issue, where the memory system does not say otherwise.
    pub latency: u32,
    /// Cycles the unit is busy.
    pub interval: u32,
    /// Issue slots taken.
    pub slots: u32,
    /// Cycles until the same warp may issue its next step: the slots taken, and for branches until the target is known.
    pub gap: u32,
    /// What a warp that waits out `gap` waits for.
    pub gap_stall: Stall,
    /// What a warp that waits for this step's result waits for.
    pub result_stall: Stall,
    /// Range of scoreboard entries in [`Program::slots`]: those read or written, the written ones first.
    first: u32,
    writes: u8,
    total: u8,
}

/// A priced program.
pub(super) struct Program {
    pub steps: Vec<Step>,
    pub entry: Pc,
    pub costs: Vec<Cost>,
    entries: Vec<u16>,
    /// Scoreboard entries a warp has.
    pub scoreboard: usize,
    /// Whether blocks can talk to each other through memory while they run, so that SMs must run in cycle order.
    pub communicates: bool,
}

impl Program {
    pub(super) fn new(kernel: &Kernel, spec: &MachineSpec, mode: Mode, yields: bool) -> Program {
        let stream = stream(kernel, mode, yields);
        let registers = &kernel.registers;
        let entry_of = |r: &Register| match r {
            Register::Narrow(row) => row.0,
            Register::Wide(row) => registers.narrow + row.0,
            Register::Predicate(p) => registers.narrow + registers.wide + p.0,
        };
        let mut entries = Vec::new();
        let costs = stream
            .steps
            .iter()
            .map(|step| {
                let inst = &step.inst;
                let first = entries.len() as u32;
                entries.extend(inst.writes.iter().map(entry_of));
                entries.extend(inst.reads.iter().filter(|r| !inst.writes.contains(r)).map(entry_of));
                price(inst, spec, first, inst.writes.len() as u8, (entries.len() - first as usize) as u8)
            })
            .collect();
        Program {
            costs,
            entries,
            scoreboard: usize::from(registers.narrow) + usize::from(registers.wide) + usize::from(registers.predicates),
            communicates: stream.steps.iter().any(|s| communicates(&s.inst.op)),
            entry: stream.entry,
            steps: stream.steps,
        }
    }

    /// Scoreboard entries that `cost`'s step reads or writes.
    #[inline]
    pub(super) fn touched(&self, cost: &Cost) -> &[u16] {
        &self.entries[cost.first as usize..cost.first as usize + cost.total as usize]
    }

    /// Scoreboard entries that `cost`'s step writes.
    #[inline]
    pub(super) fn written(&self, cost: &Cost) -> &[u16] {
        &self.entries[cost.first as usize..cost.first as usize + cost.writes as usize]
    }
}

/// The steps that a mode executes.
pub(super) fn stream(kernel: &Kernel, mode: Mode, yields: bool) -> Stream {
    match mode {
        Mode::PreVolta => kernel.stream(Convergence::Stack),
        Mode::Volta if yields => kernel.stream(Convergence::Barriers),
        Mode::Volta => kernel.stream_without_yield(Convergence::Barriers),
    }
}

fn price(inst: &Inst, spec: &MachineSpec, first: u32, writes: u8, total: u8) -> Cost {
    let class = inst.class;
    let p = spec.price(class);
    let kind = match &inst.op {
        Op::Join(_) if p.slots == 0 => Kind::FreeJoin,
        Op::Join(_) => Kind::Join,
        Op::Branch { .. } if inst.guard.is_some() => Kind::ConditionalBranch,
        Op::Shuffle(_) | Op::Vote(_) | Op::Match(_) | Op::Redux(_) | Op::WarpSync { .. } => Kind::Collective,
        Op::Barrier(_) => Kind::Barrier,
        _ => Kind::Plain,
    };
    let to_l2 = matches!(class, Class::LoadGlobal | Class::StoreGlobal | Class::AtomicGlobal);
    let (port, throttle) = match class.unit() {
        Unit::Alu => (Port::Alu, Stall::MathPipeThrottle),
        Unit::Fma => (Port::Fma, Stall::MathPipeThrottle),
        Unit::Fp64 => (Port::Fp64, Stall::MathPipeThrottle),
        Unit::Sfu => (Port::Sfu, Stall::MathPipeThrottle),
        Unit::Branch => (Port::Branch, Stall::MathPipeThrottle),
        Unit::Lsu if to_l2 => (Port::Global, Stall::LgThrottle),
        Unit::Lsu => (Port::Lsu, Stall::MioThrottle),
    };
    let (gap, gap_stall) = match class {
        Class::Branch => (p.latency.max(p.slots), Stall::BranchResolving),
        Class::Fence => (p.latency.max(p.slots), Stall::Membar),
        _ => (p.slots, Stall::Wait),
    };
    let result_stall = match class {
        Class::LoadGlobal | Class::LoadLocal | Class::AtomicGlobal => Stall::LongScoreboard,
        Class::LoadShared | Class::AtomicShared | Class::Shuffle | Class::WarpReduce | Class::Special => {
            Stall::ShortScoreboard
        }
        Class::BitCount | Class::Convert if spec.price(class).latency > 8 => Stall::ShortScoreboard,
        _ => Stall::Wait,
    };
    Cost {
        kind,
        port,
        throttle,
        latency: p.latency,
        interval: p.interval,
        slots: p.slots,
        gap,
        gap_stall,
        result_stall,
        first,
        writes,
        total,
    }
}

/// Whether the instruction can pass information between blocks that run at the same time: a global atomic, or a strong
/// access to memory that other blocks see.
fn communicates(op: &Op) -> bool {
    let visible = |space: Space| matches!(space, Space::Global | Space::Generic);
    match op {
        Op::Atomic(a) => visible(a.space),
        Op::Load(l) => l.access.strong && visible(l.access.space),
        Op::Store(s) => s.access.strong && visible(s.access.space),
        _ => false,
    }
}
