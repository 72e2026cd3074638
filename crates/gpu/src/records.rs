//! Recorded measurements of a GPU by file name: a folder, or the H200's, which are compiled in.

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../observations/h200/", $name)))),*]
    };
}

/// Records of a GPU by file name, such as `vector_add.ir.ron` or `divergence/vector_add.ir.ron`.
pub trait Records {
    /// Returns the text of a record; `None` if there is none.
    ///
    /// # Errors
    /// The record cannot be read. The message is shown to the user as it is.
    fn text(&self, name: &str) -> Result<Option<String>, String>;

    /// Returns the place of a record for messages.
    fn place(&self, name: &str) -> String;

    /// Returns the folder to record in, for messages.
    fn folder(&self) -> String;

    /// Returns the names of the profiler reports (`.csv`), sorted.
    fn reports(&self) -> Vec<String>;
}

/// Records of an NVIDIA H200 for the bundled programs.
pub struct H200;

impl Records for H200 {
    fn text(&self, name: &str) -> Result<Option<String>, String> {
        Ok(FILES.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_string()))
    }

    fn place(&self, name: &str) -> String {
        format!("bundled record `{name}`")
    }

    fn folder(&self) -> String {
        "DIR".to_string()
    }

    fn reports(&self) -> Vec<String> {
        let names = FILES.iter().map(|(file, _)| *file);
        names.filter(|file| file.ends_with(".csv")).map(str::to_string).collect()
    }
}

