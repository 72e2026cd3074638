//! Device memory that was freed, that was not, and that was written.

use std::collections::BTreeMap;

use super::{AddressSpace, Use};

/// Freed allocations that are remembered.
const MOST: usize = 1 << 12;

/// Bytes of freed device memory, by address.
#[derive(Debug, Default)]
pub(super) struct Freed(BTreeMap<u64, u64>);

impl Freed {
    /// Adds an allocation, and forgets one if there are too many: the lowest, which is mostly the
    /// oldest, since addresses ascend.
    pub(super) fn add(&mut self, address: u64, bytes: u64) {
        self.0.insert(address, bytes);
        if self.0.len() > MOST {
            self.0.pop_first();
        }
    }

    /// Returns address and bytes of the last one that begins at an address or before it.
    fn before(&self, address: u64) -> Option<(u64, u64)> {
        self.0.range(..=address).next_back().map(|(&start, &bytes)| (start, bytes))
    }
}

impl AddressSpace {
    /// Returns the same space, which records writes of device memory if true.
    pub(crate) fn tracking(self, tracks: bool) -> AddressSpace {
        AddressSpace { tracks, ..self }
    }

    /// Records that the program writes device memory.
    pub(crate) fn written(&mut self, address: u64, bytes: u64) {
        let Some((_, found)) = self.allocations.range(..=address).next_back() else { return };
        if let Some(unset) = &found.unset {
            let offset = address - found.address;
            unset.write(offset / 4..(offset + bytes).div_ceil(4));
        }
    }

    /// Describes freed memory that an address was in, if no allocation holds it now.
    pub(crate) fn was_freed(&self, address: u64) -> Option<String> {
        let (start, bytes) = self.freed.before(address)?;
        let is_freed = address - start < bytes && self.find(address).is_none();
        is_freed
            .then(|| format!("byte {} of {bytes} of device memory that was freed", address - start))
    }

    /// Describes device memory that was not freed.
    pub(crate) fn unfreed(&self) -> Option<String> {
        let own = self.allocations.values().filter(|a| a.purpose == Use::Device);
        let (count, bytes) = own.fold((0, 0), |(count, bytes), a| (count + 1, bytes + a.bytes));
        let s = if count == 1 { "" } else { "s" };
        (count > 0).then(|| {
            format!("simt-sim: not freed: {count} allocation{s} of device memory, {bytes} bytes\n")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_is_known_and_what_is_left() {
        let mut space = AddressSpace::new(1 << 20);
        let [a, b] = [100, 8].map(|bytes| space.allocate(bytes, 1).expect("room"));
        let two = "simt-sim: not freed: 2 allocations of device memory, 108 bytes\n";
        assert_eq!(space.unfreed().as_deref(), Some(two));
        assert_eq!(space.free(a, &[Use::Device]), Ok(()));
        let place = "byte 99 of 100 of device memory that was freed";
        assert_eq!(space.was_freed(a + 99).as_deref(), Some(place));
        assert_eq!([a + 100, b].map(|at| space.was_freed(at)), [None, None]);
        assert_eq!(space.free(b, &[Use::Device]), Ok(()));
        assert_eq!(space.unfreed(), None);
    }
}
