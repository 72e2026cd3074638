//! The answer to a question: figures, pictures and sentences as plain values.
//!
//! Each figure is one cell of a table; text, JSON and tests all read that cell. The JSON form is
//! stable under the tag [`Answer::SCHEMA`], as is that of [`Run`](super::Run).

use serde::Serialize;

/// An answered question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// [`Answer::SCHEMA`].
    pub schema: &'static str,
    /// Name of the experiment.
    pub name: &'static str,
    /// Question, as people ask it.
    pub question: &'static str,
    /// Answer in one line, with this run's figures.
    pub short: String,
    /// Lane pictures.
    pub pictures: Vec<Picture>,
    /// Tables of figures.
    pub tables: Vec<FigureTable>,
    /// Conclusion in two or three sentences, with this run's figures.
    pub sentences: Vec<String>,
    /// Observation on a real GPU, if there is one.
    pub hardware: Option<Hardware>,
    /// Sources that ask the question or make a claim about it.
    pub sources: &'static [Source],
    /// Bundled programs that were run.
    pub programs: Vec<&'static str>,
}

/// The list of questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Questions {
    /// [`Questions::SCHEMA`].
    pub schema: &'static str,
    /// Questions, in the order of a course.
    pub questions: Vec<Question>,
}

/// A question in the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// Name on the command line.
    pub name: &'static str,
    /// Question, as people ask it.
    pub question: &'static str,
    /// Sources that ask the question or make a claim about it.
    pub sources: &'static [Source],
    /// Bundled programs that are run.
    pub programs: Vec<&'static str>,
}

/// A drawing of fixed-width lines under a title.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// Title.
    pub title: String,
    /// Lines.
    pub lines: Vec<String>,
}

/// A table of figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureTable {
    /// Title.
    pub title: String,
    /// Column headings; the first is that of the row names.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<FigureRow>,
}

/// One row of a [`FigureTable`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureRow {
    /// Row name.
    pub name: String,
    /// Cells, one for each column after the first.
    pub cells: Vec<Cell>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Count.
    Count(u64),
    /// Ratio, mean or percentage.
    Real(f64),
    /// Mask, verdict or set of lanes.
    Word(String),
}

/// An observation on a real GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hardware {
    /// Device and method of observation.
    pub device: &'static str,
    /// Result.
    pub says: &'static str,
}

/// Source of a question or a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Summary of what the source asks or claims.
    pub says: &'static str,
    /// URL, or title of the book.
    pub place: &'static str,
}

impl Answer {
    /// Schema tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/answer/1";

    /// Returns the figure by row name and column heading.
    /// It is that of the first table that has both.
    pub fn cell(&self, row: &str, column: &str) -> Option<&Cell> {
        self.tables.iter().find_map(|table| table.cell(row, column))
    }

    /// Returns the answer as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value of an answer has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}

impl Questions {
    /// Schema tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/questions/1";

    /// Returns the questions as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value of a question has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}

impl FigureTable {
    /// Makes a table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> FigureTable {
        let columns = columns.iter().map(|c| (*c).to_owned()).collect();
        FigureTable { title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, name: impl Into<String>, cells: [Cell; N]) {
        self.rows.push(FigureRow { name: name.into(), cells: cells.into() });
    }

    /// Returns the figure by row name and column heading.
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
