//! A metric's formula with the numbers of a run.
//!
//! The formulas of the table are parsed as written: terms (other metrics, machine facts, counts),
//! numbers, `+ - x /` and parentheses. A formula with any other word describes a count and has no
//! terms. A test evaluates every worked formula and compares the result with the metric.

use crate::metrics::{self, Group, Metric, Value};
use crate::{CacheHits, MemoryRow, Run};
use simt_core::observe::Stall;

/// A term of a formula in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Name, as written in the formula.
    pub name: &'static str,
    /// Value.
    pub value: Value,
    /// Unit; empty for plain numbers.
    pub unit: &'static str,
}

/// A formula with the numbers of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Worked {
    /// Distinct terms, in the order of the formula.
    pub terms: Vec<Term>,
    /// Formula, split into terms and the text between them.
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(&'static str),
    Term(usize),
}

impl Worked {
    /// Returns the formula with `number` of each value in place of its term.
    pub fn filled(&self, number: impl Fn(Value) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => (*text).to_owned(),
            Piece::Term(i) => self.terms.get(*i).map(|t| number(t.value)).unwrap_or_default(),
        };
        self.pieces.iter().map(piece).collect()
    }
}

/// Returns the formula of `metric` with the numbers of `run`.
/// `None` if it has no terms or one has no value.
pub fn worked(metric: &'static Metric, run: &Run) -> Option<Worked> {
    // The part after a semicolon covers special cases; ", loads and stores" says what the terms are
    // summed over.
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
            let (text, after) = rest.split_at(length);
            worked.pieces.push(Piece::Text(text));
            rest = after;
        } else {
            return None;
        }
    }
    (!worked.terms.is_empty()).then_some(worked)
}

/// Terms that are not metrics.
const COUNTED: &[&str] = &[
    "SMs",
    "SM clock",
    "launch overhead",
    "warp size",
    "maximum warps per SM",
    "schedulers per SM",
    "banks",
    "cycles in any state except selected",
    "cycles in any other state",
    "requested bytes",
    "stored bytes",
    "wavefronts",
    "requests of shared loads and stores",
    "conflict-free load wavefronts",
    "conflict-free store wavefronts",
    "global load sectors that missed in L1",
    "load and atomic sectors that missed in L1 and L2",
    "load sectors that hit in L2",
    "load sectors looked up in L2",
    "local sectors that hit in L1",
    "local sectors",
];

/// Returns the longest term at the start of `text` that is not part of a longer word.
fn term_at(text: &'static str) -> Option<&'static str> {
    if let Some(states) = text.strip_prefix("cycles in ") {
        let states = states.split(" / ").next().unwrap_or_default();
        if states.split(" or ").all(|state| Stall::ALL.iter().any(|s| s.name() == state)) {
            return text.get(.."cycles in ".len() + states.len());
        }
    }
    let names = metrics::all()
        .iter()
        .flat_map(|m| std::iter::once(m.name).chain(m.aliases.iter().copied()));
    let whole = |name: &&str| {
        text[name.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_')
    };
    COUNTED
        .iter()
        .copied()
        .chain(names)
        .filter(|name| text.starts_with(name))
        .filter(whole)
        .max_by_key(|name| name.len())
}

/// Returns the value and unit of a term in a run.
fn value_of(name: &str, metric: &Metric, run: &Run) -> Option<(Value, &'static str)> {
    let machine = &run.machine_facts;
    let count = |n: u64, unit| Some((Value::Count(n), unit));
    let number = |n: u32, unit| count(u64::from(n), unit);
    match name {
        "SMs" => number(machine.sms, ""),
        "SM clock" => {
            (machine.clock_hz > 0).then_some((Value::Real(machine.clock_hz as f64 / 1e9), "GHz"))
        }
        "launch overhead" => number(machine.launch_overhead, "cycle"),
        "warp size" => number(machine.warp_size, "lane"),
        "maximum warps per SM" => number(machine.max_warps_per_sm, "warp"),
        "schedulers per SM" => number(machine.schedulers_per_sm, ""),
        "banks" => number(machine.shared_banks, ""),
        "cycles in any state except selected" | "cycles in any other state" => {
            count(run.stalls.0.iter().map(|(_, cycles)| cycles).sum(), "warp cycle")
        }
        "wavefronts" => count(shared(run, |row| row.wavefronts), "wavefront"),
        "requests of shared loads and stores" => count(shared(run, |row| row.requests), "request"),
        "requested bytes" if metric.group == Group::Shared => {
            count(shared(run, |row| row.requested_bytes), "byte")
        }
        "requested bytes" => {
            count(sum(run, &[("global", "load")], |row| row.requested_bytes), "byte")
        }
        "stored bytes" => {
            count(sum(run, &[("global", "store")], |row| row.requested_bytes), "byte")
        }
        "conflict-free load wavefronts" => {
            count(sum(run, &[("shared", "load")], |row| row.ideal_wavefronts), "wavefront")
        }
        "conflict-free store wavefronts" => {
            count(sum(run, &[("shared", "store")], |row| row.ideal_wavefronts), "wavefront")
        }
        "global load sectors that missed in L1" => {
            count(sum(run, &[("global", "load")], |row| hits(row).l2_sectors()), "sector")
        }
        "load and atomic sectors that missed in L1 and L2" => {
            let ways = [("global", "load"), ("global", "atomic"), ("local", "load")];
            count(sum(run, &ways, |row| hits(row).dram_sectors), "sector")
        }
        "load sectors looked up in L2" => {
            let ways = [("global", "load"), ("local", "load")];
            count(sum(run, &ways, |row| hits(row).l2_sectors()), "sector")
        }
        "load sectors that hit in L2" => count(
            sum(run, &[("global", "load"), ("local", "load")], |row| hits(row).l2_hits),
            "sector",
        ),
        "local sectors that hit in L1" => count(local(run, |row| hits(row).l1_hits), "sector"),
        "local sectors" => count(local(run, |row| row.sectors), "sector"),
        _ => match name.strip_prefix("cycles in ") {
            Some(states) => {
                let states: Vec<&str> = states.split(" or ").collect();
                let cycles =
                    run.stalls.0.iter().filter(|(state, _)| states.contains(state)).map(|(_, n)| n);
                count(cycles.sum(), "warp cycle")
            }
            None => Some((run.metric(name)?, metrics::find(name)?.unit)),
        },
    }
}

fn hits(row: &MemoryRow) -> CacheHits {
    row.hits.unwrap_or_default()
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
