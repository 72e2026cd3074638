use super::*;
use crate::metrics::{self, Metric};

fn held(simulated: f64, measured: f64) -> Held {
    Held {
        name: "sm__cycles_active.max".to_owned(),
        unit: "cycle",
        simulated,
        measured,
        rounding: 0.0,
    }
}

fn row(mend: bool, simulated: f64, measured: f64) -> UnseenRow {
    UnseenRow {
        kernel: "k".to_owned(),
        mend,
        outputs: Vec::new(),
        held: vec![held(simulated, measured)],
        states: Vec::new(),
    }
}

fn fingerprint(counts: &str, whole: &str) -> Fingerprint {
    Fingerprint {
        code: CodeKind::Ptx,
        counts: counts.to_owned(),
        whole: whole.to_owned(),
        unmeasured: None,
    }
}

/// Evidence of cycles: these pairs in the set *held*.
/// The set *mend* has one pair with a large error.
fn evidence(pairs: &[(f64, f64)]) -> Evidence {
    let rows: Vec<UnseenRow> =
        pairs.iter().map(|&(s, m)| row(false, s, m)).chain([row(true, 900.0, 100.0)]).collect();
    let recorded = Recorded { gpu: "NVIDIA H200".to_owned(), ..Recorded::default() };
    Evidence::new("h200".to_owned(), fingerprint("c", "w"), recorded, &rows)
}

fn metric(name: &str) -> &'static Metric {
    metrics::find(name).expect(name)
}

#[test]
fn a_label_holds_for_nine_of_ten_held_kernels() {
    let same = (100.0, 100.0);
    let nine = |last| [vec![same; 9], vec![last]].concat();
    for (pairs, words) in [
        (nine(same), "exact on 10 of 10 unseen kernels (H200)"),
        (nine((900.0, 100.0)), "exact on 9 of 10 unseen kernels (H200)"),
        (vec![(104.0, 100.0); 10], "within 5 % on 10 of 10 unseen kernels (H200)"),
        (
            [vec![(97.0, 100.0); 9], vec![(1.0, 0.0)]].concat(),
            "within 3 % on 9 of 10 unseen kernels (H200)",
        ),
        (
            [vec![same; 8], vec![(150.0, 100.0); 2]].concat(),
            "within 50 % on 10 of 10 unseen kernels (H200)",
        ),
        (
            [vec![same; 8], vec![(151.0, 100.0); 2]].concat(),
            "unreliable: over 50 % off on 2 of 10 unseen kernels (H200)",
        ),
        // With few kernels, the label states no error.
        ([vec![same; 4], vec![(0.0, 0.0); 9]].concat(), "not measured on unseen code"),
        (Vec::new(), "not measured on unseen code"),
    ] {
        let found = evidence(&pairs);
        assert_eq!(
            Standing::by(Some(&found), metric("elapsed_cycles")).evidence(),
            words,
            "{pairs:?}"
        );
        assert_eq!(Evidence::parse(&found.to_text().expect("text")).as_ref(), Ok(&found));
    }
}

#[test]
fn errors_of_a_half() {
    let found = evidence(&[
        (100.0, 100.0),
        (98.0, 100.0),
        (110.0, 100.0),
        (0.0, 0.0),
        (5.0, 0.0),
        (100.0, 100.0),
    ]);
    let errors = found.metric("elapsed_cycles").and_then(|e| e.held.as_ref()).expect("errors");
    // One of five has a figure that the GPU does not have: no bound holds for nine of ten.
    let expected =
        Errors { kernels: 5, exact: 2, within: None, beyond: 1, nine_tenths: None, mean: 22.4 };
    assert_eq!(errors, &expected);
    assert_eq!(found.kernels, (1, 6));
}

