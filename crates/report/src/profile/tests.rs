use super::*;

const LONG: &str = "==PROF== Connected to process 17 (sum)
total, 12
\"ID\",\"Process ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"
\"0\",\"17\",\"void add<int>(int *, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(2, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"smsp__inst_executed.sum\",\"inst\",\"1,234\"
\"0\",\"17\",\"void add<int>(int *, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(2, 1, 1)\",\"0\",\"9.0\",\"GPU Speed Of Light\",\"Duration\",\"usecond\",\"2.5\"
\"0\",\"17\",\"void add<int>(int *, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(2, 1, 1)\",\"0\",\"9.0\",\"Launch Statistics\",\"Function Cache Configuration\",\"\",\"CachePreferNone\"
\"1\",\"17\",\"void add<int>(int *, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(2, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"smsp__inst_executed.sum\",\"inst\",\"n/a\"
\"2\",\"17\",\"scale\",\"1\",\"7\",\"(32, 4, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"dram__bytes_read.sum\",\"Kbyte\",\"1.5\"
";

const WIDE: &str = "\"ID\",\"Process Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"launch__func_cache_config\",\"smsp__inst_executed.sum\",\"gpu__time_duration.sum\"
\"\",\"\",\"\",\"\",\"\",\"\",\"inst\",\"usecond\"
\"0\",\"sum\",\"add\",\"(256, 1, 1)\",\"(2, 1, 1)\",\"CachePreferNone\",\"1,234\",\"2.5\"
";

const TIDY: &str = "kernel,log2_n,block,metric,unit,value
add,9,256,smsp__inst_executed.sum,inst,1234
add,9,256,gpu__time_duration.sum,ns,2500
add,24,256,smsp__inst_executed.sum,inst,99
";

fn values(launched: &Launched) -> Vec<(&str, f64)> {
    launched.measurements.iter().map(|m| (m.name.as_str(), m.value)).collect()
}

#[test]
fn the_three_layouts_say_the_same() {
    let [long, wide, tidy] = [LONG, WIDE, TIDY].map(|text| Profile::parse(text).expect("a report"));
    assert_eq!(
        values(&long.launches[0]),
        [("smsp__inst_executed.sum", 1234.0), ("Duration", 2500.0)]
    );
    for profile in [&wide, &tidy] {
        let expected = [("smsp__inst_executed.sum", 1234.0), ("gpu__time_duration.sum", 2500.0)];
        assert_eq!(values(&profile.launches[0]), expected);
    }
    let shapes: Vec<_> =
        long.launches.iter().map(|l| (l.kernel.as_str(), l.block, l.measurements.len())).collect();
    assert_eq!(
        shapes,
        [
            ("add", Some([256, 1, 1]), 2),
            ("add", Some([256, 1, 1]), 0),
            ("scale", Some([32, 4, 1]), 1)
        ]
    );
    assert_eq!(tidy.launches.len(), 2);
    assert_eq!(tidy.launches[0].title(), "add (log2_n 9, block 256)");
}

#[test]
fn launches_are_found_by_shape_and_by_constants() {
    let constants = |n: i64| vec![("n".to_string(), n), ("block".to_string(), 256)];
    let lines = |text: &str, kernel: &str, block: u32, n: i64| -> Vec<usize> {
        let profile = Profile::parse(text).expect("a report");
        let found = profile.launches_of(kernel, [2, 1, 1], [block, 1, 1], &constants(n));
        found.iter().map(|l| l.line).collect()
    };
    for (text, kernel, block, n, found) in [
        (LONG, "add", 256, 1, vec![4, 7]),
        (LONG, "add", 128, 1, vec![]),
        (LONG, "sum", 256, 1, vec![]),
        (TIDY, "add", 64, 512, vec![2]),
        (TIDY, "add", 64, 1 << 24, vec![4]),
        (TIDY, "add", 64, 1000, vec![]),
    ] {
        assert_eq!(lines(text, kernel, block, n), found, "{kernel}, block {block}, n = {n}");
    }
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    let head = "kernel,metric,unit,value\n";
    for (text, line, what) in [
        (String::new(), 1, "no header line"),
        ("a,b\nc,d\n".to_string(), 2, "no header line"),
        (head.to_string(), 1, "expected rows after the header"),
        (
            format!("{head}k,smsp__inst_executed.sum,inst\n"),
            2,
            "expected 4 fields as in the header in line 1, found 3",
        ),
        (format!("{head}\nk,smsp__inst_executed.sum,inst,1\nk,\"a\n"), 4, "unclosed quote"),
        (
            format!("{head}k,smsp__inst_executed.sum,inst,\"1,23\"\n"),
            2,
            "expected a number, found `1,23`",
        ),
        ("kernel,metric,value\nk,a,1\n".to_string(), 1, "missing column `Metric Unit`"),
        (WIDE.replace("(256, 1, 1)", "wide"), 3, "invalid grid or block `wide`"),
        (
            WIDE.replace("1,234", "12,34"),
            3,
            "smsp__inst_executed.sum: expected a number, found `12,34`",
        ),
    ] {
        let found = Profile::parse(&text).expect_err(what);
        assert!(found.line == line && found.reason.contains(what), "{text:?}: {found}");
    }
}

#[test]
fn errors_are_in_percent_and_digits_that_are_not_printed_do_not_count() {
    let held = |simulated, measured, rounding| Held {
        name: String::new(),
        unit: "",
        simulated,
        measured,
        rounding,
    };
    for (simulated, measured, rounding, error, exact) in [
        (110.0, 100.0, 0.0, Some(10.0), false),
        (0.0, 0.0, 0.0, Some(0.0), true),
        (1.0, 0.0, 0.0, None, false),
        (292.884, 292.88, 0.005, Some(0.00137), true),
        (292.89, 292.88, 0.005, Some(0.00341), false),
    ] {
        let held = held(simulated, measured, rounding);
        assert_eq!(held.is_exact(), exact);
        match (held.error(), error) {
            (Some(found), Some(wanted)) => assert!((found - wanted).abs() < 1e-4, "{found}"),
            (found, wanted) => assert_eq!(found, wanted),
        }
    }
}
