//! Barriers, yields, exits, branches through registers and WARPSYNC, driven by hand as an H200
//! executed them.

use super::*;

const ALL: LaneMask = LaneMask(0b1111);

fn warp() -> Elected {
    Elected::new(ALL, Pc(0), SideOrder::Fewer)
}

#[track_caller]
fn runs(warp: &Elected, pc: u32, lanes: u32) {
    assert_eq!(warp.active(), Some((Pc(pc), LaneMask(lanes))));
    let groups = warp.groups();
    let all = groups.iter().fold(LaneMask::EMPTY, |all, group| all | group.lanes);
    assert_eq!(all, warp.live(), "every live lane is in a group");
}

fn branch(taken: u32, target: u32, next: u32) -> Flow {
    Flow::Branch { taken: LaneMask(taken), target: Pc(target), next: Pc(next), reconverge: None }
}

fn set(lanes: u32, mask: u32) -> (LaneMask, LaneMask) {
    (LaneMask(lanes), LaneMask(mask))
}

fn exit(lanes: u32) -> Flow {
    Flow::Exit { lanes: LaneMask(lanes), next: Pc(99) }
}

#[test]
fn lanes_of_other_masks_execute_an_exclusive_gather_again() {
    let mut w = warp();
    w.advance(Flow::Set { join: JoinId(0), next: Pc(1) });
    for (active, lanes) in [(0b1111, 0b0011), (0b1100, 0b0100), (0b1000, 0b1000)] {
        runs(&w, 1, active);
        w.gather_apart(set(lanes, lanes), Pc(2));
        runs(&w, 2, lanes);
        w.advance(Flow::Sync { join: JoinId(0), next: Pc(4) });
    }
    runs(&w, 4, 0b1111);
}

#[test]
fn lanes_that_waited_execute_their_gather_again() {
    let mut w = warp();
    w.advance(branch(0b0001, 5, 1));
    runs(&w, 5, 0b0001);
    w.gather(&[set(0b0001, 0b1111)], Pc(6));
    runs(&w, 1, 0b1110);
    w.advance(Flow::Next { next: Pc(5) });
    w.gather(&[set(0b1110, 0b1111)], Pc(6));
    runs(&w, 5, 0b1111);
    w.gather(&[set(0b1111, 0b1111)], Pc(6));
    runs(&w, 6, 0b1111);
}

#[test]
fn lanes_of_three_places_execute_the_instructions_of_the_last() {
    let mut w = warp();
    // Lane 0 comes from 10, lanes 1 and 2 from 20, lane 3 from 30.
    w.advance(branch(0b1000, 30, 1));
    runs(&w, 30, 0b1000);
    w.gather_together(set(0b1000, 0b1111), Pc(31), Pc(33));
    runs(&w, 1, 0b0111);
    w.advance(branch(0b0001, 10, 20));
    w.gather_together(set(0b0001, 0b1111), Pc(11), Pc(13));
    runs(&w, 20, 0b0110);
    w.gather_together(set(0b0110, 0b1111), Pc(21), Pc(23));
    // The lanes that waited execute their instruction again.
    runs(&w, 10, 0b0001);
    w.gather_together(set(0b0001, 0b1111), Pc(11), Pc(13));
    runs(&w, 30, 0b1000);
    w.gather_together(set(0b1000, 0b1111), Pc(31), Pc(33));
    runs(&w, 21, 0b1111);
    w.end_collective(Pc(23));
    // First the lanes that came last, then the others, the lowest lane first.
    for (pc, lanes) in [(23, 0b0110), (13, 0b0001), (33, 0b1000)] {
        runs(&w, pc, lanes);
        w.advance(exit(0b1111));
    }
    assert_eq!((w.active(), w.depth()), (None, 0));
}

#[test]
fn lanes_that_exit_are_not_waited_for() {
    let mut w = warp();
    w.advance(branch(0b0001, 10, 1));
    w.gather_together(set(0b0001, 0b1111), Pc(11), Pc(13));
    runs(&w, 1, 0b1110);
    w.advance(exit(0b1110));
    runs(&w, 10, 0b0001);
    w.gather_together(set(0b0001, 0b1111), Pc(11), Pc(13));
    runs(&w, 11, 0b0001);
    w.end_collective(Pc(12));
    runs(&w, 13, 0b0001);
}

fn set_of(join: u32, next: u32) -> Flow {
    Flow::Set { join: JoinId(join), next: Pc(next) }
}

