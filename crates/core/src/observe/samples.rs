//! Synthetic event streams for tests of this module and of the report.
//!
//! They contain the loop of the three reduction kernels on one block of 512, computed from the
//! kernels' formulas without a simulator.

use crate::base::{BlockId, LaneMask, Pc, SmId, WarpId};
use crate::event::{AccessWay, Event, MemoryKind, Observer, SlotLoss, Stall, Traffic};
use crate::observe::Counts;

/// Steps of the sample stream; [`JOIN`] is a join step.
pub const TEST: u32 = 0;
pub const SKIP: u32 = 1;
pub const LOAD_A: u32 = 2;
pub const LOAD_B: u32 = 3;
pub const STORE: u32 = 4;
pub const JOIN: u32 = 5;
pub const BARRIER: u32 = 6;
pub const STEPS: usize = 7;

/// Machine instructions of the sample's [`TEST`] step.
pub const TEST_SLOTS: u32 = 3;

/// The two words that thread `tid` adds in the step of distance `s`, if it works at all.
pub type Pairing = fn(tid: u32, s: u32, block: u32) -> Option<(u32, u32)>;

pub fn neighbored(tid: u32, s: u32, _block: u32) -> Option<(u32, u32)> {
    tid.is_multiple_of(2 * s).then_some((tid, tid + s))
}

pub fn neighbored_less(tid: u32, s: u32, block: u32) -> Option<(u32, u32)> {
    let index = 2 * s * tid;
    (index < block).then_some((index, index + s))
}

pub fn interleaved(tid: u32, s: u32, block: u32) -> Option<(u32, u32)> {
    let s = block / 2 / s;
    (tid < s).then_some((tid, tid + s))
}

fn access(kind: AccessWay, lanes: LaneMask, words: &[u32]) -> Traffic {
    let distinct = |per: u32| {
        let mut ids: Vec<u32> = words.iter().map(|w| w / per).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len() as u32
    };
    let (sectors, lines) = (distinct(8), distinct(32));
    let l1_hits = if kind == AccessWay::Load { sectors - 1 } else { 0 };
    Traffic {
        memory: MemoryKind::Global,
        kind,
        lanes,
        requested: 4 * lanes.count(),
        sectors,
        lines,
        transactions: sectors,
        l1_hits,
        combined: 0,
        l2_hits: 0,
        l2_crossed: 0,
        dram: sectors - l1_hits,
        written_back: 0,
        wavefronts: 0,
        ideal_wavefronts: 0,
    }
}

/// Sends `observer` the events of one block of `block` threads on SM `sm`.
///
/// Warps run one after another, one slot per cycle; each of their barriers costs three lost cycles.
pub fn reduce(observer: &mut impl Observer, sm: u32, block: u32, pairing: Pairing) {
    let sm = SmId(sm);
    let mut cycle = 0;
    observer.on(Event::BlockStart { cycle, sm, block: BlockId(0), warps: block / 32 });
    for index in 0..block / 32 {
        let warp = WarpId(index);
        let full = LaneMask::FULL;
        let since = cycle;
        observer.on(Event::WarpStart { cycle, sm, warp, block: BlockId(0), index, lanes: full });
        let mut issue = |observer: &mut dyn FnMut(Event), pc: u32, active: LaneMask, slots: u32| {
            observer(Event::Issue { cycle, sm, warp, pc: Pc(pc), active, lanes: active, slots });
            cycle += u64::from(slots);
        };
        for s in (0..).map(|k| 1 << k).take_while(|&s| s < block) {
            let mut on = |event| observer.on(event);
            let pairs: Vec<_> = (0..32)
                .filter_map(|lane| Some((lane, pairing(index * 32 + lane, s, block)?)))
                .collect();
            let working =
                pairs.iter().fold(LaneMask::EMPTY, |mask, &(lane, _)| mask | LaneMask::lane(lane));
            issue(&mut on, TEST, full, TEST_SLOTS);
            issue(&mut on, SKIP, full, 1);
            on(Event::Branch {
                cycle: 0,
                sm,
                warp,
                pc: Pc(SKIP),
                active: full,
                taken: full - working,
            });
            if !working.is_empty() {
                let first: Vec<u32> = pairs.iter().map(|&(_, (a, _))| a).collect();
                let second: Vec<u32> = pairs.iter().map(|&(_, (_, b))| b).collect();
                for (pc, way, words) in [
                    (LOAD_A, AccessWay::Load, &first),
                    (LOAD_B, AccessWay::Load, &second),
                    (STORE, AccessWay::Store, &first),
                ] {
                    issue(&mut on, pc, working, 1);
                    let traffic = access(way, working, words);
                    on(Event::Memory { cycle: 0, sm, warp, pc: Pc(pc), traffic });
                }
            }
            issue(&mut on, JOIN, full, 1);
            issue(&mut on, BARRIER, full, 1);
            let pc = Pc(BARRIER);
            let (id, count, wait) = (0, None, true);
            on(Event::Barrier {
                cycle: 0,
                sm,
                warp,
                pc,
                lanes: full,
                arriving: full,
                id,
                count,
                wait,
            });
            on(Event::WarpStalled { sm, warp, pc: Pc(TEST), stall: Stall::Barrier, cycles: 2 });
            on(Event::WarpStalled { sm, warp, pc: Pc(TEST), stall: Stall::Wait, cycles: 1 });
            let reason = SlotLoss::Stalled(Stall::Barrier);
            on(Event::SlotsLost { cycle: 0, sm, scheduler: 0, reason, cycles: 2 });
            on(Event::SlotsLost {
                cycle: 0,
                sm,
                scheduler: 0,
                reason: SlotLoss::NoWarp,
                cycles: 1,
            });
        }
        cycle += 3 * u64::from(block.ilog2());
        observer.on(Event::WarpEnd { cycle, sm, warp, since });
    }
    observer.on(Event::BlockEnd { cycle, sm, block: BlockId(0) });
    observer.on(Event::SmEnd { cycle, sm, blocks: 1 });
}

/// Returns the counts of one block of 512 threads.
pub fn counts(block: u32, pairing: Pairing) -> Counts {
    let mut counts = empty();
    reduce(&mut counts, 0, block, pairing);
    counts
}

/// Returns empty counters of the sample stream.
pub fn empty() -> Counts {
    let mut is_join = [false; STEPS];
    is_join[JOIN as usize] = true;
    Counts::new(&is_join, 32, false)
}
