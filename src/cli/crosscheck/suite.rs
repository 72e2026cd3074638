//! `simt-sim crosscheck --suite [DIR]`: every program of a folder, and every profiled launch of them, in one report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use simt_core::Program;
use simt_core::kernel::Kernel;
use simt_core::launch::Launch;
use simt_core::machine::Finish;
use simt_core::spec::{Lowering, Machine};
use simt_gpu::calibrate::{self, EXPERIMENTS, Experiment, Record};
use simt_gpu::instrument::{Log, instrument, witness};
use simt_gpu::{self as gpu, DivergenceRecord, Explanations, GeneratedRecord, Observation, Tolerance};
use simt_report::profile::{Launched, Profile};
use simt_report::validation::{
    self, GeneratedRow, Known, LARGE, ParameterRow, ProfileRow, ProgramRow, Trust, Validation,
};
use simt_report::{Style, validation_text};

use super::super::args::{CrosscheckArgs, Format, LaunchChoice, ValidationPage};
use super::super::{Exit, Failure, job, output, source};
use super::{
    absence, as_recorded, default_folder, finishes, ncu, observation_file, record, run_on_device, simulate, today,
};
use simt_threads::Threads;

/// Records of generated programs, and what these are made of.
const GENERATED: [(&str, &str); 2] = [
    ("random.ron", "nested divergence, loops, shared memory, shuffles, votes, reductions, atomics"),
    ("random_calls.ron", "the same, most of them with calls of functions, indirect and recursive ones too"),
];

/// Runs the folder; fails where something differs without a known reason.
pub(super) fn suite(args: &CrosscheckArgs, folder: &Path) -> Result<Exit, Failure> {
    let observations = args.recorded.clone().or_else(|| args.record.clone()).unwrap_or_else(default_folder);
    if args.suite.page == Some(ValidationPage::Summary) {
        let known = read_or_default(&observations.join("known.ron"), Known::parse)?;
        output::print(&validation::summary(&known))?;
        return Ok(Exit::Ok);
    }
    let files = programs(folder)?;
    let suite = Suite {
        args,
        known: read_or_default(&observations.join("known.ron"), Known::parse)?,
        explanations: read_or_default(&observations.join("divergence/explained.ron"), Explanations::parse)?,
        observations,
    };
    let (mut programs, mut profiles) = (Vec::new(), Vec::new());
    let reports = suite.reports()?;
    let compiled = compiled_kernels(&files);
    for path in &files {
        let program = source::read_runnable(path, None, true)?;
        let kernel = program.kernel(None).map_err(Failure::new)?;
        programs.push(suite.program(path, &program, kernel)?);
        let by_hand = path.extension().is_some_and(|e| e == "ir");
        // What a profiler measured was compiled: where nvcc's text is there, the one by hand does not stand for it.
        if !(by_hand && compiled.contains(&kernel.name)) {
            suite.profiled(&program, kernel, &reports, &mut profiles)?;
        }
    }
    let machine = job::machine(&args.machine)?;
    let simulated = format!("{}, {}", machine.spec.name, machine.mode.name());
    let parameters = suite.parameters(&machine.spec)?;
    let all = Validation::new(simulated, programs, profiles, suite.generated()?, parameters, suite.known);
    output::print(&match args.suite.format {
        _ if args.suite.page == Some(ValidationPage::Programs) => all.appendix(),
        Format::Json => all.to_json().map_err(Failure::new)?,
        Format::Table => {
            let style = Style { width: output::width(), color: output::color_out() };
            validation_text(&all, args.verbose, style)
        }
    })?;
    Ok(if all.is_explained() { Exit::Ok } else { Exit::ExpectationFailed })
}

/// Every program below a folder, sorted, but for assignments (what is handed in for those is judged by `grade`), and programs that
/// leave clock stamps (no two runs leave the same, and `calibrate` judges them).
fn programs(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let fail = |e: &dyn std::fmt::Display| Failure::new(format!("cannot read the folder `{}`: {e}", folder.display()));
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if folder.join("assignment.ron").exists() {
            continue;
        }
        for entry in std::fs::read_dir(&folder).map_err(|e| fail(&e))? {
            let path = entry.map_err(|e| fail(&e))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ir" || e == "ptx") && !leaves_stamps(&path) {
                found.insert(path);
            }
        }
    }
    if found.is_empty() {
        return Err(fail(&"there is no program (.ir, .ptx) in it"));
    }
    Ok(found.into_iter().collect())
}

/// Whether a program belongs to an experiment of `simt-sim calibrate` and reads the clock.
fn leaves_stamps(path: &Path) -> bool {
    let is_of = |e: &Experiment| path.ends_with(e.path) && e.text.contains("%clock");
    EXPERIMENTS.iter().any(is_of)
}

