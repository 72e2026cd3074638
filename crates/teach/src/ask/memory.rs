//! Sectors of global memory and bank conflicts of shared memory.

use super::lab::{Done, MODES, Trial, each};
use super::programs::*;
use super::{AskError, Experiment, Findings, Source};
use simt_core::spec::Mode;
use simt_report::FigureTable;
use simt_report::numbers::{grouped, real};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "coalescing",
        question: "My threads read every second (fourth, ..) element: what does that cost?",
        programs: &[STRIDED_LOAD],
        sources: &[Source {
            says: "CUDA C++ Best Practices Guide: strided accesses",
            place: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#strided-accesses",
        }],
        on_h200: Some(
            "In the reduction with renumbered threads (stride 2s) a load request touched 12.5 \
             sectors on average, in the interleaved one 3.2, with the same number of requests: \
             0.111 ms against 0.092 ms for 2^24 integers.",
        ),
        find: coalescing,
    },
    Experiment {
        name: "memory-both-sides",
        question: "Both sides of a branch read the same array: do their loads still coalesce?",
        programs: &[LOAD_BOTH_SIDES],
        sources: &[Source {
            says: "The CUDA guide: only the active threads of a warp instruction coalesce",
            place: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#device-memory-accesses",
        }],
        on_h200: None,
        find: both_sides,
    },
    Experiment {
        name: "bank-conflicts",
        question: "When do threads cause shared-memory bank conflicts, and what does a conflict \
                   cost?",
        programs: &[CALIBRATE_NEAR_MEMORY],
        sources: &[
            Source {
                says: "Bank conflicts of two-dimensional blocks",
                place: "https://stackoverflow.com/questions/26513698",
            },
            Source {
                says: "What is a bank conflict?",
                place: "https://stackoverflow.com/questions/5029221",
            },
        ],
        on_h200: Some(
            "Strides of 1, 2, 4, 8, 16, 32, 33 words add 0, 2, 6, 14, 30, 62, 0 cycles to each \
             dependent load: two cycles per additional pass.",
        ),
        find: bank_conflicts,
    },
    Experiment {
        name: "texture-or-shared",
        question: "A convolution reads each pixel nine times: by texture, or through shared memory?",
        programs: &[CUDA_CONVOLVE_TEXTURE, CUDA_CONVOLVE_SHARED],
        sources: &[
            Source {
                says: "Separable convolutions with tiles in shared memory, and with textures",
                place: "Podlozhnyuk: Image Convolution with CUDA, NVIDIA, 2007",
            },
            Source {
                says: "The texture cache is optimized for 2D spatial locality",
                place: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#texture-and-surface-memory",
            },
        ],
        on_h200: None,
        find: texture_or_shared,
    },
];

