//! Data of `--html` besides the run: a recorded window, and the source texts.

use std::path::Path;

use simt_core::Program;
use simt_core::launch::Launch;
use simt_core::machine::Timing;
use simt_report::Run;
use simt_report::annotate::{Source, origins};
use simt_report::simulate;
use simt_report::timeline::Recording;

use super::args::{PageChoice, WindowChoice};
use super::job::Setup;
use super::timeline::{self, Warps};
use super::{Failure, source};

/// Refuses a window without a page that shows it.
pub(crate) fn sensible(choice: &PageChoice) -> Result<(), Failure> {
    let chosen = match &choice.window {
        WindowChoice { warp: Some(_), .. } => "--warp",
        WindowChoice { block_id: 1.., .. } => "--block-id",
        WindowChoice { from: 1.., .. } => "--from",
        WindowChoice { to: Some(_), .. } => "--to",
        WindowChoice { limit: Some(_), .. } => "--limit",
        _ => return Ok(()),
    };
    match choice.html {
        Some(_) => Ok(()),
        None => Err(Failure::new(format!(
            "{chosen} is for the --html timeline\n\
             help: add --html FILE; figures are always of the whole run"
        ))),
    }
}

/// Records the window of the page; `None` if no page is written, or timing is off.
pub(crate) fn recording(
    choice: &PageChoice,
    setup: &Setup,
    launch: &Launch,
) -> Result<Option<Recording>, Failure> {
    if choice.html.is_none() || setup.options.timing == Timing::Off {
        return Ok(None);
    }
    let window = timeline::resolve(&choice.window, Warps::Page, launch, setup.machine.warp_size)?;
    simulate::record(&setup.job(launch.clone()), &window).map(Some).map_err(Failure::new)
}

/// Returns the source texts of a run: the program, and its own sources beside it.
pub(crate) fn sources(run: &Run, program: &Program) -> Vec<Source> {
    if program.compiled.is_some() {
        let name = program.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        return vec![Source { name, text: Some(program.text.clone()) }];
    }
    let beside = Path::new(&program.name).parent().unwrap_or(Path::new(""));
    let origin = |name: String| {
        // The listings of `programs/sass` come from `programs/cuda`.
        let places = [beside.join(&name), beside.join("../cuda").join(&name)];
        let text = places.iter().find_map(|place| source::read_text(place).ok());
        let text = text.map(|(_, text)| text);
        Source { name, text }
    };
    let own = Source { name: program.name.clone(), text: Some(program.text.clone()) };
    origins(run).into_iter().map(origin).chain([own]).collect()
}
