//! Runs shared by several claims: three reductions compiled by nvcc, on the H200 model and a Fermi.

use std::thread;

use super::facts::Facts;
use crate::ask::lab::{Trial, each};
use crate::ask::programs::*;
use crate::ask::{AskError, Bundled};
use simt_core::spec::Mode;

/// Threads per block, as in all sources.
pub(super) const BLOCK: u64 = 512;
/// Blocks of a run on the H200 model: four times as many as its 132 SMs hold.
pub(super) const BLOCKS_H200: u64 = 132 * 4 * 4;
/// Blocks of a run on a Fermi: 96 times as many as its 14 SMs hold. The fastest kernels need an
/// eighth of them.
pub(super) const BLOCKS_FERMI: u64 = 14 * 3 * 96;

/// Data that the claims are judged by.
pub(super) struct Bench {
    /// Published figures and measurements on the H200.
    pub(super) facts: Facts,
    /// Runs on the H200 model.
    pub(super) h200: Sums,
    /// Runs on a Fermi.
    pub(super) fermi: Sums,
}

/// The three kernels on one machine.
pub(super) struct Sums {
    pub(super) near: Sum,
    pub(super) less: Sum,
    pub(super) apart: Sum,
}

/// Results of one kernel.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    pub(super) cycles: u64,
    /// Cycles of the launch, the basis of rates.
    pub(super) launch_cycles: u64,
    pub(super) inst_per_warp: f64,
    pub(super) divergent_a_block: u64,
    pub(super) branch_efficiency: f64,
    pub(super) sectors: u64,
    pub(super) gld_throughput: f64,
    pub(super) stall_sync: f64,
}

impl Bench {
    /// Reads the figures and makes the runs.
    pub(super) fn new() -> Result<Bench, AskError> {
        let facts = Facts::read()?;
        let (h200, fermi) = thread::scope(|threads| {
            let other = threads.spawn(|| Sums::run(Mode::PreVolta, BLOCKS_FERMI));
            (Sums::run(Mode::Volta, BLOCKS_H200), other.join())
        });
        let died = || AskError::Missing {
            program: "reductions".to_owned(),
            what: "run on a Fermi".to_owned(),
        };
        Ok(Bench { facts, h200: h200?, fermi: fermi.map_err(|_| died())?? })
    }
}

impl Sums {
    fn run(mode: Mode, blocks: u64) -> Result<Sums, AskError> {
        let kernels = [&CUDA_NEIGHBORED, &CUDA_NEIGHBORED_LESS, &CUDA_INTERLEAVED];
        let [near, less, apart] = each(kernels, |kernel| Sum::run(kernel, mode, blocks))?;
        Ok(Sums { near, less, apart })
    }
}

impl Sum {
    /// Runs a reduction of `blocks` blocks of data on the default machine of `mode`. Lowers it to
    /// machine instructions.
    pub(super) fn run(kernel: &'static Bundled, mode: Mode, blocks: u64) -> Result<Sum, AskError> {
        Sum::of(Trial::new(kernel, mode), blocks)
    }

    /// Runs the reduction on any machine.
    pub(super) fn of(trial: Trial, blocks: u64) -> Result<Sum, AskError> {
        let done = trial.lowered().set("n", blocks * BLOCK).run()?;
        Ok(Sum {
            cycles: done.cycles(),
            launch_cycles: done.count("launch_cycles")?,
            inst_per_warp: done.real("inst_per_warp")?,
            divergent_a_block: done.count("divergent_branch")? / blocks,
            branch_efficiency: done.real("branch_efficiency")?,
            sectors: done.loads()?.sectors,
            gld_throughput: done.real("gld_throughput")?,
            stall_sync: done.real("stall_sync")?,
        })
    }
}
