//! Latency hiding and occupancy.

use super::lab::{Done, MODES, Trial, each};
use super::programs::*;
use super::{AskError, Experiment, Findings, Source, draw};
use simt_core::spec::{MachineSpec, Mode};
use simt_report::FigureTable;
use simt_report::numbers::{grouped, real};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "latency-hiding",
        question: "How many warps do I need to hide the latency of a load?",
        programs: &[LOAD_CHAIN],
        sources: &[Source {
            says: "CUDA guide: the number of warps that keep the schedulers busy follows from the \
                   latency",
            place: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#multiprocessor-level",
        }],
        on_h200: None,
        find: latency_hiding,
    },
    Experiment {
        name: "divergent-latency",
        question: "While one side of a branch waits for memory, does the other side run?",
        programs: &[MEMORY_SIDES],
        sources: &[Source {
            says: "When do threads reconverge on Volta, and what runs in between?",
            place: "https://stackoverflow.com/questions/54055195/activemask-vs-ballot-sync",
        }],
        on_h200: Some(
            "No: two sides, each a chain of 64 dependent loads from L2, ran one after the other, \
             18,200 cycles each; the total was the sum.",
        ),
        find: divergent_latency,
    },
    Experiment {
        name: "occupancy",
        question: "More threads per block made my kernel slower. How do blocks and warps fit onto \
                   an SM?",
        programs: &[VECTOR_ADD],
        sources: &[Source {
            says: "More threads per block increase the kernel's execution time: why?",
            place: "https://forums.developer.nvidia.com/t/more-threads-block-increase-kernel-execution-time-why/23016",
        }],
        on_h200: Some(
            "An SM holds 64 warps and 65,536 registers. The neighbored reduction took 0.274 ms in \
             blocks of 1024 and 0.173 ms in blocks of 128.",
        ),
        find: occupancy,
    },
];

/// Cycles of a load on [`blackboard`].
const LATENCY: u32 = 9;

/// Modifies `teaching` for hand calculation. One scheduler, warps of 32 lanes, shared-memory loads
/// of [`LATENCY`] cycles.
fn blackboard(spec: &mut MachineSpec) {
    spec.schedulers = 1;
    spec.warp_size = 32;
    spec.memory.shared_latency = LATENCY;
}

fn latency_hiding() -> Result<Findings, AskError> {
    let columns = ["warps", "cycles", "issued", "slots used %", "cycles a load and warp"];
    let mut table = FigureTable::new(
        format!("One scheduler, loads of {LATENCY} cycles, one other instruction per load"),
        &columns,
    );
    let (mut needed, mut times) = (0, Vec::new());
    for warps in 1..=8_u64 {
        let done = Trial::new(&LOAD_CHAIN, Mode::Volta)
            .on("teaching", blackboard)
            .set("warps", warps)
            .run()?;
        let (issued, used) = (done.count("inst_executed")?, done.real("issue_slot_utilization")?);
        if needed == 0 && used > 99.5 {
            needed = warps;
        }
        times.push(done.cycles());
        let each_load = done.cycles() as f64 / (32 * warps) as f64;
        table.row(
            warps.to_string(),
            [done.cycles().into(), issued.into(), used.into(), each_load.into()],
        );
    }
    let demand = real(f64::from(LATENCY) / 2.0);
    let time = |warps: u64| grouped(times.get(warps as usize).copied().unwrap_or_default());
    Ok(Findings {
        short: format!(
            "Enough to fill the latency with issues: {LATENCY} cycles / 2 instructions = {demand}; \
             with {needed} warps every slot is used."
        ),
        tables: vec![table],
        sentences: vec![
            format!(
                "With fewer warps, another one is almost free ({} cycles for one, {} for {}): its \
                 instructions issue while the others wait.",
                time(0),
                time(needed.saturating_sub(2)),
                needed.saturating_sub(1)
            ),
            "With more, every slot is used, and each further warp adds its own instructions to the \
             time: more occupancy no longer helps."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn divergent_latency() -> Result<Findings, AskError> {
    let columns =
        ["mode", "neither side", "one side", "other side", "both sides", "sum of the sides"];
    let mut table = FigureTable::new(
        "Cycles; each side is a chain of 16 dependent loads from memory",
        &columns,
    );
    let [_, (both, sum)] = each(MODES, |mode| {
        let hops = |even, odd| {
            Ok::<u64, AskError>(
                Trial::new(&MEMORY_SIDES, mode).set("even", even).set("odd", odd).run()?.cycles(),
            )
        };
        let (none, even, odd, both) = (hops(0, 0)?, hops(16, 0)?, hops(0, 16)?, hops(16, 16)?);
        let sum = (even + odd).saturating_sub(none);
        table.row(mode.name(), [none.into(), even.into(), odd.into(), both.into(), sum.into()]);
        Ok((both, sum))
    })?;
    let watched = Trial::new(&MEMORY_SIDES, Mode::Volta).set("even", 3).set("odd", 3).watch()?;
    Ok(Findings {
        short: format!(
            "No, neither before Volta nor since: both sides take {} cycles; one after the other \
             would be {}.",
            grouped(both),
            grouped(sum),
        ),
        pictures: vec![draw::only(
            "The loads, three hops per side: one side, then the other (volta)",
            &watched,
            0,
            "ld.global.u32 %at",
        )],
        tables: vec![table],
        sentences: vec![
            "A side runs until it waits for other lanes, ends or yields; a load in flight does not \
             make the warp switch sides. Other warps hide latency (`simt-sim ask latency-hiding`), \
             the other side does not."
                .to_owned(),
        ],
    })
}

fn occupancy() -> Result<Findings, AskError> {
    let columns = [
        "threads a block",
        "blocks on an SM, fermi",
        "warps, fermi",
        "limited by",
        "blocks, h200",
        "warps, h200",
        "limited by (h200)",
    ];
    let mut table = FigureTable::new("Resident blocks and warps of one SM", &columns);
    let mut resident = Vec::new();
    for block in [32, 64, 128, 192, 256, 512, 768, 1024] {
        let [fermi, h200] = each(MODES, |mode| {
            Trial::new(&VECTOR_ADD, mode).set("n", 2048).set("block", block).run()
        })?;
        let fit = |done: &Done| {
            let launch = &done.report().launch;
            let warps = u64::from(launch.blocks_per_sm) * block.div_ceil(32);
            (launch.blocks_per_sm, warps, launch.limited_by.clone())
        };
        let (fermi, h200) = (fit(&fermi), fit(&h200));
        resident.push((block, fermi.1));
        table.row(
            block.to_string(),
            [
                fermi.0.into(),
                fermi.1.into(),
                fermi.2.into(),
                h200.0.into(),
                h200.1.into(),
                h200.2.into(),
            ],
        );
    }
    let most = resident.iter().map(|r| r.1).max().unwrap_or(0);
    let large = resident.last().copied().unwrap_or_default();
    Ok(Findings {
        short: format!(
            "Only whole blocks fit: on a Fermi SM, blocks of {} threads leave {} warps resident, \
             the best sizes {most}.",
            large.0, large.1
        ),
        tables: vec![table],
        sentences: vec![
            "The resource that runs out first decides: block slots for small blocks, thread or \
             warp slots for large ones, registers or shared memory if each block needs much."
                .to_owned(),
            "A block size that does not divide the thread slots of the SM leaves the rest empty; a \
             large block also keeps its slots until its last warp has ended."
                .to_owned(),
        ],
        ..Findings::default()
    })
}
