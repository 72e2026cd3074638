//! Bundled programs as text.
//!
//! They are reductions, small examples, kernels compiled by nvcc (PTX and machine code), and
//! calibration experiments.

macro_rules! files {
    ($($path:literal)*) => {
        &[$(($path, include_str!($path))),*]
    };
}

mod unseen;

pub use unseen::UNSEEN;

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
    "small/double_buffer.ir"
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
    "cuda/arms.ptx"
    "cuda/call_noinline.ptx"
    "cuda/call_pointer.ptx"
    "cuda/call_recursive.ptx"
    "cuda/call_struct.ptx"
    "cuda/constant_table.ptx"
    "cuda/convolve_shared.ptx"
    "cuda/convolve_texture.ptx"
    "cuda/dynamic_shared.ptx"
    "cuda/even_odd.ptx"
    "cuda/even_odd_aligned.ptx"
    "cuda/half_axpy.ptx"
    "cuda/int128_arithmetic.ptx"
    "cuda/math_exp_log.ptx"
    "cuda/math_pow.ptx"
    "cuda/math_sincos.ptx"
    "cuda/math_single.ptx"
    "cuda/matmul_async.ptx"
    "cuda/matmul_tensor.ptx"
    "cuda/matmul_tiled.ptx"
    "cuda/paths_k.ptx"
    "cuda/print_arms.ptx"
    "cuda/reduce_atomic.ptx"
    "cuda/reduce_grid.ptx"
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
    "cuda/unroll.ptx"
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
    "sass/arms.sass"
    "sass/call_recursive.sass"
    "sass/constant_table.sass"
    "sass/convolve_shared.sass"
    "sass/convolve_texture.sass"
    "sass/dynamic_shared.sass"
    "sass/even_odd.sass"
    "sass/even_odd_aligned.sass"
    "sass/matmul_async.sass"
    "sass/matmul_tensor.sass"
    "sass/matmul_tiled.sass"
    "sass/paths_k.sass"
    "sass/reduce_atomic.sass"
    "sass/reduce_grid.sass"
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
    "sass/unroll.sass"
};

/// Programs of several launches, and their twins of one: path below `programs/` and text, sorted by
/// path.
pub const SEVERAL: &[(&str, &str)] = files! {
    "several/scan_two_pass.ir"
    "several/sum_atomic.ir"
    "several/sum_two_pass.ir"
};

/// Returns the text of the program with this path below `programs/`.
///
/// # Panics
/// Panics if there is none. In a constant this is a compile error.
pub const fn text(path: &str) -> &'static str {
    let (mut i, files) = (0, FILES.len());
    while i < files + SASS.len() + SEVERAL.len() {
        let (known, text) = if i < files {
            FILES[i]
        } else if i < files + SASS.len() {
            SASS[i - files]
        } else {
            SEVERAL[i - files - SASS.len()]
        };
        if equal(known.as_bytes(), path.as_bytes()) {
            return text;
        }
        i += 1;
    }
    panic!("no such program");
}

/// Returns the text of the program with this path below `programs/`, if there is one.
pub fn text_of(path: &str) -> Option<&'static str> {
    FILES.iter().chain(SASS).chain(SEVERAL).find(|(known, _)| *known == path).map(|&(_, text)| text)
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

    use super::{FILES, SASS, SEVERAL, UNSEEN};

    /// Collects the embedded kinds of files below `folder`, without assignments, whole programs,
    /// kernels by front ends, and machine code of architectures that only tests read.
    fn collect(folder: &Path, found: &mut BTreeSet<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder of programs").flatten() {
            let path = entry.path();
            let is_data =
                |kind| ["ron", "txt", "csv"].contains(&kind) && !path.ends_with("metrics.txt");
            if path.is_dir() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let apart = ["assignments", "exec", "frontends"].contains(&&*name);
                if !apart && !name.starts_with("sm_") {
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
        let embedded =
            FILES.iter().chain(SASS).chain(UNSEEN).chain(SEVERAL).map(|(path, _)| root.join(path));
        assert_eq!(embedded.collect::<BTreeSet<_>>(), found);
    }
}
