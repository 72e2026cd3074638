//! Operands of machine instructions: sources with their modifiers, results, predicates.
//!
//! The loops over lanes have a constant length and no bounds checks, so that they vectorise.

use crate::base::{LaneMask, MAX_LANES};
use crate::exec::RegisterFile;
use crate::exec::lanes::{fill, set_predicate};
use crate::kernel::{Native, Source};

/// Values of one source in all lanes.
pub(super) type Values = [u32; MAX_LANES];
/// Values of one 64-bit source in all lanes.
pub(super) type Pairs = [u64; MAX_LANES];

/// Reads a 32-bit integer source with its modifiers.
#[inline(always)]
pub(super) fn integer(registers: &RegisterFile, source: Source) -> Values {
    let mut values = registers.narrow[usize::from(source.row.0)];
    if source.invert {
        values.iter_mut().for_each(|value| *value = !*value);
    }
    if source.negate {
        values.iter_mut().for_each(|value| *value = value.wrapping_neg());
    }
    values
}

/// Reads a 64-bit integer source with its modifiers.
#[inline(always)]
pub(super) fn pair(registers: &RegisterFile, source: Source) -> Pairs {
    let row = usize::from(source.row.0);
    let mut values = join(&registers.narrow[row], &registers.narrow[row + 1]);
    if source.invert {
        values.iter_mut().for_each(|value| *value = !*value);
    }
    if source.negate {
        values.iter_mut().for_each(|value| *value = value.wrapping_neg());
    }
    values
}

/// Returns the 64-bit values of low and high words.
#[inline(always)]
pub(super) fn join(low: &Values, high: &Values) -> Pairs {
    std::array::from_fn(|lane| u64::from(high[lane]) << 32 | u64::from(low[lane]))
}

/// Writes the 32-bit result of `lanes`, unless it is RZ.
#[inline(always)]
pub(super) fn write(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    value: impl Fn(usize) -> u32,
) {
    if let Some(d) = op.d {
        fill(&mut registers.narrow[usize::from(d.0)], lanes, value);
    }
}

/// Writes the 64-bit result of `lanes`, unless it is RZ.
#[inline(always)]
pub(super) fn write_pair(
    op: &Native,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    values: &Pairs,
) {
    if let Some(d) = op.d {
        let d = usize::from(d.0);
        fill(&mut registers.narrow[d], lanes, |lane| values[lane] as u32);
        fill(&mut registers.narrow[d + 1], lanes, |lane| (values[lane] >> 32) as u32);
    }
}

/// Writes predicate result `i` of `lanes`, unless it is PT.
#[inline(always)]
pub(super) fn write_predicate(
    op: &Native,
    i: usize,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    bits: u32,
) {
    if let Some(p) = op.p[i] {
        set_predicate(registers, p, lanes, bits);
    }
}

/// Returns the lanes for which `test` holds, computed without a branch or a shift per lane.
#[inline(always)]
pub(super) fn lanes_where(test: impl Fn(usize) -> bool) -> u32 {
    let mut bytes = [0_u8; MAX_LANES];
    for (lane, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from(test(lane));
    }
    // The product moves the lowest bit of byte i to bit 56 + i.
    let pack = |at: usize| {
        let eight: [u8; 8] = std::array::from_fn(|i| bytes[at + i]);
        (u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    };
    pack(0) | pack(8) << 8 | pack(16) << 16 | pack(24) << 24
}

/// Returns 1 in the lanes of a mask, 0 in others.
#[inline(always)]
pub(super) fn ones(bits: u32) -> Values {
    std::array::from_fn(|lane| u32::from(bits & 1 << lane != 0))
}

/// Returns the value of all lanes if they agree.
#[inline(always)]
pub(super) fn common(values: &Values) -> Option<u32> {
    let difference = values.iter().fold(0, |all, value| all | (value ^ values[0]));
    (difference == 0).then_some(values[0])
}
