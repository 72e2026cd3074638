//! Structures as arguments, buffers of 16-bit floats, extremes over ranges.

use super::*;

/// Resolves one argument `x` of 32 bytes, whose type is not known, beside buffers.
fn block(argument: &str) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let text = format!(
        "//! grid = 1\n//! block = 1\n//! buffer a: u32[4]\n//! buffer b: f16[4]\n\
         //! arg x = {argument}\n//! arg used = [a, b]\n"
    );
    let list = [("x", Type::B8, 32), ("used", Type::U64, 2)];
    launch_with(&text, &list, &Overrides::default()).map(|launch| launch.params)
}

#[test]
fn fields_lie_where_cpp_puts_them() {
    let bytes = block(
        "{flag: u8 = 1, data: u64 = a + 4,\n\
         //! inner: {size: u16 = 2, scale: f32 = 0.5}, pair: s16 = [-1, 3], half: bf16 = 1.5}",
    )
    .expect("a structure of 32 bytes");
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    assert_eq!(word(0), 1);
    assert_eq!(word(8), BUFFER_BASE + 4);
    assert_eq!(word(16), 2 | u64::from(0.5f32.to_bits()) << 32);
    assert_eq!(word(24), 0x3fc0_0003_ffff);
}

#[test]
fn mistakes_in_structures_are_named_where_they_are() {
    for (argument, code) in [
        ("{data: u64 = a}", "wrong-length"),
        ("{data: u64 = a, x: u8 = 256}", "out-of-range"),
        ("{data: u65 = a}", "unknown-type"),
        ("{data = a}", "directive-syntax"),
        ("{data: u64 = a", "directive-syntax"),
        ("{data: u64 = c}", "unknown-name"),
    ] {
        let found = block(argument).expect_err(argument);
        assert_eq!(found[0].code, code, "{argument}: {found:?}");
    }
    let deep = "{a: ".repeat(5000);
    assert_eq!(block(&deep).expect_err("too deep")[0].code, "too-deep");
}

#[test]
fn sixteen_bit_floats_are_rounded_once_and_compared_by_value() {
    let launch = ok(launch(
        "buffer h: f16[4] = [1, -2.5, 2049.5, 0.1]
        buffer b: bf16[2] = (i + 1) / 3.0 for i
        expect h == [1, -2.5, 2050, 0.1]
        expect h == [1, -2.5, 2048, 0.1] within 1e-2
        expect sum(h[0..2]) == -1.5
        expect b[1] == 0.66796875",
    ));
    let h = [0xc100_3c00, 0x2e66_6801];
    let b = [0x3f2b_3eab];
    assert_eq!([&launch.buffers[0].words[..], &launch.buffers[1].words[..]], [&h[..], &b[..]]);
    let held: Vec<bool> = verdicts(&launch, &[&h, &b]).into_iter().map(|v| v.0).collect();
    assert_eq!(held, [true; 4]);
}

#[test]
fn extremes_are_taken_over_ranges_of_the_index() {
    let launch = ok(launch(
        "buffer a: s32[5] = [3, -1, 4, 1, 5]
        buffer least: s32[5] = min(a[0..i+1]) for i
        buffer most: s32[5] = max(a[i..5]) for i",
    ));
    let words = |buffer: usize| launch.buffers[buffer].words.iter().map(|w| *w as i32);
    assert!(words(1).eq([3, -1, -1, -1, -1]));
    assert!(words(2).eq([5, 5, 5, 5, 5]));
}
