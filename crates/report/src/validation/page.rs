//! The page `docs/reference/validation.md`, and its appendix
//! `docs/reference/validation-programs.md`.

use std::fmt::Write as _;

use super::super::evidence::{
    self, CHOSEN, CodeKind, Evidence, HEADER, KERNELS, STATES, by_basis, kernel_row, state_row,
};
use super::super::numbers::{grouped, real};
use super::super::profile::Held;
use super::super::wrap;
use super::trust::error;
use super::{CYCLES, Known, LARGE, ParameterRow, ProfileRow, SHOWN, Trust, Validation};

/// Columns of a line of prose.
const WIDTH: usize = 100;

const UNSEEN: &str = "The errors on kernels that were not used to build the simulator, against one launch each on a real
GPU. Machine code is what the GPU executed; from PTX, simt-sim models what ptxas makes of it.

";

const RULE: &str = "## Labels

A label starts with the basis of the figure. A **program count** follows from the program and its
input alone: requests, sectors, wavefronts, bank conflicts. A **compiler count** also follows from
ptxas's machine code, which is modelled: instructions, branches, divergence; in runs of machine code
these are program counts. A **model estimate** follows from the model of time and caches. The error comes from the set *held*: *exact* or *within x
%* holds for at least nine of ten kernels in which the metric occurs, and the label gives their
number. *Unreliable* means that no percentage up to 50 does; *not measured on unseen code* means
that no GPU counter has the same definition, or that the metric occurs in fewer than five kernels.
Labels apply to the contents of the machine file: another file, order of sides or lowering has none
(*not measured with this machine file*); a count keeps its label if only latencies, rates or caches
differ.

In runs of PTX no GPU counter matches the number of branches: `smsp__sass_branch_targets` includes
unconditional jumps and branches inside division and square root, which only machine code shows. The
same holds for a GPU's `branch_efficiency`; the table has its error.

## Other comparisons

[The appendix](validation-programs.md) and [calibration](../calibration.md) cover the programs of this
repository, random programs, profiled launches of up to 2^24 threads, and the machine's parameters.
The model was built on all of them, so they give no labels. The GPU's results are in `programs/unseen` and
`crates/gpu/observations`.

```sh
simt-sim crosscheck --unseen --verbose      # every metric and kernel of both sets
simt-sim crosscheck --suite                 # the programs of the appendix
NVCC=nvcc programs/unseen/record.sh                   # records both sets again, on a computer with a GPU
```
";

const APPENDIX: &str = "# Programs compared with a GPU

Appendix to [validation.md](validation.md). Every figure comes from a run: `simt-sim crosscheck
--suite --page programs` prints this page, and a test compares the two. The model was built with
these programs, so their errors are no evidence for other code.

- **Memory.** NVIDIA's driver runs the same text with the same launch, arguments and buffers. Every
  word of every buffer must be equal, or within the units in the last place that the [instruction
  set](isa.md) grants to an approximate instruction.
- **Divergence.** Probes in the program text count, on the device, how often each branch and block
  ran, with how many lanes, and which side ran first. They equal the simulator's counts, or the
  difference has a reason.
- **Counters and cycles.** Nsight Compute's counters on the kernels compiled by nvcc, under its
  names, beside the simulator's ([metrics](metrics.md) has each formula).

*Exact*: every figure equals the measured one to its printed digits, and memory is equal bit by bit.
*Within x %*: every figure is within x % of the measured one; x is the smallest of 1, 2, 5, 10, 15
and 25 that holds for all. *Differs*: a figure is further off, with the reason if it is known. *Not
measured*: there is no measurement. A label is that of its worst figure; only programs with a known
reason for their difference are counted separately.
";

const REPEAT: &str = "## On another GPU

The first command runs every program on the first GPU of the computer and keeps the results; the
second counts with Nsight Compute around the same command, and the third compares the counters with
the simulator. A GPU without its own [machine file](../machines.md) is compared with `h200` unless
`--machine` names another.

