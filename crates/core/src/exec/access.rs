//! Loads, stores and atomics: the words moved between registers and memory.
//!
//! Every lane is checked before any lane moves a word, so a faulting instruction has no effect. A
//! generic address is resolved by its window (`kernel::layout`). The lanes of one access may reach
//! different memories, which are disjoint and served one after another; the effect then lists an
//! access of each ([`Effect::Accesses`]). Of several stores to one word, that wins which an H200
//! makes last ([`elements::in_order_of_stores`]; PTX leaves this undefined).

mod check;
mod elements;
mod fixed;
mod pattern;
mod vector;

use check::{Parts, Reach, Served, first_fault, resolve, serve_parts};
pub(super) use check::{check, fill_addresses, first_fault_of};
pub(super) use elements::put;
use elements::{element, gather, gather_words, scatter, scatter_words, sign_extend};
use fixed::broadcast;
pub use fixed::load_parameters;
pub use pattern::{Pattern, is_repeatable, repeat};
pub(super) use vector::atomic_vector;

use super::alu::is_in;
use super::lanes::{set_predicate, vectorized};
use super::memory::{GlobalMemory, ParamBlock, Segment};
use super::{AccessKind, Effect, Env, Fault, MemoryAccess, RegisterFile, atomic};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::{Access, AddressBase, Atomic, AtomicFn, AtomicForm, Load, Store};

/// Byte address per lane.
type Addresses = [u64; MAX_LANES];

/// Executes `ld`.
pub(super) fn load(
    op: &Load,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    vectorized(
        registers.vectors,
        #[inline(always)]
        |_| load_lanes(op, lanes, registers, env),
    )
}

#[inline(always)]
fn load_lanes(
    op: &Load,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    let Some(lowest) = lanes.lowest() else { return Ok(Effect::Done) };
    let Access { space, ty, count, .. } = op.access;
    let bytes = u64::from(ty.bytes()) * u64::from(count);
    fill_addresses(op.address, lanes, registers, env.addresses);
    let effect = |space, row| Effect::Access(read(op, space, lanes, row));
    // Parameters and constants at a fixed address need one read for all lanes.
    if op.address.base == AddressBase::Zero && matches!(space, Space::Param | Space::Const) {
        let one = Parts::single(space, LaneMask::lane(lowest));
        let Some(reach) = check(space, LaneMask::lane(lowest), bytes, false, env) else {
            return Err(first_fault(&one, bytes, false, env));
        };
        match reach.segment {
            Some(segment) => {
                let memory = &env.global.view(segment);
                broadcast(memory, op, lanes, env.addresses[0], registers);
            }
            None => broadcast(&ParamBlock(env.params), op, lanes, env.addresses[0], registers),
        }
        return Ok(effect(space, false));
    }
    let parts = resolve(space, lanes, env.shared.start(), env.addresses);
    if let Some((space, lanes)) = parts.only()
        && let Some(d) = op.d[0].filter(|_| op.access.is_word())
    {
        let Some(reach) = check(space, lanes, bytes, false, env) else {
            return Err(first_fault(&parts, bytes, false, env));
        };
        let d = &mut registers.narrow[usize::from(d.0)];
        match (space, reach.segment) {
            (Space::Shared, _) => {
                gather_words(&*env.shared, d, lanes, env.addresses, reach.row);
                return Ok(effect(space, reach.row));
            }
            (_, Some(segment)) => {
                gather_words(&env.global.view(segment), d, lanes, env.addresses, reach.row);
                return Ok(effect(space, reach.row));
            }
            _ => {}
        }
    }
    let served = gather_parts(&parts, op, registers, env)?;
    Ok(parts.effect(read(op, space, lanes, false), served, env))
}