/// The kernels of the compiled programs, without a word on those that cannot be read.
fn compiled_kernels(files: &[PathBuf]) -> BTreeSet<String> {
    let compiled = files.iter().filter(|path| path.extension().is_some_and(|e| e == "ptx"));
    let read = compiled.filter_map(|path| source::read(path).ok());
    read.filter_map(|program| program.kernel(None).ok().map(|k| k.name.clone())).collect()
}

/// A file that need not be there.
fn read_or_default<T: Default>(path: &Path, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, Failure> {
    if !path.exists() {
        return Ok(T::default());
    }
    let (name, text) = source::read_text(path)?;
    parse(&text).map_err(|e| Failure::new(format!("`{name}`: {e}")))
}

struct Suite<'a> {
    args: &'a CrosscheckArgs,
    observations: PathBuf,
    known: Known,
    explanations: Explanations,
}

impl Suite<'_> {
    /// Every profiler's report beside the observations.
    fn reports(&self) -> Result<Vec<Profile>, Failure> {
        let entries = std::fs::read_dir(&self.observations).into_iter().flatten().flatten().map(|e| e.path());
        let mut files: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "csv")).collect();
        files.sort();
        files.iter().map(|path| ncu::read(path)).collect()
    }

    /// The figures of experiments that a GPU was asked for as well, on the simulated machine.
    fn parameters(&self, spec: &Machine) -> Result<Vec<ParameterRow>, Failure> {
        let parse = |text: &str| Record::parse(text).map(Some);
        let Some(record) = read_or_default(&self.observations.join("calibrate.ron"), parse)? else {
            return Ok(Vec::new());
        };
        let row = |experiment: &Experiment| {
            let measured = record.figure(experiment)?;
            let simulated = calibrate::simulated(experiment, spec, &Threads::new(0)).ok()?;
            let Experiment { name, parameter, unit, .. } = *experiment;
            Some(ParameterRow { experiment: name, parameter, unit, simulated, measured })
        };
        Ok(EXPERIMENTS.iter().filter_map(row).collect())
    }

    fn generated(&self) -> Result<Vec<GeneratedRow>, Failure> {
        let row = |(file, kind): (&str, &'static str)| {
            let parse = |text: &str| GeneratedRecord::parse(text).map(Some);
            let record = read_or_default(&self.observations.join(file), parse)?;
            Ok(record.map(|r| GeneratedRow {
                kind,
                measured_on: format!("{}, {}, {}", r.gpu, r.driver, r.date),
                programs: r.programs.iter().filter(|entry| !entry.is_empty()).count(),
                explained: r.explained.iter().map(|e| e.programs.len()).sum(),
                uncounted: r.programs.iter().filter(|entry| entry.ends_with('-')).count(),
            }))
        };
        GENERATED.into_iter().map(row).filter_map(Result::transpose).collect()
    }

    /// A program's memory and its divergence.
    fn program(&self, path: &Path, program: &Program, kernel: &Kernel) -> Result<ProgramRow, Failure> {
        let file_name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let mut row = ProgramRow {
            program: program.name.clone(),
            measured_on: String::new(),
            memory: Trust::NotMeasured,
            detail: "no observation".to_string(),
            divergence: self.divergence(path, program, kernel)?,
            micros: None,
        };
        let Some((observation, launch)) = self.observed(path, program, kernel)? else { return Ok(row) };
        row.measured_on = format!("{}, {}", observation.gpu, observation.driver);
        let simulated = simulate(self.args, program, kernel, launch)?;
        let known = || Trust::Differs { reason: self.known.program(file_name).map(str::to_string) };
        let (theirs, same) = finishes(&observation.finish, &simulated.done.finish);
        if !same || observation.finish != gpu::Finish::Ok {
            row.memory = if same { Trust::Exact } else { known() };
            row.detail = format!("GPU: {theirs}; simulated: {}", simulated.done.finish.name());
            return Ok(row);
        }
        let clock = simulated.done.run.machine_facts.clock_hz.max(1);
        let ours = simulated.done.run.cycles as f64 / clock as f64 * 1e6;
        row.micros = observation.micros.map(|m| [ours, f64::from(m)]);
        let compare =
            |tolerance| observation.compare(&program.text, &simulated.before, &simulated.done.launch, tolerance);
        // What may differ in the last places need not.
        let exact = compare(Tolerance::default()).is_ok_and(|compared| compared.agrees());
        match compare(if exact { Tolerance::default() } else { Tolerance::of(kernel) }) {
            Ok(compared) if compared.agrees() => {
                let tolerance = compared.tolerance;
                row.memory = if tolerance.is_exact() { Trust::Exact } else { Trust::Granted(tolerance.to_string()) };
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
                        format!("{}: {n} of {} elements, first [{}]", b.name, b.elements, first.index)
                    }
                    _ => format!("{}: its digest", b.name),
                });
            }
            Err(e) => row.detail = format!("{e}; record it again"),
        }
        Ok(row)
    }

    /// What a GPU did with the program, now or earlier, and the launch that it did.
    fn observed(
        &self,
        path: &Path,
        program: &Program,
        kernel: &Kernel,
    ) -> Result<Option<(Observation, Launch)>, Failure> {
        if self.args.recorded.is_none() {
            let launch = job::launch(program, kernel, &self.args.launch)?;
            match run_on_device(self.args, program, kernel, &launch) {
                Ok(run) => {
                    let date = self.args.date.clone().unwrap_or_else(today);
                    let observation = Observation::of(&run, &program.text, &launch, &date);
                    if let Some(folder) = &self.args.record {
                        record(folder, path, &observation)?;
                    }
                    return Ok(Some((observation, launch)));
                }
                Err(e) if !e.is_absence() => return Err(Failure::new(format!("{}: {e}", program.name))),
                Err(e) if self.args.record.is_some() => {
                    return Err(Failure::new(format!("nothing can be recorded: {e}")));
                }
                Err(e) => output::error(&absence(&e)),
            }
        }
        let parse = |text: &str| Observation::parse(text).map(Some);
        let Some(observation) = read_or_default(&observation_file(&self.observations, path), parse)? else {
            return Ok(None);
        };
        let choice = as_recorded(program, &self.args.launch, &observation.constants);
        Ok(Some((observation, job::launch(program, kernel, &choice)?)))
    }

    /// Whether branches and blocks diverged as a GPU counted them earlier.
    fn divergence(&self, path: &Path, program: &Program, kernel: &Kernel) -> Result<Option<Trust>, Failure> {
        let parse = |text: &str| DivergenceRecord::parse(text).map(Some);
        let file = observation_file(&self.observations.join("divergence"), path);
        let Some(record) = read_or_default(&file, parse)? else { return Ok(None) };
        let launch = job::launch(program, kernel, &as_recorded(program, &self.args.launch, &record.constants))?;
        if record.is_of(&program.text, &launch).is_err() {
            return Ok(None);
        }
        let mut machine = job::machine(&self.args.machine)?;
        machine.spec = machine.spec.lowered(Lowering::AsWritten); // probes make arms longer, so that none is predicated
        let options = machine.options(&self.args.limit);
        let log = Log { warps: record.log.0, events: record.log.1 };
        let probes = instrument(&program.module, machine.spec.warp_size, Some(log));
        let own = witness(kernel, launch, &machine.spec, &options, &probes).map_err(Failure::new)?;
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let counted = matches!(own.finish, Finish::Ok).then_some(&own.divergence);
        let differing = record.differing(counted);
        let judged = self.explanations.judge(name, &differing);
        Ok(Some(match (differing.is_empty(), judged.unexplained.is_empty()) {
            (true, _) => Trust::Exact,
            (false, true) => Trust::Differs { reason: judged.reasons.first().map(|e| e.reason.clone()) },
            (false, false) => Trust::Differs { reason: None },
        }))
    }

    /// Every launch of the reports that is of this program.
    fn profiled(
        &self,
        program: &Program,
        kernel: &Kernel,
        reports: &[Profile],
        rows: &mut Vec<ProfileRow>,
    ) -> Result<(), Failure> {
        let names: Vec<&str> = program.plan.constants().collect();
        for launched in reports.iter().flat_map(|r| &r.launches).filter(|l| l.kernel == kernel.name) {
            let choice = as_profiled(launched, &names, &self.args.launch);
            let launch = job::launch(program, kernel, &choice)?;
            let threads: u64 = launch.grid.iter().chain(&launch.block).map(|&n| u64::from(n)).product();
            if !(self.args.suite.quick && threads >= LARGE) {
                rows.push(ncu::hold(self.args, program, launched, &choice)?);
            }
        }
        Ok(())
    }
}

/// The launch options of a launch that a report has: its constants, else its shape; what is typed counts more.
fn as_profiled(launched: &Launched, names: &[&str], typed: &LaunchChoice) -> LaunchChoice {
    let constants = launched.constants(names.iter().copied());
    let shape = |extent: Option<[u32; 3]>| extent.map(|e| e.map(|n| n.to_string()).join(","));
    let mut set: Vec<String> = constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
    set.extend(typed.set.iter().cloned());
    LaunchChoice {
        set,
        grid: typed.grid.clone().or_else(|| shape(launched.grid)),
        block: typed.block.clone().or_else(|| shape(launched.block)),
        max_memory: typed.max_memory,
    }
}