/// File name and text of every record.
const FILES: &[(&str, &str)] = files! {
    "activemask_arms.ir.ron"
    "ahead_of_barrier.ir.ron"
    "ballot_both_arms.ir.ron"
    "barrier_after_exit.ir.ron"
    "barrier_both_arms.ir.ron"
    "barrier_count.ir.ron"
    "barrier_count_exits.ir.ron"
    "barrier_one_arm.ir.ron"
    "break.ir.ron"
    "calibrate.ron"
    "call.ir.ron"
    "call_noinline.cu.ron"
    "call_noinline.ptx.ron"
    "call_pointer.cu.ron"
    "call_pointer.ptx.ron"
    "call_recursive.cu.ron"
    "call_recursive.ptx.ron"
    "call_recursive.sass.ron"
    "call_struct.cu.ron"
    "call_struct.ptx.ron"
    "constant_table.cu.ron"
    "constant_table.ptx.ron"
    "constant_table.sass.ron"
    "convolve_shared.cu.ron"
    "convolve_shared.ptx.ron"
    "convolve_shared.sass.ron"
    "convolve_texture.cu.ron"
    "convolve_texture.ptx.ron"
    "convolve_texture.sass.ron"
    "decided_branch.ir.ron"
    "diamond.ir.ron"
    "double_buffer.ir.ron"
    "dynamic_shared.cu.ron"
    "dynamic_shared.ptx.ron"
    "dynamic_shared.sass.ron"
    "early_return.ir.ron"
    "early_return_nested.ir.ron"
    "even_odd.cu.ron"
    "even_odd.ptx.ron"
    "even_odd.sass.ron"
    "even_odd_aligned.cu.ron"
    "even_odd_aligned.ptx.ron"
    "even_odd_aligned.sass.ron"
    "flag_wait.ir.ron"
    "for_tid.ir.ron"
    "generated.ron"
    "half_axpy.cu.ron"
    "half_axpy.ptx.ron"
    "hoisted_load.ir.ron"
    "if_else.ir.ron"
    "if_else_predicated.ir.ron"
    "if_else_select.ir.ron"
    "indirect_call.ir.ron"
    "int128_arithmetic.cu.ron"
    "int128_arithmetic.ptx.ron"
    "jump_table.ir.ron"
    "known.ron"
    "load_both_sides.ir.ron"
    "load_chain.ir.ron"
    "loop_by.ir.ron"
    "loop_trips.ir.ron"
    "math_exp_log.cu.ron"
    "math_exp_log.ptx.ron"
    "math_pow.cu.ron"
    "math_pow.ptx.ron"
    "math_sincos.cu.ron"
    "math_sincos.ptx.ron"
    "math_single.cu.ron"
    "math_single.ptx.ron"
    "matmul_async.cu.ron"
    "matmul_async.ptx.ron"
    "matmul_async.sass.ron"
    "matmul_tensor.cu.ron"
    "matmul_tensor.ptx.ron"
    "matmul_tensor.sass.ron"
    "matmul_tiled.cu.ron"
    "matmul_tiled.ptx.ron"
    "matmul_tiled.sass.ron"
    "memory_sides.ir.ron"
    "nanosleep.ir.ron"
    "nested.ir.ron"
    "nested_four.ir.ron"
    "nothing.csv"
    "nothing.ir.ron"
    "paths_k.ir.ron"
    "picture.ir.ron"
    "print_arms.ptx.ron"
    "profile.csv"
    "racy_sides.ir.ron"
    "recursion.ir.ron"
    "reduce_atomic.cu.ron"
    "reduce_atomic.ptx.ron"
    "reduce_atomic.sass.ron"
    "reduce_grid.ptx.ron"
    "reduce_grid.sass.ron"
    "reduce_interleaved.cu.ron"
    "reduce_interleaved.ir.ron"
    "reduce_interleaved.ptx.ron"
    "reduce_interleaved.sass.ron"
    "reduce_neighbored.cu.ron"
    "reduce_neighbored.ir.ron"
    "reduce_neighbored.ptx.ron"
    "reduce_neighbored.sass.ron"
    "reduce_neighbored_less.cu.ron"
    "reduce_neighbored_less.ir.ron"
    "reduce_neighbored_less.ptx.ron"
    "reduce_neighbored_less.sass.ron"
    "reduce_shuffle.cu.ron"
    "reduce_shuffle.ptx.ron"
    "reduce_shuffle.sass.ron"
    "reduce_unroll2.cu.ron"
    "reduce_unroll2.ptx.ron"
    "reduce_unroll2.sass.ron"
    "reduce_unroll4.cu.ron"
    "reduce_unroll4.ptx.ron"
    "reduce_unroll4.sass.ron"
    "reduce_unroll8.cu.ron"
    "reduce_unroll8.ptx.ron"
    "reduce_unroll8.sass.ron"
    "reduce_unroll_complete.cu.ron"
    "reduce_unroll_complete.ptx.ron"
    "reduce_unroll_complete.sass.ron"
    "reduce_unroll_last_warp.cu.ron"
    "reduce_unroll_last_warp.ptx.ron"
    "reduce_unroll_last_warp.sass.ron"
    "shared_atomic.ir.ron"
    "shared_conflicts.ir.ron"
    "shared_doubling.cu.ron"
    "shared_doubling.ptx.ron"
    "shared_doubling.sass.ron"
    "shared_doubling_race.cu.ron"
    "shared_doubling_race.ptx.ron"
    "shared_halving.cu.ron"
    "shared_halving.ptx.ron"
    "shared_halving.sass.ron"
    "shared_halving_race.cu.ron"
    "shared_halving_race.ptx.ron"
    "shared_reduction.ir.ron"
    "shuffle_after_exit.ir.ron"
    "shuffle_partial.ir.ron"
    "shuffle_reduction.ir.ron"
    "side_order.ir.ron"
    "sleep.ir.ron"
    "spin_lock.ir.ron"
    "spin_lock_done.ir.ron"
    "square_wave.cu.ron"
    "square_wave.ir.ron"
    "square_wave.ptx.ron"
    "square_wave.sass.ron"
    "stack_example.ir.ron"
    "stream.csv"
    "stream.ir.ron"
    "strided_load.ir.ron"
    "switch.ir.ron"
    "switch_dense.cu.ron"
    "switch_dense.ptx.ron"
    "switch_dense.sass.ron"
    "switch_sparse.cu.ron"
    "switch_sparse.ptx.ron"
    "traffic.csv"
    "turn_away.ir.ron"
    "two_locks.ir.ron"
    "vector_add.ir.ron"
    "warp_sync_reduction.ir.ron"
    "yield_in_function.ir.ron"
    "divergence/activemask_arms.ir.ron"
    "divergence/ahead_of_barrier.ir.ron"
    "divergence/ballot_both_arms.ir.ron"
    "divergence/barrier_after_exit.ir.ron"
    "divergence/barrier_both_arms.ir.ron"
    "divergence/barrier_count.ir.ron"
    "divergence/barrier_count_exits.ir.ron"
    "divergence/barrier_one_arm.ir.ron"
    "divergence/break.ir.ron"
    "divergence/call.ir.ron"
    "divergence/call_noinline.ptx.ron"
    "divergence/call_pointer.ptx.ron"
    "divergence/call_recursive.ptx.ron"
    "divergence/call_struct.ptx.ron"
    "divergence/constant_table.ptx.ron"
    "divergence/convolve_shared.ptx.ron"
    "divergence/convolve_texture.ptx.ron"
    "divergence/decided_branch.ir.ron"
    "divergence/diamond.ir.ron"
    "divergence/double_buffer.ir.ron"
    "divergence/dynamic_shared.ptx.ron"
    "divergence/early_return.ir.ron"
    "divergence/early_return_nested.ir.ron"
    "divergence/even_odd.ptx.ron"
    "divergence/even_odd_aligned.ptx.ron"
    "divergence/explained.ron"
    "divergence/flag_wait.ir.ron"
    "divergence/for_tid.ir.ron"
    "divergence/half_axpy.ptx.ron"
    "divergence/hoisted_load.ir.ron"
    "divergence/if_else.ir.ron"
    "divergence/if_else_predicated.ir.ron"
    "divergence/if_else_select.ir.ron"
    "divergence/indirect_call.ir.ron"
    "divergence/int128_arithmetic.ptx.ron"
    "divergence/jump_table.ir.ron"
    "divergence/load_both_sides.ir.ron"
    "divergence/load_chain.ir.ron"
    "divergence/loop_by.ir.ron"
    "divergence/loop_trips.ir.ron"
    "divergence/math_exp_log.ptx.ron"
    "divergence/math_pow.ptx.ron"
    "divergence/math_sincos.ptx.ron"
    "divergence/math_single.ptx.ron"
    "divergence/matmul_async.ptx.ron"
    "divergence/matmul_tensor.ptx.ron"
    "divergence/matmul_tiled.ptx.ron"
    "divergence/memory_sides.ir.ron"
    "divergence/nanosleep.ir.ron"
    "divergence/nested.ir.ron"
    "divergence/nested_four.ir.ron"
    "divergence/nothing.ir.ron"
    "divergence/paths_k.ir.ron"
    "divergence/picture.ir.ron"
    "divergence/print_arms.ptx.ron"
    "divergence/racy_sides.ir.ron"
    "divergence/recursion.ir.ron"
    "divergence/reduce_atomic.ptx.ron"
    "divergence/reduce_grid.ptx.ron"
    "divergence/reduce_interleaved.ir.ron"
    "divergence/reduce_interleaved.ptx.ron"
    "divergence/reduce_neighbored.ir.ron"
    "divergence/reduce_neighbored.ptx.ron"
    "divergence/reduce_neighbored_less.ir.ron"
    "divergence/reduce_neighbored_less.ptx.ron"
    "divergence/reduce_shuffle.ptx.ron"
    "divergence/reduce_unroll2.ptx.ron"
    "divergence/reduce_unroll4.ptx.ron"
    "divergence/reduce_unroll8.ptx.ron"
    "divergence/reduce_unroll_complete.ptx.ron"
    "divergence/reduce_unroll_last_warp.ptx.ron"
    "divergence/shared_atomic.ir.ron"
    "divergence/shared_conflicts.ir.ron"
    "divergence/shared_doubling.ptx.ron"
    "divergence/shared_doubling_race.ptx.ron"
    "divergence/shared_halving.ptx.ron"
    "divergence/shared_halving_race.ptx.ron"
    "divergence/shared_reduction.ir.ron"
    "divergence/shuffle_after_exit.ir.ron"
    "divergence/shuffle_partial.ir.ron"
    "divergence/shuffle_reduction.ir.ron"
    "divergence/side_order.ir.ron"
    "divergence/sleep.ir.ron"
    "divergence/spin_lock.ir.ron"
    "divergence/spin_lock_done.ir.ron"
    "divergence/square_wave.ir.ron"
    "divergence/square_wave.ptx.ron"
    "divergence/stack_example.ir.ron"
    "divergence/stream.ir.ron"
    "divergence/strided_load.ir.ron"
    "divergence/switch.ir.ron"
    "divergence/switch_dense.ptx.ron"
    "divergence/switch_sparse.ptx.ron"
    "divergence/turn_away.ir.ron"
    "divergence/two_locks.ir.ron"
    "divergence/vector_add.ir.ron"
    "divergence/warp_sync_reduction.ir.ron"
    "divergence/yield_in_function.ir.ron"
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_record_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("observations/h200");
        let mut found = BTreeSet::new();
        for folder in ["", "divergence/"] {
            for entry in std::fs::read_dir(root.join(folder)).expect("the records").flatten() {
                if entry.path().is_file() {
                    found.insert(format!("{folder}{}", entry.file_name().to_string_lossy()));
                }
            }
        }
        assert_eq!(
            FILES.iter().map(|(name, _)| (*name).to_string()).collect::<BTreeSet<_>>(),
            found
        );
    }
}
