use super::*;

fn held(name: &str, simulated: f64, measured: f64) -> Held {
    Held { name: name.to_string(), unit: "", simulated, measured, rounding: 0.0 }
}

fn known() -> Known {
    Known::parse(
        "(programs: [(name: \"race.ir\", reason: \"a race\")], counters: [(name: \"lts__\", reason: \"others write, too\")], gaps: [])",
    )
    .expect("a file")
}

#[test]
fn a_label_is_that_of_the_worst_figure() {
    let of = |figures: &[(f64, f64)]| {
        let held: Vec<Held> =
            figures.iter().map(|(s, m)| held("lts__t_sectors.sum", *s, *m)).collect();
        Trust::of(held.iter(), &known()).to_string()
    };
    for (figures, label) in [
        (&[][..], "not measured"),
        (&[(1.0, 1.0), (0.0, 0.0)], "exact"),
        (&[(100.0, 100.0), (100.9, 100.0)], "within 1 %"),
        (&[(98.0, 100.0), (100.1, 100.0)], "within 2 %"),
        (&[(125.0, 100.0), (99.0, 100.0)], "within 25 %"),
        (&[(125.1, 100.0)], "differs: others write, too"),
        (&[(1.0, 0.0), (100.0, 100.0)], "differs: others write, too"),
    ] {
        assert_eq!(of(figures), label, "{figures:?}");
    }
    let other = [held("dram__bytes.sum", 2.0, 1.0)];
    assert_eq!(Trust::of(other.iter(), &known()), Trust::Differs { reason: None });
}

fn program(name: &str, memory: Trust) -> ProgramRow {
    ProgramRow {
        program: name.to_string(),
        measured_on: "a GPU".to_string(),
        memory,
        detail: String::new(),
        divergence: None,
        micros: None,
    }
}

#[test]
fn programs_with_a_reason_are_counted_apart_and_others_are_not_hidden() {
    let because = Trust::Differs { reason: Some("a race".to_string()) };
    let feature = |rows: Vec<ProgramRow>| {
        let all =
            Validation::new("h200".to_string(), rows, Vec::new(), Vec::new(), Vec::new(), known());
        (all.features[0].clone(), all.is_explained())
    };
    let rows = vec![
        program("a.ir", Trust::Exact),
        program("race.ir", because),
        program("b.ir", Trust::NotMeasured),
    ];
    let (memory, explained) = feature(rows.clone());
    assert_eq!((memory.figures, memory.exact, memory.trust, explained), (2, 1, Trust::Exact, true));
    assert_eq!(memory.worst.as_deref(), Some("1 with a known reason: race.ir"));
    let (memory, explained) =
        feature([rows, vec![program("c.ir", Trust::Differs { reason: None })]].concat());
    assert_eq!((memory.trust, explained), (Trust::Differs { reason: None }, false));
}

#[test]
fn a_quick_page_is_the_beginning_of_the_whole_one() {
    let row = |threads| ProfileRow {
        program: "a.ptx".to_string(),
        launch: format!("k ({threads} threads)"),
        threads,
        held: vec![held(CYCLES, 110.0, 100.0), held("lts__t_sectors.sum", 1.0, 1.0)],
        unknown: vec!["smsp__pcsamp.sum".to_string()],
    };
    let page = |profiles| {
        Validation::new(
            "h200".to_string(),
            vec![program("a.ptx", Trust::Exact)],
            profiles,
            Vec::new(),
            Vec::new(),
            known(),
        )
        .appendix()
    };
    let (quick, whole) = (page(vec![row(32)]), page(vec![row(32), row(LARGE)]));
    assert!(whole.starts_with(&quick));
    assert!(
        quick.contains("| k (32 threads) | **`sm__cycles_active.max`** | 110 | 100 | +10.0 % |"),
        "{quick}"
    );
    assert!(whole.contains("| cycles and time | 2 | 0 | **within 10 %** |"), "{whole}");
}
