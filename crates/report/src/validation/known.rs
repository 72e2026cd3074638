//! What is known to differ, and what is not modelled: data that lies beside the observations, as `known.ron`.

use serde::{Deserialize, Serialize};

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Programs whose memory may differ from what a GPU leaves, by file name.
    pub programs: Vec<Reason>,
    /// Counters that may differ by more than the widest step of the rule, by Nsight Compute's name or the beginning of it.
    pub counters: Vec<Reason>,
    /// What is not modelled.
    pub gaps: Vec<Gap>,
}

/// A difference, and why it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Of what.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Something that the model leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// What.
    pub what: String,
    /// What that costs.
    pub cost: String,
}

impl Known {
    /// Reads the file.
    ///
    /// # Errors
    /// Where and why it is none.
    pub fn parse(text: &str) -> Result<Known, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Why a program's memory may differ; `name` is its file name.
    pub fn program(&self, name: &str) -> Option<&str> {
        self.programs.iter().find(|r| r.name == name).map(|r| r.reason.as_str())
    }

    /// Why a counter may differ.
    pub fn counter(&self, name: &str) -> Option<&str> {
        self.counters.iter().find(|r| name.starts_with(&r.name)).map(|r| r.reason.as_str())
    }
}
