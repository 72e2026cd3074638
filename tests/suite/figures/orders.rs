//! Order of a branch's sides, and independence of everything else from it.

use simt_core::divergence::SideOrder;
use simt_core::spec::Mode;

use super::{MAX_CYCLES, assert_expected, count, program, run_on, run_with, words};
use crate::support::{MODES, machine, options};

const ORDERS: [SideOrder; 7] = [
    SideOrder::Taken,
    SideOrder::FallThrough,
    SideOrder::Fewer,
    SideOrder::More,
    SideOrder::Random(1),
    SideOrder::Random(2),
    SideOrder::Random(3),
];

#[test]
fn the_smaller_side_runs_first_on_an_h200_whichever_way_it_goes() {
    let program = program("small/side_order.ir");
    for few in [1, 8, 16, 24, 31] {
        for falls in [0, 1] {
            assert_expected(&run_on(&program, "h200", &[("few", few), ("falls", falls)]));
        }
    }
}

#[test]
fn each_order_does_what_its_name_says() {
    let program = program("small/side_order.ir");
    for mode in MODES {
        let spec = machine(mode.default_machine());
        for few in [1u32, 8, 16, 24, 31] {
            for falls in [0, 1] {
                for (order, low_first) in [
                    (SideOrder::Taken, falls == 0),
                    (SideOrder::FallThrough, falls == 1),
                    (SideOrder::Fewer, if few == 16 { falls == 1 } else { few < 16 }),
                    (SideOrder::More, if few == 16 { falls == 1 } else { few > 16 }),
                ] {
                    let constants = [("few", i64::from(few)), ("falls", falls)];
                    let done =
                        run_with(&program, &spec, &options(mode, order, MAX_CYCLES), &constants);
                    let expected: Vec<u32> = (0..32)
                        .map(|lane| if low_first { lane } else { (lane + 32 - few) % 32 })
                        .collect();
                    assert_eq!(
                        words(&done, "ticket"),
                        expected,
                        "{order:?}, few = {few}, falls = {falls}"
                    );
                }
            }
        }
    }
}

#[test]
fn leaves_run_depth_first_in_the_order_of_each_level() {
    let program = program("small/nested.ir");
    let spec = machine("h200");
    for (order, leaves) in
        [(SideOrder::FallThrough, [3, 1, 2, 0]), (SideOrder::Taken, [0, 2, 1, 3])]
    {
        // A leaf's number has the outer condition (lane & 1) as its low bit: measured "10" is 1
        // here.
        let done = run_with(&program, &spec, &options(Mode::Volta, order, MAX_CYCLES), &[]);
        let tickets = words(&done, "ticket");
        let mut seen: Vec<u32> = (0..4).collect();
        seen.sort_by_key(|&leaf| tickets[leaf as usize]);
        assert_eq!(seen, leaves, "{order:?}");
    }
}

#[test]
fn structured_programs_do_not_depend_on_the_order() {
    for name in [
        "break",
        "early_return",
        "early_return_nested",
        "for_tid",
        "loop_trips",
        "nested_four",
        "switch",
    ] {
        let program = program(&format!("small/{name}.ir"));
        for mode in MODES {
            let spec = machine(mode.default_machine());
            let counts: Vec<_> = ORDERS
                .map(|order| {
                    let done = run_with(&program, &spec, &options(mode, order, MAX_CYCLES), &[]);
                    assert_expected(&done);
                    ["ptx_inst_executed", "conditional_branches", "divergent_branch"]
                        .map(|metric| super::count(&done, metric))
                })
                .to_vec();
            assert!(counts.iter().all(|c| c == &counts[0]), "{name}, {}: {counts:?}", mode.name());
        }
    }
}

#[test]
fn nanosleep_hands_the_warp_over_from_volta_on_only() {
    let program = program("small/nanosleep.ir");
    let (odd, even) = (0xaaaa_aaaa, 0x5555_5555);
    for (mode, order, expected) in [
        (Mode::Volta, SideOrder::FallThrough, [odd, even, odd, even, odd, even]),
        (Mode::Volta, SideOrder::Taken, [even, odd, even, odd, even, odd]),
        (Mode::PreVolta, SideOrder::FallThrough, [odd, odd, odd, even, even, even]),
        (Mode::PreVolta, SideOrder::Taken, [even, even, even, odd, odd, odd]),
    ] {
        let spec = machine(mode.default_machine());
        let done = run_with(&program, &spec, &options(mode, order, MAX_CYCLES), &[("rounds", 3)]);
        let rounds: Vec<u32> = words(&done, "who").chunks(16).map(|round| round[0]).collect();
        assert_eq!(rounds, expected, "{}, {order:?}", mode.name());
    }
}

#[test]
fn who_does_not_break_goes_on_with_the_others_since_volta() {
    let program = program("small/turn_away.ir");
    // The loop's three branches, by hand: eight passes of each half of the warp, or of both
    // together (as counted on an H200).
    for (mode, branches) in [(Mode::PreVolta, 8 + 8 + 7 + 8 + 7), (Mode::Volta, 8 + 8 + 8)] {
        let done = run_on(&program, mode.default_machine(), &[]);
        assert_expected(&done);
        assert_eq!(count(&done, "conditional_branches"), branches, "{}", mode.name());
    }
}

#[test]
fn a_branch_that_constants_decide_leads_nobody_around() {
    let program = program("small/decided_branch.ir");
    // Four branches, eight passes together since Volta (as counted on an H200). Before, the lower
    // half makes its 8 + 8 + 7 alone, then the upper one, which starts with the same, its 8 + 8 +
    // 7.
    for (mode, branches) in [(Mode::PreVolta, 8 + 8 + 7 + 8 + 8 + 7), (Mode::Volta, 4 * 8)] {
        let done = run_on(&program, mode.default_machine(), &[]);
        assert_expected(&done);
        assert_eq!(count(&done, "conditional_branches"), branches, "{}", mode.name());
    }
}

#[test]
fn lanes_do_not_wait_for_those_that_yield_where_they_enter_a_function() {
    let program = program("small/yield_in_function.ir");
    for (mode, stores) in [(Mode::PreVolta, 1), (Mode::Volta, 2)] {
        let done = run_on(&program, mode.default_machine(), &[]);
        assert_expected(&done);
        assert_eq!(count(&done, "gst_requests"), stores, "{}", mode.name());
    }
}
