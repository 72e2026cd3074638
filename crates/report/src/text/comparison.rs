//! The text of a comparison of two runs.

use super::Style;
use super::layout::{Page, Paint, value};
use crate::compare::{Comparison, Figure, Parting, Side, StreamIssue};
use crate::metrics::Group;
use crate::numbers::{grouped, real};
use crate::run::Ending;
use simt_core::diag::printable;

/// Groups shown.
/// Nvprof's stall reasons are left out because the warp states say the same.
const GROUPS: [Group; 9] = [
    Group::Time,
    Group::Instructions,
    Group::Divergence,
    Group::Global,
    Group::Device,
    Group::Shared,
    Group::Local,
    Group::Texture,
    Group::WarpStates,
];

/// Prints a comparison.
pub fn comparison(found: &Comparison, style: Style) -> String {
    let mut page = Page::new(style);
    let (a, b) = (&found.a, &found.b);
    for (letter, side) in [("A", a), ("B", b)] {
        title(&mut page, letter, side);
    }
    for note in &found.notes {
        page.paragraph(note, "note: ", "  ");
    }
    for group in GROUPS {
        figures(
            &mut page,
            group.title(),
            [a, b],
            found.figures.iter().filter(|f| f.group == group),
        );
    }
    branches(&mut page, found);
    lines(&mut page, found);
    if !found.is_of_two_languages() {
        page.heading("First difference in the issue streams of block 0");
    }
    match &found.parting {
        _ if found.is_of_two_languages() => {}
        Some(parting) => streams(&mut page, [a, b], parting),
        None if found.compared_to_the_end => {
            page.line("  none: every warp issues the same instructions for the same lanes");
        }
        None => page.line("  none within the recorded issues"),
    }
    page.heading("Summary");
    page.paragraph(&found.closing, "  ", "  ");
    if let (Some(of_a), Some(of_b)) = (&a.trust, &b.trust) {
        page.paragraph(&format!("Cycles of A: {of_a}. Cycles of B: {of_b}."), "  ", "  ");
    }
    page.finish()
}

fn title(page: &mut Page, letter: &str, side: &Side) {
    let Side { program, kernel, mode, machine, .. } = side;
    page.paragraph(&format!("{letter}  {program}: {kernel}, {mode} on {machine}"), "", "   ");
    if side.finish != Ending::Ok {
        page.status(side.finish.title(), Paint::Bad, "the figures cover the run up to that point");
    } else if !side.passed {
        page.status(
            "FAILED",
            Paint::Bad,
            "an expectation does not hold; `simt-sim run` shows which",
        );
    }
}

fn figures<'a>(
    page: &mut Page,
    heading: &str,
    sides: [&Side; 2],
    figures: impl Iterator<Item = &'a Figure>,
) {
    let cell = |v| match v {
        Some(v) => value(v),
        None => "-".to_owned(),
    };
    let rows: Vec<Vec<String>> = figures
        .filter(|f| [f.a, f.b].into_iter().flatten().any(|v| v.as_f64() != 0.0))
        .map(|f| vec![f.metric.to_owned(), cell(f.a), cell(f.b), f.unit.to_owned(), ratio(f)])
        .collect();
    if rows.is_empty() {
        return;
    }
    page.heading(heading);
    let [a, b] = sides.map(|side| side.name.as_str());
    page.table(&["", &format!("A: {a}"), &format!("B: {b}"), "", "B/A"], rows, &[0, 3], None);
}

/// Formats a ratio: `3.02x`, `=` for equal figures, `-` where there is none.
fn ratio(figure: &Figure) -> String {
    match figure.ratio {
        _ if figure.a == figure.b => "=".to_owned(),
        Some(ratio) => format!("{}x", real(ratio)),
        None => "-".to_owned(),
    }
}

fn branches(page: &mut Page, found: &Comparison) {
    if found.branches.is_empty() {
        return;
    }
    page.heading("Branches");
    let rows = found.branches.iter().map(|b| {
        let mut row = vec![b.line.to_string(), b.text.clone()];
        row.extend(b.executed.iter().map(|&n| grouped(n)));
        row.extend([0, 1].map(|side| b.divergence(side)));
        row
    });
    let header = ["line", "branch", "executed A", "executed B", "divergent A", "divergent B"];
    page.table(&header, rows.collect(), &[1], Some(1));
    if found.branches.iter().any(|b| b.predicated.contains(&true)) {
        page.paragraph(
            "p: the branch was predicated; the count is how often it would have diverged",
            "  ",
            "  ",
        );
    }
}

/// Lists the CUDA lines of PTX and of its machine code.
fn lines(page: &mut Page, found: &Comparison) {
    for pairs in found.lines.chunk_by(|a, b| a.file == b.file) {
        let Some(first) = pairs.first() else { continue };
        page.heading(&format!("Lines of {}", printable(&first.file)));
        let shown = |n: u64| if n == 0 { String::new() } else { grouped(n) };
        let rows = pairs.iter().map(|pair| {
            let mut row = vec![pair.line.to_string()];
            row.extend(pair.executed.map(shown));
            row.extend([0, 1].map(|side| pair.divergence(side)));
            row.extend(pair.stalled.map(shown));
            row.extend(pair.main_stall.map(|stall| stall.unwrap_or_default().to_owned()));
            row
        });
        let header = [
            "line",
            "executed A",
            "executed B",
            "divergent A",
            "divergent B",
            "waited A",
            "waited B",
            "for (A)",
            "for (B)",
        ];
        page.table(&header, rows.collect(), &[7, 8], Some(7));
        page.paragraph(
            "executed: instructions of warps, of PTX as the compiler model counts them; waited: \
             warp cycles; p: predicated branches, and how often they would have diverged",
            "  ",
            "  ",
        );
    }
}

fn streams(page: &mut Page, sides: [&Side; 2], parting: &Parting) {
    let Parting { warp, issue, a, b } = parting;
    let same = match issue {
        0 => "from the first instruction on".to_owned(),
        1 => "after one equal instruction".to_owned(),
        n => format!("after {} equal instructions", grouped(*n as u64)),
    };
    page.paragraph(&format!("warp {warp}, {same}:"), "  ", "  ");
    for (letter, (side, issued)) in ["A", "B"].into_iter().zip(sides.into_iter().zip([a, b])) {
        let what = match issued {
            None => "has ended".to_owned(),
            Some(StreamIssue { line, text, active }) => {
                let noun = if active.count() == 1 { "lane" } else { "lanes" };
                format!("{noun} {} ({active}); line {line}: {text}", active.list())
            }
        };
        page.paragraph(&format!("{letter}  {}: {what}", side.name), "    ", "       ");
    }
}
