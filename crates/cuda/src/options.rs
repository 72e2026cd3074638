//! Options of the driver, from the environment.
//!
//! `simt-sim exec` sets the variables; a program that loads the library by itself may set them,
//! too. All names begin with `SIMT_SIM_`.

use std::path::PathBuf;
use std::sync::Arc;

use simt_core::checks::Checks;
use simt_core::divergence::SideOrder;
use simt_core::machine::{Options as RunOptions, Timing};
use simt_core::spec::{Lowering, Machine, Mode};
use simt_report::plot::Kind;

use crate::views::Views;

/// Bytes of device memory by default.
const MEMORY_GIB: u64 = 16;
/// Cycles after which a launch is given up by default: about a minute of a GPU. A kernel of one
/// thread takes long without being hung.
const CYCLES: u64 = 100_000_000_000;

/// Options of a process.
#[derive(Debug)]
pub(crate) struct Options {
    /// Machines, one for each virtual GPU.
    pub(crate) machines: Vec<(Machine, RunOptions)>,
    /// Compute capability that the devices claim, as in 90; `None`: that of the machine.
    pub(crate) arch: Option<u32>,
    /// True if machine code goes before PTX where a fat binary has both.
    pub(crate) machine_code: bool,
    /// Threads of the computer that simulate; 0: all.
    pub(crate) jobs: usize,
    /// Bytes of device memory.
    pub(crate) memory: u64,
    /// Checks of every launch.
    pub(crate) checks: Option<Checks>,
    /// Folder for the reports of launches.
    pub(crate) reports: Option<PathBuf>,
    /// Standard error of the process that reads the reports.
    pub(crate) errors: Option<PathBuf>,
    /// True if reports have the whole run.
    pub(crate) whole: bool,
    /// Pages and pictures.
    pub(crate) views: Arc<Views>,
    /// True if a launch call returns when the launch has ended.
    pub(crate) blocking: bool,
    /// Metrics of reports.
    pub(crate) metrics: Vec<String>,
}

/// Returns true if launches are checked.
pub(crate) fn checks_are_on() -> bool {
    std::env::var_os("SIMT_SIM_CHECKS").is_some_and(|names| !names.is_empty())
}

