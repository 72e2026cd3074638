use std::collections::BTreeSet;

use super::*;
use simt_core::observe::samples::{self, Pairing, interleaved, neighbored, neighbored_less};

fn machine() -> MachineFacts {
    MachineFacts {
        name: "test".to_owned(),
        sms: 132,
        schedulers_per_sm: 4,
        max_warps_per_sm: 64,
        warp_size: 32,
        clock_hz: 1_980_000_000,
        shared_banks: 32,
        launch_overhead: 0,
        fingerprint: Default::default(),
    }
}

fn value(name: &str, totals: &Totals, machine: &MachineFacts) -> Option<f64> {
    evaluate(find(name).expect(name), &Inputs { totals, machine }).map(Value::as_f64)
}

/// A metric's value as a profiler prints it, in hundredths.
fn hundredths(name: &str, totals: &Totals, machine: &MachineFacts) -> Option<u64> {
    value(name, totals, machine).map(|x| (x * 100.0).round() as u64)
}

#[test]
fn every_name_is_found_and_means_one_metric() {
    let mut names = BTreeSet::new();
    for metric in all() {
        let all_names = [Some(metric.name), metric.ncu]
            .into_iter()
            .flatten()
            .chain(metric.aliases.iter().copied());
        for name in all_names {
            assert!(names.insert(name), "{name} stands for two metrics");
            assert_eq!(find(name).map(|m| m.name), Some(metric.name));
        }
    }
    let mut groups: Vec<Group> = all().iter().map(|m| m.group).collect();
    groups.dedup();
    assert!(groups.is_sorted(), "a group's metrics stand together: {groups:?}");
    assert_eq!(find("branch_eficiency").map(|m| m.name), None);
    assert_eq!(suggest("branch_eficiency"), Some("branch_efficiency"));
    assert_eq!(suggest("smsp__inst_executed.summ"), Some("smsp__inst_executed.sum"));
    assert_eq!(suggest("qqqqqqqqqqq"), None);
}

#[test]
fn reductions_have_the_efficiencies_computed_by_hand() {
    let table: [(u32, Pairing, u64, u64); 6] = [
        (512, neighbored, 3403, 268),
        (512, neighbored_less, 9653, 1275),
        (512, interleaved, 9653, 330),
        (256, neighbored, 2656, 270),
        (128, neighbored, 1786, 274),
        (1024, neighbored, 4031, 268),
    ];
    for (block, pairing, branch_efficiency, sectors_per_load) in table {
        let totals = samples::counts(block, pairing).finish();
        assert_eq!(
            hundredths("branch_efficiency", &totals, &machine()),
            Some(branch_efficiency),
            "block {block}"
        );
        assert_eq!(
            hundredths("gld_transactions_per_request", &totals, &machine()),
            Some(sectors_per_load)
        );
    }
}

/// Counters of an H200 for the neighbored reduction of 2^24 integers.
/// Nsight Compute derives its metrics from them.
#[test]
fn derived_metrics_agree_with_nsight_compute() {
    let mut totals = samples::empty().finish();
    totals.inst_executed = 153_550_848;
    totals.slots_used = 153_557_356;
    totals.warps = 524_288;
    totals.thread_inst_executed = 4_311_711_744;
    totals.not_predicated_off = 3_808_067_584;
    totals.branches = 9_961_472;
    totals.divergent_branches = 3_112_960;
    totals.active_cycles = 54_401_399;
    totals.elapsed_cycles = 416_163;
    let loads = &mut totals.traffic[MemoryKind::Global as usize][AccessWay::Load as usize];
    loads.requests = 6_258_688;
    loads.sectors = 16_744_448;
    loads.l1_hits = 14_647_290;
    loads.requested_bytes = 32_768 * (2 * 511 + 1) * 4;
    // The profiler's time, 210.304 us, was taken at a clock slightly below the nominal one.
    let machine = MachineFacts { clock_hz: 416_163 * 1_000_000_000 / 210_304, ..machine() };
    for (name, printed) in [
        ("smsp__average_inst_executed_per_warp.ratio", 29_288),
        ("smsp__sass_average_branch_targets_threads_uniform.pct", 6_875),
        ("smsp__thread_inst_executed_per_inst_executed.ratio", 2_808),
        ("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", 2_480),
        ("sm__inst_executed.avg.per_cycle_active", 282),
        ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 2_502),
        ("l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second", 254_785),
        ("gpu__time_duration.sum", 21_030_400),
    ] {
        assert_eq!(hundredths(name, &totals, &machine), Some(printed), "{name}");
    }
}

