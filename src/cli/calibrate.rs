//! `simt-sim calibrate`: machine parameters of the simulator and of a GPU.

use std::time::Duration;

use simt_gpu::calibrate::{self, CalibrationError, Experiment, Record, Row, Sheet};

use super::args::{CalibrateArgs, Format, MachineChoice};
use super::{Exit, Failure, date, job, output, source};
use simt_threads::Threads;

/// Runs the experiments and prints both figures of each.
pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<Exit, Failure> {
    if args.list {
        let width = calibrate::experiments().map(|e| e.name.len()).max().unwrap_or(0);
        let lines =
            calibrate::experiments().map(|e| format!("{:width$}  {}\n", e.name, e.parameter));
        output::print(&lines.collect::<String>())?;
        return Ok(Exit::Ok);
    }
    let chosen = chosen(&args.names)?;
    let choice = MachineChoice { machine: Some(args.machine.clone()), ..MachineChoice::default() };
    let machine = job::machine(&choice)?;
    let record = measure(args, &chosen)?;
    let rows = chosen.iter().map(|experiment| {
        let simulated = match calibrate::simulated(experiment, &machine.spec, &Threads::new(0)) {
            Ok(figure) => Some(figure),
            Err(e) => {
                output::error(&format!("note: {} cannot be simulated: {e}\n", experiment.name));
                None
            }
        };
        Row::new(experiment, simulated, record.figure(experiment))
    });
    let who = format!("{} ({}, {})", record.gpu, record.driver, record.date);
    let sheet = Sheet::new(&machine.spec.name, who, rows.collect());
    let text = match args.format {
        Format::Table => sheet.to_text(),
        Format::Json => serde_json::to_string_pretty(&sheet).map_err(Failure::new)? + "\n",
    };
    output::deliver(args.output.as_deref(), &text)?;
    Ok(if sheet.rows.iter().all(Row::is_close) { Exit::Ok } else { Exit::ExpectationFailed })
}

/// Returns the experiments whose names begin with one of `names`; by default all.
fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let unknown = names
        .iter()
        .find(|name| !calibrate::experiments().any(|e| e.name.starts_with(name.as_str())));
    if let Some(name) = unknown {
        let meant = simt_core::diag::closest(name, calibrate::experiments().map(|e| e.name));
        let meant = meant.map(|m| format!("did you mean `{m}`? ")).unwrap_or_default();
        return Err(Failure::new(format!(
            "no experiment `{name}`\nhelp: {meant}list all with `simt-sim calibrate --list`"
        )));
    }
    let asked = |e: &&Experiment| {
        names.is_empty() || names.iter().any(|name| e.name.starts_with(name.as_str()))
    };
    Ok(calibrate::experiments().filter(asked).collect())
}

/// Returns measured figures: of the GPU, of the file given, or of the bundled record.
fn measure(args: &CalibrateArgs, chosen: &[&'static Experiment]) -> Result<Record, Failure> {
    let read = |path: &std::path::Path| -> Result<Record, Failure> {
        let (name, text) = source::read_text(path)?;
        Record::parse(&text).map_err(|e| Failure::new(format!("`{name}`: {e}")))
    };
    if let Some(path) = &args.recorded {
        return read(path);
    }
    let mut record: Option<Record> = None;
    for experiment in chosen {
        match calibrate::measured(experiment, Duration::from_secs(args.timeout)) {
            Ok(measured) => {
                let date = args.date.clone().unwrap_or_else(date::today);
                let fresh = Record::of(&measured, &date);
                let record = record.get_or_insert_with(|| {
                    // A record of the same GPU keeps the figures that are not measured again.
                    let old = args
                        .record
                        .as_ref()
                        .filter(|path| path.exists())
                        .and_then(|path| read(path).ok());
                    old.filter(|old| old.gpu == fresh.gpu)
                        .map_or(fresh.clone(), |old| Record { figures: old.figures, ..fresh })
                });
                record.put(experiment, measured.figure);
            }
            Err(CalibrationError::Device(e)) if e.is_absence() => {
                let help = e.help().map(|h| format!("\nhelp: {h}")).unwrap_or_default();
                if args.record.is_some() {
                    return Err(Failure::new(format!("cannot record: {e}{help}")));
                }
                output::error(&format!("note: {e}; comparing with recorded figures{help}\n"));
                return Record::h200().map_err(Failure::new);
            }
            Err(e) => output::error(&format!("note: {} was not measured: {e}\n", experiment.name)),
        }
    }
    let record = record.ok_or_else(|| Failure::new("the GPU ran none of the experiments"))?;
    if let Some(path) = &args.record {
        output::write_file(path, record.to_text().map_err(Failure::new)?.as_bytes())?;
    }
    Ok(record)
}
