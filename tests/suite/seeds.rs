//! `docs/reference/seeds.md`: it shows the runs' results, and verdicts based on arithmetic alone
//! are correct.

use std::fs;
use std::path::Path;

use simt_teach::ask::seeds;

const PAGE: &str = "docs/reference/seeds.md";

#[test]
#[ignore = "long: every experiment of the page"]
fn long_the_page_is_what_the_runs_give() {
    let page = seeds().unwrap_or_else(|e| panic!("{e}"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(PAGE, &page).expect("the page");
    }
    let committed = fs::read_to_string(PAGE).unwrap_or_default();
    let differ = committed.lines().zip(page.lines()).find(|(a, b)| a != b);
    assert!(committed == page, "{PAGE} is not up to date (BLESS=1 rewrites it): {differ:?}");
}

/// Whatever the runs give.
#[test]
fn the_page_agrees_with_closed_forms() {
    let page = fs::read_to_string(PAGE).expect("the page");
    for line in [
        "| simple: lanes paid for | 736 | 864 | 864 (counted) | the same | refuted |",
        "| convergent: lanes paid for | 384 | 384 |",
        "| second kernel: passes a load | - | 4.75 | 4.75 (counted) | the same | agrees |",
        "| 62, 31 | 100 | 100 | 256 | 2 |",
        "| 66, 33 | 93.94 | 96.97 |",
        "| stride doubling | 16 | 16 | 16 | 16 | 16 | 8 | 4 | 2 | 1 | 95 |",
        "| stride halving | 0 | 0 | 0 | 0 | 1 | 1 | 1 | 1 | 1 | 5 |",
        "| warps that fill every issue slot | 5 | 5 | - | the same | reproduced |",
        "| 62 / 32 | 0.78 |",
        "| 2 paths: active lanes in a path | 16 | 16 | 16 | the same | reproduced |",
        "| 32 paths: active lanes in a path | 1 | 1 | 1 | the same | reproduced |",
        "| constants selected: 32 paths / 1 path | 1 | 1 | 1 | the same | reproduced |",
        "| arms predicated: split / agree | 1 | 1 | 1 | the same | reproduced |",
        "| beyond it | 0 | 0 |",
        "| doubling, step 2 | t0: 0..3, t4: 4..7 | t0: 0..3, t4: 4..7 | - | the same | reproduced |",
    ] {
        assert!(page.lines().any(|l| l.starts_with(line)), "the page lacks `{line}`");
    }
    // Only where the model is known to be inaccurate.
    let off = |l: &&str| l.ends_with("| not reproduced |") || l.ends_with("| differs |");
    let off: Vec<&str> = page.lines().filter(off).filter_map(|l| l.split(" | ").next()).collect();
    assert_eq!(off, ["| M2070: neighbored / less"]);
}

/// Each line of the page that starts with a name and has a number behind it.
fn number(page: &str, name: &str) -> usize {
    let start = format!("| {name} | ");
    let line = page.lines().find_map(|line| line.strip_prefix(&start)).expect(name);
    line.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{name}: {line}"))
}

/// Every BSSY of the listings is in one row of the claim, and lanes that leave early need a BREAK.
#[test]
fn every_bssy_of_the_listings_has_its_place() {
    let page = fs::read_to_string(PAGE).expect("the page");
    let (mut bssy, mut with_break) = (0, 0);
    for path in ["programs/sass", "programs/unseen"]
        .iter()
        .flat_map(|folder| super::support::files(folder, &["sass"]))
    {
        if path.to_string_lossy().contains("/sm_") {
            continue; // the claims are about sm_90
        }
        let text = fs::read_to_string(&path).expect("a listing");
        let instructions: Vec<&str> = text
            .lines()
            .filter_map(|line| {
                line.trim_start().strip_prefix("/*")?.split_once("*/")?.1.split_once(';')
            })
            .map(|(text, _)| text.trim())
            .collect();
        bssy += instructions.iter().filter(|text| text.starts_with("BSSY")).count();
        with_break += usize::from(instructions.iter().any(|text| text.contains("BREAK ")));
    }
    let rows = [
        "at the immediate post-dominator",
        "beyond it",
        "before it; the other lanes leave by BREAK",
        "not examined: no branch, a call before it, or in a function",
    ];
    assert_eq!(rows.map(|name| number(&page, name)).iter().sum::<usize>(), bssy);
    let line = page.lines().find(|l| l.starts_with("| before it;")).expect("the row");
    let kernels: usize = line
        .trim_end_matches(" |")
        .rsplit(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("kernels");
    assert!(kernels <= with_break, "{kernels} kernels, {with_break} with BREAK");
}

#[test]
fn commands_name_programs_that_exist() {
    let page = fs::read_to_string(PAGE).expect("the page");
    let programs = page
        .lines()
        .filter(|l| l.starts_with("simt-sim "))
        .flat_map(|l| l.split(' '))
        .filter(|w| w.starts_with("programs/"));
    let missing: Vec<&str> = programs.filter(|p| !Path::new(p).is_file()).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let asked = page.lines().filter_map(|l| l.strip_prefix("simt-sim ask "));
    let unknown: Vec<&str> = asked.filter(|name| simt_teach::ask::find(name).is_none()).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
