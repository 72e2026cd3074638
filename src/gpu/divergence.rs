//! What a GPU counted with probes in a program's text, as a file, and why it may differ from what the simulator counts.
//!
//! `FOLDER/divergence/NAME.ron` is one [`DivergenceRecord`]; `FOLDER/divergence/explained.ron` holds the [`Explanations`]: a
//! difference without one is a fault of the model, and one without a difference is no longer needed.

use super::observation::launch_digest;
use super::text::source_digest;
use super::{DeviceRun, Finish, NotComparable};
use crate::instrument::Divergence;
use crate::launch::Launch;
use serde::{Deserialize, Serialize};

/// What a device counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DivergenceRecord {
    /// The device.
    pub gpu: String,
    /// The driver.
    pub driver: String,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// [`source_digest`] of the program without probes, in hexadecimal.
    pub source: String,
    /// The named constants in force.
    pub constants: Vec<(String, i64)>,
    /// Digest of the launch.
    pub launch: String,
    /// How the run ended.
    pub finish: Finish,
    /// Warps that were logged, and events of each.
    pub log: (u32, u32),
    /// Whether the run with a log counted otherwise than the run without.
    pub disturbed: bool,
    /// What was counted, without a log but for the order of sides.
    pub counts: Divergence,
}

impl DivergenceRecord {
    /// The record of a run on a device: `launch` as it was before, `text` the program without probes.
    pub fn of(
        run: &DeviceRun,
        text: &str,
        launch: &Launch,
        date: &str,
        log: (u32, u32),
        counts: Divergence,
        disturbed: bool,
    ) -> DivergenceRecord {
        DivergenceRecord {
            gpu: run.gpu.clone(),
            driver: run.driver.clone(),
            date: date.to_string(),
            source: format!("{:016x}", source_digest(text)),
            constants: launch.constants.clone(),
            launch: launch_digest(launch),
            finish: run.finish.clone(),
            log,
            disturbed,
            counts,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Where and why it is none.
    pub fn parse(text: &str) -> Result<DivergenceRecord, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// The file: RON, a line for each branch and block.
    ///
    /// # Errors
    /// Never in practice: every field can be written.
    pub fn to_text(&self) -> Result<String, String> {
        let pretty = ron::ser::PrettyConfig::new().indentor(" ").new_line("\n").depth_limit(3);
        ron::ser::to_string_pretty(self, pretty).map(|text| text + "\n").map_err(|e| e.to_string())
    }

    /// Whether it was made of this text and this launch.
    ///
    /// # Errors
    /// What is another.
    pub fn is_of(&self, text: &str, launch: &Launch) -> Result<(), NotComparable> {
        if self.source != format!("{:016x}", source_digest(text)) {
            return Err(NotComparable::OtherText);
        }
        if self.launch != launch_digest(launch) { Err(NotComparable::OtherLaunch) } else { Ok(()) }
    }
}

/// Why a device counts otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The program's file name.
    pub program: String,
    /// The lines of the branches and blocks that differ; empty: the whole run, which did not end well.
    pub lines: Vec<u32>,
    /// The reason.
    pub reason: String,
}

/// All explanations of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanations(pub Vec<Explanation>);

impl Explanations {
    /// Reads a file.
    ///
    /// # Errors
    /// Where and why it is none.
    pub fn parse(text: &str) -> Result<Explanations, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Those of a program.
    pub fn of(&self, program: &str) -> impl Iterator<Item = &Explanation> {
        self.0.iter().filter(move |e| e.program == program)
    }
}
