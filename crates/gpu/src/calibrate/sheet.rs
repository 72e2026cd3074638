//! Simulated beside measured: rows, as a table to read and as JSON.

use std::fmt::Write;

use serde::Serialize;

use super::Experiment;

/// Experiments, simulated and measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sheet {
    /// [`Sheet::SCHEMA`].
    pub schema: &'static str,
    /// The machine that was simulated.
    pub machine: String,
    /// What the measured figures are from: device, driver, day; or that there are none.
    pub measured_on: String,
    /// One row an experiment.
    pub rows: Vec<Row>,
}

/// One experiment's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The experiment.
    pub name: &'static str,
    /// What it measures.
    pub parameter: &'static str,
    /// Unit of the figures.
    pub unit: &'static str,
    /// On the simulated machine; `None`: the machine cannot run it.
    pub simulated: Option<f64>,
    /// On the GPU; `None`: nobody has measured it.
    pub measured: Option<f64>,
    /// By how much of the measured figure the simulated one is too high.
    pub error: Option<f64>,
    /// The largest error that is no finding.
    pub tolerance: f64,
}

impl Row {
    /// A row.
    pub fn new(experiment: &Experiment, simulated: Option<f64>, measured: Option<f64>) -> Row {
        let error = match (simulated, measured) {
            (Some(s), Some(m)) if m != 0.0 => Some((s - m) / m.abs()),
            _ => None,
        };
        let Experiment { name, parameter, unit, tolerance, .. } = *experiment;
        Row { name, parameter, unit, simulated, measured, error, tolerance }
    }

    /// Whether the simulated figure is as near as it should be; true when there is nothing to compare with. Of figures below one
    /// (nothing to see, as with `fetch`) the distance counts, not its share.
    pub fn is_close(&self) -> bool {
        match (self.simulated, self.measured) {
            (Some(s), Some(m)) => (s - m).abs() <= self.tolerance * m.abs().max(1.0),
            _ => true,
        }
    }
}

impl Sheet {
    /// Tag of the JSON form. A field that goes or changes its meaning makes it another.
    pub const SCHEMA: &'static str = "simt-sim/calibrate/1";

    /// The rows, ready to be printed.
    pub fn new(machine: &str, measured_on: String, rows: Vec<Row>) -> Sheet {
        Sheet { schema: Sheet::SCHEMA, machine: machine.to_string(), measured_on, rows }
    }

    /// The table.
    pub fn to_text(&self) -> String {
        let mut out = format!("simulated: {}; measured: {}\n\n", self.machine, self.measured_on);
        let name = self.rows.iter().map(|r| r.name.len()).max().unwrap_or(0);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{:name$}  {:>9}  {:>9}  {:>7}   figure", "experiment", "simulated", "measured", "error");
        for row in &self.rows {
            let number = |n: Option<f64>| n.map_or("-".to_string(), |n| format!("{n:.2}"));
            let error = row.error.map_or(String::new(), |e| format!("{:+.1} %", 100.0 * e));
            let mark = if row.is_close() { " " } else { "!" };
            let (simulated, measured) = (number(row.simulated), number(row.measured));
            let parameter = if row.unit == "cycle" {
                row.parameter.to_string()
            } else {
                format!("{} ({})", row.parameter, row.unit)
            };
            let _ = writeln!(out, "{:name$}  {simulated:>9}  {measured:>9}  {error:>7} {mark} {parameter}", row.name);
        }
        let far = self.rows.iter().filter(|r| !r.is_close()).count();
        if far > 0 {
            let _ = writeln!(
                out,
                "\n{far} of {} farther from the measured figure than the experiment allows (!)",
                self.rows.len()
            );
        }
        out
    }
}
