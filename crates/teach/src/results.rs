//! Result files, a line of JSON for each result: reading with recovery of a truncated last line,
//! lookup, and merging.

use std::cmp::Ordering;

use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

/// A result that a line of JSON holds.
pub trait Line: Clone + PartialEq + Serialize + DeserializeOwned {
    /// Schema tag of the JSON form.
    const SCHEMA: &'static str;

    /// Schema tag of this result.
    fn schema(&self) -> &str;

    /// Order of the lines in a file. Equal results are of the same run.
    fn order(&self, other: &Self) -> Ordering;

    /// Returns true if a later attempt may give a result where this one did not.
    fn is_error(&self) -> bool;

    /// The run, in words.
    fn of(&self) -> String;

    /// Serializes the result as one line of JSON, without a line break.
    fn to_line(&self) -> String {
        // Numbers, strings and maps with string keys always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The results of a file, in their order.
#[derive(Clone, Debug)]
pub struct Results<R> {
    /// Each result with its original line, so that numbers are written back unchanged.
    lines: Vec<(R, String)>,
}

impl<R> Default for Results<R> {
    fn default() -> Self {
        Results { lines: Vec::new() }
    }
}

/// State of the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Ends with a line break, or is empty.
    Whole,
    /// The last result lacks its line break; add one before appending.
    Open,
    /// Ended with part of a result, which was dropped: its writer was interrupted.
    Cut,
}

/// A line that is not a result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} is not a result: {message}")]
pub struct BadLine {
    /// Line number, from 1.
    pub line: usize,
    /// Reason.
    pub message: String,
}

/// Different results for the same run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the results for {of} differ")]
pub struct Conflict {
    /// The run.
    pub of: String,
}

impl<R: Line> Results<R> {
    /// Parses the text of a file; also returns the state of its end.
    ///
    /// # Errors
    /// The first line that is not a result, unless it is an unterminated last line.
    pub fn read(text: &str) -> Result<(Results<R>, Tail), BadLine> {
        let mut results = Results::default();
        let mut tail = Tail::Whole;
        for (i, line) in text.split_inclusive('\n').enumerate() {
            let whole = line.ends_with('\n');
            let line = line.trim_end();
            if line.is_empty() {
                continue;
            }
            match parse(line) {
                Ok(result) => {
                    results.lines.push((result, line.to_owned()));
                    tail = if whole { Tail::Whole } else { Tail::Open };
                }
                Err(_) if !whole => tail = Tail::Cut,
                Err(message) => return Err(BadLine { line: i + 1, message }),
            }
        }
        results.sort();
        Ok((results, tail))
    }

    /// The results.
    pub fn records(&self) -> impl Iterator<Item = &R> {
        self.lines.iter().map(|(result, _)| result)
    }

    /// Finds a result by its place in the order.
    pub fn find_by(&self, order: impl Fn(&R) -> Ordering) -> Option<&R> {
        let at = self.lines.binary_search_by(|(result, _)| order(result)).ok()?;
        self.lines.get(at).map(|(result, _)| result)
    }

    /// Adds results, replacing those of the same runs. Each is kept as its line reads, so that a
    /// resumed or merged file gives the same figures to the last bit.
    pub fn replace(&mut self, results: &[R]) {
        let kept = |result: &R| {
            let line = result.to_line();
            (parse(&line).unwrap_or_else(|_| result.clone()), line)
        };
        self.lines.extend(results.iter().map(kept));
        self.sort();
    }

    /// Keeps the results that satisfy a condition.
    pub fn retain(&mut self, keep: impl Fn(&R) -> bool) {
        self.lines.retain(|(result, _)| keep(result));
    }

    /// Merges the results of another file. A result replaces an error of the same run.
    ///
    /// # Errors
    /// If both have different results of the same run.
    pub fn merge(&mut self, other: Results<R>) -> Result<(), Conflict> {
        let mut added = Vec::new();
        for (result, line) in other.lines {
            match self.find_by(|here| here.order(&result)) {
                Some(here) if *here == result || result.is_error() => {}
                Some(here) if !here.is_error() => return Err(Conflict { of: result.of() }),
                _ => added.push((result, line)),
            }
        }
        self.lines.extend(added);
        self.sort();
        Ok(())
    }

    /// Text of the file.
    pub fn text(&self) -> String {
        self.lines.iter().map(|(_, line)| format!("{line}\n")).collect()
    }

    /// Sorts the results; of several for one run the last one stays.
    fn sort(&mut self) {
        self.lines.reverse();
        self.lines.sort_by(|(a, _), (b, _)| a.order(b));
        self.lines.dedup_by(|(a, _), (b, _)| a.order(b).is_eq());
    }
}

fn parse<R: Line>(line: &str) -> Result<R, String> {
    let result: R = serde_json::from_str(line).map_err(|e| e.to_string())?;
    if result.schema() == R::SCHEMA {
        Ok(result)
    } else {
        Err(format!("expected schema `{1}`, found `{0}`", result.schema(), R::SCHEMA))
    }
}
