//! Bundled programs as text.
//!
//! They are reductions, small examples, kernels compiled by nvcc (PTX and machine code), and
//! calibration experiments.

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

/// Machine code for sm_90 of kernels in `cuda/`: path below `programs/` and text, sorted by path.
pub const SASS: &[(&str, &str)] = files! {
    "sass/call_recursive.sass"
    "sass/constant_table.sass"
    "sass/dynamic_shared.sass"
    "sass/even_odd.sass"
    "sass/even_odd_aligned.sass"
    "sass/reduce_atomic.sass"
    "sass/reduce_interleaved.sass"
    "sass/reduce_neighbored.sass"
    "sass/reduce_neighbored_less.sass"
    "sass/reduce_shuffle.sass"
    "sass/reduce_unroll2.sass"
    "sass/reduce_unroll4.sass"
    "sass/reduce_unroll8.sass"
    "sass/reduce_unroll_complete.sass"
    "sass/reduce_unroll_last_warp.sass"
    "sass/shared_doubling.sass"
    "sass/shared_halving.sass"
    "sass/square_wave.sass"
    "sass/switch_dense.sass"
};

/// Kernels that the simulator was not built with, and the GPU's outputs and counters of them:
/// path below `programs/` and text, sorted by path.
pub const UNSEEN: &[(&str, &str)] = files! {
    "unseen/held/banks_apart.ptx"
    "unseen/held/banks_apart.sass"
    "unseen/held/big_block_max.ptx"
    "unseen/held/big_block_max.sass"
    "unseen/held/bit_tricks.ptx"
    "unseen/held/bit_tricks.sass"
    "unseen/held/convolve_constant.ptx"
    "unseen/held/convolve_constant.sass"
    "unseen/held/copy_strided.ptx"
    "unseen/held/copy_strided.sass"
    "unseen/held/divide_float.ptx"
    "unseen/held/divide_float.sass"
    "unseen/held/early_outs.ptx"
    "unseen/held/early_outs.sass"
    "unseen/held/frontier_step.ptx"
    "unseen/held/frontier_step.sass"
    "unseen/held/function_table.ptx"
    "unseen/held/function_table.sass"
    "unseen/held/grid_stride_max.ptx"
    "unseen/held/grid_stride_max.sass"
    "unseen/held/half_warps_loop.ptx"
    "unseen/held/half_warps_loop.sass"
    "unseen/held/histo_warp_private.ptx"
    "unseen/held/histo_warp_private.sass"
    "unseen/held/horner_double.ptx"
    "unseen/held/horner_double.sass"
    "unseen/held/last_block_sum.ptx"
    "unseen/held/last_block_sum.sass"
    "unseen/held/lock_block.ptx"
    "unseen/held/lock_block.sass"
    "unseen/held/matvec_warp.ptx"
    "unseen/held/matvec_warp.sass"
    "unseen/held/merge_path.ptx"
    "unseen/held/merge_path.sass"
    "unseen/held/nested_bits.ptx"
    "unseen/held/nested_bits.sass"
    "unseen/held/outputs.txt"
    "unseen/held/pi_darts.ptx"
    "unseen/held/pi_darts.sass"
    "unseen/held/primes.ptx"
    "unseen/held/primes.sass"
    "unseen/held/profile.csv"
    "unseen/held/reduce_modulo.ptx"
    "unseen/held/reduce_modulo.sass"
    "unseen/held/scan_warps.ptx"
    "unseen/held/scan_warps.sass"
    "unseen/held/search_binary.ptx"
    "unseen/held/search_binary.sass"
    "unseen/held/sort_rank.ptx"
    "unseen/held/sort_rank.sass"
    "unseen/held/stencil_plane.ptx"
    "unseen/held/stencil_plane.sass"
    "unseen/held/tiles_of_eight.ptx"
    "unseen/held/tiles_of_eight.sass"
    "unseen/held/transpose_padded.ptx"
    "unseen/held/transpose_padded.sass"
    "unseen/held/vector_loads.ptx"
    "unseen/held/vector_loads.sass"
    "unseen/held/wavefront_align.ptx"
    "unseen/held/wavefront_align.sass"
    "unseen/mend/ackermann.ptx"
    "unseen/mend/ackermann.sass"
    "unseen/mend/axpy.ptx"
    "unseen/mend/axpy.sass"
    "unseen/mend/bitonic.ptx"
    "unseen/mend/bitonic.sass"
    "unseen/mend/break_continue.ptx"
    "unseen/mend/break_continue.sass"
    "unseen/mend/calls_apart.ptx"
    "unseen/mend/calls_apart.sass"
    "unseen/mend/collatz.ptx"
    "unseen/mend/collatz.sass"
    "unseen/mend/compact_ballot.ptx"
    "unseen/mend/compact_ballot.sass"
    "unseen/mend/dot_float.ptx"
    "unseen/mend/dot_float.sass"
    "unseen/mend/edit_distance.ptx"
    "unseen/mend/edit_distance.sass"
    "unseen/mend/game_of_life.ptx"
    "unseen/mend/game_of_life.sass"
    "unseen/mend/gather_chain.ptx"
    "unseen/mend/gather_chain.sass"
    "unseen/mend/gcd.ptx"
    "unseen/mend/gcd.sass"
    "unseen/mend/hash_insert.ptx"
    "unseen/mend/hash_insert.sass"
    "unseen/mend/histo.ptx"
    "unseen/mend/histo.sass"
    "unseen/mend/histo_global.ptx"
    "unseen/mend/histo_global.sass"
    "unseen/mend/locklist.ptx"
    "unseen/mend/locklist.sass"
    "unseen/mend/mandel.ptx"
    "unseen/mend/mandel.sass"
    "unseen/mend/match_groups.ptx"
    "unseen/mend/match_groups.sass"
    "unseen/mend/matmul.ptx"
    "unseen/mend/matmul.sass"
    "unseen/mend/matmul_plain.ptx"
    "unseen/mend/matmul_plain.sass"
    "unseen/mend/nbody_step.ptx"
    "unseen/mend/nbody_step.sass"
    "unseen/mend/norm_float.ptx"
    "unseen/mend/norm_float.sass"
    "unseen/mend/ntt_block.ptx"
    "unseen/mend/ntt_block.sass"
    "unseen/mend/outputs.txt"
    "unseen/mend/power_modulo.ptx"
    "unseen/mend/power_modulo.sass"
    "unseen/mend/profile.csv"
    "unseen/mend/recurse.ptx"
    "unseen/mend/recurse.sass"
    "unseen/mend/reduce_shuffle.ptx"
    "unseen/mend/reduce_shuffle.sass"
    "unseen/mend/ring_exchange.ptx"
    "unseen/mend/ring_exchange.sass"
    "unseen/mend/scan_blelloch.ptx"
    "unseen/mend/scan_blelloch.sass"
    "unseen/mend/scan_hs.ptx"
    "unseen/mend/scan_hs.sass"
    "unseen/mend/search_text.ptx"
    "unseen/mend/search_text.sass"
    "unseen/mend/sort_insertion.ptx"
    "unseen/mend/sort_insertion.sass"
    "unseen/mend/sort_odd_even.ptx"
    "unseen/mend/sort_odd_even.sass"
    "unseen/mend/stencil_shared.ptx"
    "unseen/mend/stencil_shared.sass"
    "unseen/mend/straight_hash.ptx"
    "unseen/mend/straight_hash.sass"
    "unseen/mend/struct_of_three.ptx"
    "unseen/mend/struct_of_three.sass"
    "unseen/mend/switch8.ptx"
    "unseen/mend/switch8.sass"
    "unseen/mend/tokens.ptx"
    "unseen/mend/tokens.sass"
    "unseen/mend/transpose_plain.ptx"
    "unseen/mend/transpose_plain.sass"
    "unseen/mend/tree_walk.ptx"
    "unseen/mend/tree_walk.sass"
    "unseen/mend/wide64.ptx"
    "unseen/mend/wide64.sass"
    "unseen/recorded.ron"
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
    FILES.iter().chain(SASS).find(|(known, _)| *known == path).map(|&(_, text)| text)
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::{FILES, SASS, UNSEEN};

    /// Collects the embedded kinds of files below `folder`, assignments left out.
    fn collect(folder: &Path, found: &mut BTreeSet<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder of programs").flatten() {
            let path = entry.path();
            let is_data =
                |kind| ["ron", "txt", "csv"].contains(&kind) && !path.ends_with("metrics.txt");
            if path.is_dir() {
                if !path.ends_with("assignments") {
                    collect(&path, found);
                }
            } else if let Some(kind) = path.extension().and_then(|e| e.to_str())
                && (["ir", "ptx", "sass"].contains(&kind) || is_data(kind))
            {
                found.insert(path);
            }
        }
    }

    #[test]
    fn every_file_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = BTreeSet::new();
        collect(root, &mut found);
        let embedded = FILES.iter().chain(SASS).chain(UNSEEN).map(|(path, _)| root.join(path));
        assert_eq!(embedded.collect::<BTreeSet<_>>(), found);
    }
}
