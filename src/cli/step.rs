//! `simt-sim step`: a run in the terminal, forward and backward.
//!
//! `app` is the state and its reaction to keys; `screen` draws a state into a buffer of any size.
//! Both are pure, so a script of keys ends in the same screen everywhere. `terminal` connects the
//! two on a real terminal.

mod app;
mod facts;
mod keys;
mod prompt;
mod screen;
mod terminal;

use simt_core::base::BlockId;
use simt_core::debug::{self, Debugger, Focus};

use super::args::StepArgs;
use super::job::Setup;
use super::{Exit, Failure, output, source};
use app::App;
use facts::Facts;
use keys::Key;

/// Opens the stepper, or prints the screen after a script of keys.
pub(crate) fn step(args: &StepArgs) -> Result<Exit, Failure> {
    let script = args.script.as_deref().map(keys::parse).transpose()?;
    let size = size(&args.size)?;
    if script.is_none() {
        terminal::is_there(source::is_input(&args.program.file))?;
    }
    let (setup, launch) = Setup::new(&args.program, true)?;
    let blocks = launch.grid.iter().map(|&n| u64::from(n)).product::<u64>();
    let threads = launch.block.iter().map(|&n| u64::from(n)).product::<u64>();
    let warps = threads.div_ceil(u64::from(setup.machine.warp_size));
    within("--block-id", args.block_id, blocks)?;
    within("--warp", args.warp, warps)?;
    let focus = Focus { block: BlockId(args.block_id), warp: args.warp };
    let job = setup.job(launch);
    let facts = Facts::new(&job);
    let work = |debugger: Debugger<'_>| {
        let mut app = App::new(debugger, &facts, focus);
        match script {
            Some(keys) => play(&mut app, &keys, size),
            None => terminal::run(&mut app),
        }
    };
    debug::open(&job.code, job.launch.clone(), job.machine, &job.options, focus.block, work)
        .map_err(Failure::new)??;
    Ok(Exit::Ok)
}

fn within(option: &str, value: u32, count: u64) -> Result<(), Failure> {
    if u64::from(value) < count {
        return Ok(());
    }
    Err(Failure::new(format!("{option} {value}: expected 0 to {}", count.saturating_sub(1))))
}

/// Presses the keys and prints the screen.
fn play(app: &mut App<'_>, keys: &[Key], (width, height): (u16, u16)) -> Result<(), Failure> {
    let finish = |app: &mut App<'_>| {
        while app.is_running() {
            app.advance(1 << 16);
        }
    };
    finish(app);
    for &key in keys {
        app.press(key);
        finish(app);
    }
    output::print(&screen::text(app, width, height))
}

/// `100x30`
fn size(text: &str) -> Result<(u16, u16), Failure> {
    let parts = text.split_once('x').map(|(w, h)| (w.parse::<u16>(), h.parse::<u16>()));
    match parts {
        Some((Ok(width @ 1..=500), Ok(height @ 1..=500))) => Ok((width, height)),
        _ => Err(Failure::new(format!("--size {text}: expected columns and rows, as in 100x30"))),
    }
}
