//! Tests of `step` as a whole: masks, aliasing, narrow values, control effects.

mod control;

use super::*;
use crate::base::Pc;
use crate::diag::Span;
use crate::isa::{BoolOp, Class, Compare, FloatMode, Round, Type};
use crate::kernel::*;

fn inst(op: Op) -> Inst {
    Inst {
        also: None,
        compiled: None,
        op,
        guard: None,
        class: Class::Move,
        form: 0,
        contracts: false,
        reads: vec![],
        writes: vec![],
        span: Span::default(),
        line: 0,
    }
}

/// Rows 0..5 hold recognisable values; no memory.
fn file() -> RegisterFile {
    let row = |f: fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32));
    RegisterFile {
        narrow: vec![
            row(|l| l),
            row(|l| l * 3 + 1),
            row(|_| 10),
            row(|l| l % 5),
            row(|_| 0xdead_beef),
        ]
        .into(),
        wide: vec![std::array::from_fn(|l| (l as u64) << 33 | 1), [3; 32], [0; 32]].into(),
        predicates: vec![0x0000_ffff, 0xff00_ff00, 0, 0],
        calls: Vec::new(),
        copies: Default::default(),
        vectors: Default::default(),
    }
}

fn run(
    op: Op,
    lanes: LaneMask,
    active: LaneMask,
    registers: &mut RegisterFile,
) -> Result<Effect, Fault> {
    let mut env = Env {
        global: &GlobalMemory::new(Vec::new()),
        shared: &mut SharedMemory::new(0),
        local: &mut LocalMemory::new(0),
        params: &[],
        functions: &[],
        warp_size: 32,
        live: LaneMask(u32::MAX),
        pc: 0,
        clock: 0x1_2345_6789,
        nanoseconds: 0x2_4689_acdf,
        addresses: &mut [0; MAX_LANES],
        system: &mut crate::exec::SystemLog::default(),
    };
    step(&inst(op), lanes, active, registers, &mut env)
}

fn lane(f: LaneFn, ty: Type, d: u16, s: [u16; 4]) -> Op {
    Op::Lane(LaneOp { f, ty, d: Row(d), s: s.map(Row) })
}

#[test]
fn only_the_lanes_change_and_the_result_may_be_a_source() {
    for lanes in [LaneMask::FULL, LaneMask(0x8001_00f0), LaneMask::EMPTY] {
        // One cheap and one expensive function: both lane loops.
        for (f, expected) in [
            (LaneFn::MulLo, (|l| l * (l * 3 + 1)) as fn(u32) -> u32),
            (LaneFn::Rem, |l| l % (l * 3 + 1)),
        ] {
            let mut registers = file();
            assert_eq!(
                run(lane(f, Type::U32, 1, [0, 1, 0, 0]), lanes, LaneMask::FULL, &mut registers),
                Ok(Effect::Done)
            );
            for l in 0..32 {
                let value = if lanes.contains(l) { expected(l) } else { l * 3 + 1 };
                assert_eq!(registers.narrow[1][l as usize], value, "{f:?} {lanes} {l}");
            }
        }
    }
}

