//! Result files: reading with recovery of a truncated last line, lookup, and merging.

use thiserror::Error;

use super::{Point, Record};

/// The records of a file, sorted by program, kernel and point.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Each record with its original line, so that numbers are written back unchanged.
    lines: Vec<(Record, String)>,
}

/// State of the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Ends with a line break, or is empty.
    Whole,
    /// The last record lacks its line break; add one before appending.
    Open,
    /// Ended with part of a record, which was dropped: its writer was interrupted.
    Cut,
}

/// A line that is not a record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} is not a sweep result: {message}")]
pub struct BadLine {
    /// Line number, from 1.
    pub line: usize,
    /// Reason.
    pub message: String,
}

/// Different results for the same point.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the results for {program} at {point} differ")]
pub struct Conflict {
    /// Program.
    pub program: String,
    /// Point.
    pub point: Point,
}

impl Results {
    /// Parses the text of a file; also returns the state of its end.
    ///
    /// # Errors
    /// The first line that is not a record, unless it is an unterminated last line.
    pub fn read(text: &str) -> Result<(Results, Tail), BadLine> {
        let mut results = Results::default();
        let mut tail = Tail::Whole;
        for (i, line) in text.split_inclusive('\n').enumerate() {
            let whole = line.ends_with('\n');
            let line = line.trim_end();
            if line.is_empty() {
                continue;
            }
            match parse(line) {
                Ok(record) => {
                    results.lines.push((record, line.to_owned()));
                    tail = if whole { Tail::Whole } else { Tail::Open };
                }
                Err(_) if !whole => tail = Tail::Cut,
                Err(message) => return Err(BadLine { line: i + 1, message }),
            }
        }
        results.sort();
        Ok((results, tail))
    }

    /// The records.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.lines.iter().map(|(record, _)| record)
    }

    /// Record of a point, if any.
    pub fn find(&self, program: &str, kernel: &str, point: &Point) -> Option<&Record> {
        let wanted = (program, kernel, point);
        let at = self.lines.binary_search_by(|(record, _)| key(record).cmp(&wanted)).ok()?;
        self.lines.get(at).map(|(record, _)| record)
    }

    /// Adds records, replacing those of the same points.
    pub fn replace(&mut self, records: &[Record]) {
        self.lines.extend(records.iter().map(|record| (record.clone(), record.to_line())));
        self.sort();
    }

    /// Merges the records of another file. A run replaces an error record of the same point.
    ///
    /// # Errors
    /// If both have a run of the same point with different results.
    pub fn merge(&mut self, other: Results) -> Result<(), Conflict> {
        let mut added = Vec::new();
        for (record, line) in other.lines {
            match self.find(&record.program, &record.kernel, &record.point) {
                Some(here) if *here == record || record.is_error() => {}
                Some(here) if !here.is_error() => {
                    return Err(Conflict { program: record.program, point: record.point });
                }
                _ => added.push((record, line)),
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

    /// Sorts the records; of several for one point the last one stays.
    fn sort(&mut self) {
        self.lines.reverse();
        self.lines.sort_by(|(a, _), (b, _)| key(a).cmp(&key(b)));
        self.lines.dedup_by(|(a, _), (b, _)| key(a) == key(b));
    }
}

fn key(record: &Record) -> (&str, &str, &Point) {
    (&record.program, &record.kernel, &record.point)
}

fn parse(line: &str) -> Result<Record, String> {
    let record: Record = serde_json::from_str(line).map_err(|e| e.to_string())?;
    if record.schema == Record::SCHEMA {
        Ok(record)
    } else {
        Err(format!("expected schema `{1}`, found `{0}`", record.schema, Record::SCHEMA))
    }
}