#[test]
fn stall_reasons_are_a_partition_of_the_warp_states() {
    let mut totals = samples::empty().finish();
    for (i, cycles) in totals.stalls.iter_mut().enumerate() {
        *cycles = 1 << i;
    }
    totals.slots_used = 1000;
    let sum = |group: Group| -> f64 {
        let in_group = |m: &&Metric| m.group == group && m.name != "warp_latency_per_inst";
        all().iter().filter(in_group).filter_map(|m| value(m.name, &totals, &machine())).sum()
    };
    assert!((sum(Group::Stalls) - 100.0).abs() < 1e-9);
    let latency = value("warp_latency_per_inst", &totals, &machine()).unwrap();
    assert!((sum(Group::WarpStates) - latency).abs() < 1e-9);
    let stalled = (1_u64 << Stall::ALL.len()) - 1;
    assert!((latency - (1.0 + stalled as f64 / 1000.0)).abs() < 1e-9);
    for stall in Stall::ALL {
        assert!(
            find(stall_reason(stall.name())).is_some_and(|m| m.group == Group::Stalls),
            "{}",
            stall.name()
        );
        assert!(find(&format!("warp_state_{}", stall.name())).is_some());
    }
}

#[test]
fn shared_memory_tells_conflicts_from_wide_accesses() {
    let mut totals = samples::empty().finish();
    let shared = &mut totals.traffic[MemoryKind::Shared as usize];
    // Ten loads of one word per lane, each with a two-way conflict, and ten conflict-free stores of
    // 16 bytes per lane.
    shared[0] = TrafficTotals {
        requests: 10,
        requested_bytes: 1280,
        wavefronts: 20,
        ideal_wavefronts: 10,
        ..shared[0]
    };
    shared[1] = TrafficTotals {
        requests: 10,
        requested_bytes: 5120,
        wavefronts: 40,
        ideal_wavefronts: 40,
        ..shared[1]
    };
    totals.inst_executed = 100;
    for (name, expected) in [
        ("shared_ld_bank_conflict", 10.0),
        ("shared_st_bank_conflict", 0.0),
        ("shared_load_transactions_per_request", 2.0),
        ("shared_store_transactions_per_request", 4.0),
        ("shared_efficiency", 100.0 * 6400.0 / (60.0 * 128.0)),
        ("shared_replay_overhead", 0.4),
    ] {
        assert_eq!(value(name, &totals, &machine()), Some(expected), "{name}");
    }
}

#[test]
fn occupancy_and_slots_divide_by_what_the_machine_has() {
    let mut totals = samples::empty().finish();
    totals.elapsed_cycles = 1000;
    totals.active_cycles = 66_000;
    totals.resident_warp_cycles = 32 * 66_000;
    totals.slots_used = 66_000;
    for (name, expected) in
        [("achieved_occupancy", 0.5), ("sm_efficiency", 50.0), ("issue_slot_utilization", 25.0)]
    {
        assert_eq!(value(name, &totals, &machine()), Some(expected), "{name}");
    }
}

#[test]
fn nothing_divides_by_zero_and_counts_stay_exact() {
    let totals = samples::empty().finish();
    let nowhere = MachineFacts::default();
    for metric in all() {
        let value = evaluate(metric, &Inputs { totals: &totals, machine: &nowhere });
        assert!(
            value.is_none_or(|v| v.as_f64() == 0.0),
            "{} is {value:?} in an empty run",
            metric.name
        );
    }
    let huge = Totals { inst_executed: (1 << 53) + 1, ..totals };
    let exact =
        evaluate(find("inst_executed").unwrap(), &Inputs { totals: &huge, machine: &nowhere });
    assert_eq!(serde_json::to_string(&exact).unwrap(), "9007199254740993");
}

/// `BLESS=1 cargo test -p simt-report metrics` rewrites the page.
#[test]
fn the_reference_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/metrics.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, reference()).expect("docs/reference/metrics.md can be written");
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == reference(),
        "docs/reference/metrics.md is out of date: run `BLESS=1 cargo test -p simt-report metrics`"
    );
}

#[test]
fn the_listing_keeps_its_width_and_names_everything() {
    for width in [40, 60, 100] {
        let list = listing(width);
        for line in list.lines() {
            assert!(line.chars().count() <= width, "{line}");
        }
    }
    let list = listing(100);
    for metric in all() {
        assert!(list.contains(&format!("\n  {}", metric.name)), "{}", metric.name);
    }
}
