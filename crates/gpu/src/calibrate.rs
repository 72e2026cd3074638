//! Calibration: small programs that measure one property of a machine each, run on the simulator and on a GPU.
//!
//! An [`Experiment`] is a bundled program (`programs/calibrate`), the settings it is run with, and how its figure follows from the
//! clock stamps that it leaves. The same text gives the simulated and the measured figure, so what a loop or a stamp costs
//! beside the thing that is asked for is in both. Differences of two runs remove what happens once: code and constants that
//! are fetched for the first time, the launch.
//!
//! [`simulated`] and [`measured`] run one; a [`Record`] keeps what a GPU said. Which parameter of the machine file a figure stands
//! for is said in [`Experiment::parameter`]. Not measured here: what no clock stamp shows (bytes, sectors, conflicts: counters).

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
use simt_core::machine::{Finish, Host, Options};
use simt_core::spec::MachineSpec;
use simt_core::{Job, Program};

pub use figure::Figure;
pub use record::{Record, Recorded};
pub use sheet::{Row, Sheet};
pub use table::EXPERIMENTS;

/// How often a GPU runs each setting; the shortest time counts.
const REPEATS: usize = 3;
/// Cycles after which a simulated run is given up: far more than any experiment takes.
const MAX_CYCLES: u64 = 50_000_000;

/// One run of an experiment: its program with these constants.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// What it counts in the figure: the sum of `weight` x time over the settings is divided by [`Experiment::per`].
    pub weight: f64,
    /// Named constants of the program.
    pub set: &'static [(&'static str, u64)],
}

/// What is measured, and how.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name on the command line and in records.
    pub name: &'static str,
    /// The parameter of the machine file that it measures, and what else is in the figure.
    pub parameter: &'static str,
    /// The program's place in the repository.
    pub path: &'static str,
    /// The program.
    pub text: &'static str,
    /// Which of its kernels.
    pub kernel: &'static str,
    /// What is read off a run.
    pub figure: Figure,
    /// The runs.
    pub settings: &'static [Setting],
    /// What the weighted sum is divided by.
    pub per: f64,
    /// Unit of the figure.
    pub unit: &'static str,
    /// How far the simulated figure may be from the measured one, as a share of it.
    pub tolerance: f64,
}

/// Why an experiment has no figure.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The program or its launch is unsound, or does not fit the machine.
    #[error("`{0}`: {1}")]
    Program(&'static str, String),
    /// The run did not end well.
    #[error("`{0}`: {1}")]
    Ended(&'static str, String),
    /// There is no GPU, or it refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Experiment {
    /// The experiment of that name.
    pub fn named(name: &str) -> Option<&'static Experiment> {
        EXPERIMENTS.iter().find(|e| e.name == name)
    }

    /// The figure, where `run` gives what is read off one setting's run.
    fn figure_of(&self, mut run: impl FnMut(&Setting) -> Result<f64, Trouble>) -> Result<f64, Trouble> {
        let mut sum = 0.0;
        for setting in self.settings {
            sum += setting.weight * run(setting)?;
        }
        Ok(sum / self.per)
    }

    /// The program's text, its directives aimed at this experiment's kernel.
    fn source(&self) -> String {
        let line = |line: &str| match line.strip_prefix("//! kernel ") {
            Some(_) => format!("//! kernel {}\n", self.kernel),
            None => format!("{line}\n"),
        };
        self.text.lines().map(line).collect()
    }

    fn launch<'p>(&self, program: &'p Program, setting: &Setting) -> Result<(&'p Kernel, Launch), Trouble> {
        let shown = |found: &[_]| {
            let source = Source { name: self.path, text: &program.text };
            Trouble::Program(self.name, diag::render(found, source, false))
        };
        if !program.is_sound() {
            return Err(shown(&program.findings));
        }
        let kernel = program.kernel(Some(self.kernel)).map_err(|e| Trouble::Program(self.name, e.to_string()))?;
        let set = setting.set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let overrides = Overrides { set, ..Overrides::default() };
        let no_files = |path: &str, _| Err(format!("`{path}`: calibration reads no files"));
        let launch = program.launch(kernel, &overrides, &no_files).map_err(|found| shown(&found))?;
        Ok((kernel, launch))
    }
}

/// The figure on a simulated machine.
///
/// # Errors
/// The machine cannot hold a block of the program, or the run does not end.
pub fn simulated(experiment: &Experiment, spec: &MachineSpec, host: &dyn Host) -> Result<f64, Trouble> {
    let program = Program::parse(experiment.path, &experiment.source());
    let failed = |why: String| Trouble::Ended(experiment.name, why);
    let mode = *spec.modes.first().ok_or_else(|| failed("the machine has no mode".to_string()))?;
    let options =
        Options { mode, order: spec.side_order(), yields: true, max_cycles: MAX_CYCLES, max_issues: u64::MAX };
    experiment.figure_of(|setting| {
        let (kernel, launch) = experiment.launch(&program, setting)?;
        let done = Job::new(&program, kernel, launch, spec, options.clone())
            .execute(host)
            .map_err(|e| Trouble::Program(experiment.name, e.to_string()))?;
        match done.finish {
            Finish::Ok => experiment.figure.read(&done.launch, &out(&done.launch, None)).map_err(failed),
            other => Err(failed(other.name().to_string())),
        }
    })
}

/// The figure on the first GPU, and what that GPU and its driver are.
///
/// # Errors
/// There is none, it refuses, or the run does not end.
pub fn measured(experiment: &Experiment, limit: Duration) -> Result<Measured, Trouble> {
    let program = Program::parse(experiment.path, &experiment.source());
    let text = gpu::device_text(experiment.path, &program.text);
    let failed = |why: String| Trouble::Ended(experiment.name, why);
    let mut who = (String::new(), String::new());
    let figure = experiment.figure_of(|setting| {
        let (kernel, launch) = experiment.launch(&program, setting)?;
        let mut best = f64::INFINITY;
        for _ in 0..REPEATS {
            let run = gpu::run(&text, kernel, &launch, limit)?;
            if run.finish != gpu::Finish::Ok {
                return Err(failed(format!("{:?}", run.finish)));
            }
            best = best.min(experiment.figure.read(&launch, &out(&launch, Some(&run.buffers))).map_err(failed)?);
            who = (run.gpu, run.driver);
        }
        Ok(best)
    })?;
    Ok(Measured { figure, gpu: who.0, driver: who.1 })
}

/// A figure from a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The figure.
    pub figure: f64,
    /// The device.
    pub gpu: String,
    /// The driver.
    pub driver: String,
}

/// The words of the buffer `out`: the launch's own, or those that a device left.
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
        for experiment in EXPERIMENTS {
            let program = Program::parse(experiment.path, &experiment.source());
            for setting in experiment.settings {
                if let Err(e) = experiment.launch(&program, setting) {
                    panic!("{}: {e}", experiment.name);
                }
            }
            assert!(experiment.per != 0.0 && experiment.tolerance > 0.0, "{}", experiment.name);
            let twins = EXPERIMENTS.iter().filter(|e| e.name == experiment.name).count();
            assert_eq!(twins, 1, "{}", experiment.name);
        }
    }
}
