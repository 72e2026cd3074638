//! Programs of the experiments, bundled in the binary.

/// A program of this repository with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// Path in the repository.
    pub path: &'static str,
    /// Source text.
    pub text: &'static str,
}

macro_rules! bundle {
    ($($name:ident = $path:literal;)*) => {
        $(
            pub(crate) const $name: Bundled = Bundled {
                path: concat!("programs/", $path),
                text: simt_programs::text($path),
            };
        )*
    };
}

bundle! {
    SCAN_TWO_PASS = "several/scan_two_pass.ir";
    SUM_ATOMIC = "several/sum_atomic.ir";
    SUM_TWO_PASS = "several/sum_two_pass.ir";
    ACTIVEMASK_ARMS = "small/activemask_arms.ir";
    BARRIER_AFTER_EXIT = "small/barrier_after_exit.ir";
    BARRIER_BOTH_ARMS = "small/barrier_both_arms.ir";
    BARRIER_ONE_ARM = "small/barrier_one_arm.ir";
    BREAK = "small/break.ir";
    CALIBRATE_NEAR_MEMORY = "calibrate/near_memory.ir";
    CUDA_ARMS = "cuda/arms.ptx";
    CUDA_EVEN_ODD = "cuda/even_odd.ptx";
    CUDA_EVEN_ODD_ALIGNED = "cuda/even_odd_aligned.ptx";
    CUDA_CONVOLVE_SHARED = "cuda/convolve_shared.ptx";
    CUDA_CONVOLVE_TEXTURE = "cuda/convolve_texture.ptx";
    CUDA_GRID = "cuda/reduce_grid.ptx";
    CUDA_INTERLEAVED = "cuda/reduce_interleaved.ptx";
    CUDA_NEIGHBORED = "cuda/reduce_neighbored.ptx";
    CUDA_NEIGHBORED_LESS = "cuda/reduce_neighbored_less.ptx";
    CUDA_SHARED_DOUBLING = "cuda/shared_doubling.ptx";
    CUDA_SHARED_HALVING = "cuda/shared_halving.ptx";
    CUDA_SHUFFLE = "cuda/reduce_shuffle.ptx";
    CUDA_UNROLL = "cuda/unroll.ptx";
    CUDA_UNROLL_2 = "cuda/reduce_unroll2.ptx";
    CUDA_UNROLL_4 = "cuda/reduce_unroll4.ptx";
    CUDA_UNROLL_8 = "cuda/reduce_unroll8.ptx";
    CUDA_UNROLL_COMPLETE = "cuda/reduce_unroll_complete.ptx";
    CUDA_UNROLL_LAST_WARP = "cuda/reduce_unroll_last_warp.ptx";
    EARLY_RETURN = "small/early_return.ir";
    EARLY_RETURN_NESTED = "small/early_return_nested.ir";
    FLAG_WAIT = "small/flag_wait.ir";
    FOR_TID = "small/for_tid.ir";
    HOISTED_LOAD = "small/hoisted_load.ir";
    IF_ELSE = "small/if_else.ir";
    IF_ELSE_PREDICATED = "small/if_else_predicated.ir";
    IF_ELSE_SELECT = "small/if_else_select.ir";
    LOAD_BOTH_SIDES = "small/load_both_sides.ir";
    LOAD_CHAIN = "small/load_chain.ir";
    LOOP_BY = "small/loop_by.ir";
    MEMORY_SIDES = "small/memory_sides.ir";
    NANOSLEEP = "small/nanosleep.ir";
    NESTED = "small/nested.ir";
    NESTED_FOUR = "small/nested_four.ir";
    PATHS_K = "small/paths_k.ir";
    PICTURE = "small/picture.ir";
    RACY_SIDES = "small/racy_sides.ir";
    REDUCE_INTERLEAVED = "reduce_interleaved.ir";
    REDUCE_NEIGHBORED = "reduce_neighbored.ir";
    REDUCE_NEIGHBORED_LESS = "reduce_neighbored_less.ir";
    SASS_ARMS = "sass/arms.sass";
    SASS_MATMUL_ASYNC = "sass/matmul_async.sass";
    SASS_MATMUL_TENSOR = "sass/matmul_tensor.sass";
    SASS_MATMUL_TILED = "sass/matmul_tiled.sass";
    SASS_PATHS = "sass/paths_k.sass";
    SASS_SQUARE_WAVE = "sass/square_wave.sass";
    SASS_UNROLL = "sass/unroll.sass";
    SHARED_CONFLICTS = "small/shared_conflicts.ir";
    SHARED_REDUCTION = "small/shared_reduction.ir";
    SHUFFLE_AFTER_EXIT = "small/shuffle_after_exit.ir";
    SHUFFLE_PARTIAL = "small/shuffle_partial.ir";
    SIDE_ORDER = "small/side_order.ir";
    SPIN_LOCK = "small/spin_lock.ir";
    SPIN_LOCK_DONE = "small/spin_lock_done.ir";
    SQUARE_WAVE = "small/square_wave.ir";
    STACK_EXAMPLE = "small/stack_example.ir";
    STRIDED_LOAD = "small/strided_load.ir";
    SWITCH = "small/switch.ir";
    TWO_LOCKS = "small/two_locks.ir";
    VECTOR_ADD = "small/vector_add.ir";
    WARP_SYNC_REDUCTION = "small/warp_sync_reduction.ir";
}
