//! The address space of the virtual GPUs: allocations, bounds, contents.
//!
//! Device memory lies at addresses of the simulator's layout ([`BUFFER_BASE`]) where a process has
//! none. Pinned and managed memory is memory of the process; a kernel addresses it by the address
//! that the process uses. A freed address is not used again before the space is exhausted, so a
//! stale pointer faults, unless a GPU's page has a small allocation before it.

mod freed;
pub(crate) mod graphs;
mod shared;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;

use simt_core::exec::{Lent, SegmentImage};
use simt_core::isa::Type;
use simt_core::kernel::layout::{BUFFER_ALIGN, BUFFER_BASE};
use simt_core::launch::{Buffer, Spare, UnsetWords};

use crate::abi::bytes::are_plausible;
use crate::abi::host::{HostMemory, map_page};
use crate::abi::pointer::WINDOWS;
use crate::error::Error;
use crate::table::Handle;
use freed::Freed;
use graphs::GraphMemory;

/// End of the addresses of device memory.
pub(crate) const DEVICE_END: u64 = 0x1000_0000_0000;
/// Unmapped bytes after an allocation, at least.
const GAP: u64 = BUFFER_ALIGN;

/// Bytes of a page of the process.
pub(crate) const PAGE: usize = 4096;

/// Use of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Device memory.
    Device,
    /// Memory that the driver allocated for the host.
    Pinned,
    /// Memory of the program, made accessible.
    Registered,
    /// Memory that both sides use.
    Managed,
    /// Variables of a module.
    Variable,
    /// Device memory of another process.
    Imported,
}

/// An allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    /// Size in bytes.
    pub(crate) bytes: u64,
    pub(crate) purpose: Use,
    /// Context that made it.
    pub(crate) context: Handle,
    /// Number of the allocation in the process, from 1.
    pub(crate) id: u64,
    /// Flags of the call that made it.
    pub(crate) flags: u32,
    /// Name for messages.
    name: String,
    /// True if kernels may write to it.
    writable: bool,
    /// Content of device memory, rounded up to whole words.
    words: Vec<u32>,
    /// Memory of the process, for all other uses.
    host: Option<Arc<HostMemory>>,
    /// Unwritten words of device memory, where checks are on.
    unset: Option<UnsetWords>,
    /// True while a launch has the content.
    is_lent: bool,
    /// File that holds the content, if other processes have it or may have it.
    file: Option<File>,
    /// Times that memory of another process was opened.
    opened: u32,
}

impl Allocation {
    fn end(&self) -> u64 {
        self.address + self.bytes
    }

    fn is_device(&self) -> bool {
        matches!(self.purpose, Use::Device | Use::Imported)
    }

    /// Returns the end of what kernels can reach.
    fn reach_end(&self) -> u64 {
        self.address + if self.is_device() { reach(self.bytes) } else { self.bytes }
    }

    /// Returns true for managed memory, and for variables that the program reads by their address.
    pub(crate) fn is_managed(&self) -> bool {
        self.purpose == Use::Managed || self.purpose == Use::Variable && self.host.is_some()
    }

    /// Returns the bytes at an address of the simulator's layout; empty for others.
    fn content(&mut self) -> &mut [u8] {
        if let Some(host) = &mut self.host {
            // No launch has it: calls that come here wait for launches.
            return Arc::get_mut(host).map_or(&mut [], HostMemory::mapped);
        }
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let end = bytes.len().min(self.bytes as usize);
        &mut bytes[..end]
    }
}

/// Unit in which a GPU allocates: kernels can reach the rest of an allocation's last unit.
const GRANULE: u64 = 512;
/// Bytes of a page of a GPU. A large allocation has pages of its own (on an H200 3 MiB have, 1 MiB
/// has not, and between them it depends on what the last page has left), and kernels can reach the
/// rest of the last one (on an H100, 3,000,000 bytes reach to 4 MiB).
const DEVICE_PAGE: u64 = 2 << 20;

/// Returns true for allocations that begin a page.
fn has_pages(bytes: u64) -> bool {
    bytes > DEVICE_PAGE / 2
}

/// Returns the bytes that kernels can reach in an allocation, as on a GPU.
fn reach(bytes: u64) -> u64 {
    let unit = if has_pages(bytes) { DEVICE_PAGE } else { GRANULE };
    bytes.checked_next_multiple_of(unit).unwrap_or(bytes)
}

