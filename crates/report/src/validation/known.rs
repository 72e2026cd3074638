//! Known differences and gaps of the model.
//! They are the file `known.ron` beside the observations.

use serde::{Deserialize, Serialize};

/// Contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Programs whose memory may differ from a GPU's, by file name.
    pub programs: Vec<Reason>,
    /// Counters that may exceed the widest step of the rule.
    /// By Nsight Compute's name or a prefix of it.
    pub counters: Vec<Reason>,
    /// Behaviour that is not modelled.
    pub gaps: Vec<Gap>,
}

/// A known difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Name of the program or counter.
    pub name: String,
    /// Reason.
    pub reason: String,
}

/// Behaviour that the model omits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Behaviour.
    pub what: String,
    /// Effect on the figures.
    pub cost: String,
}

impl Known {
    /// Parses the file.
    ///
    /// # Errors
    /// Fails with place and reason if the file is not valid.
    pub fn parse(text: &str) -> Result<Known, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Returns the reason why a program's memory may differ; `name` is its file name.
    pub fn program(&self, name: &str) -> Option<&str> {
        self.programs.iter().find(|r| r.name == name).map(|r| r.reason.as_str())
    }

    /// Returns the reason why a counter may differ.
    pub fn counter(&self, name: &str) -> Option<&str> {
        self.counters.iter().find(|r| name.starts_with(&r.name)).map(|r| r.reason.as_str())
    }
}