/// Tests every element-wise form on one lane.
/// A case is `(function, type, a, b, c, e, result)`, with the result worked out by hand.
#[test]
fn forms_at_their_types() {
    use Approximation as A;
    use LaneFn as F;
    use Type::*;
    let near = FloatMode::default();
    let f = |x: f32| u64::from(x.to_bits());
    let g = |x: f64| x.to_bits();
    let minus = |x: i64| x as u64;
    let approximate = |f| F::Approximate { f, ftz: false };
    let cvt = |from, round| F::Cvt(Convert { round, ..Convert::from(from) });
    let cases: &[(LaneFn, Type, [u64; 4], u64)] = &[
        (F::Mov, B64, [1 << 40, 0, 0, 0], 1 << 40),
        (F::Mov, B16, [0xabcd_1234, 0, 0, 0], 0x1234),
        (F::OffsetBy(-16), B64, [4, 0, 0, 0], minus(-12)),
        (F::Add { sat: false }, S8, [0x7f, 1, 0, 0], 0x80),
        (F::Add { sat: false }, U16, [0xffff, 2, 0, 0], 1),
        (F::Add { sat: true }, S32, [0x7fff_ffff, 1, 0, 0], 0x7fff_ffff),
        (F::Add { sat: false }, U64, [u64::MAX, 2, 0, 0], 1),
        (F::Sub { sat: true }, S32, [0x8000_0000, 1, 0, 0], 0x8000_0000),
        (F::Sub { sat: false }, U32, [1, 2, 0, 0], 0xffff_ffff),
        (F::MulLo, U16, [0x1234, 0x100, 0, 0], 0x3400),
        (F::MulHi, S16, [0xffff, 1, 0, 0], 0xffff),
        (F::MulHi, U16, [0xffff, 2, 0, 0], 1),
        (F::MulWide, S16, [0xffff, 2, 0, 0], 0xffff_fffe),
        (F::MulWide, U16, [0xffff, 2, 0, 0], 0x1_fffe),
        (F::MadLo, S32, [3, 4, 5, 0], 17),
        (F::MadHi { sat: false }, U32, [0x8000_0000, 4, 5, 0], 7),
        (F::MadHi { sat: true }, S32, [0x4000_0000, 16, 0x7fff_ffff, 0], 0x7fff_ffff),
        (F::MadWide, U16, [0xffff, 2, 2, 0], 0x2_0000),
        (F::Mul24 { hi: false }, U32, [0xff00_0002, 3, 0, 0], 6),
        (F::Mad24 { hi: false }, S32, [0x00ff_ffff, 3, 5, 0], 2),
        (F::Sad, S32, [0xffff_ffff, 2, 10, 0], 13),
        (F::Sad, U32, [0xffff_ffff, 2, 0, 0], 0xffff_fffd),
        (F::Div, S32, [0xffff_fff9, 2, 0, 0], 0xffff_fffd),
        (F::Div, U64, [7, 0, 0, 0], u64::MAX),
        (F::Rem, S64, [minus(-7), 2, 0, 0], minus(-1)),
        (F::Abs, S16, [0xfffe, 0, 0, 0], 2),
        (F::Neg, S64, [1, 0, 0, 0], u64::MAX),
        (F::Min { relu: false }, S32, [0xffff_ffff, 1, 0, 0], 0xffff_ffff),
        (F::Min { relu: false }, U32, [0xffff_ffff, 1, 0, 0], 1),
        (F::Max { relu: false }, S16, [0xffff, 1, 0, 0], 1),
        (F::Brev, B32, [1, 0, 0, 0], 0x8000_0000),
        (F::Bfe, S32, [0x0000_00f0, 4, 4, 0], 0xffff_ffff),
        (F::Bfi, B32, [0xf, 0, 8, 4], 0xf00),
        (F::Prmt(PrmtMode::Index), B32, [0x3322_1100, 0x7766_5544, 0x0246, 0], 0x0022_4466),
        (F::And, B16, [0xf0f0, 0xff00, 0, 0], 0xf000),
        (F::Or, B64, [1 << 60, 1, 0, 0], 1 << 60 | 1),
        (F::Xor, B32, [5, 3, 0, 0], 6),
        (F::Not, B16, [0x00ff, 0, 0, 0], 0xff00),
        (F::Cnot, B32, [0, 0, 0, 0], 1),
        (F::Lop3(0x96), B32, [0xf0, 0xcc, 0xaa, 0], 0x96),
        (F::Shl, B16, [0xffff, 4, 0, 0], 0xfff0),
        (F::Shr, S16, [0x8000, 100, 0, 0], 0xffff),
        (F::Shr, U32, [0x8000_0000, 31, 0, 0], 1),
        (F::Shf { left: true, wrap: true }, B32, [0x8000_0000, 1, 1, 0], 3),
        (F::FAdd(near), F32, [f(1.0), f(2.5), 0, 0], f(3.5)),
        (F::FAdd(FloatMode { ftz: true, ..near }), F32, [1, f(0.0), 0, 0], 0),
        (F::FSub(FloatMode { round: Round::Down, ..near }), F64, [g(1.0), g(1.0), 0, 0], g(-0.0)),
        (F::FMul(FloatMode { sat: true, ..near }), F32, [f(3.0), f(2.0), 0, 0], f(1.0)),
        (F::Fma(near), F64, [g(3.0), g(2.0), g(1.0), 0], g(7.0)),
        (F::Fma(FloatMode { round: Round::Up, ..near }), F32, [f(1.0), f(1.0), 1, 0], f(1.0) + 1),
        (F::FDiv(FloatMode { round: Round::Up, ..near }), F32, [f(1.0), f(3.0), 0, 0], 0x3eaa_aaab),
        (
            F::FDiv(FloatMode { round: Round::Zero, ..near }),
            F32,
            [f(1.0), f(3.0), 0, 0],
            0x3eaa_aaaa,
        ),
        (F::Rcp(near), F64, [g(4.0), 0, 0, 0], g(0.25)),
        (F::Sqrt(near), F32, [f(2.25), 0, 0, 0], f(1.5)),
        (approximate(A::ReciprocalRoot), F64, [g(4.0), 0, 0, 0], g(0.5)),
        (approximate(A::Exponential), F32, [f(-3.0), 0, 0, 0], f(0.125)),
        (approximate(A::Logarithm), F32, [f(8.0), 0, 0, 0], f(3.0)),
        (approximate(A::Sine), F32, [0x8000_0000, 0, 0, 0], 0x8000_0000),
        (approximate(A::Cosine), F32, [0, 0, 0, 0], f(1.0)),
        (approximate(A::Tangent), F32, [f(1e9), 0, 0, 0], f(1.0)),
        (F::Min { relu: true }, S32, [-5i32 as u32 as u64, 7, 0, 0], 0),
        (F::Max { relu: true }, S16x2, [0xffff_0003, 0xfffe_0004, 0, 0], 0x0000_0004),
        (F::Add { sat: false }, U16x2, [0xffff_ffff, 0x0001_0002, 0, 0], 0x0000_0001),
        (F::Min { relu: false }, U16x2, [0xffff_0003, 0x0001_0004, 0, 0], 0x0001_0003),
        (F::Min { relu: false }, S16x2, [0xffff_0003, 0x0001_0004, 0, 0], 0xffff_0003),
        // 1.0 is 0x3c00 in f16 and 0x3f80 in bf16, 2.0 is 0x4000 in both, 3.0 is 0x4200 and 0x4040.
        (F::FAdd(near), F16, [0x3c00, 0x4000, 0, 0], 0x4200),
        (F::FAdd(near), BF16, [0x3f80, 0x4000, 0, 0], 0x4040),
        (F::FSub(near), F16x2, [0x4200_3c00, 0x4000_3c00, 0, 0], 0x3c00_0000),
        (F::FMul(near), BF16x2, [0x4040_3f80, 0x3f80_4000, 0, 0], 0x4040_4000),
        (F::Fma(near), F16x2, [0x3c00_4000, 0x4200_3c00, 0xbc00_3c00, 0], 0x4000_4200),
        (F::Fma(FloatMode { relu: true, ..near }), BF16, [0x3f80, 0xc000, 0x3f80, 0], 0),
        (F::FMul(FloatMode { ftz: true, ..near }), F16, [0x0001, 0x4000, 0, 0], 0),
        (F::FNeg { ftz: false }, F16x2, [0x3c00_8000, 0, 0, 0], 0xbc00_0000),
        (
            F::FMax { ftz: false, nan: true, xorsign: false },
            F16x2,
            [0x7e00_3c00, 0x3c00_4000, 0, 0],
            0x7fff_4000,
        ),
        (F::FMin { ftz: false, nan: false, xorsign: true }, F32, [f(-1.0), f(2.0), 0, 0], f(-1.0)),
        (approximate(A::Exponential), F16x2, [0x3c00_0000, 0, 0, 0], 0x4000_3c00),
        (approximate(A::Tangent), BF16, [0x7f80, 0, 0, 0], 0x3f80),
        (
            F::Set { compare: Compare::Lt, truth: 0x3c00_3c00, ftz: false },
            F16x2,
            [0x3c00_4000, 0x4000_3c00, 0, 0],
            0x3c00_0000,
        ),
        (
            F::Set { compare: Compare::Neu, truth: u32::MAX, ftz: false },
            BF16x2,
            [0x7fff_3f80, 0x7fff_3f80, 0, 0],
            0xffff_0000,
        ),
        (
            F::Set { compare: Compare::Eq, truth: 0xffff, ftz: true },
            F16,
            [0x0001, 0x8000, 0, 0],
            0xffff,
        ),
        (F::CvtPair(Convert::from(F32)), F16x2, [f(1.0), f(2.0), 0, 0], 0x3c00_4000),
        (F::CvtPair(Convert::from(F32)), BF16x2, [f(1.0), f(3.0), 0, 0], 0x3f80_4040),
        (
            F::FMin { ftz: false, nan: false, xorsign: false },
            F64,
            [g(f64::NAN), g(2.0), 0, 0],
            g(2.0),
        ),
        (
            F::FMax { ftz: false, nan: true, xorsign: false },
            F32,
            [f(f32::NAN), f(2.0), 0, 0],
            0x7fff_ffff,
        ),
        (F::FNeg { ftz: false }, F32, [f(2.0), 0, 0, 0], f(-2.0)),
        (F::FAbs { ftz: true }, F32, [0x8000_0001, 0, 0, 0], 0),
        (F::CopySign, F64, [g(-1.0), g(5.0), 0, 0], g(-5.0)),
        (
            F::Set { compare: Compare::Lt, truth: u32::MAX, ftz: false },
            S32,
            [0xffff_ffff, 1, 0, 0],
            0xffff_ffff,
        ),
        (
            F::Set { compare: Compare::Lt, truth: 1f32.to_bits(), ftz: false },
            F32,
            [f(1.0), f(2.0), 0, 0],
            f(1.0),
        ),
        (F::Slct { float: false, ftz: false }, U32, [1, 2, 0xffff_ffff, 0], 2),
        (F::Slct { float: true, ftz: false }, U32, [1, 2, f(f32::NAN), 0], 2),
        (F::Slct { float: true, ftz: true }, U32, [1, 2, 0x8000_0001, 0], 1),
        (cvt(S8, Round::Zero), S16, [0x80, 0, 0, 0], 0xff80),
        (cvt(U32, Round::Zero), U8, [0x1ff, 0, 0, 0], 0xff),
        (cvt(S32, Round::Nearest), F32, [0xffff_ffff, 0, 0, 0], f(-1.0)),
        (cvt(U32, Round::Down), F32, [0xffff_ffff, 0, 0, 0], 0x4f7f_ffff),
        (cvt(F32, Round::Zero), S32, [f(-1e20), 0, 0, 0], 0x8000_0000),
        (cvt(F32, Round::Zero), U32, [f(3.9), 0, 0, 0], 3),
        (cvt(F32, Round::Nearest), F16, [f(1.5), 0, 0, 0], 0x3e00),
    ];
    for &(function, ty, sources, expected) in cases {
        let mut registers = RegisterFile {
            narrow: vec![[0; 32]; 5].into(),
            wide: vec![[0; 32]; 5].into(),
            predicates: vec![],
            calls: Vec::new(),
            copies: Default::default(),
            vectors: Default::default(),
        };
        for (i, value) in sources.into_iter().enumerate() {
            registers.narrow[i] = [value as u32; 32];
            registers.wide[i] = [value; 32];
        }
        run(lane(function, ty, 4, [0, 1, 2, 3]), LaneMask(1 << 7), LaneMask::FULL, &mut registers)
            .unwrap();
        // The result is wide exactly if its type is; the other row keeps its zeros.
        let got = if ty.is_wide() { registers.wide[4] } else { registers.narrow[4].map(u64::from) };
        assert_eq!(got[7], expected, "{function:?} {ty:?} {sources:x?}");
        assert_eq!(got[6], 0);
    }
}

