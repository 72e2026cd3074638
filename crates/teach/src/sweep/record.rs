//! What came of one point, as a line of JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Point, Setting};
use simt_report::Run;
use simt_report::metrics::Value;

/// What came of a point. The JSON form is a promise under the tag [`Record::SCHEMA`]: keys may be added, none change meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`Record::SCHEMA`].
    pub schema: String,
    /// The program, as the user named it.
    pub program: String,
    /// The kernel's name.
    pub kernel: String,
    /// The swept names with their values.
    pub point: Point,
    /// A [`fingerprint`] of everything else that decides the outcome.
    pub inputs: String,
    /// `pre-volta` or `volta`; none when the point could not be run.
    pub mode: Option<String>,
    /// The machine's name; none when the point could not be run.
    pub machine: Option<String>,
    /// How the run ended, by [`simt_report::Finish::name`], or [`Record::ERROR`].
    pub finish: String,
    /// Whether it ended well and every expectation holds.
    pub passed: bool,
    /// Why the point could not be run, or why the run did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Every metric that has a value, by its first name.
    pub metrics: BTreeMap<String, Value>,
}

impl Record {
    /// The tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/sweep/1";
    /// What stands for `finish` when the point could not be run.
    pub const ERROR: &'static str = "error";

    /// The record of a run.
    pub fn of_run(run: &Run, point: Point, inputs: String) -> Record {
        let failed = || run.expectations.iter().find(|e| !e.passed).map(|e| format!("does not hold: {}", e.text));
        let ended = run.finish == simt_report::Finish::Ok;
        Record {
            schema: Record::SCHEMA.to_owned(),
            program: run.program.clone(),
            kernel: run.kernel.clone(),
            point,
            inputs,
            mode: Some(run.mode.clone()),
            machine: Some(run.machine.clone()),
            finish: run.finish.name().to_owned(),
            passed: ended && run.passed(),
            message: run.verdict.as_ref().map(|v| v.message.clone()).or_else(failed),
            metrics: run.metrics.0.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    /// The record of a point that cannot be run.
    pub fn of_error(program: &str, kernel: &str, point: Point, inputs: String, message: String) -> Record {
        Record {
            schema: Record::SCHEMA.to_owned(),
            program: program.to_owned(),
            kernel: kernel.to_owned(),
            point,
            inputs,
            mode: None,
            machine: None,
            finish: Record::ERROR.to_owned(),
            passed: false,
            message: Some(message),
            metrics: BTreeMap::new(),
        }
    }

    /// Whether the point could not be run.
    pub fn is_error(&self) -> bool {
        self.finish == Record::ERROR
    }

    /// Whether the run ended by itself, with or without the expected result.
    pub fn ended(&self) -> bool {
        self.finish == simt_report::Finish::Ok.name()
    }

    /// How it went, in a word: `ok`, `FAILED` (an expectation), `deadlock`, .., `error`.
    pub fn outcome(&self) -> &str {
        if self.finish == "ok" && !self.passed { "FAILED" } else { &self.finish }
    }

    /// The value of a swept name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.point.0.get(name)
    }

    /// The record as one line of JSON, without a line break.
    pub fn to_line(&self) -> String {
        // Numbers, strings and maps with string keys: always has a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A name for a list of texts: 16 hexadecimal digits (FNV-1a, 64 bits). Equal lists have equal names in every version and on
/// every host; different ones almost surely have not.
pub fn fingerprint<T: AsRef<str>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for part in parts {
        part.as_ref().bytes().for_each(&mut add);
        add(0xff); // no text has this byte: where a part ends matters
    }
    format!("{hash:016x}")
}
