//! Prints the table of metrics as a reference page and as a list for the terminal.

use std::fmt::Write as _;

use super::{Metric, all};
use crate::evidence::{CodeKind, Standing};
use crate::wrap;

/// `docs/reference/metrics.md`.
pub fn reference() -> String {
    let mut out = String::from(
        "# Metrics\n\n\
         Generated from the table in `src/report/metrics`; `simt-sim metrics` prints the same.\n\
         The first name is nvprof's, or *ours* if nvprof has none; the second is Nsight\n\
         Compute's. `--metrics` accepts both names and every alias; JSON has the first. A run's\n\
         JSON leaves out metrics without a value, such as a ratio to zero loads. Units are\n\
         nvprof's; under Nsight's name, throughputs are in byte/s and occupancy is in %.\n\n\
         Instructions are machine instructions: the expansion of a PTX instruction on the chosen\n\
         machine (machines that execute programs as written do not expand). The\n\
         convergence-barrier instructions of independent thread scheduling are machine\n\
         instructions like others; if programs are issued as written, they count only in\n\
         `join_instructions` and in the issue slots.\n\n\
         *Trust*: a *program count* follows from the program, its input and the rules of the\n\
         machine; a *compiler count* also from ptxas's machine code, which is modelled; a *model\n\
         estimate* from the model of time and caches. The error beside it holds for at least nine\n\
         of ten kernels that were recorded on a real H200 and never used to build or tune `h200`\n\
         ([validation.md](validation.md)). The second label is that of runs of machine code, where\n\
         instructions and branches are program counts.\n",
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
        let _ = writeln!(
            out,
            "| {names} | {ncu} | {unit} | {formula} | {meaning} | {} |",
            trust(metric)
        );
    }
    out
}

/// Returns the labels of a metric: of runs of PTX, and of machine code.
fn trust(metric: &Metric) -> String {
    let [ptx, sass] = CodeKind::ALL.map(|code| Standing::of(metric, code).measured());
    if ptx == sass { ptx } else { format!("{ptx}<br>{sass}") }
}

/// Prints the list of `simt-sim metrics`, at most `width` columns wide (at least 40).
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
