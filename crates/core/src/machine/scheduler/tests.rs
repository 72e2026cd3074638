use super::*;

/// Issues from a scheduler of four warps and lists the choices.
///
/// Each warp has a long wait after every third issue.
fn choices(policy: Policy, ready: [Cycle; 4], n: usize) -> Vec<usize> {
    let mut scheduler = Scheduler::new(0, policy, 4);
    for (warp, at) in ready.into_iter().enumerate() {
        scheduler.admit(warp, warp as u64, warp as u64 / 2);
        scheduler.set_ready(warp, at, Port::Alu);
    }
    let mut picked = Vec::new();
    for now in 10..10 + n as Cycle {
        let Some(warp) = scheduler.pick(now, &SharedPorts::default()) else { continue };
        let third = picked.iter().filter(|&&p| p == warp).count() % 3 == 2;
        scheduler.set_ready(warp, if third { now + 1000 } else { now + 1 }, Port::Alu);
        picked.push(warp);
    }
    picked
}

#[test]
fn policies_choose_as_their_names_say() {
    let all = [0; 4];
    assert_eq!(choices(Policy::LooseRoundRobin, all, 6), [1, 2, 3, 0, 1, 2]);
    assert_eq!(choices(Policy::OldestBlock, all, 8), [1, 1, 1, 0, 0, 0, 2, 2]);
    assert_eq!(choices(Policy::GreedyThenOldest, all, 6), [0, 0, 0, 1, 1, 1]);
    assert_eq!(choices(Policy::GreedyThenYoungest, [NEVER, 0, 0, 0], 6), [3, 3, 3, 2, 2, 2]);
    assert_eq!(choices(Policy::TwoLevel { active: 2 }, all, 7), [1, 0, 1, 0, 1, 2, 0]);
}

#[test]
fn warps_of_a_block_keep_their_order_until_they_wait_for_a_queue() {
    let mut scheduler = Scheduler::new(0, Policy::OldestBlock, 3).with_yields(true);
    let shared = SharedPorts::default();
    for warp in 0..3 {
        scheduler.admit(warp, warp as u64, 0);
        scheduler.set_ready(warp, 0, Port::Sfu);
    }
    let issue = |scheduler: &mut Scheduler, now: Cycle, port: Port, next: Port| {
        scheduler.occupy(port, now);
        let warp = scheduler.pick(now, &shared).expect("a warp");
        scheduler.end_turn(false, now);
        scheduler.set_ready(warp, now + 1, next);
        warp
    };
    assert_eq!(
        [8, 16, 24, 32].map(|at| issue(&mut scheduler, at, Port::Sfu, Port::Sfu)),
        [0, 1, 2, 0]
    );
    assert_eq!(issue(&mut scheduler, 40, Port::Sfu, Port::Alu), 1);
    // The unit of arithmetic has no queue: the warp that issued last stays.
    assert_eq!([42, 44, 46].map(|at| issue(&mut scheduler, at, Port::Alu, Port::Alu)), [1; 3]);
    scheduler.end_turn(true, 46);
    assert_eq!(issue(&mut scheduler, 48, Port::Sfu, Port::Sfu), 2, "the first of those that wait");
}

#[test]
fn a_full_active_set_that_cannot_issue_makes_room() {
    let soon = 40; // too short to leave the active set
    assert_eq!(choices(Policy::TwoLevel { active: 1 }, [NEVER, soon, 0, NEVER], 1), [2]);
    let mut scheduler = Scheduler::new(0, Policy::TwoLevel { active: 1 }, 2);
    scheduler.set_ready(0, 0, Port::Alu);
    scheduler.set_ready(1, 5, Port::Alu);
    assert_eq!(scheduler.pick(0, &SharedPorts::default()), Some(0));
    scheduler.set_ready(0, 30, Port::Alu);
    assert_eq!(scheduler.pick(6, &SharedPorts::default()), Some(1));
}

