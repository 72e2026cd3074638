//! Memory of the process that kernels may address.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::atomic::AtomicU32;

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

    /// Returns address and size of the memory as a kernel addresses it, from a whole word on.
    pub(crate) fn extent(&self) -> (u64, u64) {
        let skipped = self.address() % 4;
        (self.address() - skipped, skipped + self.bytes())
    }
}

/// The memory as kernels access it, while the program may use it, too.
impl AsRef<[AtomicU32]> for HostMemory {
    fn as_ref(&self) -> &[AtomicU32] {
        let (address, bytes) = self.extent();
        let place = ptr::with_exposed_provenance(address as usize);
        // SAFETY: the memory is mapped as long as this value lives; its first and last words lie on
        // its first and last pages, as both are aligned. Whoever else uses it meanwhile is the
        // program, which no compiler sees together with this code.
        unsafe { std::slice::from_raw_parts(place, bytes.div_ceil(4) as usize) }
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
    use std::sync::atomic::Ordering::Relaxed;

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
        assert_eq!(words(&memory)[24], 7 << 24);
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
        let shared: &[AtomicU32] = memory.as_ref();
        assert_eq!(shared[(1 << 27) + 1].load(Relaxed), 7 << 8);
        let taken = resident() - before;
        assert!(taken < 64 << 20, "{taken} bytes");
        assert_eq!(memory.mapped().len(), 0);
    }

    #[test]
    fn registered_memory_may_begin_within_a_word() {
        let mut own = [1_u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let base = own.as_mut_ptr().expose_provenance();
        let at = base.next_multiple_of(4) - base + 1;
        let memory = HostMemory::of_program(base + at, 5).expect("memory");
        let (address, bytes) = memory.extent();
        assert_eq!((address as usize, bytes), (base + at - 1, 6));
        let shared: &[AtomicU32] = memory.as_ref();
        shared[1].fetch_or(0xff00, Relaxed);
        assert_eq!(words(&memory), own_words(&own[at - 1..at + 7]));
        assert_eq!(own[at + 4], 0xff, "the program sees what a kernel stores");
    }

    fn words(memory: &HostMemory) -> Vec<u32> {
        let shared: &[AtomicU32] = memory.as_ref();
        shared.iter().map(|word| word.load(Relaxed)).collect()
    }

    fn own_words(bytes: &[u8]) -> Vec<u32> {
        let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        bytes.chunks(4).map(word).collect()
    }
}
