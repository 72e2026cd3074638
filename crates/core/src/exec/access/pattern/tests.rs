//! An access repeated by its pattern does what the access does.

use super::*;
use crate::exec::{Effect, Env, Fault, LocalMemory, SystemLog, access};
use crate::isa::Type;
use crate::kernel::{Access, Address, MemoryOrder, Row, Scope};

const BASE: u64 = 0x0700_0000_0000;
const READ_ONLY: u64 = BASE + 0x1000;

/// Global memory with 64 words at `BASE` and 32 read-only words, shared memory of 64 words.
struct World {
    global: GlobalMemory,
    shared: SharedMemory,
    registers: RegisterFile,
}

impl World {
    /// Creates a world; wide row 0 holds the addresses, the narrow rows values that lanes store or
    /// replace.
    fn new(addresses: &Addresses) -> World {
        World {
            global: GlobalMemory::new(vec![
                (BASE, 256, (1000..1064).collect(), true),
                (READ_ONLY, 128, (2000..2032).collect(), false),
            ]),
            shared: SharedMemory::new(256),
            registers: RegisterFile {
                narrow: Vec::from(
                    [5, 6, 7, 8].map(|i| std::array::from_fn(|l| 100 * i + l as u32)),
                )
                .into(),
                wide: vec![*addresses].into(),
                predicates: Vec::new(),
                calls: Vec::new(),
                copies: Default::default(),
                vectors: Default::default(),
            },
        }
    }

    /// Executes an operation as any other. Returns true if memory changed.
    fn step(&mut self, op: &Op, lanes: LaneMask) -> Result<bool, Fault> {
        let mut env = Env {
            global: &self.global,
            shared: &mut self.shared,
            local: &mut LocalMemory::new(0),
            params: &[],
            functions: &[],
            warp_size: 32,
            live: LaneMask(u32::MAX),
            pc: 0,
            clock: 0,
            nanoseconds: 0,
            addresses: &mut [0; MAX_LANES],
            system: &mut SystemLog::default(),
        };
        let effect = match op {
            Op::Load(op) => access::load(op, lanes, &mut self.registers, &mut env)?,
            Op::Store(op) => access::store(op, lanes, &self.registers, &mut env)?,
            _ => unreachable!("only loads and stores"),
        };
        match effect {
            Effect::Access(access) => Ok(access.changed),
            other => panic!("expected an access, got {other:?}"),
        }
    }

    fn repeat(&mut self, op: &Op, lanes: LaneMask, pattern: &Pattern) -> Option<bool> {
        repeat(op, lanes, pattern, &mut self.registers, &self.global, &mut self.shared)
    }

    /// Returns the values that an access may change.
    fn values(&self) -> (Vec<u32>, Vec<u32>, Vec<[u32; MAX_LANES]>) {
        let global = self.global.words(BASE).expect("a segment").collect();
        (global, self.shared.words().to_vec(), self.registers.narrow.iter().copied().collect())
    }
}

fn words(space: Space, count: u8) -> Access {
    Access {
        space,
        ty: Type::U32,
        count,
        wide: false,
        order: MemoryOrder::Weak,
        scope: Scope::Block,
        bypass_l1: false,
    }
}

/// Loads and stores of `count` words per lane; a load drops its second word.
fn operations(space: Space, count: u8) -> [Op; 2] {
    let address = Address { base: AddressBase::Wide(Row(0)), offset: 0 };
    let access = words(space, count);
    let d = [Some(Row(1)), None, Some(Row(3)), Some(Row(0))];
    let load = Load { uniform: false, access, d, address };
    let store = Store { access, s: [0, 2, 1, 3].map(Row), address };
    [Op::Load(load), Op::Store(store)]
}

/// Bytes of lane `l` from lane 0.
const SHAPES: [fn(u64) -> u64; 9] = [
    |l| 4 * l,
    |l| 8 * l,
    |l| 16 * (l % 3),
    |l| 16 * (l / 8),
    |l| 4 * (31 - l),
    |_| 0,
    |l| 4 * (l * 7 % 32),
    |l| if l < 16 { 4 * l } else { 4096 + 4 * l },
    |l| 6 * l,
];

const LANES: [LaneMask; 7] = [
    LaneMask::FULL,
    LaneMask(0x5555_5555),
    LaneMask(0xffff_0000),
    LaneMask(0x1111_1110),
    LaneMask(1),
    LaneMask(1 << 31),
    LaneMask(0x8000_0401),
];

#[test]
fn a_repeated_access_equals_the_access() {
    let mut repeated = [0; 5];
    let memories = [(Space::Global, BASE), (Space::Shared, 0)];
    for ((space, base), count) in memories.iter().flat_map(|&at| [1, 2, 4].map(|n| (at, n))) {
        let bytes = 4 * u64::from(count);
        for (op, shape, lanes) in operations(space, count).iter().flat_map(|op| {
            SHAPES.iter().flat_map(move |shape| LANES.map(move |lanes| (op, shape, lanes)))
        }) {
            assert!(is_repeatable(op));
            let first: Addresses = std::array::from_fn(|l| base + shape(l as u64));
            for (moved, period) in
                [(0, 128), (bytes, bytes), (4, bytes), (4, 128), (128, 128), (132, 4), (2, 4)]
                    .into_iter()
                    .chain([(4_u64.wrapping_neg(), 4), (READ_ONLY - BASE, 128), (1 << 40, 4)])
            {
                let pattern = Pattern::new(lanes, &first, bytes, period.max(bytes));
                let now = first.map(|address| address.wrapping_add(moved));
                let (mut slow, mut quick) = (World::new(&now), World::new(&now));
                let unchanged = quick.values();
                match quick.repeat(op, lanes, &pattern) {
                    Some(changed) => {
                        assert_eq!(slow.step(op, lanes), Ok(changed), "{lanes} {moved} {period}");
                        assert_eq!(quick.values(), slow.values(), "{lanes} {moved} {period}");
                        repeated[usize::from(count)] += 1;
                    }
                    None => assert_eq!(quick.values(), unchanged),
                }
            }
        }
    }
    assert!(repeated[1] > 300 && repeated[2] > 200 && repeated[4] > 100, "{repeated:?}");
}

#[test]
fn other_addresses_and_lanes_are_no_repetition() {
    for (op, lanes) in
        operations(Space::Global, 1).iter().flat_map(|op| LANES.map(move |lanes| (op, lanes)))
    {
        let row: Addresses = std::array::from_fn(|l| BASE + 4 * l as u64);
        let pattern = Pattern::new(lanes, &row, 4, 4);
        for lane in lanes.lanes().skip(1) {
            let mut other = row;
            other[lane as usize] += 4;
            assert_eq!(World::new(&other).repeat(op, lanes, &pattern), None, "lane {lane}");
        }
        let more = lanes | LaneMask(2);
        if more != lanes {
            assert_eq!(World::new(&row).repeat(op, more, &pattern), None);
        }
        // Addresses of absent lanes do not matter.
        let mut wild = row;
        (!lanes).lanes().for_each(|lane| wild[lane as usize] = u64::MAX);
        assert!(World::new(&wild).repeat(op, lanes, &pattern).is_some(), "{lanes}");
    }
}
