//! Calibration: small programs that each measure one property of a machine, on the simulator and on
//! a GPU.
//!
//! An [`Experiment`] is a bundled program (`programs/calibrate`), its settings, and a rule that
//! derives a figure from the clock stamps it leaves. The same text gives the simulated and the
//! measured figure, so the overhead of loops and stamps is in both. The difference of two runs
//! removes one-time costs: the launch, and the first fetch of code and constants.
//!
//! [`simulated`] and [`measured`] run one; a [`Record`] stores the figures of a GPU.
//! [`Experiment::parameter`] names the parameter of the machine file. Not measured here: quantities
//! without clock stamps (bytes, sectors, conflicts), which have counters.

mod figure;
mod record;
mod shape;
mod sheet;
mod table;

use std::time::Duration;

use crate::{self as gpu, DeviceError};
use simt_core::diag::{self, Source};
use simt_core::kernel::Kernel;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Finish, Host, Options, Timing};
use simt_core::spec::Machine;
use simt_core::{Job, Program};

pub use figure::Figure;
pub use record::{Record, Recorded};
pub use sheet::{Row, Sheet};
pub use table::experiments;

/// Runs of each setting on a GPU; the shortest time counts.
const REPEATS: usize = 3;
/// Cycle limit of a simulated run, far above what any experiment takes.
const MAX_CYCLES: u64 = 50_000_000;

/// One run of an experiment: its program with these constants.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Weight in the figure. The sum of `weight` x time over the settings is divided by
    /// [`Experiment::per`].
    pub weight: f64,
    /// Named constants of the program.
    pub set: &'static [(&'static str, u64)],
}

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Name on the command line and in records.
    pub name: &'static str,
    /// Measured parameter of the machine file, and other contributions to the figure.
    pub parameter: &'static str,
    /// Path of the program in the repository.
    pub path: &'static str,
    /// Text of the program.
    pub text: &'static str,
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Rule that derives the figure.
    pub figure: Figure,
    /// Runs.
    pub settings: &'static [Setting],
    /// Divisor of the weighted sum.
    pub per: f64,
    /// Unit of the figure.
    pub unit: &'static str,
    /// Largest accepted relative error of the simulated figure.
    pub tolerance: f64,
}

/// Failure of an experiment.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The program or its launch is invalid, or does not fit the machine.
    #[error("`{0}`: {1}")]
    Program(&'static str, String),
    /// The run did not end normally.
    #[error("`{0}`: {1}")]
    Ended(&'static str, String),
    /// There is no GPU, or it reported an error.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Experiment {
    /// Returns the experiment named `name`.
    pub fn named(name: &str) -> Option<&'static Experiment> {
        experiments().find(|e| e.name == name)
    }

    /// Computes the figure; `run` returns the value of one setting.
    fn figure_of(
        &self,
        mut run: impl FnMut(&Setting) -> Result<f64, CalibrationError>,
    ) -> Result<f64, CalibrationError> {
        let mut sum = 0.0;
        for setting in self.settings {
            sum += setting.weight * run(setting)?;
        }
        Ok(sum / self.per)
    }

    /// Text of the program, with directives for this experiment's kernel.
    fn source(&self) -> String {
        let line = |line: &str| match line.strip_prefix("//! kernel ") {
            Some(_) => format!("//! kernel {}\n", self.kernel),
            None => format!("{line}\n"),
        };
        self.text.lines().map(line).collect()
    }

    fn launch<'p>(
        &self,
        program: &'p Program,
        setting: &Setting,
    ) -> Result<(&'p Kernel, Launch), CalibrationError> {
        let shown = |found: &[_]| {
            let source = Source { name: self.path, text: &program.text };
            CalibrationError::Program(self.name, diag::render(found, source, false))
        };
        if !program.is_sound() {
            return Err(shown(&program.findings));
        }
        let kernel = program
            .kernel(Some(self.kernel))
            .map_err(|e| CalibrationError::Program(self.name, e.to_string()))?;
        let set =
            setting.set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let overrides = Overrides { set, ..Overrides::default() };
        let no_files = |path: &str, _| Err(format!("`{path}`: calibration reads no files"));
        let launch =
            program.launch(kernel, &overrides, &no_files).map_err(|found| shown(&found))?;
        Ok((kernel, launch))
    }
}

