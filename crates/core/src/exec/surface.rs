//! Accesses to surfaces: coordinates to addresses, then as loads, stores and atomics.

use super::arith::exact::{Exact, F16, F32};
use super::image::{Channel, Image};
use super::memory::Words;
use super::texture::{image, suits};
use super::{AccessKind, Effect, Env, Fault, FaultKind, MemoryAccess, RegisterFile, access};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::{Round, Space, Type};
use crate::kernel::{
    Access, Address, AddressBase, Atomic, AtomicForm, Load, MemoryOrder, Outside, Row, Scope,
    Store, Surface, SurfaceMove,
};

/// Executes `suld`, `sust` and `sured`.
pub(super) fn access(
    op: &Surface,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    let mut bytes = u64::from(op.ty.bytes()) * u64::from(op.count);
    let mut inside = LaneMask::EMPTY;
    let mut signed = LaneMask::EMPTY;
    let mut texels = Vec::new();
    for lane in lanes.lanes() {
        let image = image(op.handle, true, lane, registers, env)?;
        suits(op.place.geometry, &image, lane)?;
        if matches!(op.direction, SurfaceMove::Texel(_)) {
            bytes = image.texel_bytes();
        }
        if let Some(address) = place(op, &image, bytes, lane, registers)? {
            env.addresses[lane as usize % MAX_LANES] = address;
            inside |= LaneMask::lane(lane);
            if op.scaled && image.channel.is_signed() {
                signed |= LaneMask::lane(lane);
            }
            if matches!(op.direction, SurfaceMove::Texel(_)) {
                texels.push((lane, image));
            }
        }
    }
    let outside = lanes - inside;
    if let (SurfaceMove::Load(d), false) = (op.direction, outside.is_empty()) {
        for d in d.into_iter().flatten() {
            access::put(registers, d, op.wide, outside, |_| 0);
        }
    }
    if inside.is_empty() {
        return Ok(Effect::Done);
    }
    let address = Address { base: AddressBase::Zero, offset: 0 };
    let access = Access {
        space: Space::Global,
        ty: op.ty,
        count: op.count,
        wide: op.wide,
        order: MemoryOrder::Weak,
        scope: Scope::Gpu,
        bypass_l1: false,
    };
    let (kind, changed) = match op.direction {
        SurfaceMove::Load(d) => {
            let load = Load { access, d, uniform: false, address };
            (AccessKind::Read, access::load_at(&load, inside, registers, env)?)
        }
        SurfaceMove::Store(s) => {
            let store = Store { access, s, address };
            (AccessKind::Write, access::store_at(&store, inside, registers, env)?)
        }
        SurfaceMove::Texel(s) => {
            let s = &s[..usize::from(op.count).min(4)];
            (AccessKind::Write, store_texels(s, &texels, registers, env)?)
        }
        SurfaceMove::Reduce(f, b) => {
            let atomic = |ty| Atomic {
                space: Space::Global,
                f,
                ty,
                order: MemoryOrder::Relaxed,
                scope: Scope::Gpu,
                d: None,
                address,
                b,
                c: Row(0),
                pairs: op.pairs,
                form: AtomicForm::Usual,
                reached: None,
            };
            let as_signed = if op.ty.is_wide() { Type::S64 } else { Type::S32 };
            let mut changed = false;
            for (ty, lanes) in [(op.ty, inside - signed), (as_signed, signed)] {
                if !lanes.is_empty() {
                    changed |= access::atomic_at(&atomic(ty), lanes, registers, env)?;
                }
            }
            (AccessKind::Atomic, changed)
        }
    };
    env.system.taps.clear();
    env.system.group = 8;
    env.system.one_by_one = false;
    Ok(Effect::Image(MemoryAccess {
        space: Space::Global,
        kind,
        lanes: inside,
        bytes: bytes as u8,
        bypass_l1: kind == AccessKind::Atomic,
        changed,
        row: false,
    }))
}

