use super::*;
use crate::base::LaneMask;

fn shared(bytes: u8, address: impl Fn(u64) -> u64) -> u32 {
    let addresses = std::array::from_fn(|lane| address(lane as u64));
    wavefronts(read(bytes), &addresses, 32)
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
        let traffic = memory.serve(0, access, &mut addresses, 3, 0, None).traffic;
        (traffic.l1_hits, traffic.sectors)
    };
    assert_eq!(serve(Space::Local, AccessKind::Write), (0, 4));
    assert_eq!(serve(Space::Local, AccessKind::Read), (4, 4));
    assert_eq!(serve(Space::Global, AccessKind::Write), (0, 1));
    assert_eq!(serve(Space::Global, AccessKind::Read), (0, 1), "global stores go past L1");
}
