//! Effects of control flow, barriers and guards.

use super::*;

#[test]
fn control_effects() {
    let (some, all) = (LaneMask(0xf0), LaneMask(0xff));
    let bra = |uniform| Op::Branch { target: Pc(3), uniform };
    let mut r = file();
    let mut go = |op, lanes| run(op, lanes, all, &mut r);
    assert_eq!(go(bra(false), some), Ok(Effect::Branch { taken: some }));
    assert_eq!(go(bra(true), all), Ok(Effect::Branch { taken: all }));
    assert_eq!(go(bra(true), LaneMask::EMPTY), Ok(Effect::Branch { taken: LaneMask::EMPTY }));
    assert_eq!(go(bra(true), some), Err(Fault { lane: 0, kind: FaultKind::UniformBranchDiverges }));
    assert_eq!(go(Op::Exit, some), Ok(Effect::Exit { lanes: some }));
    assert_eq!(go(Op::Trap, some), Err(Fault { lane: 4, kind: FaultKind::Trap }));
    assert_eq!(go(Op::Trap, LaneMask::EMPTY), Ok(Effect::Done));
    assert_eq!(go(Op::Fence(Scope::Block), some), Ok(Effect::Done));
    assert_eq!(go(Op::Sleep { t: Row(0) }, some), Ok(Effect::Sleep { ns: 7 }));
    assert_eq!(go(Op::WarpSync { mask: Row(4).into() }, LaneMask(0x20)), Ok(Effect::Done));
    let absent = FaultKind::NotInMask { mask: LaneMask(0xdead_beef) };
    assert_eq!(
        go(Op::WarpSync { mask: Row(4).into() }, LaneMask(0x10)),
        Err(Fault { lane: 4, kind: absent })
    );
    assert_eq!(go(Op::ActiveMask { d: Row(4) }, some), Ok(Effect::Done));
    assert_eq!((r.narrow[4][4], r.narrow[4][0]), (all.0, 0xdead_beef));
}

#[test]
fn barriers_report_their_arrival_and_take_their_result() {
    let lanes = LaneMask(0xff);
    let red =
        |f| BarrierKind::Red { f, p: PredicateUse { predicate: Predicate(1), negated: true } };
    let op = |kind, count| Barrier { kind, id: Row(0), count, packed: false, aligned: true };
    let mut r = file();
    r.narrow[0] = [3; 32];
    r.narrow[1] = [64; 32];
    let arrival = |count, wait| Ok(Effect::Barrier { lanes, id: 3, count, wait });
    let go = |op, r: &mut RegisterFile| run(Op::Barrier(op), lanes, lanes, r);
    assert_eq!(go(op(BarrierKind::Sync, None), &mut r), arrival(None, true));
    assert_eq!(go(op(BarrierKind::Arrive, Some(Row(1))), &mut r), arrival(Some(64), false));
    for bad in [0, 33] {
        r.narrow[1] = [bad; 32];
        let fault =
            Fault { lane: 0, kind: FaultKind::BadThreadCount { count: bad, warp_size: 32 } };
        assert_eq!(go(op(BarrierKind::Sync, Some(Row(1))), &mut r), Err(fault));
    }
    let count = inst(Op::Barrier(op(red(BarrierReduce::Popc(Row(2))), None)));
    assert_eq!(barrier_votes(&count, LaneMask(0xfff), &r), LaneMask(0xff));
    finish_barrier_reduction(&count, lanes, &mut r, 42, false, true);
    assert_eq!((r.narrow[2][7], r.narrow[2][8]), (42, 10));
    for (f, expected) in
        [(BarrierReduce::And(Predicate(0)), 0xff00), (BarrierReduce::Or(Predicate(0)), 0xffff)]
    {
        finish_barrier_reduction(
            &inst(Op::Barrier(op(red(f), None))),
            lanes,
            &mut r,
            42,
            false,
            true,
        );
        assert_eq!(r.predicates[0], expected, "{f:?}");
    }
    // Machine code: number and count in one register.
    for (packed, count) in [(64 << 16 | 3, Some(64)), (3, None)] {
        r.narrow[0] = [packed; 32];
        let op = Barrier { packed: true, ..op(BarrierKind::Sync, Some(Row(0))) };
        assert_eq!(go(op, &mut r), arrival(count, true));
    }
    r.narrow[0] = [16; 32];
    let fault = Fault { lane: 0, kind: FaultKind::BadBarrier { value: 16 } };
    assert_eq!(go(op(BarrierKind::Sync, None), &mut r), Err(fault));
}

#[test]
fn guards_and_members() {
    let mut guarded_inst = inst(Op::WarpSync { mask: Row(3).into() });
    let r = file();
    assert_eq!(guarded(&guarded_inst, LaneMask(0xff00_0001), &r), LaneMask(0xff00_0001));
    guarded_inst.guard = Some(PredicateUse { predicate: Predicate(0), negated: true });
    assert_eq!(guarded(&guarded_inst, LaneMask(0xff00_0001), &r), LaneMask(0xff00_0000));
    let of = |inst: &Inst, lanes: u32| members(inst, LaneMask(lanes), &r).collect::<Vec<_>>();
    let omitted = false;
    let set = |named, lanes| Members { named: LaneMask(named), lanes: LaneMask(lanes), omitted };
    assert_eq!(of(&guarded_inst, 0x230), [set(4, 0x210), set(0, 0x20)]);
    assert_eq!(of(&guarded_inst, 0), []);
    assert_eq!(of(&inst(Op::Fence(Scope::Block)), 1), []);
    let common = MemberMask { row: Row(3), common: Some(LaneMask(0xf0)), omitted };
    let inst = inst(Op::WarpSync { mask: common });
    assert_eq!((of(&inst, 0x230), of(&inst, 0)), (vec![set(0xf0, 0x230)], vec![]));
}
