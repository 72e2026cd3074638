//! Mutations of inputs: half by bytes, as libFuzzer does, half by words.

use simt_sim_fuzz::edit::{Edit, edited};

/// Mutates `data[..size]` in place and returns its new size, at most `most`.
pub fn mutated(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    if seed.is_multiple_of(2) {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    let text = String::from_utf8_lossy(&data[..size]).into_owned();
    // Steps of Knuth's multiplicative generator: independent enough for three choices.
    let draw = |n: u32| (seed ^ n).wrapping_mul(0x9e37_79b1).rotate_left(n).wrapping_mul(0x85eb_ca6b);
    let text = edited(&text, &text, &Edit::drawn([draw(7), draw(13), draw(19)]));
    let kept = text.len().min(most).min(data.len());
    data[..kept].copy_from_slice(&text.as_bytes()[..kept]);
    kept
}
