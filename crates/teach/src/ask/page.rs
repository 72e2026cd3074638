//! The page `docs/ask.md`: every question with its answer in a line.

use super::{Trouble, experiments, find};
use simt_report::{Style, answer_text};

/// The experiment that the page shows in full.
const SHOWN: &str = "nested";

/// The page. It is committed as `docs/ask.md`, and a test holds the two together.
///
/// # Errors
/// When an experiment has no answer.
pub fn page() -> Result<String, Trouble> {
    let mut page = String::from(
        "# Questions, answered by experiment\n\n\
         People ask the same things about divergence again and again, and forums answer them in contradictory ways. `simt-sim ask` \
         lists such questions; `simt-sim ask NAME` runs the programs that decide one, in both modes where they differ, and prints what \
         the lanes did, the figures, the answer with these figures in it, what a real H200 did where somebody looked, and who asks. The \
         programs are part of the binary; `--source` prints them, `--format json` prints the answer as data (`simt-sim/answer/1`), `--all` \
         answers everything. Every figure is tested against a closed form or a brute-force count (`tests/suite/ask.rs`).\n\n\
         This page is generated: `BLESS=1 cargo test --test suite ask` rewrites it. Claims of books and \
         forums, with verdicts, are in [seeds.md](seeds.md).\n\n\
         | ask | question | answer |\n|---|---|---|\n",
    );
    for experiment in experiments() {
        let cell = |text: &str| text.replace('|', "\\|");
        let short = experiment.answer()?.short;
        page += &format!("| `{}` | {} | {} |\n", experiment.name, cell(experiment.question), cell(&short));
    }
    if let Some(shown) = find(SHOWN) {
        let text = answer_text(&shown.answer()?, Style::default());
        page += &format!("\n## One in full\n\n```console\n$ simt-sim ask {SHOWN}\n{text}```\n");
    }
    Ok(page)
}
