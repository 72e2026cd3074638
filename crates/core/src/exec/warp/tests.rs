//! Collectives against lane-by-lane restatements of the manual.

use super::*;
use crate::base::LaneMask;
use crate::kernel::{Predicate, PredicateUse};

const FULL: LaneMask = LaneMask::FULL;
const MASK: Row = Row(0);
const A: Row = Row(1);
const D: Row = Row(2);
const B: Row = Row(3);
const C: Row = Row(4);
const P: Predicate = Predicate(0);
const VOTES: PredicateUse = PredicateUse { predicate: Predicate(1), negated: false };

/// Row 1 holds 100 + lane, row 0 the mask, the result row 7.
fn file(mask: u32) -> RegisterFile {
    let lanes = std::array::from_fn(|lane| 100 + lane as u32);
    RegisterFile {
        narrow: vec![[mask; 32], lanes, [7; 32], [0; 32], [0; 32]].into(),
        wide: vec![[0; 32]].into(),
        predicates: vec![0; 2],
        calls: Vec::new(),
        copies: Default::default(),
        vectors: Default::default(),
    }
}

fn shuffle_of(mode: ShuffleMode) -> Shuffle {
    Shuffle { mode, d: Some(D), p: Some(P), a: A, b: B, c: C, mask: MASK.into() }
}

/// The manual's algorithm, in signed arithmetic and in its own order: `(j, pval)`.
fn by_the_manual(mode: ShuffleMode, lane: i32, b: i32, c: i32) -> (i32, bool) {
    let (bval, cval, segmask) = (b & 31, c & 31, c >> 8 & 31);
    let max_lane = (lane & segmask) | (cval & !segmask);
    let min_lane = lane & segmask;
    let (j, pval) = match mode {
        ShuffleMode::Up => (lane - bval, lane - bval >= max_lane),
        ShuffleMode::Down => (lane + bval, lane + bval <= max_lane),
        ShuffleMode::Butterfly => (lane ^ bval, lane ^ bval <= max_lane),
        ShuffleMode::Index => {
            let j = min_lane | (bval & !segmask);
            (j, j <= max_lane)
        }
    };
    (if pval { j } else { lane }, pval)
}

#[test]
fn shuffles_follow_the_manual_for_every_width() {
    for mode in [ShuffleMode::Up, ShuffleMode::Down, ShuffleMode::Butterfly, ShuffleMode::Index] {
        for width in [1, 2, 4, 8, 16, 32] {
            let clamp = if mode == ShuffleMode::Up { 0 } else { 31 };
            let c = (32 - width) << 8 | clamp;
            for b in 0..40 {
                let mut file = file(u32::MAX);
                file.narrow[3] = [b as u32; 32];
                file.narrow[4] = [c as u32; 32];
                shuffle(&shuffle_of(mode), FULL, &mut file).unwrap();
                for lane in 0..32 {
                    let (source, inside) = by_the_manual(mode, lane, b, c);
                    assert_eq!(
                        file.narrow[2][lane as usize],
                        100 + source as u32,
                        "{mode:?} {width} {b} {lane}"
                    );
                    assert_eq!(
                        file.predicates[0] >> lane & 1 == 1,
                        inside,
                        "{mode:?} {width} {b} {lane}"
                    );
                }
            }
        }
    }
}

/// Results worked out by hand from the descriptions in CUDA's guide.
#[test]
fn shuffles_as_the_guide_tells_them() {
    for (mode, width, b, lane, source) in [
        (ShuffleMode::Down, 32, 16, 3, 19),
        (ShuffleMode::Down, 32, 16, 20, 20),
        (ShuffleMode::Down, 8, 4, 5, 5),
        (ShuffleMode::Up, 16, 3, 17, 17),
        (ShuffleMode::Up, 16, 3, 20, 17),
        (ShuffleMode::Butterfly, 32, 31, 4, 27),
        (ShuffleMode::Index, 8, 2, 29, 26),
        (ShuffleMode::Index, 32, 0, 29, 0),
    ] {
        let clamp = if mode == ShuffleMode::Up { 0 } else { 31 };
        assert_eq!(
            shuffle_source(mode, lane, b, (32 - width) << 8 | clamp).0,
            source,
            "{mode:?} {width} {b} {lane}"
        );
    }
}

