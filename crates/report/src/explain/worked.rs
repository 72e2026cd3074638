//! A metric's formula with the numbers of a run in it.
//!
//! The formulas of the table are read as they are written: terms (other metrics, facts of the machine, counted things), numbers,
//! `+ - x /` and parentheses. One with any other word in it describes something counted, and has no terms to fill in. A test
//! evaluates every formula that is filled in and holds the result against the metric.

use crate::metrics::{self, Group, Metric, Value};
use crate::{MemoryRow, Run};
use simt_core::observe::Stall;

/// A term of a formula, in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// As the formula has it.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
    /// What one of it is; empty where that goes without saying.
    pub unit: &'static str,
}

/// A formula with numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Worked {
    /// Each term once, in the order of the formula.
    pub terms: Vec<Term>,
    /// The formula, cut into terms and what stands between them.
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(&'static str),
    Term(usize),
}

impl Worked {
    /// The formula with `number` of each value in the place of its term.
    pub fn filled(&self, number: impl Fn(Value) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => (*text).to_owned(),
            Piece::Term(i) => self.terms.get(*i).map(|t| number(t.value)).unwrap_or_default(),
        };
        self.pieces.iter().map(piece).collect()
    }
}

/// The formula of `metric` with the numbers of `run`; `None` when it has no terms, or one of them has no value there.
pub fn worked(metric: &'static Metric, run: &Run) -> Option<Worked> {
    // What follows a semicolon is about special cases; ", loads and stores" says what the terms are summed over.
    let formula = metric.formula.split(';').next().unwrap_or_default();
    let mut rest = formula.strip_suffix(", loads and stores").unwrap_or(formula);
    let mut worked = Worked { terms: Vec::new(), pieces: Vec::new() };
    while let Some(first) = rest.chars().next() {
        let operators = |c: char| c.is_ascii_digit() || " x/()+-".contains(c);
        if let Some(name) = term_at(rest) {
            let at = match worked.terms.iter().position(|t| t.name == name) {
                Some(at) => at,
                None => {
                    let (value, unit) = value_of(name, metric, run)?;
                    worked.terms.push(Term { name, value, unit });
                    worked.terms.len() - 1
                }
            };
            worked.pieces.push(Piece::Term(at));
            rest = &rest[name.len()..];
        } else if operators(first) {
            let length = rest.find(|c| !operators(c)).unwrap_or(rest.len());
            let (text, behind) = rest.split_at(length);
            worked.pieces.push(Piece::Text(text));
            rest = behind;
        } else {
            return None;
        }
    }
    (!worked.terms.is_empty()).then_some(worked)
}

/// Terms that are no metrics.
const COUNTED: &[&str] = &[
    "SMs",
    "SM clock",
    "launch overhead",
    "warp size",
    "warps an SM can hold",
    "schedulers of an SM",
    "banks",
    "cycles in any state but selected",
    "cycles in any other state",
    "bytes lanes asked for",
    "bytes lanes stored",
    "wavefronts",
    "requests of shared loads and stores",
    "the fewest the same loads could have taken",
    "the fewest the same stores could have taken",
    "sectors of global loads that L1 asked of L2",
    "sectors of loads and atomics that neither L1 nor L2 had",
    "load sectors found in L2",
    "sectors that loads asked of L2",
    "local sectors found in L1",
    "local sectors",
];