fn sync(join: u32, next: u32) -> Flow {
    Flow::Sync { join: JoinId(join), next: Pc(next) }
}

#[test]
fn an_exit_that_completes_a_barrier_makes_its_lanes_ready() {
    let mut w = warp();
    w.advance(branch(0b0110, 30, 1));
    w.advance(set_of(1, 2));
    w.advance(branch(0b1000, 20, 3));
    runs(&w, 3, 0b0001);
    w.advance(sync(1, 4));
    runs(&w, 20, 0b1000);
    w.advance(exit(0b1000));
    runs(&w, 3, 0b0001); // before 0110, which were the sibling
    w.advance(sync(1, 4));
    runs(&w, 4, 0b0001);
    w.advance(exit(0b0001));
    runs(&w, 30, 0b0110);
}

#[test]
fn the_sync_of_a_barrier_whose_lanes_have_exited_executes_twice() {
    let mut w = warp();
    w.advance(branch(0b0011, 10, 1));
    w.advance(set_of(2, 2));
    w.advance(exit(0b1100));
    runs(&w, 10, 0b0011);
    w.advance(set_of(2, 11));
    for _ in 0..2 {
        runs(&w, 11, 0b0011);
        w.advance(sync(2, 12));
    }
    runs(&w, 12, 0b0011);
}

#[test]
fn the_sync_of_a_restored_barrier_executes_twice_if_it_has_participants() {
    let mut w = warp();
    w.advance(set_of(6, 1));
    let mask = w.barrier(JoinId(6), true, Pc(2));
    assert_eq!(mask, ALL);
    for (saved, times) in [(LaneMask::EMPTY, 1), (mask, 2)] {
        w.set_barrier(JoinId(6), saved);
        w.advance(set_of(6, 3));
        for _ in 0..times {
            runs(&w, 3, 0b1111);
            w.advance(sync(6, 4));
        }
        runs(&w, 4, 0b1111);
    }
}

#[test]
fn lanes_gather_again_if_no_other_can_run() {
    let mut w = warp();
    w.advance(branch(0b0001, 5, 1));
    w.gather(&[set(0b0001, 0b1111)], Pc(6));
    w.advance(set_of(0, 2));
    w.advance(branch(0b0100, 6, 3));
    w.gather(&[set(0b0100, 0b1111)], Pc(7));
    w.advance(branch(0b0010, 9, 4));
    runs(&w, 4, 0b1000);
    w.advance(sync(0, 8));
    runs(&w, 9, 0b0010);
    w.advance(exit(0b0010));
    runs(&w, 5, 0b0001);
    w.gather(&[set(0b0001, 0b1111)], Pc(6));
    runs(&w, 6, 0b0100); // and so do the others
    w.gather(&[set(0b0100, 0b1111)], Pc(7));
    runs(&w, 4, 0b1000);
}

#[test]
fn lanes_that_arrive_first_end_the_yield_of_the_others() {
    let mut w = warp();
    w.advance(set_of(0, 1));
    w.advance(set_of(1, 2));
    w.advance(branch(0b0011, 10, 3));
    w.advance(Flow::Yield { next: Pc(4) });
    runs(&w, 10, 0b0011);
    w.advance(sync(0, 11));
    runs(&w, 11, 0b0011);
    w.advance(sync(1, 12));
    runs(&w, 4, 0b1100);
}

#[test]
fn lanes_that_a_yield_releases_leave_an_empty_barrier() {
    let mut w = warp();
    w.advance(set_of(0, 1));
    w.advance(branch(0b0011, 10, 1));
    w.advance(sync(0, 2));
    runs(&w, 10, 0b0011);
    w.advance(Flow::Yield { next: Pc(11) });
    runs(&w, 1, 0b1100);
    w.advance(sync(0, 2));
    runs(&w, 2, 0b1100);
    w.advance(exit(0b1100));
    runs(&w, 11, 0b0011);
    w.advance(branch(0b0001, 20, 12));
    runs(&w, 12, 0b0010);
    w.advance(sync(0, 13));
    runs(&w, 13, 0b0010);
}

#[test]
fn the_target_of_the_fewer_lanes_goes_first() {
    let mut w = warp();
    let sides = [(10, 0b0111), (20, 0b1000)];
    w.split(&sides.map(|(pc, lanes)| Side { pc: Pc(pc), lanes: LaneMask(lanes) }));
    runs(&w, 20, 0b1000);
    assert!(!w.are_left());
    w.advance(exit(0b1000));
    runs(&w, 0, 0b0111);
    assert!(w.are_left());
}

