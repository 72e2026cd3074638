//! Memory of the process that kernels may address.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::File;
use std::ops::Range;
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, FromRawFd};
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileExt;
use std::ptr;

use super::pointer::is_plausible;
use crate::error::Error;
use crate::memory::PAGE;

/// Alignment of memory that the driver allocates, in bytes.
const ALIGN: usize = 4096;
/// Bytes from which on memory that the driver allocates is mapped.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 20;

/// Memory of the process, of the driver's or the program's own.
#[derive(Debug)]
pub(crate) struct HostMemory {
    address: usize,
    bytes: usize,
    owner: Owner,
}

/// Who frees memory of the process.
#[derive(Debug)]
enum Owner {
    /// The program.
    Program,
    /// The driver, which mapped pages of zeros.
    #[cfg(target_os = "linux")]
    Zeros,
    /// The driver, by the layout that it allocated.
    Allocated(Layout),
    /// Nobody: pages of simulated memory stay until the process ends.
    Pages,
    /// The driver, which mapped a file.
    File,
}

impl HostMemory {
    /// Allocates zeros.
    pub(crate) fn allocate(bytes: usize) -> Result<HostMemory, Error> {
        if bytes == 0 {
            return Err(Error::INVALID_VALUE);
        }
        #[cfg(target_os = "linux")]
        if bytes >= LARGE {
            return HostMemory::map(bytes);
        }
        let layout = Layout::from_size_align(bytes, ALIGN).map_err(|_| Error::OUT_OF_MEMORY)?;
        // SAFETY: the size is not 0.
        let place = unsafe { alloc_zeroed(layout) };
        if place.is_null() {
            return Err(Error::OUT_OF_MEMORY);
        }
        Ok(HostMemory {
            address: place.expose_provenance(),
            bytes,
            owner: Owner::Allocated(layout),
        })
    }

