//! Published figures and measurements on an H200: reads `figures.ron` and looks up names.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::ask::AskError;
use simt_report::Cell;

/// Text of the file.
const TEXT: &str = include_str!("figures.ron");

/// Contents of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Facts {
    sources: BTreeMap<String, Place>,
    numbers: BTreeMap<String, (f64, String)>,
    words: BTreeMap<String, (String, String)>,
}

/// A source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    /// Statement of the source.
    pub(super) says: String,
    /// Address or citation.
    pub(super) place: String,
}

impl Facts {
    /// Reads the file.
    pub(super) fn read() -> Result<Facts, AskError> {
        let options = ron::Options::default();
        options.from_str(TEXT).map_err(|why| AskError::Missing {
            program: "figures.ron".to_owned(),
            what: why.to_string(),
        })
    }

    /// Returns the number named `name`.
    pub(super) fn number(&self, name: &str) -> Result<f64, AskError> {
        self.numbers.get(name).map(|&(x, _)| x).ok_or_else(|| missing(name))
    }

    /// Returns the ratio of two numbers.
    pub(super) fn ratio(&self, of: &str, to: &str) -> Result<Cell, AskError> {
        Ok(Cell::Real(self.number(of)? / self.number(to)?))
    }

    /// Returns the words named `name`.
    pub(super) fn word(&self, name: &str) -> Result<Cell, AskError> {
        self.words.get(name).map(|(word, _)| word.as_str().into()).ok_or_else(|| missing(name))
    }

    /// Returns the source named `name`.
    pub(super) fn source(&self, name: &str) -> Result<&Place, AskError> {
        self.sources.get(name).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> AskError {
    AskError::Missing { program: "figures.ron".to_owned(), what: format!("`{name}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source files that look names up.
    const USERS: [&str; 9] = [
        include_str!("../seeds.rs"),
        include_str!("sums.rs"),
        include_str!("sums/banks.rs"),
        include_str!("sums/steps.rs"),
        include_str!("sums/times.rs"),
        include_str!("counters.rs"),
        include_str!("hopper.rs"),
        include_str!("warps.rs"),
        include_str!("warps/square_wave.rs"),
    ];

    #[test]
    fn every_figure_has_a_source_and_is_used() {
        let facts = Facts::read().expect("the file");
        let sources = facts
            .numbers
            .iter()
            .map(|(n, f)| (n, &f.1))
            .chain(facts.words.iter().map(|(n, f)| (n, &f.1)));
        for (name, source) in sources {
            assert!(facts.sources.contains_key(source), "`{name}`: no source `{source}`");
            assert!(
                USERS.iter().any(|text| text.contains(&format!("\"{name}\""))),
                "`{name}` is not used"
            );
        }
    }
}
