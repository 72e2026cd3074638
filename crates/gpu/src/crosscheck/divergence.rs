//! Comparison of divergence: every branch as the simulator counts it, as probes in the program's
//! text count it on the simulator, and as the same probes count it on the GPU.

use std::fmt::Write;
use std::time::Duration;

use simt_core::kernel::Kernel;
use simt_core::launch::Launch;
use simt_core::machine::Finish;
use simt_core::spec::{Lowering, Machine};

use super::{Bench, Failed, Judged, Sources, Subject, Verdict, ending, read};
use crate::instrument::{
    BranchCount, Counted, Divergence, Instrumented, Log, Sequence, instrument, measure, witness,
};
use crate::{self as gpu, DeviceError, DivergenceRecord, Explanations, Image, Records};

/// Length of the log: the first warps, long enough for every bundled program.
const LOG: Log = Log { warps: 64, events: 512 };

/// Counts of the device.
struct Device {
    /// The record.
    record: DivergenceRecord,
    /// Probes that the logged warps passed; empty for a recorded run.
    sequences: Vec<Sequence>,
}

/// A program with probes, and the machine as compared: one issue for each instruction.
struct Probed<'a> {
    subject: &'a Subject<'a>,
    bench: &'a Bench<'a>,
    machine: Machine,
    logged: Instrumented,
}

/// Returns the name of the program's divergence record.
fn record_name(subject: &Subject<'_>) -> String {
    format!("divergence/{}", subject.record_name())
}

/// Returns the machine without predication: probes make arms longer, so that it would differ.
fn as_written(machine: &Machine) -> Machine {
    machine.lowered(Lowering::AsWritten)
}

impl Sources<'_> {
    /// Compares divergence. With `trace`, the report has the probes that this warp of the grid
    /// passed.
    ///
    /// # Errors
    /// The program is machine code or cannot be launched, the driver refuses it, or a record cannot
    /// be read.
    pub fn divergence(
        &self,
        bench: &Bench<'_>,
        subject: &Subject<'_>,
        trace: Option<u32>,
    ) -> Result<Judged, Failed> {
        if subject.kernel.native.is_some() {
            let name = &subject.program.name;
            return Err(Failed::new(format!(
                "`{name}` is machine code; probes are instructions of PTX\nhelp: compare the counters \
                 of a profiler with `simt-sim crosscheck --ncu FILE`"
            )));
        }
        let probed = Probed::new(bench, subject);
        let run = |launch: &Launch, date: &str, limit| probed.on_device(launch, date, limit);
        let record = |device: &Device| (record_name(subject), device.record.to_text());
        let (device, launch) = match self.run(subject, run, record)? {
            Some((device, launch)) => (Some(device), launch),
            None => probed.recall(self)?,
        };
        probed.compare(launch, device.as_ref(), self.records, trace)
    }
}