impl Options {
    /// Reads the options.
    ///
    /// # Errors
    /// One line on the first variable that has no meaning.
    pub(crate) fn read() -> Result<Options, String> {
        let get = |name: &str| {
            std::env::var(format!("SIMT_SIM_{name}")).ok().filter(|value| !value.is_empty())
        };
        let number = |name: &str, default: u64| match get(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| format!("SIMT_SIM_{name}: expected a number, found `{text}`")),
        };
        let mode = match get("MODE").as_deref() {
            None => None,
            Some("pre-volta") => Some(Mode::PreVolta),
            Some("volta") => Some(Mode::Volta),
            Some(other) => {
                return Err(format!("SIMT_SIM_MODE: expected pre-volta or volta, found `{other}`"));
            }
        };
        let default = mode.unwrap_or(Mode::Volta).default_machine();
        let names = get("MACHINE").unwrap_or_else(|| default.to_owned());
        let cycles = number("MAX_CYCLES", CYCLES)?;
        let lanes = number("WARP_SIZE", 0)?;
        let timing = match get("TIMING").as_deref() {
            None | Some("cycles") => (Timing::Cycles, u64::MAX),
            Some("off") => (Timing::Off, cycles),
            Some(other) => {
                return Err(format!("SIMT_SIM_TIMING: expected cycles or off, found `{other}`"));
            }
        };
        let mut machines = Vec::new();
        for name in names.split(',') {
            let mut machine = machine(name.trim())?;
            match get("LOWERING").as_deref() {
                None => {}
                Some("as-written") => machine = machine.lowered(Lowering::AsWritten),
                Some("hardware") if machine.code.is_some() => {
                    machine = machine.lowered(Lowering::Hardware);
                }
                Some(other) => {
                    return Err(format!("SIMT_SIM_LOWERING: `{other}` is not for {name}"));
                }
            }
            if lanes > 0 {
                let resized = machine.changed(|spec| spec.warp_size = lanes as u32);
                machine = resized.map_err(|faults| {
                    let first = faults.first().map_or_else(String::new, ToString::to_string);
                    format!("SIMT_SIM_WARP_SIZE: {first}")
                })?;
            }
            let mode = mode.unwrap_or(machine.modes[0]);
            if !machine.modes.contains(&mode) {
                return Err(format!(
                    "SIMT_SIM_MODE: the mode of machine {name} is {}, not {}",
                    machine.modes[0].name(),
                    mode.name()
                ));
            }
            let mut options = RunOptions::of(&machine, mode);
            options.max_cycles = cycles;
            options.yields = get("NO_YIELD").is_none();
            (options.timing, options.max_issues) = timing;
            if let Some(text) = get("ITS_ORDER") {
                options.order =
                    text.parse::<SideOrder>().map_err(|e| format!("SIMT_SIM_ITS_ORDER: {e}"))?;
            }
            machines.push((machine, options));
        }
        let checks = match get("CHECKS") {
            None => None,
            Some(list) => Some(
                Checks::named(list.split(',').map(str::trim))
                    .map_err(|unknown| format!("SIMT_SIM_CHECKS: no check `{unknown}`"))?,
            ),
        };
        let arch = match get("ARCH") {
            None => None,
            Some(text) => {
                let digits = text.trim_start_matches("sm_").trim_start_matches("compute_");
                let number = digits.parse().ok().filter(|arch| (50..=150).contains(arch));
                Some(
                    number
                        .ok_or_else(|| format!("SIMT_SIM_ARCH: expected sm_NN, found `{text}`"))?,
                )
            }
        };
        let list = get("METRICS").unwrap_or_default();
        let metrics: Vec<String> =
            list.split(',').map(str::trim).filter(|m| !m.is_empty()).map(str::to_owned).collect();
        for name in &metrics {
            simt_report::known(name).map_err(|e| format!("SIMT_SIM_METRICS: {e}"))?;
        }
        if timing.0 == Timing::Off && get("PLOT").is_some() {
            return Err("SIMT_SIM_PLOT needs time, and SIMT_SIM_TIMING is off".to_owned());
        }
        let views = Views {
            html: get("HTML").map(PathBuf::from),
            plots: pictures(&get("PLOT").unwrap_or_default())?,
            launch: if get("LAUNCH").is_some() { Some(number("LAUNCH", 0)?) } else { None },
        };
        Ok(Options {
            machines,
            arch,
            machine_code: get("SASS").is_some(),
            jobs: number("JOBS", 0)? as usize,
            memory: number("MEMORY_GIB", MEMORY_GIB)?.clamp(1, 1 << 10) << 30,
            checks,
            reports: get("REPORTS").map(PathBuf::from),
            errors: get("ERRORS").map(PathBuf::from),
            whole: get("WHOLE").is_some(),
            metrics,
            views: Arc::new(views),
            blocking: std::env::var_os("CUDA_LAUNCH_BLOCKING").is_some_and(|value| value == "1"),
        })
    }
}

/// Parses lines of `KIND=FILE`.
fn pictures(list: &str) -> Result<Vec<(Kind, PathBuf)>, String> {
    let picture = |line: &str| {
        let (kind, file) = line.split_once('=')?;
        Some((Kind::named(kind)?, PathBuf::from(file)))
    };
    let lines = list.lines().filter(|line| !line.is_empty());
    let bad = |line: &str| format!("SIMT_SIM_PLOT: expected KIND=FILE, found `{line}`");
    lines.map(|line| picture(line).ok_or_else(|| bad(line))).collect()
}

/// Returns a preset, or the machine of a file.
fn machine(name: &str) -> Result<Machine, String> {
    if let Some(machine) = Machine::preset(name) {
        return Ok(machine);
    }
    if !name.ends_with(".ron") {
        let presets: Vec<&str> = Machine::presets().collect();
        return Err(format!(
            "SIMT_SIM_MACHINE: there is no machine `{name}`; choose one of {}",
            presets.join(", ")
        ));
    }
    let text = std::fs::read_to_string(name)
        .map_err(|e| format!("SIMT_SIM_MACHINE: cannot read `{name}`: {e}"))?;
    Machine::parse(&text).map_err(|found| {
        let first = found.first().map_or("", |d| d.message.as_str());
        format!("SIMT_SIM_MACHINE: `{name}`: {first}")
    })
}
