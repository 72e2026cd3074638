//! Loads, stores and atomics: addresses, the memory they reach, the checks before, the words moved.
//!
//! Every lane is checked before any lane moves a word, so a faulting instruction leaves no trace. A generic address is
//! resolved by its window (`kernel::layout`); the lanes of one access may land in different memories, which are disjoint,
//! so they are served one memory after the other. Within a memory, lanes are served in ascending order: of several stores
//! to one word the highest lane's stays. (PTX leaves that open.)

use std::sync::atomic::Ordering::Relaxed;

use super::lanes::fill_each;
use super::memory::{GlobalMemory, ParamBlock, Segment, Words};
use super::{AccessKind, Effect, Env, Fault, FaultKind, MemoryAccess, RegisterFile, atomic};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::layout::{LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use crate::kernel::{Access, Address, AddressBase, Atomic, Load, Row, Store};

/// The byte address of each lane.
type Addresses = [u64; MAX_LANES];

/// `ld`
pub(super) fn load(
    op: &Load,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    let Some(lowest) = lanes.lowest() else { return Ok(Effect::Done) };
    let Access { space, ty, count, bypass_l1, .. } = op.access;
    let bytes = u64::from(ty.bytes()) * u64::from(count);
    fill_addresses(op.address, registers, env.addresses);
    let effect = |space| {
        Effect::Access(MemoryAccess {
            space,
            kind: AccessKind::Read,
            lanes,
            bytes: bytes as u8,
            bypass_l1,
            changed: false,
        })
    };
    // Parameters and constants at a fixed address: one read serves all lanes.
    if op.address.base == AddressBase::Zero && matches!(space, Space::Param | Space::Const) {
        let reach = check(space, LaneMask::lane(lowest), bytes, false, env)?;
        match (space, reach.segment) {
            (Space::Const, Some(segment)) => broadcast(&env.global.view(segment), op, lanes, env.addresses, registers),
            _ => broadcast(&ParamBlock(env.params), op, lanes, env.addresses, registers),
        }
        return Ok(effect(space));
    }
    let parts = resolve(space, lanes, env.addresses);
    let reaches = check_parts(&parts, bytes, false, env)?;
    for (&(space, part), reach) in parts.iter().zip(reaches) {
        if part.is_empty() {
            continue;
        }
        let addresses = &*env.addresses;
        match space {
            Space::Shared => gather(&*env.shared, op, part, addresses, reach.row, registers),
            Space::Local => gather(&*env.local, op, part, addresses, false, registers),
            Space::Param => gather(&ParamBlock(env.params), op, part, addresses, false, registers),
            Space::Generic | Space::Global | Space::Const => {
                each_segment(env.global, part, addresses, reach, |segment, lanes| {
                    gather(&env.global.view(segment), op, lanes, addresses, reach.row, registers);
                });
            }
        }
    }
    Ok(effect(parts_space(&parts)))
}

/// `st`
pub(super) fn store(op: &Store, lanes: LaneMask, registers: &RegisterFile, env: &mut Env<'_>) -> Result<Effect, Fault> {
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    let Access { space, ty, count, bypass_l1, .. } = op.access;
    let bytes = u64::from(ty.bytes()) * u64::from(count);
    fill_addresses(op.address, registers, env.addresses);
    let parts = resolve(space, lanes, env.addresses);
    let reaches = check_parts(&parts, bytes, true, env)?;
    let mut changed = false;
    for (&(space, part), reach) in parts.iter().zip(reaches) {
        if part.is_empty() {
            continue;
        }
        let addresses = &*env.addresses;
        changed |= match space {
            Space::Shared => scatter(&mut *env.shared, op, part, addresses, reach.row, registers),
            Space::Local => scatter(&mut *env.local, op, part, addresses, false, registers),
            _ => {
                let mut changed = false;
                each_segment(env.global, part, addresses, reach, |segment, lanes| {
                    changed |= scatter(&mut env.global.view(segment), op, lanes, addresses, reach.row, registers);
                });
                changed
            }
        };
    }
    let (space, bytes) = (parts_space(&parts), bytes as u8);
    Ok(Effect::Access(MemoryAccess { space, kind: AccessKind::Write, lanes, bytes, bypass_l1, changed }))
}

/// `atom` and `red`
pub(super) fn atomic(
    op: &Atomic,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    let bytes = u64::from(op.ty.bytes());
    fill_addresses(op.address, registers, env.addresses);
    let parts = resolve(op.space, lanes, env.addresses);
    let reaches = check_parts(&parts, bytes, true, env)?;
    let mut changed = false;
    for (&(space, part), reach) in parts.iter().zip(reaches) {
        if part.is_empty() {
            continue;
        }
        let addresses = &*env.addresses;
        changed |= match space {
            Space::Shared => atomic::serve(&mut *env.shared, op, part, addresses, false, registers),
            Space::Local => atomic::serve(&mut *env.local, op, part, addresses, false, registers),
            _ => {
                let mut changed = false;
                each_segment(env.global, part, addresses, reach, |segment, lanes| {
                    changed |= atomic::serve(&mut env.global.view(segment), op, lanes, addresses, true, registers);
                });
                changed
            }
        };
    }
    let (space, bytes) = (parts_space(&parts), bytes as u8);
    Ok(Effect::Access(MemoryAccess { space, kind: AccessKind::Atomic, lanes, bytes, bypass_l1: true, changed }))
}

/// Base plus offset for all 32 lanes. A 32-bit base wraps in 32 bits, as the hardware's address adder does.
#[inline(always)]
fn fill_addresses(address: Address, registers: &RegisterFile, out: &mut Addresses) {
    match address.base {
        AddressBase::Zero => *out = [address.offset as u64; MAX_LANES],
        AddressBase::Narrow(row) => {
            let base = &registers.narrow[usize::from(row.0)];
            for (a, b) in out.iter_mut().zip(base) {
                *a = b.wrapping_add(address.offset as u32).into();
            }
        }
        AddressBase::Wide(row) => {
            let base = &registers.wide[usize::from(row.0)];
            for (a, b) in out.iter_mut().zip(base) {
                *a = b.wrapping_add_signed(address.offset);
            }
        }
    }
}

/// The lanes of one access by the memory they reach. At most three are not empty.
type Parts = [(Space, LaneMask); 3];

/// Finds the memory of each lane and turns generic addresses into offsets of their window.
#[inline(always)]
fn resolve(space: Space, lanes: LaneMask, addresses: &mut Addresses) -> Parts {
    if space != Space::Generic {
        return [(space, lanes), (space, LaneMask::EMPTY), (space, LaneMask::EMPTY)];
    }
    let (mut shared, mut local) = (0, 0);
    for (lane, a) in addresses.iter_mut().enumerate() {
        let in_shared = a.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES;
        let in_local = a.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES;
        shared |= u32::from(in_shared) << lane;
        local |= u32::from(in_local) << lane;
        if in_shared || in_local {
            *a %= WINDOW_BYTES;
        }
    }
    let (shared, local) = (lanes & LaneMask(shared), lanes & LaneMask(local));
    [(Space::Global, lanes - shared - local), (Space::Shared, shared), (Space::Local, local)]
}

/// The space of the lowest lane.
#[inline(always)]
fn parts_space(parts: &Parts) -> Space {
    let lowest = |&(_, lanes): &(Space, LaneMask)| lanes.lowest().unwrap_or(u32::MAX);
    parts.iter().min_by_key(|p| lowest(p)).map_or(Space::Generic, |p| p.0)
}

/// What checking an access found out about it.
#[derive(Clone, Copy, Default)]
struct Reach<'a> {
    /// The one segment that all lanes are in, if there is one.
    segment: Option<&'a Segment>,
    /// All 32 lanes, each right behind the lane before.
    row: bool,
}

