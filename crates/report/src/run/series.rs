//! Runs of one program's launches, in order.

use serde::Serialize;

use super::Run;
use crate::numbers::grouped;

/// Runs of the launches of a program, in order. Serialized, it is the JSON of `run`.
#[derive(Serialize)]
pub struct Series {
    /// [`Series::SCHEMA`].
    schema: &'static str,
    /// Version of the simulator.
    version: &'static str,
    /// One run for each launch.
    launches: Vec<Run>,
}

impl Series {
    /// Schema tag of the JSON form.
    pub const SCHEMA: &'static str = "simt-sim/series/1";

    /// Collects the runs of a program's launches.
    pub fn new(launches: Vec<Run>) -> Series {
        Series { schema: Series::SCHEMA, version: env!("CARGO_PKG_VERSION"), launches }
    }

    /// Returns the cycles of all launches as a line of text.
    pub fn summary(&self) -> String {
        let launches = self.launches.len();
        let cycles = self.launches.iter().map(|run| run.cycles).sum();
        match self.launches.iter().all(Run::is_timed) {
            true => format!("{launches} launches: {} cycles in all\n", grouped(cycles)),
            false => format!("{launches} launches\n"),
        }
    }

    /// Returns the runs as indented JSON, ending in a line break.
    ///
    /// # Errors
    /// None of its own: every value of a run has a JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }
}
