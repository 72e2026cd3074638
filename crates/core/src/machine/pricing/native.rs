//! Costs of machine instructions.

use super::super::read_ports::BankReads;
use super::super::scheduler::Port;
use super::super::warp::Until;
use super::{
    Cost, Kind, MOST_REGISTERS, USUAL_REGISTERS, Visibility, kind, repeats_in_shared, result_of,
};
use crate::base::Cycle;
use crate::code::{COUNTERS, Dependences, MicroOp};
use crate::event::Stall;
use crate::exec;
use crate::isa::{Class, ControlWord, Opcode, Pipe, Space};
use crate::kernel::{ConvergenceOp, Inst, Jump, JumpKind, JumpTarget, NativeFn, Op, Register, Row};
use crate::spec::{Machine, Reads, SassTimes};

/// Returns true for IMAD.HI.
fn multiplies_high(op: &Op) -> bool {
    matches!(op, Op::Native(native) if matches!(native.f, NativeFn::MultiplyHigh { .. }))
}

/// Returns true for IMAD.WIDE, but not for UIMAD.WIDE.
fn multiplies_wide(op: &Op) -> bool {
    let is_wide = |f| matches!(f, NativeFn::MultiplyWide { .. });
    matches!(op, Op::Native(native) if is_wide(native.f) && !native.uniform)
}

/// Returns the cycles after an instruction in which its scheduler dispatches nothing.
fn stands_after(op: &Op, times: &SassTimes) -> u32 {
    let is_product = multiplies_wide(op) || multiplies_high(op);
    times.wide_products.filter(|_| is_product).map_or(0, |products| products.dispatch)
}

