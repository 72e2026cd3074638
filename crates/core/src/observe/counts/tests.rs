use super::*;
use crate::base::{BlockId, Pc, SmId, WarpId};
use crate::event::{AccessWay, MemoryKind};
use crate::observe::samples::{self, Pairing, interleaved, neighbored, neighbored_less};

/// Table computed by hand from the reductions' formulas, per block: block, kernel, branches,
/// divergent, body executions, lanes in bodies, load sectors.
#[test]
fn reductions_count_as_their_formulas_say() {
    let table: [(u32, Pairing, u64, u64, u64, u64); 9] = [
        (512, neighbored, 144, 95, 95, 511),
        (512, neighbored_less, 144, 5, 20, 511),
        (512, interleaved, 144, 5, 20, 511),
        (256, neighbored, 64, 47, 47, 255),
        (256, neighbored_less, 64, 5, 12, 255),
        (128, neighbored, 28, 23, 23, 127),
        (1024, neighbored, 320, 191, 191, 1023),
        (1024, neighbored_less, 320, 5, 36, 1023),
        (1024, interleaved, 320, 5, 36, 1023),
    ];
    for (block, pairing, branches, divergent, bodies, lanes) in table {
        let totals = samples::counts(block, pairing).finish();
        let loads = totals.traffic(MemoryKind::Global, AccessWay::Load);
        assert_eq!(
            (totals.branches, totals.divergent_branches),
            (branches, divergent),
            "block {block}"
        );
        assert_eq!(
            (loads.requests, loads.requested_bytes),
            (2 * bodies, 8 * lanes),
            "block {block}"
        );
        let body = &totals.steps[samples::LOAD_A as usize];
        assert_eq!((body.issues, body.active_lanes, body.requests), (bodies, lanes, bodies));
        let branch = &totals.steps[samples::SKIP as usize];
        assert_eq!((branch.branches, branch.divergent), (branches, divergent));
        assert_eq!(
            branch.taken_lanes,
            32 * branches - lanes,
            "the lanes that do not work branch over the body"
        );
    }
}

#[test]
fn load_sectors_of_a_block_of_512() {
    let sectors = |pairing| samples::counts(512, pairing).finish().traffic[0][0].sectors;
    // Facts H3: 2.68, 12.75 and 3.30 sectors per load, over 190, 40 and 40 loads.
    assert_eq!(sectors(neighbored), 510);
    assert_eq!(sectors(neighbored_less), 510);
    assert_eq!(sectors(interleaved), 132);
}

#[test]
fn machine_instructions_weigh_lanes_and_joins_stay_apart() {
    let totals = samples::counts(512, neighbored).finish();
    let tests = 144;
    assert_eq!(totals.steps_executed, tests * 3 + 95 * 3);
    assert_eq!(
        totals.inst_executed,
        totals.steps_executed + tests * u64::from(samples::TEST_SLOTS - 1)
    );
    assert_eq!((totals.join_steps, totals.join_slots), (tests, tests));
    assert_eq!(totals.slots_used, totals.inst_executed + tests);
    let by_lanes: u64 = (0..).zip(totals.histogram).map(|(lanes, n): (u64, u64)| lanes * n).sum();
    assert_eq!(totals.histogram.iter().sum::<u64>(), totals.inst_executed);
    assert_eq!(by_lanes, totals.thread_inst_executed);
    assert_eq!(totals.thread_inst_executed, tests * 32 * 5 + 511 * 3);
    assert_eq!(totals.histogram[1], 3 * (16 + 8 + 4 + 2 + 1), "strides 16 to 256: one lane a warp");
}

#[test]
fn a_guard_counts_as_predicated_off() {
    let mut counts = Counts::new(&[false], 32, false);
    let event = Event::Issue {
        cycle: 0,
        sm: SmId(0),
        warp: WarpId(0),
        pc: Pc(0),
        active: LaneMask(0xffff),
        lanes: LaneMask(0xf),
        slots: 2,
    };
    counts.on(event);
    let totals = counts.finish();
    assert_eq!((totals.thread_inst_executed, totals.not_predicated_off), (32, 8));
    assert_eq!((totals.steps[0].active_lanes, totals.steps[0].executed_lanes), (16, 4));
    assert_eq!(totals.histogram[16], 2);
}

#[test]
fn every_slot_and_every_warp_cycle_is_counted_once() {
    let totals = samples::counts(512, interleaved).finish();
    assert_eq!(totals.slots_total(), totals.active_cycles, "one scheduler, one warp at a time");
    assert_eq!(totals.resident_warp_cycles, totals.active_cycles);
    assert_eq!(totals.slots_used + totals.stalled_total(), totals.resident_warp_cycles);
    assert_eq!(totals.steps[samples::TEST as usize].main_stall(), Some((Stall::Barrier, 2 * 144)));
    assert_eq!(totals.steps[samples::SKIP as usize].main_stall(), None);
}

#[test]
fn a_warp_cut_short_counts_as_resident_to_the_end() {
    let mut counts = Counts::new(&[false], 32, false);
    let sm = SmId(0);
    for (slot, cycle) in [(0, 10), (1, 30)] {
        let (warp, block, lanes) = (WarpId(slot), BlockId(0), LaneMask::first_n(7));
        counts.on(Event::WarpStart { cycle, sm, warp, block, index: slot, lanes });
    }
    counts.on(Event::WarpEnd { cycle: 50, sm, warp: WarpId(0), since: 10 });
    counts.on(Event::SmEnd { cycle: 100, sm, blocks: 0 });
    let totals = counts.finish();
    assert_eq!((totals.resident_warp_cycles, totals.warps, totals.threads), (40 + 70, 2, 14));
}

#[test]
fn a_drain_past_the_last_step_is_still_a_stall() {
    let mut counts = Counts::new(&[false], 32, false);
    let (sm, warp) = (SmId(0), WarpId(0));
    counts.on(Event::WarpStalled { sm, warp, pc: Pc(1), stall: Stall::Drain, cycles: 9 });
    let totals = counts.finish();
    assert_eq!((totals.stalled(Stall::Drain), totals.steps.len()), (9, 1));
}

#[test]
fn merging_does_not_depend_on_the_order() {
    let parts = || {
        [neighbored as Pairing, neighbored_less, interleaved]
            .map(|pairing| samples::counts(512, pairing))
    };
    let total = |order: [usize; 3]| {
        let parts = parts();
        let mut sum = samples::empty();
        for i in order {
            sum.merge(parts[i].clone());
        }
        sum.finish()
    };
    let first = total([0, 1, 2]);
    let apart = parts().map(Counts::finish);
    assert_eq!(first.active_cycles, apart.iter().map(|t| t.active_cycles).sum::<u64>());
    assert_eq!(Some(first.elapsed_cycles), apart.iter().map(|t| t.elapsed_cycles).max());
    assert_eq!((first.branches, first.divergent_branches, first.active_sms), (432, 105, 3));
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        assert_eq!(total(order), first, "{order:?}");
    }
}