#[test]
fn forms_whose_result_has_another_width() {
    use LaneFn as F;
    let mut r = file();
    let all = LaneMask::FULL;
    run(lane(F::MulWide, Type::S32, 2, [4, 2, 0, 0]), all, all, &mut r).unwrap();
    assert_eq!(r.wide[2][0] as i64, i64::from(0xdead_beef_u32 as i32) * 10);
    run(lane(F::MadWide, Type::U32, 2, [4, 2, 1, 0]), all, all, &mut r).unwrap();
    assert_eq!(r.wide[2][0], 0xdead_beef * 10 + 3);
    run(lane(F::Popc, Type::B64, 2, [0, 0, 0, 0]), all, all, &mut r).unwrap();
    assert_eq!((r.narrow[2][0], r.narrow[2][3]), (1, 3));
    run(lane(F::Clz, Type::B64, 2, [0, 0, 0, 0]), all, all, &mut r).unwrap();
    assert_eq!((r.narrow[2][0], r.narrow[2][3]), (63, 29));
    run(lane(F::Bfind { shift: false }, Type::U64, 2, [0, 0, 0, 0]), all, all, &mut r).unwrap();
    assert_eq!(r.narrow[2][3], 34);
    run(lane(F::Shl, Type::B64, 2, [1, 3, 0, 0]), all, all, &mut r).unwrap();
    assert_eq!(r.wide[2][4], 48);
    let widen = F::Cvt(Convert::from(Type::S32));
    run(lane(widen, Type::S64, 2, [4, 0, 0, 0]), all, all, &mut r).unwrap();
    assert_eq!(r.wide[2][0], 0xffff_ffff_dead_beef);
    let narrow = F::Cvt(Convert::from(Type::F64));
    r.wide[1] = [2.5f64.to_bits(); 32];
    run(lane(narrow, Type::F32, 2, [1, 0, 0, 0]), all, all, &mut r).unwrap();
    assert_eq!(r.narrow[2][0], 2.5f32.to_bits());
    let set = F::Set { compare: Compare::Eq, truth: u32::MAX, ftz: false };
    run(lane(set, Type::U64, 2, [0, 0, 0, 0]), all, all, &mut r).unwrap();
    assert_eq!(r.narrow[2], [u32::MAX; 32]);
}