```sh
cargo build --release --features cuda
simt-sim crosscheck --suite --record observations/mine
ncu --csv --page raw --set full --log-file report.csv simt-sim crosscheck programs/cuda/*.ptx
simt-sim crosscheck --ncu report.csv programs/cuda/*.ptx
BLESS=1 cargo test --release --features cuda --test suite -- --ignored generated::device
```
";

/// Makes the page.
pub(super) fn page(known: &Known) -> String {
    let mut out = String::from("# Accuracy of the simulator\n\n");
    out += UNSEEN;
    for found in CodeKind::ALL.into_iter().filter_map(evidence::known) {
        unseen(&mut out, found);
    }
    out += RULE;
    gaps(&mut out, known);
    out
}

/// Adds the errors on both sets.
fn unseen(out: &mut String, found: &Evidence) {
    let (mend, held) = found.kernels;
    let about = format!(
        "The errors of `{}` on {} kernels ({}). The {mend} kernels of the set *mend* may be used \
         to correct the model; the {held} of the set *held* only state the error and give every \
         label. A metric counts in a kernel in which it occurs, in the simulator or on the GPU. {}",
        found.machine,
        mend + held,
        found.measured_on(),
        found.exceptions()
    );
    let title = found.fingerprint.code.title();
    let _ = writeln!(out, "## {title}\n\n{}\n", wrap(about.trim_end(), WIDTH, "", ""));
    let _ = writeln!(out, "| {} |\n|---|{}", HEADER.join(" | "), "--:|".repeat(HEADER.len() - 1));
    for (basis, rows) in by_basis(found, Some(&CHOSEN)) {
        let blank = " |".repeat(HEADER.len() - 1);
        let _ = writeln!(out, "| **{}** |{blank}", basis.title());
        for mut cells in rows {
            cells[0] = format!("`{}`", cells[0]);
            row(out, &cells);
        }
    }
    let (modes, in_modes, appendix) = match found.fingerprint.code {
        CodeKind::Ptx => (2, " in both modes", "unseen-kernels-ptx"),
        CodeKind::Sass => (1, "", "unseen-kernels-machine-code"),
    };
    let equal = found.each.iter().filter(|kernel| kernel.output.len() == modes).count();
    let about = format!(
        "The output of {equal} of {} kernels equals the GPU's bit by bit{in_modes}. The \
         [appendix](validation-programs.md#{appendix}) has every metric and every kernel.",
        found.each.len()
    );
    let _ = writeln!(out, "\n{}\n", wrap(&about, WIDTH, "", ""));
    states(out, found);
}

const SHARES: &str = "### Stall reasons

A warp's time in each state, in percent of its time in all states, against the GPU's. Errors are in
points: 12 % instead of 20 % is off by 8. *Mean error* leaves signs out, *mean* has them; *within 8*
counts the kernels in which the share is at most 8 points off, for *all states* those in which every
share is. States that only the GPU has (`misc`) are 0 % in the simulator.

";

/// Adds the errors of the warp states' shares, if there are any.
fn states(out: &mut String, found: &Evidence) {
    if found.states.is_empty() {
        return;
    }
    *out += SHARES;
    let _ = writeln!(out, "| {} |\n|---|{}", STATES.join(" | "), "--:|".repeat(STATES.len() - 1));
    for errors in &found.states {
        row(out, &state_row(errors));
    }
    out.push('\n');
}

/// Adds every metric and every kernel of both sets.
fn unseen_all(out: &mut String, found: &Evidence) {
    let title = found.fingerprint.code.title();
    let _ = writeln!(
        out,
        "\n## Unseen kernels: {title}\n\nThe errors of every metric on both sets of \
         `programs/unseen`, and of each kernel."
    );
    for (basis, rows) in by_basis(found, None) {
        let _ = writeln!(out, "\n### {title}: {}\n", basis.title());
        let _ =
            writeln!(out, "| {} |\n|---|{}", HEADER.join(" | "), "--:|".repeat(HEADER.len() - 1));
        for mut cells in rows {
            cells[0] = format!("`{}`", cells[0]);
            row(out, &cells);
        }
    }
    let _ = writeln!(
        out,
        "\n### {title}: kernels\n\n| {} |\n|---|---|---|--:|--:|--:|--:|",
        KERNELS.join(" | ")
    );
    for kernel in &found.each {
        row(out, &kernel_row(kernel));
    }
}