    /// Maps pages of zeros. Those that nobody touches take no memory.
    #[cfg(target_os = "linux")]
    fn map(bytes: usize) -> Result<HostMemory, Error> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, which replaces no other.
        let place = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if place == libc::MAP_FAILED {
            return Err(Error::OUT_OF_MEMORY);
        }
        Ok(HostMemory { address: place.expose_provenance(), bytes, owner: Owner::Zeros })
    }

    /// Describes memory of the program. By the contract of `cuMemHostRegister` it stays mapped
    /// until it is unregistered.
    pub(crate) fn of_program(address: usize, bytes: usize) -> Result<HostMemory, Error> {
        let last = address.checked_add(bytes).and_then(|end| end.checked_sub(1));
        let last = last.filter(|_| bytes > 0).ok_or(Error::INVALID_VALUE)?;
        let plausible = is_plausible(address as u64) && is_plausible(last as u64);
        if !plausible || !is_mapped(address as u64, last as u64) {
            return Err(Error::INVALID_VALUE);
        }
        Ok(HostMemory { address, bytes, owner: Owner::Program })
    }

    /// Describes memory whose pages [`map_page`] mapped.
    pub(crate) fn of_pages(address: u64, bytes: usize) -> Result<HostMemory, Error> {
        let address = usize::try_from(address).map_err(|_| Error::OUT_OF_MEMORY)?;
        Ok(HostMemory { address, bytes, owner: Owner::Pages })
    }

    /// Maps the first `bytes` bytes of a file of [`shared_file`], which no process can shorten.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_file(file: &File, bytes: usize) -> Result<HostMemory, Error> {
        let size = file.metadata().map_or(0, |data| data.len());
        let (nowhere, file) = (ptr::null_mut(), file.as_raw_fd());
        // SAFETY: a call with numbers, of which the file is open.
        let seals = unsafe { libc::fcntl(file, libc::F_GET_SEALS) };
        let keeps = seals >= 0 && seals & libc::F_SEAL_SHRINK != 0;
        if bytes == 0 || size < bytes as u64 || !keeps {
            return Err(Error::INVALID_VALUE);
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, which replaces no other.
        let place = unsafe { libc::mmap(nowhere, bytes, protection, libc::MAP_SHARED, file, 0) };
        if place == libc::MAP_FAILED {
            return Err(Error::OUT_OF_MEMORY);
        }
        Ok(HostMemory { address: place.expose_provenance(), bytes, owner: Owner::File })
    }

    /// Fails: other systems have no driver of ours.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_file(_file: &File, _bytes: usize) -> Result<HostMemory, Error> {
        Err(Error::NOT_SUPPORTED)
    }

    /// Returns the bytes of memory that the driver mapped; none of other memory.
    pub(crate) fn mapped(&mut self) -> &mut [u8] {
        let (Owner::Pages | Owner::File) = self.owner else {
            return &mut [];
        };
        let place = ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: the pages stay mapped as long as this value lives. By CUDA's rules no other user
        // of the memory, the program or another process, uses it during a call.
        unsafe { std::slice::from_raw_parts_mut(place, self.bytes) }
    }

    pub(crate) fn address(&self) -> u64 {
        self.address as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Returns address, size and words of the memory as a kernel addresses it.
    ///
    /// Both ends are rounded outwards to whole words; bytes outside of the memory are 0.
    pub(crate) fn words(&self) -> (u64, u64, Vec<u32>) {
        let skipped = self.address % 4;
        let mut words = vec![0_u32; (skipped + self.bytes).div_ceil(4)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        let from = ptr::with_exposed_provenance::<u8>(self.address);
        for part in self.touched() {
            let to = bytes[skipped..][part.clone()].as_mut_ptr();
            // SAFETY: the memory is mapped as long as this value lives, and the part lies in it.
            unsafe { ptr::copy_nonoverlapping(from.add(part.start), to, part.len()) };
        }
        ((self.address - skipped) as u64, (skipped + self.bytes) as u64, words)
    }

    /// Copies what [`HostMemory::words`] made, without its zeros of pages that nobody has touched.
    pub(crate) fn copy_of(&self, words: &[u32]) -> Vec<u32> {
        let skipped = self.address % 4;
        let mut copy = vec![0; words.len()];
        let rest = skipped + self.bytes..4 * words.len();
        let parts = self.touched().into_iter().map(|part| skipped + part.start..skipped + part.end);
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let to: &mut [u8] = bytemuck::cast_slice_mut(&mut copy);
        for part in parts.chain([rest]) {
            if let (Some(from), Some(to)) = (bytes.get(part.clone()), to.get_mut(part)) {
                to.copy_from_slice(from);
            }
        }
        copy
    }

    /// Returns the parts that may hold anything but zeros, as offsets in bytes.
    fn touched(&self) -> Vec<Range<usize>> {
        let all = || std::iter::once(0..self.bytes).collect();
        match self.owner {
            #[cfg(target_os = "linux")]
            Owner::Zeros => touched_pages(self.address, self.bytes).unwrap_or_else(all),
            _ => all(),
        }
    }

    /// Writes the bytes in which `after` differs from `before`, which [`HostMemory::words`] made.
    ///
    /// Bytes that did not change are not written: the program may use them meanwhile.
    pub(crate) fn store(&self, before: &[u32], after: &[u32]) {
        const STEP: usize = 4096;
        fn own(words: &[u32], address: usize) -> &[u8] {
            bytemuck::cast_slice::<u32, u8>(words).get(address % 4..).unwrap_or_default()
        }
        let (before, after) = (own(before, self.address), own(after, self.address));
        let bytes = self.bytes.min(before.len()).min(after.len());
        let place = ptr::with_exposed_provenance_mut::<u8>(self.address);
        let chunks = before[..bytes].chunks(STEP).zip(after[..bytes].chunks(STEP));
        for (at, (old, new)) in (0..).step_by(STEP).zip(chunks) {
            if old == new {
                continue;
            }
            for (i, (old, new)) in old.iter().zip(new).enumerate() {
                if old != new {
                    // SAFETY: the byte lies in the memory, which is mapped as long as this value
                    // lives.
                    unsafe { place.add(at + i).write(*new) };
                }
            }
        }
    }
}

/// Returns true if the process may read and write all bytes from `first` to `last`.
///
/// The system's own list of mappings says so; without it, the caller's promise must do.
fn is_mapped(first: u64, last: u64) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return true;
    };
    let mut next = first;
    for line in maps.lines() {
        let mut words = line.split([' ', '-']);
        let mut bound = || u64::from_str_radix(words.next()?, 16).ok();
        let (Some(from), Some(to)) = (bound(), bound()) else {
            continue;
        };
        let writable = words.next().is_some_and(|rights| rights.starts_with("rw"));
        if (from..to).contains(&next) {
            if !writable {
                return false;
            }
            if last < to {
                return true;
            }
            next = to;
        }
    }
    false
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        match self.owner {
            Owner::Allocated(layout) => {
                // SAFETY: allocated with this layout, and freed once.
                unsafe { dealloc(ptr::with_exposed_provenance_mut(self.address), layout) };
            }
            #[cfg(target_os = "linux")]
            Owner::Zeros => {
                let place = ptr::with_exposed_provenance_mut(self.address);
                // A program that still uses the address reads zeros.
                // SAFETY: mapped with this size; the pages stay mapped, without content.
                unsafe { libc::madvise(place, self.bytes, libc::MADV_DONTNEED) };
            }
            #[cfg(target_os = "linux")]
            Owner::File => {
                // SAFETY: mapped with this size, and unmapped once.
                unsafe { libc::munmap(ptr::with_exposed_provenance_mut(self.address), self.bytes) };
            }
            _ => {}
        }
    }
}

