//! The text of programs and counters compared with a GPU.

use super::Style;
use super::layout::Page;
use crate::profile::Held;
use crate::validation::{ProfileRow, SHOWN, Trust, Validation, cells};

/// Prints a validation; `all` shows every counter.
pub fn validation(found: &Validation, all: bool, style: Style) -> String {
    let mut page = Page::new(style);
    page.paragraph(&format!("Compared with a GPU: {}", found.simulated), "", "  ");
    page.heading("Programs");
    let rows = found.programs.iter().map(|p| {
        let counters: Vec<&ProfileRow> =
            found.profiles.iter().filter(|l| l.program == p.program).collect();
        let (exact, of) =
            counters.iter().fold((0, 0), |(e, n), l| (e + l.exact(), n + l.held.len()));
        let counters = if of == 0 { "-".to_string() } else { format!("{exact} of {of}") };
        let divergence = p.divergence.as_ref().map_or("-".to_string(), short);
        vec![p.program.clone(), short(&p.memory), divergence, counters, p.detail.clone()]
    });
    let header = ["program", "memory", "divergence", "exact counters", "compared"];
    page.table(&header, rows.collect(), &[0, 1, 2, 4], Some(4));
    for launch in &found.profiles {
        counters(&mut page, launch, all);
    }
    page.heading("Accuracy by feature");
    let rows = found.features.iter().map(|f| {
        vec![f.feature.to_string(), f.figures.to_string(), f.exact.to_string(), short(&f.trust)]
    });
    page.table(&["feature", "figures", "exact", "label"], rows.collect(), &[0, 3], None);
    for f in found.features.iter().filter_map(|f| Some((f.feature, f.worst.as_ref()?))) {
        page.paragraph(&format!("{}: {}", f.0, f.1), "  ", "    ");
    }
    page.heading("Known differences");
    for known in found.known.programs.iter().chain(&found.known.counters) {
        page.paragraph(&format!("{}: {}", known.name, known.reason), "  ", "    ");
    }
    page.finish()
}

/// Prints one profiled launch.
pub fn profiled(launch: &ProfileRow, all: bool, style: Style) -> String {
    let mut page = Page::new(style);
    counters(&mut page, launch, all);
    page.finish()
}

fn counters(page: &mut Page, launch: &ProfileRow, all: bool) {
    page.heading(&format!("{}: {}", launch.program, launch.launch));
    let shown: Vec<&Held> = if all {
        launch.held.iter().collect()
    } else {
        SHOWN.iter().filter_map(|name| launch.counter(name)).collect()
    };
    // A report may have none of the counters in `SHOWN`.
    let shown = if shown.is_empty() { launch.held.iter().collect() } else { shown };
    page.table(
        &["counter", "simulated", "measured", "error", "unit"],
        shown.into_iter().map(cells).collect(),
        &[0, 4],
        None,
    );
    let (exact, of) = (launch.exact(), launch.held.len());
    let unknown = launch.unknown.len();
    page.paragraph(
        &format!(
            "{exact} of {of} counters are exact; {unknown} of the report's counters are not \
             simulated."
        ),
        "  ",
        "  ",
    );
}

/// Formats a label without its reason.
fn short(trust: &Trust) -> String {
    match trust {
        Trust::Differs { reason: Some(_) } => "differs, known".to_string(),
        other => other.to_string(),
    }
}
