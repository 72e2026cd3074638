//! Measurements of one submission of a class, as a line of JSON.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::graded::Failed;
use super::measure::Measured;
use crate::results::Line;

/// Measurements of one submission. A grade follows from them, the assignment and the answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Schema tag, [`Record::SCHEMA`].
    pub schema: String,
    /// Name of the submission.
    pub submission: String,
    /// [`crate::sweep::fingerprint`] of everything that determines the measurements.
    pub inputs: String,
    /// Measurements, or the reason why there are none.
    pub measured: Result<Measured, Failed>,
}

impl Record {
    /// Schema tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/measured/1";
}

impl Line for Record {
    const SCHEMA: &'static str = Record::SCHEMA;

    fn schema(&self) -> &str {
        &self.schema
    }

    fn order(&self, other: &Record) -> Ordering {
        self.submission.cmp(&other.submission)
    }

    fn is_error(&self) -> bool {
        matches!(self.measured, Err(Failed::Grader(_)))
    }

    fn of(&self) -> String {
        self.submission.clone()
    }
}
