use super::*;
use crate::run::tests::{sample, stuck};
use crate::run::{Ending, RunInput};
use simt_core::observe::samples;

fn plain(input: RunInput, width: usize) -> String {
    text(&Run::build(input), Style { width, color: false })
}

/// Lines with runs of spaces collapsed, so that tests compare content and not columns.
fn squeezed(report: &str) -> Vec<String> {
    report.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_known_run_reads_as_it_should() {
    let lines = squeezed(&plain(sample(samples::neighbored), 100));
    let mut rest = lines.iter();
    for expected in [
        "programs/reduce.ir: reduce, volta on teaching (1 SM)",
        "grid 1 x block 512, 16 warps; n = 16,777,216, offset = -4",
        "note: blocks communicate, so SMs ran interleaved",
        "",
        "Result",
        "ok out == block_sum(in)",
        "FAILED sum(out) == 7: found 8",
        "Time",
        "inst_per_warp 62.81 inst/warp smsp__average_inst_executed_per_warp.ratio",
        "join_instructions 144 inst",
        "Divergence",
        "conditional_branches 144 branch",
        "divergent_branch 95 branch smsp__sass_branch_targets_threads_divergent.sum",
        "branch_efficiency 34.03 % smsp__sass_average_branch_targets_threads_uniform.pct",
        "W1 93 9.2 % ######",
        "W32 720 71.6 % ##################################################",
        "Branches",
        "21 @!p bra skip; 144 95 66.0 % 32.00 28.45 26",
        "Memory",
        "global load 190 4,088 510 2.68 62.7 % 0.0 %",
        "global store 95 2,044 255 2.68 - -",
        "gld_transactions_per_request 2.68 sector/request",
        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
        "barrier 288 66.7 % 0.25 stall_sync",
        "wait 144 33.3 % 0.13 stall_exec_dependency",
        "issued 1,005 63.6 % #########################",
        "issued, joins 144 9.1 % ###",
        "lost: barrier 288 18.2 % #######",
        "lost: no warp 144 9.1 % ###",
        "all 1,581 100.0 %",
    ] {
        assert!(
            rest.any(|line| line == expected),
            "missing or out of order: {expected}\n{}",
            lines.join("\n")
        );
    }
}

#[test]
fn a_hang_comes_first_with_its_lanes() {
    let lines = squeezed(&plain(stuck(), 100));
    let at = lines.iter().position(|line| line == "Result").unwrap();
    assert_eq!(
        lines[at + 1..at + 5],
        [
            "LIVELOCK: 31 lanes of warp 3 spin on what lane 3 holds",
            "block 0 warp 3, lanes 0-2, 4-31 (0xfffffff7): spin; line 7: bra.ne spin;",
            "block 0 warp 3, lane 3 (0x00000008): wait to reconverge; line 9: bra.ne spin;",
            "help: try --mode volta",
        ]
    );
}

#[test]
fn no_line_is_longer_than_the_width() {
    let mut long = sample(samples::neighbored_less);
    for step in &mut long.steps {
        step.text = format!("{}\t// {}", step.text, "a comment without an end ".repeat(20));
    }
    long.program = "x".repeat(300);
    long.totals.traffic[0][0].requests = u64::MAX / 64;
    long.totals.traffic[0][0].sectors = u64::MAX / 64;
    long.totals.traffic[0][0].requested_bytes = u64::MAX / 64;
    long.totals.elapsed_cycles = u64::MAX / 2;
    for input in [long, sample(samples::interleaved), stuck()] {
        for width in 60..=170 {
            let report = plain(input.clone(), width);
            for line in report.lines() {
                assert!(
                    line.chars().count() <= width,
                    "{} columns of {width}: {line}",
                    line.chars().count()
                );
                assert_eq!(line, line.trim_end(), "no blanks at the end");
            }
        }
    }
}

#[test]
fn colour_adds_codes_and_nothing_else() {
    let run = Run::build(sample(samples::neighbored));
    let colored = text(&run, Style { width: 80, color: true });
    let mut bare = String::new();
    let mut rest = colored.as_str();
    while let Some((before, code)) = rest.split_once('\x1b') {
        bare.push_str(before);
        rest = code.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert!(colored.contains("\x1b[1;31mFAILED\x1b[0m"));
    assert_eq!(bare, text(&run, Style { width: 80, color: false }));
}

#[test]
fn a_run_that_never_started_has_a_result_only() {
    let mut input = stuck();
    input.totals = samples::empty().finish();
    input.finish = Ending::Fault;
    let report = plain(input, 100);
    assert!(report.contains("FAULT: 31 lanes"));
    assert!(!report.contains("Divergence"));
}

#[test]
fn chosen_metrics_are_plain_numbers() {
    let run = Run::build(sample(samples::neighbored));
    let names = [
        "conditional_branches",
        " smsp__sass_average_branch_targets_threads_uniform.pct",
        "achieved_occupancy",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "dram__bytes_read.sum.per_second",
        "shared_efficiency",
    ];
    let text = selected(&run, &names).unwrap();
    let figures: String =
        text.lines().filter_map(|l| l.split("  # ").next()).map(|l| format!("{l}\n")).collect();
    assert_eq!(
        figures,
        "conditional_branches 144 branch\n\
         smsp__sass_average_branch_targets_threads_uniform.pct 34.027778 %\n\
         achieved_occupancy 0.0625\n\
         sm__warps_active.avg.pct_of_peak_sustained_active 6.25 %\n\
         dram__bytes_read.sum.per_second 3845667299.177736 byte/s\n\
         shared_efficiency n/a\n"
    );
    let error = selected(&run, &["conditional_branches", "ipcc"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown metric `ipcc`; did you mean `ipc`?; `simt-sim metrics` lists all metrics"
    );
}

#[test]
fn words_wrap_and_long_words_break() {
    for (text, width, wrapped) in [
        ("one two three", 9, "> one two\n  three"),
        ("", 9, "> "),
        ("abcdefghijklm x", 7, "> abcde\n  fghij\n  klm x"),
        ("a\u{7}b c", 80, "> ab c"),
    ] {
        assert_eq!(wrap(text, width, "> ", "  "), wrapped);
    }
    assert_eq!(layout::clip("a\tlong line", 8), "a long..");
    assert_eq!(layout::bar(1, u64::MAX, 50), "#");
    assert_eq!(layout::bar(0, 0, 50), "");
}
