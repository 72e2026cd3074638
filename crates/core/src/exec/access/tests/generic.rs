//! Generic accesses whose lanes reach several memories.

use super::*;
use crate::kernel::AtomicVector;
use crate::kernel::layout::LOCAL_WINDOW;

/// An instruction that accesses memory.
type Run<'a> = dyn Fn(LaneMask, &mut RegisterFile, &mut Env<'_>) -> Result<Effect, Fault> + 'a;

/// Creates a world whose lanes point to shared, local and global memory in turns.
///
/// 16 bytes lie at each address; some lanes share theirs.
fn world() -> World {
    let mut world = World::new(|l| match l % 3 {
        0 => SHARED_WINDOW + l % 16 * 16,
        1 => LOCAL_WINDOW,
        _ => BASE + l % 8 * 16,
    });
    for row in 1..5 {
        world.registers.narrow[row] = std::array::from_fn(|l| (100 * row + l / 2) as u32);
    }
    world.registers.wide[1] = std::array::from_fn(|l| (1 << 40) + l as u64 / 4);
    world
}

/// Returns everything that an instruction can change, but for the addresses of lanes without one.
fn state(world: &World) -> (Vec<u32>, SharedMemory, LocalMemory, RegisterFile) {
    let World { shared, local, registers, .. } = world;
    (world.buffer(), shared.clone(), local.clone(), registers.clone())
}

/// Asserts that an access to three memories is the same as one to each.
fn equals_its_parts(what: &str, run: &Run<'_>) {
    let of = |rest: u32| (0..32).filter(|l| l % 3 == rest).fold(0, |mask, l| mask | 1 << l);
    let memories = [(Space::Global, of(2)), (Space::Shared, of(0)), (Space::Local, of(1))];
    for lanes in [FULL, LaneMask(0xffff_0000), LaneMask(0b1110_1011), LaneMask(0b110)] {
        let (mut mixed, mut apart) = (world(), world());
        // The second time, some memory may keep its content.
        for _ in 0..2 {
            let parts = mixed.run_all(lanes, run).unwrap();
            let there = memories.map(|(space, of)| (space, lanes & LaneMask(of)));
            let there: Vec<_> = there.into_iter().filter(|(_, part)| !part.is_empty()).collect();
            assert!(there.len() > 1 && parts.len() == there.len(), "{what} {lanes} {parts:?}");
            for (&part, (space, lanes)) in parts.iter().zip(there) {
                assert_eq!(apart.run(lanes, run).unwrap(), part, "{what} {lanes}");
                assert_eq!((part.space, part.lanes, part.row), (space, lanes, false), "{what}");
                for lane in lanes.lanes() {
                    let at = |world: &World| world.addresses[lane as usize];
                    assert_eq!(at(&mixed), at(&apart), "{what} {lanes} {lane}");
                }
            }
            assert_eq!(state(&mixed), state(&apart), "{what} {lanes}");
        }
    }
}

#[test]
fn loads_and_stores_of_any_width_equal_their_parts() {
    for (ty, count) in [
        (Type::U8, 1),
        (Type::S16, 1),
        (Type::U16, 4),
        (Type::U32, 1),
        (Type::U32, 2),
        (Type::U32, 4),
        (Type::U64, 1),
        (Type::U64, 2),
    ] {
        let what = format!("{ty:?} x {count}");
        let results = |row: u16| if ty.is_wide() { row % 2 + 1 } else { row };
        let load = Load {
            d: [1, 2, 3, 4].map(|row| Some(Row(results(row)))),
            ..load_of(Space::Generic, ty, count, 0)
        };
        equals_its_parts(&what, &|lanes, registers, env| super::load(&load, lanes, registers, env));
        let store = Store { access: load.access, s: [1, 2, 1, 2].map(Row), address: at(0) };
        let run = |lanes, registers: &mut RegisterFile, env: &mut Env<'_>| {
            super::store(&store, lanes, registers, env)
        };
        equals_its_parts(&what, &run);
    }
}

