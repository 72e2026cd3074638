//! The answer to a question that was put to the simulator: figures, pictures and sentences, plain values ready to print.
//!
//! A figure stands once, as a cell of a table; what is printed, written as JSON or tested is that cell. The JSON form is a promise
//! under the tag [`Answer::SCHEMA`], as that of [`Run`](super::Run) is.

use serde::Serialize;

/// A question, answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// [`Answer::SCHEMA`].
    pub schema: &'static str,
    /// The experiment's name.
    pub name: &'static str,
    /// The question, as people ask it.
    pub question: &'static str,
    /// The answer in one line, with this run's figures.
    pub short: String,
    /// What the lanes did.
    pub pictures: Vec<Picture>,
    /// The figures.
    pub tables: Vec<FigureTable>,
    /// The answer in two or three sentences more, with this run's figures.
    pub sentences: Vec<String>,
    /// What a real GPU did, where somebody looked.
    pub hardware: Option<Hardware>,
    /// Who asks, or says something on it.
    pub sources: &'static [Source],
    /// The bundled programs that were run.
    pub programs: Vec<&'static str>,
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Questions {
    /// [`Questions::SCHEMA`].
    pub schema: &'static str,
    /// The questions, in the order of a course.
    pub questions: Vec<Question>,
}

/// A question that can be asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// What to type to ask it.
    pub name: &'static str,
    /// The question, as people ask it.
    pub question: &'static str,
    /// Who asks, or says something on it.
    pub sources: &'static [Source],
    /// The bundled programs that are run.
    pub programs: Vec<&'static str>,
}

/// A drawing of fixed-width lines under a title.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// Its lines.
    pub lines: Vec<String>,
}

/// Figures in rows and columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureTable {
    /// What the figures are.
    pub title: String,
    /// The headings; the first is that of the rows' names.
    pub columns: Vec<String>,
    /// The figures.
    pub rows: Vec<FigureRow>,
}

/// One row of a [`FigureTable`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureRow {
    /// Its name.
    pub name: String,
    /// A cell for each further column.
    pub cells: Vec<Cell>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A count.
    Count(u64),
    /// A ratio, a mean, a percentage.
    Real(f64),
    /// A mask, a verdict, a set of lanes.
    Word(String),
}

/// What was observed on a real GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hardware {
    /// Which one, and how it was looked at.
    pub device: &'static str,
    /// What it did.
    pub says: &'static str,
}

/// Where a question or a claim comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// What is said or asked there, in a few words.
    pub says: &'static str,
    /// Its address, or the book it stands in.
    pub place: &'static str,
}

impl Answer {
    /// The tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/answer/1";

    /// The figure in the row and under the heading of these names, in the first table that has both.
    pub fn cell(&self, row: &str, column: &str) -> Option<&Cell> {
        self.tables.iter().find_map(|table| table.cell(row, column))
    }

    /// The answer as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value of an answer has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}

impl Questions {
    /// The tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/questions/1";

    /// The questions as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value of a question has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}

impl FigureTable {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> FigureTable {
        let columns = columns.iter().map(|c| (*c).to_owned()).collect();
        FigureTable { title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, name: impl Into<String>, cells: [Cell; N]) {
        self.rows.push(FigureRow { name: name.into(), cells: cells.into() });
    }

    /// The figure in the row and under the heading of these names.
    pub fn cell(&self, row: &str, column: &str) -> Option<&Cell> {
        let at = self.columns.iter().skip(1).position(|c| c == column)?;
        self.rows.iter().find(|r| r.name == row)?.cells.get(at)
    }
}

impl From<u64> for Cell {
    fn from(n: u64) -> Cell {
        Cell::Count(n)
    }
}

impl From<u32> for Cell {
    fn from(n: u32) -> Cell {
        Cell::Count(n.into())
    }
}

impl From<f64> for Cell {
    fn from(x: f64) -> Cell {
        Cell::Real(x)
    }
}

impl From<String> for Cell {
    fn from(word: String) -> Cell {
        Cell::Word(word)
    }
}

impl From<&str> for Cell {
    fn from(word: &str) -> Cell {
        Cell::Word(word.to_owned())
    }
}
