//! WARPSYNC, WARPSYNC.EXCLUSIVE and WARPSYNC.COLLECTIVE, driven by hand as an H200 executed them.

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
