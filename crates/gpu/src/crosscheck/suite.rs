//! Comparison of a whole folder of programs, and of every profiled launch of them.

use std::collections::BTreeSet;
use std::path::Path;

use simt_core::Program;
use simt_core::launch::Overrides;
use simt_core::spec::Machine;
use simt_report::profile::{Launched, Profile};
use simt_report::validation::{
    self, GeneratedRow, Known, LARGE, ParameterRow, ProfileRow, ProgramRow, Trust, Validation,
};

use super::divergence::{differing, explanations};
use super::{Bench, Failed, Observed, Sources, Subject, ending, ends_alike, ncu, read};
use crate::calibrate::{self, Experiment, Record};
use crate::{self as gpu, Explanations, GeneratedSummary, Records, Tolerance};

/// Names of the generated programs' records, and the contents of the programs.
const GENERATED: [(&str, &str); 2] = [
    ("random", "nested divergence, loops, shared memory, shuffles, votes, reductions, atomics"),
    (
        "random_calls",
        "the same, most of them with calls of functions, indirect and recursive ones too",
    ),
];

/// Returns the page of what is known and what is not modelled.
///
/// # Errors
/// The list of known differences cannot be read.
pub fn summary(records: &dyn Records) -> Result<String, Failed> {
    Ok(validation::summary(&known(records)?))
}

fn known(records: &dyn Records) -> Result<Known, Failed> {
    Ok(read(records, "known.ron", Known::parse)?.unwrap_or_default())
}

/// Returns true if a bundled program reads the clock: no two runs leave the same stamps.
pub fn leaves_stamps(path: &Path) -> bool {
    let reads = |(known, text): &(&str, &str)| path.ends_with(known) && text.contains("%clock");
    simt_programs::FILES.iter().any(reads)
}

/// Returns the bundled programs, sorted by path, without those that leave clock stamps.
pub fn bundled() -> Vec<Program> {
    let parse = |(path, text): &(&str, &str)| Program::parse(&format!("programs/{path}"), text);
    let mut programs: Vec<Program> = simt_programs::FILES.iter().map(parse).collect();
    programs.retain(|program| !leaves_stamps(Path::new(&program.name)));
    programs.sort_by(|a, b| Path::new(&a.name).cmp(Path::new(&b.name)));
    programs
}

/// Returns the kernels of compiled programs.
fn compiled(programs: &[Program]) -> BTreeSet<String> {
    let compiled = programs.iter().filter(|program| program.name.ends_with(".ptx"));
    compiled.filter_map(|program| Some(program.kernel(None).ok()?.name.clone())).collect()
}

/// Parses a profiler's report.
///
/// # Errors
/// The line that cannot be read, and the command that writes a readable report.
pub fn report(place: &str, text: &str) -> Result<Profile, Failed> {
    Profile::parse(text).map_err(|e| {
        let help =
            "help: `ncu --csv --page raw --log-file FILE ..` writes a report that can be read";
        Failed::Told(format!("error: {place}, {e}\n{help}\n"))
    })
}

/// Rows of a validation, collected program by program.
pub struct Suite<'a> {
    bench: Bench<'a>,
    sources: &'a Sources<'a>,
    known: Known,
    explanations: Explanations,
    reports: Vec<Profile>,
    /// Kernels of compiled programs.
    compiled: BTreeSet<String>,
    /// True if large profiled launches are left out.
    quick: bool,
    programs: Vec<ProgramRow>,
    profiles: Vec<ProfileRow>,
}

