//! Figures of single warps and whole grids, against counts made here.

use std::collections::BTreeSet;

use super::{ask, count, counts, real, word};

const MODES: [&str; 2] = ["pre-volta", "volta"];

#[test]
fn an_if_else_costs_the_sides_that_lanes_take() {
    // Instructions: seven up to the branch, five fall through, four on the taken side, two after.
    let branch = |low: u64| 7 + 2 + if low < 32 { 5 } else { 0 } + if low > 0 { 4 } else { 0 };
    let split = |low: u64| u64::from(!low.is_multiple_of(32));
    let answer = ask("same-path");
    for low in [0, 16, 32] {
        let figures = counts(
            &answer,
            &format!("{low} of 32"),
            ["pre-volta inst", "volta inst", "divergent branches"],
        );
        assert_eq!(figures, [branch(low), branch(low), split(low)]);
    }
    let answer = ask("predication");
    for low in [0, 1, 16, 32] {
        let columns =
            ["inst, branch", "inst, predicated", "divergent, branch", "divergent, predicated"];
        // Without the two jumps, and always with both sides.
        assert_eq!(
            counts(&answer, &format!("{low} of 32"), columns),
            [branch(low), 6 + 8 + 2, split(low), 0]
        );
    }
    let answer = ask("ternary");
    for (form, inst, branches, active, working) in [
        ("branch", 18, 1, 24.0, 416.0 / 18.0),
        ("predicates", 16, 0, 32.0, 24.0),
        ("select", 17, 0, 32.0, 32.0),
    ] {
        assert_eq!(
            counts(&answer, form, ["inst", "branches", "divergent"]),
            [inst, branches, branches]
        );
        assert_eq!(
            [real(&answer, form, "active lanes"), real(&answer, form, "working lanes")],
            [active, working],
            "{form}"
        );
        // As in Nsight Compute, also without a branch.
        assert_eq!(real(&answer, form, "branch efficiency %"), 0.0);
    }
}

#[test]
fn orders_of_sides() {
    let answer = ask("side-order");
    for (row, branch) in [
        ("1", 1),
        ("8", 8),
        ("16", 16),
        ("24", 24),
        ("31", 31),
        ("24 (the upper)", 24),
        ("8 (the upper)", 8),
    ] {
        // Measured on the H200; here a Fermi runs the taken side first.
        let fewer = if branch < 32 - branch { "taken" } else { "fall-through" };
        let columns = ["pre-volta", "volta", "order taken", "order fall-through"];
        assert_eq!(
            columns.map(|c| word(&answer, row, c)),
            ["taken", fewer, "taken", "fall-through"],
            "{row}"
        );
    }
    let answer = ask("race");
    let sum: u64 = (0..32_u64)
        .map(|i| if i < 16 { ((i * 3 + 7) ^ 21) + 5 } else { ((i * 5 + 11) ^ 42) + 3 })
        .sum();
    for (order, last) in [("taken", 1), ("fall-through", 2), ("fewer", 2), ("more", 2)] {
        let columns =
            ["racy, pre-volta", "racy, volta", "no race: sum, pre-volta", "no race: sum, volta"];
        assert_eq!(counts(&answer, order, columns), [last, last, sum, sum], "{order}");
    }
}

#[test]
fn loops() {
    let answer = ask("trip-counts");
    for mode in MODES {
        let columns = ["body issues", "longest lane", "all lanes' trips", "lanes x issues"];
        assert_eq!(counts(&answer, mode, columns), [31, 31, 496, 992]);
        assert_eq!(real(&answer, mode, "efficiency %"), 50.0);
    }
    let answer = ask("uniform-loop");
    for by in [32, 16, 8, 1_u64] {
        let trips = |t: u64| t / by + 1;
        let longest = |warp: u64| trips(32 * warp + 31);
        let issues: u64 = (0..4).map(longest).sum();
        let lanes: u64 = (0..128).map(trips).sum();
        // Each group of lanes but the last diverges from others.
        let divergent = 4 * (32 / by - 1);
        let columns = ["body issues", "lanes at work", "loop branches", "divergent"];
        assert_eq!(
            counts(&answer, &by.to_string(), columns),
            [issues, lanes, issues, divergent],
            "by {by}"
        );
    }
    let answer = ask("break");
    let trips = |lane: u64| (0..).find(|k| k * k > lane).unwrap_or(0) + 1;
    let leave: BTreeSet<u64> = (0..32).map(trips).collect();
    for mode in MODES {
        let columns =
            ["trips issued", "lanes' trips", "divergent exits", "lanes together behind the loop"];
        let expected = [trips(31), (0..32).map(trips).sum(), leave.len() as u64 - 1, 32];
        assert_eq!(counts(&answer, mode, columns), expected, "{mode}");
    }
}