/// Returns the cost of a machine instruction: the control word has its fixed latencies.
pub(super) fn price_by_word<'a>(
    op: &'a MicroOp,
    spec: &Machine,
    word: ControlWord,
    opcode: &Opcode,
    falls_to: Option<(u8, u8)>,
) -> Cost<'a> {
    let pipe = opcode.pipe;
    let default = SassTimes::default();
    let times = spec.sass.as_ref().unwrap_or(&default);
    let class = op.inst.class;
    let to_l2 = matches!(class, Class::LoadGlobal | Class::StoreGlobal | Class::AtomicGlobal);
    let (port, throttle) = match pipe {
        Pipe::Alu => (Port::Alu, Stall::MathPipeThrottle),
        Pipe::Fma => (Port::Fma, Stall::MathPipeThrottle),
        Pipe::FmaHeavy | Pipe::Half => (Port::FmaHeavy, Stall::MathPipeThrottle),
        Pipe::Fp64 => (Port::Fp64, Stall::MathPipeThrottle),
        Pipe::Tensor => (Port::Tensor, Stall::MathPipeThrottle),
        Pipe::Xu => (Port::Sfu, Stall::MioThrottle),
        Pipe::Uniform => (Port::Uniform, Stall::MathPipeThrottle),
        Pipe::Lsu if to_l2 => (Port::Global, Stall::LgThrottle),
        Pipe::Lsu if matches!(class, Class::LoadLocal | Class::StoreLocal) => {
            (Port::Global, Stall::LgThrottle)
        }
        Pipe::Lsu => (Port::Lsu, Stall::MioThrottle),
        Pipe::Texture => (Port::Texture, Stall::TexThrottle),
        Pipe::Constant => (Port::Constant, Stall::MioThrottle),
        // The barrier unit has times of its own; CS2R has fixed latency.
        Pipe::Special if matches!(class, Class::Barrier | Class::Clock) => {
            (Port::None, Stall::MioThrottle)
        }
        Pipe::Special => (Port::Special, Stall::MioThrottle),
        Pipe::Branch => (Port::Branch, Stall::NotSelected),
        Pipe::None => (Port::None, Stall::MathPipeThrottle),
    };
    // The control word counts cycles from this issue to the warp's next one.
    let stall = u32::from(word.stall).max(1);
    // The stall count stands still with the dispatch.
    let stopped = if stall > 1 { stands_after(&op.inst.op, times) } else { 0 };
    let (gap, gap_stall) = match class {
        Class::Fence if spec.sass.as_ref().is_none_or(|times| times.fences.is_none()) => {
            (stall.max(spec.price(class).latency), Stall::Membar)
        }
        _ => (stall + stopped, Stall::Wait),
    };
    let result = match class {
        // A store is waited for until its sources have been read.
        Class::StoreGlobal | Class::StoreLocal => Stall::LongScoreboard,
        Class::LoadConst | Class::Move if pipe != Pipe::Uniform => Stall::ShortScoreboard,
        class => match result_of(class, spec) {
            Stall::Wait => Stall::ShortScoreboard,
            other => other,
        },
    };
    let price = spec.price(class);
    let own = times.latencies.iter().find(|(name, _)| *name == opcode.name);
    // An access without lanes passes through the unit, too.
    let latency = match class {
        Class::LoadShared | Class::AtomicShared => spec.memory.shared_latency,
        Class::LoadGlobal | Class::LoadLocal | Class::AtomicGlobal => times
            .accesses
            .map(|accesses| accesses.l1)
            .or(spec.memory.l1.map(|l1| l1.latency))
            .unwrap_or(price.latency),
        _ => own.map_or(price.latency, |(_, cycles)| *cycles),
    };
    let interval = match times.intervals.get(&pipe) {
        Some(&interval) => interval,
        // The instructions of these pipes have prices of their own.
        None if matches!(pipe, Pipe::Xu | Pipe::Fp64 | Pipe::Tensor) => price.interval,
        None => 1,
    };
    let interval = if port == Port::None { 1 } else { interval };
    // A special function or shuffle reads its registers one after another.
    let (latency, interval) = match further_registers(&op.inst, pipe) {
        Some(registers) if pipe == Pipe::Xu => {
            (latency + registers * times.operand, interval + registers)
        }
        Some(registers) => (latency + registers * times.operand, 2 + registers * times.operand),
        None => (latency, interval),
    };
    let latency = if tests_in_unit(&op.inst.op) { latency + times.tests } else { latency };
    let interval = match times.wide_products {
        Some(products) if multiplies_wide(&op.inst.op) => products.interval,
        _ if multiplies_high(&op.inst.op) => 2 * interval,
        _ => interval,
    };
    let wide = match &op.inst.op {
        // A lane's words arrive one after another; those of shared memory by groups of lanes, and
        // constants at once.
        Op::Load(load) if !matches!(class, Class::LoadShared | Class::LoadConst) => {
            let bytes = load.access.ty.bytes() * u32::from(load.access.count);
            bytes.div_ceil(4).max(1) - 1
        }
        Op::Atomic(atomic) if class == Class::AtomicShared => {
            let own = if atomic.ty.is_wide() { times.atomic_8 } else { times.atomic };
            own + times.atomic_register * (atomic.operand_registers().max(1) - 1)
        }
        _ => 0,
    };
    let read = reads_sources(&op.inst, pipe, &times.reads);
    let (resolves, jumps) = match &op.inst.op {
        Op::Join(ConvergenceOp::Sync(_)) => (times.sync, 0),
        Op::Join(ConvergenceOp::Break(_)) => (times.leave, 0),
        Op::Join(ConvergenceOp::Yield) => (times.blocked, 0),
        Op::Branch { .. } | Op::BranchTogether { .. } | Op::BranchByConvergence { .. } => {
            (times.taken, 0)
        }
        Op::Jump(jump) if jump.kind == JumpKind::Return => (times.ret, times.ret_turn),
        Op::Jump(Jump { target: JumpTarget::Fixed(_), .. }) => (times.jump, 0),
        Op::Jump(_) if opcode.name == "BRXU" => (times.jump, 0),
        Op::Jump(_) => (times.jump_register, times.jump_turn),
        _ => (0, 0),
    };
    let mut entries = [0; MOST_REGISTERS];
    let written = word.write_counter.into_iter().map(u16::from);
    let waited = (0..COUNTERS as u16).filter(|n| word.waits >> n & 1 == 1);
    let mut touches = 0;
    for entry in written.chain(waited) {
        entries[touches] = entry;
        touches += 1;
    }
    Cost {
        kind: kind(op),
        port,
        throttle,
        result,
        latency,
        interval,
        slots: op.count,
        expansion: 0,
        lanes: exec::lane_function(&op.inst.op),
        op: &op.inst.op,
        others: 0,
        visibility: Visibility::Ordered,
        gap: Until::new(Cycle::from(gap), gap_stall),
        next: op.next,
        predicate: op.inst.guard,
        usual: [0; USUAL_REGISTERS],
        result_entry: 0,
        guard_delay: 0,
        guard: 0,
        ahead: false,
        preparation: 0,
        branches: class == Class::Branch,
        empties_l1: false,
        repeats: repeats_in_shared(&op.inst.op),
        line: 0,
        entries,
        writes: u8::from(word.write_counter.is_some()),
        touches: touches as u8,
        skips: u8::from(word.write_counter.is_some()),
        read_counter: word.read_counter.map(|counter| (counter, read.min(255) as u8)),
        queues: if pipe == Pipe::Xu { interval } else { 0 },
        wide,
        reads: BankReads::default(),
        reads_reused: BankReads::default(),
        kept_for: 1,
        constant: 0,
        loads_constant: opcode.name == "LDC",
        yields: word.yields,
        resolves,
        jumps,
        falls_to,
        awaits: 0,
        reads_once: false,
        waits: false,
        simple: false,
        queued: false,
    }
}

