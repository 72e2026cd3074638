//! Output to the terminal and to files. A closed pipe is no error; files are never half written.

mod files;

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use simt_report::Style;

use super::Failure;
pub(crate) use files::{Appended, is_special, write_file, write_folder};

/// Writes to standard output. A closed pipe (`| head`) is no error; a full disk is.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write the output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Writes to the file of `--output`, or to standard output.
pub(crate) fn deliver(file: Option<&Path>, text: &str) -> Result<(), Failure> {
    match file {
        Some(file) => write_file(file, text.as_bytes()),
        None => print(text),
    }
}

/// Returns width and colour of a text for the file of `--output` or standard output.
pub(crate) fn style(file: Option<&Path>) -> Style {
    Style { width: width(), color: file.is_none() && color_out() }
}

/// Writes to standard error.
pub(crate) fn error(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Warns on standard error that a run did not finish, if the format cannot say so.
pub(crate) fn warn_of(ending: Option<String>) {
    if let Some(ending) = ending {
        error(&format!("warning: {ending}\n"));
    }
}

/// Returns true if standard output is a terminal and `NO_COLOR` is unset.
pub(crate) fn color_out() -> bool {
    std::io::stdout().is_terminal() && wants_color()
}

/// Returns true if standard error is a terminal and `NO_COLOR` is unset.
pub(crate) fn color_err() -> bool {
    std::io::stderr().is_terminal() && wants_color()
}

fn wants_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Columns of reports: `COLUMNS`, else those of the terminal, else 100; 72 to 160.
pub(crate) fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || {
        terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
    };
    set.or_else(terminal).unwrap_or(100_usize).clamp(72, 160)
}
