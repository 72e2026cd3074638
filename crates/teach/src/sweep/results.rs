//! A file of records: read with its last line mended, asked for what is there, put together with others.

use thiserror::Error;

use super::{Point, Record};

/// The records of a file, a line each, in order of program, kernel and point.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Each record with the line it was read from: numbers are written back as they stand.
    lines: Vec<(Record, String)>,
}

/// How a file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// With a line break, or it is empty.
    Whole,
    /// With a record that lacks its line break: nothing may be appended before one is there.
    Open,
    /// With a piece of a record, which was dropped: its writer died.
    Cut,
}

/// A line that is no record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} is no result of a sweep: {message}")]
pub struct BadLine {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// The same point with different outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the results for {program} at {point} differ")]
pub struct Conflict {
    /// The program.
    pub program: String,
    /// The point.
    pub point: Point,
}

impl Results {
    /// Reads a file's text; says how it ends.
    ///
    /// # Errors
    /// The first line that is no record, unless it is a last line without line break.
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

    /// The record of a point, if there is one.
    pub fn find(&self, program: &str, kernel: &str, point: &Point) -> Option<&Record> {
        let wanted = (program, kernel, point);
        let at = self.lines.binary_search_by(|(record, _)| key(record).cmp(&wanted)).ok()?;
        self.lines.get(at).map(|(record, _)| record)
    }

    /// Takes these records in, each in the place of one for the same point.
    pub fn replace(&mut self, records: &[Record]) {
        self.lines.extend(records.iter().map(|record| (record.clone(), record.to_line())));
        self.sort();
    }

    /// Takes over what another file has. A point that could not be run gives way to one that could.
    ///
    /// # Errors
    /// When both have run a point, and something else came out.
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

    /// The text of the file.
    pub fn text(&self) -> String {
        self.lines.iter().map(|(_, line)| format!("{line}\n")).collect()
    }

    /// Sorts; of several records for a point the one that came last stays.
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
        Err(format!("its schema is `{}`, not `{}`", record.schema, Record::SCHEMA))
    }
}
