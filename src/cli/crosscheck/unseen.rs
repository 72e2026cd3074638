//! `simt-sim crosscheck --unseen [DIR]`: kernels that nothing was built with, held against what a GPU did with them once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use simt_core::launch::Launch;
use simt_core::machine::Options;
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::evidence::{Evidence, Recorded, UnseenRow};
use simt_report::profile::Profile;
use simt_report::simulate;
use simt_report::{Style, evidence_text};

use super::super::args::{CrosscheckArgs, Format};
use super::super::job::MachineSetup;
use super::super::{Exit, Failure, job, output, source};
use super::ncu;

/// Folders of the two sets, and whether the model may be corrected with them.
const SETS: [(&str, bool); 2] = [("mend", true), ("held", false)];

/// Runs both sets; fails where an output is not the GPU's.
pub(super) fn unseen(args: &CrosscheckArgs, folder: &Path) -> Result<Exit, Failure> {
    let machine = job::machine(&args.machine)?;
    let (name, text) = source::read_text(&folder.join("recorded.ron"))?;
    let recorded: Recorded = ron::from_str(&text).map_err(|e| Failure::new(format!("`{name}`: {e}")))?;
    let mut rows = Vec::new();
    for (set, mend) in SETS {
        rows.extend(kernels(args, &machine, &folder.join(set), mend)?);
    }
    let fingerprint = simulate::fingerprint(&machine.spec, &machine.options(&args.limit));
    let found = Evidence::new(machine.spec.name.clone(), fingerprint, recorded, &rows);
    output::print(&match args.suite.format {
        _ if args.suite.evidence => found.to_text().map_err(Failure::new)?,
        Format::Json => serde_json::to_string_pretty(&(&found, &rows)).map_err(Failure::new)? + "\n",
        Format::Table => {
            let style = Style { width: output::width(), color: output::color_out() };
            evidence_text(&found, args.verbose, style)
        }
    })?;
    let mut exit = Exit::Ok;
    for row in &rows {
        for (mode, finish, _) in row.outputs.iter().filter(|(.., same)| !same) {
            let why = if finish == "ok" { "its output is not the GPU's" } else { finish };
            output::error(&format!("{} in {mode} mode: {why}\n", row.kernel));
            exit = if mode == machine.mode.name() { Exit::ExpectationFailed } else { exit };
        }
    }
    Ok(exit)
}

/// Every kernel of a set, in the order of names.
fn kernels(
    args: &CrosscheckArgs,
    machine: &MachineSetup,
    folder: &Path,
    mend: bool,
) -> Result<Vec<UnseenRow>, Failure> {
    let profile = ncu::read(&folder.join("profile.csv"))?;
    let (name, text) = source::read_text(&folder.join("outputs.txt"))?;
    let outputs = digests(&text)
        .map_err(|line| Failure::new(format!("`{name}`, line {line}: expected `OUT KERNEL .. fnv=DIGITS ..`")))?;
    let fail = |e: std::io::Error| Failure::new(format!("cannot read the folder `{}`: {e}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(fail)?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "ptx"));
    files.sort();
    files.iter().map(|path| row(args, machine, path, mend, &profile, &outputs)).collect()
}

/// `OUT gcd grid=256 block=256 fnv=0c024d8de86ba77b first=1,1,1,1`: kernel and digest; or the line that has none.
fn digests(text: &str) -> Result<BTreeMap<&str, u64>, usize> {
    let mut found = BTreeMap::new();
    for (number, line) in (1_usize..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let kernel = line.split_whitespace().nth(1).ok_or(number)?;
        let digits = line.split_whitespace().find_map(|word| word.strip_prefix("fnv=")).ok_or(number)?;
        found.insert(kernel, u64::from_str_radix(digits, 16).map_err(|_| number)?);
    }
    Ok(found)
}

/// The digest of the buffer `out`, as the program that recorded it computed it: FNV-1a over words, with an offset of its own.
fn digest(launch: &Launch) -> Option<u64> {
    let out = launch.buffers.iter().find(|buffer| buffer.name == "out")?;
    let offset = 1_469_598_103_934_665_603;
    Some(out.words.iter().fold(offset, |hash: u64, &word| (hash ^ u64::from(word)).wrapping_mul(1_099_511_628_211)))
}

fn row(
    args: &CrosscheckArgs,
    machine: &MachineSetup,
    path: &Path,
    mend: bool,
    profile: &Profile,
    outputs: &BTreeMap<&str, u64>,
) -> Result<UnseenRow, Failure> {
    let program: Program = source::read_sound(path, true)?;
    let kernel = program.kernel(None).map_err(Failure::new)?;
    let missing = |what: &str| Failure::new(format!("{}: {what} has no kernel `{}`", program.name, kernel.name));
    let expected = outputs.get(kernel.name.as_str()).copied().ok_or_else(|| missing("outputs.txt"))?;
    let mut row = UnseenRow { kernel: kernel.name.clone(), mend, outputs: Vec::new(), held: Vec::new() };
    for mode in [Mode::PreVolta, Mode::Volta] {
        let launch = job::launch(&program, kernel, &args.launch)?;
        let found = profile.launches_of(&kernel.name, launch.grid, launch.block, &launch.constants);
        let launched = *found.first().ok_or_else(|| missing("profile.csv"))?;
        let options = Options { mode, ..machine.options(&args.limit) };
        // One thread: a kernel whose blocks race through plain stores must come out alike every time.
        let job = Job::new(&program, kernel, launch, &machine.spec, options);
        let done = simulate::simulate(job, &()).map_err(Failure::new)?;
        let same = done.finish.name() == "ok" && digest(&done.launch) == Some(expected);
        row.outputs.push((mode.name().to_owned(), done.finish.name().to_owned(), same));
        if mode == machine.mode {
            row.held = launched.hold(&done.run).held;
        }
    }
    Ok(row)
}
