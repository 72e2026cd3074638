//! Calls, returns and branches through a table: lane targets and frame copies.
//!
//! A lane's frames follow one another in its local memory, the kernel's first; the frame-pointer
//! row holds the start of the current one. A call copies the arguments into the new frame and
//! records the call site. [`finish_call`] copies the results back after the return, since only the
//! call instruction knows them. Frames are not cleared: a lane's initial frame content depends on
//! its own earlier actions, not on the order in which lanes run.

use super::access::put;
use super::{
    AccessKind, Effect, Env, Fault, FaultKind, LocalMemory, MemoryAccess, RegisterFile, lanes,
    system,
};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::layout::{CALL_BYTES, DEPTH_LIMIT, LOCAL_LIMIT};
use crate::kernel::{
    Call, Callee, DeviceFunction, INSTRUCTION_BYTES, Inst, Jump, JumpKind, JumpTarget, Op,
    Predicate, PredicateUse, Register, Row, Spill, Stack, StackFn, Switch, SystemFn,
};

/// Executes a jump of machine code. Writes each lane's target PC to `Env::addresses`.
pub(super) fn jump(
    op: &Jump,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    match op.target {
        JumpTarget::Fixed(pc) => *env.addresses = [pc.0.into(); MAX_LANES],
        JumpTarget::Register { row, offset, end, .. } => {
            let low = registers.narrow[usize::from(row.0)];
            let target = |lane: u32| low[lane as usize % MAX_LANES].wrapping_add(offset as u32);
            let calls = op.kind == JumpKind::Call;
            for function in SystemFn::ALL.into_iter().filter(|_| calls) {
                let called = |&lane: &u32| target(lane) == function.native_address();
                let calling = lanes.lanes().filter(called).map(LaneMask::lane);
                let calling = calling.fold(LaneMask::EMPTY, |all, lane| all | lane);
                if !calling.is_empty() {
                    system::native_call(function, calling, registers, env)?;
                }
            }
            for lane in lanes.lanes() {
                let l = lane as usize & (MAX_LANES - 1);
                if calls && SystemFn::at_native_address(target(lane)).is_some() {
                    env.addresses[l] = u64::from(env.pc) + 1;
                    continue;
                }
                let address = u64::from(target(lane));
                if address % INSTRUCTION_BYTES != 0 || address / INSTRUCTION_BYTES >= end.0.into() {
                    return Err(Fault { lane, kind: FaultKind::BadCallTarget { address } });
                }
                env.addresses[l] = address / INSTRUCTION_BYTES;
            }
        }
    }
    Ok(Effect::Jump { lanes })
}

/// Activations of one lane: the kernel's and those of its suspended functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallStack {
    /// Call sites as [`Env::pc`] values, the innermost last.
    sites: Vec<u32>,
    /// Registers saved by recursive calls.
    saved: Vec<u64>,
}

impl CallStack {
    /// Removes all activations but the kernel's.
    pub(super) fn clear(&mut self) {
        self.sites.clear();
        self.saved.clear();
    }
}

/// Executes `call`. Writes each lane's callee number to `Env::addresses`.
pub(super) fn call(
    op: &Call,
    lanes: LaneMask,
    active: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    let Some(lowest) = lanes.lowest() else { return Ok(Effect::Call { lanes }) };
    find_callees(&op.callee, lanes, registers, env)?;
    if op.uniform {
        agree(lanes, active, lowest, env)?;
    }
    let frames = registers.wide[usize::from(op.frame_pointer.0)];
    let tops = op.top.map(|top| registers.wide[usize::from(top.0)]);
    let own_end =
        |lane: usize| frames[lane] + u64::from(op.frame) + tops.map_or(0, |tops| tops[lane]);
    let callee = |lane: usize, env: &Env<'_>| -> usize { env.addresses[lane] as usize };
    let limit = env.local.limit();
    // At the hardware's own limit, only frames count.
    let each = if limit < LOCAL_LIMIT { CALL_BYTES } else { 0 };
    let mut end = 0;
    for lane in lanes.lanes() {
        let l = lane as usize & (MAX_LANES - 1);
        let needed = own_end(l) + u64::from(env.functions[callee(l, env)].frame);
        let depth = registers.calls.get(l).map_or(0, |stack| stack.sites.len());
        if needed + each * (depth as u64 + 1) > limit || depth >= DEPTH_LIMIT {
            return Err(Fault { lane, kind: env.local.overflow(depth) });
        }
        end = needed.max(end);
    }
    env.local.grow(end);
    for copied in &op.arguments {
        for lane in lanes.lanes() {
            let l = lane as usize & (MAX_LANES - 1);
            let (from, to) =
                (frames[l] + u64::from(copied.from), own_end(l) + u64::from(copied.to));
            env.local.copy(l, from, to, copied.bytes);
        }
    }
    if registers.calls.is_empty() {
        registers.calls = vec![CallStack::default(); MAX_LANES];
    }
    for lane in lanes.lanes() {
        let l = lane as usize & (MAX_LANES - 1);
        for &register in &op.saves {
            let value = value(registers, register, l);
            registers.calls[l].saved.push(value);
        }
        registers.calls[l].sites.push(env.pc);
        registers.wide[usize::from(op.frame_pointer.0)][l] = own_end(l);
        if let Some((top, tops)) = op.top.zip(tops) {
            registers.calls[l].saved.push(tops[l]);
            registers.wide[usize::from(top.0)][l] = 0;
        }
        for &register in &env.functions[callee(l, env)].clears {
            set(registers, register, l, 0);
        }
    }
    Ok(Effect::Call { lanes })
}

