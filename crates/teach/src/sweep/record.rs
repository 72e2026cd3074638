//! Result of one point, as a line of JSON.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Point, Setting};
use crate::results::{self, Line};
use simt_report::Run;
use simt_report::metrics::Value;

/// Result of a point. The JSON form is stable under the tag [`Record::SCHEMA`]: keys may be added,
/// but keep their meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Schema tag, [`Record::SCHEMA`].
    pub schema: String,
    /// Program, as the user named it.
    pub program: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Swept names and their values.
    pub point: Point,
    /// [`fingerprint`] of everything else that determines the result.
    pub inputs: String,
    /// `pre-volta` or `volta`; `None` if the point could not run.
    pub mode: Option<String>,
    /// Name of the machine; `None` if the point could not run.
    pub machine: Option<String>,
    /// `off` if the run had no clock; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<String>,
    /// Outcome, by [`simt_report::Ending::name`], or [`Record::ERROR`].
    pub finish: String,
    /// True if the run ended normally and every expectation holds.
    pub passed: bool,
    /// Reason why the point could not run, or of an abnormal end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Every metric with a value, by its first name.
    pub metrics: BTreeMap<String, Value>,
}

impl Record {
    /// Schema tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/sweep/1";
    /// Value of `finish` if the point could not run.
    pub const ERROR: &'static str = "error";

    /// Creates the record of a run.
    pub fn of_run(run: &Run, point: Point, inputs: String) -> Record {
        let failed = || {
            run.expectations
                .iter()
                .find(|e| !e.passed)
                .map(|e| format!("expectation failed: {}", e.text))
        };
        let ended = run.finish == simt_report::Ending::Ok;
        Record {
            schema: Record::SCHEMA.to_owned(),
            program: run.program.clone(),
            kernel: run.kernel.clone(),
            point,
            inputs,
            mode: Some(run.mode.clone()),
            machine: Some(run.machine.clone()),
            timing: run.timing.map(str::to_owned),
            finish: run.finish.name().to_owned(),
            passed: ended && run.passed(),
            message: run.verdict.as_ref().map(|v| v.message.clone()).or_else(failed),
            metrics: run.metrics.0.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    /// Creates the record of a point that could not run.
    pub fn of_error(
        program: &str,
        kernel: &str,
        point: Point,
        inputs: String,
        message: String,
    ) -> Record {
        Record {
            schema: Record::SCHEMA.to_owned(),
            program: program.to_owned(),
            kernel: kernel.to_owned(),
            point,
            inputs,
            mode: None,
            machine: None,
            timing: None,
            finish: Record::ERROR.to_owned(),
            passed: false,
            message: Some(message),
            metrics: BTreeMap::new(),
        }
    }

    /// Returns true if the point could not run.
    pub fn is_error(&self) -> bool {
        self.finish == Record::ERROR
    }

    /// Returns true if the run ended normally, with or without the expected result.
    pub fn ended(&self) -> bool {
        self.finish == simt_report::Ending::Ok.name()
    }

    /// Outcome in one word: `ok`, `FAILED` (an expectation), `deadlock`, .., `error`.
    pub fn outcome(&self) -> &str {
        if self.finish == "ok" && !self.passed { "FAILED" } else { &self.finish }
    }

    /// Value of a swept name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.point.0.get(name)
    }

    fn key(&self) -> (&str, &str, &Point) {
        (&self.program, &self.kernel, &self.point)
    }
}

impl Line for Record {
    const SCHEMA: &'static str = Record::SCHEMA;

    fn schema(&self) -> &str {
        &self.schema
    }

    fn order(&self, other: &Record) -> Ordering {
        self.key().cmp(&other.key())
    }

    fn is_error(&self) -> bool {
        self.is_error()
    }

    fn of(&self) -> String {
        format!("{} at {}", self.program, self.point)
    }
}

/// The records of a file, sorted by program, kernel and point.
pub type Results = results::Results<Record>;

impl Results {
    /// Record of a point, if any.
    pub fn find(&self, program: &str, kernel: &str, point: &Point) -> Option<&Record> {
        let wanted = (program, kernel, point);
        self.find_by(|record| record.key().cmp(&wanted))
    }
}

/// Hashes a list of texts to 16 hexadecimal digits (FNV-1a, 64 bits). Equal lists have equal hashes
/// in every version and on every host; different lists almost never collide.
pub fn fingerprint<T: AsRef<str>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for part in parts {
        part.as_ref().bytes().for_each(&mut add);
        add(0xff); // a byte that no text contains, as a separator
    }
    format!("{hash:016x}")
}