impl<'a> Probed<'a> {
    fn new(bench: &'a Bench<'a>, subject: &'a Subject<'a>) -> Probed<'a> {
        let machine = as_written(bench.machine);
        let logged = instrument(&subject.program.module, machine.warp_size, Some(LOG));
        Probed { subject, bench, machine, logged }
    }

    /// Runs the program on the GPU: once with counters, once with a log as well.
    fn on_device(
        &self,
        launch: &Launch,
        date: &str,
        limit: Duration,
    ) -> Result<Device, DeviceError> {
        const WARP_SIZE: u32 = 32;
        let (program, kernel, logged) = (self.subject.program, self.subject.kernel, &self.logged);
        let light = instrument(&program.module, WARP_SIZE, None);
        let counts = |probes: &Instrumented, words: &[Vec<u32>]| {
            let words = |n: usize| words.get(n).map_or(&[][..], Vec::as_slice);
            probes.read(kernel, words(0), words(1))
        };
        let run = {
            let image = Image::Ptx(&light.text);
            gpu::run_reading(image, kernel, launch, limit, &[&light.counters])?
        };
        let (mut found, _) = counts(&light, &run.variables);
        let (mut disturbed, mut sequences) = (false, Vec::new());
        if let (gpu::DeviceFinish::Ok, Some((log, _))) = (&run.finish, &logged.log) {
            let variables = [logged.counters.as_str(), log];
            let second =
                gpu::run_reading(Image::Ptx(&logged.text), kernel, launch, limit, &variables)?;
            let (with_log, passed) = counts(logged, &second.variables);
            for (branch, logged) in found.branches.iter_mut().zip(&with_log.branches) {
                branch.first = logged.first;
            }
            disturbed = found != with_log;
            sequences = passed;
        }
        let log = (LOG.warps, LOG.events);
        let record =
            DivergenceRecord::of(&run, program.code(), launch, date, log, found, disturbed);
        Ok(Device { record, sequences })
    }

    /// Returns the recorded counts of the program, if there are any fresh ones, and the launch.
    fn recall(&self, sources: &Sources<'_>) -> Result<(Option<Device>, Launch), Failed> {
        let (name, records) = (record_name(self.subject), sources.records);
        let Some(record) = read(records, &name, DivergenceRecord::parse)? else {
            return Ok((None, self.subject.launch()?));
        };
        let launch = self.subject.launch_as(&record.constants)?;
        match record.is_of(self.subject.program.code(), &launch) {
            Ok(()) => Ok((Some(Device { record, sequences: Vec::new() }), launch)),
            Err(e) => {
                (sources.note)(&format!("note: {}: {e}; record it again\n", records.place(&name)));
                Ok((None, launch))
            }
        }
    }

    /// Counts on the simulator and compares.
    fn compare(
        &self,
        launch: Launch,
        device: Option<&Device>,
        records: &dyn Records,
        trace: Option<u32>,
    ) -> Result<Judged, Failed> {
        let (kernel, options, logged) = (self.subject.kernel, &self.bench.options, &self.logged);
        let machine = &self.machine;
        let own = witness(kernel, launch.clone(), machine, options, logged).map_err(Failed::new)?;
        let name = &self.subject.program.name;
        if !matches!(own.finish, Finish::Ok) {
            return self.not_counted(&own.finish, device, records);
        }
        let probed = measure(kernel, launch, machine, options, logged).map_err(Failed::new)?;
        let Judged { text, verdict } = self.judge([&own, &probed], device, records)?;
        let mut text = format!("{name}: {text}");
        if let Some(warp) = trace {
            let ours = [&own.sequences, &probed.sequences];
            text += &self.trace(warp as usize, ours, device);
        }
        Ok(Judged { text, verdict })
    }

    /// Reports a simulated run that does not end well. Probes change memory, so a hang of a text
    /// with probes cannot be proved.
    fn not_counted(
        &self,
        finish: &Finish,
        device: Option<&Device>,
        records: &dyn Records,
    ) -> Result<Judged, Failed> {
        let name = &self.subject.program.name;
        let mut text = format!("  {}: {}\n", self.bench.title(), finish.name());
        let Some(Device { record, .. }) = device else {
            let text = format!("{name}: not counted\n{text}");
            return Ok(Judged { text, verdict: Verdict::NothingToCompare });
        };
        let _ = writeln!(text, "  {} with probes: {}", record.gpu, ending(&record.finish));
        let (word, notes, verdict) = self.explain(records, &record.differing(None))?;
        Ok(Judged { text: format!("{name}: not counted, {word}\n{text}{notes}"), verdict })
    }

    /// Returns a word for the lines that differ, the known reasons, and the verdict.
    fn explain(
        &self,
        records: &dyn Records,
        differing: &[u32],
    ) -> Result<(&'static str, String, Verdict), Failed> {
        let explained = explanations(records)?;
        let judged = explained.judge(self.subject.file_name(), differing);
        let reasons = judged.reasons.iter().map(|e| format!("  because: {}\n", e.reason)).collect();
        Ok(match (differing, judged.unexplained.as_slice()) {
            ([], _) => ("equal", String::new(), Verdict::Agrees),
            (_, []) => ("differs, explained", reasons, Verdict::Agrees),
            _ => ("differs", reasons, Verdict::Differs),
        })
    }

    fn judge(
        &self,
        [own, probed]: [&Counted; 2],
        device: Option<&Device>,
        records: &dyn Records,
    ) -> Result<Judged, Failed> {
        let mut columns = vec![&own.divergence, &probed.divergence];
        let ours = format!("{}, as written", self.bench.title());
        let mut heads = vec![ours, "the same with probes".to_string()];
        let mut notes = String::new();
        let (mut word, mut verdict) = match device {
            None => {
                let place = records.place(&record_name(self.subject));
                let _ = writeln!(notes, "  no GPU, and no fresh {place}");
                ("equal", Verdict::NothingToCompare)
            }
            Some(Device { record, .. }) => {
                let unclear =
                    if record.disturbed { "; logging changed what was counted" } else { "" };
                let DivergenceRecord { gpu, driver, date, .. } = record;
                heads.push(format!("{gpu} ({driver}, {date}{unclear})"));
                if record.finish == gpu::DeviceFinish::Ok {
                    columns.push(&record.counts);
                } else {
                    let _ = writeln!(notes, "  {gpu} with probes: {}", ending(&record.finish));
                }
                let differing = record.differing(Some(&own.divergence));
                let (word, reasons, verdict) = self.explain(records, &differing)?;
                notes += &reasons;
                (word, verdict)
            }
        };
        if own.divergence != probed.divergence {
            (word, verdict) = ("the simulator's own probes differ", Verdict::Differs);
        }
        let text = format!("{word}\n  {}\n{}{notes}", heads.join(" / "), table(&columns));
        Ok(Judged { text, verdict })
    }

    /// Lists the probes that a warp passed, up to the first that differs.
    fn trace(&self, warp: usize, ours: [&Vec<Sequence>; 2], device: Option<&Device>) -> String {
        let of = |all: &Vec<Sequence>| all.get(warp).cloned().unwrap_or_default();
        let mut columns = vec![("simulator", of(ours[0])), ("with probes", of(ours[1]))];
        if let Some(device) = device.filter(|d| !d.sequences.is_empty()) {
            columns.push(("device", of(&device.sequences)));
        }
        let mut out = format!("  warp {warp}:\n");
        for at in 0..columns.iter().map(|(_, c)| c.len()).max().unwrap_or(0) {
            let here: Vec<_> = columns.iter().map(|(_, c)| c.get(at)).collect();
            let describe = |passed| self.logged.describe(self.subject.kernel, passed);
            let show = |n: usize| here[n].map_or("nothing".to_string(), describe);
            if here.windows(2).all(|pair| pair[0] == pair[1]) {
                let _ = writeln!(out, "    {}", show(0));
            } else {
                for (n, (who, _)) in columns.iter().enumerate() {
                    let _ = writeln!(out, "    {who} goes on with {}", show(n));
                }
                break;
            }
        }
        out
    }
}

