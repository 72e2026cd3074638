//! Part of L1 that a driver makes shared memory, for machine code.
//!
//! An H200's driver leaves room for twice the blocks that fit on an SM by other limits, if that is
//! not too large a part, else for these: 124 of 129 kernels in
//! `tests/observations/h200/grids/carve_outs.csv` (docs/calibration.md, *Size of L1*).

use crate::spec::Machine;

/// Largest part that is chosen for more blocks than those that run at once.
const MOST_TO_SPARE: u32 = 132 << 10;

/// Returns the part for blocks that take `shared` bytes each, of which `blocks` fit by other
/// limits.
pub(super) fn of_shared(spec: &Machine, shared: u64, blocks: u64) -> u32 {
    let room = |part: u32| u64::from(part) / shared.max(1);
    let of = |most: u32| parts(spec).iter().copied().filter(|&part| part <= most).map(room).max();
    let [to_spare, all] = [MOST_TO_SPARE, u32::MAX].map(|most| of(most).unwrap_or(0));
    let needed = if to_spare >= blocks {
        to_spare.min(blocks.saturating_mul(2)).min(spec.max_blocks.into())
    } else {
        all.min(blocks)
    };
    smallest(spec, |part| room(part) >= needed)
}

/// Returns the part for blocks of `threads` without shared memory.
pub(super) fn of_none(spec: &Machine, threads: u32) -> u32 {
    let blocks = (spec.max_threads.saturating_mul(4) / threads.max(1)).min(spec.max_blocks);
    smallest(spec, |part| part >= blocks.saturating_mul(spec.shared_reserved))
}

/// Returns the smallest part that is enough, or the largest one; 0 without parts.
fn smallest(spec: &Machine, is_enough: impl Fn(u32) -> bool) -> u32 {
    let found = parts(spec).iter().copied().find(|&part| is_enough(part));
    found.or(parts(spec).last().copied()).unwrap_or(0)
}

fn parts(spec: &Machine) -> &[u32] {
    spec.sass.as_ref().map_or(&[], |times| &times.carve_outs)
}
