use super::*;
use crate::run::RunInput;
use crate::run::tests::{sample, stuck};
use simt_core::observe::samples;

fn streams(issues: &[&[(u32, u32)]]) -> IssueStreams {
    let step = |line| StepInfo {
        source: Some(line),
        line,
        text: format!("step {line}"),
        ..StepInfo::default()
    };
    IssueStreams {
        steps: (0..8).map(step).collect(),
        warps: issues
            .iter()
            .map(|w| w.iter().map(|&(pc, mask)| (Pc(pc), LaneMask(mask))).collect())
            .collect(),
        complete: true,
    }
}

#[test]
fn streams_part_at_the_earliest_difference_of_any_warp() {
    let full = u32::MAX;
    let a = streams(&[&[(0, full), (1, full), (2, 0xf)], &[(0, full), (2, full)]]);
    let parts = |b: &IssueStreams| {
        parting([&a, b]).map(|p| (p.warp, p.issue, p.a.is_some(), p.b.is_some()))
    };
    assert_eq!(parts(&a), None);
    for (b, expected) in [
        (
            streams(&[&[(0, full), (1, full), (2, 0xff)], &[(0, full), (2, full)]]),
            (0, 2, true, true),
        ),
        (
            streams(&[&[(0, full), (1, full), (3, 0xf)], &[(0, full), (3, full)]]),
            (1, 1, true, true),
        ),
        (streams(&[&[(0, full), (1, full), (2, 0xf)], &[(0, full)]]), (1, 1, true, false)),
        (
            streams(&[&[(0, full), (1, full), (2, 0xf), (3, 1)], &[(0, full), (2, full)]]),
            (0, 3, false, true),
        ),
        (streams(&[]), (0, 0, true, false)),
    ] {
        assert_eq!(parts(&b), Some(expected));
    }
    let cut = IssueStreams { complete: false, ..streams(&[&[(0, full)], &[(0, full)]]) };
    assert_eq!(parts(&cut), None, "where recording stopped is not where the streams part");
}

fn compared(a: &Run, b: &Run) -> Comparison {
    Comparison::new(a, b, [&streams(&[]), &streams(&[])])
}

#[test]
fn figures_and_the_closing_sentence_follow_from_the_counts() {
    let a = Run::build(sample(samples::neighbored));
    let b = Run::build(RunInput { kernel: "less".to_owned(), ..sample(samples::neighbored_less) });
    let found = compared(&a, &b);
    assert_eq!([found.a.name.as_str(), &found.b.name], ["reduce", "less"]);
    let divergent = found.figure("divergent_branch").unwrap();
    assert_eq!((divergent.a, divergent.b), (Some(Value::Count(95)), Some(Value::Count(5))));
    assert!((divergent.ratio.unwrap() - 5.0 / 95.0).abs() < 1e-12);
    assert!(found.closing.contains("90 of 95 divergent branches are gone"), "{}", found.closing);
    assert!(found.branches.is_empty(), "branches of different kernels are not paired");
    let back = compared(&b, &a);
    assert!(back.closing.contains("95 divergent branches instead of 5"), "{}", back.closing);
}

#[test]
fn the_same_run_twice_differs_nowhere() {
    let a = Run::build(sample(samples::neighbored));
    let found = compared(&a, &a);
    assert!(found.figures.iter().all(|f| f.ratio.is_none_or(|r| r == 1.0)));
    assert_eq!(found.branches.iter().map(|b| b.divergent).collect::<Vec<_>>(), [[95, 95]]);
    assert!(
        found.closing.contains(
            "the same number of instructions; the same number of divergent branches (95)"
        ),
        "{}",
        found.closing
    );
}

#[test]
fn a_hang_is_what_differs_most() {
    let (a, b) = (
        Run::build(stuck()),
        Run::build(RunInput { mode: "other".to_owned(), ..sample(samples::neighbored) }),
    );
    let found = compared(&a, &b);
    assert!(
        found
            .closing
            .starts_with("volta: livelock; other: finished. An unfinished run has no result")
    );
    assert!(
        found.figures.iter().all(|figure| figure.ratio.is_none()),
        "no ratio to a run that did not end"
    );
}