#[test]
fn evidence_is_of_a_machine_files_contents() {
    let found = evidence(&[(100.0, 100.0); 10]);
    let words = |name: &str, run: &Fingerprint| Standing::by(Some(&found), metric(name)).words(run);
    let cycles = "model estimate; exact on 10 of 10 unseen kernels (H200)";
    assert_eq!(words("elapsed_cycles", &fingerprint("c", "w")), cycles);
    assert_eq!(
        words("elapsed_cycles", &fingerprint("c", "slower")),
        "model estimate; not measured with this machine file"
    );
    // A count does not depend on latencies.
    assert_eq!(
        words("gld_requests", &fingerprint("c", "slower")),
        "program count; not measured on unseen code"
    );
    assert_eq!(
        words("inst_executed", &fingerprint("other", "w")),
        "compiler count; not measured with this machine file"
    );
}

#[test]
fn machine_code_has_labels_of_its_own() {
    let mut found = evidence(&[(100.0, 100.0); 10]);
    found.fingerprint.code = CodeKind::Sass;
    let run = Fingerprint { code: CodeKind::Sass, ..fingerprint("c", "w") };
    let words = |name: &str, run: &Fingerprint| Standing::by(Some(&found), metric(name)).words(run);
    let other = Fingerprint { unmeasured: Some(75), ..run.clone() };
    let of_turing = "program count; machine code of sm_75 was not measured";
    assert_eq!(words("inst_executed", &other), of_turing);
    let cycles = "model estimate; exact on 10 of 10 unseen kernels of machine code (H200)";
    assert_eq!(words("elapsed_cycles", &run), cycles);
    let of_ptx = "model estimate; not measured with this machine file";
    assert_eq!(words("elapsed_cycles", &fingerprint("c", "w")), of_ptx);
    // Nothing of the compiler is modelled.
    assert_eq!(words("inst_executed", &run), "program count; not measured on unseen code");
}

#[test]
fn the_evidence_that_is_compiled_in_is_read() {
    for code in CodeKind::ALL {
        let known = known(code).expect("the file is evidence");
        assert_eq!(known.fingerprint.code, code);
        assert!(known.metrics.len() > 40 && known.kernels.1 >= 20, "{known:?}");
    }
    // The share of the warp is the same figure as the number of lanes.
    let lanes = Standing::of(metric("average_active_lanes"), CodeKind::Ptx).evidence();
    assert_eq!(Standing::of(metric("warp_execution_efficiency"), CodeKind::Ptx).evidence(), lanes);
    assert!(lanes.contains("unseen kernels"), "{lanes}");
    assert_eq!(
        Standing::of(metric("conditional_branches"), CodeKind::Ptx).measured(),
        "compiler count; not measured on unseen code"
    );
}

#[test]
fn shares_of_states_are_off_by_points() {
    let share =
        |state: &str, simulated, measured| Share { state: state.to_owned(), simulated, measured };
    let with = |mend, states| UnseenRow { states, ..row(mend, 1.0, 1.0) };
    let rows = [
        with(false, vec![share("barrier", 30.0, 20.0), share("wait", 70.0, 80.0)]),
        with(false, vec![share("barrier", 14.0, 20.0), share("wait", 86.0, 80.0)]),
        with(false, vec![share("drain", 100.0, 100.0)]),
        with(true, vec![share("wait", 99.0, 100.0), share("drain", 1.0, 0.0)]),
        with(true, Vec::new()),
    ];
    let found = Evidence::new("h200".to_owned(), fingerprint("c", "w"), Recorded::default(), &rows);
    let held = |state: &str| {
        let errors = found.states.iter().find(|errors| errors.state == state).expect(state);
        errors.held.clone().expect("held kernels")
    };
    let points = |within, mean, bias| Points { kernels: 3, within, mean, bias };
    assert_eq!(held(ALL_STATES), points(2, 3.56, 0.0), "32 points of 3 states in 3 kernels");
    assert_eq!(held("barrier"), points(2, 5.33, 1.33));
    assert_eq!(held("wait"), points(2, 5.33, -1.33));
    assert_eq!(held("drain"), points(3, 0.0, 0.0));
    assert_eq!(
        state_row(&found.states[0]),
        ["all states", "0.7", "", "1 of 1", "3.6", "", "2 of 3"]
    );
    assert_eq!(Evidence::parse(&found.to_text().expect("text")).as_ref(), Ok(&found));
}
