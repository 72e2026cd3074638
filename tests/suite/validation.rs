//! docs/reference/validation.md and its appendix are the output of
//! `simt-sim crosscheck --suite --page`, and profilers' reports parse unchanged.
//!
//! The long tests hold the appendix, up to the large launches and whole;
//! `BLESS=1 cargo test --release --test suite -- --ignored validation` makes it anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use simt_core::launch::Overrides;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_report::Run;
use simt_report::metrics::{self, Basis};
use simt_report::simulate::simulate;

use super::support;

const PAGE: &str = "docs/reference/validation.md";
const APPENDIX: &str = "docs/reference/validation-programs.md";
/// Start of the part about large launches.
const LARGE: &str = "\n## Counters of large launches\n";
const RECORDED: [&str; 3] = ["crosscheck", "--recorded", "crates/gpu/observations/h200"];

/// Figures of the README by the metric whose row of the page they are from.
const SUMMARY: [(&str, &str); 6] = [
    ("global load requests", "gld_requests"),
    ("global store requests", "gst_requests"),
    ("shared-memory load wavefronts", "shared_load_transactions"),
    ("machine instructions", "inst_executed"),
    ("divergent branches", "divergent_branch"),
    ("cycles", "elapsed_cycles"),
];

/// Returns the numbers of a text.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|n| n.parse().ok()).collect()
}

/// The README rounds the page's errors to whole percents or a tenth.
#[test]
fn the_readme_has_the_figures_of_the_page() {
    let [readme, page] = ["README.md", PAGE].map(|path| fs::read_to_string(path).expect(path));
    for (figure, metric) in SUMMARY {
        let row = readme.lines().find(|line| line.starts_with(&format!("| {figure} ")));
        let row = row.unwrap_or_else(|| panic!("README.md: {figure}"));
        let [_, label, cells @ ..] = &row.split('|').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let means = numbers(label);
        let rows = page.lines().filter(|line| line.starts_with(&format!("| `{metric}` |")));
        let of_code: Vec<&str> = rows.take(2).collect();
        assert_eq!(of_code.len(), 2, "{metric}: a row of PTX and one of machine code");
        for (i, of_code) in of_code.into_iter().enumerate() {
            let held: Vec<f64> = of_code.split('|').skip(6).flat_map(numbers).collect();
            let [kernels, exact, within, mean] = held[..] else { panic!("{of_code}") };
            let stated = numbers(cells[i]);
            assert_eq!(stated[..2], [exact, kernels], "{figure}: {of_code}");
            let near = |stated: f64, figure: f64| (stated - figure).abs() <= 0.5;
            assert!(near(stated[2], within), "{figure}: {} %, {of_code}", stated[2]);
            assert!(means.get(i).is_none_or(|&stated| near(stated, mean)), "{figure}: {of_code}");
        }
    }
}

fn simt_sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .args(args)
        .env_remove("COLUMNS")
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn printed(args: &[&str]) -> String {
    let output = simt_sim(&[&RECORDED[..], args].concat());
    assert!(output.status.success(), "{args:?}: {}\n{}", output.status, text(&output.stderr));
    text(&output.stdout)
}

