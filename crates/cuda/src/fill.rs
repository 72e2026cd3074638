//! Memory filled with a value.

use crate::abi::bytes;
use crate::error::Error;
use crate::state::Driver;

/// A set of rows of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fill {
    pub(crate) address: u64,
    /// Bytes from one row to the next.
    pub(crate) pitch: u64,
    /// Bytes of a value: 1, 2 or 4.
    pub(crate) element: u32,
    pub(crate) value: u32,
    /// Values of a row.
    pub(crate) columns: u64,
    pub(crate) rows: u64,
}

impl Fill {
    /// Returns true if it sets nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.columns == 0 || self.rows == 0
    }

    /// Checks the rows, whatever memory they are in.
    ///
    /// # Errors
    /// If rows overlap, or values are not aligned.
    pub(crate) fn check_rows(&self) -> Result<(), Error> {
        let bytes = self.columns.checked_mul(self.element.into()).ok_or(Error::INVALID_VALUE)?;
        let aligned = |number: u64| number.is_multiple_of(self.element.into());
        let overlap = self.rows > 1 && (self.pitch < bytes || !aligned(self.pitch));
        if !self.is_empty() && (overlap || !aligned(self.address)) {
            return Err(Error::INVALID_VALUE);
        }
        Ok(())
    }
}

impl Driver {
    /// Checks the arguments of a set.
    ///
    /// # Errors
    /// If its rows do not lie in memory that the driver knows.
    pub(crate) fn check_fill(&self, fill: &Fill) -> Result<(), Error> {
        fill.check_rows()?;
        if fill.is_empty() {
            return Ok(());
        }
        let Fill { address, pitch, element, columns, rows, .. } = *fill;
        let bytes = columns * u64::from(element);
        let before = (rows - 1).checked_mul(pitch).and_then(|before| before.checked_add(bytes));
        if !self.memory.knows(address) {
            return Err(Error::INVALID_VALUE);
        }
        self.memory.check(address, before.ok_or(Error::INVALID_VALUE)?)
    }

    /// Does a set whose arguments were checked, and lets its time pass on a device.
    ///
    /// # Errors
    /// If memory is gone since the check.
    pub(crate) fn fill(&mut self, fill: &Fill, device: usize) -> Result<(), Error> {
        let Fill { address, pitch, element, value, columns, rows } = *fill;
        let bytes = columns * u64::from(element);
        self.transfer(device, |driver| {
            for y in 0..rows {
                let at = y.checked_mul(pitch).and_then(|offset| address.checked_add(offset));
                let at = at.ok_or(Error::INVALID_VALUE)?;
                if value != 0 || !driver.memory.clear(at, bytes) {
                    bytes::fill(&mut driver.memory, at, bytes, element, value)?;
                }
                driver.filled(device, at, bytes);
            }
            Ok(())
        })
    }
}