impl<'a> Suite<'a> {
    /// Prepares the comparison. A profiler measured the compiled programs, not those by hand with a
    /// kernel of the same name. With `quick`, launches of more than a million threads are left out.
    ///
    /// # Errors
    /// Known differences, explanations or profiler reports cannot be read.
    pub fn new(
        bench: Bench<'a>,
        sources: &'a Sources<'a>,
        programs: &[Program],
        quick: bool,
    ) -> Result<Suite<'a>, Failed> {
        let records = sources.records;
        let (known, explanations) = (known(records)?, explanations(records)?);
        let mut reports = Vec::new();
        for name in records.reports() {
            if let Some(text) = records.text(&name).map_err(Failed::Told)? {
                reports.push(report(&records.place(&name), &text)?);
            }
        }
        let compiled = compiled(programs);
        let (programs, profiles) = (Vec::new(), Vec::new());
        Ok(Suite {
            bench,
            sources,
            known,
            explanations,
            reports,
            compiled,
            quick,
            programs,
            profiles,
        })
    }

    /// Compares a program's divergence with the recorded counts.
    fn divergence(&self, subject: &Subject<'_>) -> Result<Option<Trust>, Failed> {
        let Some(differing) = differing(&self.bench, subject, self.sources.records)? else {
            return Ok(None);
        };
        let judged = self.explanations.judge(subject.file_name(), &differing);
        Ok(Some(match (differing.is_empty(), judged.unexplained.is_empty()) {
            (true, _) => Trust::Exact,
            (false, true) => {
                Trust::Differs { reason: judged.reasons.first().map(|e| e.reason.clone()) }
            }
            (false, false) => Trust::Differs { reason: None },
        }))
    }

    /// Adds a program: its divergence, its memory, its profiled launches.
    ///
    /// # Errors
    /// The program cannot be launched, the driver refuses it, or a record cannot be read.
    pub fn add(&mut self, subject: &Subject<'_>) -> Result<(), Failed> {
        let row = self.program(subject)?;
        self.programs.push(row);
        let by_hand = Path::new(&subject.program.name).extension().is_some_and(|e| e == "ir");
        if !(by_hand && self.compiled.contains(&subject.kernel.name)) {
            self.profiled(subject)?;
        }
        Ok(())
    }

    fn program(&self, subject: &Subject<'_>) -> Result<ProgramRow, Failed> {
        let program: &Program = subject.program;
        let mut row = ProgramRow {
            program: program.name.clone(),
            measured_on: String::new(),
            memory: Trust::NotMeasured,
            detail: "no observation".to_string(),
            divergence: self.divergence(subject)?,
            micros: None,
        };
        let Some(Observed { observation, launch, .. }) = self.sources.observe(subject)? else {
            return Ok(row);
        };
        row.measured_on = format!("{}, {}", observation.gpu, observation.driver);
        let simulated = self.bench.simulate(subject, launch)?;
        let (finish, run) = (&simulated.done.finish, &simulated.done.run);
        let reason = || self.known.program(subject.file_name()).map(str::to_string);
        let known = || Trust::Differs { reason: reason() };
        let same = ends_alike(&observation.finish, finish);
        if !same || observation.finish != gpu::DeviceFinish::Ok {
            row.memory = if same { Trust::Exact } else { known() };
            let theirs = ending(&observation.finish);
            row.detail = format!("GPU: {theirs}; simulated: {}", finish.name());
            return Ok(row);
        }
        let clock = run.machine_facts.clock_hz.max(1);
        let ours = run.cycles as f64 / clock as f64 * 1e6;
        row.micros = observation.micros.map(|m| [ours, f64::from(m)]);
        let (before, after) = (&simulated.before, &simulated.done.launch);
        let compare = |tolerance| observation.compare(program.code(), before, after, tolerance);
        // What may differ in the last places need not.
        let exact = compare(Tolerance::default()).is_ok_and(|compared| compared.agrees());
        match compare(if exact { Tolerance::default() } else { Tolerance::of(subject.kernel) }) {
            Ok(compared) if compared.agrees() => {
                let tolerance = compared.tolerance;
                row.memory = match tolerance.is_exact() {
                    true => Trust::Exact,
                    false => Trust::Granted(tolerance.to_string()),
                };
                row.detail = match compared.buffers.len() {
                    1 => "1 buffer".to_string(),
                    n => format!("{n} buffers"),
                };
            }
            Ok(compared) => {
                let differing = compared.buffers.iter().find(|b| !b.agrees());
                row.memory = known();
                row.detail = differing.map_or(String::new(), |b| match (b.differing, &b.first) {
                    (Some(n), Some(first)) => {
                        format!(
                            "{}: {n} of {} elements, first [{}]",
                            b.name, b.elements, first.index
                        )
                    }
                    _ => format!("{}: its digest", b.name),
                });
            }
            Err(e) => row.detail = format!("{e}; record it again"),
        }
        Ok(row)
    }

    /// Adds every launch of the reports that is of this program.
    fn profiled(&mut self, subject: &Subject<'_>) -> Result<(), Failed> {
        let launches = self.reports.iter().flat_map(|r| &r.launches);
        let mut rows = Vec::new();
        for launched in launches.filter(|l| l.kernel == subject.kernel.name) {
            let subject = Subject { overrides: as_profiled(launched, subject), ..*subject };
            let launch = subject.launch()?;
            let extents = launch.grid.iter().chain(&launch.block);
            let threads: u64 = extents.map(|&n| u64::from(n)).product();
            if !(self.quick && threads >= LARGE) {
                rows.push(ncu::hold(&self.bench, &subject, launched)?);
            }
        }
        self.profiles.extend(rows);
        Ok(())
    }

    /// Returns the validation: programs, profiled launches, generated programs, parameters.
    ///
    /// # Errors
    /// A record cannot be read.
    pub fn finish(self) -> Result<Validation, Failed> {
        let parameters = self.parameters(self.bench.machine)?;
        let (simulated, generated) = (self.bench.title(), self.generated()?);
        let Suite { programs, profiles, known, .. } = self;
        Ok(Validation::new(simulated, programs, profiles, generated, parameters, known))
    }

    /// Simulates the experiments of calibration that a GPU ran as well.
    fn parameters(&self, spec: &Machine) -> Result<Vec<ParameterRow>, Failed> {
        let Some(record) = read(self.sources.records, "calibrate.ron", Record::parse)? else {
            return Ok(Vec::new());
        };
        let row = |experiment: &Experiment| {
            let measured = record.figure(experiment)?;
            let simulated = calibrate::simulated(experiment, spec, self.bench.host).ok()?;
            let Experiment { name, parameter, unit, .. } = *experiment;
            Some(ParameterRow { experiment: name, parameter, unit, simulated, measured })
        };
        Ok(calibrate::experiments().filter_map(row).collect())
    }

    fn generated(&self) -> Result<Vec<GeneratedRow>, Failed> {
        let found = read(self.sources.records, "generated.ron", GeneratedSummary::parse_all)?;
        let found = found.unwrap_or_default();
        let row = |(name, kind)| {
            let r = found.iter().find(|summary| summary.name == name)?;
            Some(GeneratedRow {
                kind,
                measured_on: format!("{}, {}, {}", r.gpu, r.driver, r.date),
                programs: r.programs,
                explained: r.explained,
                uncounted: r.uncounted,
            })
        };
        Ok(GENERATED.into_iter().filter_map(row).collect())
    }
}

/// Returns the overrides for a launch of a report: its constants, else its shape. The subject's own
/// overrides take precedence.
fn as_profiled(launched: &Launched, subject: &Subject<'_>) -> Overrides {
    let typed = &subject.overrides;
    let constants = launched.constants(subject.program.plan.constants());
    let mut set: Vec<_> =
        constants.into_iter().map(|(name, value)| (name, value.to_string())).collect();
    set.extend(typed.set.iter().cloned());
    Overrides {
        set,
        grid: typed.grid.or(launched.grid),
        block: typed.block.or(launched.block),
        ..typed.clone()
    }
}
