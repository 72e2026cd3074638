//! Content of device memory before and after a launch: buffers and variables of the module.

use super::SegmentImage;
use crate::kernel::layout::{WORKSPACE, WORKSPACE_BYTES};
use crate::kernel::{Kernel, StaticVariable};

/// Returns the module's variables as segments.
/// Variables that share a word share a segment.
pub fn variable_segments(variables: &[StaticVariable]) -> Vec<SegmentImage> {
    let mut sorted: Vec<&StaticVariable> =
        variables.iter().filter(|v| !v.bytes.is_empty()).collect();
    sorted.sort_by_key(|v| v.address);
    let mut images: Vec<(u64, Vec<u8>, bool)> = Vec::new();
    for v in sorted {
        let writable = v.space != crate::isa::Space::Const;
        let word = v.address & !3;
        let shared = images.last().is_some_and(|(start, bytes, _)| {
            word < start + (bytes.len() as u64).next_multiple_of(4)
        });
        if !shared {
            images.push((word, Vec::new(), writable));
        }
        if let Some((start, bytes, _)) = images.last_mut() {
            bytes.resize((v.address - *start) as usize, 0);
            bytes.extend_from_slice(&v.bytes);
        }
    }
    images
        .into_iter()
        .map(|(address, bytes, writable)| (address, bytes.len() as u64, words_of(&bytes), writable))
        .collect()
}

/// Returns the zeroed workspace of a launch, if it is cooperative.
pub fn workspace(cooperative: bool) -> Option<SegmentImage> {
    let words = vec![0; (WORKSPACE_BYTES / 4) as usize];
    cooperative.then_some((WORKSPACE, WORKSPACE_BYTES, words, true))
}

/// Returns the parameters as memory, if the kernel takes their generic addresses.
pub fn parameters(kernel: &Kernel, params: &[u8]) -> Option<SegmentImage> {
    let bytes = params.len() as u64;
    kernel.shows_parameters().then(|| (kernel.parameters_address(), bytes, words_of(params), false))
}

/// Returns the segments of variables and of buffers.
///
/// A buffer inside the segment of a variable is copied into it; all others are moved.
pub fn segments(
    variables: &[StaticVariable],
    buffers: impl Iterator<Item = SegmentImage>,
) -> Vec<SegmentImage> {
    let mut segments = variable_segments(variables);
    let of_variables = segments.len();
    for buffer in buffers {
        let (address, bytes) = (buffer.0, buffer.1);
        let last = segments[..of_variables].partition_point(|s| s.0 <= address).checked_sub(1);
        let around = last.and_then(|i| segments.get_mut(i));
        match around.filter(|s| address - s.0 < s.1 && bytes <= s.1 - (address - s.0)) {
            Some((first, _, words, _)) => {
                copy(&buffer.2, words, (address - *first) as usize, bytes)
            }
            None => segments.push(buffer),
        }
    }
    segments
}

/// Copies the first `bytes` bytes of `from` to byte `at` of `to`.
fn copy(from: &[u32], to: &mut [u32], at: usize, bytes: u64) {
    for i in 0..bytes as usize {
        let byte = from.get(i / 4).map_or(0, |word| word >> (8 * (i % 4)) & 0xff);
        if let Some(word) = to.get_mut((at + i) / 4) {
            let shift = 8 * ((at + i) % 4);
            *word = *word & !(0xff << shift) | byte << shift;
        }
    }
}

/// Returns the words of `bytes` bytes at `address` of a segment; bytes outside are 0.
pub fn part_of(segment: &SegmentImage, address: u64, bytes: u64) -> Vec<u32> {
    let skipped = address.saturating_sub(segment.0);
    let byte = |i: u64| {
        let word = usize::try_from(i / 4).ok().and_then(|at| segment.2.get(at));
        word.map_or(0, |word| word >> (8 * (i % 4)) & 0xff)
    };
    if skipped.is_multiple_of(4) && bytes.is_multiple_of(4) {
        let first = (skipped / 4) as usize;
        return segment.2.iter().skip(first).take((bytes / 4) as usize).copied().collect();
    }
    let word = |w: u64| {
        let inside = (4 * w..bytes.min(4 * w + 4)).rev();
        inside.fold(0, |word, i| word << 8 | byte(skipped + i))
    };
    (0..bytes.div_ceil(4)).map(word).collect()
}

/// Converts bytes to little-endian words, zero-filled to a whole word.
pub(super) fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks(4)
        .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Space;

    #[test]
    fn variables_that_share_a_word_share_a_segment() {
        let variable = |address, bytes: &[u8]| StaticVariable {
            name: String::new(),
            space: Space::Global,
            address,
            bytes: bytes.to_vec(),
        };
        let images = variable_segments(&[
            variable(0x108, &[9, 8, 7, 6]),
            variable(0x101, &[2, 3]),
            variable(0x103, &[4, 5]),
            variable(0x100, &[1]),
        ]);
        assert_eq!(
            images,
            [(0x100, 5, vec![0x0403_0201, 5], true), (0x108, 4, vec![0x0607_0809], true)]
        );
    }
}