/// Returns the pages of a mapping that have been touched, as offsets in bytes; `None` if the system
/// does not say.
#[cfg(target_os = "linux")]
fn touched_pages(address: usize, bytes: usize) -> Option<Vec<Range<usize>>> {
    /// Flags of an entry: the page is in memory, or was swapped out.
    const THERE: u64 = 3 << 62;
    // SAFETY: a call with a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    let mut entries = vec![0_u64; bytes.div_ceil(page)];
    let from = (address / page * size_of::<u64>()) as u64;
    let map = File::open("/proc/self/pagemap").ok()?;
    map.read_exact_at(bytemuck::cast_slice_mut(&mut entries), from).ok()?;
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (number, _) in entries.iter().enumerate().filter(|(_, entry)| *entry & THERE != 0) {
        let part = number * page..bytes.min((number + 1) * page);
        match parts.last_mut().filter(|last| last.end == part.start) {
            Some(last) => last.end = part.end,
            None => parts.push(part),
        }
    }
    Some(parts)
}

/// Creates a file without a name, of `bytes` zeros; it lives as long as somebody has it open.
#[cfg(target_os = "linux")]
pub(crate) fn shared_file(bytes: u64) -> Result<File, Error> {
    // SAFETY: the name ends in a zero byte.
    let file = unsafe {
        libc::memfd_create(c"simt-sim".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING)
    };
    if file < 0 {
        return Err(Error::OUT_OF_MEMORY);
    }
    // SAFETY: the descriptor is new, and nobody else closes it.
    let file = unsafe { File::from_raw_fd(file) };
    file.set_len(bytes).map_err(|_| Error::OUT_OF_MEMORY)?;
    // SAFETY: a call with numbers, of which the file is open.
    let sealed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) };
    if sealed == 0 { Ok(file) } else { Err(Error::NOT_SUPPORTED) }
}

/// Fails: other systems have no driver of ours.
#[cfg(not(target_os = "linux"))]
pub(crate) fn shared_file(_bytes: u64) -> Result<File, Error> {
    Err(Error::NOT_SUPPORTED)
}

