//! The plainest possible run, and comparison: what a program means, without any machine.
//!
//! [`run`] executes a launch one thread at a time between barriers, block after block. It has no warp scheduling, no
//! reconvergence and no time, so for a program whose result does not depend on the order of its threads it is an
//! independent answer to hold a machine's result against. Collectives (`shfl.sync` and the like) gather the threads their
//! mask names. Not modelled: `%clock` (counts executed instructions), `activemask` (each thread sees itself alone), and
//! collectives that wait for one another at different instructions.

mod block;
mod compare;

pub use compare::{Agreement, FirstDifference, compare, is_nan, ulps_apart};

use crate::base::{BlockId, Pc};
use crate::exec::{Fault, GlobalMemory, variable_segments};
use crate::kernel::Kernel;
use crate::launch::Launch;

/// How a run is done beside what the launch says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Instructions executed by all threads together before the run is given up.
    pub max_steps: u64,
    /// Lanes a warp, 1 to 32.
    pub warp_size: u32,
    /// Threads, by linear index in the grid, whose instructions are recorded.
    pub traced: Vec<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { max_steps: u64::MAX, warp_size: 32, traced: Vec::new() }
    }
}

/// What a finished run leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleOutcome {
    /// The buffers' contents, in the order of [`Launch::buffers`].
    pub buffers: Vec<Vec<u32>>,
    /// Instructions executed by all threads together, those with a false guard included.
    pub steps: u64,
    /// For each thread of [`Settings::traced`], in that order: the indices in [`Kernel::insts`] of the instructions it
    /// executed.
    pub traces: Vec<Vec<u32>>,
}

/// Why a run did not finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OracleError {
    /// The program did something without meaning.
    #[error("thread {thread} of {block} faulted at instruction {pc}: {}", fault.kind)]
    Fault {
        /// What it did.
        fault: Fault,
        /// The instruction, an index in [`Kernel::insts`].
        pc: Pc,
        /// The block.
        block: BlockId,
        /// The thread's linear index in the block.
        thread: u32,
    },
    /// [`Settings::max_steps`] were not enough.
    #[error("not finished after {steps} instructions")]
    StepLimit {
        /// The limit.
        steps: u64,
    },
    /// Every thread of a block that lives waits for another.
    #[error("{block} is stuck: thread {thread} waits at instruction {pc} for threads that never come")]
    Stuck {
        /// The block.
        block: BlockId,
        /// The first thread that waits.
        thread: u32,
        /// Where it waits.
        pc: Pc,
    },
}

/// Runs a launch to its end with warps of 32.
///
/// # Errors
/// The program faulted, got stuck, or needed more than `max_steps` instructions.
pub fn run(kernel: &Kernel, launch: &Launch, max_steps: u64) -> Result<OracleOutcome, OracleError> {
    run_with(kernel, launch, &Settings { max_steps, ..Settings::default() })
}

/// Runs a launch to its end.
///
/// # Errors
/// As [`run`].
pub fn run_with(kernel: &Kernel, launch: &Launch, settings: &Settings) -> Result<OracleOutcome, OracleError> {
    let mut segments = variable_segments(&kernel.variables);
    segments.extend(launch.mapped().map(|b| (b.address, b.bytes, b.words.clone(), true)));
    let memory = GlobalMemory::new(segments);
    let mut run = block::Run::new(kernel, launch, settings, &memory);
    let [nx, ny, nz] = launch.grid;
    let mut block = 0;
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                run.block(BlockId(block), [x, y, z])?;
                block = block.wrapping_add(1);
            }
        }
    }
    let block::Run { steps, traces, .. } = run;
    let after = |b: &crate::launch::Buffer| memory.words(b.address).map_or_else(|| b.words.clone(), Iterator::collect);
    let buffers = launch.buffers.iter().map(after).collect();
    Ok(OracleOutcome { buffers, steps, traces })
}

#[cfg(test)]
mod tests;
