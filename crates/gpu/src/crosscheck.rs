//! Comparison of simulated runs with a GPU: memory, divergence and profiler counters.
//!
//! A [`Subject`] is a program with its launch, a [`Bench`] the simulated machine, [`Sources`] the
//! GPU and the records of earlier runs. [`Sources::memory`] compares the memory that a program
//! leaves, [`Sources::divergence`] counts of branches, [`ncu`] a profiler's counters, [`suite`] a
//! whole folder, [`unseen`] kernels that the model was not built with.
//!
//! Everything here takes and returns values. The caller reads and writes files.

pub mod divergence;
mod memory;
pub mod ncu;
pub mod suite;
pub mod unseen;

pub use memory::CudaSource;

use std::path::Path;
use std::time::Duration;

use simt_core::diag::Diagnostic;
use simt_core::kernel::Kernel;
use simt_core::launch::{Files, Launch, Overrides};
use simt_core::machine::{Finish, Host, Options};
use simt_core::spec::Machine;
use simt_core::{Job, Program};
use simt_report::simulate::{self, Simulation};

use crate::{self as gpu, DeviceError, Image, Observation, Records};

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Everything compared agrees.
    Agrees,
    /// There is no GPU, and no fresh record.
    NothingToCompare,
    /// Something differs.
    Differs,
    /// The GPU did not end in time and is busy until the process ends.
    DeviceHangs,
    /// The comparison failed, as the text says.
    Failed,
}

/// Report on one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Lines for the terminal.
    pub text: String,
    /// Result.
    pub verdict: Verdict,
}

/// Reason for which nothing was compared.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// Findings about a program.
    #[error("`{name}` cannot be launched")]
    Findings {
        /// Name of the program.
        name: String,
        /// Text of the program.
        text: String,
        /// The findings.
        found: Vec<Diagnostic>,
    },
    /// A record cannot be read or saved, in the caller's words.
    #[error("{0}")]
    Told(String),
    /// Any other reason.
    #[error("{0}")]
    Other(String),
}

impl Failed {
    fn new(reason: impl std::fmt::Display) -> Failed {
        Failed::Other(reason.to_string())
    }

    fn findings(program: &Program, found: Vec<Diagnostic>) -> Failed {
        Failed::Findings { name: program.name.clone(), text: program.text.clone(), found }
    }
}

/// Saves a record under its name. The error is shown to the user as it is.
pub type Save<'a> = &'a dyn Fn(&str, &str) -> Result<(), String>;

/// The GPU, and records of earlier runs.
pub struct Sources<'a> {
    /// Records of earlier runs.
    pub records: &'a dyn Records,
    /// Date and time limit of a run on the GPU; `None`: only records.
    pub device: Option<(String, Duration)>,
    /// Saves what the GPU did.
    pub save: Option<Save<'a>>,
    /// Shows a note to the user.
    pub note: &'a dyn Fn(&str),
}

/// A program to compare.
pub struct Subject<'a> {
    /// The program. The file name in [`Program::name`] is the name of its records.
    pub program: &'a Program,
    /// Its kernel.
    pub kernel: &'a Kernel,
    /// The cubin of machine code, which a GPU runs.
    pub cubin: Option<&'a [u8]>,
    /// Overrides of the directives.
    pub overrides: Overrides,
    /// Reads files that the directives name.
    pub files: Files<'a>,
}

/// An observation and its launch before the run.
pub struct Observed {
    /// The observation.
    pub observation: Observation,
    /// The launch.
    pub launch: Launch,
    /// True if the GPU ran the program just now.
    pub live: bool,
}

impl Subject<'_> {
    /// Returns the program's file name.
    pub fn file_name(&self) -> &str {
        Path::new(&self.program.name).file_name().and_then(|n| n.to_str()).unwrap_or_default()
    }

    /// Returns the name of the program's observation: `vector_add.ir.ron`. That of machine code is
    /// `NAME.sass.ron`, whether it comes as a listing, a cubin or a source.
    pub fn record_name(&self) -> String {
        let file = Path::new(self.file_name());
        match self.kernel.native {
            Some(_) => format!("{}.ron", file.with_extension("sass").display()),
            None => format!("{}.ron", file.display()),
        }
    }

    /// Resolves the launch.
    ///
    /// # Errors
    /// Everything that is wrong with the directives or the overrides.
    pub fn launch(&self) -> Result<Launch, Failed> {
        self.launch_with(&self.overrides)
    }

    fn launch_with(&self, overrides: &Overrides) -> Result<Launch, Failed> {
        self.program
            .launch(self.kernel, overrides, self.files)
            .map_err(|found| Failed::findings(self.program, found))
    }

    /// Resolves the launch with the constants of a record. The overrides take precedence.
    fn launch_as(&self, constants: &[(String, i64)]) -> Result<Launch, Failed> {
        let known: Vec<&str> = self.program.plan.constants().collect();
        let recorded = constants.iter().filter(|(name, _)| known.contains(&name.as_str()));
        let mut set: Vec<_> =
            recorded.map(|(name, value)| (name.clone(), value.to_string())).collect();
        set.extend(self.overrides.set.iter().cloned());
        self.launch_with(&Overrides { set, ..self.overrides.clone() })
    }
}

