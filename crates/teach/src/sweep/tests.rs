use super::*;
use crate::results::Tail;
use simt_report::Style;
use simt_report::metrics::Value;

fn point(settings: &[(&str, &str)]) -> Point {
    Point(settings.iter().map(|&(name, value)| (name.to_owned(), Setting::parse(value))).collect())
}

fn record(settings: &[(&str, &str)], cycles: u64) -> Record {
    let error =
        Record::of_error("p.ir", "k", point(settings), fingerprint(["text"]), "no".to_owned());
    let metrics = [
        ("elapsed_cycles".to_owned(), Value::Count(cycles)),
        ("ipc".to_owned(), Value::Real(0.1 + 0.2)),
    ];
    Record {
        finish: "ok".to_owned(),
        passed: true,
        message: None,
        metrics: metrics.into(),
        ..error
    }
}

#[test]
fn scans_have_both_ends_and_no_others() {
    let numbers = |from, to, step: &str| {
        let axis = Axis::scan("n", from, to, step.parse()?)?;
        Ok::<_, SweepError>(
            axis.values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        )
    };
    for (from, to, step, expected) in [
        (1, 4, "1", "1 2 3 4"),
        (-4, 5, "3", "-4 -1 2 5"),
        (1, 100, "x4", "1 4 16 64"),
        (7, 7, "x2", "7"),
        (i64::MAX - 1, i64::MAX, "2", "9223372036854775806"),
        (i64::MAX / 2, i64::MAX, "x2", "4611686018427387903 9223372036854775806"),
    ] {
        assert_eq!(numbers(from, to, step).as_deref(), Ok(expected), "{from} {to} {step}");
    }
    for (from, to, step) in [
        (5, 4, "1"),
        (0, 9, "x2"),
        (1, 9, "x1"),
        (1, 9, "0"),
        (1, 9, "-1"),
        (1, 9, "x"),
        (0, 1 << 40, "1"),
    ] {
        assert!(numbers(from, to, step).is_err(), "{from} {to} {step}");
    }
}

#[test]
fn points_are_all_combinations_in_order_and_shards_deal_them_out() {
    let axes = [Axis::list("mode", "volta,pre-volta, volta"), Axis::scan("n", 1, 3, Step::Add(1))];
    let axes = axes.map(|axis| axis.expect("values"));
    let points = product(&axes).expect("few points");
    let texts: Vec<String> = points.iter().map(ToString::to_string).collect();
    let expected =
        ["volta n=1", "volta n=2", "volta n=3", "pre-volta n=1", "pre-volta n=2", "pre-volta n=3"];
    assert_eq!(texts, expected.map(|text| format!("mode={text}")));
    assert_eq!(product(&[]).map(|points| points.len()), Ok(1), "nothing swept is one run");
    assert_eq!(
        product(&[axes[0].clone(), axes[0].clone()]),
        Err(SweepError::Twice("mode".to_owned()))
    );
    assert!(
        product(&["a", "b", "c"].map(|n| Axis::scan(n, 1, 1000, Step::Add(1)).expect("values")))
            .is_err()
    );
    let axis = Axis::list("n", "min(1,2),,3").expect("values");
    assert_eq!(axis.values, [Setting::Text("min(1,2)".to_owned()), Setting::Number(3)]);
    assert!(Axis::list("n", " ,").is_err());
    for of in 1..=7 {
        let shards: Vec<Shard> =
            (1..=of).map(|i| format!("{i}/{of}").parse().expect("a shard")).collect();
        assert!(
            (0..20).all(|i| shards.iter().filter(|shard| shard.takes(i)).count() == 1),
            "each point once"
        );
    }
    for text in ["0/4", "5/4", "1/0", "1", "a/b", "-1/2", ""] {
        assert!(text.parse::<Shard>().is_err(), "{text}");
    }
}

#[test]
fn records_survive_being_written_and_a_line_cut_anywhere_is_mended() {
    let records =
        [record(&[("n", "64")], 10), record(&[("n", "128")], 20), record(&[("n", "-3")], 30)];
    let mut results = Results::default();
    results.replace(&records);
    let text = results.text();
    let (read, tail) = Results::read(&text).expect("records");
    assert_eq!(tail, Tail::Whole);
    assert_eq!(read.text(), text);
    let order: Vec<String> = read.records().map(|r| r.point.to_string()).collect();
    assert_eq!(order, ["n=-3", "n=64", "n=128"], "by size");
    assert_eq!(read.find("p.ir", "k", &point(&[("n", "128")])), Some(&records[1]));
    assert_eq!(read.find("p.ir", "k", &point(&[("m", "128")])), None);
    let start = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    for cut in start + 1..text.len() - 1 {
        let (read, tail) = Results::read(&text[..cut]).expect("two records and a piece");
        assert_eq!((read.records().count(), tail), (2, Tail::Cut), "{cut}");
    }
    let (read, tail) = Results::read(text.trim_end()).expect("three records");
    assert_eq!((read.records().count(), tail), (3, Tail::Open), "only the line break is missing");
    for (bad, words) in
        [(format!("{{}}\n{text}"), "line 1"), (text.replacen("sweep/1", "sweep/9", 1), "sweep/9")]
    {
        let fault = Results::read(&bad).expect_err("no record").to_string();
        assert!(fault.contains(words), "{fault}");
    }
}

