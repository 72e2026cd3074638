//! Atomics on vectors, and exchanges of 128 bits.

use super::super::{Effect, Env, Fault, RegisterFile, atomic as functions};
use super::check::{Parts, Served, fill_addresses, resolve, serve_parts};
use super::{each_segment, put, update, update_parts};
use crate::base::LaneMask;
use crate::isa::Space;
use crate::kernel::{Atomic, AtomicVector, Row};

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
    serve_parts(&parts, bytes, true, env, |_, _, _, _| false)?;
    let (addresses, mut served) = (*env.addresses, Served::default());
    // An element's operand may be in a register that an earlier element's result overwrites.
    let mut results = Vec::with_capacity(op.others.len());
    let elements = std::iter::once((first.d, first.b)).chain(op.others.iter().copied());
    for (i, (d, b)) in (0..).zip(elements) {
        *env.addresses = addresses.map(|address| address.wrapping_add(each * i));
        let before = d.map(|d| (d, registers.narrow[usize::from(d.0)]));
        served = served.and(update_parts(&parts, &Atomic { d, b, ..first }, registers, env)?);
        if let Some((d, before)) = before {
            results.push((d, std::mem::replace(&mut registers.narrow[usize::from(d.0)], before)));
        }
    }
    for (d, values) in results {
        put(registers, d, false, lanes, |lane| values[lane].into());
    }
    *env.addresses = addresses;
    Ok(parts.effect(update(first.space, lanes, bytes as u8), served, env))
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
    let served = serve_parts(&parts, 16, true, env, |env, space, part, reach| {
        let addresses = &*env.addresses;
        match space {
            Space::Shared => {
                let memory = &mut *env.shared;
                functions::serve_joint(memory, op, upper, part, addresses, registers)
            }
            Space::Local => {
                let memory = &mut *env.local;
                functions::serve_joint(memory, op, upper, part, addresses, registers)
            }
            _ => each_segment(env.global, part, addresses, reach, |segment, lanes| {
                let memory = &mut env.global.view(segment);
                functions::serve_joint(memory, op, upper, lanes, addresses, registers)
            }),
        }
    })?;
    let served = Served { row: false, ..served };
    Ok(parts.effect(update(op.first.space, lanes, 16), served, env))
}
