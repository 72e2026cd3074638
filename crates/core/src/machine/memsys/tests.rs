use std::collections::BTreeSet;

use super::banks::same_word_lanes;
use super::*;
use crate::base::{LaneMask, mix};
use crate::exec::{AddressMode, Channel, Image, ImageShape};
use crate::machine::cache::sectors_in;

fn shared(bytes: u8, address: impl Fn(u64) -> u64) -> u32 {
    let addresses = std::array::from_fn(|lane| address(lane as u64));
    passes(read(bytes), &addresses, 32).all
}

fn read(bytes: u8) -> MemoryAccess {
    MemoryAccess {
        space: Space::Shared,
        kind: AccessKind::Read,
        lanes: LaneMask::FULL,
        bytes,
        bypass_l1: false,
        changed: false,
        row: false,
    }
}

#[test]
fn bank_conflicts_follow_the_stride() {
    // The H200's extra cycles 0, 2, 6, 14, 30, 62, 0 for these strides are (passes - 1) x 2.
    for (stride, passes) in [(0, 1), (1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1)] {
        assert_eq!(shared(4, |lane| lane * stride * 4), passes, "stride {stride}");
    }
    assert_eq!(shared(8, |lane| lane * 8), 2, "64-bit accesses take two half-warps");
    assert_eq!(shared(16, |lane| lane * 16), 4, "128-bit accesses take four quarters");
    assert_eq!(shared(4, |lane| (lane / 2) * 4), 1, "lanes on one word are served together");
}

#[test]
fn passes_and_lanes_on_one_word_are_those_of_a_plain_count() {
    for seed in 0..64 {
        let addresses: [u64; MAX_LANES] =
            std::array::from_fn(|lane| mix(seed << 8 | lane as u64) % (64 << (seed % 8)) / 4 * 4);
        let lanes = match seed % 4 {
            0 => LaneMask::FULL,
            _ => LaneMask(mix(seed) as u32),
        };
        let access = MemoryAccess { lanes, ..read(4) };
        let words: Vec<u64> = lanes.lanes().map(|lane| addresses[lane as usize] / 4).collect();
        let in_bank = |bank| {
            let distinct: BTreeSet<&u64> = words.iter().filter(|&&w| w % 32 == bank).collect();
            distinct.len()
        };
        let passes = (0..32).map(in_bank).max().unwrap_or(0) as u32;
        let on_one = words.iter().map(|word| words.iter().filter(|&other| other == word).count());
        let on_one = on_one.max().unwrap_or(1) as u32;
        let expected = Passes { all: passes, ideal: 1, visited: 1 };
        assert_eq!(super::passes(access, &addresses, 32), expected, "seed {seed}");
        let by_bank = (0..32).map(|bank| words.iter().filter(|&&w| w % 32 == bank).count());
        let by_bank = by_bank.max().unwrap_or(0) as u32;
        let of = |weight| atomic_passes(access, &addresses, 32, weight).all;
        assert_eq!(of(Weight::Plain), by_bank, "seed {seed}");
        assert_eq!(of(Weight::Count), passes, "seed {seed}");
        assert_eq!(same_word_lanes(access, &addresses), on_one, "seed {seed}");
    }
}

#[test]
fn sectors_and_lines_of_a_warp() {
    let count = |address: &dyn Fn(u64) -> u64| {
        let addresses = std::array::from_fn(|lane| address(lane as u64));
        let mut lines = Lines::default();
        lines.coalesce(MemoryAccess { space: Space::Global, ..read(4) }, &addresses);
        let sectors: u32 = lines.lines[..lines.len].iter().map(|l| l.1.count_ones()).sum();
        (lines.len, sectors)
    };
    assert_eq!(count(&|lane| 4096 + lane * 4), (1, 4));
    assert_eq!(count(&|lane| 4096 + lane * 8), (2, 8));
    assert_eq!(count(&|lane| 4096 + lane * 128), (32, 32));
    assert_eq!(count(&|lane| 4096 + (31 - lane) * 4), (1, 4), "order does not matter");
    assert_eq!(count(&|_| 4096), (1, 1));
    assert_eq!(count(&|lane| 4112 + lane * 4), (2, 5), "a misaligned row touches a fifth sector");
    assert_eq!(count(&|lane| 4096 + (lane * 7 % 32) * 32), (8, 32), "a permutation of sectors");
}

#[test]
fn a_local_load_finds_in_l1_what_was_stored() {
    let text = crate::spec::Machine::preset_text("h200").expect("a preset");
    let spec = crate::spec::Machine::parse(text).expect("a machine").memory;
    let mut memory = MemorySystem::new(spec, 1, SmId(0), false, None);
    let mut serve = |space, kind| {
        let mut addresses = std::array::from_fn(|_| 64);
        let access = MemoryAccess { space, kind, ..read(4) };
        let traffic = memory
            .serve((0, 0), (Pc(0), access), &mut addresses, 3, 0, (Weight::Plain, None))
            .traffic;
        (traffic.l1_hits, traffic.sectors)
    };
    assert_eq!(serve(Space::Local, AccessKind::Write), (0, 4));
    assert_eq!(serve(Space::Local, AccessKind::Read), (4, 4));
    assert_eq!(serve(Space::Global, AccessKind::Write), (0, 1));
    assert_eq!(serve(Space::Global, AccessKind::Read), (0, 1), "global stores go past L1");
}

