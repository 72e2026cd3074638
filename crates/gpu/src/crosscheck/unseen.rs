//! Comparison with kernels that the model was not built with.
//!
//! The model may be corrected with the half `mend`, while the half `held` only states the error.
//! The PTX of each kernel runs in both modes, its machine code in volta mode, the only one that it
//! has. Outputs are compared by digest, counters with those of a profiler.

use std::collections::BTreeMap;
use std::path::Path;

use simt_core::launch::{Launch, Overrides};
use simt_core::machine::Options;
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::evidence::{CodeKind, Evidence, Recorded, Share, UnseenRow};
use simt_report::profile::Profile;
use simt_report::simulate;

use super::suite::report;
use super::{Bench, Failed, Subject, Verdict};

/// Folders of the halves; true if the model may be corrected with them.
const SETS: [(&str, bool); 2] = [("mend", true), ("held", false)];

/// Outcome of machine code with instructions that cannot be executed.
const UNSUPPORTED: &str = "unsupported instructions";

/// Recorded outputs and counters of one half.
struct Set {
    /// True if the model may be corrected with the kernels.
    mend: bool,
    /// Counters of one launch of each kernel.
    profile: Profile,
    /// Digest of each kernel's output.
    outputs: BTreeMap<String, u64>,
}

/// Kernels, outputs and counters as text.
pub struct Texts {
    /// Folder, for names in messages.
    pub folder: String,
    /// Text by path below the folder: `held/gcd.ptx`.
    pub texts: BTreeMap<String, String>,
}

/// Comparison of all kernels of one kind of code.
pub struct Found {
    /// Errors of each metric.
    pub evidence: Evidence,
    /// Outputs and counters of each kernel.
    pub rows: Vec<UnseenRow>,
    /// A line for each output that is not the GPU's.
    pub wrong: String,
    /// Result: it differs if an output in the mode whose counters are compared is not the GPU's.
    pub verdict: Verdict,
}

impl Texts {
    /// Returns the bundled kernels.
    pub fn bundled() -> Texts {
        let below = |(path, text): &(&str, &str)| {
            Some((path.strip_prefix("unseen/")?.to_string(), (*text).to_string()))
        };
        let texts = simt_programs::UNSEEN.iter().filter_map(below).collect();
        Texts { folder: "programs/unseen".to_string(), texts }
    }

    /// Returns name and text of a file.
    fn file(&self, path: &str) -> Result<(String, &str), Failed> {
        let name = format!("{}/{path}", self.folder);
        let text =
            self.texts.get(path).ok_or_else(|| Failed::new(format!("there is no `{name}`")))?;
        Ok((name, text))
    }

    /// Returns true if a kernel has code of a kind.
    pub fn has(&self, code: CodeKind) -> bool {
        self.texts.keys().any(|path| is_of(path, code))
    }

    /// Runs every kernel of both halves that has code of a kind, and compares output and counters.
    ///
    /// # Errors
    /// A file is missing or cannot be read, or a kernel cannot be launched.
    pub fn compare(
        &self,
        bench: &Bench<'_>,
        code: CodeKind,
        overrides: &Overrides,
    ) -> Result<Found, Failed> {
        let (name, text) = self.file("recorded.ron")?;
        let recorded: Recorded =
            ron::from_str(text).map_err(|e| Failed::new(format!("`{name}`: {e}")))?;
        let files = &|path: &str, _| Err(format!("`{path}`: unseen kernels read no files"));
        let mut rows = Vec::new();
        for (half, mend) in SETS {
            let (name, text) = self.file(&format!("{half}/profile.csv"))?;
            let profile = report(&format!("`{name}`"), text)?;
            let (name, text) = self.file(&format!("{half}/outputs.txt"))?;
            let outputs = digests(text).map_err(|line| {
                Failed::new(format!(
                    "`{name}`, line {line}: expected `OUT KERNEL .. fnv=DIGITS ..`"
                ))
            })?;
            let set = Set { mend, profile, outputs };
            let is_kernel = |path: &str| is_of(path, code) && Path::new(path).starts_with(half);
            for (path, text) in self.texts.iter().filter(|(path, _)| is_kernel(path)) {
                let program = Program::parse(&format!("{}/{path}", self.folder), text);
                if !program.is_sound() && code == CodeKind::Sass {
                    rows.push(unsupported(path, mend));
                    continue;
                }
                if !program.is_sound() {
                    return Err(Failed::findings(&program, program.findings.clone()));
                }
                let kernel = program.kernel(None).map_err(Failed::new)?;
                let overrides = overrides.clone();
                let subject = Subject { program: &program, kernel, cubin: None, overrides, files };
                rows.push(set.compare(bench, code, &subject)?);
            }
        }
        let options = Options { mode: counted(bench, code), ..bench.options.clone() };
        let fingerprint = simulate::fingerprint(bench.machine, &options, code);
        let evidence = Evidence::new(bench.machine.name.clone(), fingerprint, recorded, &rows);
        let (wrong, differs) = wrong_outputs(options.mode, &rows);
        let verdict = if differs { Verdict::Differs } else { Verdict::Agrees };
        Ok(Found { evidence, rows, wrong, verdict })
    }
}