/// The longest term that `text` begins with and that is not part of a longer word.
fn term_at(text: &'static str) -> Option<&'static str> {
    if let Some(states) = text.strip_prefix("cycles in ") {
        let states = states.split(" / ").next().unwrap_or_default();
        if states.split(" or ").all(|state| Stall::ALL.iter().any(|s| s.name() == state)) {
            return text.get(.."cycles in ".len() + states.len());
        }
    }
    let names = metrics::all().iter().flat_map(|m| std::iter::once(m.name).chain(m.aliases.iter().copied()));
    let whole = |name: &&str| text[name.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
    COUNTED
        .iter()
        .copied()
        .chain(names)
        .filter(|name| text.starts_with(name))
        .filter(whole)
        .max_by_key(|name| name.len())
}

/// The value of a term in a run, and its unit.
fn value_of(name: &str, metric: &Metric, run: &Run) -> Option<(Value, &'static str)> {
    let machine = &run.machine_facts;
    let count = |n: u64, unit| Some((Value::Count(n), unit));
    let number = |n: u32, unit| count(u64::from(n), unit);
    match name {
        "SMs" => number(machine.sms, ""),
        "SM clock" => (machine.clock_hz > 0).then_some((Value::Real(machine.clock_hz as f64 / 1e9), "GHz")),
        "launch overhead" => number(machine.launch_overhead, "cycle"),
        "warp size" => number(machine.warp_size, "lane"),
        "warps an SM can hold" => number(machine.max_warps_per_sm, "warp"),
        "schedulers of an SM" => number(machine.schedulers_per_sm, ""),
        "banks" => number(machine.shared_banks, ""),
        "cycles in any state but selected" | "cycles in any other state" => {
            count(run.stalls.0.iter().map(|(_, cycles)| cycles).sum(), "warp cycle")
        }
        "wavefronts" => count(shared(run, |row| row.wavefronts), "wavefront"),
        "requests of shared loads and stores" => count(shared(run, |row| row.requests), "request"),
        "bytes lanes asked for" if metric.group == Group::Shared => {
            count(shared(run, |row| row.requested_bytes), "byte")
        }
        "bytes lanes asked for" => count(sum(run, &[("global", "load")], |row| row.requested_bytes), "byte"),
        "bytes lanes stored" => count(sum(run, &[("global", "store")], |row| row.requested_bytes), "byte"),
        "the fewest the same loads could have taken" => {
            count(sum(run, &[("shared", "load")], |row| row.ideal_wavefronts), "wavefront")
        }
        "the fewest the same stores could have taken" => {
            count(sum(run, &[("shared", "store")], |row| row.ideal_wavefronts), "wavefront")
        }
        "sectors of global loads that L1 asked of L2" => {
            count(sum(run, &[("global", "load")], |row| row.l2_hits + row.dram_sectors), "sector")
        }
        "sectors of loads and atomics that neither L1 nor L2 had" => {
            let ways = [("global", "load"), ("global", "atomic"), ("local", "load")];
            count(sum(run, &ways, |row| row.dram_sectors), "sector")
        }
        "sectors that loads asked of L2" => {
            let ways = [("global", "load"), ("local", "load")];
            count(sum(run, &ways, |row| row.l2_hits + row.dram_sectors), "sector")
        }
        "load sectors found in L2" => {
            count(sum(run, &[("global", "load"), ("local", "load")], |row| row.l2_hits), "sector")
        }
        "local sectors found in L1" => count(local(run, |row| row.l1_hits), "sector"),
        "local sectors" => count(local(run, |row| row.sectors), "sector"),
        _ => match name.strip_prefix("cycles in ") {
            Some(states) => {
                let states: Vec<&str> = states.split(" or ").collect();
                let cycles = run.stalls.0.iter().filter(|(state, _)| states.contains(state)).map(|(_, n)| n);
                count(cycles.sum(), "warp cycle")
            }
            None => Some((run.metric(name)?, metrics::find(name)?.unit)),
        },
    }
}

fn sum(run: &Run, ways: &[(&str, &str)], of: impl Fn(&MemoryRow) -> u64) -> u64 {
    run.memory.iter().filter(|row| ways.contains(&(row.memory, row.way))).map(of).sum()
}

fn shared(run: &Run, of: impl Fn(&MemoryRow) -> u64) -> u64 {
    sum(run, &[("shared", "load"), ("shared", "store")], of)
}

fn local(run: &Run, of: impl Fn(&MemoryRow) -> u64) -> u64 {
    sum(run, &[("local", "load"), ("local", "store")], of)
}
