//! Traffic of an access as the coalescer and the banks see it, without caches.

use crate::base::{MAX_LANES, SmId};
use crate::event::{MemoryKind, Traffic};
use crate::exec::{AccessKind, MemoryAccess};
use crate::isa::Space;
use crate::kernel::Op;
use crate::machine::atomics::Weight;
use crate::machine::cache::sectors_in;
use crate::machine::memsys::{Lines, Texels, atomic_passes, blank, interleave, passes};
use crate::spec::{Memory, Transactions};

/// Returns the traffic of an access by `op`.
///
/// `addresses` are those of [`crate::exec::Env::addresses`] on entry, and addresses as the caches
/// see them on return.
pub(super) fn of(
    op: &Op,
    access: MemoryAccess,
    addresses: &mut [u64; MAX_LANES],
    memory: &Memory,
    place: (SmId, u32),
) -> Traffic {
    match access.space {
        Space::Const | Space::Param => Traffic { memory: MemoryKind::Const, ..blank(access) },
        Space::Shared => {
            let passes = match access.kind {
                AccessKind::Atomic => {
                    atomic_passes(access, addresses, memory.shared_banks, Weight::of(op))
                }
                _ => passes(access, addresses, memory.shared_banks),
            };
            Traffic {
                memory: MemoryKind::Shared,
                wavefronts: passes.all,
                ideal_wavefronts: passes.ideal,
                ..blank(access)
            }
        }
        Space::Local => {
            interleave(access, addresses, place);
            local(access, addresses, memory)
        }
        Space::Global | Space::Generic => coalesced(access, addresses, MemoryKind::Global, memory),
    }
}

/// Returns the traffic of a local access, whose words are requested one by one.
fn local(access: MemoryAccess, addresses: &[u64; MAX_LANES], memory: &Memory) -> Traffic {
    let word = MemoryAccess { bytes: access.bytes.min(4), row: false, ..access };
    let mut all = coalesced(word, addresses, MemoryKind::Local, memory);
    let mut at = *addresses;
    for _ in 1..access.bytes.div_ceil(4) {
        at.iter_mut().for_each(|a| *a = a.wrapping_add(4 * MAX_LANES as u64));
        let one = coalesced(word, &at, MemoryKind::Local, memory);
        all.requested += one.requested;
        all.sectors += one.sectors;
        all.lines += one.lines;
        all.transactions += one.transactions;
    }
    all
}

/// Returns the traffic of an access to a texture or surface.
pub(super) fn of_image(
    access: MemoryAccess,
    texels: Texels<'_>,
    kind: MemoryKind,
    memory: &Memory,
) -> Traffic {
    let (all, groups) = texels.lines(access);
    let lines = all.len() as u32;
    let sectors = all.iter().map(|&(_, sectors)| sectors_in(sectors)).sum();
    let transactions = match memory.transactions {
        Transactions::Sectors => sectors,
        Transactions::Lines => lines,
    };
    Traffic { memory: kind, lines, sectors, transactions, wavefronts: groups, ..blank(access) }
}

/// Returns the traffic of a request to L1.
fn coalesced(
    access: MemoryAccess,
    addresses: &[u64; MAX_LANES],
    kind: MemoryKind,
    memory: &Memory,
) -> Traffic {
    let mut lines = Lines::default();
    lines.coalesce(access, addresses);
    let count = lines.lines().len() as u32;
    let sectors = lines.sectors();
    let transactions = match memory.transactions {
        Transactions::Sectors => sectors,
        Transactions::Lines => count,
    };
    Traffic { memory: kind, lines: count, sectors, transactions, ..blank(access) }
}
