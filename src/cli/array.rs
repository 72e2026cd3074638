//! Job arrays: `--slurm DIR` of `sweep` and `grade`.
//!
//! `DIR/task.sh` repeats the command line for one share of the runs and keeps their results in
//! `DIR/part.I.jsonl`; `DIR/merge.sh` repeats it for all, with the results of all parts instead of
//! runs. Both are scripts for `sbatch` and for `sh`. A task that starts again runs what its part
//! lacks, so a killed or requeued one resumes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use simt_teach::sweep::Shard;

use super::args::ArrayChoice;
use super::{Failure, output};

/// Tasks, unless the user says otherwise.
const TASKS: usize = 100;
/// Largest array: what Slurm accepts unless it is configured otherwise (`MaxArraySize`).
const MOST_TASKS: usize = 1000;
/// Host memory of a process that runs nothing, in bytes.
const PROCESS: u64 = 64 << 20;
/// Host memory for a result while parts are merged, in bytes.
const RESULT: u64 = 64 << 10;
/// Shortest time limit, in minutes: the start of a job on a busy cluster.
const LEAST_MINUTES: u64 = 10;

/// Share of this process in an array.
pub(crate) enum Share<'a> {
    /// No array: everything.
    All,
    /// None: write the scripts.
    Write(&'a Path),
    /// The runs of a shard, recorded in a file.
    Task(Shard, PathBuf),
    /// The results of all tasks.
    Gather(Parts<'a>),
}

/// Results of the tasks of an array.
pub(crate) struct Parts<'a> {
    folder: &'a Path,
    tasks: usize,
}

impl ArrayChoice {
    /// Returns the share of this process.
    pub(crate) fn share(&self) -> Result<Share<'_>, Failure> {
        let Some(folder) = self.slurm.as_deref() else { return Ok(Share::All) };
        let tasks = self.tasks.unwrap_or(0);
        if self.tasks.is_some() && !(1..=MOST_TASKS).contains(&tasks) {
            return Err(Failure::new(format!("--tasks {tasks}: expected 1 to {MOST_TASKS} tasks")));
        }
        match self.task {
            Some(task) => {
                let shard = Shard::new(task, tasks).map_err(Failure::new)?;
                Ok(Share::Task(shard, part(folder, task)))
            }
            None if self.gather => Ok(Share::Gather(Parts { folder, tasks })),
            None => Ok(Share::Write(folder)),
        }
    }
}

fn part(folder: &Path, task: usize) -> PathBuf {
    folder.join(format!("part.{task}.jsonl"))
}

impl Parts<'_> {
    /// Files of the tasks that have begun.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        (1..=self.tasks).map(|task| part(self.folder, task)).filter(|path| path.exists()).collect()
    }

    /// File of the merged results, unless the user names one.
    pub(crate) fn results(&self) -> PathBuf {
        self.folder.join("results.jsonl")
    }

    /// Fails if runs are missing, given by their index among all.
    pub(crate) fn complete(&self, missing: &[usize], what: &str) -> Result<(), Failure> {
        if missing.is_empty() {
            return Ok(());
        }
        let mut tasks: Vec<usize> =
            missing.iter().map(|&i| Shard::of_point(i, self.tasks)).collect();
        tasks.sort_unstable();
        tasks.dedup();
        let list: Vec<String> = tasks.iter().map(usize::to_string).collect();
        let list = list.join(",");
        Err(Failure::new(format!(
            "{} {what} are missing, of tasks {list}\nhelp: run those tasks again, then merge:\n{}",
            missing.len(),
            submit(self.folder, &format!("--array={list} "))
        )))
    }
}

/// Resources for one run.
pub(crate) struct Need {
    /// Host memory, in bytes.
    pub(crate) bytes: u64,
    /// Processor time, in seconds.
    pub(crate) seconds: u64,
    /// Processor time before the first run of a task or a merge, in seconds.
    pub(crate) start_seconds: u64,
}

/// An array to write.
pub(crate) struct Array<'a> {
    pub(crate) folder: &'a Path,
    /// Number of tasks, if the user gave one.
    pub(crate) tasks: Option<usize>,
    /// Number of runs.
    pub(crate) runs: usize,
    /// Name of the runs.
    pub(crate) what: &'static str,
    /// Runs at a time in a task; 0 if the user gave no number.
    pub(crate) jobs: usize,
    pub(crate) need: Need,
}

