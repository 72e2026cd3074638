//! Accepted programs and their instructions.

use super::{around, checked, kernel};
use crate::base::{LaneMask, Pc};
use crate::isa::{Class, Compare, Space, Type};
use crate::kernel::{
    AddressBase, Clock, Convert, Kernel, LaneFn, LaneOp, Load, MemberMask, Op, Register, Row, Setp,
    Special, Store, layout,
};

fn lane(kernel: &Kernel, i: usize) -> LaneOp {
    match kernel.insts[i].op {
        Op::Lane(op) => op,
        ref other => panic!("instruction {i} is {other:?}"),
    }
}

/// Returns the value of an immediate's row.
fn constant(kernel: &Kernel, row: Row) -> Option<u32> {
    kernel.registers.narrow_constants.iter().find(|(r, _)| *r == row).map(|(_, bits)| *bits)
}

fn row(kernel: &Kernel, name: &str) -> Row {
    let (_, register, _) =
        kernel.registers.names.iter().find(|(n, ..)| n == name).expect("a used register");
    match register {
        Register::Narrow(row) | Register::Wide(row) => *row,
        Register::Predicate(_) => panic!("{name} is a predicate"),
    }
}

#[test]
fn a_member_mask_is_known_if_it_is_an_immediate() {
    let k = kernel(
        "mov.b32 %r1, 0xff; shfl.sync.bfly.b32 %r2|%p1, %r1, 1, 31, -1; bar.warp.sync 0xff;
         vote.sync.ballot.b32 %r3, %p1, %r1; ret;",
    );
    let masks = k.insts.iter().filter_map(|inst| match &inst.op {
        Op::Shuffle(op) => Some(op.mask),
        Op::Vote(op) => Some(op.mask),
        Op::WarpSync { mask } => Some(*mask),
        _ => None,
    });
    let masks: Vec<MemberMask> = masks.collect();
    let common: Vec<_> = masks.iter().map(|mask| mask.common).collect();
    assert_eq!(common, [Some(LaneMask::FULL), Some(LaneMask(0xff)), None]);
    assert_eq!(constant(&k, masks[1].row), Some(0xff));
    assert_eq!(masks[2].row, row(&k, "%r1"));
}

#[test]
fn operands_become_rows_and_only_registers_are_read_and_written() {
    let k = kernel("mov.u32 %r1, %tid.x; add.u32 %r2, %r1, -1; add.u32 %r2, %r2, 0xffffffff; ret;");
    let (mov, add) = (lane(&k, 0), lane(&k, 1));
    assert_eq!(
        (mov.f, k.registers.specials.as_slice()),
        (LaneFn::Mov, &[(mov.s[0], Special::Tid(0))][..])
    );
    assert_eq!((add.f, add.ty, add.d), (LaneFn::Add { sat: false }, Type::U32, row(&k, "%r2")));
    assert_eq!(constant(&k, add.s[1]), Some(u32::MAX));
    assert_eq!(lane(&k, 2).s[1], add.s[1], "equal immediates share a row");
    let narrow = |name| Register::Narrow(row(&k, name));
    assert_eq!(
        (k.insts[0].reads.as_slice(), k.insts[0].writes.as_slice()),
        (&[][..], &[narrow("%r1")][..])
    );
    assert_eq!(
        (k.insts[1].reads.as_slice(), k.insts[1].writes.as_slice()),
        (&[narrow("%r1")][..], &[narrow("%r2")][..])
    );
    assert_eq!(k.registers_per_thread, 1, "%r1 is dead where %r2 is written");
}

#[test]
fn a_warp_starts_with_zeros_where_a_lane_may_read_before_it_writes() {
    let k = kernel(
        "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r2, 5; \
         add.u32 %r3, %r1, %r2; shfl.sync.idx.b32 %r4, %r3, 0, 31, -1; mov.u32 %r5, %r4; ret;",
    );
    let unset = k.unset_registers().expect("PTX lists what it reads");
    let narrow = |name| Register::Narrow(row(&k, name));
    assert_eq!(unset, ["%r2", "%r3"].map(narrow), "under a guard; by another lane");
}