/// Reads a record, which need not exist.
fn read<T>(
    records: &dyn Records,
    name: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Failed> {
    let Some(text) = records.text(name).map_err(Failed::Told)? else { return Ok(None) };
    parse(&text).map(Some).map_err(|e| Failed::new(format!("{}: {e}", records.place(name))))
}

/// The simulated machine.
#[derive(Clone)]
pub struct Bench<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Mode, order of sides and limits.
    pub options: Options,
    /// Host that simulates SMs.
    pub host: &'a dyn Host,
}

/// A simulated run.
pub struct Simulated {
    /// Launch before the run.
    pub before: Launch,
    /// The run.
    pub done: Simulation,
    /// Machine and mode, for reports.
    pub machine: String,
}

impl Bench<'_> {
    /// Returns machine and mode in words.
    pub fn title(&self) -> String {
        format!("{}, {}", self.machine.name, self.options.mode.name())
    }

    /// Simulates a launch of the program.
    ///
    /// # Errors
    /// A block does not fit the machine.
    pub fn simulate(&self, subject: &Subject<'_>, launch: Launch) -> Result<Simulated, Failed> {
        let before = launch.clone();
        let job =
            Job::new(subject.program, subject.kernel, launch, self.machine, self.options.clone());
        let done = simulate::simulate(job, self.host).map_err(Failed::new)?;
        Ok(Simulated { before, done, machine: self.title() })
    }
}

impl Sources<'_> {
    /// Runs the program on the first GPU and saves the record that `record` makes of the run.
    /// Returns `None` if there is no GPU.
    fn run<T>(
        &self,
        subject: &Subject<'_>,
        run: impl FnOnce(&Launch, &str, Duration) -> Result<T, DeviceError>,
        record: impl FnOnce(&T) -> (String, Result<String, String>),
    ) -> Result<Option<(T, Launch)>, Failed> {
        let Some((date, limit)) = &self.device else { return Ok(None) };
        let launch = subject.launch()?;
        match run(&launch, date, *limit) {
            Ok(done) => {
                let (name, text) = record(&done);
                self.save(&name, text)?;
                Ok(Some((done, launch)))
            }
            Err(e) if !e.is_absence() => Err(Failed::new(format!("{}: {e}", subject.program.name))),
            Err(e) => {
                let help = e.help().map(|h| format!("\nhelp: {h}")).unwrap_or_default();
                if self.save.is_some() {
                    return Err(Failed::new(format!("nothing can be recorded: {e}{help}")));
                }
                (self.note)(&format!("note: {e}; comparing with recorded observations{help}\n"));
                Ok(None)
            }
        }
    }

    fn save(&self, name: &str, text: Result<String, String>) -> Result<(), Failed> {
        let Some(save) = self.save else { return Ok(()) };
        save(name, &text.map_err(Failed::new)?).map_err(Failed::Told)
    }

    /// Runs the program on the GPU, or else finds its recorded observation.
    ///
    /// # Errors
    /// The launch cannot be resolved, the driver refuses the program, or a record cannot be read.
    pub fn observe(&self, subject: &Subject<'_>) -> Result<Option<Observed>, Failed> {
        let program = subject.program;
        let run = |launch: &Launch, date: &str, limit| {
            let run = match subject.cubin {
                Some(cubin) => gpu::run(Image::Cubin(cubin), subject.kernel, launch, limit)?,
                None if subject.kernel.native.is_some() => {
                    gpu::hold()?; // without a GPU, that is the reason
                    return Err(no_cubin());
                }
                None => {
                    let text = gpu::device_text(&program.name, program.code());
                    gpu::run(Image::Ptx(&text), subject.kernel, launch, limit)?
                }
            };
            Ok(Observation::of(&run, program.code(), launch, date))
        };
        let record = |seen: &Observation| (subject.record_name(), seen.to_text());
        if let Some((observation, launch)) = self.run(subject, run, record)? {
            return Ok(Some(Observed { observation, launch, live: true }));
        }
        let found = read(self.records, &subject.record_name(), Observation::parse)?;
        let Some(observation) = found else { return Ok(None) };
        let launch = subject.launch_as(&observation.constants)?;
        Ok(Some(Observed { observation, launch, live: false }))
    }
}

/// Returns the error for machine code of which only the listing is at hand.
fn no_cubin() -> DeviceError {
    DeviceError::Refused {
        step: "loading the machine code",
        reason: "a GPU runs the cubin, not its listing".to_string(),
        log: "help: put the cubin beside the `.sass` file, with the same name".to_string(),
    }
}

/// Returns the end of the device's run in words.
fn ending(finish: &gpu::DeviceFinish) -> String {
    match finish {
        gpu::DeviceFinish::Ok => "ok".to_string(),
        gpu::DeviceFinish::Timeout => "did not end in time".to_string(),
        gpu::DeviceFinish::Fault(why) => format!("fault: {why}"),
    }
}

/// Returns true if the device's run and the simulator's end the same way.
fn ends_alike(device: &gpu::DeviceFinish, simulated: &Finish) -> bool {
    match device {
        gpu::DeviceFinish::Ok => matches!(simulated, Finish::Ok),
        gpu::DeviceFinish::Timeout => {
            matches!(simulated, Finish::Deadlock(_) | Finish::Livelock(_) | Finish::CycleLimit(_))
        }
        gpu::DeviceFinish::Fault(_) => matches!(simulated, Finish::Fault(_)),
    }
}