/// Returns the registers beyond one that a special function or a shuffle reads; `None` for others.
fn further_registers(inst: &Inst, pipe: Pipe) -> Option<u32> {
    let reads = match &inst.op {
        Op::Native(op) if matches!(op.f, NativeFn::Shuffle(_)) => true,
        _ => pipe == Pipe::Xu && inst.class != Class::WarpReduce,
    };
    let values = inst.reads.iter().filter(|read| !matches!(read, Register::Predicate(_)));
    reads.then(|| (values.count() as u32).saturating_sub(1))
}

/// Returns true for a shuffle or MATCH with a predicate as a result.
fn tests_in_unit(op: &Op) -> bool {
    let Op::Native(op) = op else { return false };
    let unit = matches!(op.f, NativeFn::Shuffle(_) | NativeFn::Match { .. });
    unit && op.p[0].is_some()
}

/// Returns the cycles until an instruction has read its sources. RZ is none.
fn reads_sources(inst: &Inst, pipe: Pipe, times: &Reads) -> u32 {
    let read = |row: &&Row| inst.reads.contains(&Register::Narrow(**row));
    let (space, registers) = match &inst.op {
        Op::Load(load) => (load.access.space, 0),
        Op::Store(store) => {
            let sources = store.s.iter().take(usize::from(store.access.count));
            (store.access.space, sources.filter(read).count() as u32)
        }
        Op::Atomic(atomic) if read(&&atomic.b) => (atomic.space, atomic.operand_registers()),
        Op::Atomic(atomic) => (atomic.space, 0),
        _ if pipe == Pipe::Xu => return times.functions,
        _ => return times.others,
    };
    let address = match space {
        Space::Global | Space::Generic => times.address + times.wide,
        Space::Shared | Space::Local => times.address,
        Space::Const | Space::Param => return times.others,
    };
    let data = if registers > 0 { times.data + registers * times.register } else { 0 };
    address + data
}

/// Holds back what needs the upper half of a product, whatever the stall counts are: the hardware
/// does (measured on an H200).
pub(super) fn hold_back(costs: &mut [Cost], ops: &[MicroOp], spec: &Machine) {
    let latency = Cycle::from(spec.price(Class::IntMulHi).latency);
    for product in 0..ops.len() {
        let Op::Native(native) = &ops[product].inst.op else { continue };
        let (true, Some(d)) = (multiplies_high(&ops[product].inst.op), native.d) else { continue };
        let mut passed = 0;
        for next in product + 1..ops.len() {
            passed += costs[next - 1].gap.cycle();
            if passed >= latency || costs[next - 1].kind != Kind::ElementWise {
                break;
            }
            if ops[next].inst.reads.contains(&Register::Narrow(d)) {
                costs[next - 1].gap = costs[next - 1].gap.after(latency - passed);
                break;
            }
        }
    }
}