fn update(f: AtomicFn, ty: Type) -> Atomic {
    let d = Some(Row(2));
    let (order, scope) = (MemoryOrder::Relaxed, Scope::Gpu);
    let (space, address, b, c) = (Space::Generic, at(0), Row(1), Row(1));
    let (pairs, form, reached) = (false, AtomicForm::Usual, None);
    Atomic { space, f, ty, order, scope, d, address, b, c, pairs, form, reached }
}

#[test]
fn atomics_of_any_width_equal_their_parts() {
    for (f, ty) in [
        (AtomicFn::Add, Type::U32),
        (AtomicFn::Exch, Type::B64),
        (AtomicFn::Cas, Type::B16),
        (AtomicFn::Max, Type::U64),
    ] {
        let op = update(f, ty);
        let run = |lanes, registers: &mut RegisterFile, env: &mut Env<'_>| {
            atomic(&op, lanes, registers, env)
        };
        equals_its_parts(&format!("{f:?} {ty:?}"), &run);
    }
}

#[test]
fn atomics_on_vectors_equal_their_parts() {
    let sums = AtomicVector {
        first: update(AtomicFn::Add, Type::F32),
        others: [3, 4, 1].map(|row| (Some(Row(row)), Row(row))).to_vec(),
        joint: None,
    };
    let swap = AtomicVector {
        first: Atomic { d: None, ..update(AtomicFn::Exch, Type::B64) },
        others: vec![(Some(Row(2)), Row(2))],
        joint: Some(Row(1)),
    };
    for op in [sums, swap] {
        let run = |lanes, registers: &mut RegisterFile, env: &mut Env<'_>| {
            atomic_vector(&op, lanes, registers, env)
        };
        equals_its_parts(&format!("{op:?}"), &run);
    }
}

#[test]
fn each_memory_tells_for_itself_whether_it_changed() {
    let mut world = World::new(|l| if l < 16 { SHARED_WINDOW } else { BASE });
    world.registers.narrow[0] = [1000; MAX_LANES];
    let op = store_of(Space::Generic, Type::U32, 0);
    let parts = world.run_all(FULL, |lanes, registers, env| store(&op, lanes, registers, env));
    let changed: Vec<_> = parts.unwrap().iter().map(|part| (part.space, part.changed)).collect();
    assert_eq!(changed, [(Space::Global, false), (Space::Shared, true)]);
}

#[test]
fn generic_addresses_find_their_memory_lane_by_lane() {
    let place = |l: u64| match l % 3 {
        0 => SHARED_WINDOW + 4 * l,
        1 => LOCAL_WINDOW + 8,
        _ => BASE + 4 * l,
    };
    let mut world = World::new(place);
    let (stored, loaded) =
        (store_of(Space::Generic, Type::U32, 0), load_of(Space::Generic, Type::U32, 1, 0));
    let run = |lanes, registers: &mut RegisterFile, env: &mut Env<'_>| {
        store(&stored, lanes, registers, env)
    };
    assert_eq!(world.run_all(FULL, run).unwrap().len(), 3);
    assert_eq!(world.addresses[..3], [0, 8, BASE + 8]);
    let run = |lanes, registers: &mut RegisterFile, env: &mut Env<'_>| {
        load(&loaded, lanes, registers, env)
    };
    world.run_all(LaneMask(!1), run).unwrap();
    assert_eq!(world.registers.narrow[1][..4], [7, 501, 502, 503]);
    assert_eq!((world.shared.words()[3], world.buffer()[2]), (503, 502));
    // All lanes in one memory are an access of it.
    assert_eq!(world.load(LaneMask(0b1001), &loaded).unwrap().space, Space::Shared);
    // The lowest lane's fault counts, in any memory.
    let mut world = World::new(|l| {
        if l == 4 {
            SHARED_WINDOW + 4096
        } else if l > 8 {
            0
        } else {
            BASE
        }
    });
    let fault = world.load(FULL, &loaded).unwrap_err();
    assert_eq!(
        (fault.lane, fault.kind),
        (4, FaultKind::OutOfBounds { space: Space::Shared, address: 4096, bytes: 4 })
    );
}
