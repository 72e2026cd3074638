//! The page `docs/validation.md`, and its appendix `docs/validation-programs.md`.

use std::fmt::Write as _;

use super::super::evidence::{self, CHOSEN, Evidence, HEADER, KERNELS, by_basis, kernel_row};
use super::super::numbers::{grouped, real};
use super::super::profile::Held;
use super::trust::error;
use super::{CYCLES, Known, LARGE, ParameterRow, ProfileRow, SHOWN, Trust, Validation};

const RULE: &str = "## What a label says

A label begins with what the figure follows from. A **program count** follows from the program and its input alone: requests, sectors,
wavefronts, bank conflicts. A **compiler count** also follows from the machine code that ptxas makes, which is modelled: instructions,
branches, divergence. A **model estimate** follows from the model of time and caches. The rest comes from the held half: *exact* or
*within x %* holds for at least nine of ten of its kernels in which the metric occurs, and the label says for how many; *unreliable*: no
percentage up to 50 does; *not measured on unseen code*: no counter of the GPU is the same thing, or it occurs in fewer than five
kernels. Labels are of the machine file's contents: another file, order of sides or lowering has none (*not measured with this machine
file*); a count keeps its label where only latencies, rates or caches differ.

Branches have no GPU counter beside them: `smsp__sass_branch_targets` counts unconditional jumps as well, and branches inside division
and square root, which PTX does not show. So does `branch_efficiency` on a GPU, whose error is in the table.

## What else is compared

Programs of this repository, programs drawn at random, profiled launches of up to 2^24 threads, and the machine's parameters stand in
[the appendix](validation-programs.md) and in [calibration](calibration.md). On all of them the model was built, so that no label comes
from there. What the GPU did is kept in `trust` and in `tests/observations`.

```sh
simt-sim crosscheck --unseen --verbose      # every metric and kernel of the two halves
simt-sim crosscheck --suite                 # the programs of the appendix
NVCC=nvcc trust/record.sh                   # records both halves anew, on a computer with a GPU
```
";

const APPENDIX: &str = "# Programs held against a GPU

Appendix to [validation.md](validation.md). Every figure is made by a run: `simt-sim crosscheck --suite --page programs` prints this
page, and a test holds the two together. The model was built with these programs: their errors are no evidence for other code.

- **Memory.** The same text is given to NVIDIA's driver, with the same launch, arguments and buffers. Every word of every buffer must
  be the same; where the [instruction set](isa.md) grants an approximate instruction some units in the last place, within those.
- **Divergence.** Counters put into the text itself tell, on the device, how often each branch and block ran, with how many lanes, and
  which side ran first. They are the simulator's, or the difference has a reason.
- **Counters and cycles.** Nsight Compute's, under its names, on the kernels that nvcc made, beside the simulator's
  ([metrics](metrics.md) has each formula).

*Exact*: every figure is the measured one, as far as its printed digits go, and memory is the same bit by bit. *Within x %*: no figure is
further from the measured one than that; x is the least of 1, 2, 5, 10, 15 and 25 that holds for all. *Differs*: some figure is further
away, with the reason, if it is known. *Not measured*: nobody has looked. A label is that of the worst of its figures; only programs whose
difference has a stated reason are counted apart.
";

const REPEAT: &str = "## On another GPU

One command runs every program on the first GPU of the computer and keeps what it did; the second counts with Nsight Compute around the
same command, and the third holds the counters against the simulator. A GPU without a [machine file](machines.md) of its own is compared
with `h200` unless `--machine` names another.

```sh
cargo build --release --features cuda
simt-sim crosscheck --suite --record tests/observations/mine
ncu --csv --page raw --set full --log-file report.csv simt-sim crosscheck programs/cuda/*.ptx
simt-sim crosscheck --ncu report.csv programs/cuda/*.ptx
BLESS=1 cargo test --release --features cuda --test suite -- --ignored generated::device
```
";

/// The page.
pub(super) fn page(known: &Known) -> String {
    let mut out = String::from("# How far the simulator may be trusted\n\n");
    if let Some(found) = evidence::known() {
        unseen(&mut out, found);
    }
    out += RULE;
    gaps(&mut out, known);
    out
}

