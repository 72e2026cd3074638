//! Loads, stores and atomics over small memories.

mod generic;

use super::*;
use crate::base::mix;
use crate::exec::{FaultKind, LocalMemory, SharedMemory};
use crate::isa::Type;
use crate::kernel::layout::SHARED_WINDOW;
use crate::kernel::{Address, AtomicFn, AtomicForm, MemoryOrder, Row, Scope};

const FULL: LaneMask = LaneMask::FULL;
const BASE: u64 = 0x0700_0000_0000;
const OTHER: u64 = BASE + 0x1000;
const CONSTANTS: u64 = 0x0300_0000_0000;

/// Small memories and the rest of an environment.
/// Global memory has 32 words counting from 1000 at `BASE`, 6 bytes at `OTHER`, and read-only words
/// at `CONSTANTS`.
struct World {
    global: GlobalMemory,
    shared: SharedMemory,
    local: LocalMemory,
    registers: RegisterFile,
    addresses: Addresses,
}

impl World {
    /// Creates a world.
    /// Wide row 0 holds `address(lane)`; narrow rows 1.. are results, row 0 holds 500 + lane.
    fn new(address: impl Fn(u64) -> u64) -> World {
        World {
            global: GlobalMemory::new(vec![
                (BASE, 128, (1000..1032).collect(), true),
                (OTHER, 6, vec![0x8180_7f01, 0xffff_ff02], true),
                (CONSTANTS, 8, vec![11, 22], false),
            ]),
            shared: SharedMemory::new(256),
            local: LocalMemory::new(16),
            registers: RegisterFile {
                narrow: vec![
                    std::array::from_fn(|l| 500 + l as u32),
                    [7; 32],
                    [7; 32],
                    [7; 32],
                    [7; 32],
                ]
                .into(),
                wide: vec![std::array::from_fn(|l| address(l as u64)), [7; 32], [7; 32]].into(),
                predicates: Vec::new(),
                calls: Vec::new(),
                copies: Default::default(),
                vectors: Default::default(),
            },
            addresses: [0; 32],
        }
    }

