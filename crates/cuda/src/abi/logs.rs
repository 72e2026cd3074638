//! Logs of errors, which stay empty: explanations go to standard error at once.

use super::entry_points;
use super::pointer::Out;
use crate::error::Error;

/// Handle of every callback: none is ever called.
const CALLBACK: usize = 1;

/// Refuses flags, which are reserved.
fn no_flags(flags: u32) -> Result<(), Error> {
    if flags == 0 { Ok(()) } else { Err(Error::INVALID_VALUE) }
}

entry_points! {
    fn cuLogsRegisterCallback(function: usize, _data: usize, callback: Out<usize>) {
        if function == 0 {
            return Err(Error::INVALID_VALUE);
        }
        callback.set_if(CALLBACK)
    }

    fn cuLogsUnregisterCallback(callback: usize) {
        if callback == CALLBACK { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cuLogsCurrent(iterator: Out<u32>, flags: u32) {
        no_flags(flags)?;
        iterator.set(0)
    }

    fn cuLogsDumpToMemory(_iterator: usize, buffer: Out<u8>, size: Out<usize>, flags: u32) {
        no_flags(flags)?;
        buffer.set(0)?;
        size.set(0)
    }
}
