//! L1, L2 and DRAM traffic of nvcc's kernels at 2^24 integers, against an H200's hardware counters.
//!
//! One SM is simulated, as in `h200`, with its share of L2, on which its time depends; its counts
//! are multiplied by the ratio of the grid's blocks to its own. (Counters of all SMs' L2 are in
//! docs/reference/validation.md.) Rows of the profile omitted here: one block of 512, whose 64
//! sectors are lost among the 900 that an empty launch reads of L2 and the 5 KB that it reads of
//! DRAM; the square waves, which read 16 KB in all, mostly code; and two kernels of even and odd
//! threads whose text is not here. The stores of `even_odd.ptx` were measured instead.

use simt_core::Job;
use simt_core::base::BlockId;
use simt_core::event::{AccessWay, Event, MemoryKind, Observer};

use super::{count, program, run_on, set, usual};
use crate::support::{launch, machine};

/// Tolerance of bytes written: 2.1 to 2.5 MB were dirty in L2 before a launch that only reads (the
/// shared-memory kernels below, and `stream` in docs/reference/validation.md), and 0.4 MB for one
/// word per block, many of which share a line, but which a single SM counts for each block.
const DIRTY_NOISE: f64 = 6e5;
/// Sectors that L2 counts beyond a kernel's own, and between runs: 50,178 to 52,948 writes were
/// counted for the same 32,768 stores.
const L2_NOISE: f64 = 3_000.0;

/// Counters of a launch of 2^24 threads in blocks of 512.
struct Counted {
    file: &'static str,
    /// `l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum`
    l1_hits: f64,
    /// `lts__t_sectors_op_read.sum`, `.._op_write.sum`
    l2: [f64; 2],
    /// `dram__bytes_read.sum`, `dram__bytes_write.sum`
    dram: [f64; 2],
    /// Tolerance of the bytes written, in percent.
    written: f64,
}

const COUNTED: [Counted; 5] = [
    Counted {
        file: "cuda/reduce_neighbored.ptx",
        l1_hits: 14_647_290.0,
        l2: [3_147_923.0, 12_586_250.0],
        dram: [67_117_312.0, 42_953_728.0],
        written: 3.0,
    },
    Counted {
        file: "cuda/reduce_neighbored_less.ptx",
        l1_hits: 14_647_295.0,
        l2: [3_149_481.0, 12_593_611.0],
        dram: [67_114_496.0, 43_151_360.0],
        written: 3.0,
    },
    Counted {
        file: "cuda/reduce_interleaved.ptx",
        l1_hits: 2_260_992.0,
        l2: [3_145_112.0, 3_292_268.0],
        dram: [67_119_872.0, 16_055_040.0],
        // The one word per block has its own line here, and shares a line with 32 blocks on the
        // GPU: it occupies more space and is written back for each block. (With counters of a whole
        // GPU, of one L2: -1.1 %.)
        written: 9.0,
    },
    Counted {
        file: "cuda/shared_doubling.ptx",
        l1_hits: 0.0,
        l2: [3_150_410.0, 52_948.0],
        dram: [67_122_688.0, 2_508_800.0],
        written: 0.0,
    },
    Counted {
        file: "cuda/shared_halving.ptx",
        l1_hits: 0.0,
        l2: [3_134_719.0, 50_178.0],
        dram: [67_115_520.0, 2_224_384.0],
        written: 0.0,
    },
];

/// Traffic of one SM.
#[derive(Default)]
struct Traffic {
    blocks: u32,
    l1_hits: u64,
    l2: [u64; 2],
    dram: [u64; 2],
}

impl Observer for Traffic {
    fn on(&mut self, event: Event) {
        match event {
            Event::Memory { traffic: t, .. } if t.memory == MemoryKind::Global => {
                let (asked, way) = match t.kind {
                    AccessWay::Load => (t.l2_hits + t.dram, 0),
                    AccessWay::Store => (t.sectors - t.combined, 1),
                    AccessWay::Atomic => return,
                };
                self.l1_hits += u64::from(t.l1_hits);
                self.l2[way] += u64::from(asked + t.l2_crossed);
                self.dram[0] += 32 * u64::from(t.dram);
                self.dram[1] += 32 * u64::from(t.written_back);
            }
            Event::SmEnd { blocks, .. } => self.blocks = blocks,
            _ => {}
        }
    }

    fn merge(&mut self, _: Traffic) {}
}

/// Returns the traffic of block 0's SM at 2^24 threads, and the factor from it to the whole GPU.
fn one_sm(file: &str) -> (Traffic, f64) {
    let (program, spec) = (program(file), machine("h200"));
    let options = usual(&spec, spec.modes[0]);
    let (kernel, launch) =
        launch(&program, &set(&[("n", 1 << 24), ("block", 512)])).unwrap_or_else(|e| panic!("{e}"));
    let seen =
        Job::new(&program, kernel, launch, &spec, options).watch(BlockId(0), Traffic::default);
    let traffic = seen.unwrap_or_else(|e| panic!("{e}")).observer;
    let share = f64::from(1 << 15) / f64::from(traffic.blocks);
    (traffic, share)
}

/// Panics unless `found` is within `percent` of `measured`, or within `noise`.
fn close(what: &str, found: f64, measured: f64, percent: f64, noise: f64) {
    let most = (percent / 100.0 * measured).max(noise);
    assert!((found - measured).abs() <= most, "{what}: {found:.0}, measured {measured:.0}");
}

#[test]
#[ignore = "long: 2^24 threads"]
fn long_l1_l2_and_dram_see_what_they_see_on_the_gpu() {
    for counted in &COUNTED {
        let (found, share) = one_sm(counted.file);
        let of = |n: u64| n as f64 * share;
        let what = |name: &str| format!("{}, {name}", counted.file);
        close(&what("L1 hits"), of(found.l1_hits), counted.l1_hits, 2.0, 0.0);
        close(&what("L2 reads"), of(found.l2[0]), counted.l2[0], 2.0, L2_NOISE);
        close(&what("L2 writes"), of(found.l2[1]), counted.l2[1], 2.0, L2_NOISE + 1_000.0);
        close(&what("DRAM read"), of(found.dram[0]), counted.dram[0], 2.0, 0.0);
        close(
            &what("DRAM written"),
            of(found.dram[1]),
            counted.dram[1],
            counted.written,
            DIRTY_NOISE,
        );
    }
}

/// All blocks read one line, and each stores a word: for the GPU's counters, one SM's fetch into L2
/// serves the others.
#[test]
fn what_all_sms_read_comes_from_dram_once() {
    let done = run_on(&program("../tests/regressions/read_by_all_sms.ir"), "h200", &[]);
    assert_eq!(
        count(&done, "dram_read_bytes"),
        128,
        "as large as it is, not once for each of 64 SMs"
    );
    let crossed = 4; // the first reader attached to the other partition brings it over for all
    assert_eq!(
        count(&done, "l2_read_transactions"),
        64 * 4 + crossed,
        "each SM asks for all of it"
    );
}

/// Reads one array and writes another: 54,957,056 bytes written, 134,229,760 read.
#[test]
#[ignore = "long: 2^24 threads"]
fn long_a_copy_is_written_back_as_on_the_gpu() {
    let (found, share) = one_sm("cuda/even_odd.ptx");
    close("read", found.dram[0] as f64 * share, 134_229_760.0, 2.0, 0.0);
    close("written", found.dram[1] as f64 * share, 54_957_056.0, 2.0, 0.0);
}