impl Array<'_> {
    /// Writes the scripts; returns the lines that submit them.
    pub(crate) fn write(&self) -> Result<String, Failure> {
        let tasks = self.tasks.unwrap_or(TASKS).min(self.runs).max(1);
        let (each, jobs) = (self.runs.div_ceil(tasks), self.jobs.max(1));
        let folder = std::path::absolute(self.folder).map_err(Failure::new)?;
        let folder = text(&folder)?;
        if folder.contains(['"', '\\', '%', '\n', '\r']) {
            return Err(Failure::new(format!(
                "--slurm {folder}: quotes, backslashes, per cent signs and line breaks have a \
                 meaning in job scripts\nhelp: choose another folder"
            )));
        }
        let minutes = |seconds: u64| seconds.div_ceil(60).max(LEAST_MINUTES);
        let mib = |bytes: u64| bytes.saturating_add(PROCESS).div_ceil(1 << 20);
        let memory = mib(self.need.bytes.saturating_mul(jobs as u64));
        let rounds = each.div_ceil(jobs) as u64;
        let time = minutes(
            rounds.saturating_mul(self.need.seconds).saturating_add(self.need.start_seconds),
        );
        let commands = self.commands(tasks)?;
        let task = format!(
            "#!/bin/sh\n#SBATCH --job-name=simt-sim\n#SBATCH --array=1-{tasks}\n\
             #SBATCH --cpus-per-task={jobs}\n#SBATCH --mem={memory}M\n#SBATCH --time={time}\n\
             #SBATCH --requeue\n#SBATCH --open-mode=append\n\
             #SBATCH --output=\"{folder}/task.%a.log\"\n\
             # Runs what part.$SLURM_ARRAY_TASK_ID.jsonl lacks of its share of the {} {}.\n\
             {}",
            self.runs, self.what, commands.task
        );
        let merge = format!(
            "#!/bin/sh\n#SBATCH --job-name=simt-sim-merge\n#SBATCH --mem={}M\n\
             #SBATCH --time={}\n#SBATCH --output=\"{folder}/merge.out\"\n\
             #SBATCH --error=\"{folder}/merge.err\"\n\
             # Merges the parts of {tasks} tasks, or names those to run again.\n{}",
            mib(self.need.bytes.max(self.runs as u64 * RESULT)),
            minutes(self.need.start_seconds),
            commands.merge
        );
        fs::create_dir_all(self.folder)
            .map_err(|e| Failure::new(format!("cannot make `{}`: {e}", self.folder.display())))?;
        let path = self.folder.join("task.sh");
        if fs::read_to_string(&path).is_ok_and(|old| command(&old) != command(&task)) {
            return Err(Failure::new(format!(
                "`{}` has the array of another command\nhelp: choose another folder, or remove it",
                self.folder.display()
            )));
        }
        output::write_file(&path, task.as_bytes())?;
        output::write_file(&self.folder.join("merge.sh"), merge.as_bytes())?;
        let mut lines = format!(
            "{} {} in {tasks} tasks, at most {each} each; a task gets {memory} MiB and {time} \
             minutes\nSlurm:\n{}GNU parallel:\n",
            self.runs,
            self.what,
            submit(self.folder, "")
        );
        let at = quoted(&self.folder.display().to_string());
        let _ = writeln!(
            lines,
            "  seq {tasks} | parallel SLURM_ARRAY_TASK_ID={{}} sh {at}/task.sh\n  sh {at}/merge.sh"
        );
        Ok(lines)
    }

    /// Bodies of the scripts: this command line with the share of a task, and of the merge.
    fn commands(&self, tasks: usize) -> Result<Commands, Failure> {
        let program = std::env::current_exe()
            .map_err(|e| Failure::new(format!("cannot find this program: {e}")))?;
        let here = std::env::current_dir()
            .map_err(|e| Failure::new(format!("cannot find the current folder: {e}")))?;
        let typed = std::env::args_os().skip(1);
        let typed: Vec<String> =
            typed.map(|word| text(Path::new(&word)).map(quoted)).collect::<Result<_, _>>()?;
        let (command, rest) = typed.split_first().map_or(("", &[][..]), |(c, r)| (c.as_str(), r));
        let rest = without_tasks(rest).join(" ");
        let (here, program) = (quoted(text(&here)?), quoted(text(&program)?));
        let jobs = if self.jobs == 0 { " --jobs 1" } else { "" };
        // Options go first: a `--` may end them later.
        let line = |share: &str| {
            format!(
                "sim={program}\ncd {here} || exit\n\
                 exec \"${{SIMT_SIM:-$sim}}\" {command} {share} --tasks {tasks}{jobs} {rest}\n"
            )
        };
        Ok(Commands { task: line("--task \"$SLURM_ARRAY_TASK_ID\""), merge: line("--gather") })
    }
}

/// Bodies of the scripts.
struct Commands {
    task: String,
    merge: String,
}

/// Leaves out `--tasks N`.
fn without_tasks(words: &[String]) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--tasks" => drop(words.next()),
            word if word.starts_with("--tasks=") => {}
            word => kept.push(word),
        }
    }
    kept
}

/// The command of a script, without the resources.
fn command(script: &str) -> Vec<&str> {
    script.lines().filter(|line| !line.starts_with('#')).collect()
}

/// Lines that submit an array and its merge.
fn submit(folder: &Path, options: &str) -> String {
    let at = quoted(&folder.display().to_string());
    format!(
        "  job=$(sbatch --parsable {options}{at}/task.sh) &&\n    \
         sbatch --dependency=afterany:$job {at}/merge.sh\n"
    )
}

fn text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| {
        Failure::new(format!("`{}` is not UTF-8, as a job script must be", path.display()))
    })
}

/// Quotes a word for `sh` if it needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("n=1,2"), "n=1,2");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
        let words = ["--tasks", "9", "k.ir", "--tasks=9"].map(str::to_owned);
        assert_eq!(without_tasks(&words), ["k.ir"]);
    }
}
