use super::*;
use crate::divergence::{Flow, SideOrder};

/// Issues `pc` with all active lanes at `cycle`, and applies `flow`.
fn step(timeline: &mut Timeline, control: &mut WarpControl, cycle: Cycle, flow: Flow) {
    let (sm, warp) = (SmId(0), WarpId(0));
    let (pc, active) = control.active().expect("lanes to run");
    timeline.control(sm, warp, control);
    timeline.on(Event::Issue { cycle, sm, warp, pc, active, lanes: active, slots: 1 });
    if let Flow::Branch { taken, .. } = flow {
        timeline.on(Event::Branch { cycle, sm, warp, pc, active, taken });
    }
    control.advance(flow);
    timeline.control(sm, warp, control);
}

fn start(timeline: &mut Timeline, block: u32, warp: u32, lanes: LaneMask) {
    let sm = SmId(0);
    timeline.on(Event::BlockStart { cycle: 0, sm, block: BlockId(block), warps: 1 });
    timeline.on(Event::WarpStart {
        cycle: 0,
        sm,
        warp: WarpId(0),
        block: BlockId(block),
        index: warp,
        lanes,
    });
}

fn window(cycles: Range<Cycle>, limit: usize) -> Timeline {
    Timeline::new(Window { block: BlockId(3), warps: 0..1, cycles, limit })
}

/// `if` with two sides on a warp of five lanes, one of which never existed.
///
/// Lanes 0 and 1 take the branch.
fn diamond(timeline: &mut Timeline) {
    let lanes = LaneMask(0b1111);
    let mut control = WarpControl::stack(lanes, Pc(0), SideOrder::Taken);
    start(timeline, 3, 0, lanes);
    let branch = Flow::Branch {
        taken: LaneMask(0b0011),
        target: Pc(2),
        next: Pc(1),
        reconverge: Some(Pc(3)),
    };
    step(timeline, &mut control, 10, branch);
    timeline.on(Event::WarpStalled {
        sm: SmId(0),
        warp: WarpId(0),
        pc: Pc(2),
        stall: Stall::BranchResolving,
        cycles: 9,
    });
    step(timeline, &mut control, 20, Flow::Next { next: Pc(3) });
    step(timeline, &mut control, 30, Flow::Next { next: Pc(3) });
    step(timeline, &mut control, 40, Flow::Exit { lanes, next: Pc(4) });
    timeline.on(Event::WarpEnd { cycle: 41, sm: SmId(0), warp: WarpId(0), since: 0 });
}

#[test]
fn every_lane_has_its_state_at_every_issue() {
    let mut timeline = window(0..u64::MAX, 100);
    diamond(&mut timeline);
    let [strip] = timeline.strips() else { panic!("one warp") };
    let letters =
        |issue: &Issue| issue.lane_states(5).iter().map(|s| s.letter()).collect::<String>();
    let rows: Vec<_> = strip.issues.iter().map(|i| (i.cycle, i.pc.0, i.path, letters(i))).collect();
    let expected =
        [(10, 0, 0, "####x"), (20, 2, 1, "##..x"), (30, 1, 2, "ww##x"), (40, 3, 0, "####x")];
    assert_eq!(rows, expected.map(|(cycle, pc, path, lanes)| (cycle, pc, path, lanes.to_string())));
    let facts: Vec<_> =
        strip.issues.iter().map(|i| (i.diverges(), i.waited(), i.state.stack.len())).collect();
    assert_eq!(facts, [(true, 0, 1), (false, 9, 3), (false, 0, 2), (false, 0, 1)]);
    assert_eq!(strip.issues[0].after, strip.issues[1].state);
    assert_eq!(
        (strip.ended, strip.more, strip.issues[3].after.live()),
        (Some(41), false, LaneMask::EMPTY)
    );
    assert!(timeline.is_done());
}

#[test]
fn only_the_window_is_recorded_and_numbers_count_from_the_start() {
    for (cycles, limit, numbers, more) in [
        (0..20, 100, vec![0], true),
        (15..35, 100, vec![1, 2], true),
        (0..u64::MAX, 3, vec![0, 1, 2], true),
        (30..u64::MAX, 100, vec![2, 3], false),
        (90..95, 100, vec![], false),
    ] {
        let mut timeline = window(cycles.clone(), limit);
        diamond(&mut timeline);
        let strip = &timeline.strips()[0];
        assert_eq!(
            strip.issues.iter().map(|i| i.number).collect::<Vec<_>>(),
            numbers,
            "{cycles:?}"
        );
        assert_eq!((strip.more, timeline.is_done()), (more, true), "{cycles:?}");
    }
    let mut other = window(0..u64::MAX, 100);
    start(&mut other, 2, 0, LaneMask::FULL);
    start(&mut other, 3, 7, LaneMask::FULL);
    assert_eq!(
        (other.strips().len(), other.is_done()),
        (0, false),
        "warp 0 of block 3 is still to come"
    );
}
