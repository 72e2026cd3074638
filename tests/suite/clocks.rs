//! Clocks that machine code without a compiler reads: an H200's and the model's.
//!
//! `tests/observations/h200/parting/clocks.txt` has programs of branches, barriers, yields and
//! exits, and when each group of lanes logged. `reads` has instructions, when their sources had
//! been read and when their results were there, `constants` loads of constants, and `turns` how the
//! warps of a scheduler take turns. The code was in the GPU's caches: here instructions are fetched
//! at once.

use std::collections::BTreeMap;
use std::fs;

use simt_core::Program;
use simt_core::launch::Overrides;
use simt_core::spec::Machine;

use crate::spans::{simulated_on, words};

const PROGRAMS: &str = "tests/observations/h200/parting/clocks";
const READS: &str = "tests/observations/h200/reads/reads";
const RESULTS: &str = "tests/observations/h200/reads/results";
const LOADS: &str = "tests/observations/h200/constants/loads";
const TURNS: &str = "tests/observations/h200/turns/turns";
/// Words of an entry of a lane's log: active mask, clock, number, 0.
const ENTRY: usize = 4;
/// Words of a lane's log.
const LANE: usize = 128 * ENTRY;
const LANES: usize = 32;

/// An entry of a log: number, active mask, clock.
type Entry = (u32, u32, u32);

/// Runs a listing with some values of its directives. Returns the words of its buffer `log`.
fn log_of(listing: &str, set: &[(&str, &str)]) -> Vec<u32> {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let overrides = Overrides { set, ..Overrides::default() };
    let path = format!("{listing}.sass");
    let program = Program::parse(&path, &fs::read_to_string(&path).expect("a listing"));
    let text = Machine::preset_text("h200").expect("a machine");
    let at_once = |line: &&str| !line.trim_start().starts_with("fetch: (");
    let text: Vec<_> = text.lines().filter(at_once).collect();
    let machine = Machine::parse(&text.join("\n")).expect("a machine without caches of code");
    let done = simulated_on(&machine, &program, None, &overrides);
    words(&done, "log").to_vec()
}

/// Returns the rows of a listing's table, after its heading, each with its `entries` of the log.
fn measured(listing: &str, entries: usize) -> Vec<(String, Vec<u32>)> {
    let text = fs::read_to_string(format!("{listing}.csv")).expect("a table");
    let log = log_of(listing, &[]);
    let rows = text.lines().skip(1).map(str::to_owned);
    rows.zip(log.chunks(entries * ENTRY).map(<[u32]>::to_vec)).collect()
}

/// Returns the cycles between an entry's two clocks.
fn cycles(entry: &[u32]) -> i64 {
    i64::from(entry[2] - entry[1])
}

/// Returns what the groups of a block logged, in order. Lanes of a group have equal entries: the
/// lowest one's counts.
fn trace(block: &[u32]) -> Vec<Entry> {
    let mut trace = Vec::new();
    for (lane, log) in block.chunks(LANE).enumerate() {
        let entries = log.chunks(ENTRY).take_while(|entry| entry[0] != 0);
        let own = entries.filter(|entry| entry[0].trailing_zeros() as usize == lane);
        trace.extend(own.map(|entry| (entry[2], entry[0], entry[1])));
    }
    trace.sort_by_key(|&(.., clock)| clock);
    trace
}

/// Returns a recorded trace; its clocks count from the first entry on.
fn recorded(line: &str) -> Vec<Entry> {
    let entry = |text: &str| {
        let [number, mask, clock]: [&str; 3] =
            text.split(' ').collect::<Vec<_>>().try_into().expect(text);
        let parse = |text: &str| text.parse::<u32>().expect(text);
        (parse(number), u32::from_str_radix(mask, 16).expect(text), parse(clock))
    };
    line.split(", ").map(entry).collect()
}

