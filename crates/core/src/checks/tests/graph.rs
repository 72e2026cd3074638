//! The order of drawn acts, as a graph of all of them.

use super::{Act, LANES, Setting, THREADS, WARPS};
use crate::event::AccessWay;

/// Graph of happens-before.
#[derive(Default)]
pub(super) struct Graph {
    /// Predecessors of each node.
    pub(super) before: Vec<Vec<bool>>,
    /// Last node by thread.
    pub(super) last: Vec<Option<usize>>,
    /// Node of the last fence by thread.
    pub(super) fence: Vec<Option<usize>>,
    /// Releasing fences by flag.
    pub(super) released: Vec<Vec<usize>>,
    /// Node, thread, byte range, writes, atomic.
    pub(super) accesses: Vec<(usize, u32, u64, u64, bool, bool)>,
    pub(super) lock_step: bool,
    pub(super) shared: bool,
}

impl Graph {
    pub(super) fn new(Setting { lock_step, shared, .. }: Setting) -> Graph {
        let n = THREADS as usize;
        Graph {
            last: vec![None; n],
            fence: vec![None; n],
            released: vec![Vec::new(); 2],
            lock_step,
            shared,
            ..Graph::default()
        }
    }

    pub(super) fn node(&mut self, after: impl IntoIterator<Item = usize>) -> usize {
        let mut before = vec![false; self.before.len() + 1];
        for node in after {
            before[node] = true;
            for (i, set) in self.before[node].iter().enumerate() {
                before[i] |= set;
            }
        }
        self.before.push(before);
        self.before.len() - 1
    }

    /// Adds the next node of a thread; in lock-step it follows all nodes of its warp.
    pub(super) fn step(&mut self, thread: u32, also: &[usize]) -> usize {
        let warp = thread / LANES;
        let range =
            if self.lock_step { warp * LANES..(warp + 1) * LANES } else { thread..thread + 1 };
        let after: Vec<usize> =
            range.filter_map(|t| self.last[t as usize]).chain(also.iter().copied()).collect();
        let node = self.node(after);
        self.last[thread as usize] = Some(node);
        node
    }

    pub(super) fn meet(&mut self, waiting: &[u32], arriving: &[u32]) {
        let all = waiting.iter().chain(arriving);
        let after: Vec<usize> = all.filter_map(|&t| self.last[t as usize]).collect();
        let node = self.node(after);
        for &thread in waiting {
            self.last[thread as usize] = Some(node);
        }
    }

    /// Adds a thread's access. Returns true if it races with an earlier one.
    pub(super) fn touch(&mut self, thread: u32, first: u64, bytes: u32, way: AccessWay) -> bool {
        let node = self.step(thread, &[]);
        let (end, write, atomic) =
            (first + u64::from(bytes), way != AccessWay::Load, way == AccessWay::Atomic);
        let block = |thread: u32| thread / (WARPS * LANES);
        let races = self.accesses.iter().any(|&(n, t, from, to, wrote, was_atomic)| {
            t != thread
                && (block(t) == block(thread) || !self.shared)
                && from < end
                && first < to
                && (write || wrote)
                && !(atomic && was_atomic)
                && !self.before[node].get(n).is_some_and(|b| *b)
        });
        self.accesses.push((node, thread, first, end, write, atomic));
        races
    }

    /// Applies an action. Returns true if two accesses race after it.
    pub(super) fn act(&mut self, act: &Act) -> bool {
        match *act {
            Act::Access { thread, also, first, bytes, way } => {
                let others =
                    (0..LANES).filter(|l| also >> l & 1 == 1).map(|l| thread / LANES * LANES + l);
                let mut races = false;
                for thread in std::iter::once(thread).chain(others.filter(|t| *t != thread)) {
                    races |= self.touch(thread, first, bytes, way);
                }
                return races;
            }
            Act::WarpBarrier { warp, lanes } => {
                let threads: Vec<u32> =
                    (0..LANES).filter(|l| lanes >> l & 1 == 1).map(|l| warp * LANES + l).collect();
                self.meet(&threads, &[]);
            }
            Act::BlockBarrier { block } => {
                let threads: Vec<u32> =
                    (block * WARPS * LANES..(block + 1) * WARPS * LANES).collect();
                self.meet(&threads, &[]);
            }
            Act::Counted { block, parts } => {
                let of = |part: u8| -> Vec<u32> {
                    let warps = (0..WARPS)
                        .filter(|w| parts[*w as usize] == part)
                        .map(|w| block * WARPS + w);
                    warps.flat_map(|w| w * LANES..(w + 1) * LANES).collect()
                };
                let (waiting, arriving) = (of(1), of(2));
                if !waiting.is_empty() {
                    self.meet(&waiting, &arriving);
                }
            }
            Act::Fence { warp, lanes } => {
                for lane in (0..LANES).filter(|l| lanes >> l & 1 == 1) {
                    let thread = warp * LANES + lane;
                    self.fence[thread as usize] = Some(self.step(thread, &[]));
                }
            }
            Act::Flag { thread, flag, way } => {
                let there = self.released[flag as usize].clone();
                self.step(thread, if way == AccessWay::Store { &[] } else { &there });
                if way != AccessWay::Load {
                    let known = &mut self.released[flag as usize];
                    if way == AccessWay::Store {
                        known.clear();
                    }
                    known.extend(self.fence[thread as usize]);
                }
            }
        }
        false
    }
}
