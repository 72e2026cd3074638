//! Products of matrices: asynchronous copies and tensor cores.

use super::lab::{Done, Trial};
use super::programs::*;
use super::{AskError, Bundled, Experiment, Findings, Source};
use simt_report::FigureTable;
use simt_report::numbers::{grouped, real};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "double-buffer",
        question: "Does a second buffer, filled by asynchronous copies, hide the loads of a tiled \
                   matrix product?",
        programs: &[SASS_MATMUL_TILED, SASS_MATMUL_ASYNC],
        sources: &[Source {
            says: "Asynchronous copies overlap the transfer of the next tile with computation on \
                   this one",
            place: "CUDA C++ Programming Guide, Asynchronous Data Copies using cuda::pipeline",
        }],
        on_h200: None,
        find: double_buffer,
    },
    Experiment {
        name: "tensor-cores",
        question: "How many instructions does a tensor core save in a matrix product?",
        programs: &[SASS_MATMUL_TILED, SASS_MATMUL_TENSOR],
        sources: &[Source {
            says: "A warp multiplies matrices of 16 x 16 x 16 by one operation (wmma)",
            place: "CUDA C++ Programming Guide, Warp Matrix Functions",
        }],
        on_h200: None,
        find: tensor_cores,
    },
];

/// Runs a product of n x n matrices as machine code on the H200 model.
fn product(program: &'static Bundled, n: u64) -> Result<Done, AskError> {
    Trial::of_machine_code(program).set("n", n).run()
}

fn double_buffer() -> Result<Findings, AskError> {
    let mut table = FigureTable::new(
        "Products of n x n matrices on h200, machine code, tiles of 16 x 16",
        &["n", "one buffer", "two buffers", "instructions, one", "instructions, two"],
    );
    let mut last = (0, 0, 0.0, 0.0);
    for n in [32, 64, 128] {
        let (one, two) = (product(&SASS_MATMUL_TILED, n)?, product(&SASS_MATMUL_ASYNC, n)?);
        let share = |done: &Done| done.real("stall_memory_dependency");
        last = (one.cycles(), two.cycles(), share(&one)?, share(&two)?);
        table.row(
            n.to_string(),
            [
                last.0.into(),
                last.1.into(),
                one.count("inst_executed")?.into(),
                two.count("inst_executed")?.into(),
            ],
        );
    }
    let (one, two, waits, waits_two) = last;
    let (word, more) = if two < one { ("Yes", "although") } else { ("No", "and") };
    Ok(Findings {
        short: format!(
            "{word}: {} cycles against {} for n = 128, {more} it executes more instructions.",
            grouped(two),
            grouped(one)
        ),
        tables: vec![table],
        sentences: vec![
            format!(
                "With one buffer, {} % of all stall cycles wait for global memory: every warp of a \
                 block loads, and all of them meet at a barrier before the first multiplies. With \
                 two buffers {} % do.",
                real(waits),
                real(waits_two)
            ),
            "`cp.async` writes to shared memory without a register in between, so a thread goes \
             on; `cp.async.wait_group 1` waits for the tile of this trip and leaves that of the \
             next under way."
                .to_owned(),
            "A thread's wait covers its own copies only: the barrier after it makes those of the \
             other threads visible, and the barrier at the end of the trip keeps the next copy off \
             a buffer that is still read."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn tensor_cores() -> Result<Findings, AskError> {
    let mut table = FigureTable::new(
        "Products of n x n matrices on h200, machine code",
        &["n", "warp instructions", "with tensor cores", "cycles", "cycles with them"],
    );
    let mut last = (0, 0);
    for n in [64, 128] {
        let (plain, tensor) = (product(&SASS_MATMUL_TILED, n)?, product(&SASS_MATMUL_TENSOR, n)?);
        last = (plain.count("inst_executed")?, tensor.count("inst_executed")?);
        table.row(
            n.to_string(),
            [last.0.into(), last.1.into(), plain.cycles().into(), tensor.cycles().into()],
        );
    }
    let (plain, tensor) = last;
    let times = plain as f64 / tensor.max(1) as f64;
    Ok(Findings {
        short: format!(
            "For n = 128 the product takes {} warp instructions instead of {}: {} times fewer.",
            grouped(tensor),
            grouped(plain),
            real(times)
        ),
        tables: vec![table],
        sentences: vec![
            "A warp multiplies 16 x 16 x 16 numbers of 16 bits, 4,096 products, by two `HMMA`; \
             without them it takes 128 `FFMA`, and 160 reads of shared memory for their factors."
                .to_owned(),
            "Time falls far less than instructions do: this kernel loads its tiles from global \
             memory again and again, in the layout of the fragments, and waits. Fast kernels pass \
             them through shared memory and copy asynchronously."
                .to_owned(),
            "Products are exact and sums have 32 bits; the factors have 16 bits. The inputs of \
             the tensor cores here are such numbers, so nothing is lost before the sums."
                .to_owned(),
        ],
        ..Findings::default()
    })
}
