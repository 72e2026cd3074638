//! Codes of a run, found by `--checks` and `--schedules`.

use super::Sample::{None, Run};
use super::{Code, Sample, Stage};

const fn code(
    name: &'static str,
    meaning: &'static str,
    remedy: &'static str,
    sample: Sample,
) -> Code {
    Code { name, stage: Stage::Run, meaning, remedy, sample }
}

#[rustfmt::skip] // one paragraph per code: name, meaning, remedy, sample
pub(super) const CODES: &[Code] = &[
    code("barrier-after-exit",
        "Threads of a block reach a barrier after other threads of the block have exited. GPUs do \
         not wait for the exited threads: before Volta the barrier counts whole warps, since Volta \
         it counts the threads that have not exited. CUDA requires that all threads of the block \
         reach the barrier, so this is a warning.",
        "Put the work of the remaining threads into a branch, and let all threads reach the \
         barrier.",
        Run("simt-sim check --run tests/races/early_exit.ir")),
    code("barrier-count",
        "The threads at a barrier give different thread counts, or a count larger than the block. \
         The barrier then opens too early, or never.",
        "Give the same count everywhere: the number of waiting threads plus the number of arriving \
         threads.",
        Run("simt-sim check --run tests/races/barrier_counts.ir")),
    code("barrier-in-parts",
        "A branch sends some lanes of a warp to a `bar.sync` (or `barrier.aligned`) and others \
         past it. The instruction requires that all lanes of the warp execute it together. Since \
         Volta the block may hang; before Volta the missing lanes count as arrived. Lanes that \
         reach the barrier one after another are not reported, provided that all lanes reach it.",
        "Move the barrier out of the branch.",
        Run("simt-sim check --run tests/races/barrier_in_branch.ir")),
    code("barrier-mixed",
        "Threads of a block wait at one barrier through two different `bar.sync` (or \
         `barrier.aligned`) instructions. The hardware allows this, but `__syncthreads()` in a \
         branch is defined only if all threads of the block take the same path.",
        "Let all threads execute the same barrier. For warps with different roles, use barriers \
         with a number and a count.",
        Run("simt-sim check --run tests/races/barriers_mixed.ir")),
    code("mask-absent-lane",
        "The mask of a `.sync` instruction names lanes that are still running but do not execute \
         the instruction. Since Volta the warp waits for them: until they exit. If they wait at \
         a barrier for this warp, that is a deadlock. Before Volta it continues without them.",
        "Name only lanes that reach the instruction: compute the mask with `__ballot_sync` before \
         the branch. Do not use `__activemask()`, which returns the lanes that happen to be \
         converged.",
        Run("simt-sim check --run tests/races/mask_absent.ir --mode pre-volta")),
    code("mask-ended-lane",
        "The mask of a `.sync` instruction names lanes that have exited. GPUs do not wait for \
         them, and they contribute no value; PTX leaves the result undefined.",
        "Name only running lanes, or let all lanes stay until the last exchange.",
        Run("simt-sim check --run tests/races/mask_ended.ir")),
    code("mask-without-self",
        "A lane executes a `.sync` instruction whose mask does not include that lane. The \
         behaviour is undefined. If all lanes have the same mask and the warp is converged, \
         compilers omit the mask, and the lane takes part; else the kernel ends.",
        "Include every lane that executes the instruction in its mask.",
        Run("simt-sim check --run tests/races/mask_without_self.ir")),
    code("misaligned",
        "The address is not a multiple of the access size. A GPU aborts the kernel with an error.",
        "Align the pointer, or use smaller accesses. A common cause is a cast from `char *` to \
         `float4 *`.",
        Run("simt-sim check --run tests/races/misaligned.ir")),
    code("order-dependent",
        "Under another legal schedule of warps and lane groups, the same program gives a different \
         result or ends differently.",
        "Run with `--checks`: the usual cause is a data race. Results of float atomics may differ \
         in rounding only, because addition is not associative.",
        Run("simt-sim run tests/races/missing_barrier.ir --schedules 20")),
    code("out-of-bounds",
        "The address is outside of all buffers and variables. Buffers have gaps between them, so \
         the first byte past the end of one is detected. Shared variables are adjacent, so only an \
         address past all of them is detected.",
        "Compare the index with the size before the access. The message names the nearest buffer \
         and the distance to it.",
        Run("simt-sim check --run tests/races/out_of_bounds.ir")),
    code("race-global",
        "Two threads access the same bytes of global memory, at least one of them writes, and the \
         accesses are unsynchronized: no barrier between them, no atomics on both sides, no \
         release in one thread that the other acquires. Barriers never order threads of different \
         blocks.",
        "Use an atomic, a separate location for each thread, a flag written after \
         `__threadfence()`, or a separate kernel for each step.",
        Run("simt-sim check --run tests/races/blocks_share.ir")),
    code("race-same-value",
        "Two threads write the same value to one location without synchronization. The racecheck \
         tool of compute-sanitizer reports such a hazard as informational; here it is a warning.",
        "Let one thread write the value, which also makes the intent clear.",
        Run("simt-sim check --run tests/races/same_value.ir")),
    code("race-shared",
        "Two threads of a block access the same bytes of shared memory, at least one of them \
         writes, and the accesses are unsynchronized. Before Volta, lockstep execution orders the \
         lanes of a warp; since Volta only `bar.warp.sync` and other `.sync` instructions do. \
         `volatile` orders nothing.",
        "Put `__syncthreads()` between the accesses, or `__syncwarp()` within a warp.",
        Run("simt-sim check --run tests/races/missing_barrier.ir")),
    code("read-only",
        "A store writes to constant memory or to kernel parameters.",
        "Write to a buffer, or to a variable that is not `.const`.",
        None("An example needs a store through a generic pointer to a `.const` variable.")),
    code("undefined-shuffle",
        "`shfl` reads the register of a lane that does not execute the instruction, so the value \
         is undefined. The simulator returns 0; without `--checks`, the report mentions it.",
        "Let the source lane execute the shuffle, or read only from lanes that do.",
        Run("simt-sim check --run tests/races/undefined_shuffle.ir")),
    code("unset-global",
        "A kernel under `exec` reads device memory that neither the program nor a kernel has written \
         since its allocation. It holds 0 in the simulator and arbitrary content on a GPU.",
        "Write it first: cudaMemset(), cudaMemcpy() of all bytes that are read, or a kernel.",
        None("Buffers of directives count as written.")),
    code("unset-local",
        "A thread reads an element of a local array that it has not written.",
        "Write every element before it is read; the initial contents of the array are undefined.",
        Run("simt-sim check --run tests/races/unset_local.ir")),
    code("unset-register",
        "A register is read before any instruction on this path has written it. It holds 0 in the \
         simulator and an arbitrary value on a GPU.",
        "Assign a value on every path to the read.",
        Run("simt-sim check --run tests/races/unset_register.ir")),
    code("unset-shared",
        "A thread reads shared memory that no thread of the block has written. It holds 0 in the \
         simulator and an arbitrary value on a GPU.",
        "Write everything that is read, including the tail of an incomplete tile.",
        Run("simt-sim check --run tests/races/unset_shared_tail.ir")),
];