/// Returns the address of a lane's access; `None` outside, where it has no effect.
fn place(
    op: &Surface,
    image: &Image,
    bytes: u64,
    lane: u32,
    registers: &RegisterFile,
) -> Result<Option<u64>, Fault> {
    let l = lane as usize % MAX_LANES;
    let value = |row: Row| i64::from(registers.narrow[usize::from(row.0)][l] as i32);
    let mut at = [0i64; 3];
    for (place, row) in at.iter_mut().zip(op.place.at).take(op.place.geometry.coordinates()) {
        *place = value(row);
    }
    if op.scaled {
        at[0] *= bytes as i64;
    }
    if let Some(layer) = op.place.layer {
        // A negative layer is a high one; with texels, it has 16 bits.
        let layer = registers.narrow[usize::from(layer.0)][l];
        at[2] = i64::from(if op.scaled { layer & 0xffff } else { layer });
    }
    let width = (u64::from(image.size[0]) * image.texel_bytes()) as i64;
    let last = [width - bytes as i64, image.size[1].into(), image.size[2].into()];
    let last = [last[0], last[1] - 1, last[2] - 1];
    let within = at.iter().zip(last).all(|(&at, last)| (0..=last).contains(&at));
    if !within {
        match op.outside {
            Outside::Zero => return Ok(None),
            Outside::Trap => {
                return Err(Fault { lane, kind: FaultKind::OutsideSurface { at, size: last } });
            }
            // A surface narrower than the access has no place inside.
            Outside::Clamp if last[0] < 0 => return Ok(None),
            Outside::Clamp => {
                at = std::array::from_fn(|axis| at[axis].clamp(0, last[axis]));
                at[0] -= at[0] % bytes as i64;
            }
        }
    }
    if at[0] % bytes as i64 != 0 {
        let (space, bytes) = (Space::Global, bytes as u32);
        return Err(Fault {
            lane,
            kind: FaultKind::Misaligned { space, address: at[0] as u64, bytes },
        });
    }
    let offset = image.offset(at[0] as u64, at[1] as u64, at[2] as u64);
    Ok(Some(image.address.wrapping_add(offset)))
}

/// Stores texels of converted channels `rows` to global memory at `Env::addresses`, by lane.
/// Returns true if any byte changed.
fn store_texels(
    rows: &[Row],
    texels: &[(u32, Image)],
    registers: &RegisterFile,
    env: &Env<'_>,
) -> Result<bool, Fault> {
    for &(lane, ref image) in texels {
        let (space, one, bytes) = (Space::Global, LaneMask::lane(lane), image.texel_bytes());
        if access::check(space, one, bytes, true, env).is_none() {
            return Err(access::first_fault_of(space, one, bytes, true, env));
        }
    }
    let mut changed = false;
    for &(lane, ref image) in texels {
        let (bits, l) = (image.channel.bits(), lane as usize % MAX_LANES);
        let address = env.addresses[l];
        let Some(segment) = env.global.segment(address) else { continue };
        let mut view = env.global.view(segment);
        for i in 0..image.channels {
            // PTX leaves open what channels without a value become.
            let row = rows.get(i as usize);
            let value = row.map_or(0, |row| registers.narrow[usize::from(row.0)][l]);
            let at = address + u64::from(i * bits / 8);
            let shift = 8 * (at & 3);
            let mask = u32::MAX >> (32 - bits) << shift;
            let value = stored(value, image.channel) << shift;
            let (old, new) = view.update(l, at, |word| word & !mask | value);
            changed |= old != new;
        }
    }
    Ok(changed)
}

/// Converts a value to the bits of a channel: an integer to the nearest one, a float towards 0.
fn stored(value: u32, channel: Channel) -> u32 {
    let signed = |least: i32, most: i32| (value as i32).clamp(least, most) as u32;
    match channel {
        Channel::U8 => value.min(0xff),
        Channel::U16 => value.min(0xffff),
        Channel::S8 => signed(-0x80, 0x7f) & 0xff,
        Channel::S16 => signed(-0x8000, 0x7fff) & 0xffff,
        Channel::U32 | Channel::S32 | Channel::F32 => value,
        Channel::F16 => cut(value),
    }
}

/// Returns the bits of an f32 as f16, rounded towards 0. A NaN keeps its upper bits.
fn cut(value: u32) -> u32 {
    const INFINITY: u32 = 0x7f80_0000;
    let magnitude = value & 0x7fff_ffff;
    if magnitude < INFINITY {
        return Exact::decode(F32, value.into()).round(F16, Round::Zero) as u32;
    }
    let fraction = magnitude >> 13 & 0x3ff;
    let nan = u32::from(magnitude > INFINITY && fraction == 0);
    value >> 16 & 0x8000 | 0x7c00 | fraction | nan
}