/// The errors of both halves.
fn unseen(out: &mut String, found: &Evidence) {
    let (mend, held) = found.kernels;
    let _ = writeln!(
        out,
        "The errors of `{}` on {} kernels that it was not built with, beside one launch each on a real GPU ({}).\n\
         The model may be corrected with the {mend} of the half *mend*; the {held} of the half *held* only state the error, and\n\
         every label comes from them. A metric is counted where it occurs, by the simulator or on the GPU.\n",
        found.machine,
        mend + held,
        found.measured_on()
    );
    let _ = writeln!(out, "| {} |\n|---|{}", HEADER.join(" | "), "--:|".repeat(HEADER.len() - 1));
    for (basis, rows) in by_basis(found, Some(&CHOSEN)) {
        let blank = " |".repeat(HEADER.len() - 1);
        let _ = writeln!(out, "| **{}** |{blank}", basis.title());
        for mut cells in rows {
            cells[0] = format!("`{}`", cells[0]);
            row(out, &cells);
        }
    }
    let modes = found.each.iter().filter(|kernel| kernel.output.len() == 2).count();
    let _ = writeln!(
        out,
        "\nThe output of {modes} of {} kernels is the GPU's bit by bit in both modes. Every metric and every kernel:\n\
         [appendix](validation-programs.md#unseen-kernels).\n",
        found.each.len()
    );
}

/// Every metric and every kernel of the two halves.
fn unseen_all(out: &mut String, found: &Evidence) {
    *out +=
        "\n## Unseen kernels\n\nThe errors of every metric on the two halves of `trust`, and those of each kernel.\n";
    for (basis, rows) in by_basis(found, None) {
        let _ = writeln!(out, "\n### {}\n", basis.title());
        let _ = writeln!(out, "| {} |\n|---|{}", HEADER.join(" | "), "--:|".repeat(HEADER.len() - 1));
        for mut cells in rows {
            cells[0] = format!("`{}`", cells[0]);
            row(out, &cells);
        }
    }
    let _ = writeln!(out, "\n### Kernels\n\n| {} |\n|---|---|---|--:|--:|--:|--:|", KERNELS.join(" | "));
    for kernel in &found.each {
        row(out, &kernel_row(kernel));
    }
}

/// The appendix. Sections that need large launches stand last, so that a quick run makes the page up to there.
pub(super) fn appendix(all: &Validation) -> String {
    let mut out = String::from(APPENDIX);
    let devices = devices(all);
    let _ = writeln!(out, "\nSimulated: {}. Measured: {}.\n", all.simulated, devices.join("; "));
    out += REPEAT;
    if let Some(found) = evidence::known() {
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
    *out += "\n## What is not modelled, and what that costs\n\n| left out | cost |\n|---|---|\n";
    for gap in &known.gaps {
        row(out, &[gap.what.clone(), gap.cost.clone()]);
    }
}

fn known(out: &mut String, all: &Validation) {
    if all.known.programs.is_empty() && all.known.counters.is_empty() {
        return;
    }
    *out += "\n## Known differences\n\n| what | reason |\n|---|---|\n";
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
        let _ = writeln!(
            out,
            "{programs} kernels drawn at random ({}) left the same memory on the GPU as in both modes of the simulator. In {counted} of \
             them the same lanes went through every branch and block, and in {equal} the warps also executed each as often as in volta \
             mode; in the others lanes met earlier or later than there ({}).\n",
            g.kind, g.measured_on
        );
    }
    let open: Vec<&str> =
        all.programs.iter().filter(|p| p.memory == Trust::NotMeasured).map(|p| p.program.as_str()).collect();
    if !open.is_empty() {
        let _ = writeln!(out, "Not measured: {}.\n", open.join(", "));
    }
    *out += "| program | memory | what was compared | divergence |\n|---|---|---|---|\n";
    for program in all.programs.iter().filter(|p| p.memory != Trust::NotMeasured) {
        let divergence = program.divergence.as_ref().map_or("-".to_string(), Trust::to_string);
        row(out, &[program.program.clone(), program.memory.to_string(), program.detail.clone(), divergence]);
    }
}