#[test]
fn setp_combines_both_results() {
    let below_ten = 0x0000_03ff;
    let c = 0xff00_ff00;
    for (combine, p, q) in [
        (None, below_ten, !below_ten),
        (Some(BoolOp::And), below_ten & c, !below_ten & c),
        (Some(BoolOp::Or), below_ten | c, !below_ten | c),
        (Some(BoolOp::Xor), below_ten ^ c, !below_ten ^ c),
    ] {
        let lanes = LaneMask(0x0ff0_0ff0);
        let mut r = file();
        let with = PredicateUse { predicate: Predicate(1), negated: false };
        let op = Setp {
            compare: Compare::Lt,
            ty: Type::U32,
            ftz: false,
            p: Some(Predicate(2)),
            q: Some(Predicate(3)),
            a: Row(0),
            b: Row(2),
            combine: combine.map(|b| (b, with)),
        };
        run(Op::Setp(op), lanes, LaneMask::FULL, &mut r).unwrap();
        assert_eq!((r.predicates[2], r.predicates[3]), (p & lanes.0, q & lanes.0), "{combine:?}");
    }
    let mut r = file();
    let signed = Setp {
        compare: Compare::Gt,
        ty: Type::S16,
        ftz: false,
        p: Some(Predicate(2)),
        q: None,
        a: Row(0),
        b: Row(4),
        combine: None,
    };
    run(Op::Setp(signed), LaneMask::FULL, LaneMask::FULL, &mut r).unwrap();
    assert_eq!(r.predicates[2], u32::MAX, "0xbeef is negative as s16");
}