#[test]
fn groups_of_lanes_take_turns_at_a_gpus_times() {
    let text = fs::read_to_string(format!("{PROGRAMS}.txt")).expect("programs");
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let log = log_of(PROGRAMS, &[]);
    let (mut steps, mut close, mut table) = (0, 0, String::new());
    let mut errors = Vec::new();
    for (program, block) in lines.chunks(2).zip(log.chunks(LANES * LANE)) {
        let (gpu, here) = (recorded(program[1]), trace(block));
        let order =
            |trace: &[Entry]| trace.iter().map(|&(n, mask, _)| (n, mask)).collect::<Vec<_>>();
        assert_eq!(order(&gpu), order(&here), "{}", program[0]);
        for (gpu, here) in gpu.windows(2).zip(here.windows(2)) {
            let took = |pair: &[Entry]| i64::from(pair[1].2) - i64::from(pair[0].2);
            let (gpu_took, here_took) = (took(gpu), took(here));
            steps += 1;
            close += usize::from((gpu_took - here_took).abs() <= 1);
            if (gpu_took - here_took).abs() > 1 {
                table += &format!("{:?} to {:?}: {gpu_took}, {here_took}\n", gpu[0], gpu[1]);
            }
        }
        let [gpu, here] = [gpu, here].map(|trace| f64::from(trace[trace.len() - 1].2 - trace[0].2));
        errors.push((100.0 * (here / gpu - 1.0)).abs());
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert_eq!((errors.len(), steps), (24, 260));
    assert!(close >= 238 && mean <= 1.2, "{close} of {steps}, programs {mean:.2} % off\n{table}");
}

#[test]
fn sources_are_read_when_a_gpu_has_read_them() {
    let rows = measured(READS, 1);
    assert_eq!(rows.len(), 21);
    for (row, entry) in &rows {
        let (_, gpu) = row.split_once(',').expect(row);
        assert_eq!(gpu, cycles(entry).to_string(), "{row}");
    }
}

#[test]
fn results_are_there_when_a_gpu_has_them() {
    let rows = measured(RESULTS, 2);
    assert_eq!(rows.len(), 18);
    for (row, entries) in &rows {
        let [name, gpu @ ..]: [&str; 3] = row.split(',').collect::<Vec<_>>().try_into().expect(row);
        let [once, eight] =
            [0, 1].map(|i| cycles(&entries[i * ENTRY..]) - gpu[i].parse::<i64>().expect(row));
        // One scheduler alone gets a sum or a match every four cycles, all four every eight or nine
        // each; here it is eight.
        let alone = if ["REDUX.SUM", "MATCH.ANY"].contains(&name) { 28 } else { 0 };
        assert!(once.abs() <= 1 && (eight - alone).abs() <= 1, "{row}: {once:+}, {eight:+}");
    }
}

/// A row of a table for a block: its name and threads, the GPU's numbers, and the logs of the first
/// lanes of the warps that the block has here.
type OfBlock = (String, [u32; 2], Vec<Vec<u32>>);

fn of_blocks(listing: &str) -> Vec<OfBlock> {
    let text = fs::read_to_string(format!("{listing}.csv")).expect("a table");
    let mut logs = BTreeMap::new();
    let rows = text.lines().skip(1).map(|row| {
        let [second, first, threads, name]: [&str; 4] =
            row.rsplitn(4, ',').collect::<Vec<_>>().try_into().expect(row);
        let log = logs
            .entry(threads)
            .or_insert_with(|| log_of(listing, &[("block", threads)]))
            .as_slice();
        let warps = threads.parse::<usize>().expect(row) / LANES;
        let first_lanes = log.chunks(LANES * LANE).take(warps).map(|warp| warp[..LANE].to_vec());
        let numbers = [first, second].map(|number| number.parse().expect(row));
        (format!("{name}, {threads} threads"), numbers, first_lanes.collect())
    });
    rows.collect()
}

/// Returns the mean of absolute errors, in percent.
fn mean_error(pairs: &[(f64, f64)]) -> f64 {
    let errors = pairs.iter().map(|&(gpu, here)| (100.0 * (here / gpu - 1.0)).abs());
    errors.sum::<f64>() / pairs.len() as f64
}

#[test]
fn loads_of_constants_take_a_gpus_cycles() {
    let mut by_warps = BTreeMap::<usize, Vec<(f64, f64)>>::new();
    let mut table = String::new();
    for (at, (row, [_, gpu], warps)) in of_blocks(LOADS).iter().enumerate() {
        // Four blocks for each row.
        let entry = |log: &Vec<u32>| log[at / 4 * ENTRY..][..ENTRY].to_vec();
        let took = |log: &Vec<u32>| f64::from(entry(log)[3] - entry(log)[1]);
        let here = warps.iter().map(took).sum::<f64>() / warps.len() as f64;
        table += &format!("{row}: {gpu}, {here:.0}\n");
        by_warps.entry(warps.len()).or_default().push((f64::from(*gpu), here));
    }
    let errors: Vec<_> = by_warps.iter().map(|(&n, all)| (n, all.len(), mean_error(all))).collect();
    let most = [(1, 1.8), (4, 4.0), (8, 6.7), (32, 10.5)];
    assert!(
        errors
            .iter()
            .zip(most)
            .all(|(&(n, rows, error), most)| (n, rows) == (most.0, 30) && error <= most.1),
        "{errors:?}\n{table}"
    );
}

#[test]
fn warps_take_turns_as_on_a_gpu() {
    let (mut lasts, mut firsts, mut table) = (Vec::new(), Vec::new(), String::new());
    for (at, (row, gpu, warps)) in of_blocks(TURNS).iter().enumerate() {
        // Three blocks for each row of 32 clocks.
        let clocks = |log: &Vec<u32>| log[at / 3 * 8 * ENTRY..][..8 * ENTRY].to_vec();
        let (mut last, mut first) = (0, 0);
        for scheduler in 0..4 {
            let of: Vec<_> = warps.iter().skip(scheduler).step_by(4).map(clocks).collect();
            let begins = of.iter().map(|clocks| clocks[0]).min().expect("warps");
            let ends = of.iter().map(|clocks| clocks[31] - begins);
            last += ends.clone().max().expect("warps");
            first += ends.min().expect("warps");
        }
        let here = [last, first].map(|sum| sum / 4);
        table += &format!("{row}: {gpu:?}, {here:?}\n");
        lasts.push((f64::from(gpu[0]), f64::from(here[0])));
        firsts.push((f64::from(gpu[1]), f64::from(here[1])));
    }
    let errors = [mean_error(&lasts), mean_error(&firsts)];
    assert_eq!(lasts.len(), 48);
    assert!(errors[0] <= 1.3 && errors[1] <= 4.7, "{errors:?} % off\n{table}");
}
