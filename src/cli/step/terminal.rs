//! The stepper on a terminal: draw, wait for a key, repeat. The terminal is restored, also after a
//! panic.

use std::io::IsTerminal;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};

use super::app::App;
use super::keys::Key;
use super::screen;
use crate::cli::Failure;

/// Steps of a search between two polls of the keyboard: some hundredths of a second.
const SLICE: u64 = 50_000;

/// Fails without a terminal for screen and keys. Keys come from the terminal itself if standard
/// input is the program.
pub(crate) fn is_there(program_is_input: bool) -> Result<(), Failure> {
    let keys = program_is_input || std::io::stdin().is_terminal();
    if keys && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::new(
        "`simt-sim step` needs a terminal for its screen and its keys\n\
         help: add --script \"10n d\" to press keys and \
         print the screen as text",
    ))
}

/// Runs until the user quits.
pub(crate) fn run(app: &mut App<'_>) -> Result<(), Failure> {
    let done = ratatui::try_init().and_then(|mut terminal| {
        while !app.is_over() {
            terminal.draw(|frame| screen::draw(app, frame.area(), frame.buffer_mut()))?;
            if app.is_running() {
                app.advance(SLICE);
                if !event::poll(Duration::ZERO)? {
                    continue;
                }
            }
            if let Event::Key(pressed) = event::read()?
                && let Some(key) = Key::from_event(pressed)
            {
                app.press(key);
            }
        }
        Ok(())
    });
    ratatui::restore();
    done.map_err(|e| Failure::new(format!("cannot use the terminal: {e}")))
}