/// Checks each part; of several faults the lowest lane's counts.
#[inline(always)]
fn check_parts<'a>(parts: &Parts, bytes: u64, write: bool, env: &Env<'a>) -> Result<[Reach<'a>; 3], Fault> {
    let mut reaches = [Reach::default(); 3];
    let mut fault: Option<Fault> = None;
    for (&(space, lanes), reach) in parts.iter().zip(&mut reaches) {
        if lanes.is_empty() {
            continue;
        }
        match check(space, lanes, bytes, write, env) {
            Ok(found) => *reach = found,
            Err(f) if fault.as_ref().is_none_or(|g| f.lane < g.lane) => fault = Some(f),
            Err(_) => {}
        }
    }
    fault.map_or(Ok(reaches), Err)
}

/// Whether all lanes may access `bytes` bytes at their address. `lanes` is not empty.
#[inline(always)]
fn check<'a>(space: Space, lanes: LaneMask, bytes: u64, write: bool, env: &Env<'a>) -> Result<Reach<'a>, Fault> {
    let addresses = &*env.addresses;
    let first = addresses[lanes.0.trailing_zeros() as usize & (MAX_LANES - 1)];
    let (start, end, segment) = match space {
        Space::Shared => (0, env.shared.bytes(), None),
        Space::Local => (0, env.local.bytes(), None),
        Space::Param => (0, env.params.len() as u64, None),
        Space::Generic | Space::Global | Space::Const => match env.global.segment(first) {
            Some(segment) => (segment.address, segment.bytes, Some(segment)),
            None => return Err(explain(space, lanes, bytes, write, env)),
        },
    };
    // An access fits when its offset is at most `last`; with unsigned wrap-around that is one comparison.
    let Some(last) = end.checked_sub(bytes) else { return Err(explain(space, lanes, bytes, write, env)) };
    let fits = |a: u64| (a.wrapping_sub(start) <= last) & (a & (bytes - 1) == 0);
    let row = lanes == LaneMask::FULL && is_row(addresses, bytes);
    let good = if row {
        fits(first) & fits(addresses[MAX_LANES - 1])
    } else if lanes == LaneMask::FULL {
        addresses.iter().fold(true, |good, &a| good & fits(a))
    } else {
        lanes.lanes().all(|lane| fits(addresses[lane as usize & (MAX_LANES - 1)]))
    };
    let writable = !write || segment.map_or(space != Space::Param, |s| s.writable) && space != Space::Const;
    if good && writable {
        return Ok(Reach { segment, row });
    }
    // Slow and rare: a fault, or lanes in different segments.
    let fault = lanes.lanes().find_map(|lane| lane_fault(lane, space, bytes, write, env));
    fault.map_or(Ok(Reach::default()), Err)
}

