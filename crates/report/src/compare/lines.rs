//! Comparison by source line of the CUDA file that both runs were compiled from.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::annotate::{Line, by_line, origins};
use crate::run::Run;

/// Cost of a CUDA line in both runs; arrays hold A's figure, then B's.
#[derive(Clone, Debug, Serialize)]
pub struct LinePair {
    /// CUDA file, without folders.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Instructions that warps executed.
    pub executed: [u64; 2],
    /// Times that its branches diverged; for predicated ones, times that they would have.
    pub divergent: [u64; 2],
    /// True for each run in which a branch of the line was predicated.
    pub predicated: [bool; 2],
    /// Cycles that warps waited to issue its instructions.
    pub stalled: [u64; 2],
    /// State of the longest wait.
    pub main_stall: [Option<&'static str>; 2],
}

impl LinePair {
    /// Formats the divergence in one of the runs; empty for none.
    pub fn divergence(&self, side: usize) -> String {
        match (self.divergent[side], self.predicated[side]) {
            (0, false) => String::new(),
            (n, false) => crate::numbers::grouped(n),
            (n, true) => format!("p{}", crate::numbers::grouped(n)),
        }
    }
}

/// Pairs the CUDA lines of PTX with those of machine code.
///
/// Empty unless exactly one of the runs is machine code and both name the same CUDA file.
pub(super) fn pairs(a: &Run, b: &Run) -> Vec<LinePair> {
    if a.machine_code.is_some() == b.machine_code.is_some() {
        return Vec::new();
    }
    let files: BTreeSet<String> = origins(a).into_iter().collect();
    let [left, right] = [a, b].map(|run| by_line(run, true));
    let none = BTreeMap::new();
    let mut pairs = Vec::new();
    for file in origins(b).into_iter().filter(|file| files.contains(file)) {
        let sides = [&left, &right].map(|side| side.get(file.as_str()).unwrap_or(&none));
        let lines: BTreeSet<u32> = sides.iter().flat_map(|side| side.keys().copied()).collect();
        pairs.extend(lines.into_iter().map(|line| pair(&file, line, sides)));
    }
    pairs
}

fn pair(file: &str, line: u32, sides: [&BTreeMap<u32, Line>; 2]) -> LinePair {
    let empty = Line::default();
    let of = sides.map(|side| side.get(&line).unwrap_or(&empty));
    LinePair {
        file: file.to_owned(),
        line,
        executed: of.map(|line| line.executed),
        divergent: of.map(|line| line.divergent + line.predicated.unwrap_or(0)),
        predicated: of.map(|line| line.predicated.is_some()),
        stalled: of.map(|line| line.stalled),
        main_stall: of.map(Line::main_stall),
    }
}