/// The machine's parameters, as `simt-sim calibrate` has them.
fn parameters(out: &mut String, all: &Validation) {
    if all.parameters.is_empty() {
        return;
    }
    let away = |row: &ParameterRow| (row.simulated - row.measured).abs() / row.measured.abs();
    let within = |share: f64| all.parameters.iter().filter(|row| away(row) <= share).count();
    let _ = writeln!(
        out,
        "\n## Parameters\n\nWhat small programs measure of the machine ([calibration](calibration.md)): of {} figures {} are within 5 %, \
         {} within 10 % and {} within 15 %.\n\n| experiment | figure | simulated | measured | error |\n|---|---|--:|--:|--:|",
        all.parameters.len(),
        within(0.05),
        within(0.10),
        within(0.15)
    );
    for p in &all.parameters {
        let what = if p.unit == "cycle" { p.parameter.to_string() } else { format!("{} ({})", p.parameter, p.unit) };
        // Of a figure that is nearly nothing the error says nothing.
        let error = if p.measured.abs() < 1.0 {
            "-".to_string()
        } else {
            format!("{:+.1} %", 100.0 * (p.simulated - p.measured) / p.measured)
        };
        row(out, &[p.experiment.to_string(), what, format!("{:.2}", p.simulated), format!("{:.2}", p.measured), error]);
    }
}

/// A table of what is shown, and one of the errors of everything: a column for each launch.
fn profiles(out: &mut String, heading: &str, all: &Validation, chosen: impl Fn(&ProfileRow) -> bool) {
    let launches: Vec<&ProfileRow> = all.profiles.iter().filter(|p| chosen(p)).collect();
    if launches.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{heading}\n\n| launch | counter | simulated | measured | error |\n|---|---|--:|--:|--:|");
    for launch in &launches {
        for (n, held) in SHOWN.iter().filter_map(|name| launch.counter(name)).enumerate() {
            let name = if n == 0 { launch.launch.clone() } else { String::new() };
            let counter = if held.name == CYCLES { format!("**`{CYCLES}`**") } else { format!("`{}`", held.name) };
            row(out, &[name, counter, figure(held.simulated), figure(held.measured), error(held)]);
        }
    }
    *out += "\nThe errors of all counters, in the order of the launches above:\n\n| counter |";
    for n in 1..=launches.len() {
        let _ = write!(out, " {n} |");
    }
    let _ = writeln!(out, "\n|---|{}", "--:|".repeat(launches.len()));
    let mut names: Vec<&str> = launches.iter().flat_map(|l| l.held.iter().map(|h| h.name.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of = |launch: &&ProfileRow| launch.counter(name).map_or(String::new(), error);
        let cells: Vec<String> = std::iter::once(format!("`{name}`")).chain(launches.iter().map(of)).collect();
        row(out, &cells);
    }
    let mut unknown: Vec<&str> = launches.iter().flat_map(|l| l.unknown.iter().map(String::as_str)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        let _ = writeln!(out, "\nMeasured, and not simulated: `{}`.", unknown.join("`, `"));
    }
}

fn features(out: &mut String, all: &Validation) {
    *out += "\n## Labels\n\n| feature | figures | exact | label | furthest away |\n|---|--:|--:|---|---|\n";
    for f in &all.features {
        let worst = f.worst.clone().unwrap_or_default();
        let counts = [f.figures, f.exact].map(|n| grouped(n as u64));
        let [figures, exact] = counts;
        row(out, &[f.feature.to_string(), figures, exact, format!("**{}**", f.trust), worst]);
    }
}

/// A count with groups, a real with its digits.
pub(crate) fn figure(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..9e15).contains(&value) { grouped(value as u64) } else { real(value) }
}

/// For the text report: what a counter came to.
pub(crate) fn cells(held: &Held) -> Vec<String> {
    vec![held.name.clone(), figure(held.simulated), figure(held.measured), error(held), held.unit.to_string()]
}
