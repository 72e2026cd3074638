//! Figures of a GPU, stored in a file.

use serde::{Deserialize, Serialize};

use super::{Experiment, Measured};

/// Figures of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Name of the device.
    pub gpu: String,
    /// Driver version.
    pub driver: String,
    /// Date, `YYYY-MM-DD`.
    pub date: String,
    /// Figures by experiment.
    pub figures: Vec<Recorded>,
}

/// One figure of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Name of the experiment.
    pub name: String,
    /// Figure, in the experiment's unit.
    pub figure: f64,
}

impl Record {
    /// Bundled record of an H200.
    ///
    /// # Errors
    /// Never: a test parses it.
    pub fn h200() -> Result<Record, String> {
        Record::parse(include_str!("../../observations/h200/calibrate.ron"))
    }

    /// Creates an empty record for the GPU of `measured`.
    pub fn of(measured: &Measured, date: &str) -> Record {
        let Measured { gpu, driver, .. } = measured;
        Record {
            gpu: gpu.clone(),
            driver: driver.clone(),
            date: date.to_string(),
            figures: Vec::new(),
        }
    }

    /// Parses a file.
    ///
    /// # Errors
    /// If the text is not a record; the message has place and reason.
    pub fn parse(text: &str) -> Result<Record, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Serializes the record.
    ///
    /// # Errors
    /// Never in practice: every field is serializable.
    pub fn to_text(&self) -> Result<String, String> {
        let pretty = ron::ser::PrettyConfig::new().indentor(" ").new_line("\n").depth_limit(2);
        Ok(ron::ser::to_string_pretty(self, pretty).map_err(|e| e.to_string())? + "\n")
    }

    /// Figure of an experiment.
    pub fn figure(&self, experiment: &Experiment) -> Option<f64> {
        self.figures.iter().find(|f| f.name == experiment.name).map(|f| f.figure)
    }

    /// Adds a figure or replaces an older one.
    pub fn put(&mut self, experiment: &Experiment, figure: f64) {
        let figure = (figure * 1000.0).round() / 1000.0;
        match self.figures.iter_mut().find(|f| f.name == experiment.name) {
            Some(there) => there.figure = figure,
            None => self.figures.push(Recorded { name: experiment.name.to_string(), figure }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let measured = Measured { figure: 1.5, gpu: "a GPU".into(), driver: "a driver".into() };
        let mut record = Record::of(&measured, "2026-01-01");
        let experiment = super::super::experiments().next().expect("there is one");
        record.put(experiment, 1.0);
        record.put(experiment, measured.figure);
        let text = record.to_text().expect("can be written");
        assert_eq!(Record::parse(&text), Ok(record.clone()));
        assert_eq!((record.figure(experiment), record.figures.len()), (Some(1.5), 1));
    }
}
