//! The reference executor and comparison: the meaning of a program without a machine.
//!
//! [`run`] executes a launch one thread at a time between barriers, block after block, without warp
//! scheduling, reconvergence or time. For a program whose result does not depend on the order of
//! its threads, it checks a machine's result independently. Collectives (`shfl.sync` and the like)
//! gather the threads in their mask. Not modelled: `%clock` (counts executed instructions),
//! `activemask` (each thread is alone), and collectives that wait for each other at different
//! instructions.

mod block;
mod compare;

pub use compare::{Agreement, FirstDifference, compare, is_nan, ulps_apart};

use crate::base::{BlockId, Pc};
use crate::exec::{Fault, GlobalMemory, Heap, parameters, part_of, segments, workspace};
use crate::kernel::Kernel;
use crate::launch::Launch;

/// Settings of a run besides the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Maximum number of instructions executed by all threads together.
    pub max_steps: u64,
    /// Lanes per warp, 1 to 32.
    pub warp_size: u32,
    /// Threads to trace, by linear index in the grid.
    pub traced: Vec<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { max_steps: u64::MAX, warp_size: 32, traced: Vec::new() }
    }
}

/// Result of a finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleOutcome {
    /// Contents of the buffers, in the order of [`Launch::buffers`].
    pub buffers: Vec<Vec<u32>>,
    /// Instructions executed by all threads, including those with a false guard.
    pub steps: u64,
    /// Instructions executed by each thread of [`Settings::traced`], in that order.
    /// They are indices in [`Kernel::insts`].
    pub traces: Vec<Vec<u32>>,
}

/// Reason why a run did not finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OracleError {
    /// The program did something that has no defined meaning.
    #[error("thread {thread} of {block} faulted at instruction {pc}: {}", fault.kind)]
    Fault {
        /// The fault.
        fault: Fault,
        /// PC of the instruction, an index in [`Kernel::insts`].
        pc: Pc,
        /// The block.
        block: BlockId,
        /// The thread's linear index in the block.
        thread: u32,
    },
    /// The run reached [`Settings::max_steps`].
    #[error("not finished after {steps} instructions")]
    StepLimit {
        /// The limit.
        steps: u64,
    },
    /// Every live thread of a block waits for another.
    #[error("{block} is deadlocked: thread {thread} waits at instruction {pc}")]
    Stuck {
        /// The block.
        block: BlockId,
        /// The first waiting thread.
        thread: u32,
        /// PC where it waits.
        pc: Pc,
    },
}

/// Runs a launch to its end with warps of 32.
///
/// # Errors
/// Fails if the program faults, deadlocks, or needs more than `max_steps` instructions.
pub fn run(kernel: &Kernel, launch: &Launch, max_steps: u64) -> Result<OracleOutcome, OracleError> {
    run_with(kernel, launch, &Settings { max_steps, ..Settings::default() })
}

/// Runs a launch to its end.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    kernel: &Kernel,
    launch: &Launch,
    settings: &Settings,
) -> Result<OracleOutcome, OracleError> {
    let buffers = launch.mapped().map(|b| (b.address, b.bytes, b.content(), b.writable));
    let mut segments = segments(launch.fresh(&kernel.variables), buffers);
    segments.extend(workspace(launch.cooperative));
    segments.extend(parameters(kernel, &launch.params));
    let fresh = || kernel.uses_heap().then(Heap::default);
    let memory = GlobalMemory::with_heap(segments, launch.heap.clone().or_else(fresh));
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
    let segments = memory.into_segments();
    let after = |b: &crate::launch::Buffer| {
        let last = segments.partition_point(|s| s.0 <= b.address).checked_sub(1);
        let segment = last.and_then(|i| segments.get(i)).filter(|_| b.mapped);
        segment.map_or_else(|| b.content(), |s| part_of(s, b.address, b.bytes))
    };
    let buffers = launch.buffers.iter().map(after).collect();
    Ok(OracleOutcome { buffers, steps, traces })
}

#[cfg(test)]
mod tests;