#[test]
fn nothing_issues_before_its_port_is_free() {
    let mut scheduler = Scheduler::new(0, Policy::LooseRoundRobin, 40);
    let shared = SharedPorts::default();
    assert_eq!(scheduler.next(&shared), NEVER);
    scheduler.set_ready(0, 70, Port::Alu);
    scheduler.set_ready(1, 50, Port::Sfu);
    assert_eq!(scheduler.next(&shared), 50);
    scheduler.occupy(Port::Sfu, 90);
    assert!(scheduler.pick(60, &shared).is_none());
    assert_eq!(scheduler.soonest(&shared), 70);
    assert_eq!(scheduler.pick(90, &shared), Some(1), "both can issue");
    assert_eq!(scheduler.next(&shared), 90, "the other warp still can");
}

#[test]
fn after_an_issue_its_port_and_the_next_awakening_are_known() {
    let mut scheduler = Scheduler::new(0, Policy::LooseRoundRobin, 40);
    let shared = SharedPorts::default();
    scheduler.set_ready(0, 10, Port::Alu);
    assert_eq!(scheduler.expected(), 10);
    assert!(scheduler.select(9, &shared).is_none());
    assert_eq!(scheduler.soonest(&shared), 10);
    scheduler.set_ready(1, 10, Port::Alu);
    scheduler.set_ready(2, 14, Port::Fma);
    assert_eq!(scheduler.pick(10, &shared), Some(1));
    scheduler.accounted = 11;
    assert_eq!(scheduler.expected(), 11, "warp 0 is awake");
    scheduler.occupy(Port::Alu, 12);
    assert_eq!(scheduler.expected(), 12, "its port is busy");
    scheduler.occupy(Port::Alu, 20);
    assert_eq!((scheduler.expected(), scheduler.ready(2)), (14, 14));
    assert_eq!(scheduler.next(&shared), 14);
}

#[test]
fn every_warp_issues_in_its_cycle() {
    let shared = SharedPorts::default();
    let mut scheduler = Scheduler::new(0, Policy::LooseRoundRobin, 40);
    let mut now = 0;
    for wait in [1, 2, 63, 64, 700, 16_383, 16_384, 32_766, 32_767, 70_000, 1 << 40] {
        for warp in [2, 15, 16, 39] {
            scheduler.set_ready(warp, now + wait, Port::Alu);
            assert_eq!(scheduler.next(&shared), now + wait, "from {now} for {wait}");
            assert!(scheduler.pick(now + wait - 1, &shared).is_none(), "from {now} for {wait}");
            assert_eq!(scheduler.soonest(&shared), now + wait);
            now += wait;
            assert!(scheduler.expected() <= now);
            assert_eq!(scheduler.pick(now, &shared), Some(warp), "from {now} for {wait}");
            scheduler.set_ready(warp, NEVER, Port::Alu);
            assert_eq!(scheduler.next(&shared), NEVER);
        }
    }
}

#[test]
fn shared_ports_hold_their_warps_only() {
    let mut shared = SharedPorts::default();
    let mut scheduler = Scheduler::new(0, Policy::LooseRoundRobin, 40);
    scheduler.set_ready(3, 10, Port::Lsu);
    scheduler.set_ready(35, 12, Port::Global);
    scheduler.set_ready(20, 90_000, Port::Alu);
    shared.occupy_lsu(50);
    assert_eq!((scheduler.expected(), scheduler.soonest(&shared)), (10, 50));
    shared.queue_accepts(60_000);
    assert_eq!(scheduler.pick(50, &shared), Some(3));
    scheduler.set_ready(3, NEVER, Port::Lsu);
    assert_eq!((scheduler.expected(), scheduler.soonest(&shared)), (12, 60_000));
    assert_eq!(scheduler.pick(60_000, &shared), Some(35));
    scheduler.set_ready(35, NEVER, Port::Global);
    assert_eq!(scheduler.soonest(&shared), 90_000);
}