#[test]
fn nesting_and_exits() {
    let answer = ask("nested");
    // The H200 ran the leaves 11, 10, 01, 00; taken side first gives the reverse.
    for (place, leaf) in (1..).zip(["11", "10", "01", "00"]) {
        assert_eq!(
            counts(&answer, leaf, ["lanes", "place, volta", "place, pre-volta"]),
            [8, place, 5 - place],
            "{leaf}"
        );
    }
    let answer = ask("stack-example");
    for depth in 0..5_u32 {
        let inside = |lane: u32| (0..depth).all(|bit| lane >> bit & 1 == 1);
        let mask = (0..32).filter(|&l| inside(l)).fold(0_u32, |mask, lane| mask | 1 << lane);
        let row = depth.to_string();
        assert_eq!(word(&answer, &row, "mask"), format!("0x{mask:08x}"));
        let expected = [mask.count_ones().into(), u64::from(depth) + 1];
        assert_eq!(counts(&answer, &row, ["active lanes", "entries on the stack"]), expected);
    }
    let answer = ask("switch");
    for mode in MODES {
        assert_eq!(
            counts(&answer, mode, ["conditional branches", "divergent", "cases run"]),
            [3, 3, 4]
        );
    }
    let answer = ask("k-paths");
    for column in ["volta (h200) cycles", "pre-volta (fermi) cycles"] {
        let time = |k: u64| count(&answer, &k.to_string(), column);
        let slope = time(3) - time(2);
        for k in [4, 8, 16, 32] {
            assert_eq!(time(k), time(2) + slope * (k - 2), "linear: {k} paths, {column}");
        }
    }
    let answer = ask("early-return");
    for (stay, inst, divergent) in [("32", 4 + 6, 0), ("20", 4 + 1 + 6, 1)] {
        assert_eq!(
            counts(&answer, stay, ["pre-volta inst", "volta inst", "divergent branches"]),
            [inst, inst, divergent]
        );
    }
    let answer = ask("return-in-nested-if");
    for mode in MODES {
        assert_eq!(
            counts(&answer, mode, ["times Y is issued", "lanes at X", "lanes that returned"]),
            [1, 8, 8]
        );
        assert_eq!(word(&answer, mode, "mask at Y"), "0x77777777", "as on the H200");
    }
}

#[test]
fn warps_that_diverge_in_a_grid() {
    let answer = ask("picture-warps");
    let pictures: [(u64, u64); 6] =
        [(200, 150), (150, 200), (208, 150), (200, 160), (600, 800), (800, 600)];
    for (width, height) in pictures {
        let (across, down) = (width.div_ceil(16), height.div_ceil(16));
        let mut divergent = 0;
        for (block_x, row) in (0..across).flat_map(|x| (0..down * 8).map(move |r| (x, 2 * r))) {
            let inside = |lane: u64| block_x * 16 + lane % 16 < width && row + lane / 16 < height;
            let lanes = (0..32).filter(|&lane| inside(lane)).count();
            divergent += u64::from(lanes > 0 && lanes < 32);
        }
        let columns = ["blocks", "warps", "divergent, pre-volta", "divergent, volta"];
        let expected = [across * down, across * down * 8, divergent, divergent];
        assert_eq!(
            counts(&answer, &format!("{width} x {height}"), columns),
            expected,
            "{width} x {height}"
        );
    }
    let answer = ask("ragged-end");
    let vectors: [(u64, u64); 3] = [(2000, 512), (2048, 512), (1000, 256)];
    for (n, block) in vectors {
        let columns = ["warps", "divergent, pre-volta", "divergent, volta"];
        let cut = u64::from(n % 32 != 0);
        assert_eq!(
            counts(&answer, &format!("{n}, {block}"), columns),
            [n.div_ceil(block) * block / 32, cut, cut]
        );
    }
    let answer = ask("warp-aligned");
    for (period, heavy) in [(64, 32), (32, 16), (62, 31), (66, 33), (256, 128_u64)] {
        let is_heavy = |t: u64| t % period < heavy;
        let mixed = |w: &u64| {
            let lanes = (0..32).filter(|l| is_heavy(32 * w + l)).count();
            lanes > 0 && lanes < 32
        };
        let mixed = (0..248).filter(mixed).count() as u64;
        let columns = ["mixed warps, pre-volta", "mixed warps, volta", "warps"];
        assert_eq!(
            counts(&answer, &format!("{period}, {heavy}"), columns),
            [mixed, mixed, 248],
            "{period}"
        );
    }
}

