//! Expectations on memory, verdicts and metrics.

use super::*;

#[test]
fn the_left_side_is_after_the_run_and_the_right_side_before_it() {
    let launch = ok(launch(
        "buffer a: u32[4] = iota(1)
         expect a[0] == sum(a)
         expect a[i] == a[i] * 10 for i in 1..3
         expect a[3..4] == [7]
         expect max(a) == 30
         expect sum(a[1..3]) == 50
         expect a != 0
         expect a[1..3] <= 30
         expect a[1] > a[0]",
    ));
    let passes = |words: [u32; 4]| {
        verdicts(&launch, &[&words]).iter().map(|(passed, _)| *passed).collect::<Vec<_>>()
    };
    assert_eq!(passes([10, 20, 30, 7]), [true; 8]);
    assert_eq!(passes([11, 21, 31, 0]), [false, false, false, false, false, false, false, true]);
}

#[test]
fn sides_meet_in_the_type_of_the_left_one() {
    let launch = ok(launch(
        "buffer a: u32[2] = [0xffffffff, 2]
         buffer s: u32[1]
         buffer b: u8[2] = [200, 100]
         buffer m: s8[1]
         expect s == block_sum(a, 2)
         expect sum(s) == sum(a)
         expect s[0] == sum(b) - 299
         expect m == -1
         expect m[0] == 0xff",
    ));
    let after: [&[u32]; 4] = [&[0, 0], &[1], &[0], &[0xff]];
    assert!(
        verdicts(&launch, &after).iter().all(|(passed, _)| *passed),
        "{:?}",
        verdicts(&launch, &after)
    );
    let masks = ok(super::tests::launch("buffer m: u32[1]\nexpect m == 0x77777777"));
    assert_eq!(
        verdicts(&masks, &[&[0x7fff_ffff]])[0].1,
        "m[0]: expected 2004318071 (0x77777777), found 2147483647 (0x7fffffff)"
    );
}

#[test]
fn floats_compare_by_value_and_within_a_tolerance() {
    let launch = ok(launch(
        "buffer x: f32[2] = [1.5, 2.5]
         buffer y: f32[2]
         expect y[i] == 2.0 * x[i] for i in 0..2
         expect y[i] == 2.0 * x[i] for i in 0..2 within 1e-3
         expect sum(y) == 8 within 0.01",
    ));
    let judged = |y: [f32; 2]| {
        let y = y.map(f32::to_bits);
        verdicts(&launch, &[&[0, 0], &y]).iter().map(|(passed, _)| *passed).collect::<Vec<_>>()
    };
    assert_eq!(judged([3.0, 5.0]), [true, true, true]);
    assert_eq!(judged([3.0, 5.001]), [false, true, true]);
    assert_eq!(judged([3.0, 5.5]), [false, false, false]);
    assert_eq!(judged([3.0, f32::NAN]), [false, false, false]);
}

#[test]
fn modes_finishes_and_metrics_are_judged() {
    let launch = ok(launch(
        "expect[pre-volta] finish == livelock
         expect[volta] finish == ok or fault
         expect metric divergent_branch == 90 + 5
         expect metric branch_efficiency < 34.5
         expect metric unheard_of >= 0",
    ));
    let metric = |name: &str| match name {
        "divergent_branch" => Ok(95.0),
        "branch_efficiency" => Ok(34.0),
        _ => Err(format!("there is no metric `{name}`")),
    };
    let run = |finish: &str, mode: &str| {
        let verdicts = judge(&launch, &After(Vec::new()), finish, &metric, mode);
        verdicts.into_iter().map(|v| (v.passed, v.detail)).collect::<Vec<_>>()
    };
    let unheard = (false, "there is no metric `unheard_of`".to_owned());
    let good = || (true, String::new());
    assert_eq!(run("livelock", "pre-volta"), [good(), good(), good(), unheard.clone()]);
    assert_eq!(run("fault", "volta"), [good(), good(), good(), unheard.clone()]);
    let detail = "expected ok or fault, found deadlock".to_owned();
    assert_eq!(run("deadlock", "volta"), [(false, detail), good(), good(), unheard]);
    assert!(
        launch.expectations[0].applies("pre-volta") && !launch.expectations[0].applies("volta")
    );
    assert_eq!(launch.expectations[2].metric(), Some("divergent_branch"));
}

#[test]
fn a_run_must_end_well_unless_the_file_says_otherwise() {
    let launch = ok(launch("expect[pre-volta] finish == livelock"));
    let run = |mode| judge(&launch, &After(Vec::new()), "livelock", &|_| Err(String::new()), mode);
    assert!(run("pre-volta").iter().all(|v| v.passed));
    let volta = run("volta");
    assert_eq!((volta.len(), volta[0].passed, volta[0].span), (1, false, None));
    assert_eq!(volta[0].detail, "the run ended in livelock");
}
