//! Measurements on an H200 of the programs whose machine code `ask` runs: reads
//! `observations/h200/divergence.txt`.

use super::AskError;

/// Text of the file. Its comments explain the lines.
const TEXT: &str = include_str!("../../observations/h200/divergence.txt");

/// A measured launch: kernel, blocks, threads of a block, constants.
#[derive(Clone, Debug)]
pub(super) struct Launched(String);

/// Counters of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// Executed instructions.
    pub(super) instructions: u64,
    /// Branches on which a warp split.
    pub(super) divergent: u64,
}

impl Launched {
    /// Names a launch of one warp.
    pub(super) fn warp(kernel: &str, constants: &[(&str, u64)]) -> Launched {
        Launched::of(kernel, 1, 32, constants)
    }

    /// Names a launch.
    pub(super) fn of(
        kernel: &str,
        blocks: u64,
        threads: u64,
        constants: &[(&str, u64)],
    ) -> Launched {
        let set: Vec<String> = constants.iter().map(|(name, x)| format!("{name}={x}")).collect();
        Launched(format!("{kernel} {blocks} {threads} {}", set.join(" ")))
    }

    /// SM cycles between the clock reads of a block.
    pub(super) fn cycles(&self) -> Result<u64, AskError> {
        self.number("cycles", 0)
    }

    /// Counters of the whole launch.
    pub(super) fn counted(&self) -> Result<Counted, AskError> {
        let instructions = self.number("count", 0)?;
        Ok(Counted { instructions, divergent: self.number("count", 5)? })
    }

    /// Threads per executed instruction of the chain of `paths`.
    pub(super) fn lanes_of_chain(&self) -> Result<f64, AskError> {
        Ok(self.number("chain", 1)? as f64 / self.number("chain", 0)? as f64)
    }

    fn number(&self, kind: &str, column: usize) -> Result<u64, AskError> {
        let found = TEXT.lines().find_map(|line| {
            let (key, numbers) = line.strip_prefix(kind)?.trim_start().split_once(" : ")?;
            (key == self.0).then(|| numbers.split(' ').nth(column)?.parse().ok()).flatten()
        });
        found.ok_or_else(|| AskError::Missing {
            program: "divergence.txt".to_owned(),
            what: format!("{kind} of `{}`", self.0),
        })
    }
}
