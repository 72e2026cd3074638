//! A process under limits: ended, with all that it has started, when it takes longer, grows larger or writes more than it may.
//!
//! Limits of the operating system (`setrlimit`) are not used: the library would need `unsafe` for them, they differ between systems, and a
//! limit on address space counts what is reserved rather than used. Memory, and what a process has started, are told by `/proc`:
//! elsewhere than on Linux only time and output are watched.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What is kept of a process's complaints.
const MOST_ERRORS: u64 = 16 << 10;
/// Between two looks at a process.
const PAUSE: Duration = Duration::from_millis(20);

/// What a process may take.
pub(crate) struct Bounds<'a> {
    /// Wall time.
    pub(crate) time: Duration,
    /// Memory in MiB.
    pub(crate) memory_mib: u64,
    /// Bytes that it may write to its standard output.
    pub(crate) output: u64,
    /// Of one that starts others and writes files: where, and how many bytes.
    pub(crate) folder: Option<(&'a Path, u64)>,
}

/// How a process ended.
pub(crate) enum Ended {
    /// By itself.
    Itself {
        /// Whether its exit code is 0.
        success: bool,
        /// What it wrote.
        out: Vec<u8>,
        /// What it complained about.
        errors: Vec<u8>,
    },
    /// It was ended: the limit that it went over.
    Over(String),
}

impl Bounds<'_> {
    /// Starts a process and waits for it; ends it when it goes over a bound.
    pub(crate) fn run(&self, command: &mut Command) -> io::Result<Ended> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (out, errors) = (child.stdout.take(), child.stderr.take());
        let (most, most_errors) = (self.output + 1, MOST_ERRORS);
        let out = thread::spawn(move || some(out, most));
        let errors = thread::spawn(move || some(errors, most_errors));
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        let over = loop {
            if child.try_wait()?.is_some() {
                break None;
            }
            if let Some(over) = self.exceeded(child.id(), started) {
                self.end(&mut child)?;
                break Some(over);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        };
        let status = child.wait()?;
        let out = out.join().unwrap_or_default();
        let errors = errors.join().unwrap_or_default();
        Ok(match over {
            Some(limit) => Ended::Over(limit),
            None if out.len() as u64 > self.output => {
                Ended::Over(format!("it wrote more than {} KiB", self.output >> 10))
            }
            None => Ended::Itself { success: status.success(), out, errors },
        })
    }

    /// The bound that is exceeded now, in words.
    fn exceeded(&self, process: u32, started: Instant) -> Option<String> {
        if started.elapsed() > self.time {
            return Some(format!("it took longer than {} s", self.time.as_secs()));
        }
        let memory: u64 = self.family(process).into_iter().filter_map(resident).sum();
        if memory > self.memory_mib << 10 {
            return Some(format!("it took more than {} MiB of memory", self.memory_mib));
        }
        let (folder, most) = self.folder?;
        (size(folder) > most).then(|| format!("it wrote more than {} MiB of files", most >> 20))
    }

    /// A process, and those that it has started if it is one that does.
    fn family(&self, process: u32) -> Vec<u32> {
        let mut family = vec![process];
        if self.folder.is_none() {
            return family;
        }
        let parents: Vec<(u32, u32)> = processes();
        let mut next = 0;
        while let Some(&parent) = family.get(next) {
            family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(child, _)| *child));
            next += 1;
        }
        family
    }

    /// Ends a process and what it has started. The children are told by their parent, so they are looked up before that one ends.
    fn end(&self, child: &mut Child) -> io::Result<()> {
        let family = self.family(child.id());
        child.kill()?;
        if let [_, children @ ..] = family.as_slice()
            && !children.is_empty()
        {
            let mut kill = Command::new("kill");
            kill.arg("-KILL").args(children.iter().map(u32::to_string)).stderr(Stdio::null());
            let _ = kill.status(); // some may have ended by themselves
        }
        Ok(())
    }
}

/// The first bytes of a stream. What follows is not read: closing the stream ends who writes on.
fn some(stream: Option<impl Read>, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let _ = stream.take(limit).read_to_end(&mut bytes); // what came before an error is what there is
    }
    bytes
}

/// Every process and its parent, where the system tells.
fn processes() -> Vec<(u32, u32)> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    // `PID (NAME) STATE PARENT ..`; the name may have any character.
    let parent = |process: u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        Some((process, rest.split_whitespace().nth(1)?.parse().ok()?))
    };
    numbers.filter_map(parent).collect()
}

/// Resident memory of a process in KiB, where the system tells.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Bytes of the files in a folder.
fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
}