#[test]
fn what_profilers_divide_by() {
    let answer = ask("branch-efficiency");
    let shown = |row| {
        ["branch efficiency %", "warp efficiency %", "with guards on %"]
            .map(|c| real(&answer, row, c))
    };
    assert_eq!(shown("blocks of 1 thread")[..2], [100.0, 100.0 / 32.0]);
    assert_eq!(shown("if/else as a branch")[..2], [0.0, 75.0]);
    assert_eq!(shown("if/else predicated"), [0.0, 100.0, 75.0]);
    let answer = ask("inst-per-warp");
    // Three instructions, the test of two 32 times, the body of three 31 times, five at the end.
    let (warp, threads) = (3 + 2 * 32 + 3 * 31 + 5, 3 * 32 + 2 * (496 + 32) + 3 * 496 + 5 * 32);
    for mode in MODES {
        let columns = ["inst_executed", "warps_launched", "thread_inst_executed"];
        assert_eq!(counts(&answer, mode, columns), [warp, 1, threads]);
        assert_eq!(real(&answer, mode, "inst_per_warp"), warp as f64);
    }
}

/// The words that a lane adds in a step of a reduction; `None` if it idles.
type Step = fn(u64, u64) -> Option<[u64; 2]>;

#[test]
fn reductions_step_by_step() {
    // Thread t in the step with stride s = 1, 2, .. 256 (interleaved: 256, 128, .. 1).
    let kernels: [(&str, Step); 3] = [
        ("neighbored", |t, s| (t % (2 * s) == 0).then_some([t, t + s])),
        ("neighbored, less", |t, s| (2 * s * t < 512).then_some([2 * s * t, 2 * s * t + s])),
        ("interleaved", |t, s| (t < 256 / s).then_some([t, t + 256 / s])),
    ];
    let (whole, steps) = (ask("reductions"), ask("reduction-steps"));
    for (name, step) in kernels {
        let (mut divergent, mut requests, mut sectors) = (Vec::new(), 1, 1); // thread 0 loads the sum
        for stride in (0..9).map(|i| 1 << i) {
            let mut split = 0;
            for warp in 0..16 {
                let words: Vec<[u64; 2]> =
                    (0..32).filter_map(|lane| step(32 * warp + lane, stride)).collect();
                split += u64::from(!words.is_empty() && words.len() < 32);
                requests += if words.is_empty() { 0 } else { 2 };
                for which in 0..2 {
                    sectors +=
                        words.iter().map(|w| w[which] / 8).collect::<BTreeSet<_>>().len() as u64;
                }
            }
            divergent.push(split);
        }
        let sum: u64 = divergent.iter().sum();
        let columns = ["step 1", "2", "3", "4", "5", "6", "7", "8", "9"];
        assert_eq!(counts(&steps, name, columns).to_vec(), divergent, "{name}");
        assert_eq!(counts(&steps, name, ["sum", "of"]), [sum, 144]);
        let columns = ["divergent, pre-volta", "divergent, volta", "load requests", "load sectors"];
        assert_eq!(counts(&whole, name, columns), [sum, sum, requests, sectors], "{name}");
    }
    // Counters of the H200, 2^24 integers in 32,768 blocks.
    for (name, per_grid) in [
        ("neighbored", [3_112_960, 6_258_688, 16_744_448_u64]),
        ("neighbored, less", [163_840, 1_343_488, 16_744_448]),
        ("interleaved", [163_840, 1_343_488, 4_358_144]),
    ] {
        let block = counts(&whole, name, ["divergent, volta", "load requests", "load sectors"]);
        assert_eq!(block.map(|n| n * 32_768), per_grid, "{name}");
    }
}

#[test]
fn sectors_and_banks() {
    let answer = ask("coalescing");
    for (stride, offset) in [(1, 0), (1, 1), (1, 8), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0_u64)] {
        let sectors =
            (0..32).map(|l| (offset + l * stride) / 8).collect::<BTreeSet<_>>().len() as u64;
        let columns = ["requests", "sectors, pre-volta", "sectors, volta"];
        assert_eq!(counts(&answer, &format!("{stride}, {offset}"), columns), [1, sectors, sectors]);
    }
    let answer = ask("memory-both-sides");
    for (row, requests, sectors) in [("one load for all", 1, 4), ("a load in each side", 2, 8)] {
        let columns =
            ["requests, pre-volta", "sectors, pre-volta", "requests, volta", "sectors, volta"];
        assert_eq!(counts(&answer, row, columns), [requests, sectors, requests, sectors]);
    }
    let answer = ask("bank-conflicts");
    for stride in [1, 2, 4, 8, 16, 32, 33, 0_u64] {
        let words: BTreeSet<u64> = (0..32).map(|l| l * stride).collect();
        let ways =
            (0..32).map(|bank| words.iter().filter(|&w| w % 32 == bank).count()).max().unwrap_or(0)
                as u64;
        let row = stride.to_string();
        assert_eq!(
            counts(&answer, &row, ["ways, pre-volta", "ways, volta"]),
            [ways; 2],
            "stride {stride}"
        );
        // Two cycles per further pass, as on the H200.
        let added = real(&answer, &row, "added a load") - 2.0 * (ways - 1) as f64;
        assert!(added.abs() < 0.5, "stride {stride}: {added} cycles too many");
    }
}