#[test]
fn a_pair_sets_a_predicate_for_each_half() {
    let mut r = file();
    // Lanes hold 0..32 below; compared with 4.0 above and 0.0 below.
    r.narrow[0] = std::array::from_fn(|lane| if lane < 4 { 0x3c00_0000 } else { 0x4800_8000 });
    r.narrow[1] = [0x4400_0000; 32];
    for (combine, p, q) in [(None, u32::MAX, 0xf), (Some(BoolOp::And), 0xff00_ff00, 0)] {
        let with = PredicateUse { predicate: Predicate(1), negated: false };
        let op = Setp {
            compare: Compare::Le,
            ty: Type::F16x2,
            ftz: false,
            p: Some(Predicate(2)),
            q: Some(Predicate(3)),
            a: Row(0),
            b: Row(1),
            combine: combine.map(|b| (b, with)),
        };
        run(Op::Setp(op), LaneMask::FULL, LaneMask::FULL, &mut r).unwrap();
        assert_eq!((r.predicates[2], r.predicates[3]), (p, q), "{combine:?}");
    }
}

#[test]
fn questions_about_one_value() {
    use crate::kernel::layout::{BUFFER_BASE, CONST_BASE, LOCAL_WINDOW, SHARED_WINDOW};
    let mut r = file();
    r.wide[0] = [BUFFER_BASE; 32];
    for (lane, address) in [CONST_BASE, LOCAL_WINDOW + 8, SHARED_WINDOW].into_iter().enumerate() {
        r.wide[0][lane] = address;
    }
    let spaces = [(Space::Const, 1), (Space::Local, 2), (Space::Shared, 4), (Space::Global, 0xf8)];
    for (space, expected) in spaces {
        let test = Op::Test { f: TestFn::In(space), ty: Type::U64, p: Predicate(2), a: Row(0) };
        run(test, LaneMask(0xff), LaneMask::FULL, &mut r).unwrap();
        assert_eq!(r.predicates[2], expected, "{space:?}");
    }
    r.narrow[0][5] = f32::NAN.to_bits();
    let test = Op::Test { f: TestFn::NotANumber, ty: Type::F32, p: Predicate(2), a: Row(0) };
    run(test, LaneMask::FULL, LaneMask::FULL, &mut r).unwrap();
    assert_eq!(r.predicates[2], 1 << 5);
}

