//! Calls: marks that separate the joins of different activations.

use super::*;

fn side(pc: u32, lanes: u32) -> Side {
    Side { pc: Pc(pc), lanes: LaneMask(lanes) }
}

fn join(id: JoinId, participants: u32, arrived: u32) -> Join {
    Join { id, participants: LaneMask(participants), arrived: LaneMask(arrived) }
}

/// Lets the active lanes call the function at `entry`.
///
/// They must be `lanes` at `at`.
#[track_caller]
fn call(warp: &mut Independent, at: u32, lanes: u32, entry: u32, next: u32) {
    assert_eq!(warp.active(), Some((Pc(at), LaneMask(lanes))));
    warp.call(&[side(entry, lanes)], Pc(next));
}

/// Lets the active lanes, which must be `lanes` at `at`, return to `to`.
#[track_caller]
fn ret(warp: &mut Independent, at: u32, lanes: u32, to: u32) {
    assert_eq!(warp.active(), Some((Pc(at), LaneMask(lanes))));
    warp.ret(&[side(to, lanes)]);
}

/// `f`: 10 BSSY, 11 branch to 20, 12 call `f`, 13 and 20 BSYNC, 21 return. Lane 0 ends the
/// recursion in the first activation, lane 1 in the second; lanes 2 and 3 skip the third call.
#[test]
fn an_inner_activation_neither_overwrites_nor_releases_the_joins_of_an_outer_one() {
    let mut w = warp(0b1111);
    call(&mut w, 0, 0b1111, 10, 1);
    expect(
        &mut w,
        &[
            (10, 0b1111, set(B0, 11)),
            (11, 0b1111, branch(0b0001, 20, 12)),
            (20, 0b0001, sync(B0, 21)),
        ],
    );
    call(&mut w, 12, 0b1110, 10, 13);
    expect(&mut w, &[(10, 0b1110, set(B0, 11))]);
    assert_eq!(w.joins(), [join(B0, 0b1111, 0b0001), join(B0, 0b1110, 0)]);
    expect(
        &mut w,
        &[
            (11, 0b1110, branch(0b0010, 20, 12)),
            (20, 0b0010, sync(B0, 21)),
            (12, 0b1100, next(20)),
            (20, 0b1100, sync(B0, 21)),
        ],
    );
    assert_eq!(w.joins(), [join(B0, 0b1111, 0b0001)]);
    ret(&mut w, 21, 0b1110, 13);
    expect(&mut w, &[(13, 0b1110, sync(B0, 21))]);
    ret(&mut w, 21, 0b1111, 1);
    assert_eq!(w.active(), Some((Pc(1), LaneMask(0b1111))));
    assert!(w.joins().is_empty() && w.joins.is_empty(), "{:?}", w.joins);
}

/// Like the test above, but the lanes of the inner activation exit: the outer join must not wait
/// for them.
#[test]
fn an_exit_in_an_inner_activation_leaves_the_outer_joins() {
    let mut w = warp(0b0111);
    call(&mut w, 0, 0b0111, 10, 1);
    expect(
        &mut w,
        &[
            (10, 0b0111, set(B0, 11)),
            (11, 0b0111, branch(0b0001, 20, 12)),
            (20, 0b0001, sync(B0, 21)),
        ],
    );
    call(&mut w, 12, 0b0110, 10, 13);
    expect(&mut w, &[(10, 0b0110, set(B0, 11)), (11, 0b0110, exit(0b0110))]);
    ret(&mut w, 21, 0b0001, 1);
    assert!(w.joins.is_empty(), "{:?}", w.joins);
}

/// Lock in a function: 0 BSSY B1, 1 call, 2 BSYNC B1, 3 exit; 10 BSSY B0, 11 YIELD, 12
/// branch back to 11, 13 BSYNC B0, 14 return. Lane 0 takes the lock and leaves the loop, the
/// function and the kernel while lane 1 yields.
#[test]
fn who_leaves_a_loop_in_a_function_does_not_wait_for_those_that_yield_in_it() {
    let mut w = warp(0b11);
    let give = |pc| Flow::Yield { next: Pc(pc) };
    expect(&mut w, &[(0, 0b11, set(B1, 1))]);
    call(&mut w, 1, 0b11, 10, 2);
    expect(
        &mut w,
        &[
            (10, 0b11, set(B0, 11)),
            (11, 0b11, give(12)), // no other group: continues
            (12, 0b11, branch(0b10, 11, 13)),
            (13, 0b01, sync(B0, 14)),
            (11, 0b10, give(12)),
        ],
    );
    assert_eq!(w.joins(), [join(B1, 0b11, 0), join(B0, 0b10, 0)]);
    ret(&mut w, 14, 0b01, 2);
    assert_eq!(w.joins(), [join(B1, 0b11, 0), join(B0, 0b10, 0)]);
    expect(
        &mut w,
        &[
            (2, 0b01, sync(B1, 3)),
            (3, 0b01, exit(0b01)),
            (12, 0b10, branch(0, 11, 13)),
            (13, 0b10, sync(B0, 14)),
        ],
    );
    ret(&mut w, 14, 0b10, 2);
    expect(&mut w, &[(2, 0b10, sync(B1, 3)), (3, 0b10, exit(0b10))]);
    assert!(w.live().is_empty() && w.joins.is_empty(), "{:?}", w.joins);
}

/// Indirect call to two functions, skipped by one lane, between BSSY and BSYNC.
#[test]
fn lanes_that_call_different_functions_reunite_behind_the_call() {
    let mut w = warp(0b1111);
    expect(&mut w, &[(0, 0b1111, set(B0, 1))]);
    w.call(&[side(10, 0b0001), side(20, 0b0110)], Pc(2));
    ret(&mut w, 10, 0b0001, 2);
    expect(&mut w, &[(2, 0b0001, sync(B0, 3)), (2, 0b1000, sync(B0, 3))]);
    ret(&mut w, 20, 0b0110, 2);
    expect(&mut w, &[(2, 0b0110, sync(B0, 3)), (3, 0b1111, exit(0b1111))]);
    assert!(w.live().is_empty() && w.joins.is_empty(), "{:?}", w.joins);
}

/// Lanes of one activation that were called from different places return there.
#[test]
fn a_return_may_part_the_lanes_again() {
    let mut w = warp(0b11);
    call(&mut w, 0, 0b11, 10, 1);
    assert_eq!(w.active(), Some((Pc(10), LaneMask(0b11))));
    w.ret(&[side(1, 0b01), side(5, 0b10)]);
    expect(&mut w, &[(1, 0b01, exit(0b01)), (5, 0b10, exit(0b10))]);
    assert!(w.joins.is_empty(), "{:?}", w.joins);
}
