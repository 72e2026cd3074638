//! Reports of launches: the last one, and the lines for `simt-sim exec`.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use simt_report::launches::{Launched, Measured};
use simt_report::simulate::Finished;
use simt_report::{Run, Style};

use crate::options::Options;

/// The last launch, as far as it is known.
enum Last {
    None,
    /// Counts, of which the report can be made.
    Counts(Box<Finished>),
    Run(Box<Run>),
}

/// Reports of a process.
pub(crate) struct Reports {
    /// Launches so far.
    pub(crate) launches: u64,
    /// Kernels with a reported access outside of all allocations.
    pub(crate) beside: BTreeSet<String>,
    last: Last,
    metrics: Vec<String>,
    whole: bool,
    file: Option<File>,
    /// Folder for what is told, and the standard error of the process that reads it.
    told: Option<(PathBuf, PathBuf)>,
}

impl Reports {
    pub(crate) fn new(options: &Options) -> Reports {
        let file = options.reports.as_deref().and_then(open);
        let metrics = options.metrics.clone();
        let told = options.reports.clone().zip(options.errors.clone());
        let beside = BTreeSet::new();
        Reports { launches: 0, beside, last: Last::None, metrics, whole: options.whole, file, told }
    }

    /// Explains something on standard error. If that is not the standard error of the process that
    /// reads the reports, as under `pytest`, which hides it, the text goes there, too.
    pub(crate) fn tell(&self, text: &str) {
        crate::say(text);
        if let Some((folder, errors)) = &self.told
            && is_elsewhere(errors)
            && let Ok(mut file) = appended(&folder.join(format!("{}.txt", std::process::id())))
        {
            let _ = file.write_all(text.as_bytes());
        }
    }

    /// Returns true if every launch needs its whole report.
    pub(crate) fn needs_runs(&self) -> bool {
        self.whole && self.file.is_some()
    }

    /// Takes note of a launch by its counts.
    pub(crate) fn note(&mut self, mut finished: Finished, row: Launched) {
        self.launches += 1;
        let run = self.needs_runs().then(|| finished.report());
        let metrics = self.metrics.iter();
        let metrics = metrics.filter_map(|name| Measured::of(name, |m| finished.metric(m)));
        let row = Launched { metrics: metrics.collect(), ..row };
        self.write(row, run.as_ref());
        self.last = Last::Counts(Box::new(finished));
    }

    /// Takes note of a launch by its report.
    pub(crate) fn note_run(&mut self, run: Run, row: Launched) {
        self.launches += 1;
        let metrics = self.metrics.iter();
        let metrics = metrics.filter_map(|name| Measured::of(name, |m| run.metric(m.name)));
        let row = Launched { metrics: metrics.collect(), ..row };
        let whole = self.needs_runs();
        self.write(row, whole.then_some(&run));
        self.last = Last::Run(Box::new(run));
    }

    fn write(&mut self, row: Launched, run: Option<&Run>) {
        let Some(file) = &mut self.file else { return };
        let run = run.and_then(|run| serde_json::to_value(run).ok());
        let row = Launched { number: self.launches, run, ..row };
        if let Ok(mut line) = serde_json::to_vec(&row) {
            line.push(b'\n');
            let _ = file.write_all(&line); // a full disk costs the reports, not the program
        }
    }

    /// Returns the last launch's report; `None` before the first launch.
    pub(crate) fn last(&mut self) -> Option<&Run> {
        if let Last::Counts(finished) = &mut self.last {
            self.last = Last::Run(Box::new(finished.report()));
        }
        match &self.last {
            Last::Run(run) => Some(run),
            _ => None,
        }
    }
}

/// Returns true if the standard error of this process is not the file at a path.
#[cfg(unix)]
fn is_elsewhere(errors: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = |path: &Path| std::fs::metadata(path).map(|file| (file.dev(), file.ino()));
    let both = (file(Path::new("/proc/self/fd/2")), file(errors));
    matches!(both, (Ok(own), Ok(theirs)) if own != theirs)
}

#[cfg(not(unix))]
fn is_elsewhere(_errors: &Path) -> bool {
    false
}

fn appended(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// Opens the file of this process in a folder. A process that outlives `exec` has none.
fn open(folder: &Path) -> Option<File> {
    let path = folder.join(format!("{}.jsonl", std::process::id()));
    let opened = appended(&path);
    if let Err(error) = &opened
        && folder.is_dir()
    {
        crate::say(&format!("warning: `{}`: {error}\n", path.display()));
    }
    opened.ok()
}

/// Warns of an access outside of all allocations, which a GPU does not detect.
pub(crate) fn beside(row: &Launched, place: &str) -> String {
    let Launched { kernel, program, .. } = row;
    format!(
        "simt-sim: launch of `{kernel}` ({program})\n  warning: out of bounds: {place}; a GPU does not \
         detect this, `--checks` does\n"
    )
}

/// Explains how a launch failed, in the words of `simt-sim run`.
pub(crate) fn explained(run: &Run) -> String {
    let head = format!("simt-sim: launch of `{}` ({})\n", run.kernel, run.program);
    head + &simt_report::ending(run, Style::default())
}
