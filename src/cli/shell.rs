//! Shell completions and manual pages, generated from the argument definitions.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::args::{Args, CompletionsArgs, ManArgs};
use super::{Exit, Failure, output};

/// `simt-sim completions SHELL`
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "simt-sim", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}

/// `simt-sim man [--dir DIR]`
pub(crate) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let mut command = Args::command();
    command.build();
    let Some(folder) = &args.dir else {
        output::print(&String::from_utf8_lossy(&page(command)?))?;
        return Ok(Exit::Ok);
    };
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::new(format!("cannot create `{}`: {e}", folder.display())))?;
    let parts: Vec<Command> =
        command.get_subcommands().filter(|part| part.get_name() != "help").cloned().collect();
    write(folder, "simt-sim", command)?;
    for part in parts {
        let name = format!("simt-sim-{}", part.get_name());
        write(folder, &name, part)?;
    }
    Ok(Exit::Ok)
}

fn write(folder: &Path, name: &str, command: Command) -> Result<(), Failure> {
    output::write_file(&folder.join(format!("{name}.1")), &page(command)?)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(Failure::new)?;
    Ok(page)
}
