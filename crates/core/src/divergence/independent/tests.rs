//! Warps driven by hand: each test executes the program in its comments.

use super::*;

mod calls;

const B0: JoinId = JoinId(0);
const B1: JoinId = JoinId(1);

fn warp(lanes: u32) -> Independent {
    Independent::new(LaneMask(lanes), Pc(0), SideOrder::Fewer)
}

fn next(pc: u32) -> Flow {
    Flow::Next { next: Pc(pc) }
}

fn set(join: JoinId, pc: u32) -> Flow {
    Flow::Set { join, next: Pc(pc) }
}

fn sync(join: JoinId, pc: u32) -> Flow {
    Flow::Sync { join, next: Pc(pc) }
}

fn leave(join: JoinId, pc: u32) -> Flow {
    Flow::Break { join, next: Pc(pc) }
}

fn branch(taken: u32, target: u32, next: u32) -> Flow {
    Flow::Branch { taken: LaneMask(taken), target: Pc(target), next: Pc(next), reconverge: None }
}

fn exit(lanes: u32) -> Flow {
    Flow::Exit { lanes: LaneMask(lanes), next: Pc(99) }
}

/// Executes a script: each line states the expected PC and lanes, and the step's effect.
#[track_caller]
fn expect(warp: &mut Independent, script: &[(u32, u32, Flow)]) {
    for (i, &(pc, lanes, flow)) in script.iter().enumerate() {
        assert_eq!(warp.active(), Some((Pc(pc), LaneMask(lanes))), "line {i}");
        warp.advance(flow);
    }
}

#[test]
fn if_else_rejoins() {
    let mut w = warp(0b1111);
    expect(
        &mut w,
        &[
            (0, 0b1111, set(B0, 1)),
            (1, 0b1111, branch(0b0001, 5, 2)),
            (5, 0b0001, sync(B0, 10)),
            (2, 0b1110, sync(B0, 10)),
            (10, 0b1111, exit(0b1111)),
        ],
    );
    assert_eq!((w.active(), w.live(), w.depth()), (None, LaneMask::EMPTY, 0));
}

/// `for (..) { if (a) { if (b) break; X } Y }`: lane 0 reaches Y, lanes 1 and 2 break, lane 3
/// executes X.
#[test]
fn who_breaks_is_not_waited_for() {
    let mut w = warp(0b1111);
    expect(
        &mut w,
        &[
            (0, 0b1111, set(B0, 1)),
            (1, 0b1111, set(B1, 2)),
            (2, 0b1111, branch(0b0001, 10, 3)),
            (10, 0b0001, sync(B1, 11)), // waits at Y
            (3, 0b1110, branch(0b1000, 7, 4)),
            (7, 0b1000, next(8)), // X
            (8, 0b1000, sync(B1, 11)),
            (4, 0b0110, leave(B1, 20)), // the lanes at Y become ready
            (20, 0b0110, sync(B0, 30)),
            (11, 0b1001, next(12)),
            (12, 0b1001, sync(B0, 30)),
            (30, 0b1111, exit(0b1111)),
        ],
    );
    assert_eq!((w.active(), w.live(), w.depth()), (None, LaneMask::EMPTY, 0));
}

/// Ties run the fall-through side first, depth first. The two-level branch has leaves 11, 10, 01,
/// 00; its taken side is bit value 0.
#[test]
fn nested_ties_run_depth_first() {
    let mut w = warp(0b1111);
    expect(
        &mut w,
        &[
            (0, 0b1111, set(B0, 1)),
            (1, 0b1111, branch(0b0101, 20, 10)),
            (10, 0b1010, set(B1, 11)),
            (11, 0b1010, branch(0b0010, 13, 12)),
            (12, 0b1000, sync(B1, 15)),
            (13, 0b0010, sync(B1, 15)),
            (15, 0b1010, sync(B0, 30)),
            (20, 0b0101, set(B1, 21)),
            (21, 0b0101, branch(0b0001, 23, 22)),
            (22, 0b0100, sync(B1, 25)),
            (23, 0b0001, sync(B1, 25)),
            (25, 0b0101, sync(B0, 30)),
            (30, 0b1111, next(31)),
        ],
    );
}

