//! Unit tests of grading; `tests/suite/grade.rs` tests the whole through the binary.

use super::instructions::{Pattern, Used};
use super::rules::Band;
use super::{
    Assignment, Measured, RunLimit, Submission, footprint, measure, one_line, plain, without_colour,
};
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

/// Measures a text against the assignment of the fuzz seeds, within this number of issues.
fn measured(submitted: &str, issues: u64) -> Measured {
    let reference = include_str!("../../../../fuzz/seeds/doubled.ir");
    let assignment = include_str!("../../../../fuzz/seeds/assignment/doubled.ron");
    let assignment = Assignment::load(assignment, &|_| Ok(reference.to_owned()));
    let assignment = assignment.unwrap_or_else(|faults| panic!("{faults}"));
    let submission = Submission::read(&assignment, "handed-in.ir", submitted);
    let submission = submission.unwrap_or_else(|why| panic!("{why}"));
    let limit = RunLimit { cycles: 100_000, issues };
    let limits = vec![limit; assignment.runs.len()];
    measure(&assignment, &submission, &limits, &|_, _| Err("no files".to_owned()))
}

#[test]
fn a_run_has_a_clock_only_if_a_criterion_needs_time_or_something_is_wrong() {
    let reference = include_str!("../../../../fuzz/seeds/doubled.ir");
    let timed = measured(reference, 0);
    let mut counted = measured(reference, 10_000);
    // The leaderboard has cycles of the short case on h200.
    let clocks: Vec<bool> = counted.runs.iter().map(|ran| ran.cycles > 0).collect();
    assert_eq!(clocks, [false, true, false]);
    for (counted, timed) in counted.runs.iter_mut().zip(&timed.runs) {
        assert!(
            counted.passed && timed.cycles > 0 && counted.issues == timed.issues,
            "{counted:?}"
        );
        counted.cycles = timed.cycles;
        // Nothing reads metrics of time from the others.
        let mut all = timed.metrics.clone();
        all.append(&mut counted.metrics);
        counted.metrics = all;
        assert_eq!(counted.metrics, timed.metrics);
    }
    assert_eq!(counted, timed);

    let doubles = "add.u32 %x, %x, %x;";
    let wrong = reference.replace(doubles, "add.u32 %x, %x, 1;");
    let races = reference.replace(
        "st.global.u32 [%out], %x;",
        "st.global.u32 [%out], %x;\n    \
         mov.u32 %i, %ctaid.x;\n    ld.param.u64 %out, [in];\n    st.global.u32 [%out], %i;",
    );
    let atomic =
        reference.replace(doubles, "atom.global.add.u32 %n, [%in], 0;\n    add.u32 %x, %x, %x;");
    let long = reference.replace(doubles, "again:\n    bra again;");
    for text in [&wrong, &races, &atomic, &long] {
        assert_ne!(text, reference);
        assert_eq!(measured(text, 10_000), measured(text, 0), "{text}");
    }
}
