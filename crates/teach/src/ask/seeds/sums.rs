//! Claims about the order of additions in a reduction.

mod banks;
mod steps;
mod times;

use super::Claim;
use banks::conflicts;
use simt_report::Cell;
use steps::{partial_sums, steps, utilisation};
use times::{ladder, times};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        title: "Renumbering the threads halves the time; interleaving is faster still",
        says: "Neighbored pairs keep every other thread idle. With the threads renumbered so that \
               the first ones work, the same additions take half the time; pairs half a block \
               apart are faster again.",
        sources: &["book", "lecture"],
        runs: "kernels compiled by nvcc as machine instructions: 2,112 blocks of 512 integers on \
               `h200`, 4,032 on `fermi` (the H200 and the book: 32,768)",
        repeat: &[
            "simt-sim run programs/cuda/reduce_neighbored.ptx --machine h200 --set n=1081344",
            "simt-sim run programs/cuda/reduce_neighbored_less.ptx --machine h200 --set n=1081344",
            "simt-sim run programs/cuda/reduce_interleaved.ptx --machine h200 --set n=1081344",
        ],
        find: times,
    },
    Claim {
        title: "Partial sums by thread",
        says: "With doubling strides (`t % (2 * stride) == 0`) thread 0 holds the sum of 2, 4, 8 \
               .. neighbours and every second, fourth, eighth .. thread works; with halving \
               strides (`t < stride`) the first threads work, on elements half the data apart.",
        sources: &["textbook"],
        runs: "8 words of one bit each, so that a partial sum identifies its elements; one run per \
               number of steps",
        repeat: &[
            "simt-sim run programs/small/shared_reduction.ir --set n=8 --set order=0 --set steps=2 --machine h200",
        ],
        find: partial_sums,
    },
    Claim {
        title: "Divergence in every step, or only in the last five",
        says: "With doubling strides warps diverge in each step. With halving strides they diverge \
               only when fewer threads than a warp work: in the last five steps.",
        sources: &["textbook", "lecture slides"],
        runs: "the textbook's two kernels by nvcc, as written (branches stay branches), one block \
               of 512; global-memory twins and predicated forms on `h200`",
        repeat: &[
            "simt-sim ask reduction-steps",
            "simt-sim run programs/cuda/shared_halving.ptx --lowering as-written --set n=512",
        ],
        find: steps,
    },
    Claim {
        title: "35 % of the lanes work, or 66 %",
        says: "256 elements, 128 threads: the simple kernel occupies 736 lanes for 255 additions, \
               the convergent one 384.",
        sources: &["textbook"],
        runs: "one block of 128 threads on 256 words: every issue of the addition, its active \
               lanes out of 32",
        repeat: &[
            "simt-sim timeline programs/small/shared_reduction.ir --set n=256 --set block=128 --set order=3 --machine h200 --warp 0..3",
        ],
        find: utilisation,
    },
    Claim {
        title: "Renumbered threads trade divergence for bank conflicts",
        says: "In shared memory the renumbered kernel no longer diverges, but its lanes access \
               words 2, 4, 8 .. apart, which lie in the same banks; sequential addressing has \
               neither problem.",
        sources: &["Harris"],
        runs: "one block of 512 words on `h200`, as written; passes over the banks per load of the \
               additions",
        repeat: &[
            "simt-sim run programs/small/shared_reduction.ir --set n=512 --set order=1 --machine h200 --metrics shared_load_transactions_per_request",
        ],
        find: conflicts,
    },
    Claim {
        title: "Unrolling step by step: blocks, the last warp, the whole loop; then shuffle",
        says: "Each step of the usual course is faster than the one before: 2, 4, 8 blocks of data \
               per block of threads, no barriers in the last warp, no loop at all. Without its \
               barriers a kernel waits half as much for them; a shuffle reduction needs one.",
        sources: &["book"],
        runs: "kernels compiled by nvcc as machine instructions on `fermi`, 4,032 blocks of 512 \
               integers",
        repeat: &[
            "simt-sim run programs/cuda/reduce_unroll8.ptx --machine fermi --set n=2064384",
            "simt-sim run programs/cuda/reduce_unroll_last_warp.ptx --machine fermi --set n=2064384",
        ],
        find: ladder,
    },
];

/// Ratio `a / b`.
pub(super) fn per(a: impl Into<Amount>, b: impl Into<Amount>) -> Cell {
    Cell::Real(a.into().0 / b.into().0)
}

/// A count or a real as operand of a ratio.
pub(super) struct Amount(f64);

impl From<u64> for Amount {
    fn from(n: u64) -> Amount {
        Amount(n as f64)
    }
}

impl From<f64> for Amount {
    fn from(x: f64) -> Amount {
        Amount(x)
    }
}