/// Returns the row of machine code with instructions that cannot be executed.
fn unsupported(path: &str, mend: bool) -> UnseenRow {
    let kernel = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let outputs = vec![(Mode::Volta.name().to_owned(), UNSUPPORTED.to_owned(), false)];
    UnseenRow { kernel, mend, outputs, held: Vec::new(), states: Vec::new() }
}

/// Returns true if a path is that of code of a kind.
fn is_of(path: &str, code: CodeKind) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == code.name())
}

/// Returns the mode whose counters are compared. Machine code has barrier registers: volta mode.
fn counted(bench: &Bench<'_>, code: CodeKind) -> Mode {
    match code {
        CodeKind::Ptx => bench.options.mode,
        CodeKind::Sass => Mode::Volta,
    }
}

/// Reads lines such as `OUT gcd grid=256 block=256 fnv=0c024d8de86ba77b first=1,1,1,1`: kernel and
/// digest.
///
/// # Errors
/// Number of the first line without a kernel or a digest.
fn digests(text: &str) -> Result<BTreeMap<String, u64>, usize> {
    let mut found = BTreeMap::new();
    for (number, line) in (1_usize..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
    {
        let kernel = line.split_whitespace().nth(1).ok_or(number)?;
        let digits =
            line.split_whitespace().find_map(|word| word.strip_prefix("fnv=")).ok_or(number)?;
        found.insert(kernel.to_string(), u64::from_str_radix(digits, 16).map_err(|_| number)?);
    }
    Ok(found)
}

/// Returns the digest of the buffer `out` as the recording program computed it: FNV-1a over words,
/// with an offset of its own.
fn digest(launch: &Launch) -> Option<u64> {
    let out = launch.buffers.iter().find(|buffer| buffer.name == "out")?;
    let offset = 1_469_598_103_934_665_603;
    let fold = |hash: u64, &word: &u32| (hash ^ u64::from(word)).wrapping_mul(1_099_511_628_211);
    Some(out.words.iter().fold(offset, fold))
}

impl Set {
    /// Runs a kernel in every mode that its code has, and compares output and counters.
    fn compare(
        &self,
        bench: &Bench<'_>,
        code: CodeKind,
        subject: &Subject<'_>,
    ) -> Result<UnseenRow, Failed> {
        let (program, kernel) = (subject.program, subject.kernel);
        let name = &kernel.name;
        let missing =
            |what: &str| Failed::new(format!("{}: {what} has no kernel `{name}`", program.name));
        let expected = self.outputs.get(name).copied().ok_or_else(|| missing("outputs.txt"))?;
        let mut row = UnseenRow {
            kernel: name.clone(),
            mend: self.mend,
            outputs: Vec::new(),
            held: Vec::new(),
            states: Vec::new(),
        };
        let modes: &[Mode] = match code {
            CodeKind::Ptx => &[Mode::PreVolta, Mode::Volta],
            CodeKind::Sass => &[Mode::Volta],
        };
        for &mode in modes {
            let launch = subject.launch()?;
            let found =
                self.profile.launches_of(name, launch.grid, launch.block, &launch.constants);
            let launched = *found.first().ok_or_else(|| missing("profile.csv"))?;
            let options = Options { mode, ..bench.options.clone() };
            // One thread: a kernel whose blocks race through plain stores must repeat its output.
            let job = Job::new(program, kernel, launch, bench.machine, options);
            let done = simulate::simulate(job, &()).map_err(Failed::new)?;
            let same = done.finish.name() == "ok" && digest(&done.launch) == Some(expected);
            row.outputs.push((mode.name().to_owned(), done.finish.name().to_owned(), same));
            if mode == counted(bench, code) {
                row.held = launched.hold(&done.run).held;
                if code == CodeKind::Sass {
                    row.states = Share::of(launched, &done.run);
                }
            }
        }
        Ok(row)
    }
}

/// Returns a line for each output that is not the GPU's, and true if one is of the mode `counted`.
fn wrong_outputs(counted: Mode, rows: &[UnseenRow]) -> (String, bool) {
    let (mut text, mut wrong) = (String::new(), false);
    for row in rows {
        for (mode, finish, _) in row.outputs.iter().filter(|(.., same)| !same) {
            let why = if finish == "ok" { "its output is not the GPU's" } else { finish };
            text += &format!("{} in {mode} mode: {why}\n", row.kernel);
            wrong |= mode == counted.name() && finish != UNSUPPORTED;
        }
    }
    (text, wrong)
}
