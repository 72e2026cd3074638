//! An observer that records each thread's instructions in order.

use simt_core::base::BlockId;
use simt_core::code::Code;
use simt_core::event::{Event, Observer};

/// Execution of one thread: number of instructions, and a hash of their sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walk {
    length: u64,
    hash: u64,
}

impl Walk {
    /// Records that the thread executes the kernel's instruction number `source`.
    pub(crate) fn step(&mut self, source: u32) {
        self.length += 1;
        // FNV-1a over whole words.
        self.hash = (self.hash ^ u64::from(source) ^ 0xcbf2_9ce4_8422_2325)
            .wrapping_mul(0x0000_0100_0000_01b3);
    }
}

/// Executions of all threads of a launch, by block and linear index in the block. Join steps do not
/// count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Walks {
    /// Kernel instruction of each step.
    sources: Vec<Option<u32>>,
    warp_size: u32,
    threads: u32,
    /// Block and index in the block of each warp slot.
    slots: Vec<(BlockId, u32)>,
    walks: Vec<Walk>,
}

impl Walks {
    /// Creates the walks for `blocks` blocks of `threads` threads in warps of `warp_size` lanes
    /// that run `stream`.
    pub(crate) fn new(code: &Code, warp_size: u32, blocks: u32, threads: u32) -> Walks {
        let sources = code.ops().iter().map(|s| s.source).collect();
        let walks = vec![Walk::default(); (blocks * threads) as usize];
        Walks { sources, warp_size, threads, slots: Vec::new(), walks }
    }

    /// Returns the walks by block and thread.
    pub(crate) fn all(&self) -> &[Walk] {
        &self.walks
    }
}

impl Observer for Walks {
    fn on(&mut self, event: Event) {
        match event {
            Event::WarpStart { warp, block, index, .. } => {
                if self.slots.len() <= warp.index() {
                    self.slots.resize(warp.index() + 1, Default::default());
                }
                self.slots[warp.index()] = (block, index);
            }
            Event::Issue { warp, pc, active, .. } => {
                let Some(source) = self.sources[pc.index()] else { return };
                let (block, index) = self.slots[warp.index()];
                let first = block.0 * self.threads + index * self.warp_size;
                for lane in active.lanes() {
                    self.walks[(first + lane) as usize].step(source);
                }
            }
            _ => {}
        }
    }

    fn merge(&mut self, other: Walks) {
        self.slots.clear(); // they name another SM's warps
        for (mine, theirs) in self.walks.iter_mut().zip(other.walks) {
            if theirs.length > 0 {
                assert_eq!(mine.length, 0, "a thread ran on two SMs");
                *mine = theirs;
            }
        }
    }
}