#[test]
fn one_lane_is_elected_in_each_group() {
    let mut r = file();
    r.narrow[4] = std::array::from_fn(|lane| if lane < 16 { 0x0000_fff0 } else { 0xffff_0000 });
    let kind = VoteKind::Elect(Some(Row(2)), Some(Predicate(2)));
    run(
        Op::Vote(Vote { kind, p: None, mask: Row(4).into() }),
        LaneMask(0xffff_fff0),
        LaneMask::FULL,
        &mut r,
    )
    .unwrap();
    assert_eq!((r.narrow[2][5], r.narrow[2][31], r.predicates[2]), (4, 16, 1 << 16 | 1 << 4));
}

#[test]
fn predicates_select_and_clock() {
    let all = LaneMask::FULL;
    let (a, b) = (Predicate(0), Predicate(1));
    let plain = |predicate| PredicateUse { predicate, negated: false };
    let not = |predicate| PredicateUse { predicate, negated: true };
    for (f, x, y, expected) in [
        (PredicateFn::And, plain(a), plain(b), 0x0000_ff00),
        (PredicateFn::Or, plain(a), plain(b), 0xff00_ffff),
        (PredicateFn::Xor, plain(a), plain(b), 0xff00_00ff),
        (PredicateFn::Not, plain(a), plain(a), 0xffff_0000),
        (PredicateFn::Mov, not(a), not(a), 0xffff_0000),
    ] {
        let mut r = file();
        run(Op::PredicateLogic { f, d: Predicate(2), a: x, b: y }, all, all, &mut r).unwrap();
        assert_eq!(r.predicates[2], expected, "{f:?}");
    }
    let mut r = file();
    let select = |ty, d, a, b, c| Op::Select { ty, d: Row(d), a: Row(a), b: Row(b), c };
    run(select(Type::B32, 1, 0, 1, not(a)), LaneMask(!1), all, &mut r).unwrap();
    assert_eq!((r.narrow[1][0], r.narrow[1][2], r.narrow[1][20]), (1, 7, 20));
    run(select(Type::F64, 2, 0, 1, plain(a)), all, all, &mut r).unwrap();
    assert_eq!((r.wide[2][1], r.wide[2][20]), (1 << 33 | 1, 3));
    run(Op::Clock { d: Row(2), clock: Clock::Wide }, all, all, &mut r).unwrap();
    run(Op::Clock { d: Row(2), clock: Clock::Low }, LaneMask(1), all, &mut r).unwrap();
    assert_eq!((r.wide[2][9], r.narrow[2][0], r.narrow[2][1]), (0x1_2345_6789, 0x2345_6789, 10));
    for (clock, expected) in
        [(Clock::High, 1), (Clock::TimerLow, 0x4689_acdf), (Clock::TimerHigh, 2)]
    {
        run(Op::Clock { d: Row(2), clock }, all, all, &mut r).unwrap();
        assert_eq!(r.narrow[2][5], expected, "{clock:?}");
    }
}