/// Lanes arrive at one join by two instructions, which continue at different PCs: each group goes
/// on by itself, the one that arrived last first.
#[test]
fn lanes_that_continue_at_different_pcs_leave_a_join_apart() {
    let mut w = warp(0b1111);
    expect(
        &mut w,
        &[
            (0, 0b1111, set(B0, 1)),
            (1, 0b1111, branch(0b0001, 5, 2)),
            (5, 0b0001, sync(B0, 20)),
            (2, 0b1110, sync(B0, 10)),
            (10, 0b1110, next(11)),
            (11, 0b1110, exit(0b1110)),
            (20, 0b0001, exit(0b0001)),
        ],
    );
    assert_eq!((w.active(), w.live(), w.depth()), (None, LaneMask::EMPTY, 0));
    assert!(w.joins().is_empty());
}

#[test]
fn exits_and_outer_joins_release_those_who_wait_at_inner_ones() {
    let mut w = warp(0b0111);
    expect(
        &mut w,
        &[
            (0, 0b0111, set(B0, 1)),
            (1, 0b0111, set(B1, 2)),
            (2, 0b0111, branch(0b0001, 5, 3)),
            (5, 0b0001, sync(B1, 8)), // waits at the inner join
            (3, 0b0110, branch(0b0010, 9, 4)),
            (4, 0b0100, exit(0b0100)), // leaves both
            (9, 0b0010, sync(B0, 20)), // BREAK: leaves the inner one, which opens
            (8, 0b0001, sync(B0, 20)),
            (20, 0b0011, next(21)),
        ],
    );
    assert!(w.joins().is_empty());
}

#[test]
fn strangers_pass_a_join_freely() {
    let mut w = warp(0b0111);
    expect(
        &mut w,
        &[
            (0, 0b0111, branch(0b0001, 5, 1)),
            (5, 0b0001, set(B0, 6)),
            (6, 0b0001, sync(B0, 7)),
            (7, 0b0001, sync(B0, 8)),
            (8, 0b0001, exit(0b0001)),
            (1, 0b0110, sync(B0, 2)),
            (2, 0b0110, next(3)),
        ],
    );
}

/// `while (atomicCAS(&lock, 0, 1) != 0); critical; atomicExch(&lock, 0);` as compiled by ptxas: 0
/// BSSY, 1 YIELD, 2 CAS, 3 branch back to 1, 4 BSYNC, 5 critical section, 6 unlock, 7 exit. An H200
/// serves the lanes in lane order; lane k needs k failed tries.
#[test]
fn a_spin_lock_serves_lanes_in_order() {
    let mut w = Independent::new(LaneMask::FULL, Pc(0), SideOrder::Fewer);
    let (mut lock, mut failed, mut served, mut won) = (None, [0; 32], Vec::new(), LaneMask::EMPTY);
    for _ in 0..2000 {
        let Some((pc, lanes)) = w.active() else { break };
        w.advance(match pc.0 {
            0 => set(B0, 1),
            1 => Flow::Yield { next: Pc(2) },
            2 => {
                won = LaneMask::EMPTY;
                for lane in lanes.lanes() {
                    if lock.is_none() {
                        lock = Some(lane);
                        won = LaneMask::lane(lane);
                    } else {
                        failed[lane as usize] += 1;
                    }
                }
                next(3)
            }
            3 => Flow::Branch { taken: lanes - won, target: Pc(1), next: Pc(4), reconverge: None },
            4 => sync(B0, 5),
            5 => {
                assert_eq!(lanes.count(), 1, "two lanes in the critical section");
                served.extend(lanes.lanes());
                next(6)
            }
            6 => {
                lock = None;
                next(7)
            }
            _ => Flow::Exit { lanes, next: Pc(8) },
        });
    }
    assert!(w.live().is_empty(), "the lock hangs: {:?}", w.groups());
    assert_eq!(served, (0..32).collect::<Vec<u32>>());
    assert_eq!(failed.to_vec(), (0..32).collect::<Vec<i32>>());
}

/// Without its YIELD the loop never ends: the winner waits at the join for lanes that never arrive.
#[test]
fn without_the_yield_the_winner_waits_for_ever() {
    let mut w = warp(0b11);
    expect(&mut w, &[(0, 0b11, set(B0, 1)), (1, 0b11, branch(0b10, 1, 4)), (4, 0b01, sync(B0, 5))]);
    let spinning = w.clone();
    expect(&mut w, &[(1, 0b10, branch(0b10, 1, 4))]);
    assert_eq!(w, spinning, "a livelock shows as an equal state");
}

