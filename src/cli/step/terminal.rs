//! The stepper on a real terminal: draw, wait for a key, go on. The terminal is left as it was found, also after a panic.

use std::io::IsTerminal;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};

use super::app::App;
use super::keys::Key;
use super::screen;
use crate::cli::Failure;

/// Steps between two looks at the keyboard while a search is under way: some hundredths of a second.
const SLICE: u64 = 50_000;

/// That there is a terminal to draw on and to read keys from.
pub(crate) fn is_there() -> Result<(), Failure> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::new(
        "`simt-sim step` needs a terminal for its screen and its keys\nhelp: --script \"10n d\" presses keys and prints the \
         screen as text",
    ))
}

/// Runs until the user leaves.
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
