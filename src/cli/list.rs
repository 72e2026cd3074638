//! Lists of metrics, instruction forms and machines; the canonical printer.

use std::io::{IsTerminal, stdout};

use simt_core::arguments_by_position;
use simt_core::base::MAX_LANES;
use simt_core::diag::printable;
use simt_core::isa::Isa;
use simt_core::ptx;
use simt_core::sass::is_listing;
use simt_core::spec::{Machine, Mode};
use simt_gpu::instrument::instrument;
use simt_report as report;

use super::args::{MachineArgs, PrintArgs};
use super::{Exit, Failure, output, source};

/// `simt-sim print FILE`
pub(crate) fn print(args: &PrintArgs) -> Result<Exit, Failure> {
    let program = source::read_sound(&args.file, true)?;
    if is_listing(program.code()) {
        return Err(Failure::new(format!(
            "`{}` is machine code, which has no PTX to print\n\
             help: the file is the listing itself; see its blocks with `simt-sim cfg`",
            program.name
        )));
    }
    let mut module = program.module;
    if program.compiled.is_some() {
        module.directives = ptx::leading_directives(&arguments_by_position(&program.text));
    }
    let text = if args.probes {
        instrument(&module, MAX_LANES as u32, None).text
    } else {
        ptx::print(&module)
    };
    // Strings may hold escapes, which must not reach a terminal; a file gets them unchanged.
    let text = if stdout().is_terminal() {
        text.lines().map(|line| printable(line) + "\n").collect()
    } else {
        text
    };
    output::print(&text)?;
    Ok(Exit::Ok)
}

/// `simt-sim metrics`
pub(crate) fn metrics() -> Result<Exit, Failure> {
    output::print(&report::metrics::listing(output::width()))?;
    Ok(Exit::Ok)
}

/// `simt-sim isa`
pub(crate) fn isa() -> Result<Exit, Failure> {
    output::print(&Isa::ptx().reference())?;
    Ok(Exit::Ok)
}

/// `simt-sim machine [NAME]`
pub(crate) fn machine(args: &MachineArgs) -> Result<Exit, Failure> {
    if let Some(name) = &args.name {
        let text = Machine::preset_text(name).ok_or_else(|| super::job::unknown_machine(name))?;
        output::print(text)?;
        return Ok(Exit::Ok);
    }
    let mut out = String::new();
    for name in Machine::presets() {
        let Some(Ok(spec)) = Machine::preset_text(name).map(Machine::parse) else { continue };
        let modes: Vec<&str> = spec.modes.iter().copied().map(Mode::name).collect();
        out += &format!("{name:<10} {:<18} {}\n", modes.join(", "), spec.doc);
    }
    out += "\nPrint a machine file with `simt-sim machine NAME`; run a changed copy \
        with `--machine FILE.ron`.\n";
    output::print(&out)?;
    Ok(Exit::Ok)
}