/// Maps a page of zeros at an address of simulated memory, so that the program and a kernel use the
/// same address.
///
/// # Errors
/// If the address does not begin a page, or the process has something there.
#[cfg(target_os = "linux")]
pub(crate) fn map_page(address: u64) -> Result<(), Error> {
    let address = usize::try_from(address).map_err(|_| Error::OUT_OF_MEMORY)?;
    if !address.is_multiple_of(PAGE) {
        return Err(Error::INVALID_VALUE);
    }
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let wanted = ptr::without_provenance_mut(address);
    // SAFETY: an anonymous mapping that replaces no other.
    let place = unsafe { libc::mmap(wanted, PAGE, protection, flags, -1, 0) };
    // An old kernel takes the address as a hint; another place is of no use.
    if place == libc::MAP_FAILED || place.expose_provenance() != address {
        return Err(Error::OUT_OF_MEMORY);
    }
    Ok(())
}

/// Fails: other systems have no driver of ours.
#[cfg(not(target_os = "linux"))]
pub(crate) fn map_page(_address: u64) -> Result<(), Error> {
    Err(Error::NOT_SUPPORTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mapped_memory_is_registered() {
        let mut own = [0_u8; 100];
        let address = own.as_mut_ptr().expose_provenance();
        assert!(HostMemory::of_program(address, 100).is_ok());
        assert!(HostMemory::of_program(address, 1 << 40).is_err(), "past the end of the stack");
        assert!(HostMemory::of_program(0x1234_5000, 16).is_err());
        let constant = std::ptr::from_ref("read-only").cast::<u8>().expose_provenance();
        assert!(HostMemory::of_program(constant, 4).is_err(), "read-only");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn pages_are_mapped_where_a_kernel_has_them() {
        let address = 0x0500_0000_0000;
        assert_eq!(map_page(address), Ok(()));
        assert_eq!(map_page(address), Err(Error::OUT_OF_MEMORY), "it is there");
        assert_eq!(map_page(address + 1), Err(Error::INVALID_VALUE));
        let mut memory = HostMemory::of_pages(address + 4, 100).expect("an address");
        assert_eq!((memory.address(), memory.bytes()), (address + 4, 100));
        memory.mapped()[99] = 7;
        assert_eq!(memory.words().2[24], 7 << 24);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn pages_that_nobody_touches_take_no_memory() {
        let resident = || {
            let text = std::fs::read_to_string("/proc/self/statm").expect("numbers");
            let pages = text.split(' ').nth(1).expect("a number");
            pages.parse::<usize>().expect("a number") * 4096
        };
        let before = resident();
        let mut memory = HostMemory::allocate(1 << 30).expect("room");
        let place = ptr::with_exposed_provenance_mut::<u8>(memory.address);
        // SAFETY: within the memory.
        unsafe { place.add((1 << 29) + 5).write(7) };
        let (_, _, words) = memory.words();
        assert_eq!(words[(1 << 27) + 1], 7 << 8);
        let copy = memory.copy_of(&words);
        let taken = resident() - before;
        assert!(taken < 64 << 20, "{taken} bytes");
        assert_eq!(copy[(1 << 27) + 1], 7 << 8);
        assert_eq!(memory.mapped().len(), 0);
    }

    #[test]
    fn registered_memory_may_begin_within_a_word() {
        let mut own = [1_u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let base = own.as_mut_ptr().expose_provenance();
        let at = base.next_multiple_of(4) - base + 1;
        let memory = HostMemory::of_program(base + at, 5).expect("memory");
        let (address, bytes, mut words) = memory.words();
        assert_eq!((address as usize, bytes), (base + at - 1, 6));
        assert_eq!(words[0] & 0xff, 0, "the byte before is not shown");
        let old = words.clone();
        words[0] = words[0].swap_bytes() | 0xff;
        words[1] |= 0xff00_0000;
        own[at + 4] = 99; // by the program, meanwhile
        memory.store(&old, &words);
        assert_eq!(own[at + 4], 99, "a byte that the launch did not change");
        own[at + 4] = at as u8 + 5;
        let before = [1_u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        assert_eq!(own[..at], before[..at], "bytes before are not written");
        assert_eq!(own[at + 5..], before[at + 5..], "bytes after are not written");
        assert_ne!(own[at..at + 5], before[at..at + 5]);
    }
}
