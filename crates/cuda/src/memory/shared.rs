//! Device memory that several processes have, in files.

use std::fs::File;
use std::sync::Arc;

use simt_core::kernel::layout::BUFFER_ALIGN;

use super::{AddressSpace, Allocation, GAP, Use, reach};
use crate::abi::host::{HostMemory, shared_file};
use crate::error::Error;
use crate::table::Handle;

impl AddressSpace {
    /// Keeps the content of device memory in a file from now on, and returns the allocation's
    /// bytes and file. Other processes may map it.
    ///
    /// # Errors
    /// If no device memory is at the address, or the system has no such files.
    pub(crate) fn share(&mut self, address: u64) -> Result<(u64, &File), Error> {
        let (_, found) =
            self.allocations.range_mut(..=address).next_back().ok_or(Error::INVALID_VALUE)?;
        if address >= found.end() || found.purpose != Use::Device {
            return Err(Error::INVALID_VALUE);
        }
        if found.file.is_none() {
            let bytes = usize::try_from(reach(found.bytes)).map_err(|_| Error::OUT_OF_MEMORY)?;
            let file = shared_file(bytes as u64)?;
            let mut host = HostMemory::of_file(&file, bytes)?;
            let words = std::mem::take(&mut found.words);
            let content: &[u8] = bytemuck::cast_slice(&words);
            host.mapped().iter_mut().zip(content).for_each(|(to, from)| *to = *from);
            found.host = Some(Arc::new(host));
            found.unset = None; // other processes may write it
            found.file = Some(file);
        }
        Ok((found.bytes, found.file.as_ref().ok_or(Error::INVALID_VALUE)?))
    }

    /// Adds device memory of another process, in a file that `is` recognizes.
    pub(crate) fn import(
        &mut self,
        file: File,
        bytes: u64,
        context: Handle,
        is: impl Fn(&File) -> bool,
    ) -> Result<u64, Error> {
        let mut known = self.allocations.values_mut().filter(|a| a.purpose == Use::Imported);
        if let Some(known) =
            known.find(|a| a.context == context && a.file.as_ref().is_some_and(&is))
        {
            known.opened += 1;
            return Ok(known.address);
        }
        let size = usize::try_from(reach(bytes)).map_err(|_| Error::INVALID_VALUE)?;
        let host = Some(Arc::new(HostMemory::of_file(&file, size)?));
        let address = self.place(bytes).ok_or(Error::OUT_OF_MEMORY)?;
        self.next = address + reach(bytes).next_multiple_of(BUFFER_ALIGN) + GAP;
        let new = self.new_allocation(address, bytes, Use::Imported, context);
        let new = Allocation { host, file: Some(file), opened: 1, ..new };
        self.allocations.insert(address, new);
        Ok(address)
    }

    /// Closes memory of another process; the last time, its address becomes invalid.
    pub(crate) fn close(&mut self, address: u64) -> Result<(), Error> {
        let found = self.allocations.get_mut(&address).ok_or(Error::INVALID_VALUE)?;
        found.opened = found.opened.saturating_sub(1);
        if found.opened > 0 { Ok(()) } else { self.free(address, &[Use::Imported]) }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn two_spaces_share_content() {
        let [mut here, mut there] = [0; 2].map(|_| AddressSpace::new(1 << 20));
        let own = here.allocate(10, 1).expect("room");
        here.device_bytes(own, 10).expect("bytes").fill(3);
        assert_eq!(here.share(own + 10).err(), Some(Error::INVALID_VALUE), "past the end");
        let (bytes, file) = here.share(own + 4).expect("a file");
        let file = [0; 2].map(|_| file.try_clone().expect("a descriptor"));
        assert_eq!(here.device_bytes(own, 10), Ok(&mut [3; 10][..]), "content stays");
        let [first, second] = file;
        let theirs = there.import(first, bytes, 1, |_| false).expect("room");
        assert_eq!(there.free_bytes(), 1 << 20, "it is memory of the other");
        assert_eq!(there.import(second, bytes, 1, |_| true), Ok(theirs), "the same again");
        let lent = there.lend(false);
        let words = lent[0].lent.as_ref().expect("memory of the file");
        assert_eq!((lent[0].address, lent[0].reach, words.copy()[2]), (theirs, 512, 0x0303));
        words.overwrite(&[0x0403_0201]);
        there.take_back(lent);
        assert_eq!(here.device_bytes(own, 5), Ok(&mut [1, 2, 3, 4, 3][..]));
        here.device_bytes(own, 1).expect("a byte")[0] = 9;
        assert_eq!(there.device_bytes(theirs, 2), Ok(&mut [9, 2][..]));
        assert_eq!(there.free(theirs, &[Use::Device]), Err(Error::INVALID_VALUE));
        assert_eq!(here.free(own, &[Use::Device]), Ok(()));
        assert_eq!(there.close(theirs), Ok(()), "once of twice");
        assert_eq!(there.device_bytes(theirs, 1), Ok(&mut [9][..]), "it outlives the first");
        assert_eq!([theirs, theirs].map(|at| there.close(at).is_ok()), [true, false]);
    }
}
