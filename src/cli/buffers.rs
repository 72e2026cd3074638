//! Buffers after a run: `--show` prints, `--save` writes.

use simt_core::launch::{Buffer, Inspected, Launch};

use super::args::RunArgs;
use super::{Failure, data, output};

/// Elements on a line of `--show`.
const ON_A_LINE: u64 = 16;

/// Refuses expressions and buffers that the launch does not have, before the run.
pub(crate) fn known(args: &RunArgs, launch: &Launch) -> Result<(), Failure> {
    for expression in &args.show {
        inspect(launch, expression)?;
    }
    for saved in &args.save {
        named(launch, &saved.buffer)?;
    }
    Ok(())
}

/// Prints and writes what was asked for, from the memory after a run.
pub(crate) fn deliver(args: &RunArgs, launch: &Launch) -> Result<(), Failure> {
    for expression in &args.show {
        output::print(&shown(expression, &inspect(launch, expression)?))?;
    }
    for saved in &args.save {
        let buffer = named(launch, &saved.buffer)?;
        output::write_file(&saved.file, &data::encode(&saved.file, buffer))?;
    }
    Ok(())
}

fn inspect(launch: &Launch, expression: &str) -> Result<Inspected, Failure> {
    launch
        .inspect(expression)
        .map_err(|reason| Failure::new(format!("--show {expression}: {reason}")))
}

fn named<'l>(launch: &'l Launch, name: &str) -> Result<&'l Buffer, Failure> {
    launch.buffers.iter().find(|buffer| buffer.name == name).ok_or_else(|| {
        let names: Vec<&str> = launch.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
        Failure::new(format!(
            "--save {name}: no buffer has this name\nhelp: use one of {}",
            names.join(", ")
        ))
    })
}

/// Formats a value: a number on the line of its expression, elements in rows with their index.
fn shown(expression: &str, value: &Inspected) -> String {
    match value {
        Inspected::Number(number) => format!("{expression} = {number}\n"),
        Inspected::Elements { buffer, first, values } => {
            let width = values.iter().map(String::len).max().unwrap_or(0);
            let rows = values.chunks(ON_A_LINE as usize).zip(0..);
            let rows = rows.map(|(row, at)| {
                let row: Vec<String> = row.iter().map(|value| format!("{value:>width$}")).collect();
                format!("{buffer}[{}]: {}\n", first + at * ON_A_LINE, row.join(" "))
            });
            rows.collect()
        }
    }
}