#[test]
fn yields_alternate_in_order_and_after_all_ready_groups() {
    let mut w = warp(0b0111);
    let give = |pc| Flow::Yield { next: Pc(pc) };
    expect(
        &mut w,
        &[
            (0, 0b0111, branch(0b0001, 10, 1)),
            (10, 0b0001, give(11)),
            (1, 0b0110, branch(0b0100, 30, 20)),
            (20, 0b0010, give(21)),
            (30, 0b0100, give(31)),
            (11, 0b0001, give(12)),
            (21, 0b0010, exit(0b0010)),
            (31, 0b0100, give(32)),
            (12, 0b0001, exit(0b0001)),
            (32, 0b0100, give(33)),
            (33, 0b0100, next(34)),
        ],
    );
}

#[test]
fn block_barriers_do_not_merge() {
    let mut w = warp(0b0011);
    let bar = Flow::Barrier { id: 0, next: Pc(8) };
    expect(&mut w, &[(0, 0b11, branch(0b01, 5, 1)), (1, 0b10, bar), (5, 0b01, bar)]);
    assert_eq!(w.active(), None);
    w.release_barrier(0);
    expect(&mut w, &[(8, 0b10, exit(0b10)), (8, 0b01, exit(0b01))]);
}

#[test]
fn a_gather_waits_for_all_live_members_and_merges_equal_pcs() {
    let mut w = warp(0b1111);
    let gather = |lanes| Flow::Await { lanes: LaneMask(lanes), members: LaneMask::FULL };
    expect(
        &mut w,
        &[
            (0, 0b1111, branch(0b0011, 5, 1)),
            (1, 0b1100, branch(0b1000, 3, 2)),
            (2, 0b0100, next(5)),
            (5, 0b0100, gather(u32::MAX)),
            (3, 0b1000, exit(0b1000)),
        ],
    );
    let gathered =
        |w: &Independent| w.gathered(w.active().expect("a running group").1, LaneMask::FULL);
    assert!(!gathered(&w));
    expect(&mut w, &[(5, 0b0011, gather(u32::MAX))]);
    assert_eq!(w.active(), Some((Pc(5), LaneMask(0b0111))));
    assert!(gathered(&w));
    // Lanes gathered at different PCs stay separate, and each group may execute its instruction.
    expect(
        &mut w,
        &[
            (5, 0b0111, branch(0b0001, 7, 6)),
            (7, 0b0001, gather(u32::MAX)),
            (6, 0b0110, gather(u32::MAX)),
        ],
    );
    for pc in [6, 7] {
        assert!(gathered(&w), "pc {pc}: {:?}", w.groups());
        assert_eq!(w.active().map(|(at, _)| at), Some(Pc(pc)));
        w.advance(exit(u32::MAX));
    }
    assert!(w.live().is_empty());
}

/// Two lanes of a group wait for a lane elsewhere; the third continues.
#[test]
fn lanes_that_name_another_mask_do_not_wait() {
    let mut w = warp(0b1111);
    let gather =
        |lanes, members| Flow::Await { lanes: LaneMask(lanes), members: LaneMask(members) };
    assert!(w.gathered(LaneMask(0b1000), LaneMask(0b1000)));
    assert!(
        !w.gathered(LaneMask(0b1000), LaneMask(0b1001)),
        "lane 0 is active, and names another mask"
    );
    expect(&mut w, &[(0, 0b1111, branch(0b0001, 5, 1)), (5, 0b0001, gather(0b0001, 0b0111))]);
    assert_eq!(w.active(), Some((Pc(1), LaneMask(0b1110))));
    w.advance(next(5));
    w.advance(gather(0b0110, 0b0111));
    expect(&mut w, &[(5, 0b1000, exit(0b1000)), (5, 0b0111, exit(0b0111))]);
    assert!(w.live().is_empty());
}

/// 0: branch to 10; 5: YIELD; 10 leads to 5. A function that yields at its entry behaves like this
/// when called from two places (H200).
#[test]
fn groups_that_yield_at_one_place_go_on_as_one() {
    let mut w = warp(0b1111);
    let give = Flow::Yield { next: Pc(6) };
    expect(
        &mut w,
        &[
            (0, 0b1111, branch(0b0011, 10, 5)),
            (5, 0b1100, give),
            (10, 0b0011, next(5)),
            (5, 0b0011, give),
        ],
    );
    assert_eq!((w.active(), w.depth()), (Some((Pc(6), LaneMask(0b1111))), 1));
}