#[test]
fn the_last_to_arrive_take_those_at_other_places_along() {
    let mut w = warp();
    w.advance(set_of(0, 1));
    w.advance(branch(0b0011, 10, 1));
    w.advance(sync(0, 2));
    runs(&w, 10, 0b0011);
    w.advance(sync(0, 11));
    runs(&w, 11, 0b1111);
}

#[test]
fn lanes_of_a_barrier_that_was_set_again_go_on_by_place() {
    let mut w = warp();
    w.advance(set_of(0, 1));
    w.advance(set_of(0, 2));
    w.advance(branch(0b0011, 10, 2));
    w.advance(sync(0, 3));
    w.advance(sync(0, 11));
    runs(&w, 10, 0b0011); // the BSYNC executes twice
    w.advance(sync(0, 11));
    runs(&w, 11, 0b0011);
    w.advance(exit(0b0011));
    runs(&w, 2, 0b1100);
    w.advance(sync(0, 3)); // the barrier is empty
    runs(&w, 3, 0b1100);
}

#[test]
fn a_barrier_waits_for_no_lane_that_is_blocked_elsewhere() {
    let mut w = warp();
    w.advance(branch(0b0110, 30, 1));
    runs(&w, 1, 0b1001);
    w.advance(set_of(0, 2));
    w.advance(set_of(1, 3));
    w.advance(branch(0b1000, 20, 4));
    runs(&w, 4, 0b0001);
    w.advance(sync(1, 5)); // 1000 are ready
    runs(&w, 20, 0b1000);
    w.advance(sync(0, 21)); // 0001 are blocked at the other barrier, 0110 take no part
    runs(&w, 21, 0b1000);
}

#[test]
fn woken_lanes_run_after_all_that_are_ready() {
    let mut w = warp();
    w.advance(set_of(0, 1));
    w.advance(branch(0b0001, 10, 2));
    w.advance(Flow::Yield { next: Pc(11) });
    runs(&w, 2, 0b1110);
    w.advance(sync(0, 3)); // no other lane is ready: 0001 are woken
    runs(&w, 3, 0b1110);
    w.advance(branch(0b0010, 20, 4));
    w.advance(exit(0b0010));
    runs(&w, 4, 0b1100);
    w.advance(exit(0b1100));
    runs(&w, 11, 0b0001);
}

#[test]
fn lanes_that_wait_at_a_return_do_not_meet_those_at_their_target() {
    let mut w = warp();
    w.advance(branch(0b1100, 10, 1));
    runs(&w, 1, 0b0011);
    let sides = [(5, 0b0001), (10, 0b0010)];
    w.split(&sides.map(|(pc, lanes)| Side { pc: Pc(pc), lanes: LaneMask(lanes) }));
    runs(&w, 5, 0b0001);
    w.advance(branch(0b0000, 0, 6));
    w.advance(exit(0b0001));
    runs(&w, 1, 0b0010); // they execute the return again
    w.advance(exit(0b0010));
    runs(&w, 10, 0b1100);
}

#[test]
fn lanes_that_wait_at_a_return_execute_it_with_those_that_come() {
    let mut w = Elected::new(LaneMask(0b11_1111), Pc(0), SideOrder::Fewer);
    w.advance(branch(0b11_0000, 7, 1));
    runs(&w, 7, 0b11_0000);
    w.advance(Flow::Yield { next: Pc(7) });
    runs(&w, 1, 0b1111);
    w.advance(Flow::Next { next: Pc(7) });
    let sides = [(5, 0b0011), (10, 0b1100)];
    w.split(&sides.map(|(pc, lanes)| Side { pc: Pc(pc), lanes: LaneMask(lanes) }));
    runs(&w, 5, 0b0011);
    w.advance(branch(0b0010, 20, 6)); // the second lanes of the return go to the pool
    w.advance(exit(0b0001));
    runs(&w, 20, 0b0010);
    w.advance(exit(0b0010));
    runs(&w, 7, 0b11_1100);
}

#[test]
fn an_exit_releases_only_lanes_that_take_part() {
    let mut w = warp();
    w.advance(set_of(0, 1));
    w.advance(branch(0b0001, 10, 2));
    w.advance(sync(0, 11)); // 0001 wait
    runs(&w, 2, 0b1110);
    w.set_barrier(JoinId(0), LaneMask(0b0010));
    w.advance(branch(0b0010, 20, 3));
    runs(&w, 20, 0b0010);
    w.advance(exit(0b0010));
    runs(&w, 3, 0b1100);
    w.advance(exit(0b1100));
    runs(&w, 10, 0b0001);
}