/// Whether lane `l` is `l * bytes` behind lane 0. No comparison per lane, so that it vectorises.
#[inline(always)]
fn is_row(addresses: &Addresses, bytes: u64) -> bool {
    let first = addresses[0];
    let mut difference = 0;
    for (lane, &a) in addresses.iter().enumerate() {
        difference |= a ^ first.wrapping_add(bytes.wrapping_mul(lane as u64));
    }
    difference == 0
}

/// The fault of the lowest lane, when the first lane is known to be at fault.
#[cold]
fn explain(space: Space, lanes: LaneMask, bytes: u64, write: bool, env: &Env<'_>) -> Fault {
    let fault = lanes.lanes().find_map(|lane| lane_fault(lane, space, bytes, write, env));
    fault.unwrap_or_else(|| unreachable!("the caller found a lane at fault"))
}

/// What is wrong with one lane's access. Out of bounds comes first: a wild pointer is often misaligned as well.
fn lane_fault(lane: u32, space: Space, bytes: u64, write: bool, env: &Env<'_>) -> Option<Fault> {
    let address = env.addresses[lane as usize & (MAX_LANES - 1)];
    let inside = |size: u64| size.checked_sub(bytes).is_some_and(|last| address <= last);
    let segment = env.global.segment(address).filter(|s| s.holds(address, bytes));
    let (found, writable) = match space {
        Space::Shared => (inside(env.shared.bytes()), true),
        Space::Local => (inside(env.local.bytes()), true),
        Space::Param => (inside(env.params.len() as u64), false),
        Space::Const => (segment.is_some(), false),
        Space::Generic | Space::Global => (segment.is_some(), segment.is_some_and(|s| s.writable)),
    };
    let size = bytes as u32;
    let kind = if !found {
        FaultKind::OutOfBounds { space, address, bytes: size }
    } else if address & (bytes - 1) != 0 {
        FaultKind::Misaligned { space, address, bytes: size }
    } else if write && !writable {
        FaultKind::ReadOnly { address }
    } else {
        return None;
    };
    Some(Fault { lane, kind })
}