/// Holds back an IMAD.WIDE until its factors have been made by instructions of fixed latency,
/// whatever the stall counts are: the hardware does (measured on an H200).
pub(super) fn hold_back_products(costs: &mut [Cost], ops: &[MicroOp], spec: &Machine) {
    let Some(products) = spec.sass.as_ref().and_then(|times| times.wide_products) else { return };
    for wide in 1..ops.len() {
        let Op::Native(native) = &ops[wide].inst.op else { continue };
        if !multiplies_wide(&ops[wide].inst.op) {
            continue;
        }
        let mut passed = 0;
        for before in (0..wide).rev() {
            passed += costs[before].gap.cycle();
            if passed >= products.factor.into() || costs[before].kind != Kind::ElementWise {
                break;
            }
            let makes = |row: Row| ops[before].inst.writes.contains(&Register::Narrow(row));
            if costs[before].writes == 0 && (makes(native.s[0].row) || makes(native.s[1].row)) {
                let missing = Cycle::from(products.factor) - passed;
                costs[wide - 1].gap = costs[wide - 1].gap.after(missing);
                break;
            }
        }
    }
}

/// Registers that instructions of a warp have kept (`.reuse`), by slot of the operand and bank.
///
/// Each of the six places holds its register until a register of the bank is read in the slot, and
/// for instructions that issue in cycles one after the other (measured on an H200; ptxas sets the
/// bits so).
#[derive(Default)]
pub(super) struct Kept([[Option<(Row, usize)>; 2]; 3]);

impl Kept {
    /// Returns the slots of instruction `at` whose register is kept, and the number of instructions
    /// since the first of these was; then keeps the registers of its own `.reuse`.
    ///
    /// An instruction that is not element-wise keeps nothing, and nothing is kept across it.
    pub(super) fn slots(&mut self, op: &MicroOp, at: usize, registers: u16) -> (u8, u8) {
        let (Dependences::Control { word, .. }, Op::Native(native)) =
            (&op.dependences, &op.inst.op)
        else {
            *self = Kept::default();
            return (0, 1);
        };
        let (mut slots, mut distance) = (0, 1);
        for slot in 0..3 {
            let row = native.s[slot].row;
            if row.0 >= registers {
                continue;
            }
            let place = &mut self.0[slot][usize::from(row.0 % 2)];
            if let &mut Some((kept, from)) = place
                && kept == row
            {
                slots |= 1 << slot;
                distance = distance.max(at - from);
            }
            *place = (word.reuse >> slot & 1 == 1).then_some((row, at));
            let upper = Row(row.0 + 1);
            let is_pair = op.inst.reads.contains(&Register::Narrow(upper))
                && native.s.iter().all(|source| source.row != upper);
            if is_pair {
                self.0[slot][usize::from(upper.0 % 2)] = None;
            }
        }
        if word.stall > 1 {
            *self = Kept::default();
        }
        (slots, distance.min(usize::from(u8::MAX)) as u8)
    }
}

/// Returns the registers that an instruction reads of each bank of the register file.
///
/// There are two banks by register parity; a register in two operands is read once, and uniform
/// registers are not among the `registers` of the file (measured on an H200). The second result
/// leaves out `kept` operands: the mask of slots whose registers instructions before have
/// [kept](Kept), unless another warp has issued since.
pub(super) fn read_ports(inst: &Inst, registers: u16, kept: u8, spec: &Machine) -> [BankReads; 2] {
    let Op::Native(op) = &inst.op else { return [BankReads::default(); 2] };
    if op.uniform {
        return [BankReads::default(); 2];
    }
    let stands = spec.sass.as_ref().map_or(0, |times| stands_after(&inst.op, times));
    let count = |kept: u8| {
        let kept_rows = (0..3).filter(|&slot| kept >> slot & 1 == 1).map(|slot| op.s[slot].row);
        let kept_rows: Vec<_> = kept_rows.collect();
        let rows = inst.reads.iter().filter_map(|register| match register {
            Register::Narrow(row) if row.0 < registers && !kept_rows.contains(row) => Some(row.0),
            _ => None,
        });
        BankReads::of(rows).with_stand(stands)
    };
    [count(0), count(kept)]
}

/// Returns true if a warp issues the instruction ahead of a barrier at which it has arrived.
///
/// As for PTX these are arithmetic instructions of fixed latency; uniform ones wait.
pub(super) fn ahead_of_barriers(cost: &Cost, class: Class) -> bool {
    cost.kind == Kind::ElementWise
        && matches!(cost.port, Port::Alu | Port::Fma | Port::FmaHeavy)
        && cost.writes == 0
        && class != Class::Clock
}
