//! Unit tests of grading; `tests/suite/grade.rs` tests the whole through the binary.

use super::instructions::{Pattern, Used};
use super::rules::Band;
use super::{footprint, one_line, plain, without_colour};
use simt_core::isa::Class;
use simt_core::ptx;

#[test]
fn text_of_others_cannot_drive_a_terminal() {
    for (text, shown) in [
        ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
        ("title\x1b]0;x\x07", "title\\u{1b}]0;x\\u{7}"),
        ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
        ("\u{9b}31m", "\\u{9b}31m"),
        ("carriage\rreturn", "carriage\\u{d}return"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("größer", "größer"),
        ("::notice::x", ": :notice::x"),
        ("a\n  ::error::x ##[command]", "a\n  : :error::x # #[command]"),
        ("ld.shared::cta", "ld.shared::cta"),
    ] {
        assert_eq!(plain(text, 1000), shown);
    }
    assert_eq!(one_line("a\nb\tc"), "a b c");
    assert!(plain(&"x".repeat(1 << 20), 100).len() < 120);
    assert_eq!(without_colour("\x1b[31mred\x1b[0m and not"), "red and not");
}

#[test]
fn bands_hold_within_their_bounds() {
    let band = |at_most, at_least| Band { at_most, at_least, points: 1.0 };
    for (band, value, holds) in [
        (band(Some(1.0), None), 1.0, true),
        (band(Some(1.0), None), 1.01, false),
        (band(None, Some(50.0)), 50.0, true),
        (band(None, Some(50.0)), 49.9, false),
        (band(Some(2.0), Some(1.0)), 1.5, true),
        (band(Some(2.0), None), f64::NAN, false),
    ] {
        assert_eq!(band.holds(value), holds, "{band:?} {value}");
    }
}

#[test]
fn patterns_name_mnemonics_classes_and_spaces() {
    let used = |mnemonic: &str, class| Used {
        mnemonic: mnemonic.into(),
        class,
        line: 1,
        place: "line 1".into(),
        executed: true,
        executed_hidden: false,
    };
    let of = |text: &str| Pattern::try_from(text.to_owned());
    for (pattern, mnemonic, matches) in [
        ("atom", "atom.global.add.u32", true),
        ("atom", "atomic", false),
        ("bar.sync", "bar.sync", true),
        ("bar.sync", "bar.warp.sync", false),
        ("space:shared", "ld.shared.u32", true),
        ("space:shared", "ld.shared::cta.u32", true),
        ("space:shared", "ld.global.u32", false),
        ("class:Move", "anything", true),
        ("class:IntDiv", "anything", false),
    ] {
        let pattern = of(pattern).expect("a pattern");
        assert_eq!(pattern.matches(&used(mnemonic, Class::Move)), matches, "{pattern} {mnemonic}");
    }
    for wrong in ["class:Nonsense", "space:texture"] {
        assert!(of(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_estimate_has_what_a_text_can_ask_for() {
    let bytes = |text: &str, threads| footprint(&ptx::parse(text).0, threads);
    let kernel = |body: &str| format!(".visible .entry k()\n{{\n{body}\n    ret;\n}}\n");
    assert_eq!(bytes(".global .u32 a[1000];", 7), 4000);
    assert_eq!(bytes(&kernel(".local .b8 a[100];"), 10), 1000);
    assert_eq!(bytes(&kernel("{ { .shared .v4 .f32 a[10]; } }"), 1), 160);
    assert_eq!(bytes(".global .u64 a[18446744073709551615][2];", 1), u64::MAX, "no sum wraps");
    let registers = bytes(&kernel(".reg .u64 %r<1000>;"), 32);
    assert!((1000 * 8 * 32..10 * 1000 * 8 * 32).contains(&registers), "{registers}");
}