/// Returns the access of a load.
fn read(op: &Load, space: Space, lanes: LaneMask, row: bool) -> MemoryAccess {
    let Access { ty, count, bypass_l1, .. } = op.access;
    let (kind, bytes) = (AccessKind::Read, ty.bytes() as u8 * count);
    MemoryAccess { space, kind, lanes, bytes, bypass_l1, changed: false, row }
}

/// Loads elements of any type from any memories.
#[inline(never)]
fn gather_parts(
    parts: &Parts,
    op: &Load,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Served, Fault> {
    let bytes = u64::from(op.access.ty.bytes()) * u64::from(op.access.count);
    serve_parts(parts, bytes, false, env, |env, space, part, reach| {
        let addresses = &*env.addresses;
        match space {
            Space::Shared => gather(&*env.shared, op, part, addresses, registers),
            Space::Local => gather(&*env.local, op, part, addresses, registers),
            Space::Param => gather(&ParamBlock(env.params), op, part, addresses, registers),
            Space::Generic | Space::Global | Space::Const => {
                each_segment(env.global, part, addresses, reach, |segment, lanes| {
                    gather(&env.global.view(segment), op, lanes, addresses, registers);
                    false
                });
            }
        }
        false
    })
}

/// Executes `st`.
pub(super) fn store(
    op: &Store,
    lanes: LaneMask,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    vectorized(
        registers.vectors,
        #[inline(always)]
        |_| store_lanes(op, lanes, registers, env),
    )
}

#[inline(always)]
fn store_lanes(
    op: &Store,
    lanes: LaneMask,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    let Access { space, ty, count, bypass_l1, .. } = op.access;
    let bytes = u64::from(ty.bytes()) * u64::from(count);
    fill_addresses(op.address, lanes, registers, env.addresses);
    let parts = resolve(space, lanes, env.shared.start(), env.addresses);
    let access = MemoryAccess {
        space,
        kind: AccessKind::Write,
        lanes,
        bytes: bytes as u8,
        bypass_l1,
        changed: false,
        row: false,
    };
    let effect =
        |space, changed, row| Effect::Access(MemoryAccess { space, changed, row, ..access });
    if let Some((space, lanes)) = parts.only()
        && op.access.is_word()
    {
        let Some(reach) = check(space, lanes, bytes, true, env) else {
            return Err(first_fault(&parts, bytes, true, env));
        };
        let s = &registers.narrow[usize::from(op.s[0].0)];
        match (space, reach.segment) {
            (Space::Shared, _) => {
                let memory = &mut *env.shared;
                let changed = scatter_words(memory, s, lanes, env.addresses, reach.row);
                return Ok(effect(space, changed, reach.row));
            }
            (_, Some(segment)) => {
                let memory = &mut env.global.view(segment);
                let changed = scatter_words(memory, s, lanes, env.addresses, reach.row);
                return Ok(effect(space, changed, reach.row));
            }
            _ => {}
        }
    }
    let served = scatter_parts(&parts, op, registers, env)?;
    Ok(parts.effect(access, served, env))
}

/// Stores elements of any type to any memories.
#[inline(never)]
fn scatter_parts(
    parts: &Parts,
    op: &Store,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Result<Served, Fault> {
    let bytes = u64::from(op.access.ty.bytes()) * u64::from(op.access.count);
    serve_parts(parts, bytes, true, env, |env, space, part, reach| {
        let addresses = &*env.addresses;
        match space {
            Space::Shared => scatter(&mut *env.shared, op, part, addresses, registers),
            Space::Local => scatter(&mut *env.local, op, part, addresses, registers),
            _ => each_segment(env.global, part, addresses, reach, |segment, lanes| {
                scatter(&mut env.global.view(segment), op, lanes, addresses, registers)
            }),
        }
    })
}

/// Executes `atom` and `red`.
pub(super) fn atomic(
    op: &Atomic,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    fill_addresses(op.address, lanes, registers, env.addresses);
    let mut lanes = lanes;
    if let Some(p) = op.reached {
        let swaps = matches!(op.f, AtomicFn::Exch | AtomicFn::Cas);
        let addresses = &*env.addresses;
        let served = |lane: &u32| {
            let address = addresses[*lane as usize % MAX_LANES];
            is_in(address, Space::Global) || swaps && is_in(address, Space::Shared)
        };
        let there = lanes.lanes().filter(served).fold(0, |all, lane| all | 1 << lane);
        set_predicate(registers, p, lanes, there);
        lanes = LaneMask(there);
        if lanes.is_empty() {
            return Ok(Effect::Done);
        }
    }
    if op.form == AtomicForm::Cast {
        lanes = atomic::tried(op, lanes, env.addresses, registers);
    }
    let parts = resolve(op.space, lanes, env.shared.start(), env.addresses);
    let served = update_parts(&parts, op, registers, env)?;
    Ok(parts.effect(update(op.space, lanes, op.ty.bytes() as u8), served, env))
}

/// Returns the access of an atomic to `bytes` bytes per lane.
fn update(space: Space, lanes: LaneMask, bytes: u8) -> MemoryAccess {
    let kind = AccessKind::Atomic;
    MemoryAccess { space, kind, lanes, bytes, bypass_l1: true, changed: false, row: false }
}

/// Updates elements at `Env::addresses` in any memories.
fn update_parts(
    parts: &Parts,
    op: &Atomic,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Served, Fault> {
    let served = serve_parts(parts, op.ty.bytes().into(), true, env, |env, space, part, reach| {
        let addresses = &*env.addresses;
        match space {
            Space::Shared => atomic::serve(&mut *env.shared, op, part, addresses, false, registers),
            Space::Local => atomic::serve(&mut *env.local, op, part, addresses, false, registers),
            _ => each_segment(env.global, part, addresses, reach, |segment, lanes| {
                let view = &mut env.global.view(segment);
                atomic::serve(view, op, lanes, addresses, true, registers)
            }),
        }
    })?;
    Ok(Served { row: false, ..served })
}

/// Loads from global memory at `Env::addresses`. Returns false: nothing changes.
pub(super) fn load_at(
    op: &Load,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<bool, Fault> {
    let parts = Parts::single(Space::Global, lanes);
    gather_parts(&parts, op, registers, env).map(Served::any)
}

/// Stores to global memory at `Env::addresses`. Returns true if any byte changed.
pub(super) fn store_at(
    op: &Store,
    lanes: LaneMask,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Result<bool, Fault> {
    let parts = Parts::single(Space::Global, lanes);
    scatter_parts(&parts, op, registers, env).map(Served::any)
}

/// Updates global memory at `Env::addresses`. Returns true if any byte changed.
pub(super) fn atomic_at(
    op: &Atomic,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<bool, Fault> {
    let parts = Parts::single(Space::Global, lanes);
    update_parts(&parts, op, registers, env).map(Served::any)
}

/// Calls `f` for each segment that the checked lanes access. Returns true if any call does.
#[inline(always)]
fn each_segment(
    memory: &GlobalMemory,
    lanes: LaneMask,
    addresses: &Addresses,
    reach: Reach<'_>,
    mut f: impl FnMut(&Segment, LaneMask) -> bool,
) -> bool {
    if let Some(segment) = reach.segment {
        return f(segment, lanes);
    }
    let (mut rest, mut any) = (lanes, false);
    while let Some(lowest) = rest.lowest() {
        let at = |lane: u32| addresses[lane as usize & (MAX_LANES - 1)];
        let Some(segment) = memory.segment(at(lowest)) else {
            unreachable!("the check found a segment")
        };
        let here = rest.lanes().filter(|&lane| segment.holds(at(lane), 1));
        let here = here.fold(LaneMask::EMPTY, |mask, lane| mask | LaneMask::lane(lane));
        any |= f(segment, here);
        rest -= here;
    }
    any
}

#[cfg(test)]
mod tests;
