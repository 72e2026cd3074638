//! Files of results: a line of JSON for each, written as its run ends.

use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget};
use simt_teach::results::{Line, Results, Tail};
use simt_teach::sweep;

use super::{Failure, output, reading};

/// Largest file of results, in bytes. A result has a few kilobytes.
const MOST: u64 = 1 << 30;

/// Merges the results of several files; fails if two disagree about a run.
pub(crate) fn together<R: Line>(files: &[PathBuf]) -> Result<Results<R>, Failure> {
    let mut all = Results::default();
    for path in files {
        let fail =
            |what: &dyn std::fmt::Display| Failure::new(format!("{}: {what}", path.display()));
        let (results, _) = read(path)?.ok_or_else(|| fail(&"no such file"))?;
        all.merge(results).map_err(|e| fail(&format!("{e} from those of the files before it")))?;
    }
    Ok(all)
}

/// Reads a file of results; returns `None` if the file does not exist.
fn read<R: Line>(path: &Path) -> Result<Option<(Results<R>, Tail)>, Failure> {
    if std::fs::metadata(path).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return Ok(None);
    }
    let bytes = reading::regular(path, MOST, "the limit of results is")
        .map_err(|e| Failure::new(format!("cannot read `{}`: {e}", path.display())))?;
    // A line may be cut within a character.
    let read = Results::read(&String::from_utf8_lossy(&bytes));
    read.map(Some).map_err(|e| Failure::new(format!("{}: {e}", path.display())))
}

/// Reads the results that a file has already, and drops a last line cut short.
pub(crate) fn resume<R: Line>(out: Option<&Path>) -> Result<Results<R>, Failure> {
    let Some(out) = out.filter(|out| !output::is_special(out)) else {
        return Ok(Results::default());
    };
    let Some((results, tail)) = read(out)? else { return Ok(Results::default()) };
    if tail != Tail::Whole {
        output::write_file(out, results.text().as_bytes())?;
    }
    if tail == Tail::Cut {
        output::error(&format!("note: {}: dropped a half written last line\n", out.display()));
    }
    Ok(results)
}

/// Works on `todo`, `jobs` at a time, and adds the results; the file grows as each one ends.
pub(crate) fn record<P: Sync, R: Line + Send>(
    out: Option<&Path>,
    results: &mut Results<R>,
    (jobs, todo): (usize, &[P]),
    work: impl Fn(&P) -> R + Sync,
) -> Result<(), Failure> {
    let mut lines = out.map(output::Appended::open).transpose()?;
    let bar = bar(todo.len());
    let made = sweep::run(jobs, todo, work, |result| {
        bar.inc(1);
        lines.as_mut().map_or(Ok(()), |lines| lines.write(&(result.to_line() + "\n")))
    })?;
    bar.finish_and_clear();
    results.replace(&made);
    // A special file has the lines already.
    match out.filter(|out| !output::is_special(out)) {
        Some(out) => output::write_file(out, results.text().as_bytes()),
        None => Ok(()),
    }
}

fn bar(runs: usize) -> ProgressBar {
    let shown = std::io::stderr().is_terminal() && runs > 1;
    let target =
        if shown { ProgressDrawTarget::stderr_with_hz(2) } else { ProgressDrawTarget::hidden() };
    ProgressBar::with_draw_target(Some(runs as u64), target)
}