/// Calls `f` for each segment that checked lanes are in.
#[inline(always)]
fn each_segment(
    memory: &GlobalMemory,
    lanes: LaneMask,
    addresses: &Addresses,
    reach: Reach<'_>,
    mut f: impl FnMut(&Segment, LaneMask),
) {
    if let Some(segment) = reach.segment {
        return f(segment, lanes);
    }
    let mut rest = lanes;
    while let Some(lowest) = rest.lowest() {
        let at = |lane: u32| addresses[lane as usize & (MAX_LANES - 1)];
        let Some(segment) = memory.segment(at(lowest)) else { unreachable!("the check found a segment") };
        let here = rest.lanes().filter(|&lane| segment.holds(at(lane), 1));
        let here = here.fold(LaneMask::EMPTY, |mask, lane| mask | LaneMask::lane(lane));
        f(segment, here);
        rest -= here;
    }
}

/// One element, zero-extended. Elements are aligned, so narrow ones stay within a word.
#[inline(always)]
fn element(memory: &impl Words, lane: usize, address: u64, bits: u32) -> u64 {
    let word = u64::from(memory.load(lane, address));
    match bits {
        8 => word >> (8 * (address & 3)) & 0xff,
        16 => word >> (8 * (address & 2)) & 0xffff,
        32 => word,
        _ => word | u64::from(memory.load(lane, address.wrapping_add(4))) << 32,
    }
}

/// Extends an element of `access` into a register.
#[inline(always)]
fn extend(access: Access, value: u64) -> u64 {
    let shift = 64 - access.ty.bits();
    if access.ty.is_signed() { ((value << shift) as i64 >> shift) as u64 } else { value }
}

/// Calls `$body` with `$bits` a constant, so that each loop is of one width.
macro_rules! by_bits {
    ($ty:expr, $bits:ident => $body:expr) => {
        match $ty.bits() {
            8 => {
                const $bits: u32 = 8;
                $body
            }
            16 => {
                const $bits: u32 = 16;
                $body
            }
            32 => {
                const $bits: u32 = 32;
                $body
            }
            _ => {
                const $bits: u32 = 64;
                $body
            }
        }
    };
}

/// Moves checked elements from memory to registers.
#[inline(always)]
fn gather(
    memory: &impl Words,
    op: &Load,
    lanes: LaneMask,
    addresses: &Addresses,
    row: bool,
    registers: &mut RegisterFile,
) {
    let access = op.access;
    let (bits, step) = (access.ty.bits(), u64::from(access.ty.bytes()));
    if row && bits == 32 && access.count == 1 && !access.wide {
        if let (Some(d), Some(run)) = (op.d[0], memory.run(addresses[0])) {
            for (cell, word) in registers.narrow[usize::from(d.0)].iter_mut().zip(run) {
                *cell = word.load(Relaxed);
            }
            return;
        }
    }
    for (i, d) in op.d.iter().enumerate().take(access.count.into()) {
        let Some(d) = *d else { continue };
        let delta = step * i as u64;
        by_bits!(access.ty, BITS => {
            let value = |lane: usize| extend(access, element(memory, lane, addresses[lane].wrapping_add(delta), BITS));
            put(registers, d, access.wide, lanes, value);
        });
    }
}

