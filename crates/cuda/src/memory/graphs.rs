//! Memory that nodes of graphs allocate: an address that a node has from its creation, content from
//! its turn in a launch until it is freed.

use std::collections::BTreeMap;

use simt_core::kernel::layout::BUFFER_ALIGN;

use super::{AddressSpace, Allocation, GAP, Use, reach};
use crate::error::Error;
use crate::table::Handle;

/// Bytes by which the memory that graphs keep grows, as on an H200.
const POOL: u64 = 32 << 20;

/// Addresses and sizes of the memory of graphs.
#[derive(Debug, Default)]
pub(crate) struct GraphMemory {
    /// Bytes by address, from the creation of the node to the end of its graphs.
    ranges: BTreeMap<u64, u64>,
    /// Bytes allocated now.
    used: u64,
    /// Bytes kept for graphs now, and at most so far.
    pub(crate) reserved: [u64; 2],
}

impl GraphMemory {
    /// Returns address and size of the memory that holds an address.
    pub(super) fn find(&self, address: u64) -> Option<(u64, u64)> {
        let (&base, &bytes) = self.ranges.range(..=address).next_back()?;
        (address - base < bytes).then_some((base, bytes))
    }

    /// Returns true if a node allocates memory at an address.
    pub(crate) fn begins(&self, address: u64) -> bool {
        self.ranges.contains_key(&address)
    }

    /// Takes note that memory of a graph is allocated.
    fn add(&mut self, bytes: u64) {
        self.used += bytes;
        self.reserved[0] = self.reserved[0].max(self.used.next_multiple_of(POOL));
        self.reserved[1] = self.reserved[1].max(self.reserved[0]);
    }

    /// Takes note that memory at an address is freed, if it is of a graph.
    pub(super) fn remove(&mut self, address: u64) {
        if let Some(bytes) = self.ranges.get(&address) {
            self.used = self.used.saturating_sub(*bytes);
        }
    }

    /// Gives back memory that is kept and not allocated.
    pub(crate) fn trim(&mut self) {
        self.reserved[0] = self.used.next_multiple_of(POOL);
    }
}

impl AddressSpace {
    /// Chooses the address of memory that a graph will allocate.
    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<u64, Error> {
        if bytes == 0 {
            return Err(Error::INVALID_VALUE);
        }
        if bytes > self.limit {
            return Err(Error::OUT_OF_MEMORY);
        }
        let address = self.place(bytes).ok_or(Error::OUT_OF_MEMORY)?;
        self.next = address + reach(bytes).next_multiple_of(BUFFER_ALIGN) + GAP;
        self.graphs.ranges.insert(address, bytes);
        Ok(address)
    }

    /// Allocates the memory of a graph at its address; its content is zero.
    ///
    /// # Errors
    /// If too little memory is left, or the address has an allocation.
    pub(crate) fn provide(&mut self, address: u64, context: Handle) -> Result<(), Error> {
        let bytes = *self.graphs.ranges.get(&address).ok_or(Error::INVALID_VALUE)?;
        let end = address + reach(bytes);
        if self.allocations.range(address..end).next().is_some() {
            return Err(Error::INVALID_VALUE);
        }
        let words = self.zeros(bytes)?;
        self.used += bytes;
        self.graphs.add(bytes);
        let new = self.new_allocation(address, bytes, Use::Device, context);
        self.allocations.insert(address, Allocation { words, ..new });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_graph_comes_and_goes_at_its_address() {
        let mut space = AddressSpace::new(1 << 20);
        let at = space.reserve(1000).expect("an address");
        let other = space.allocate(16, 1).expect("room");
        assert_ne!(at, other);
        assert!(space.find(at).is_none(), "it has no content yet");
        assert_eq!(
            [space.check(at + 999, 1), space.check(at, 1001)].map(|c| c.is_ok()),
            [true, false]
        );
        for _ in 0..2 {
            assert_eq!(space.provide(at, 1), Ok(()));
            assert_eq!(space.device_bytes(at, 1000).map(|bytes| bytes[999]), Ok(0));
            space.device_bytes(at, 1000).expect("bytes")[999] = 7;
            assert_eq!(space.provide(at, 1), Err(Error::INVALID_VALUE), "it is there");
            assert_eq!(space.graphs.used, 1000);
            assert_eq!(space.free(at, &[Use::Device]), Ok(()));
        }
        assert_eq!((space.graphs.used, space.graphs.reserved), (0, [POOL, POOL]));
        space.graphs.trim();
        assert_eq!(space.graphs.reserved, [0, POOL]);
        assert_eq!(space.free_bytes(), (1 << 20) - 16);
    }
}
