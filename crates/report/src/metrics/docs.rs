//! The table of metrics as a reference page and as a list for the terminal.

use std::fmt::Write as _;

use super::{Metric, all};
use crate::evidence::Standing;
use crate::text::wrap;

/// `docs/metrics.md`.
pub fn reference() -> String {
    let mut out = String::from(
        "# Metrics\n\n\
         Generated from the table in `src/report/metrics`; `simt-sim metrics` prints the same. The first name is\n\
         nvprof's, or *ours* where nvprof has none; the second is Nsight Compute's. Either name, and any alias, works in\n\
         `--metrics`; JSON uses the first. A metric without a value in a run, such as a ratio to zero loads, is left out\n\
         of that run's JSON. Units are nvprof's; asked for under Nsight's name, throughputs are in byte/s and occupancy\n\
         is in %.\n\n\
         Instructions are machine instructions: what a PTX instruction becomes on the chosen machine (on machines that\n\
         execute programs as written, both are the same). Convergence-barrier instructions, which independent thread\n\
         scheduling adds, are machine instructions like others; where programs are issued as written, they are counted in\n\
         `join_instructions` and in the issue slots, and nowhere else.\n\n\
         *Trust*: a *program count* follows from the program, its input and the rules of the machine; a *compiler count* also\n\
         from the machine code that ptxas makes, which is modelled; a *model estimate* from the model of time and caches. The\n\
         error stated beside it holds for at least nine of ten kernels that were recorded on a real H200 and never used to\n\
         build or tune `h200` ([validation.md](validation.md)).\n",
    );
    let mut group = None;
    for metric in all() {
        if group.replace(metric.group) != Some(metric.group) {
            let _ = write!(
                out,
                "\n## {}\n\n| metric | Nsight Compute | unit | formula | meaning | trust |\n|---|---|---|---|---|---|\n",
                metric.group.title()
            );
        }
        let code = |name: &str| format!("`{name}`");
        let mut names = code(metric.name);
        if metric.ours {
            names.push_str(" (ours)");
        }
        for alias in metric.aliases {
            let _ = write!(names, ", {}", code(alias));
        }
        let ncu = metric.ncu.map(code).unwrap_or_default();
        let Metric { unit, formula, meaning, .. } = metric;
        let _ =
            writeln!(out, "| {names} | {ncu} | {unit} | {formula} | {meaning} | {} |", Standing::of(metric).measured());
    }
    out
}

/// The list that `simt-sim metrics` prints, in lines of at most `width` columns (at least 40).
pub fn listing(width: usize) -> String {
    let width = width.max(40);
    let mut out = String::new();
    let mut group = None;
    for metric in all() {
        if group.replace(metric.group) != Some(metric.group) {
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{}", wrap(metric.group.title(), width, "", ""));
        }
        let mut head = metric.name.to_owned();
        if !metric.unit.is_empty() {
            let _ = write!(head, " [{}]", metric.unit);
        }
        if metric.ours {
            head.push_str(" (ours)");
        }
        let mut lines = vec![
            wrap(&head, width, "  ", "    "),
            wrap(metric.meaning, width, "      ", "      "),
            wrap(metric.formula, width, "      = ", "        "),
        ];
        lines.extend(metric.ncu.map(|ncu| wrap(ncu, width, "      Nsight: ", "        ")));
        if !metric.aliases.is_empty() {
            lines.push(wrap(&metric.aliases.join(", "), width, "      also: ", "        "));
        }
        for line in lines {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}
