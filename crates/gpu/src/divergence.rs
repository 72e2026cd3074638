//! Divergence counted by probes on a GPU, as a file, and explanations of differences from the
//! simulator.
//!
//! `FOLDER/divergence/NAME.ron` is one [`DivergenceRecord`]; `FOLDER/divergence/explained.ron`
//! holds the [`Explanations`]. A difference without an explanation is a fault of the model; an
//! explanation without a difference is obsolete.

use super::observation::launch_digest;
use super::text::source_digest;
use super::{DeviceFinish, DeviceRun, NotComparable};
use crate::instrument::Divergence;
use serde::{Deserialize, Serialize};
use simt_core::launch::Launch;

/// Divergence counts of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DivergenceRecord {
    /// Name of the device.
    pub gpu: String,
    /// Driver version.
    pub driver: String,
    /// Date, `YYYY-MM-DD`.
    pub date: String,
    /// [`source_digest`] of the program without probes, in hexadecimal.
    pub source: String,
    /// Named constants in force.
    pub constants: Vec<(String, i64)>,
    /// Digest of the launch.
    pub launch: String,
    /// Outcome of the run.
    pub finish: DeviceFinish,
    /// Number of logged warps, and maximum events per lane.
    pub log: (u32, u32),
    /// True if the run with a log gave other counts than the run without.
    pub disturbed: bool,
    /// Counts of the run without a log; only the order of sides comes from the log.
    pub counts: Divergence,
}

impl DivergenceRecord {
    /// Creates the record of a run on a device. `launch` is before the run, `text` has no probes.
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

    /// Parses a file.
    ///
    /// # Errors
    /// If the text is not a record; the message has place and reason.
    pub fn parse(text: &str) -> Result<DivergenceRecord, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Serializes the record as RON, a line per branch and block.
    ///
    /// # Errors
    /// Never in practice: every field is serializable.
    pub fn to_text(&self) -> Result<String, String> {
        let pretty = ron::ser::PrettyConfig::new().indentor(" ").new_line("\n").depth_limit(3);
        ron::ser::to_string_pretty(self, pretty).map(|text| text + "\n").map_err(|e| e.to_string())
    }

    /// Checks that the record belongs to this text and this launch.
    ///
    /// # Errors
    /// If the text or the launch differs.
    pub fn is_of(&self, text: &str, launch: &Launch) -> Result<(), NotComparable> {
        if self.source != format!("{:016x}", source_digest(text)) {
            return Err(NotComparable::OtherText);
        }
        if self.launch != launch_digest(launch) { Err(NotComparable::OtherLaunch) } else { Ok(()) }
    }

    /// Lines with counts other than the simulator's `own`. `own` is `None` if its run did not end
    /// normally. Only [`WHOLE_RUN`] if one of the two runs ended normally and the other did not.
    pub fn differing(&self, own: Option<&Divergence>) -> Vec<u32> {
        match (own, self.finish == DeviceFinish::Ok) {
            (Some(own), true) => own.differing(&self.counts),
            (None, false) => Vec::new(),
            _ => vec![WHOLE_RUN],
        }
    }
}

/// Line number that stands for the whole run.
pub const WHOLE_RUN: u32 = 0;

/// Explanation of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// File name of the program.
    pub program: String,
    /// Lines of the branches and blocks that differ. [`WHOLE_RUN`] if only one of the two runs
    /// ended normally.
    pub lines: Vec<u32>,
    /// Reason.
    pub reason: String,
}

/// All explanations of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Explanations(pub Vec<Explanation>);

impl Explanations {
    /// Parses a file.
    ///
    /// # Errors
    /// If the text is not a list of explanations; the message has place and reason.
    pub fn parse(text: &str) -> Result<Explanations, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Compares the lines that differ in a program with the explanations.
    pub fn judge(&self, program: &str, differing: &[u32]) -> Judgement<'_> {
        let reasons: Vec<&Explanation> = self.0.iter().filter(|e| e.program == program).collect();
        let explained = |line: &u32| reasons.iter().any(|e| e.lines.contains(line));
        let unexplained = differing.iter().copied().filter(|line| !explained(line)).collect();
        let lines = reasons.iter().flat_map(|e| e.lines.iter().copied());
        Judgement {
            unexplained,
            needless: lines.filter(|line| !differing.contains(line)).collect(),
            reasons,
        }
    }
}

/// Differing lines of a program, compared with the explanations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement<'a> {
    /// Lines that differ without an explanation.
    pub unexplained: Vec<u32>,
    /// Lines with an explanation that do not differ.
    pub needless: Vec<u32>,
    /// Explanations of the program.
    pub reasons: Vec<&'a Explanation>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_needs_a_reason_and_every_reason_a_difference() {
        let text = r#"[(program: "a.ir", lines: [3, 4], reason: "r"), (program: "b.ir", lines: [0], reason: "s")]"#;
        let explained = Explanations::parse(text).expect("RON");
        for (program, differing, unexplained, needless) in [
            ("a.ir", vec![3, 4], vec![], vec![]),
            ("a.ir", vec![3, 5], vec![5], vec![4]),
            ("b.ir", vec![], vec![], vec![0]),
            ("c.ir", vec![0], vec![0], vec![]),
        ] {
            let judged = explained.judge(program, &differing);
            assert_eq!(
                (judged.unexplained, judged.needless),
                (unexplained, needless),
                "{program} {differing:?}"
            );
        }
    }
}
