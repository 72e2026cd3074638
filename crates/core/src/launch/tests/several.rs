//! Directives of several launches, expressions after a run, functions of reals.

use super::*;

const TWO: &str = "//! const n = 8
//! buffer a: u32[n] = iota
//! buffer b: u32[n]
//! launch
//! grid = 2
//! block = n
//! arg p = a
//! expect b[0] == 3
//! launch k
//! grid = 1
//! block = 2 * n
//! shared = 64
//! arg p = b
//! expect b == a
";

fn resolved(text: &str, index: usize) -> Result<Launch, Vec<Diagnostic>> {
    one_of_launches(text, index, &[("p", Type::U64, 1)], &Overrides::default())
}

#[test]
fn each_launch_has_its_own_lines_and_shares_buffers() {
    let (plan, found) = plan(&module(TWO), TWO);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(plan.launches(), 2);
    assert_eq!(plan.kernel_at(0), None);
    assert_eq!(plan.kernel_at(1).map(|name| name.text.as_str()), Some("k"));
    let (first, second) = (ok(resolved(TWO, 0)), ok(resolved(TWO, 1)));
    assert_eq!((first.grid, first.block, first.dynamic_shared), ([2, 1, 1], [8, 1, 1], 0));
    assert_eq!((second.grid, second.block, second.dynamic_shared), ([1, 1, 1], [16, 1, 1], 64));
    let places = |launch: &Launch| -> Vec<(String, u64, bool)> {
        launch.buffers.iter().map(|b| (b.name.clone(), b.address, b.mapped)).collect()
    };
    assert_eq!(places(&first), places(&second));
    assert!(first.buffers.iter().all(|buffer| buffer.mapped), "both are arguments of a launch");
    let claims = |launch: &Launch| -> Vec<String> {
        launch.expectations.iter().map(|e| e.text.clone()).collect()
    };
    assert_eq!(claims(&first), ["b[0] == 3"]);
    assert_eq!(claims(&second), ["b == a"]);
}

#[test]
fn a_launch_takes_over_what_the_one_before_left() {
    let (mut first, mut second) = (ok(resolved(TWO, 0)), ok(resolved(TWO, 1)));
    for buffer in &mut first.buffers {
        buffer.words = vec![7; 8];
    }
    second.follow(first);
    assert!(second.buffers.iter().all(|buffer| buffer.words == [7; 8]));
    // The right side of an expectation is the memory before the first launch.
    let verdicts = judge(&second, &After(&second), "ok", &|_| Err(String::new()), "volta");
    assert_eq!(verdicts.len(), 1);
    assert!(!verdicts[0].passed && verdicts[0].detail.starts_with("b[0]: expected 0, found 7"));
}

struct After<'a>(&'a Launch);

impl MemoryView for After<'_> {
    fn word(&self, buffer: usize, word: u64) -> u32 {
        self.0.buffers[buffer].words[word as usize]
    }
}

#[test]
fn lines_of_a_launch_belong_below_it() {
    for (text, code) in [
        ("//! grid = 1\n//! launch\n//! grid = 1\n//! block = 1\n", "directive-syntax"),
        ("//! kernel k\n//! launch\n//! grid = 1\n//! block = 1\n", "directive-syntax"),
        ("//! expect finish == ok\n//! launch\n//! grid = 1\n", "directive-syntax"),
        ("//! launch\n//! kernel k\n//! grid = 1\n//! block = 1\n", "directive-syntax"),
        ("//! launch\n//! grid = 1\n//! grid = 2\n", "duplicate-directive"),
    ] {
        let found = plan(&module(text), text).1;
        assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [code], "{text}");
    }
}

#[test]
fn expressions_are_read_after_a_run() {
    let mut launch = ok(resolved(TWO, 0));
    launch.buffers[0].words = (1..=8).collect();
    let number = |text: &str| match launch.inspect(text) {
        Ok(Inspected::Number(number)) => number,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(number("sum(a)"), "36");
    assert_eq!(number("a[n - 1] * 2"), "16");
    assert_eq!(number("sqrt(a[3])"), "2");
    let elements = |first: u64, values: &[&str]| Inspected::Elements {
        buffer: "a".to_owned(),
        first,
        values: values.iter().map(|v| (*v).to_owned()).collect(),
    };
    assert_eq!(launch.inspect("a[2..4]"), Ok(elements(2, &["3", "4"])));
    assert!(
        matches!(launch.inspect("a"), Ok(Inspected::Elements { values, .. }) if values.len() == 8)
    );
    for text in ["", "c", "a[8]", "a[0..9]", "a[0] a[1]", "sum(", "1 / 0", "\"x\""] {
        assert!(launch.inspect(text).is_err(), "{text}");
    }
}

#[test]
fn hashes_are_those_of_the_bytes() {
    let text = "//! launch\n//! grid = 1\n//! block = 1\n//! arg p = a\n\
                //! buffer a: u8[3] = [97, 98, 99]\n";
    let launch = ok(resolved(text, 0));
    // FNV-1a of \"abc\".
    let expected = Inspected::Number(0xe71f_a219_0541_574b_u64.to_string());
    assert_eq!(launch.inspect("hash(a)"), Ok(expected));
    assert_eq!(
        launch.inspect("hash(a[0..0])"),
        Ok(Inspected::Number(0xcbf2_9ce4_8422_2325_u64.to_string()))
    );
}

#[test]
fn functions_of_reals() {
    let value = |text: &str| {
        let directives =
            format!("//! grid = 1\n//! block = 1\n//! buffer r: f64[1] = ({text}) + 0 * i for i\n");
        let launch = ok(launch_with(&directives, &[], &Overrides::default()));
        let words = &launch.buffers[0].words;
        f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32)
    };
    let near = |text: &str, expected: f64| {
        let found = value(text);
        assert!((found - expected).abs() <= 1e-15 * expected.abs(), "{text}: {found}");
    };
    near("sqrt(2)", std::f64::consts::SQRT_2);
    near("exp(1)", std::f64::consts::E);
    near("log(2.0)", std::f64::consts::LN_2);
    near("pow(2, 0.5)", std::f64::consts::SQRT_2);
    near("pow(3, 4)", 81.0);
    near("pow(2, -1)", 0.5);
    near("pow(-2, 63)", -(2f64.powi(63)));
    assert!(value("sqrt(0 - 1.0)").is_nan());
    let refused = |text: &str| {
        let directives = format!("//! const x = {text}\n//! grid = 1\n//! block = 1\n");
        faults(&directives, launch_with(&directives, &[], &Overrides::default()))[0].0
    };
    assert_eq!(refused("pow(2, 64)"), "overflow");
    assert_eq!(refused("pow(10, 1 << 40)"), "overflow");
    assert_eq!(refused("sqrt(4)"), "type-mismatch");
    assert_eq!(refused("pow(2)"), "directive-syntax");
}
