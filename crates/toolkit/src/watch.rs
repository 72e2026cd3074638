//! Supervision of a process, which is killed with its children if it exceeds a limit.
//!
//! Limits of the operating system (`setrlimit`) are not used: they need `unsafe`, they differ
//! between systems, and a limit of address space counts reserved rather than used memory. Memory
//! and children come from `/proc`, so systems other than Linux watch only time and output.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes kept of a process's standard error.
const MOST_ERRORS: u64 = 16 << 10;
/// Longest interval between two polls of a process.
const PAUSE: Duration = Duration::from_millis(20);

/// Limits of a process.
#[derive(Clone, Debug)]
pub struct Bounds<'a> {
    /// Wall time.
    pub time: Duration,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Bytes of standard output.
    pub output: u64,
    /// Folder and bytes of files, for a process that starts others and writes files.
    pub folder: Option<(&'a Path, u64)>,
}

/// End of a process.
#[derive(Clone, Debug)]
pub enum Ended {
    /// It exited.
    Itself {
        /// True if the exit code is 0.
        success: bool,
        /// Standard output.
        out: Vec<u8>,
        /// Standard error.
        errors: Vec<u8>,
    },
    /// It was killed: the limit that it exceeded.
    Over(String),
}

impl Bounds<'_> {
    /// Starts a process and waits for it; kills it if it exceeds a limit.
    ///
    /// # Errors
    /// Fails if the process cannot be started or watched.
    pub fn run(&self, command: &mut Command) -> io::Result<Ended> {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
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

    /// Describes the limit that is exceeded now, if any.
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

    /// Returns a process, and its descendants if it may start others.
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

    /// Kills a process and its descendants. They are looked up first, by their parent.
    fn end(&self, child: &mut Child) -> io::Result<()> {
        let family = self.family(child.id());
        child.kill()?;
        if let [_, children @ ..] = family.as_slice()
            && !children.is_empty()
        {
            let mut kill = Command::new("kill");
            kill.arg("-KILL").args(children.iter().map(u32::to_string)).stderr(Stdio::null());
            let _ = kill.status(); // some may have exited already
        }
        Ok(())
    }
}

/// Reads the first bytes of a stream. Closing it then ends a process that writes more.
fn some(stream: Option<impl Read>, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let _ = stream.take(limit).read_to_end(&mut bytes); // the bytes before an error remain
    }
    bytes
}

/// Returns every process with its parent, if the system has `/proc`.
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

/// Resident memory of a process in KiB, if the system has `/proc`.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Total bytes of the files in a folder.
fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
}
