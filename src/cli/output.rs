//! Writing to the terminal and to files. A closed pipe is not an error; a half-written file is never left.

mod files;

use std::io::{ErrorKind, IsTerminal, Write};

use super::Failure;
pub(crate) use files::{Appended, is_special, write_file, write_folder};

/// Writes to standard output. A reader that has gone away (`| head`) is no reason to complain; a full disk is.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::new(format!("cannot write the output: {e}"))),
        _ => Ok(()),
    }
}

/// Writes to standard error.
pub(crate) fn error(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Says on standard error that a run did not end: what goes to standard output may have no place for it.
pub(crate) fn warn_of(ending: Option<String>) {
    if let Some(ending) = ending {
        error(&format!("warning: {ending}\n"));
    }
}

/// Whether standard output is a terminal that wants colour (`NO_COLOR` is honoured).
pub(crate) fn color_out() -> bool {
    std::io::stdout().is_terminal() && wants_color()
}

/// Whether standard error is a terminal that wants colour.
pub(crate) fn color_err() -> bool {
    std::io::stderr().is_terminal() && wants_color()
}

fn wants_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Columns to write reports for: `COLUMNS` where set, else the terminal's, else 100; at least 72.
pub(crate) fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    set.or_else(terminal).unwrap_or(100_usize).clamp(72, 160)
}