/// Makes the appendix. Sections that need large launches are last, so that a quick run makes
/// everything before them.
pub(super) fn appendix(all: &Validation) -> String {
    let mut out = String::from(APPENDIX);
    let devices = devices(all);
    let _ = writeln!(out, "\nSimulated: {}. Measured: {}.\n", all.simulated, devices.join("; "));
    out += REPEAT;
    for found in CodeKind::ALL.into_iter().filter_map(evidence::known) {
        unseen_all(&mut out, found);
    }
    known(&mut out, all);
    memory(&mut out, all);
    parameters(&mut out, all);
    profiles(&mut out, "## Counters of small launches", all, |p| p.threads < LARGE);
    profiles(&mut out, "## Counters of large launches", all, |p| p.threads >= LARGE);
    if all.profiles.iter().any(|p| p.threads >= LARGE) {
        features(&mut out, all);
    }
    out
}

fn devices(all: &Validation) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for row in &all.programs {
        if !row.measured_on.is_empty() && !found.contains(&row.measured_on) {
            found.push(row.measured_on.clone());
        }
    }
    found
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn row(out: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|c| cell(c)).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn gaps(out: &mut String, known: &Known) {
    if known.gaps.is_empty() {
        return;
    }
    *out += "\n## Gaps of the model\n\n| not modelled | effect |\n|---|---|\n";
    for gap in &known.gaps {
        row(out, &[gap.what.clone(), gap.cost.clone()]);
    }
}

fn known(out: &mut String, all: &Validation) {
    if all.known.programs.is_empty() && all.known.counters.is_empty() {
        return;
    }
    *out += "\n## Known differences\n\n| program or counter | reason |\n|---|---|\n";
    for known in all.known.programs.iter().chain(&all.known.counters) {
        row(out, &[format!("`{}`", known.name), known.reason.clone()]);
    }
}

fn memory(out: &mut String, all: &Validation) {
    *out += "\n## Programs\n\n";
    for g in &all.generated {
        let counted = g.programs.saturating_sub(g.uncounted);
        let [programs, counted, equal] =
            [g.programs, counted, counted.saturating_sub(g.explained)].map(|n| grouped(n as u64));
        let about = format!(
            "{programs} random kernels ({}) left the same memory on the GPU as in both modes of \
             the simulator. In {counted} of them the same lanes executed every branch and block, \
             and in {equal} the warps also executed each as often as in volta mode; in the others \
             lanes reconverged earlier or later ({}).",
            g.kind, g.measured_on
        );
        let _ = writeln!(out, "{}\n", wrap(&about, WIDTH, "", ""));
    }
    let open: Vec<&str> = all
        .programs
        .iter()
        .filter(|p| p.memory == Trust::NotMeasured)
        .map(|p| p.program.as_str())
        .collect();
    if !open.is_empty() {
        let about = format!("Not measured: {}.", open.join(", "));
        let _ = writeln!(out, "{}\n", wrap(&about, WIDTH, "", ""));
    }
    *out += "| program | memory | compared data | divergence |\n|---|---|---|---|\n";
    for program in all.programs.iter().filter(|p| p.memory != Trust::NotMeasured) {
        let divergence = program.divergence.as_ref().map_or("-".to_string(), Trust::to_string);
        row(
            out,
            &[
                program.program.clone(),
                program.memory.to_string(),
                program.detail.clone(),
                divergence,
            ],
        );
    }
}

