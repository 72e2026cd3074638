//! What a GPU did with programs that a generator draws, a line for each, as a file: `FOLDER/random.ron`, `FOLDER/random_calls.ron`.

use serde::{Deserialize, Serialize};

/// The file. The generator is a test's (`tests/suite/generated`), and so is the replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedRecord {
    /// The device.
    pub gpu: String,
    /// The driver.
    pub driver: String,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// The generator's seed of the first program; the next has the next.
    pub seed: u64,
    /// Programs of which the device counts other executions than volta mode, and why.
    pub explained: Vec<Explained>,
    /// By number: digests of the text, of the memory, of the lanes of each branch and block, and of their executions; `-` for the last
    /// two where the probes were not executed by the same lanes throughout, empty where the device gave no answer.
    pub programs: Vec<String>,
}

/// Programs, by number, whose lanes are together elsewhere than in volta mode, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    /// The reason.
    pub reason: String,
    /// The programs.
    pub programs: Vec<u32>,
}

impl GeneratedRecord {
    /// Whether a program's executions are known to be counted otherwise.
    pub fn is_explained(&self, number: u32) -> bool {
        self.explained.iter().any(|e| e.programs.contains(&number))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Where and why it is none.
    pub fn parse(text: &str) -> Result<GeneratedRecord, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// The file: RON, a line for each program.
    ///
    /// # Errors
    /// Never in practice: every field can be written.
    pub fn to_text(&self) -> Result<String, String> {
        let pretty = ron::ser::PrettyConfig::new().indentor(" ").new_line("\n").depth_limit(2);
        ron::ser::to_string_pretty(self, pretty).map(|text| text + "\n").map_err(|e| e.to_string())
    }
}
