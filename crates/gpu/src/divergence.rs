//! What a GPU counted with probes in a program's text, as a file, and why it may differ from what the simulator counts.
//!
//! `FOLDER/divergence/NAME.ron` is one [`DivergenceRecord`]; `FOLDER/divergence/explained.ron` holds the [`Explanations`]: a
//! difference without one is a fault of the model, and one without a difference is no longer needed.

use super::observation::launch_digest;
use super::text::source_digest;
use super::{DeviceRun, Finish, NotComparable};
use crate::instrument::Divergence;
use serde::{Deserialize, Serialize};
use simt_core::launch::Launch;

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

    /// The lines of which the simulator, which counted `own`, counts otherwise; `None`: its run did not end well. [`WHOLE_RUN`]
    /// alone: only one of the two ended well.
    pub fn differing(&self, own: Option<&Divergence>) -> Vec<u32> {
        match (own, self.finish == Finish::Ok) {
            (Some(own), true) => own.differing(&self.counts),
            (None, false) => Vec::new(),
            _ => vec![WHOLE_RUN],
        }
    }
}

/// The line that stands for all of a run.
pub const WHOLE_RUN: u32 = 0;

/// Why a device counts otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The program's file name.
    pub program: String,
    /// The lines of the branches and blocks that differ; [`WHOLE_RUN`]: only one of the two runs ended well.
    pub lines: Vec<u32>,
    /// The reason.
    pub reason: String,
}

/// All explanations of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Explanations(pub Vec<Explanation>);

impl Explanations {
    /// Reads a file.
    ///
    /// # Errors
    /// Where and why it is none.
    pub fn parse(text: &str) -> Result<Explanations, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Holds the lines that differ in a program against what is explained.
    pub fn judge(&self, program: &str, differing: &[u32]) -> Judgement<'_> {
        let reasons: Vec<&Explanation> = self.0.iter().filter(|e| e.program == program).collect();
        let explained = |line: &u32| reasons.iter().any(|e| e.lines.contains(line));
        let unexplained = differing.iter().copied().filter(|line| !explained(line)).collect();
        let lines = reasons.iter().flat_map(|e| e.lines.iter().copied());
        Judgement { unexplained, needless: lines.filter(|line| !differing.contains(line)).collect(), reasons }
    }
}

/// The lines that differ in a program, held against what is explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement<'a> {
    /// Lines that differ, and nobody knows why.
    pub unexplained: Vec<u32>,
    /// Lines that are explained, and do not differ.
    pub needless: Vec<u32>,
    /// What is known of the program.
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
            assert_eq!((judged.unexplained, judged.needless), (unexplained, needless), "{program} {differing:?}");
        }
    }
}
