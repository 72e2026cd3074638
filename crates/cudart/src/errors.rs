//! Error codes of the runtime API with their names and texts.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

/// A line for each code: number, name, text.
const TABLE: &str = include_str!("errors.txt");

/// Name and text of a code that the table lacks.
const UNRECOGNIZED: &CStr = c"unrecognized error code";

/// An error code of the runtime API (`cudaError_t`), never 0.
///
/// The driver's codes have the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub u32);

/// Value, or the code that the calling program gets.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// `cudaErrorInvalidValue`.
    pub const INVALID_VALUE: Error = Error(1);
    /// `cudaErrorInitializationError`.
    pub const INITIALIZATION: Error = Error(3);
    /// `cudaErrorInvalidConfiguration`.
    pub const INVALID_CONFIGURATION: Error = Error(9);
    /// `cudaErrorInvalidPitchValue`.
    pub const INVALID_PITCH: Error = Error(12);
    /// `cudaErrorInvalidSymbol`.
    pub const INVALID_SYMBOL: Error = Error(13);
    /// `cudaErrorInvalidMemcpyDirection`.
    pub const INVALID_DIRECTION: Error = Error(21);
    /// `cudaErrorInsufficientDriver`.
    pub const INSUFFICIENT_DRIVER: Error = Error(35);
    /// `cudaErrorMissingConfiguration`.
    pub const MISSING_CONFIGURATION: Error = Error(52);
    /// `cudaErrorInvalidDeviceFunction`.
    pub const INVALID_DEVICE_FUNCTION: Error = Error(98);
    /// `cudaErrorInvalidDevice`.
    pub const INVALID_DEVICE: Error = Error(101);
    /// `cudaErrorPeerAccessUnsupported`.
    pub const PEER_UNSUPPORTED: Error = Error(217);
    /// `cudaErrorInvalidResourceHandle`.
    pub const INVALID_HANDLE: Error = Error(400);
    /// `cudaErrorSymbolNotFound`.
    pub const SYMBOL_NOT_FOUND: Error = Error(500);
    /// `cudaErrorNotReady`.
    pub const NOT_READY: Error = Error(600);
    /// `cudaErrorPeerAccessNotEnabled`.
    pub const PEER_NOT_ENABLED: Error = Error(705);
    /// `cudaErrorNotSupported`.
    pub const NOT_SUPPORTED: Error = Error(801);

    /// Returns true if a call that returns the code leaves the thread's last error as it is.
    ///
    /// `cudaErrorNotReady` answers a query; it is no failure.
    pub fn is_an_answer(self) -> bool {
        self == Error::NOT_READY
    }
}

/// Names and texts by code.
fn table() -> &'static BTreeMap<u32, (CString, CString)> {
    static ROWS: OnceLock<BTreeMap<u32, (CString, CString)>> = OnceLock::new();
    ROWS.get_or_init(|| TABLE.lines().filter_map(row).collect())
}

/// Returns the code, name and text of a line of the table.
fn row(line: &str) -> Option<(u32, (CString, CString))> {
    let mut words = line.splitn(3, ' ');
    let (code, name, text) = (words.next()?, words.next()?, words.next()?);
    Some((code.parse().ok()?, (CString::new(name).ok()?, CString::new(text).ok()?)))
}

/// Returns the name of a code, such as `cudaErrorInvalidValue`.
pub fn name(code: u32) -> &'static CStr {
    table().get(&code).map_or(UNRECOGNIZED, |row| &row.0)
}

/// Returns the text of a code, such as `invalid argument`.
pub fn text(code: u32) -> &'static CStr {
    table().get(&code).map_or(UNRECOGNIZED, |row| &row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        assert_eq!(table().len(), TABLE.lines().count());
        assert_eq!(name(0), c"cudaSuccess");
        assert_eq!(text(700), c"an illegal memory access was encountered");
        assert_eq!(text(12_345), UNRECOGNIZED);
    }
}