#[test]
fn shuffles_read_only_lanes_that_take_part() {
    let mut file = file(0x0000_ffff);
    file.narrow[3] = [8; 32];
    file.narrow[4] = [31; 32];
    let low = LaneMask(0x0000_ffff);
    let effect = shuffle(&shuffle_of(ShuffleMode::Down), low, &mut file).unwrap();
    assert_eq!(effect, Effect::Undefined { lanes: LaneMask(0xff00), source: 16 });
    assert_eq!((file.narrow[2][7], file.narrow[2][8]), (115, 0), "lanes 8 to 15 read absent lanes");
    // Butterfly by 8 stays within the low half.
    shuffle(&shuffle_of(ShuffleMode::Butterfly), low, &mut file).unwrap();
    assert_eq!((file.narrow[2][3], file.narrow[2][20]), (111, 7));
    let fault = shuffle(&shuffle_of(ShuffleMode::Butterfly), FULL, &mut file).unwrap_err();
    assert_eq!(fault, Fault { lane: 16, kind: FaultKind::NotInMask { mask: low } });
    // Lanes outside of a mask that compilers omit take part.
    let mut omitted = shuffle_of(ShuffleMode::Butterfly);
    omitted.mask.omitted = true;
    let effect = shuffle(&omitted, FULL, &mut file).unwrap();
    assert_eq!((effect, file.narrow[2][20]), (Effect::Done, 128));
}

#[test]
fn votes() {
    let lanes = LaneMask(0x0000_00ff);
    for (votes, all, any, uni) in
        [(0xff, true, true, true), (0xff00, false, false, true), (0x11, false, true, false)]
    {
        for (kind, expected) in
            [(VoteKind::All(P), all), (VoteKind::Any(P), any), (VoteKind::Uni(P), uni)]
        {
            let mut file = file(0xff);
            file.predicates = vec![0x5500, votes];
            vote(&Vote { kind, p: Some(VOTES), mask: MASK.into() }, lanes, &mut file).unwrap();
            assert_eq!(
                file.predicates[0],
                if expected { 0x55ff } else { 0x5500 },
                "{kind:?} {votes:x}"
            );
        }
    }
    let mut file = file(0xff);
    file.predicates[1] = 0xa5a5;
    let negated = PredicateUse { negated: true, ..VOTES };
    vote(
        &Vote { kind: VoteKind::Ballot(D), p: Some(negated), mask: MASK.into() },
        lanes,
        &mut file,
    )
    .unwrap();
    assert_eq!((file.narrow[2][0], file.narrow[2][8]), (0x5a, 7));
}

#[test]
fn matches_group_equal_lanes() {
    let mut file = file(u32::MAX);
    file.narrow[1] = std::array::from_fn(|lane| lane as u32 % 3);
    file.wide[0] = [1 << 40; 32];
    let op = |all, ty| Match {
        all,
        ty,
        d: D,
        p: Some(P),
        a: if ty == Type::B64 { Row(0) } else { A },
        mask: MASK.into(),
    };
    match_op(&op(false, Type::B32), FULL, &mut file).unwrap();
    for lane in 0..32u32 {
        let peers = (0..32u32).filter(|l| l % 3 == lane % 3).fold(0, |m, l| m | 1 << l);
        assert_eq!(file.narrow[2][lane as usize], peers);
    }
    match_op(&op(true, Type::B32), FULL, &mut file).unwrap();
    assert_eq!((file.narrow[2], file.predicates[0]), ([0; 32], 0));
    match_op(&op(true, Type::B64), FULL, &mut file).unwrap();
    assert_eq!((file.narrow[2], file.predicates[0]), ([u32::MAX; 32], u32::MAX));
}

#[test]
fn reductions_over_the_lanes_present() {
    let values = [-5i32, 3, 7, -9];
    for (f, ty, expected) in [
        (ReduxFn::Add, Type::S32, -4),
        (ReduxFn::Min, Type::S32, -9),
        (ReduxFn::Max, Type::S32, 7),
        (ReduxFn::Min, Type::U32, 3),
        (ReduxFn::Max, Type::U32, -5),
        (ReduxFn::And, Type::B32, -5 & 3 & 7 & -9),
        (ReduxFn::Or, Type::B32, -5 | 3 | 7 | -9),
        (ReduxFn::Xor, Type::B32, -5 ^ 3 ^ 7 ^ -9),
    ] {
        let mut file = file(0xf);
        file.narrow[1][..4].copy_from_slice(&values.map(|v| v as u32));
        redux(&Redux { f, ty, d: D, a: A, mask: MASK.into() }, LaneMask(0xf), &mut file).unwrap();
        assert_eq!(
            file.narrow[2][..5],
            [[expected as u32; 4].as_slice(), &[7]].concat(),
            "{f:?} {ty:?}"
        );
    }
}

/// After `match.any`, each group reduces for itself in one instruction.
#[test]
fn lanes_with_different_masks_are_different_groups() {
    let mut file = file(0);
    file.narrow[0] =
        std::array::from_fn(|lane| if lane % 2 == 0 { 0x5555_5555 } else { 0xaaaa_aaaa });
    file.narrow[1] = std::array::from_fn(|lane| if lane % 2 == 0 { 1 } else { 100 });
    redux(
        &Redux { f: ReduxFn::Add, ty: Type::U32, d: D, a: A, mask: MASK.into() },
        FULL,
        &mut file,
    )
    .unwrap();
    assert_eq!(file.narrow[2][..4], [16, 1600, 16, 1600]);
}