fn texture_or_shared() -> Result<Findings, AskError> {
    let columns = ["", "by texture", "by shared memory"];
    let mut table = FigureTable::new(
        "An image of 512 x 256 pixels, 3 x 3 weights, blocks of 16 x 16, volta",
        &columns,
    );
    let run = |program: &'static Bundled| {
        Trial::new(program, Mode::Volta).set("width", 512).set("height", 256).run()
    };
    let [texture, shared] = [run(&CUDA_CONVOLVE_TEXTURE)?, run(&CUDA_CONVOLVE_SHARED)?];
    let rows = [
        ("instructions", "inst_executed"),
        ("global load requests", "gld_requests"),
        ("texture requests", "tex_cache_requests"),
        ("texture sectors", "tex_cache_transactions"),
        ("shared loads", "shared_load_requests"),
        ("bytes read from DRAM", "dram_read_bytes"),
        ("h200 cycles", "launch_cycles"),
    ];
    for (name, metric) in rows {
        table.row(name, [texture.count(metric)?.into(), shared.count(metric)?.into()]);
    }
    let [fetched, tiled] = [texture.count("launch_cycles")?, shared.count("launch_cycles")?];
    let word = if fetched < tiled { "fewer" } else { "more" };
    Ok(Findings {
        short: format!(
            "By texture it takes {word} cycles here: {} against {}.",
            grouped(fetched),
            grouped(tiled)
        ),
        tables: vec![table],
        sentences: vec![
            "The nine fetches of neighbours hit in the cache that texture and L1 share, so DRAM \
             sends each pixel about once either way."
                .to_owned(),
            "The texture unit clamps coordinates at the edges, and needs no tile and no barrier. It \
             takes one fetch of a warp in eight cycles, so more weights make it the bottleneck; \
             shared memory serves a warp in each cycle."
                .to_owned(),
            "Rate and latency of fetches that hit in the cache were measured on an H100. Fetches \
             that miss take too long here: of this kernel with 1,024 x 1,024 pixels an H100 takes \
             22,009 cycles, simulated 33,147."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn coalescing() -> Result<Findings, AskError> {
    let columns =
        ["stride, offset", "requests", "sectors, pre-volta", "sectors, volta", "efficiency %"];
    let mut table = FigureTable::new("One warp loads 32 words with a given stride", &columns);
    let cases = [(1, 0), (1, 1), (1, 8), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0)];
    let sectors = each(cases, |(stride, offset)| {
        let run = |mode| {
            Trial::new(&STRIDED_LOAD, mode).set("stride", stride).set("offset", offset).run()
        };
        let [before, since] = each(MODES, run)?;
        table.row(
            format!("{stride}, {offset}"),
            [
                since.count("gld_requests")?.into(),
                before.loads()?.sectors.into(),
                since.loads()?.sectors.into(),
                since.real("gld_efficiency")?.into(),
            ],
        );
        Ok(since.loads()?.sectors)
    })?;
    Ok(Findings {
        short: format!(
            "Still one request, but more 32-byte sectors: {} for adjacent words, {} for every \
             second word, {} for every eighth or more.",
            sectors[0], sectors[3], sectors[5]
        ),
        tables: vec![table],
        sentences: vec![
            format!(
                "Words in one sector are transferred together. Starting one word late touches one \
                 more sector ({} instead of {}); starting on a sector boundary costs nothing \
                 extra.",
                sectors[1], sectors[0]
            ),
            "Unused bytes of a sector are wasted bandwidth. This is not divergence: all lanes are \
             active in each of these loads."
                .to_owned(),
        ],
        ..Findings::default()
    })
}

fn both_sides() -> Result<Findings, AskError> {
    let columns = [
        "program",
        "requests, pre-volta",
        "sectors, pre-volta",
        "requests, volta",
        "sectors, volta",
        "efficiency %",
    ];
    let mut table = FigureTable::new("32 lanes read 32 adjacent words", &columns);
    let [(once, whole), (twice, split)] =
        each([("one load for all", 0), ("a load in each side", 1)], |(name, flag)| {
            let [before, since] =
                each(MODES, |mode| Trial::new(&LOAD_BOTH_SIDES, mode).set("split", flag).run())?;
            let row = |done: &Done| done.loads().map(|load| (load.requests, load.sectors));
            let (then, now) = (row(&before)?, row(&since)?);
            table.row(
                name,
                [
                    then.0.into(),
                    then.1.into(),
                    now.0.into(),
                    now.1.into(),
                    since.real("gld_efficiency")?.into(),
                ],
            );
            Ok(now)
        })?;
    Ok(Findings {
        short: format!(
            "Only within a side: {once} request of {whole} sectors becomes {twice} requests with \
             {split} sectors in total.",
        ),
        tables: vec![table],
        sentences: vec![
            "A request belongs to one instruction of one warp, and the two sides are two \
             instructions. Even and odd lanes share every sector, so each sector is requested \
             twice; the second request hits in L1."
                .to_owned(),
            "Load data that both sides need before the branch.".to_owned(),
        ],
        ..Findings::default()
    })
}

fn bank_conflicts() -> Result<Findings, AskError> {
    let columns =
        ["stride in words", "ways, pre-volta", "ways, volta", "h200 cycles", "added a load"];
    let title =
        "64 loads of one warp, each with the address that the one before has read; 32 banks";
    let mut table = FigureTable::new(title, &columns);
    let (loops, loads) = (4, 64);
    let run = |mode, stride: u64| {
        let trial = Trial::new(&CALIBRATE_NEAR_MEMORY, mode).kernel("shared_load");
        trial.set("stride", stride).set("loops", loops).run()
    };
    // The kernel reads the clock before the first load and when the last has issued.
    let cycles = |done: &Done| match *done.words("out")? {
        [start, end, ..] => Ok(u64::from(end.wrapping_sub(start))),
        _ => Err(AskError::Missing {
            program: CALIBRATE_NEAR_MEMORY.path.to_owned(),
            what: "pair of times".to_owned(),
        }),
    };
    let free = cycles(&run(Mode::Volta, 1)?)?;
    let figures = each([1, 2, 4, 8, 16, 32, 33, 0], |stride| {
        let [before, since] = each(MODES, |mode| run(mode, stride))?;
        let ways =
            |done: &Done| Ok::<u64, AskError>(done.count("shared_load_transactions")? / loads);
        let taken = cycles(&since)?;
        let added = (taken as f64 - free as f64) / (loads - 1) as f64;
        table.row(
            stride.to_string(),
            [ways(&before)?.into(), ways(&since)?.into(), taken.into(), added.into()],
        );
        Ok((ways(&since)?, added))
    })?;
    Ok(Findings {
        short: format!(
            "When two lanes access different words in one bank: a stride of 2 takes {} passes, of \
             32 takes {}, and of 33 only {}.",
            figures[1].0, figures[5].0, figures[6].0
        ),
        tables: vec![table],
        sentences: vec![
            format!(
                "Word w lies in bank w % 32. A stride that shares a factor with 32 uses fewer \
                 banks; an odd stride uses all. A 2-way conflict adds {} cycles to every load, a 32-way \
                 one {}, unless the warp has other work until the word comes.",
                real(figures[1].1),
                real(figures[5].1)
            ),
            "Lanes that read the same word (stride 0) share it in a broadcast, without a conflict. \
             The usual remedy is a padding column: 33 words per row instead of 32."
                .to_owned(),
        ],
        ..Findings::default()
    })
}
