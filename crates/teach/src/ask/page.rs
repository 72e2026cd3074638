//! Page `docs/reference/ask.md`: every question with its one-line answer.

use super::{AskError, experiments, find};
use simt_report::{Style, answer_text};

/// Experiment that the page shows in full.
const SHOWN: &str = "nested";

/// Generates the page. It is committed as `docs/reference/ask.md`; a test compares the two.
///
/// # Errors
/// If an experiment has no answer.
pub fn page() -> Result<String, AskError> {
    let mut page = String::from(
        "# Questions answered by experiment\n\n\
         Forums answer common questions about divergence in contradictory ways. `simt-sim ask` \
         lists such questions; `simt-sim ask NAME` answers one: it runs the programs that \
         decide it, in both modes where they differ, and prints a picture of the lanes, the \
         figures, the answer, the measurement on a real H200 if there is one, and the sources \
         of the question. The programs are bundled in the binary; `--source` prints them, \
         `--format json` prints the answer as data (`simt-sim/answer/1`), `--all` answers \
         everything. Every figure is tested against a closed form or a brute-force count \
         (`tests/suite/ask.rs`).\n\n\
         This page is generated: `BLESS=1 cargo test --test suite ask` rewrites it. Claims of \
         books and forums, with verdicts, are in [seeds.md](seeds.md).\n\n\
         | ask | question | answer |\n|---|---|---|\n",
    );
    for experiment in experiments() {
        let cell = |text: &str| text.replace('|', "\\|");
        let short = experiment.answer()?.short;
        page += &format!(
            "| `{}` | {} | {} |\n",
            experiment.name,
            cell(experiment.question),
            cell(&short)
        );
    }
    if let Some(shown) = find(SHOWN) {
        let text = answer_text(&shown.answer()?, Style::default());
        page += &format!("\n## Example\n\n```console\n$ simt-sim ask {SHOWN}\n{text}```\n");
    }
    Ok(page)
}
