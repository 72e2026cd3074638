//! Page `docs/reference/seeds.md`: every claim with its source, its figures and its verdict.

use super::facts::Facts;
use super::verdict::{Line, Referee, verdict};
use super::{Bench, Claim, Evidence, claims};
use crate::ask::AskError;
use simt_report::numbers::{grouped, real};
use simt_report::{Cell, FigureTable};

/// Generates the page from all runs. It is committed as `docs/reference/seeds.md`; a test compares
/// the two.
///
/// # Errors
/// If a run for a claim fails.
pub fn seeds() -> Result<String, AskError> {
    let bench = Bench::new()?;
    let mut found = Vec::new();
    for claim in claims() {
        found.push((claim, (claim.find)(&bench)?));
    }
    let mut page = String::from(
        "# Claims about divergence and their verdicts\n\n\
         Books, lectures and forums make claims about warps. Here each is a run: what the \
         source says, what the simulator gives, what an NVIDIA H200 did. `simt-sim ask \
         --seeds` computes our figures and prints this page in some seconds; published figures \
         and those of the H200 are listed with their sources in `crates/teach/src/ask/seeds/figures.ron`.\n\n\
         Verdicts are computed. Each line of figures has a rule for the agreement of two \
         figures: *the same*; *within* some percent; or, for ratios, on the *same side of 1* \
         (a margin of 2 % counts as 1). A line is **reproduced** if our figure agrees with the \
         source; **refuted** if it does not, and the H200, or a count that needs no simulator, \
         agrees with ours; **not reproduced** if it does not, and neither agrees with ours: \
         then the model may be wrong. Lines without a source figure show whether ours *agrees* \
         with the H200 or *differs*, and do not count.\n\n\
         This page is generated: `BLESS=1 cargo test --test suite seeds` rewrites it.\n\n\
         | claim | its first figure | source | ours | H200, or counted | verdict |\n\
         |---|---|---|---|---|---|\n",
    );
    for (at, (claim, evidence)) in (1..).zip(&found) {
        let mut cells = vec![format!("{at}. {}", escape(claim.title))];
        // Long figures are shown with their claim.
        let short = |cell: String| if cell.len() > SHORT { "below".to_owned() } else { cell };
        match evidence.lines.first() {
            Some(line) => cells.extend([
                escape(&line.what),
                short(source(line)),
                short(show(&line.ours)),
                short(referee(line)),
            ]),
            None => cells.extend([const { String::new() }; 4]),
        }
        cells.push(verdict(&evidence.lines));
        page += &row(&cells);
    }
    for (at, (claim, evidence)) in (1..).zip(&found) {
        page += &section(at, claim, evidence, &bench.facts)?;
    }
    Ok(page)
}

/// Maximum length of a figure in the table of all claims.
const SHORT: usize = 20;

/// Figure of the source.
fn source(line: &Line) -> String {
    line.source.as_ref().map_or("-".to_owned(), show)
}

/// Figure of the referee.
fn referee(line: &Line) -> String {
    match &line.referee {
        Referee::None => "-".to_owned(),
        Referee::H200(figure) => show(figure),
        Referee::Counted(figure) => format!("{} (counted)", show(figure)),
    }
}

fn section(
    at: usize,
    claim: &Claim,
    evidence: &Evidence,
    facts: &Facts,
) -> Result<String, AskError> {
    let mut text = format!("\n## {at}. {}\n\n{}\n\n", claim.title, claim.says);
    for name in claim.sources {
        let source = facts.source(name)?;
        let place = match source.place.split_once(' ') {
            None if source.place.starts_with("http") => format!("<{}>", source.place),
            Some((address, rest)) if address.starts_with("http") => format!("<{address}> {rest}"),
            _ => source.place.clone(),
        };
        text += &format!("- *{name}*: {}. {place}\n", source.says);
    }
    text += &format!("\nRun: {}.\n\n", claim.runs);
    text += "| figure | source | ours | H200, or counted | rule | |\n|---|---|---|---|---|---|\n";
    for line in &evidence.lines {
        let verdict = line.outcome().text().to_owned();
        let cells = [
            escape(&line.what),
            source(line),
            show(&line.ours),
            referee(line),
            line.rule.text(),
            verdict,
        ];
        text += &row(&cells);
    }
    text += &format!("\n**{}.**\n", verdict(&evidence.lines));
    if !evidence.drawing.is_empty() {
        text += &format!("\n```text\n{}\n```\n", evidence.drawing.join("\n"));
    }
    for table in &evidence.tables {
        text += &figures(table);
    }
    for why in &evidence.why {
        text += &format!("\n{why}\n");
    }
    text += &format!("\n```sh\n{}\n```\n", claim.repeat.join("\n"));
    Ok(text)
}

/// Renders a table with its title above.
fn figures(table: &FigureTable) -> String {
    let columns: Vec<String> = table.columns.iter().map(|c| escape(c)).collect();
    let mut text = format!(
        "\n{}:\n\n{}|{}\n",
        escape(&table.title),
        row(&columns),
        "---|".repeat(columns.len())
    );
    for line in &table.rows {
        let cells: Vec<String> =
            std::iter::once(escape(&line.name)).chain(line.cells.iter().map(show)).collect();
        text += &row(&cells);
    }
    text
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn show(cell: &Cell) -> String {
    match cell {
        Cell::Count(n) => grouped(*n),
        Cell::Real(x) if x.fract() == 0.0 && x.abs() < 1e15 => grouped(x.abs() as u64),
        Cell::Real(x) => real(*x),
        Cell::Word(word) => escape(word),
    }
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}