#[test]
fn latency() {
    let answer = ask("latency-hiding");
    let per_warp = count(&answer, "1", "issued");
    for warps in 1..=8_u64 {
        let row = warps.to_string();
        let [cycles, issued] = counts(&answer, &row, ["cycles", "issued"]);
        assert_eq!(issued, warps * per_warp);
        // 32 loads of nine cycles in sequence, or all instructions, whichever takes longer.
        let bound = (32 * 9).max(issued);
        assert!(
            (bound..=bound + bound / 6).contains(&cycles),
            "{warps} warps: {cycles} cycles, at least {bound}"
        );
        assert_eq!(
            real(&answer, &row, "slots used %") > 99.5,
            warps >= 5,
            "{warps} warps: five hide a nine-cycle load"
        );
    }
    let answer = ask("divergent-latency");
    for mode in MODES {
        let [both, sum] = counts(&answer, mode, ["both sides", "sum of the sides"]);
        assert!(
            both.abs_diff(sum) <= sum / 100,
            "{mode}: {both} cycles, {sum} one after the other"
        );
    }
    let answer = ask("occupancy");
    let machines = [
        (48, 1536, 8, ["blocks on an SM, fermi", "warps, fermi"]),
        (64, 2048, 32, ["blocks, h200", "warps, h200"]),
    ];
    for block in [32, 64, 128, 192, 256, 512, 768, 1024_u64] {
        for (warps, threads, places, columns) in machines {
            let fit = places.min(threads / block).min(warps / (block / 32));
            assert_eq!(
                counts(&answer, &block.to_string(), columns),
                [fit, fit * block / 32],
                "{block} threads"
            );
        }
    }
}

#[test]
fn an_atomic_of_each_block_takes_less_than_a_second_launch() {
    let answer = ask("two-pass-sum");
    for n in ["4,096", "16,384", "65,536", "262,144"] {
        let columns = ["first launch", "second launch", "both", "atomics"];
        let [first, second, both, atomics] = counts(&answer, n, columns);
        assert_eq!(first + second, both, "{n}");
        assert!(atomics < both, "{n}: {atomics} of {both}");
    }
}

#[test]
fn a_barrier_of_the_grid_takes_less_than_a_second_launch() {
    let answer = ask("grid-barrier");
    for n in ["4,096", "16,384", "65,536", "262,144"] {
        let [one, two] = counts(&answer, n, ["one cooperative launch", "two launches"]);
        assert!(one < two, "{n}: {one} of {two}");
    }
}

#[test]
fn a_second_buffer_takes_more_instructions_and_less_time() {
    let answer = ask("double-buffer");
    for n in ["32", "64", "128"] {
        let [one, two] = counts(&answer, n, ["one buffer", "two buffers"]);
        assert!(two < one, "{n}: {two} of {one}");
        let [one, two] = counts(&answer, n, ["instructions, one", "instructions, two"]);
        assert!(one < two, "{n}: {one} {two}");
    }
}

/// An inner product of `n` numbers takes `n` FFMA of a thread, so 1/32 of a warp instruction each;
/// a tile of 16 x 16 takes two HMMA for each 16 of `n`.
#[test]
fn tensor_cores_save_more_than_the_multiplications() {
    let answer = ask("tensor-cores");
    for (row, n) in [("64", 64), ("128", 128)] {
        let [plain, tensor] = counts(&answer, row, ["warp instructions", "with tensor cores"]);
        let (multiplications, products) = (n * n * n / 32, n * n * n / 16 / 16 / 16 * 2);
        assert!(plain > multiplications && tensor > products, "{row}: {plain} {tensor}");
        assert!(plain - multiplications > tensor, "{row}: {plain} {tensor}");
        assert!(plain > 8 * tensor, "{row}: {plain} {tensor}");
    }
}

/// In a block, warp 0 diverges in the steps of stride 1 to 16, where some of its lanes have no
/// neighbour. All blocks but the first load each element and the total before them.
#[test]
fn a_scan_of_a_grid_diverges_in_five_steps_of_a_block() {
    let answer = ask("scan-launches");
    let columns = ["load requests", "divergent branches"];
    assert_eq!(counts(&answer, "scan of each block", columns), [64 * 8, 64 * 5]);
    assert_eq!(counts(&answer, "scan of the totals", columns), [2, 5]);
    assert_eq!(counts(&answer, "addition of earlier totals", columns), [63 * 8 * 2, 0]);
}