fn page(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn blesses() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// The page needs no run: its contents are recorded.
#[test]
fn the_page_is_what_the_suite_prints() {
    let printed = printed(&["--suite", "--page"]);
    if blesses() {
        fs::write(PAGE, &printed).expect("the page is written");
    }
    assert_eq!(printed, page(PAGE), "BLESS=1 writes the page anew");
    assert!(printed.lines().count() <= 170, "a page to read is a fraction of the appendix");
}

#[test]
#[ignore = "long: runs every program"]
fn long_the_appendix_is_what_the_suite_prints() {
    let quick = printed(&["--suite", "--page", "programs", "--quick"]);
    let old = page(APPENDIX);
    let (small, large) = old.split_once(LARGE).unwrap_or((&old, ""));
    if blesses() {
        let begin = quick.trim_end_matches('\n');
        fs::write(APPENDIX, format!("{begin}\n{LARGE}{large}")).expect("the page is written");
        return;
    }
    assert_eq!(
        quick, small,
        "BLESS=1 writes the page anew; the large launches need `-- --ignored`"
    );
}

#[test]
#[ignore = "long: 2^24 threads seven times"]
fn the_whole_appendix_is_what_the_suite_prints() {
    let whole = printed(&["--suite", "--page", "programs"]);
    if blesses() {
        fs::write(APPENDIX, &whole).expect("the page is written");
    }
    assert_eq!(whole, page(APPENDIX));
}

#[test]
#[ignore = "long: runs the suite twice"]
fn long_the_suite_says_the_same_as_json() {
    let json: serde_json::Value =
        serde_json::from_str(&printed(&["--suite", "programs/small", "--format", "json"]))
            .expect("JSON");
    assert_eq!(json["schema"], "simt-sim/validation/2");
    let programs = json["programs"].as_array().expect("programs");
    let of = |name: &str| {
        programs.iter().find(|p| p["program"].as_str().is_some_and(|n| n.ends_with(name)))
    };
    assert_eq!(of("/diamond.ir").expect("it is there")["memory"], "exact");
    let race = of("/hoisted_load.ir").expect("it is there");
    assert!(
        race["memory"].as_str().is_some_and(|m| m == "exact" || m.starts_with("differs: ")),
        "{race}"
    );
}

/// Tests a report of three launches in Nsight Compute's format, and the output for the one that
/// matches.
#[test]
fn counters_of_a_report_stand_beside_the_simulators() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ncu");
    fs::create_dir_all(&folder).expect("a folder");
    let report = folder.join("report.csv");
    let row = |grid: u32, metric: &str, unit: &str, value: &str| {
        format!(
            "\"0\",\"diamond(unsigned int *)\",\"(32, 1, 1)\",\"({grid}, 1, 1)\",\"{metric}\",\"{unit}\",\"{value}\"\n"
        )
    };
    let header = "==PROF== Disconnected\n\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
    let good = [
        header.to_string(),
        row(1, "smsp__sass_branch_targets_threads_divergent.sum", "", "1"),
        row(1, "smsp__warps_launched.sum", "warp", "1,000"),
        row(1, "smsp__pcsamp_sample_buffer_full.sum", "", "0"),
        row(7, "smsp__warps_launched.sum", "warp", "7"),
    ];
    let file = report.display().to_string();
    let run = |report_text: &str, more: &[&str]| {
        fs::write(&report, report_text).expect("a report");
        let args = [
            &[
                "crosscheck",
                "programs/small/diamond.ir",
                "--lowering",
                "as-written",
                "--ncu",
                &file,
            ],
            more,
        ]
        .concat();
        let output = simt_sim(&args);
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = run(&good.concat(), &[]);
    assert_eq!(code, Some(0), "{err}");
    let lines: Vec<String> =
        out.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "smsp__sass_branch_targets_threads_divergent.sum 1 1 exact branch",
        "smsp__warps_launched.sum 1 1,000 -99.9 % warp",
        "1 of 2 counters are exact; 1 of the report's counters are not simulated.",
    ] {
        assert!(lines.iter().any(|l| l == line), "{line}\n{out}");
    }
    let (code, _, err) = run(&good.concat(), &["--grid", "2"]);
    assert_eq!(code, Some(6), "{err}");
    assert!(err.contains("grid 7x1x1"), "{err}");
    let (code, _, err) = run(&good.concat().replace("1,000", "1,00"), &[]);
    assert_eq!(code, Some(2), "{err}");
    assert!(
        err.contains("line 4: smsp__warps_launched.sum: expected a number, found `1,00`"),
        "{err}"
    );
}

/// Returns a machine with the same rules, other times and smaller caches.
fn other_times(machine: &Machine) -> Machine {
    crate::support::changed(machine, |spec| {
        let memory = &mut spec.memory;
        memory.l2.latency *= 2;
        memory.l2.bytes /= 64;
        memory.dram_latency *= 3;
        memory.shared_latency += 17;
        memory.atomic_latency *= 2;
        memory.l2_bytes_per_cycle /= 3.0;
        memory.dram_bytes_per_cycle /= 5.0;
        if let Some(l1) = &mut memory.l1 {
            l1.latency *= 3;
            l1.bytes /= 64;
        }
        (spec.branch_taken, spec.barrier.base, spec.block_start) = (17, 40, 90);
        spec.prices.values_mut().for_each(|price| price.latency = price.latency * 2 + 3);
    })
}

/// Checks the classification of metrics: counts do not depend on times, the others do where they
/// occur.
#[test]
fn counts_depend_on_no_time_and_estimates_do() {
    let usual = support::machine("h200");
    let other = other_times(&usual);
    let (mut same, mut changed) = (BTreeSet::new(), BTreeSet::new());
    for file in [
        "programs/reduce_neighbored.ir",
        "programs/cuda/reduce_atomic.ptx",
        "programs/cuda/shared_doubling.ptx",
        "programs/cuda/call_struct.ptx",
        "programs/cuda/square_wave.ptx",
        "programs/small/shared_conflicts.ir",
        "programs/small/strided_load.ir",
    ] {
        let text = fs::read_to_string(file).expect("a readable file");
        let program = Program::parse(file, &text);
        let small = if text.contains("1 << 24") {
            vec![("n".to_owned(), "1 << 13".to_owned())]
        } else {
            Vec::new()
        };
        let run = |spec: &Machine| -> Run {
            let (kernel, launch) = support::launch(
                &program,
                &Overrides { set: small.clone(), ..Overrides::default() },
            )
            .unwrap_or_else(|e| panic!("{file}: {e}"));
            let options = support::options(Mode::Volta, spec.side_order(), 100_000_000);
            simulate(Job::new(&program, kernel, launch, spec, options.clone()), &())
                .unwrap_or_else(|e| panic!("{file}: {e}"))
                .run
        };
        let (a, b) = (run(&usual), run(&other));
        for metric in metrics::all() {
            match (a.metric(metric.name), b.metric(metric.name)) {
                (None, None) => {}
                (a, b) if a == b => _ = same.insert(metric.name),
                (a, b) => {
                    assert_eq!(
                        metric.basis(),
                        Basis::Model,
                        "{file}: {} is {a:?} and {b:?}",
                        metric.name
                    );
                    changed.insert(metric.name);
                }
            }
        }
    }
    assert!(
        changed.len() > 30 && same.len() > 30,
        "{} change, {} do not",
        changed.len(),
        same.len()
    );
}
