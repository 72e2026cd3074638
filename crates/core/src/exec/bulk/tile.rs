//! Bulk copies of tiles: what they read and where they write it, and what they must not be.

use super::super::memory::Words;
use super::super::tensor::{
    MAP_ALIGN, MAP_BYTES, MAP_WORDS, TILE_ALIGN, TensorMap, TileRun, UNIT, tf32,
};
use super::super::{Env, FaultKind};
use super::{BulkData, BulkRun, Reduction, check_row, load};
use crate::isa::{Space, Type};
use crate::kernel::{AtomicFn, MAX_RANK, TileAt};

/// Checks and reads a tile at coordinates, of the tensor whose map is at `map`.
pub(super) fn tile(
    data: &mut BulkData,
    reduces: Option<AtomicFn>,
    (at, coordinates): (TileAt, [i32; MAX_RANK]),
    (shared, map): (u64, u64),
    env: &Env<'_>,
) -> Result<(), FaultKind> {
    let rank = at.rank;
    let loads = data.to == Space::Shared;
    let coordinates = std::array::from_fn(|i| if i < rank.into() { coordinates[i] } else { 0 });
    let bad = FaultKind::BadTensorMap { address: map, rank };
    let found = read_map(map, env)?.filter(|map| map.rank == usize::from(rank));
    let Some(tensor) = found else { return Err(bad) };
    if !tensor.address.is_multiple_of(UNIT) {
        let (space, bytes) = (Space::Global, UNIT as u32);
        return Err(FaultKind::Misaligned { space, address: tensor.address, bytes });
    }
    if tensor.mistake().is_some() {
        return Err(bad);
    }
    if tensor.interleave != 0 {
        return Err(FaultKind::OtherLayout);
    }
    if !tensor.is_aligned(coordinates[0]) {
        return Err(FaultKind::UnalignedTile { element: coordinates[0] });
    }
    let negative = coordinates.iter().position(|&value| value < 0).filter(|_| !loads);
    if let Some(dimension) = negative {
        let value = coordinates[dimension];
        return Err(FaultKind::NegativeTile { dimension: dimension as u8, value });
    }
    let ty = tensor.element.ty();
    data.reduces = match reduces {
        Some(f) if !reduces_tensors(f, ty) => return Err(FaultKind::BadReduction { ty }),
        f => f.map(|f| Reduction { f, ty, flushes: tensor.element.flushes() }),
    };
    let (space, bytes) = (Space::Shared, tensor.shared_bytes());
    if !env.shared.holds(shared, bytes) {
        return Err(FaultKind::OutOfBounds { space, address: shared, bytes: bytes as u32 });
    }
    if !shared.is_multiple_of(TILE_ALIGN) {
        let bytes = TILE_ALIGN as u32;
        return Err(FaultKind::Misaligned { space, address: shared, bytes });
    }
    let fill = u32::from(tensor.fill()) << 16 | u32::from(tensor.fill());
    for run in tensor.runs(coordinates, shared) {
        if run.inside == 0 && !loads {
            continue;
        }
        let TileRun { shared, global, inside, bytes } = run;
        let run = match loads {
            true => BulkRun { from: global, to: shared, read: inside, written: bytes },
            false => {
                let stored = written(global, inside, data.reduces.is_none(), env);
                BulkRun { from: shared, to: global, read: stored, written: stored }
            }
        };
        if run.read > 0 {
            check_row(global, run.read, !loads, env)?;
        }
        let first = data.words.len();
        data.words.resize(first + run.words(), fill);
        let read = first + run.read.div_ceil(4) as usize;
        load((data.from, run.from), &mut data.words[first..read], env);
        if loads && tensor.element.rounds() {
            data.words[first..read].iter_mut().for_each(|word| *word = tf32(*word));
        }
        if loads && !run.read.is_multiple_of(4) {
            let kept = (1 << (8 * (run.read % 4))) - 1;
            let last = &mut data.words[read - 1];
            *last = *last & kept | fill & !kept;
        }
        data.runs.push(run);
    }
    Ok(())
}

/// Returns how many bytes a store writes of which so many are in the tensor.
///
/// A plain store writes the last 16 bytes of a row whole, as far as there is memory.
fn written(global: u64, inside: u64, plain: bool, env: &Env<'_>) -> u64 {
    let whole = inside.next_multiple_of(UNIT);
    let segment = env.global.segment(global);
    let there = segment.is_some_and(|segment| segment.holds(global, whole));
    if plain && there { whole } else { inside }
}

/// Reads the tensor map at a generic address. `None`: it is none.
fn read_map(address: u64, env: &Env<'_>) -> Result<Option<TensorMap>, FaultKind> {
    let segment = env.global.segment(address).filter(|segment| segment.holds(address, MAP_BYTES));
    let Some(segment) = segment else {
        let (space, bytes) = (Space::Generic, MAP_BYTES as u32);
        return Err(FaultKind::OutOfBounds { space, address, bytes });
    };
    if !address.is_multiple_of(MAP_ALIGN) {
        let (space, bytes) = (Space::Generic, MAP_ALIGN as u32);
        return Err(FaultKind::Misaligned { space, address, bytes });
    }
    let mut words = [0; MAP_WORDS];
    env.global.view(segment).load_run(address, &mut words);
    Ok(TensorMap::decode(&words))
}

/// Returns true if tiles of a type can be reduced by a function, as on an H200.
fn reduces_tensors(f: AtomicFn, ty: Type) -> bool {
    use AtomicFn::{Add, And, Max, Min, Or, Xor};
    match ty {
        Type::U32 => true,
        Type::S32 | Type::U64 => matches!(f, Add | Min | Max | And | Or | Xor),
        Type::S64 => matches!(f, Min | Max),
        Type::F16 | Type::BF16 => matches!(f, Add | Min | Max),
        Type::F32 | Type::F64 => f == Add,
        _ => false,
    }
}