/// Moves one lane's elements to the registers of all.
fn broadcast(memory: &impl Words, op: &Load, lanes: LaneMask, addresses: &Addresses, registers: &mut RegisterFile) {
    let access = op.access;
    for (i, d) in op.d.iter().enumerate().take(access.count.into()) {
        let Some(d) = *d else { continue };
        let address = addresses[0].wrapping_add(u64::from(access.ty.bytes()) * i as u64);
        let value = extend(access, element(memory, 0, address, access.ty.bits()));
        put(registers, d, access.wide, lanes, |_| value);
    }
}

/// Writes lanes of a row of either width.
#[inline(always)]
pub(super) fn put(registers: &mut RegisterFile, d: Row, wide: bool, lanes: LaneMask, value: impl Fn(usize) -> u64) {
    if wide {
        fill_each(&mut registers.wide[usize::from(d.0)], lanes, value);
    } else {
        fill_each(&mut registers.narrow[usize::from(d.0)], lanes, |lane| value(lane) as u32);
    }
}

/// Moves checked elements from registers to memory; whether any byte changed.
#[inline(always)]
fn scatter(
    memory: &mut impl Words,
    op: &Store,
    lanes: LaneMask,
    addresses: &Addresses,
    row: bool,
    registers: &RegisterFile,
) -> bool {
    let access = op.access;
    let (bits, step) = (access.ty.bits(), u64::from(access.ty.bytes()));
    if row && bits == 32 && access.count == 1 && !access.wide {
        if let Some(run) = memory.run(addresses[0]) {
            let mut difference = 0;
            for (&value, word) in registers.narrow[usize::from(op.s[0].0)].iter().zip(run) {
                difference |= word.load(Relaxed) ^ value;
                word.store(value, Relaxed);
            }
            return difference != 0;
        }
    }
    let mut changed = false;
    for (i, s) in op.s.iter().enumerate().take(access.count.into()) {
        let delta = step * i as u64;
        by_bits!(access.ty, BITS => {
            if access.wide {
                let row = &registers.wide[usize::from(s.0)];
                let value = |lane: usize| row[lane];
                changed |= scatter_element::<BITS>(memory, lanes, addresses, delta, value);
            } else {
                let row = &registers.narrow[usize::from(s.0)];
                let value = |lane: usize| row[lane].into();
                changed |= scatter_element::<BITS>(memory, lanes, addresses, delta, value);
            }
        });
    }
    changed
}

#[inline(always)]
fn scatter_element<const BITS: u32>(
    memory: &mut impl Words,
    lanes: LaneMask,
    addresses: &Addresses,
    delta: u64,
    value: impl Fn(usize) -> u64,
) -> bool {
    let mut changed = false;
    let mut one = |lane: usize| {
        let address = addresses[lane].wrapping_add(delta);
        changed |= match BITS {
            32 => memory.store(lane, address, value(lane) as u32),
            64 => {
                memory.store(lane, address, value(lane) as u32)
                    | memory.store(lane, address.wrapping_add(4), (value(lane) >> 32) as u32)
            }
            _ => {
                let shift = 8 * (address & 3) as u32;
                let mask = ((1u32 << (BITS % 32)) - 1) << shift;
                let bits = ((value(lane) as u32) << shift) & mask;
                let (old, new) = memory.update(lane, address, |word| word & !mask | bits);
                old != new
            }
        };
    };
    if lanes == LaneMask::FULL {
        (0..MAX_LANES).for_each(&mut one);
    } else {
        lanes.lanes().for_each(|lane| one(lane as usize & (MAX_LANES - 1)));
    }
    changed
}

#[cfg(test)]
mod tests;
