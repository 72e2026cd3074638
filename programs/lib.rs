//! Bundled programs as text.
//!
//! They are reductions, small examples, kernels compiled by nvcc, and calibration experiments.

macro_rules! files {
    ($($path:literal)*) => {
        &[$(($path, include_str!($path))),*]
    };
}

/// Path below `programs/` and text of every program, by folder, then by name.
pub const FILES: &[(&str, &str)] = files! {
    "reduce_interleaved.ir"
    "reduce_neighbored.ir"
    "reduce_neighbored_less.ir"
    "small/activemask_arms.ir"
    "small/ahead_of_barrier.ir"
    "small/ballot_both_arms.ir"
    "small/barrier_after_exit.ir"
    "small/barrier_both_arms.ir"
    "small/barrier_count.ir"
    "small/barrier_count_exits.ir"
    "small/barrier_one_arm.ir"
    "small/break.ir"
    "small/call.ir"
    "small/decided_branch.ir"
    "small/diamond.ir"
    "small/early_return.ir"
    "small/early_return_nested.ir"
    "small/flag_wait.ir"
    "small/for_tid.ir"
    "small/hoisted_load.ir"
    "small/if_else.ir"
    "small/if_else_predicated.ir"
    "small/if_else_select.ir"
    "small/indirect_call.ir"
    "small/jump_table.ir"
    "small/load_both_sides.ir"
    "small/load_chain.ir"
    "small/loop_by.ir"
    "small/loop_trips.ir"
    "small/memory_sides.ir"
    "small/nanosleep.ir"
    "small/nested.ir"
    "small/nested_four.ir"
    "small/paths_k.ir"
    "small/picture.ir"
    "small/racy_sides.ir"
    "small/recursion.ir"
    "small/shared_atomic.ir"
    "small/shared_conflicts.ir"
    "small/shared_reduction.ir"
    "small/shuffle_after_exit.ir"
    "small/shuffle_partial.ir"
    "small/shuffle_reduction.ir"
    "small/side_order.ir"
    "small/sleep.ir"
    "small/spin_lock.ir"
    "small/spin_lock_done.ir"
    "small/square_wave.ir"
    "small/stack_example.ir"
    "small/strided_load.ir"
    "small/switch.ir"
    "small/turn_away.ir"
    "small/two_locks.ir"
    "small/vector_add.ir"
    "small/warp_sync_reduction.ir"
    "small/yield_in_function.ir"
    "cuda/call_noinline.ptx"
    "cuda/call_pointer.ptx"
    "cuda/call_recursive.ptx"
    "cuda/call_struct.ptx"
    "cuda/constant_table.ptx"
    "cuda/dynamic_shared.ptx"
    "cuda/even_odd.ptx"
    "cuda/even_odd_aligned.ptx"
    "cuda/half_axpy.ptx"
    "cuda/int128_arithmetic.ptx"
    "cuda/math_exp_log.ptx"
    "cuda/math_pow.ptx"
    "cuda/math_sincos.ptx"
    "cuda/math_single.ptx"
    "cuda/reduce_atomic.ptx"
    "cuda/reduce_interleaved.ptx"
    "cuda/reduce_neighbored.ptx"
    "cuda/reduce_neighbored_less.ptx"
    "cuda/reduce_shuffle.ptx"
    "cuda/reduce_unroll2.ptx"
    "cuda/reduce_unroll4.ptx"
    "cuda/reduce_unroll8.ptx"
    "cuda/reduce_unroll_complete.ptx"
    "cuda/reduce_unroll_last_warp.ptx"
    "cuda/shared_doubling.ptx"
    "cuda/shared_doubling_race.ptx"
    "cuda/shared_halving.ptx"
    "cuda/shared_halving_race.ptx"
    "cuda/square_wave.ptx"
    "cuda/switch_dense.ptx"
    "cuda/switch_sparse.ptx"
    "calibrate/blocks.ir"
    "calibrate/control.ir"
    "calibrate/dram_stream.ir"
    "calibrate/far_memory.ir"
    "calibrate/fetch.ir"
    "calibrate/float.ir"
    "calibrate/integer.ir"
    "calibrate/lock.ir"
    "calibrate/near_memory.ir"
    "calibrate/nothing.ir"
    "calibrate/stores.ir"
    "calibrate/stream.ir"
    "calibrate/warp.ir"
};

/// Returns the text of the program with this path below `programs/`.
///
/// # Panics
/// Panics if there is none. In a constant this is a compile error.
pub const fn text(path: &str) -> &'static str {
    let mut i = 0;
    while i < FILES.len() {
        if equal(FILES[i].0.as_bytes(), path.as_bytes()) {
            return FILES[i].1;
        }
        i += 1;
    }
    panic!("no such program");
}

/// Returns the text of the program with this path below `programs/`, if there is one.
pub fn text_of(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == path).map(|&(_, text)| text)
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