/// Reads the known reasons of differences.
pub(super) fn explanations(records: &dyn Records) -> Result<Explanations, Failed> {
    let found = read(records, "divergence/explained.ron", Explanations::parse)?;
    Ok(found.unwrap_or_default())
}

/// Compares the simulator's counts with the recorded ones: the lines that differ, or `None` without
/// a fresh record.
pub(super) fn differing(
    bench: &Bench<'_>,
    subject: &Subject<'_>,
    records: &dyn Records,
) -> Result<Option<Vec<u32>>, Failed> {
    let Some(record) = read(records, &record_name(subject), DivergenceRecord::parse)? else {
        return Ok(None);
    };
    let kernel: &Kernel = subject.kernel;
    let launch = subject.launch_as(&record.constants)?;
    if record.is_of(subject.program.code(), &launch).is_err() {
        return Ok(None);
    }
    let machine = as_written(bench.machine);
    let log = Log { warps: record.log.0, events: record.log.1 };
    let probes = instrument(&subject.program.module, machine.warp_size, Some(log));
    let own = witness(kernel, launch, &machine, &bench.options, &probes).map_err(Failed::new)?;
    let counted = matches!(own.finish, Finish::Ok).then_some(&own.divergence);
    Ok(Some(record.differing(counted)))
}

/// Returns a line for each branch: one figure if all columns agree, else one of each column.
fn table(columns: &[&Divergence]) -> String {
    let Some(first) = columns.first() else { return String::new() };
    let mut out = String::new();
    for (number, branch) in first.branches.iter().enumerate() {
        let cell = |value: &dyn Fn(&BranchCount) -> u64| {
            let value = |c: &&Divergence| {
                c.branches.get(number).map_or("-".to_string(), |b| value(b).to_string())
            };
            let values: Vec<String> = columns.iter().map(value).collect();
            let same = values.windows(2).all(|pair| pair[0] == pair[1]);
            if same { values[0].clone() } else { values.join("/") }
        };
        let _ = writeln!(
            out,
            "  line {:>4}: executed {}, divergent {}, lanes {}, taken {}; taken side first {}, \
             other side first {}",
            branch.line,
            cell(&|b| b.executed),
            cell(&|b| b.divergent),
            cell(&|b| b.lanes),
            cell(&|b| b.taken),
            cell(&|b| b.first[0]),
            cell(&|b| b.first[1]),
        );
    }
    out
}
