//! Asynchronous copies from global to shared memory (LDGSTS): passes over the banks.
//!
//! L1 and shared memory are one array: a copy that looks in L1 reads its source and writes its
//! destination in the same passes. Measured: `tests/observations/h200/copies`.

use super::banks::{Passes, passes};
use super::blank;
use crate::base::{Cycle, LaneMask, MAX_LANES};
use crate::event::{MemoryKind, Traffic};
use crate::exec::{AccessKind, CopiedData, MemoryAccess};
use crate::isa::Space;

/// Bytes of a copy that passes L1 by, in each lane.
const PART: u64 = 16;

/// Store of a copy to shared memory.
#[derive(Clone, Copy)]
pub(in crate::machine) struct CopyStore {
    /// Access of the lanes.
    pub access: MemoryAccess,
    /// Passes over the banks, in which the source is read, too.
    pub passes: Passes,
}

impl CopyStore {
    /// Describes the store of a copy whose `source` has these addresses.
    pub(in crate::machine) fn new(
        data: &CopiedData,
        source: MemoryAccess,
        from: &[u64; MAX_LANES],
        banks: u32,
    ) -> CopyStore {
        let access = MemoryAccess {
            space: Space::Shared,
            kind: AccessKind::Write,
            lanes: data.lanes,
            bytes: data.bytes,
            bypass_l1: true,
            changed: false,
            row: false,
        };
        let stored = passes(access, &data.to, banks);
        let passes = match (source.lanes.is_empty(), source.bypass_l1) {
            (true, _) => stored,
            (false, true) => {
                let all = passes_by_lines(source.lanes, from, &data.to);
                Passes { all, ideal: all, visited: 0 }
            }
            (false, false) => {
                let words = u32::from(data.bytes).div_ceil(4).max(1);
                let at_once = (32 / words).max(1);
                let groups = (0..MAX_LANES as u32).step_by(at_once as usize);
                let all = groups.map(|first| {
                    let group = LaneMask(LaneMask::first_n(at_once).0 << first);
                    let lanes = (data.lanes & group, source.lanes & group);
                    passes_at_once(lanes, words, (from, &data.to), banks)
                });
                Passes { all: all.sum(), ..stored }
            }
        };
        CopyStore { access, passes }
    }

    /// Returns the traffic in shared memory.
    pub(in crate::machine) fn traffic(&self) -> Traffic {
        Traffic {
            memory: MemoryKind::Shared,
            wavefronts: self.passes.all,
            ideal_wavefronts: self.passes.ideal,
            ..blank(self.access)
        }
    }
}

/// Returns the cycles of the load/store unit for a copy with so many passes.
pub(super) fn cycles_of(passes: Cycle) -> Cycle {
    passes.max((passes + 1).min(3))
}

/// Returns the passes of lanes that are served at once: those that write, and those of them that
/// read.
///
/// A pass takes the lanes that share no bank, of source or destination, with a lane before them, in
/// the order 0, 8, 16, 24, 1, 9 and so on; lanes with one word share its bank. (An H200 takes half
/// a pass more as a mean if addresses are random.)
fn passes_at_once(
    (lanes, reading): (LaneMask, LaneMask),
    words: u32,
    (from, to): (&[u64; MAX_LANES], &[u64; MAX_LANES]),
    banks: u32,
) -> u32 {
    let banks = u64::from(banks).clamp(1, 64);
    let places = |addresses: &[u64; MAX_LANES], lane: u32| {
        let first = addresses[lane as usize % MAX_LANES] / 4;
        (first..first + u64::from(words)).fold(0_u64, |all, word| all | 1 << (word % banks))
    };
    let (mut left, mut passes) = (lanes, 0);
    while !left.is_empty() {
        let (mut read, mut written, mut together) = (0, 0, LaneMask::EMPTY);
        let order = (0..8).flat_map(|first| (first..32).step_by(8));
        for lane in order.filter(|&lane| left.contains(lane)) {
            let source = if reading.contains(lane) { places(from, lane) } else { 0 };
            let target = places(to, lane);
            if read & source | written & target == 0 {
                together |= LaneMask::lane(lane);
            }
            read |= source;
            written |= target;
        }
        passes += 1;
        left -= together;
    }
    passes
}

/// Returns the passes of a copy of 16 bytes a lane that passes L1 by.
///
/// A pass moves whole sectors of one line of the source to whole sectors of one line of the
/// destination. Halves of sectors that do not come in pairs have a pass for each distance and half.
/// Of lanes with one destination, the last one counts.
fn passes_by_lines(lanes: LaneMask, from: &[u64; MAX_LANES], to: &[u64; MAX_LANES]) -> u32 {
    let at = |lane: u32| [from, to].map(|addresses| addresses[lane as usize % MAX_LANES] / PART);
    let mut moves: Vec<[u64; 2]> = Vec::with_capacity(MAX_LANES);
    for lane in lanes.lanes() {
        let [source, target] = at(lane);
        match moves.iter_mut().find(|known| known[1] == target) {
            Some(known) => known[0] = source,
            None => moves.push([source, target]),
        }
    }
    let mut passes = Vec::with_capacity(MAX_LANES);
    for &[source, target] in &moves {
        let way = match moves.contains(&[source ^ 1, target ^ 1]) {
            true => None,
            false => Some(((source / 2).wrapping_sub(target / 2) % 4, source % 2, target % 2)),
        };
        let pass = (source / 8, target / 8, way);
        if !passes.contains(&pass) {
            passes.push(pass);
        }
    }
    passes.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies with the passes that an H200 counts.
    const MEASURED: &str = "../../tests/observations/h200/copies/passes.txt";

    /// Returns the copy of a line, with its source and addresses, and an H200's passes.
    fn copy(line: &str) -> (CopiedData, MemoryAccess, [u64; MAX_LANES], u32) {
        let mut fields = line.split(' ');
        let mut field = || fields.next().expect(line);
        let (way, bytes) = (field(), field().parse().expect(line));
        let lanes = LaneMask(u32::from_str_radix(field(), 16).expect(line));
        let passes = field().parse().expect(line);
        let (mut from, mut to) = ([0; MAX_LANES], [0; MAX_LANES]);
        for (lane, pair) in fields.enumerate() {
            let (source, target) = pair.split_once(':').expect(line);
            from[lane] = source.parse().expect(line);
            to[lane] = target.parse().expect(line);
        }
        let data = CopiedData { pc: 0, lanes, to, bytes, words: [[0; MAX_LANES]; 4], mark: 0 };
        let source = MemoryAccess {
            space: Space::Global,
            kind: AccessKind::Read,
            lanes,
            bytes,
            bypass_l1: way == "cg",
            changed: false,
            row: false,
        };
        (data, source, from, passes)
    }

    #[test]
    fn copies_pass_the_banks_as_often_as_on_a_gpu() {
        let text = std::fs::read_to_string(MEASURED).expect("measured passes");
        let (mut others, mut all) = (Vec::new(), 0);
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (data, source, from, expected) = copy(line);
            let found = CopyStore::new(&data, source, &from, 32).passes.all;
            all += 1;
            let random = line.starts_with("ca") && found.abs_diff(expected) <= 3;
            if found != expected {
                assert!(random, "{found} passes: {line}");
                others.push(line);
            }
        }
        assert_eq!((all, others.len()), (104, 8), "{others:#?}");
    }
}
