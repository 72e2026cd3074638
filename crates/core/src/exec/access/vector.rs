//! Atomics on vectors, and exchanges of 128 bits.

use super::super::{
    AccessKind, Effect, Env, Fault, MemoryAccess, RegisterFile, atomic as functions,
};
use super::check::{Parts, fill_addresses, resolve, serve_parts};
use super::{atomic, each_segment, put};
use crate::base::LaneMask;
use crate::isa::Space;
use crate::kernel::{Address, Atomic, AtomicVector, Row};

/// Executes `atom` and `red` on vectors, element by element.
pub(in crate::exec) fn atomic_vector(
    op: &AtomicVector,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    let first = op.first;
    let each = u64::from(first.ty.bytes());
    let bytes = each * (1 + op.others.len() as u64);
    // The vector is checked as a whole, so that a fault changes nothing.
    fill_addresses(first.address, lanes, registers, env.addresses);
    let parts = resolve(first.space, lanes, env.shared.start(), env.addresses);
    if let Some(upper) = op.joint {
        return joint(op, upper, parts, lanes, registers, env);
    }
    serve_parts(&parts, bytes, true, env, |_, _, _, _| {})?;
    let (mut effect, mut written) = (Effect::Done, false);
    // An element's address may be in a register that an earlier element's result overwrites.
    let mut results = Vec::with_capacity(op.others.len());
    let elements = std::iter::once((first.d, first.b)).chain(op.others.iter().copied());
    for (i, (d, b)) in (0..).zip(elements) {
        let offset = first.address.offset.wrapping_add(each as i64 * i);
        let address = Address { offset, ..first.address };
        let before = d.map(|d| (d, registers.narrow[usize::from(d.0)]));
        effect = atomic(&Atomic { d, b, address, ..first }, lanes, registers, env)?;
        written |= matches!(effect, Effect::Access(MemoryAccess { changed: true, .. }));
        if let Some((d, before)) = before {
            results.push((d, std::mem::replace(&mut registers.narrow[usize::from(d.0)], before)));
        }
    }
    for (d, values) in results {
        put(registers, d, false, lanes, |lane| values[lane].into());
    }
    fill_addresses(first.address, lanes, registers, env.addresses);
    Ok(match effect {
        Effect::Access(access) => {
            Effect::Access(MemoryAccess { bytes: bytes as u8, changed: written, ..access })
        }
        other => other,
    })
}

/// Executes an exchange of 128 bits at `Env::addresses`.
fn joint(
    op: &AtomicVector,
    upper: Row,
    parts: Parts,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    let mut changed = false;
    serve_parts(&parts, 16, true, env, |env, space, part, reach| {
        let addresses = &*env.addresses;
        match space {
            Space::Shared => {
                let memory = &mut *env.shared;
                changed |= functions::serve_joint(memory, op, upper, part, addresses, registers);
            }
            Space::Local => {
                let memory = &mut *env.local;
                changed |= functions::serve_joint(memory, op, upper, part, addresses, registers);
            }
            _ => each_segment(env.global, part, addresses, reach, |segment, lanes| {
                let memory = &mut env.global.view(segment);
                changed |= functions::serve_joint(memory, op, upper, lanes, addresses, registers);
            }),
        }
    })?;
    Ok(Effect::Access(MemoryAccess {
        space: parts.space(),
        kind: AccessKind::Atomic,
        lanes,
        bytes: 16,
        bypass_l1: true,
        changed,
        row: false,
    }))
}