#[test]
fn a_guard_is_read_once() {
    let k = kernel("setp.lt.u32 %p1, %r1, 4; @!%p1 add.u32 %r1, %r1, %r1; ret;");
    let guard = k.insts[1].guard.expect("a guard");
    assert!(guard.negated);
    assert_eq!(
        k.insts[1].reads,
        [Register::Narrow(row(&k, "%r1")), Register::Predicate(guard.predicate)]
    );
}

#[test]
fn unsigned_names_of_comparisons_are_the_plain_ones() {
    for (body, compare, ty) in [
        ("setp.lo.u32 %p1, %r1, %r2; ret;", Compare::Lt, Type::U32),
        ("setp.hs.u64 %p1, %rd1, %rd2; ret;", Compare::Ge, Type::U64),
        ("setp.neu.f32 %p1, %f1, %f2; ret;", Compare::Neu, Type::F32),
    ] {
        let Op::Setp(Setp { compare: found, ty: of, .. }) = kernel(body).insts[0].op else {
            panic!("{body}")
        };
        assert_eq!((found, of), (compare, ty), "{body}");
    }
}

#[test]
fn labels_are_instruction_indices_and_blocks_have_their_own() {
    let k = kernel("top: bra top; { top: add.u32 %r1, %r1, 1; bra top; } bra end; end:");
    let targets: Vec<u32> = k
        .insts
        .iter()
        .filter_map(|inst| match inst.op {
            Op::Branch { target: Pc(target), .. } => Some(target),
            _ => None,
        })
        .collect();
    assert_eq!(targets, [0, 1, 4]);
    assert_eq!(k.insts[4].op, Op::Exit, "a label at the end needs an instruction after it");
    assert_eq!(kernel("ret;").insts.len(), 1);
    assert_eq!(kernel("@%p1 ret;").insts.len(), 2);
    assert_eq!(kernel("").insts.len(), 1);
}

