//! Simulated and measured figures side by side, as a text table and as JSON.

use std::fmt::Write;

use serde::Serialize;

use super::Experiment;

/// Experiments, simulated and measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sheet {
    /// Schema tag, [`Sheet::SCHEMA`].
    pub schema: &'static str,
    /// Name of the simulated machine.
    pub machine: String,
    /// Origin of the measured figures: device, driver and date, or none.
    pub measured_on: String,
    /// One row per experiment.
    pub rows: Vec<Row>,
}

/// Figures of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the experiment.
    pub name: &'static str,
    /// Measured parameter.
    pub parameter: &'static str,
    /// Unit of the figures.
    pub unit: &'static str,
    /// Figure on the simulated machine; `None` if the machine cannot run it.
    pub simulated: Option<f64>,
    /// Figure on the GPU; `None` if not measured.
    pub measured: Option<f64>,
    /// Relative error of the simulated figure; positive if it is too high.
    pub error: Option<f64>,
    /// Largest accepted error.
    pub tolerance: f64,
}

impl Row {
    /// Creates a row.
    pub fn new(experiment: &Experiment, simulated: Option<f64>, measured: Option<f64>) -> Row {
        let error = match (simulated, measured) {
            (Some(s), Some(m)) if m != 0.0 => Some((s - m) / m.abs()),
            _ => None,
        };
        let Experiment { name, parameter, unit, tolerance, .. } = *experiment;
        Row { name, parameter, unit, simulated, measured, error, tolerance }
    }

    /// Returns true if the simulated figure is within the tolerance. Also true if there is nothing
    /// to compare with. For measured figures below one (no visible effect, as with `fetch`) the
    /// absolute error counts.
    pub fn is_close(&self) -> bool {
        match (self.simulated, self.measured) {
            (Some(s), Some(m)) => (s - m).abs() <= self.tolerance * m.abs().max(1.0),
            _ => true,
        }
    }
}

impl Sheet {
    /// Schema tag of the JSON form. Changes if a field is removed or changes its meaning.
    pub const SCHEMA: &'static str = "simt-sim/calibrate/1";

    /// Creates a sheet.
    pub fn new(machine: &str, measured_on: String, rows: Vec<Row>) -> Sheet {
        Sheet { schema: Sheet::SCHEMA, machine: machine.to_string(), measured_on, rows }
    }

    /// Formats the table.
    pub fn to_text(&self) -> String {
        let mut out = format!("simulated: {}; measured: {}\n\n", self.machine, self.measured_on);
        let name = self.rows.iter().map(|r| r.name.len()).max().unwrap_or(0);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:name$}  {:>9}  {:>9}  {:>7}  {:>7}   figure",
            "experiment", "simulated", "measured", "error", "allowed"
        );
        for row in &self.rows {
            let number = |n: Option<f64>| n.map_or("-".to_string(), |n| format!("{n:.2}"));
            let error = row.error.map_or(String::new(), |e| format!("{:+.1} %", 100.0 * e));
            let allowed = format!("{:.0} %", 100.0 * row.tolerance);
            let mark = if row.is_close() { " " } else { "!" };
            let (simulated, measured) = (number(row.simulated), number(row.measured));
            let parameter = if row.unit == "cycle" {
                row.parameter.to_string()
            } else {
                format!("{} ({})", row.parameter, row.unit)
            };
            let _ = writeln!(
                out,
                "{:name$}  {simulated:>9}  {measured:>9}  {error:>7}  {allowed:>7} {mark} {parameter}",
                row.name
            );
        }
        let far = self.rows.iter().filter(|r| !r.is_close()).count();
        if far > 0 {
            let _ = writeln!(
                out,
                "\n{far} of {} figures exceed the tolerance of their experiment (!)",
                self.rows.len()
            );
        }
        out
    }
}
