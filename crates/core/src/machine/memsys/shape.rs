//! Shape of an access: equal for accesses whose addresses differ by a constant that no cache line
//! and no bank shows.

use super::super::cache::LINE;
use crate::base::MAX_LANES;
use crate::exec::MemoryAccess;
use crate::isa::Space;

/// Shape of an access.
#[derive(Clone)]
pub(in crate::machine) struct Shape {
    access: MemoryAccess,
    /// Place of the lowest lane's address within the period of [`period`].
    base: u64,
    /// Address by lane, from that of the lowest.
    offsets: [u64; MAX_LANES],
    /// All ones for each lane of the access.
    is_in: [u64; MAX_LANES],
    /// True if the access has few lanes.
    is_sparse: bool,
}

/// Returns the bytes by which all addresses may move without a change of lines, sectors and banks.
///
/// Consecutive words of a lane's local memory are lines apart; the banks of shared memory take
/// turns. 0: addresses mean nothing.
fn period(space: Space) -> u64 {
    match space {
        Space::Const | Space::Param => 0,
        Space::Shared | Space::Local => 4,
        Space::Global | Space::Generic => LINE,
    }
}

impl Shape {
    pub(in crate::machine) fn new(access: MemoryAccess, addresses: &[u64; MAX_LANES]) -> Shape {
        let first = lowest(access, addresses);
        Shape {
            access,
            base: first.checked_rem(period(access.space)).unwrap_or(0),
            offsets: std::array::from_fn(|lane| addresses[lane].wrapping_sub(first)),
            is_in: std::array::from_fn(|lane| match access.lanes.contains(lane as u32) {
                true => u64::MAX,
                false => 0,
            }),
            is_sparse: access.lanes.is_sparse(),
        }
    }

    /// Returns true if an access has this shape, and thus the same traffic.
    #[inline]
    pub(in crate::machine) fn fits(
        &self,
        access: MemoryAccess,
        addresses: &[u64; MAX_LANES],
    ) -> bool {
        let known = &self.access;
        if (known.lanes, known.bytes, known.space, known.kind, known.row)
            != (access.lanes, access.bytes, access.space, access.kind, access.row)
        {
            return false;
        }
        let first = lowest(access, addresses);
        let base = match period(access.space) {
            0 => return true,
            period => first & (period - 1), // a power of two
        };
        let mut differs = base ^ self.base;
        if access.row {
            return differs == 0;
        }
        if self.is_sparse {
            for lane in access.lanes.lanes() {
                let lane = lane as usize % MAX_LANES;
                differs |= addresses[lane].wrapping_sub(first) ^ self.offsets[lane];
            }
            return differs == 0;
        }
        for ((address, offset), is_in) in addresses.iter().zip(&self.offsets).zip(&self.is_in) {
            differs |= (address.wrapping_sub(first) ^ offset) & is_in;
        }
        differs == 0
    }
}

/// Returns the address of the lowest lane.
#[inline]
fn lowest(access: MemoryAccess, addresses: &[u64; MAX_LANES]) -> u64 {
    addresses[access.lanes.lowest().unwrap_or(0) as usize % MAX_LANES]
}
