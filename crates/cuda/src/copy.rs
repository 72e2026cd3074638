//! Copies of blocks of bytes, rows and slices: between memory and arrays, in one to three
//! dimensions.

use simt_core::exec::Image;

use crate::abi::bytes;
use crate::error::Error;
use crate::state::Driver;
use crate::table::Handle;

/// Kinds of memory of an end, numbers of `CUmemorytype`.
pub(crate) const HOST: u32 = 1;
pub(crate) const DEVICE: u32 = 2;
pub(crate) const ARRAY: u32 = 3;
pub(crate) const UNIFIED: u32 = 4;

/// End of a copy, as a program names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    /// Kind of memory, which says which of the next three counts.
    pub(crate) kind: u32,
    pub(crate) host: u64,
    pub(crate) device: u64,
    pub(crate) array: Handle,
    /// Byte, row and slice where the block begins.
    pub(crate) at: [u64; 3],
    /// Bytes from one row to the next; 0 for those of a row of the block.
    pub(crate) pitch: u64,
    /// Rows from one slice to the next; 0 for those of the block.
    pub(crate) height: u64,
}

impl End {
    /// Returns memory without rows.
    pub(crate) fn memory(kind: u32, address: u64) -> End {
        let (host, device) = if kind == HOST { (address, 0) } else { (0, address) };
        End { kind, host, device, ..End::default() }
    }

    /// Returns a place in an array.
    pub(crate) fn array(array: Handle, at: [u64; 3]) -> End {
        End { kind: ARRAY, array, at, ..End::default() }
    }
}

/// A copy of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockCopy {
    pub(crate) to: End,
    pub(crate) from: End,
    /// Bytes of a row, rows of a slice, slices.
    pub(crate) size: [u64; 3],
}

impl BlockCopy {
    /// Returns a copy of bytes between memory of two kinds.
    pub(crate) fn bytes((to, to_kind): (u64, u32), (from, kind): (u64, u32), bytes: u64) -> Self {
        let (to, from) = (End::memory(to_kind, to), End::memory(kind, from));
        BlockCopy { to, from, size: [bytes, 1, 1] }
    }

    /// Returns true if it moves nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.size.contains(&0)
    }
}

/// End of a copy whose memory is known.
#[derive(Clone, Debug)]
enum Side {
    /// Memory in rows.
    Rows {
        /// Address of the first byte.
        address: u64,
        /// Bytes from one row to the next.
        pitch: u64,
        /// Rows from one slice to the next.
        height: u64,
    },
    /// An array, from byte, row and slice on.
    Array(Box<Image>, [u64; 3]),
}

impl Side {
    /// Checks that a block of bytes, rows and slices lies inside.
    fn check(&self, [width, height, depth]: [u64; 3]) -> Result<(), Error> {
        let fits = match self {
            Side::Rows { pitch, height: rows, .. } => {
                !(height * depth > 1 && *pitch < width || depth > 1 && *rows < height)
            }
            Side::Array(image, at) => {
                let [x, y, z] = image.size.map(u64::from);
                let all = [x * image.texel_bytes(), y, z];
                let ends = at.iter().zip([width, height, depth]);
                let ends = ends.map(|(at, more)| at.checked_add(more));
                ends.zip(all).all(|(end, all)| end.is_some_and(|end| end <= all))
            }
        };
        if fits { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    /// Returns the address of a byte of the block, and the bytes of the row that follow it there.
    fn piece(&self, x: u64, y: u64, z: u64) -> Option<(u64, u64)> {
        match self {
            Side::Rows { address, pitch, height } => {
                let row = z.checked_mul(*height)?.checked_add(y)?.checked_mul(*pitch)?;
                Some((address.checked_add(row)?.checked_add(x)?, u64::MAX))
            }
            Side::Array(image, at) => {
                let x = at[0] + x;
                let address = image.address + image.offset(x, at[1] + y, at[2] + z);
                Some((address, if image.tiled { 16 - x % 16 } else { u64::MAX }))
            }
        }
    }
}

impl Driver {
    /// Checks the arguments of a copy.
    ///
    /// # Errors
    /// If an end is no memory of its kind, or the block does not lie in it.
    pub(crate) fn check_copy(&self, copy: &BlockCopy) -> Result<(), Error> {
        copy.size[1].checked_mul(copy.size[2]).ok_or(Error::INVALID_VALUE)?;
        for end in [&copy.to, &copy.from] {
            let side = self.side(end, copy.size)?;
            if copy.is_empty() {
                continue;
            }
            side.check(copy.size)?;
            if let Side::Rows { address, .. } = side {
                let [width, height, depth] = copy.size;
                let last = side.piece(width - 1, height - 1, depth - 1);
                let bytes = last.ok_or(Error::INVALID_VALUE)?.0 - address + 1;
                if end.kind == DEVICE && !self.memory.knows(address) {
                    return Err(Error::INVALID_VALUE);
                }
                self.memory.check(address, bytes)?;
            }
        }
        Ok(())
    }

    /// Does a copy whose arguments were checked, and lets its time pass on a device.
    ///
    /// # Errors
    /// If memory is gone since the check.
    pub(crate) fn copy(&mut self, copy: &BlockCopy, device: usize) -> Result<(), Error> {
        let [width, height, depth] = copy.size;
        let (to, from) = (self.side(&copy.to, copy.size)?, self.side(&copy.from, copy.size)?);
        self.transfer(device, |driver| {
            for row in 0..height * depth {
                let (y, z) = (row % height, row / height);
                let mut x = 0;
                while x < width {
                    let (Some((target, room)), Some((source, left))) =
                        (to.piece(x, y, z), from.piece(x, y, z))
                    else {
                        return Err(Error::INVALID_VALUE);
                    };
                    let count = (width - x).min(room).min(left);
                    bytes::copy(&mut driver.memory, target, source, count)?;
                    driver.copied(device, target, source, count);
                    x += count;
                }
            }
            Ok(())
        })
    }

    fn side(&self, end: &End, [width, height, _]: [u64; 3]) -> Result<Side, Error> {
        let base = match end.kind {
            HOST => end.host,
            DEVICE | UNIFIED => end.device,
            ARRAY => {
                let image = self.arrays.get(end.array)?.image.clone();
                return Ok(Side::Array(Box::new(image), end.at));
            }
            _ => return Err(Error::INVALID_VALUE),
        };
        let pitch = if end.pitch == 0 { width } else { end.pitch };
        let height = if end.height == 0 { height } else { end.height };
        let [x, y, z] = end.at;
        let rows = z.checked_mul(height).and_then(|rows| rows.checked_add(y));
        let offset = rows.and_then(|rows| rows.checked_mul(pitch)).and_then(|at| at.checked_add(x));
        let address = offset.and_then(|offset| base.checked_add(offset));
        Ok(Side::Rows { address: address.ok_or(Error::INVALID_VALUE)?, pitch, height })
    }
}