#[test]
fn files_are_put_together_unless_they_disagree() {
    let read = |records: &[Record]| {
        let mut results = Results::default();
        results.replace(records);
        results
    };
    let (one, two) = (record(&[("n", "1")], 10), record(&[("n", "2")], 20));
    let failed =
        Record::of_error("p.ir", "k", point(&[("n", "2")]), String::new(), "no".to_owned());
    for (a, b) in [(&two, &failed), (&failed, &two)] {
        let mut all = read(&[one.clone(), a.clone()]);
        all.merge(read(&[one.clone(), b.clone()])).expect("no conflict");
        assert_eq!(all.text(), read(&[two.clone(), one.clone()]).text(), "what ran stays");
    }
    let other = record(&[("n", "1")], 11);
    let conflict = read(&[one]).merge(read(&[other])).expect_err("10 is not 11");
    assert_eq!(conflict.to_string(), "the results for p.ir at n=1 differ");
}

#[test]
fn all_points_are_worked_on_and_come_back_in_order() {
    let numbers: Vec<u64> = (0..50).collect();
    for jobs in [0, 1, 3] {
        let mut kept = Vec::new();
        let work = |n: &u64| record(&[("n", &n.to_string())], *n);
        let keep = |record: &Record| {
            kept.push(record.point.clone());
            Ok::<(), ()>(())
        };
        let records = run(jobs, &numbers, work, keep).expect("no error");
        let expected: Vec<Record> = numbers.iter().map(work).collect();
        assert_eq!(records, expected);
        kept.sort();
        assert_eq!(kept.len(), 50);
        assert!(kept.iter().eq(expected.iter().map(|r| &r.point)));
    }
    assert_eq!(run(1, &numbers, |_| record(&[], 0), |_| Err("full")), Err("full"));
}

#[test]
fn tables_and_lines_show_what_the_records_say() {
    let runs = [("volta", "64", 1000), ("volta", "32", 600), ("pre-volta", "32", 700)];
    let records: Vec<Record> =
        runs.iter().map(|&(mode, n, cycles)| record(&[("mode", mode), ("n", n)], cycles)).collect();
    let columns =
        Columns::new(Columns::axes_of(&records), &["elapsed_cycles", "ipc", "gld_efficiency"])
            .expect("metrics");
    let csv = "mode,n,result,elapsed_cycles,ipc,gld_efficiency\nvolta,64,ok,1000,0.30000000000000004,\n\
volta,32,ok,600,0.30000000000000004,\npre-volta,32,ok,700,0.30000000000000004,\n";
    assert_eq!(columns.csv(&records), csv);
    let text = columns.text(&records, Style::default());
    assert!(
        text.lines().any(|l| l.split_whitespace().eq(["volta", "64", "ok", "1,000", "0.30", "-"])),
        "{text}"
    );
    assert!(Columns::new(Vec::new(), &["elapsed"]).is_err());

    let chart = Chart::new(&records, None, "elapsed_cycles").expect("a chart");
    let lines: Vec<_> =
        chart.lines.iter().map(|l| (l.name.as_str(), l.points.as_slice())).collect();
    assert_eq!(
        lines,
        [
            ("mode=pre-volta", &[(32.0, 700.0)][..]),
            ("mode=volta", &[(32.0, 600.0), (64.0, 1000.0)][..])
        ]
    );
    let captions =
        [&chart.captions.x, &chart.captions.y, &chart.captions.subtitle, &chart.captions.footer];
    assert_eq!(captions, ["n", "elapsed_cycles [cycle]", "p.ir: k", "3 runs."]);
    assert_eq!(Chart::new(&records, Some("mode"), "ipc"), Err(NoChart::NoAxis("mode".to_owned())));
    assert_eq!(
        Chart::new(&records, None, "gld_efficiency"),
        Err(NoChart::NoValues("gld_efficiency".to_owned()))
    );
}