/// Adds the machine's parameters, as measured by `simt-sim calibrate`.
fn parameters(out: &mut String, all: &Validation) {
    if all.parameters.is_empty() {
        return;
    }
    let away = |row: &ParameterRow| (row.simulated - row.measured).abs() / row.measured.abs();
    let within = |share: f64| all.parameters.iter().filter(|row| away(row) <= share).count();
    let _ = writeln!(
        out,
        "\n## Parameters\n\nMachine parameters measured by small programs \
         ([calibration](../calibration.md)): {} figures, {} within 5 %, {} within 10 % and {} within \
         15 %.\n\n| experiment | figure | simulated | measured | error |\n|---|---|--:|--:|--:|",
        all.parameters.len(),
        within(0.05),
        within(0.10),
        within(0.15)
    );
    for p in &all.parameters {
        let what = if p.unit == "cycle" {
            p.parameter.to_string()
        } else {
            format!("{} ({})", p.parameter, p.unit)
        };
        // For a figure near zero the relative error means nothing.
        let error = if p.measured.abs() < 1.0 {
            "-".to_string()
        } else {
            format!("{:+.1} %", 100.0 * (p.simulated - p.measured) / p.measured)
        };
        row(
            out,
            &[
                p.experiment.to_string(),
                what,
                format!("{:.2}", p.simulated),
                format!("{:.2}", p.measured),
                error,
            ],
        );
    }
}

/// Adds a table of the counters shown, and one of all errors.
/// The latter has a column per launch.
fn profiles(
    out: &mut String,
    heading: &str,
    all: &Validation,
    chosen: impl Fn(&ProfileRow) -> bool,
) {
    let launches: Vec<&ProfileRow> = all.profiles.iter().filter(|p| chosen(p)).collect();
    if launches.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n{heading}\n\n| launch | counter | simulated | measured | error |\n|---|---|--:|--:|--:|"
    );
    for launch in &launches {
        for (n, held) in SHOWN.iter().filter_map(|name| launch.counter(name)).enumerate() {
            let name = if n == 0 { launch.launch.clone() } else { String::new() };
            let counter = if held.name == CYCLES {
                format!("**`{CYCLES}`**")
            } else {
                format!("`{}`", held.name)
            };
            row(out, &[name, counter, figure(held.simulated), figure(held.measured), error(held)]);
        }
    }
    *out += "\nThe errors of all counters, in the order of the launches above:\n\n| counter |";
    for n in 1..=launches.len() {
        let _ = write!(out, " {n} |");
    }
    let _ = writeln!(out, "\n|---|{}", "--:|".repeat(launches.len()));
    let mut names: Vec<&str> =
        launches.iter().flat_map(|l| l.held.iter().map(|h| h.name.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of = |launch: &&ProfileRow| launch.counter(name).map_or(String::new(), error);
        let cells: Vec<String> =
            std::iter::once(format!("`{name}`")).chain(launches.iter().map(of)).collect();
        row(out, &cells);
    }
    let mut unknown: Vec<&str> =
        launches.iter().flat_map(|l| l.unknown.iter().map(String::as_str)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        let _ = writeln!(out, "\nMeasured but not simulated: `{}`.", unknown.join("`, `"));
    }
}

fn features(out: &mut String, all: &Validation) {
    *out += "\n## Labels\n\n| feature | figures | exact | label | largest error \
             |\n|---|--:|--:|---|---|\n";
    for f in &all.features {
        let worst = f.worst.clone().unwrap_or_default();
        let counts = [f.figures, f.exact].map(|n| grouped(n as u64));
        let [figures, exact] = counts;
        row(out, &[f.feature.to_string(), figures, exact, format!("**{}**", f.trust), worst]);
    }
}

/// Formats a count with groups, a real with its digits.
pub(crate) fn figure(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..9e15).contains(&value) {
        grouped(value as u64)
    } else {
        real(value)
    }
}

/// Returns the table cells of a counter.
pub(crate) fn cells(held: &Held) -> Vec<String> {
    vec![
        held.name.clone(),
        figure(held.simulated),
        figure(held.measured),
        error(held),
        held.unit.to_string(),
    ]
}