/// Measures the figure on a simulated machine.
///
/// # Errors
/// If the machine cannot hold a block of the program, or the run does not end.
pub fn simulated(
    experiment: &Experiment,
    spec: &Machine,
    host: &dyn Host,
) -> Result<f64, CalibrationError> {
    let program = Program::parse(experiment.path, &experiment.source());
    let failed = |why: String| CalibrationError::Ended(experiment.name, why);
    let mode = *spec.modes.first().ok_or_else(|| failed("the machine has no mode".to_string()))?;
    let options = Options {
        mode,
        order: spec.side_order(),
        yields: true,
        max_cycles: MAX_CYCLES,
        max_issues: u64::MAX,
        timing: Timing::Cycles,
    };
    experiment.figure_of(|setting| {
        let (kernel, launch) = experiment.launch(&program, setting)?;
        let done = Job::new(&program, kernel, launch, spec, options.clone())
            .execute(host)
            .map_err(|e| CalibrationError::Program(experiment.name, e.to_string()))?;
        match done.finish {
            Finish::Ok => {
                experiment.figure.read(&done.launch, &out(&done.launch, None)).map_err(failed)
            }
            other => Err(failed(other.name().to_string())),
        }
    })
}

/// Measures the figure on the first GPU; also returns the names of GPU and driver.
///
/// # Errors
/// If there is no GPU, it reports an error, or the run does not end.
pub fn measured(experiment: &Experiment, limit: Duration) -> Result<Measured, CalibrationError> {
    let program = Program::parse(experiment.path, &experiment.source());
    let text = gpu::device_text(experiment.path, &program.text);
    let failed = |why: String| CalibrationError::Ended(experiment.name, why);
    let mut who = (String::new(), String::new());
    let figure = experiment.figure_of(|setting| {
        let (kernel, launch) = experiment.launch(&program, setting)?;
        let mut best = f64::INFINITY;
        for _ in 0..REPEATS {
            let run = gpu::run(gpu::Image::Ptx(&text), kernel, &launch, limit)?;
            if run.finish != gpu::DeviceFinish::Ok {
                return Err(failed(format!("{:?}", run.finish)));
            }
            best = best.min(
                experiment
                    .figure
                    .read(&launch, &out(&launch, Some(&run.buffers)))
                    .map_err(failed)?,
            );
            who = (run.gpu, run.driver);
        }
        Ok(best)
    })?;
    Ok(Measured { figure, gpu: who.0, driver: who.1 })
}

/// A figure measured on a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Figure.
    pub figure: f64,
    /// Name of the device.
    pub gpu: String,
    /// Driver version.
    pub driver: String,
}

/// Words of the buffer `out`: the launch's, or those read from a device.
fn out(launch: &Launch, device: Option<&[Vec<u32>]>) -> Vec<u32> {
    let at = launch.buffers.iter().position(|b| b.name == "out");
    let found = at.and_then(|i| match device {
        Some(buffers) => buffers.get(i).map(Vec::as_slice),
        None => launch.buffers.get(i).map(|b| b.words.as_slice()),
    });
    found.unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_can_be_launched() {
        for experiment in experiments() {
            let program = Program::parse(experiment.path, &experiment.source());
            for setting in experiment.settings {
                if let Err(e) = experiment.launch(&program, setting) {
                    panic!("{}: {e}", experiment.name);
                }
            }
            assert!(experiment.per != 0.0 && experiment.tolerance > 0.0, "{}", experiment.name);
            let twins = experiments().filter(|e| e.name == experiment.name).count();
            assert_eq!(twins, 1, "{}", experiment.name);
        }
    }
}
