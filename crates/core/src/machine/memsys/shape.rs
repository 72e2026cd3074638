//! Shape of an access: equal for accesses whose addresses differ by a constant that no cache line
//! and no bank shows.

use super::super::cache::LINE;
use crate::base::MAX_LANES;
use crate::exec::{MemoryAccess, Pattern};
use crate::isa::Space;

/// Shape of an access.
#[derive(Clone)]
pub(in crate::machine) struct Shape {
    access: MemoryAccess,
    pattern: Pattern,
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
        let bytes = u64::from(access.bytes.max(1));
        let period = period(access.space).max(bytes.next_power_of_two());
        Shape { access, pattern: Pattern::new(access.lanes, addresses, bytes, period) }
    }

    /// Returns the addresses of an access of this shape.
    #[inline]
    pub(in crate::machine) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Returns the access that had this shape.
    #[inline]
    pub(in crate::machine) fn access(&self) -> MemoryAccess {
        self.access
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
        if period(access.space) == 0 {
            return true;
        }
        match access.row {
            true => self.pattern.may_begin(addresses[0]),
            false => self.pattern.first(|lane| addresses[lane]).is_some(),
        }
    }
}
