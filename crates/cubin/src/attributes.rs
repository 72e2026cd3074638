//! Attributes of kernels: `.nv.info` and `.nv.info.NAME`.
//!
//! An attribute is a byte with its format, a byte with its code, and two bytes that hold the value,
//! or the size of the value that follows.

use crate::CubinError;
use crate::image::word;

/// Codes of attributes (EIATTR_..).
pub(crate) mod code {
    pub(crate) const MAX_THREADS: u8 = 0x05;
    pub(crate) const PARAM_CBANK: u8 = 0x0a;
    pub(crate) const REQNTID: u8 = 0x10;
    pub(crate) const FRAME_SIZE: u8 = 0x11;
    pub(crate) const MIN_STACK_SIZE: u8 = 0x12;
    pub(crate) const KPARAM_INFO: u8 = 0x17;
    pub(crate) const CBANK_PARAM_SIZE: u8 = 0x19;
    pub(crate) const REGCOUNT: u8 = 0x2f;
    pub(crate) const INDIRECT_BRANCH_TARGETS: u8 = 0x34;
    pub(crate) const CTA_PER_CLUSTER: u8 = 0x3d;
    pub(crate) const KPARAM_INFO_V2: u8 = 0x45;
    pub(crate) const NUM_BARRIERS: u8 = 0x4c;
}

/// Format of attributes whose value follows (EIFMT_SVAL).
const SIZED: u8 = 4;

/// Attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attribute<'d> {
    /// Code.
    pub code: u8,
    /// Value if it has no bytes of its own.
    pub short: u16,
    /// Bytes of the value; empty for a short one.
    pub bytes: &'d [u8],
}

impl Attribute<'_> {
    /// Returns 32-bit word `i` of the value.
    pub(crate) fn word(&self, i: usize) -> Result<u32, CubinError> {
        word(self.bytes, 4 * i).ok_or_else(|| {
            CubinError::damaged(format!(
                "attribute {:#x} has {} bytes",
                self.code,
                self.bytes.len()
            ))
        })
    }
}

/// Parses the attributes of a section.
pub(crate) fn parse(section: &[u8]) -> Result<Vec<Attribute<'_>>, CubinError> {
    let mut rest = section;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let cut = || CubinError::damaged("the attributes of `.nv.info` end early");
        let (&[format, code, low, high], after) = rest.split_first_chunk().ok_or_else(cut)?;
        let short = u16::from_le_bytes([low, high]);
        let size = if format == SIZED { usize::from(short) } else { 0 };
        let (bytes, after) = after.split_at_checked(size).ok_or_else(cut)?;
        found.push(Attribute { code, short, bytes });
        rest = after;
    }
    Ok(found)
}