/// A slow port delays the lines of a store but the first.
#[test]
fn the_first_line_of_a_store_does_not_wait_for_the_port() {
    let spec = crate::spec::Machine::preset("fermi").expect("a machine");
    let done = |interval, step: u64| {
        let memory = crate::spec::Memory { l1_line_interval: interval, ..spec.memory };
        let mut memory = MemorySystem::new(memory, 1, SmId(0), false, None);
        let mut addresses = std::array::from_fn(|lane| lane as u64 * step);
        let access = MemoryAccess { space: Space::Global, kind: AccessKind::Write, ..read(4) };
        memory.serve((0, 0), (Pc(0), access), &mut addresses, 0, 0, (Weight::Plain, None)).done
    };
    assert_eq!([1, 2, 8].map(|interval| done(interval, 4)), [done(1, 4); 3]);
    assert!(done(200, 128) > done(1, 128));
}

/// A local load takes what an L1 hit takes, and four lines of it a cycle. Parts of sectors that
/// several stores have written, and that wait in the SM, come from L2.
#[test]
fn a_local_load_gets_parts_that_have_joined_from_l2() {
    let spec = crate::spec::Machine::preset("h200").expect("a machine");
    let latency = |stores: u64, step: u64| {
        let memory = MemorySystem::new(spec.memory, 1, SmId(0), false, None);
        let mut memory = memory.with_native(&spec, 0);
        let mut serve = |now, kind| {
            // Four lanes store to a line, or all.
            let mut addresses = std::array::from_fn(|lane| 64 + lane as u64 / 4 * step);
            let access = MemoryAccess { space: Space::Local, kind, ..read(4) };
            memory.serve((now, now), (Pc(0), access), &mut addresses, 0, 0, (Weight::Plain, None))
        };
        serve(0, AccessKind::Write);
        for store in 0..stores {
            serve(10_000 + store, AccessKind::Write);
        }
        let load = serve(10_009, AccessKind::Read);
        load.done - load.begins
    };
    for stores in 0..2 {
        assert_eq!([0, 4].map(|step| latency(stores, step)), [29, 29 + 1]);
    }
    assert_eq!(latency(2, 0), 29);
    assert!(latency(2, 4) > 200);
}

/// Requests and sectors of fetches and accesses that `ncu` counted on an H200, of a CUDA array of
/// 256 x 256 floats (tiled) and of linear memory.
#[test]
fn the_texture_unit_takes_groups_of_lanes() {
    let image = Image {
        surface: false,
        shape: ImageShape::D2,
        channel: Channel::F32,
        channels: 1,
        size: [256, 256, 1],
        address: 0,
        pitch: 0,
        tiled: true,
        linear: false,
        modes: [AddressMode::Clamp; 3],
        normalized: false,
        as_float: false,
        border: [0.0; 4],
    };
    let counted = |group: u32, lanes: u32, texel: &dyn Fn(u64) -> (u64, u64)| {
        let first = std::array::from_fn(|lane| {
            let (x, y) = texel(lane as u64);
            if group == 4 { image.offset(4 * x, y, 0) } else { 4 * x }
        });
        let texels = Texels { first: &first, taps: &[], group, one_by_one: false };
        let lanes = (0..lanes).fold(LaneMask::EMPTY, |all, lane| all | LaneMask::lane(lane));
        let access = MemoryAccess { space: Space::Global, lanes, ..read(4) };
        let (lines, groups) = texels.lines(access);
        (groups, lines.iter().map(|line| sectors_in(line.1)).sum::<u32>())
    };
    // Two lanes apart by (dx, dy): a sector has four texels of two rows.
    for (dx, dy, sectors) in [(1, 0, 1), (2, 0, 1), (4, 0, 2), (8, 0, 2), (16, 0, 2), (0, 1, 1)] {
        assert_eq!(counted(4, 2, &|l| (l * dx, l * dy)), (1, sectors), "{dx} {dy}");
    }
    for (dx, dy, sectors) in [(0, 2, 2), (0, 8, 2), (4, 1, 2), (2, 2, 2), (3, 1, 1)] {
        assert_eq!(counted(4, 2, &|l| (l * dx, l * dy)), (1, sectors), "{dx} {dy}");
    }
    // A row, a column, a block of 8 x 4, every fourth texel, one texel.
    assert_eq!(counted(4, 32, &|l| (l, 0)), (8, 8));
    assert_eq!(counted(4, 32, &|l| (0, l)), (8, 16));
    assert_eq!(counted(4, 32, &|l| (l % 8, l / 8)), (8, 8));
    assert_eq!(counted(4, 32, &|l| (4 * l, 0)), (8, 32));
    assert_eq!(counted(4, 32, &|_| (0, 0)), (8, 8));
    assert_eq!(counted(8, 32, &|l| (l, 0)), (4, 4));
    assert_eq!(counted(8, 32, &|l| (8 * l, 0)), (4, 32));
    assert_eq!(counted(8, 32, &|_| (0, 0)), (4, 4));
    // programs/cuda/convolve_texture.cu: 18,432 requests and 30,336 sectors.
    let mut sum = (0, 0);
    for (dx, dy) in (0..9).map(|i| (i % 3, i / 3)) {
        for warp in 0..256u64 {
            let at = |l: u64| {
                let (x, y) = (warp % 8 * 16 + l % 16, warp / 8 * 2 + l / 16);
                ((x + dx).clamp(1, 128) - 1, (y + dy).clamp(1, 64) - 1)
            };
            let (groups, sectors) = counted(4, 32, &at);
            sum = (sum.0 + groups, sum.1 + sectors);
        }
    }
    assert_eq!(sum, (18_432, 30_336));
}