/// Allocations by address.
#[derive(Debug)]
pub(crate) struct AddressSpace {
    allocations: BTreeMap<u64, Allocation>,
    /// Content of the memory that [`AddressSpace::lend_spare`] lent last, by address.
    spare: BTreeMap<u64, Vec<u32>>,
    /// Address from which the next place is searched.
    next: u64,
    /// Pages of simulated memory that the process has.
    pages: BTreeSet<u64>,
    /// True if writes of device memory are recorded.
    tracks: bool,
    /// Bytes of device memory in use.
    used: u64,
    freed: Freed,
    /// Bytes of device memory.
    pub(crate) limit: u64,
    made: u64,
    pub(crate) graphs: GraphMemory,
}

impl AddressSpace {
    pub(crate) fn new(limit: u64) -> AddressSpace {
        AddressSpace {
            allocations: BTreeMap::new(),
            spare: BTreeMap::new(),
            next: BUFFER_BASE,
            pages: BTreeSet::new(),
            tracks: false,
            used: 0,
            freed: Freed::default(),
            limit,
            made: 0,
            graphs: GraphMemory::default(),
        }
    }

    /// Returns the bytes of device memory that are not in use.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.limit - self.used
    }

    /// Allocates device memory; its content is zero.
    pub(crate) fn allocate(&mut self, bytes: u64, context: Handle) -> Result<u64, Error> {
        if bytes == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let words = self.zeros(bytes)?;
        let address = self.place(bytes).ok_or(Error::OUT_OF_MEMORY)?;
        self.next = address + reach(bytes).next_multiple_of(BUFFER_ALIGN) + GAP;
        self.used += bytes;
        let new = self.new_allocation(address, bytes, Use::Device, context);
        let unset = self.tracks.then(|| UnsetWords::new(bytes.div_ceil(4)));
        self.allocations.insert(address, Allocation { words, unset, ..new });
        Ok(address)
    }

    /// Returns the content of new device memory.
    fn zeros(&self, bytes: u64) -> Result<Vec<u32>, Error> {
        if bytes > self.free_bytes() {
            return Err(Error::OUT_OF_MEMORY);
        }
        let count = usize::try_from(reach(bytes) / 4).map_err(|_| Error::OUT_OF_MEMORY)?;
        // The system provides zeros on first touch, if it can provide them at all.
        Vec::<u32>::new().try_reserve_exact(count).map_err(|_| Error::OUT_OF_MEMORY)?;
        Ok(vec![0; count])
    }

    /// Adds memory of the process.
    pub(crate) fn adopt(
        &mut self,
        memory: HostMemory,
        purpose: Use,
        context: Handle,
        flags: u32,
    ) -> Result<u64, Error> {
        let (address, bytes) = (memory.address(), memory.bytes());
        let end = address.checked_add(bytes).ok_or(Error::INVALID_VALUE)?;
        if address < DEVICE_END && end > WINDOWS {
            return Err(Error::OUT_OF_MEMORY); // a kernel could not tell it from another window
        }
        // Kernels access whole words, so no two allocations may share one.
        let (first, end) = (address & !3, end.next_multiple_of(4));
        let before = self.allocations.range(..end).next_back();
        if before.is_some_and(|(_, last)| last.end().next_multiple_of(4) > first) {
            return Err(Error::HOST_MEMORY_ALREADY_REGISTERED);
        }
        let new = self.new_allocation(address, bytes, purpose, context);
        self.allocations.insert(address, Allocation { flags, host: Some(Arc::new(memory)), ..new });
        Ok(address)
    }

    /// Adds variables of a module at their address, a multiple of 4.
    pub(crate) fn hold(&mut self, segment: SegmentImage, name: String) {
        let (address, bytes, words, writable) = segment;
        let new = self.new_allocation(address, bytes, Use::Variable, 0);
        self.allocations.insert(address, Allocation { words, writable, name, ..new });
    }

    /// Maps the variables that hold an address into the process, at their address.
    ///
    /// Managed variables are read and written by the program itself.
    ///
    /// # Errors
    /// If no variable holds the address, or the process has something there.
    pub(crate) fn manage(&mut self, address: u64) -> Result<(), Error> {
        let (_, found) =
            self.allocations.range_mut(..=address).next_back().ok_or(Error::INVALID_VALUE)?;
        if address >= found.end() || found.purpose != Use::Variable {
            return Err(Error::INVALID_VALUE);
        }
        if found.host.is_none() {
            let bytes = usize::try_from(found.bytes).map_err(|_| Error::OUT_OF_MEMORY)?;
            // Other variables may lie on the same pages.
            let first = found.address & !(PAGE as u64 - 1);
            for page in (first..found.end()).step_by(PAGE) {
                if !self.pages.contains(&page) {
                    map_page(page)?;
                    self.pages.insert(page);
                }
            }
            let mut host = HostMemory::of_pages(found.address, bytes)?;
            let words = std::mem::take(&mut found.words);
            let content: &[u8] = bytemuck::cast_slice(&words);
            let shared = bytes.min(content.len());
            host.mapped()[..shared].copy_from_slice(&content[..shared]);
            found.host = Some(Arc::new(host));
        }
        Ok(())
    }

    /// Removes the variables at an address.
    pub(crate) fn release(&mut self, address: u64) {
        let _ = self.free(address, &[Use::Variable]);
    }

    fn new_allocation(
        &mut self,
        address: u64,
        bytes: u64,
        purpose: Use,
        context: Handle,
    ) -> Allocation {
        self.made += 1;
        Allocation {
            address,
            bytes,
            purpose,
            context,
            id: self.made,
            flags: 0,
            name: format!("allocation {}", self.made),
            writable: true,
            words: Vec::new(),
            host: None,
            unset: None,
            is_lent: false,
            file: None,
            opened: 0,
        }
    }

    /// Returns a free address for `bytes` bytes.
    fn place(&self, bytes: u64) -> Option<u64> {
        let align = if has_pages(bytes) { DEVICE_PAGE } else { BUFFER_ALIGN };
        let fits = |from: u64| {
            let from = from.checked_next_multiple_of(align)?;
            let end = from.checked_add(reach(bytes))?.checked_add(GAP)?;
            let last = self.allocations.range(..end).next_back();
            let last = last.map(|(_, last)| last.reach_end() + GAP);
            (end <= DEVICE_END && last.is_none_or(|last| last <= from)).then_some(from)
        };
        fits(self.next).or_else(|| {
            let last = self.allocations.range(BUFFER_BASE..DEVICE_END);
            let ends = last.map(|(_, a)| a.reach_end() + GAP);
            std::iter::once(BUFFER_BASE).chain(ends).find_map(fits)
        })
    }

    /// Frees the allocation that begins at `address`, if it has one of the uses.
    pub(crate) fn free(&mut self, address: u64, uses: &[Use]) -> Result<(), Error> {
        let found = self.allocations.get(&address).ok_or(Error::INVALID_VALUE)?;
        if !uses.contains(&found.purpose) {
            return Err(Error::INVALID_VALUE);
        }
        self.drop_at(address);
        Ok(())
    }

    /// Frees device or managed memory.
    pub(crate) fn free_device(&mut self, address: u64) -> Result<(), Error> {
        self.free(address, &[Use::Device, Use::Managed])
    }

    fn drop_at(&mut self, address: u64) {
        if let Some(old) = self.allocations.remove(&address)
            && old.purpose == Use::Device
        {
            self.used -= old.bytes;
            self.graphs.remove(address);
            self.freed.add(address, old.bytes);
        }
    }

    /// Takes allocations of pools from a context: a pool belongs to its device.
    pub(crate) fn disown(&mut self, context: Handle, is_pooled: impl Fn(u64) -> bool) {
        let of_pools = self.allocations.iter_mut().filter(|(address, _)| is_pooled(**address));
        of_pools.filter(|(_, a)| a.context == context).for_each(|(_, a)| a.context = 0);
    }

    /// Frees all memory of a context.
    pub(crate) fn free_of(&mut self, context: Handle) {
        let of = |(&address, a): (&u64, &Allocation)| (a.context == context).then_some(address);
        let addresses: Vec<u64> = self.allocations.iter().filter_map(of).collect();
        addresses.into_iter().for_each(|address| self.drop_at(address));
    }

    /// Returns the allocation that holds an address.
    pub(crate) fn find(&self, address: u64) -> Option<&Allocation> {
        let (_, last) = self.allocations.range(..=address).next_back()?;
        (address < last.end()).then_some(last)
    }

    /// Returns true if an address can only be one of simulated memory.
    pub(crate) fn is_device(address: u64) -> bool {
        (WINDOWS..DEVICE_END).contains(&address)
    }

    /// Returns true if an address is of simulated memory or of an allocation.
    pub(crate) fn knows(&self, address: u64) -> bool {
        AddressSpace::is_device(address) || self.find(address).is_some()
    }

    /// Checks that a range lies in one allocation, in memory of graphs, or in memory of the process
    /// that the driver does not know.
    pub(crate) fn check(&self, address: u64, bytes: u64) -> Result<(), Error> {
        let found = self.find(address).map(|found| (found.address, found.bytes));
        let fits = match found.or_else(|| self.graphs.find(address)) {
            Some((base, size)) => bytes <= size - (address - base),
            None => !AddressSpace::is_device(address) && are_plausible(address, bytes),
        };
        if fits { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    /// Returns `bytes` bytes of device memory from `address`.
    ///
    /// # Errors
    /// If they are not all in one allocation.
    pub(crate) fn device_bytes(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], Error> {
        let (_, last) =
            self.allocations.range_mut(..=address).next_back().ok_or(Error::INVALID_VALUE)?;
        let offset = address - last.address;
        let end = offset.checked_add(bytes).filter(|end| *end <= last.bytes);
        let end = end.ok_or(Error::INVALID_VALUE)?;
        last.content().get_mut(offset as usize..end as usize).ok_or(Error::INVALID_VALUE)
    }

    /// Fills a large allocation with zeros, which the system provides on first touch. Returns false
    /// if the range is no such allocation.
    pub(crate) fn clear(&mut self, address: u64, bytes: u64) -> bool {
        match self.allocations.get_mut(&address) {
            Some(a) if a.bytes == bytes && bytes >= DEVICE_PAGE && a.host.is_none() => {
                a.words = vec![0; a.words.len()];
                a.unset = None;
                true
            }
            _ => false,
        }
    }

    /// Lends all allocations to a launch, ascending by address: takes the content of device memory;
    /// memory of the process stays where it is.
    ///
    /// Unless `exact`, device memory ends where its granule or page does, as on a GPU.
    pub(crate) fn lend(&mut self, exact: bool) -> Vec<Buffer> {
        let lent = self.allocations.values_mut().map(|a| {
            let whole = if a.is_device() && !exact { reach(a.bytes) } else { a.bytes };
            let (address, bytes, reach) = match &a.host {
                Some(host) if !a.is_device() => {
                    let (address, bytes) = host.extent();
                    (address, bytes, bytes)
                }
                _ => (a.address, a.bytes, whole),
            };
            let mut words = std::mem::take(&mut a.words);
            if a.host.is_none() {
                words.resize(reach.div_ceil(4) as usize, 0);
            }
            a.is_lent = true;
            let lent = a.host.clone().map(|host| Lent::new(host));
            let unset = a.unset.clone();
            let (name, writable, element) = (a.name.clone(), a.writable, Type::B32);
            let mapped = true;
            Buffer { name, address, bytes, reach, element, words, lent, unset, mapped, writable }
        });
        lent.collect()
    }

    /// Takes the unallocated rest of the page after each small or managed allocation, and after
    /// variables, for a launch.
    ///
    /// A GPU maps whole pages, so kernels can access it. The program cannot. Its content lasts
    /// until an allocation on the page is made or freed. Beyond constants kernels read zeros.
    pub(crate) fn lend_spare(&mut self) -> Spare {
        let nexts = self.allocations.keys().skip(1).map(|next| next & !3).chain([u64::MAX]);
        let mut content = std::mem::take(&mut self.spare);
        let pieces = self.allocations.values().zip(nexts).filter_map(|(a, next)| {
            let page = match a.purpose {
                Use::Device if !has_pages(a.bytes) => DEVICE_PAGE,
                Use::Variable if a.host.is_none() => DEVICE_PAGE,
                Use::Managed => PAGE as u64,
                _ => return None,
            };
            let from = a.reach_end().next_multiple_of(4);
            let bytes = from.next_multiple_of(page).min(next).checked_sub(from)?;
            let words = content.remove(&from).filter(|words| words.len() as u64 == bytes / 4);
            (bytes > 0).then(|| (from, bytes, words.unwrap_or_default(), a.writable))
        });
        Spare { pieces: pieces.collect(), accessed: None }
    }

    /// Takes that memory back after a launch.
    pub(crate) fn take_spare_back(&mut self, spare: Spare) {
        let pieces = spare.pieces.into_iter().map(|(address, _, words, _)| (address, words));
        self.spare = pieces.collect();
    }

    /// Describes an address of no allocation by its distance from the allocation before it.
    pub(crate) fn describe(&self, address: u64) -> Option<String> {
        let (_, a) = self.allocations.range(..address).next_back()?;
        let (past, bytes) = (address.checked_sub(a.end())?, a.bytes);
        Some(format!("{past} bytes past the end of `{}` ({bytes} bytes)", a.name))
    }

    /// Takes the contents of device memory back after a launch, in the order of
    /// [`AddressSpace::lend`]. `buffers` may be empty after a failed run.
    pub(crate) fn take_back(&mut self, buffers: Vec<Buffer>) {
        let mut buffers = buffers.into_iter();
        for a in self.allocations.values_mut().filter(|a| a.is_lent) {
            let words = buffers.next().map(|buffer| buffer.words).unwrap_or_default();
            a.is_lent = false;
            if a.host.is_none() {
                a.words = words;
                let least = a.bytes.div_ceil(4) as usize;
                a.words.resize(a.words.len().max(least), 0);
            }
        }
    }
}