#[test]
fn variables_are_aligned_and_dynamic_shared_memory_comes_last() {
    let source = ".shared .b8 unused[1000]; .shared .u16 a; .extern .shared .b8 dynamic[];\n\
        .const .u8 c[3] = {1, 2, 3}; .const .u64 d = 7; .global .u64 g = d;\n\
        .global .f32 m[2][2] = {{1.0}, {0f40000000, 3.0}};\n\
        .entry k(.param .u8 x, .param .u64 y, .param .align 16 .b8 z[20], .param .u32 w)\n\
        .reqntid 64, 2 {\n\
        .reg .b32 %r<5>; .reg .b64 %rd<3>; .shared .align 8 .b8 t[12]; .shared .u32 u;\n\
        .local .u64 l; .local .u8 q[3];\n\
        mov.u32 %r1, a; mov.u32 %r2, u; mov.u32 %r3, dynamic; mov.u64 %rd1, g; mov.u64 %rd2, l; \
        ld.param.u32 %r4, [z+16]; ret; }";
    let (kernels, found) = checked(source);
    assert_eq!(found, []);
    let k = &kernels[0];
    let shared = k.shared_variables.iter().map(|(name, at, bytes)| (name.as_str(), *at, *bytes));
    let expected = [("a", 0, 2), ("dynamic", 32, 0), ("t", 8, 12), ("u", 20, 4)];
    assert_eq!(shared.collect::<Vec<_>>(), expected);
    assert_eq!(
        (k.shared_bytes, k.local_bytes, k.param_bytes, k.block_limit),
        (24, 11, 40, Some(([64, 2, 1], true)))
    );
    let address = |i: usize| constant(k, lane(k, i).s[0]);
    assert_eq!((address(0), address(1), address(2)), (Some(0), Some(20), Some(32)));
    assert_eq!(
        k.params.iter().map(|p| (p.offset, p.bytes)).collect::<Vec<_>>(),
        [(0, 1), (8, 8), (16, 20), (36, 4)]
    );
    let Op::Load(Load { address, .. }) = &k.insts[5].op else { panic!() };
    assert_eq!((address.base, address.offset), (AddressBase::Zero, 32));
    let statics: Vec<_> =
        k.variables.iter().map(|v| (v.name.as_str(), v.space, v.address)).collect();
    assert_eq!(
        statics[..2],
        [("c", Space::Const, layout::CONST_BASE), ("d", Space::Const, layout::CONST_BASE + 8)]
    );
    assert_eq!(
        statics[2..],
        [
            ("g", Space::Global, layout::GLOBAL_BASE),
            ("m", Space::Global, layout::GLOBAL_BASE + 256)
        ]
    );
    assert_eq!(k.variables[2].bytes, (layout::CONST_BASE + 8).to_le_bytes());
    let floats: Vec<f32> = k.variables[3]
        .bytes
        .chunks(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    assert_eq!(floats, [1.0, 0.0, 2.0, 3.0]);
}

#[test]
fn loads_and_stores_take_wider_registers() {
    let k = kernel(
        "ld.shared.s16 %rd1, [tile+8]; st.volatile.global.v2.u8 [%rd1+4], {%r1, 7}; \
         ld.global.cg.f32 %f1, [%rd1]; ret;",
    );
    let Op::Load(Load { access, address, .. }) = &k.insts[0].op else { panic!() };
    assert_eq!(
        (access.ty, access.wide, address.base, address.offset),
        (Type::S16, true, AddressBase::Zero, 8)
    );
    let Op::Store(Store { access, s, address }) = &k.insts[1].op else { panic!() };
    assert_eq!(
        (access.count, access.wide, access.strong(), access.bypass_l1),
        (2, false, true, true)
    );
    assert_eq!((constant(&k, s[1]), address.base), (Some(7), AddressBase::Wide(row(&k, "%rd1"))));
    let Op::Load(Load { access, .. }) = &k.insts[2].op else { panic!() };
    assert_eq!(
        (access.strong(), access.bypass_l1, k.insts[2].class),
        (false, true, Class::LoadGlobal)
    );
}

#[test]
fn conversions_cut_from_and_extend_into_wider_registers() {
    // The chain of (destination type, source type) of each cvt.
    for (text, chain) in [
        ("cvt.u32.u64 %r1, %rd1;", vec![(Type::U32, Type::U64)]),
        ("cvt.s8.s32 %r1, %r2;", vec![(Type::S32, Type::S8)]),
        ("cvt.sat.s8.s32 %r1, %r2;", vec![(Type::S8, Type::S32), (Type::S32, Type::S8)]),
        ("cvt.s8.s64 %rd1, %rd2;", vec![(Type::S8, Type::S64), (Type::S64, Type::S8)]),
        (
            "cvt.u16.u8 %rd1, %rd2;",
            vec![(Type::U32, Type::U64), (Type::U16, Type::U8), (Type::U64, Type::U16)],
        ),
        ("cvt.rzi.s16.f32 %r1, %f1;", vec![(Type::S16, Type::F32), (Type::S32, Type::S16)]),
        ("cvt.rn.f32.u8 %f1, %r1;", vec![(Type::F32, Type::U8)]),
    ] {
        let k = kernel(&format!("{text} ret;"));
        let found: Vec<(Type, Type)> = (0..k.insts.len() - 1)
            .map(|i| match lane(&k, i) {
                LaneOp { f: LaneFn::Cvt(Convert { from, .. }), ty, .. } => (ty, from),
                other => panic!("{text}: {other:?}"),
            })
            .collect();
        assert_eq!(found, chain, "{text}");
        for pair in k.insts[..k.insts.len() - 1].windows(2) {
            assert_eq!(
                pair[0].writes, pair[1].reads,
                "{text}: each step reads what the one before wrote"
            );
        }
    }
}

#[test]
fn unpacking_is_one_instruction_for_each_part_kept() {
    let k =
        kernel("mov.b64 {_, %r2}, %rd1; mov.b64 {%r1, %r3}, %rd1; mov.b64 %rd2, {%r1, 5}; ret;");
    assert_eq!(lane(&k, 0).f, LaneFn::Unpack { parts: 2, part: 1 });
    assert_eq!(
        (lane(&k, 1).f, lane(&k, 2).f),
        (LaneFn::Unpack { parts: 2, part: 0 }, LaneFn::Unpack { parts: 2, part: 1 })
    );
    assert_eq!(k.insts[2].writes, [Register::Narrow(row(&k, "%r3"))]);
    let pack = lane(&k, 3);
    assert_eq!(
        (pack.f, pack.ty, constant(&k, pack.s[1])),
        (LaneFn::Pack { parts: 2 }, Type::B64, Some(5))
    );
}

#[test]
fn generic_addresses_are_windows() {
    let k = kernel(
        "cvta.shared.u64 %rd1, tile; cvta.to.shared.u64 %rd2, %rd1; cvta.to.global.u64 %rd3, %rd1; ret;",
    );
    let window = layout::SHARED_WINDOW as i64;
    assert_eq!(
        (lane(&k, 0).f, lane(&k, 1).f),
        (LaneFn::OffsetBy(window), LaneFn::OffsetBy(-window))
    );
    assert_eq!(lane(&k, 2).f, LaneFn::Mov);
}

#[test]
fn lines_are_those_of_the_file_whatever_loc_says() {
    let (kernels, _) = checked(
        ".file 1 \"a.cu\"\n.entry k() {\n.reg .b32 %r<2>;\nmov.u32 %r1, 0;\n.loc 1 70 3\n\
         mov.u32 %r1, 1;\nret;\n}\n",
    );
    let lines: Vec<u32> = kernels[0].insts.iter().map(|inst| inst.line).collect();
    assert_eq!(lines, [4, 6, 7]);
}

/// The links of a carry chain depend on each other through the condition code.
#[test]
fn carry_chains_depend_on_their_condition_code() {
    let k = kernel(
        "add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r2, %r4, 0; madc.hi.u32 %r3, %r4, %r5, %r6; \
         sub.u32 %r4, %r5, 1; ret;",
    );
    let flag = |list: &[Register]| list.iter().any(|r| matches!(r, Register::Predicate(_)));
    let flags: Vec<_> =
        k.insts.iter().map(|inst| (flag(&inst.reads), flag(&inst.writes))).collect();
    assert_eq!(flags, [(false, true), (true, true), (true, false), (false, false), (false, false)]);
    assert_eq!(k.registers.predicates, 1, "one code serves all links");
}

#[test]
fn reading_a_clock_is_its_own_class() {
    let k = kernel("mov.u64 %rd1, %clock64; mov.u32 %r1, %clock; mov.u64 %rd2, %gridid; ret;");
    assert_eq!(k.insts[0].op, Op::Clock { d: row(&k, "%rd1"), clock: Clock::Wide });
    assert_eq!(
        (&k.insts[1].op, k.insts[1].class),
        (&Op::Clock { d: row(&k, "%r1"), clock: Clock::Low }, Class::Clock)
    );
    assert!(matches!(lane(&k, 2).f, LaneFn::Cvt(Convert { from: Type::U32, .. })));
}

#[test]
fn a_range_costs_nothing_until_it_is_used() {
    let (kernels, found) =
        checked(".entry k() { .reg .b32 %r<4000000000>; mov.u32 %r3999999999, 0; ret; }");
    assert_eq!((found, kernels[0].registers.narrow), (vec![], 2));
}

#[test]
fn the_program_around_is_sound() {
    // The other tests ignore warnings.
    let (_, found) = checked(&around("mov.u32 %r1, 1; ret;"));
    assert_eq!(found, []);
}