/// Writes the number of each lane's callee to `Env::addresses`.
fn find_callees(
    callee: &Callee,
    lanes: LaneMask,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Result<(), Fault> {
    match callee {
        &Callee::Direct(function) => *env.addresses = [u64::from(function); MAX_LANES],
        Callee::Indirect { address, targets } => {
            let row = &registers.wide[usize::from(address.0)];
            let functions: &[DeviceFunction] = env.functions;
            for lane in lanes.lanes() {
                let address = row[lane as usize & (MAX_LANES - 1)];
                let found = targets
                    .iter()
                    .find(|&&t| functions.get(t as usize).is_some_and(|f| f.address == address));
                let Some(&found) = found else {
                    return Err(Fault { lane, kind: FaultKind::BadCallTarget { address } });
                };
                env.addresses[lane as usize & (MAX_LANES - 1)] = u64::from(found);
            }
        }
    }
    Ok(())
}

/// Checks `.uni`: all active lanes must take the target of the lowest one.
fn agree(lanes: LaneMask, active: LaneMask, lowest: u32, env: &Env<'_>) -> Result<(), Fault> {
    let at = |lane: u32| env.addresses[lane as usize & (MAX_LANES - 1)];
    let elsewhere = |&lane: &u32| !lanes.contains(lane) || at(lane) != at(lowest);
    match active.lanes().find(elsewhere) {
        Some(lane) => Err(Fault { lane, kind: FaultKind::UniformBranchDiverges }),
        None => Ok(()),
    }
}

/// Executes the end of a function. Writes each lane's call site to `Env::addresses`.
pub(super) fn ret(lanes: LaneMask, registers: &mut RegisterFile, env: &mut Env<'_>) -> Effect {
    for lane in lanes.lanes() {
        let l = lane as usize & (MAX_LANES - 1);
        let site = registers.calls.get_mut(l).and_then(|stack| stack.sites.pop());
        let Some(site) = site else { unreachable!("only a call leads into a function") };
        env.addresses[l] = u64::from(site);
    }
    Effect::Return { lanes }
}

/// Address of saved caller registers, after all frames of a lane.
const SPILLS: u64 = 1 << 28;

/// Executes the save or restore of a register.
/// Only sets `Env::addresses`; the values do not move.
pub(super) fn spill(
    op: &Spill,
    lanes: LaneMask,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Effect {
    for lane in lanes.lanes() {
        let l = lane as usize & (MAX_LANES - 1);
        let depth = registers.calls.get(l).map_or(0, |stack| stack.sites.len()) as u64;
        env.addresses[l] = SPILLS + (depth * u64::from(op.words) + u64::from(op.word)) * 4;
    }
    let kind = if op.restores { AccessKind::Read } else { AccessKind::Write };
    Effect::Access(MemoryAccess {
        space: Space::Local,
        kind,
        lanes,
        bytes: 4,
        bypass_l1: false,
        changed: false,
        row: false,
    })
}

/// Completes a call from which `lanes` have returned.
/// Leaves the frame, copies results back, and restores registers saved by a recursive call.
pub fn finish_call(
    inst: &Inst,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    local: &mut LocalMemory,
) {
    let Op::Call(op) = &inst.op else { return };
    for lane in lanes.lanes() {
        let l = lane as usize & (MAX_LANES - 1);
        let left = registers.wide[usize::from(op.frame_pointer.0)][l];
        let mut saved =
            || registers.calls.get_mut(l).and_then(|stack| stack.saved.pop()).unwrap_or_default();
        let top = op.top.map_or(0, |_| saved());
        let own = left.wrapping_sub(u64::from(op.frame) + top);
        if let Some(row) = op.top {
            registers.wide[usize::from(row.0)][l] = top;
        }
        registers.wide[usize::from(op.frame_pointer.0)][l] = own;
        for copied in &op.results {
            local.copy(l, left + u64::from(copied.from), own + u64::from(copied.to), copied.bytes);
        }
        for &register in op.saves.iter().rev() {
            let value =
                registers.calls.get_mut(l).and_then(|stack| stack.saved.pop()).unwrap_or_default();
            set(registers, register, l, value);
        }
    }
}

/// Executes `alloca`, `stacksave` and `stackrestore`.
pub(super) fn stack(
    op: &Stack,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<(), Fault> {
    let limit = env.local.limit();
    let mut results = [0; MAX_LANES];
    let mut highest = 0;
    for lane in lanes.lanes() {
        let l = lane as usize & (MAX_LANES - 1);
        let frame = op.frame_pointer.map_or(0, |row| registers.wide[usize::from(row.0)][l]);
        let base = frame + u64::from(op.frame);
        let end = base + registers.wide[usize::from(op.top.0)][l];
        let operand = match op.wide {
            true => registers.wide[usize::from(op.a.0)][l],
            false => registers.narrow[usize::from(op.a.0)][l].into(),
        };
        let depth = registers.calls.get(l).map_or(0, |stack| stack.sites.len());
        let (result, end) = match op.f {
            StackFn::Save => (end, end),
            // An end of another function's frame is undefined; nothing below the own one is freed.
            StackFn::Restore => (0, operand.clamp(base, end)),
            StackFn::Allocate { align } => {
                let at = end.next_multiple_of(align.max(1).into());
                (at, at.saturating_add(operand).checked_next_multiple_of(16).unwrap_or(u64::MAX))
            }
        };
        if end > limit {
            return Err(Fault { lane, kind: env.local.overflow(depth) });
        }
        results[l] = result;
        registers.wide[usize::from(op.top.0)][l] = end - base;
        highest = end.max(highest);
    }
    env.local.grow(highest);
    if op.f != StackFn::Restore {
        put(registers, op.d, op.wide, lanes, |lane| results[lane]);
    }
    Ok(())
}

/// Executes `brx.idx`. Writes the number of each lane's target to `Env::addresses`.
pub(super) fn switch(
    op: &Switch,
    lanes: LaneMask,
    active: LaneMask,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    let Some(lowest) = lanes.lowest() else { return Ok(Effect::Switch { lanes }) };
    let row = &registers.narrow[usize::from(op.index.0)];
    for lane in lanes.lanes() {
        let index = row[lane as usize & (MAX_LANES - 1)];
        if index as usize >= op.targets.len() {
            let targets = op.targets.len() as u32;
            return Err(Fault { lane, kind: FaultKind::BadBranchIndex { index, targets } });
        }
        env.addresses[lane as usize & (MAX_LANES - 1)] = u64::from(index);
    }
    if op.uniform {
        agree(lanes, active, lowest, env)?;
    }
    Ok(Effect::Switch { lanes })
}

fn value(registers: &RegisterFile, register: Register, lane: usize) -> u64 {
    match register {
        Register::Narrow(Row(row)) => registers.narrow[usize::from(row)][lane].into(),
        Register::Wide(Row(row)) => registers.wide[usize::from(row)][lane],
        Register::Predicate(predicate) => u64::from(
            lanes::predicate(registers, PredicateUse { predicate, negated: false }) >> lane & 1,
        ),
    }
}

fn set(registers: &mut RegisterFile, register: Register, lane: usize, value: u64) {
    match register {
        Register::Narrow(Row(row)) => registers.narrow[usize::from(row)][lane] = value as u32,
        Register::Wide(Row(row)) => registers.wide[usize::from(row)][lane] = value,
        Register::Predicate(Predicate(p)) => {
            let bits = &mut registers.predicates[usize::from(p)];
            *bits = *bits & !(1 << lane) | (value as u32 & 1) << lane;
        }
    }
}
