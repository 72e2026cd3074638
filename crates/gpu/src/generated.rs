//! Results of generated programs on a GPU, a line each: `FOLDER/random.ron`,
//! `FOLDER/random_calls.ron`.

use serde::{Deserialize, Serialize};

/// The file. The generator is a test's (`crates/core/tests/model/generator`), and so is the replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedRecord {
    /// Name of the device.
    pub gpu: String,
    /// Driver version.
    pub driver: String,
    /// Date, `YYYY-MM-DD`.
    pub date: String,
    /// Generator seed of the first program; each next program has the next seed.
    pub seed: u64,
    /// Programs with other executions on the device than in volta mode, and reasons.
    pub explained: Vec<Explained>,
    /// Digests by number: text, memory, lanes per branch and block, executions. The last two are
    /// `-` if the same lanes did not execute the probes throughout; empty if the device gave no
    /// answer.
    pub programs: Vec<String>,
}

/// Programs, by number, that converge elsewhere than in volta mode, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    /// Reason.
    pub reason: String,
    /// Numbers of the programs.
    pub programs: Vec<u32>,
}

impl GeneratedRecord {
    /// Returns true if a program's executions are known to differ.
    pub fn is_explained(&self, number: u32) -> bool {
        self.explained.iter().any(|e| e.programs.contains(&number))
    }

    /// Parses a file.
    ///
    /// # Errors
    /// If the text is not a record; the message has place and reason.
    pub fn parse(text: &str) -> Result<GeneratedRecord, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Serializes the record as RON, a line per program.
    ///
    /// # Errors
    /// Never in practice: every field is serializable.
    pub fn to_text(&self) -> Result<String, String> {
        let pretty = ron::ser::PrettyConfig::new().indentor(" ").new_line("\n").depth_limit(2);
        ron::ser::to_string_pretty(self, pretty).map(|text| text + "\n").map_err(|e| e.to_string())
    }
}

/// Figures of a [`GeneratedRecord`] that reports show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedSummary {
    /// File name of the record without its ending.
    pub name: String,
    /// The device.
    pub gpu: String,
    /// The driver.
    pub driver: String,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// Programs that the device ran.
    pub programs: usize,
    /// Programs whose lanes are together elsewhere, for a stated reason.
    pub explained: usize,
    /// Programs whose probes did not count the same lanes throughout.
    pub uncounted: usize,
}

impl GeneratedSummary {
    /// Counts the programs of a record.
    pub fn new(name: &str, record: &GeneratedRecord) -> GeneratedSummary {
        GeneratedSummary {
            name: name.to_string(),
            gpu: record.gpu.clone(),
            driver: record.driver.clone(),
            date: record.date.clone(),
            programs: record.programs.iter().filter(|entry| !entry.is_empty()).count(),
            explained: record.explained.iter().map(|e| e.programs.len()).sum(),
            uncounted: record.programs.iter().filter(|entry| entry.ends_with('-')).count(),
        }
    }

    /// Reads a file of summaries.
    ///
    /// # Errors
    /// Position and reason of a syntax error.
    pub fn parse_all(text: &str) -> Result<Vec<GeneratedSummary>, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Writes a file of summaries in RON.
    ///
    /// # Errors
    /// Never in practice: every field can be written.
    pub fn to_text(all: &[GeneratedSummary]) -> Result<String, String> {
        let pretty = ron::ser::PrettyConfig::new().indentor(" ").new_line("\n");
        ron::ser::to_string_pretty(&all, pretty).map(|text| text + "\n").map_err(|e| e.to_string())
    }
}