    /// Runs an instruction that accesses one memory.
    fn run(
        &mut self,
        lanes: LaneMask,
        f: impl Fn(LaneMask, &mut RegisterFile, &mut Env<'_>) -> Result<Effect, Fault>,
    ) -> Result<MemoryAccess, Fault> {
        let accesses = self.run_all(lanes, f)?;
        let [access] = accesses[..] else { panic!("expected an access, got {accesses:?}") };
        Ok(access)
    }

    /// Runs an instruction and returns its access to each memory.
    fn run_all(
        &mut self,
        lanes: LaneMask,
        f: impl Fn(LaneMask, &mut RegisterFile, &mut Env<'_>) -> Result<Effect, Fault>,
    ) -> Result<Vec<MemoryAccess>, Fault> {
        let mut system = crate::exec::SystemLog::default();
        let mut env = Env {
            global: &self.global,
            shared: &mut self.shared,
            local: &mut self.local,
            params: &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0],
            functions: &[],
            warp_size: 32,
            live: LaneMask(u32::MAX),
            pc: 0,
            clock: 0,
            nanoseconds: 0,
            addresses: &mut self.addresses,
            system: &mut system,
        };
        match f(lanes, &mut self.registers, &mut env)? {
            Effect::Access(access) => Ok(vec![access]),
            Effect::Accesses => Ok(system.parts),
            other => panic!("expected an access, got {other:?}"),
        }
    }

    fn load(&mut self, lanes: LaneMask, op: &Load) -> Result<MemoryAccess, Fault> {
        self.run(lanes, |lanes, registers, env| load(op, lanes, registers, env))
    }

    fn store(&mut self, lanes: LaneMask, op: &Store) -> Result<MemoryAccess, Fault> {
        self.run(lanes, |lanes, registers, env| store(op, lanes, registers, env))
    }

    fn atomic(&mut self, lanes: LaneMask, op: &Atomic) -> Result<MemoryAccess, Fault> {
        self.run(lanes, |lanes, registers, env| atomic(op, lanes, registers, env))
    }

    fn buffer(&self) -> Vec<u32> {
        self.global.words(BASE).unwrap().collect()
    }
}

fn access(space: Space, ty: Type, count: u8) -> Access {
    Access {
        space,
        ty,
        count,
        wide: ty.is_wide(),
        order: MemoryOrder::Weak,
        scope: Scope::Block,
        bypass_l1: false,
    }
}

fn at(offset: i64) -> Address {
    Address { base: AddressBase::Wide(Row(0)), offset }
}

fn load_of(space: Space, ty: Type, count: u8, offset: i64) -> Load {
    Load {
        uniform: false,
        access: access(space, ty, count),
        d: [1, 2, 3, 4].map(|r| Some(Row(r))),
        address: at(offset),
    }
}

fn store_of(space: Space, ty: Type, offset: i64) -> Store {
    Store { access: access(space, ty, 1), s: [Row(0); 4], address: at(offset) }
}

#[test]
fn rows_strides_and_scattered_lanes_load_the_same_words() {
    let op = load_of(Space::Global, Type::U32, 1, 0);
    for (name, word) in [
        ("row", (|l| l) as fn(u64) -> u64),
        ("reversed", |l| 31 - l),
        ("stride", |l| l / 2 * 2),
        ("one word", |_| 5),
    ] {
        for lanes in [FULL, LaneMask(0x8000_0001), LaneMask(0xff0)] {
            let mut world = World::new(|l| BASE + 4 * word(l));
            let access = world.load(lanes, &op).unwrap();
            assert_eq!(
                (access.space, access.lanes, access.bytes, access.changed),
                (Space::Global, lanes, 4, false)
            );
            for lane in 0..32 {
                let expected =
                    if lanes.contains(lane) { 1000 + word(lane.into()) as u32 } else { 7 };
                assert_eq!(
                    world.registers.narrow[1][lane as usize], expected,
                    "{name} {lanes} {lane}"
                );
            }
        }
    }
}

#[test]
fn narrow_elements_extend_as_their_type_says() {
    let one = LaneMask(1);
    for (ty, offset, expected) in [
        (Type::U8, 0, 0x01),
        (Type::U8, 3, 0x81),
        (Type::S8, 2, 0xffff_ff80),
        (Type::S8, 1, 0x7f),
        (Type::U16, 2, 0x8180),
        (Type::S16, 2, 0xffff_8180),
        (Type::B16, 4, 0xff02),
        (Type::B32, 0, 0x8180_7f01),
    ] {
        let mut world = World::new(|_| OTHER);
        world.load(one, &load_of(Space::Global, ty, 1, offset)).unwrap();
        assert_eq!(world.registers.narrow[1][0], expected, "{ty:?} {offset}");
    }
    let mut world = World::new(|_| OTHER);
    let mut wide = load_of(Space::Global, Type::S16, 1, 2);
    wide.access.wide = true;
    world.load(one, &wide).unwrap();
    assert_eq!(world.registers.wide[1][..2], [0xffff_ffff_ffff_8180, 7]);
}

#[test]
fn vectors_and_long_elements() {
    let mut world = World::new(|l| BASE + 16 * (l % 8));
    let mut op = load_of(Space::Global, Type::U32, 4, 0);
    op.d[2] = None;
    assert_eq!(world.load(FULL, &op).unwrap().bytes, 16);
    let lane9: Vec<u32> = world.registers.narrow.iter().map(|row| row[9]).collect();
    assert_eq!(lane9, [509, 1004, 1005, 7, 1007]);
    let mut world = World::new(|l| BASE + 8 * (l % 16));
    world.load(FULL, &load_of(Space::Global, Type::U64, 1, 0)).unwrap();
    assert_eq!(world.registers.wide[1][17], 1003 << 32 | 1002);
    let mut stored = store_of(Space::Global, Type::U64, 8);
    stored.s[0] = Row(1);
    world.store(LaneMask(2), &stored).unwrap();
    assert_eq!(world.buffer()[2..6], [1002, 1003, 1002, 1003]);
}

/// The base register may be the result.
#[test]
fn a_load_may_overwrite_its_address() {
    let mut world = World::new(|l| BASE + 4 * l);
    let mut op = load_of(Space::Global, Type::U32, 2, 0);
    op.access.wide = true;
    op.d = [Some(Row(0)), Some(Row(1)), None, None];
    world.load(LaneMask(1), &op).unwrap();
    assert_eq!((world.registers.wide[0][0], world.registers.wide[1][0]), (1000, 1001));
}

#[test]
fn stores_change_their_bytes_alone_and_say_whether_any_changed() {
    let mut world = World::new(|l| BASE + l);
    let access = world.store(FULL, &store_of(Space::Global, Type::U8, 4)).unwrap();
    assert_eq!((access.kind, access.bytes, access.changed), (AccessKind::Write, 1, true));
    let buffer = world.buffer();
    assert_eq!(
        (buffer[0], buffer[1], buffer[9]),
        (1000, u32::from_le_bytes([244, 245, 246, 247]), 1009)
    );
    assert!(
        !world.store(FULL, &store_of(Space::Global, Type::U8, 4)).unwrap().changed,
        "an unchanged value"
    );

    for (space, base, step) in
        [(Space::Global, BASE, 4), (Space::Shared, 0, 4), (Space::Local, 8, 0)]
    {
        for lanes in [FULL, LaneMask(0xf0f0)] {
            let mut world = World::new(|l| base + step * l);
            let op = store_of(space, Type::U32, 0);
            assert!(world.store(lanes, &op).unwrap().changed);
            assert!(!world.store(lanes, &op).unwrap().changed);
            world.load(lanes, &load_of(space, Type::U32, 1, 0)).unwrap();
            for lane in lanes.lanes() {
                assert_eq!(
                    world.registers.narrow[1][lane as usize],
                    500 + lane,
                    "{space:?} {lanes}"
                );
            }
        }
    }
}

#[test]
fn parts_of_words_are_stored_as_lane_by_lane() {
    for drawn in 1..3000_u64 {
        let of = |lane: u64| mix(drawn << 8 | lane);
        let (ty, lanes) = ([Type::U8, Type::U16][(drawn % 2) as usize], LaneMask(of(99) as u32));
        let size = u64::from(ty.bytes());
        // Neighbors, or any bytes of a few words: some lanes store the same ones.
        let spread = 1 << (of(98) % 6);
        let place = |lane: u64| match drawn % 3 {
            0 => lane * size,
            _ => of(lane) % spread * size,
        };
        let mut world = World::new(|lane| BASE + place(lane));
        let same = drawn % 7 == 0;
        if same {
            world.registers.narrow[0] = [1000; MAX_LANES];
        }
        let mut bytes: Vec<u8> = world.buffer().iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut changed = false;
        for lane in lanes.lanes().collect::<Vec<_>>().into_iter().rev() {
            let value = world.registers.narrow[0][lane as usize].to_le_bytes();
            let at = place(lane.into()) as usize;
            let old = &mut bytes[at..at + size as usize];
            changed |= *old != value[..size as usize];
            old.copy_from_slice(&value[..size as usize]);
        }
        let stored = world.store(lanes, &store_of(Space::Global, ty, 0));
        let after: Vec<u8> = world.buffer().iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(after, bytes, "{drawn}");
        assert_eq!(stored.is_ok_and(|access| access.changed), changed, "{drawn}");
    }
}

#[test]
fn the_lowest_lane_of_those_served_last_wins_a_contested_word() {
    for (count, winner) in [(1, 4), (2, 16), (4, 24)] {
        let mut world = World::new(|_| BASE);
        let mut op = store_of(Space::Global, Type::U32, 0);
        op.access.count = count;
        world.store(LaneMask(0x3fff_fff0), &op).unwrap();
        let words = usize::from(count);
        assert_eq!(world.buffer()[..words], vec![500 + winner; words]);
    }
}

#[test]
fn faults_name_the_lowest_lane_and_leave_no_trace() {
    let bounds = |space, address, bytes| FaultKind::OutOfBounds { space, address, bytes };
    let misaligned =
        |address, bytes| FaultKind::Misaligned { space: Space::Global, address, bytes };
    let u32_at = |space| store_of(space, Type::U32, 0);
    type Place = fn(u64) -> u64;
    let cases: [(Place, Store, u32, FaultKind); 11] = [
        (|l| BASE + 8 * l, u32_at(Space::Global), 16, bounds(Space::Global, BASE + 128, 4)),
        (|l| BASE + 4 * l + 4, u32_at(Space::Global), 31, bounds(Space::Global, BASE + 128, 4)),
        (|_| 0, u32_at(Space::Global), 0, bounds(Space::Global, 0, 4)),
        (
            |l| if l == 3 { u64::MAX } else { BASE },
            u32_at(Space::Global),
            3,
            bounds(Space::Global, u64::MAX, 4),
        ),
        (|_| OTHER + 4, u32_at(Space::Global), 0, bounds(Space::Global, OTHER + 4, 4)),
        (|l| BASE + 3 * l, u32_at(Space::Global), 1, misaligned(BASE + 3, 4)),
        (|l| BASE + 4 * l, store_of(Space::Global, Type::U64, 0), 1, misaligned(BASE + 4, 8)),
        (
            |l| CONSTANTS + l % 2 * 4,
            u32_at(Space::Global),
            0,
            FaultKind::ReadOnly { address: CONSTANTS },
        ),
        (|l| 8 * l, u32_at(Space::Shared), 31 + 1, FaultKind::Trap),
        (|l| 12 * l, u32_at(Space::Shared), 22, bounds(Space::Shared, 264, 4)),
        (|l| l * 4, u32_at(Space::Local), 4, bounds(Space::Local, 16, 4)),
    ];
    for (address, op, lane, kind) in cases {
        let mut world = World::new(address);
        let before = world.buffer();
        let result = world.store(FULL, &op);
        if kind == FaultKind::Trap {
            assert!(result.is_ok(), "the case in bounds must pass");
            continue;
        }
        assert_eq!(result, Err(Fault { lane, kind }));
        assert_eq!(world.buffer(), before);
        let registers = world.registers.clone();
        let load =
            Load { uniform: false, access: op.access, d: [Some(Row(1)); 4], address: op.address };
        if !matches!(result, Err(Fault { kind: FaultKind::ReadOnly { .. }, .. })) {
            assert_eq!(world.load(FULL, &load).map_err(|f| f.lane), Err(lane));
            assert_eq!(world.registers, registers);
        }
    }
}

#[test]
fn a_masked_lane_may_hold_any_address() {
    let mut world = World::new(|l| if l < 8 { BASE + 4 * l } else { 0xdead });
    assert!(world.load(LaneMask(0xff), &load_of(Space::Global, Type::U32, 1, 0)).is_ok());
}

#[test]
fn one_access_may_reach_two_buffers() {
    let mut world = World::new(|l| if l % 2 == 0 { BASE + 4 * l } else { OTHER });
    world.load(FULL, &load_of(Space::Global, Type::U32, 1, 0)).unwrap();
    assert_eq!(world.registers.narrow[1][..3], [1000, 0x8180_7f01, 1002]);
}

#[test]
fn parameters_and_constants_are_read_once_for_all() {
    let fixed = |space, offset| Load {
        uniform: false,
        access: access(space, Type::U32, 1),
        d: [Some(Row(1)), None, None, None],
        address: Address { base: AddressBase::Zero, offset },
    };
    let mut world = World::new(|_| 0);
    let access = world.load(LaneMask(6), &fixed(Space::Param, 4)).unwrap();
    assert_eq!((access.space, world.addresses[1]), (Space::Param, 4));
    assert_eq!(world.registers.narrow[1][..4], [7, 2, 2, 7]);
    world.load(FULL, &fixed(Space::Const, CONSTANTS as i64 + 4)).unwrap();
    assert_eq!(world.registers.narrow[1], [22; 32]);
    let fault = world.load(LaneMask(6), &fixed(Space::Param, 8)).unwrap_err();
    assert_eq!(
        (fault.lane, fault.kind),
        (1, FaultKind::OutOfBounds { space: Space::Param, address: 8, bytes: 4 })
    );
    let write = Store {
        access: fixed(Space::Const, 0).access,
        s: [Row(0); 4],
        address: fixed(Space::Const, CONSTANTS as i64).address,
    };
    let fault = world.store(FULL, &write).unwrap_err();
    assert_eq!(fault.kind, FaultKind::ReadOnly { address: CONSTANTS });
}

#[test]
fn a_32_bit_base_wraps() {
    let mut world = World::new(|_| 0);
    world.registers.narrow[0] = [(-4i32) as u32; 32];
    let mut op = load_of(Space::Shared, Type::U32, 1, 0);
    op.address = Address { base: AddressBase::Narrow(Row(0)), offset: 8 };
    world.load(FULL, &op).unwrap();
    assert_eq!(world.addresses[0], 4);
}

#[test]
fn atomics_serve_lanes_in_order() {
    let order = MemoryOrder::Relaxed;
    let op = |space, f, ty, d| Atomic {
        space,
        f,
        ty,
        order,
        scope: Scope::Gpu,
        d,
        address: at(0),
        b: Row(0),
        c: Row(0),
        pairs: false,
        form: AtomicForm::Usual,
        reached: None,
    };
    for (space, base) in
        [(Space::Global, BASE), (Space::Shared, 0), (Space::Generic, SHARED_WINDOW)]
    {
        let mut world = World::new(|_| base);
        let start = if space == Space::Global { 1000 } else { 0 };
        let lanes = LaneMask(0xff00);
        let access =
            world.atomic(lanes, &op(space, AtomicFn::Add, Type::U32, Some(Row(1)))).unwrap();
        assert_eq!((access.kind, access.changed, access.bytes), (AccessKind::Atomic, true, 4));
        let mut sum = start;
        for lane in lanes.lanes() {
            assert_eq!(world.registers.narrow[1][lane as usize], sum, "{space:?}");
            sum += 500 + lane;
        }
        assert_eq!(world.registers.narrow[1][0], 7);
    }
    let mut world = World::new(|_| BASE);
    world.registers.wide[1] = [1 << 33; 32];
    let add = Atomic { b: Row(1), ..op(Space::Global, AtomicFn::Add, Type::U64, Some(Row(2))) };
    world.atomic(LaneMask(3), &add).unwrap();
    assert_eq!(world.registers.wide[2][1], (1001 + 2) << 32 | 1000);
    assert_eq!(world.buffer()[..2], [1000, 1005]);
}

#[test]
fn compare_and_swap_has_one_winner_and_tells_when_nobody_won() {
    let mut world = World::new(|_| 4);
    world.registers.narrow[2] = [0; 32];
    let cas = Atomic {
        scope: Scope::Gpu,
        space: Space::Shared,
        f: AtomicFn::Cas,
        ty: Type::B32,
        order: MemoryOrder::Relaxed,
        d: Some(Row(1)),
        address: at(0),
        b: Row(2),
        c: Row(0),
        pairs: false,
        form: AtomicForm::Usual,
        reached: None,
    };
    assert!(world.atomic(FULL, &cas).unwrap().changed);
    assert_eq!(world.registers.narrow[1][..3], [0, 500, 500]);
    assert!(!world.atomic(FULL, &cas).unwrap().changed);
    // 16 bits: only the addressed half of the word changes.
    let mut world = World::new(|_| OTHER + 2);
    world.registers.narrow[2] = [0x8180; 32];
    let half = Atomic { space: Space::Global, ty: Type::B16, ..cas };
    world.atomic(LaneMask(1), &half).unwrap();
    assert_eq!(world.registers.narrow[1][0], 0x8180);
    assert_eq!(world.global.words(OTHER).unwrap().next(), Some(500 << 16 | 0x7f01));
}
