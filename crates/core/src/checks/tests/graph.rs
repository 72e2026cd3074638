//! The order of drawn acts, as a graph of all of them.

use std::collections::BTreeMap;

use super::{Act, FLAGS, LANES, Setting, THREADS, WARPS};
use crate::event::AccessWay;

/// Access of a thread to the bytes from `first` to before `end`.
#[derive(Clone, Copy)]
pub(super) struct Access {
    node: usize,
    thread: u32,
    first: u64,
    end: u64,
    write: bool,
    atomic: bool,
    /// Volatile, or an atomic that returns the old value.
    strong: bool,
}

impl Access {
    /// Returns true if the program means others to access the bytes at the same time.
    fn is_concurrent(self) -> bool {
        self.atomic || self.strong
    }
}

/// Graph of happens-before.
#[derive(Default)]
pub(super) struct Graph {
    /// Predecessors of each node.
    pub(super) before: Vec<Vec<bool>>,
    /// Last node by thread.
    pub(super) last: Vec<Option<usize>>,
    /// Node of the last fence by thread.
    pub(super) fence: Vec<Option<usize>>,
    /// Releasing fences by address.
    pub(super) released: BTreeMap<u64, Vec<usize>>,
    pub(super) accesses: Vec<Access>,
    pub(super) lock_step: bool,
    pub(super) shared: bool,
}

impl Graph {
    pub(super) fn new(Setting { lock_step, shared, .. }: Setting) -> Graph {
        let n = THREADS as usize;
        Graph { last: vec![None; n], fence: vec![None; n], lock_step, shared, ..Graph::default() }
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
    pub(super) fn touch(
        &mut self,
        thread: u32,
        (first, bytes): (u64, u32),
        way: AccessWay,
        strong: bool,
    ) -> bool {
        let node = self.step(thread, &[]);
        let (write, atomic) = (way != AccessWay::Load, way == AccessWay::Atomic);
        let end = first + u64::from(bytes);
        let access = Access { node, thread, first, end, write, atomic, strong };
        let block = |thread: u32| thread / (WARPS * LANES);
        let races = self.accesses.iter().enumerate().any(|(i, &other)| {
            let is_ordered = |byte| self.is_before(other.node, node) || self.is_seen(i, byte, node);
            other.thread != thread
                && (block(other.thread) == block(thread) || !self.shared)
                && (write || other.write)
                && !(access.is_concurrent() && other.is_concurrent())
                && !(first.max(other.first)..end.min(other.end)).all(is_ordered)
        });
        self.accesses.push(access);
        races
    }

    fn is_before(&self, node: usize, other: usize) -> bool {
        self.before[other].get(node) == Some(&true)
    }

    /// Returns true if an access is an atomic, and an atomic before `node` read what it left in a
    /// byte, or what further atomics made of that.
    fn is_seen(&self, access: usize, byte: u64, node: usize) -> bool {
        let writes = self.accesses[access..].iter().filter(|a| a.write);
        let writes = writes.filter(|a| (a.first..a.end).contains(&byte));
        let mut atomics = writes.take_while(|a| a.atomic);
        let is_first_atomic = atomics.next().is_some_and(|a| a.node == self.accesses[access].node);
        is_first_atomic && atomics.any(|a| a.strong && self.is_before(a.node, node))
    }

    /// Exchanges knowledge with the other strong accesses to an address.
    fn exchange(&mut self, thread: u32, address: u64, way: AccessWay) {
        let there = self.released.get(&address).cloned().unwrap_or_default();
        self.step(thread, if way == AccessWay::Store { &[] } else { &there });
        if way != AccessWay::Load {
            let known = self.released.entry(address).or_default();
            if way == AccessWay::Store {
                known.clear();
            }
            known.extend(self.fence[thread as usize]);
        }
    }

    /// Applies an action. Returns true if two accesses race after it.
    pub(super) fn act(&mut self, act: &Act) -> bool {
        match *act {
            Act::Access { thread, also, first, bytes, way, strong } => {
                let others =
                    (0..LANES).filter(|l| also >> l & 1 == 1).map(|l| thread / LANES * LANES + l);
                let threads = std::iter::once(thread).chain(others.filter(|t| *t != thread));
                let mut races = false;
                for thread in threads.clone() {
                    races |= self.touch(thread, (first, bytes), way, strong);
                }
                if strong || way == AccessWay::Atomic {
                    threads.for_each(|thread| self.exchange(thread, first, way));
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
            Act::Flag { thread, flag, way } => self.exchange(thread, FLAGS + 4 * flag, way),
        }
        false
    }
}