#[test]
fn lanes_that_take_no_part_in_a_barrier_do_not_wait() {
    let mut w = warp();
    w.advance(set_of(0, 1));
    w.leave(JoinId(0), LaneMask(0b0001), Pc(2));
    w.advance(branch(0b1100, 10, 3));
    runs(&w, 3, 0b0011);
    w.advance(sync(0, 4)); // 0010 wait
    runs(&w, 4, 0b0001);
    w.advance(exit(0b0001));
    runs(&w, 10, 0b1100);
}

#[test]
fn a_block_barrier_stops_the_whole_warp() {
    let mut w = warp();
    w.advance(branch(0b0001, 10, 1));
    w.advance(Flow::Barrier { id: 0, next: Pc(11) });
    assert_eq!(w.active(), None, "the other lanes could run, but do not");
    w.release_barrier(0);
    runs(&w, 11, 0b0001);
    w.advance(exit(0b0001));
    runs(&w, 1, 0b1110);
}

#[test]
fn lanes_go_on_without_those_that_are_blocked_elsewhere() {
    let mut w = warp();
    w.advance(set_of(6, 1));
    w.advance(set_of(7, 2));
    w.advance(branch(0b0011, 10, 3));
    runs(&w, 3, 0b1100);
    w.advance(sync(7, 4));
    runs(&w, 10, 0b0011);
    w.advance(sync(6, 11)); // 1100 wait at the other barrier: no lane is ready
    runs(&w, 11, 0b0011);
    w.advance(exit(0b0011));
    runs(&w, 3, 0b1100);
}

#[test]
fn of_lanes_that_wait_those_that_stopped_last_come_last() {
    let mut w = warp();
    w.advance(set_of(6, 1));
    w.advance(branch(0b0001, 10, 2));
    w.advance(sync(6, 11)); // 0001 wait
    w.advance(branch(0b0010, 20, 3));
    w.advance(Flow::Yield { next: Pc(21) });
    runs(&w, 3, 0b1100);
    let _ = w.barrier(JoinId(6), true, Pc(4));
    w.advance(Flow::Yield { next: Pc(5) });
    runs(&w, 10, 0b0001);
    w.advance(exit(0b0001));
    runs(&w, 21, 0b0010);
}

#[test]
fn an_exit_leaves_barriers_of_others_while_lanes_are_ready() {
    let mut w = warp();
    w.advance(set_of(6, 1));
    w.advance(branch(0b0001, 10, 2));
    w.advance(sync(6, 11)); // 0001 wait
    let _ = w.barrier(JoinId(6), true, Pc(3));
    w.advance(branch(0b0010, 20, 4));
    w.advance(exit(0b0010));
    runs(&w, 4, 0b1100); // ready
    w.advance(exit(0b1100));
    runs(&w, 10, 0b0001);
}

#[test]
fn the_search_goes_on_from_the_lane_that_was_found_last() {
    let mut w = warp();
    w.advance(branch(0b0100, 1, 1));
    runs(&w, 1, 0b0100);
    w.advance(Flow::Yield { next: Pc(2) });
    runs(&w, 1, 0b1011);
    w.advance(Flow::Yield { next: Pc(2) });
    runs(&w, 2, 0b1111); // lane 2 was found
    w.advance(set_of(0, 3));
    w.advance(set_of(1, 4));
    w.advance(branch(0b0110, 40, 5));
    w.advance(branch(0b1000, 20, 6));
    w.advance(sync(0, 7)); // 0001 wait
    w.advance(sync(1, 21)); // 1000 wait
    runs(&w, 40, 0b0110);
    w.advance(exit(0b0110));
    runs(&w, 20, 0b1000); // lane 3 comes before lane 0
}

#[test]
fn a_sync_of_lanes_that_stayed_together_elects_nobody() {
    let mut w = warp();
    w.advance(set_of(0, 1));
    w.advance(sync(0, 2));
    runs(&w, 2, 0b1111);
    assert!(!w.take_election());
    // After a second BSSY the BSYNC executes twice.
    w.advance(set_of(0, 3));
    w.advance(set_of(0, 4));
    w.advance(sync(0, 5));
    runs(&w, 4, 0b1111);
    assert!(w.take_election());
    w.advance(sync(0, 5));
    runs(&w, 5, 0b1111);
    assert!(!w.take_election());
}
